//! Copies that older programs left beside the files.

use std::path::PathBuf;

use strata_core::{knowledge::name::Name, memory::Layer, policy::Action};
use strata_store::{ledger::NewAudit, vault::MovedBackup};

use crate::{authority, engine::Engine, error::Error, knowledge::vault, operation::Call};

/// As it goes on record.
const ACTION: &str = "migrate_legacy_backups";

/// A copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Backup {
    namespace: Name,
    below: String,
}

impl Backup {
    /// Where it lies, with its namespace.
    pub(super) fn place(&self) -> String {
        format!("{}/{}", self.namespace, self.below)
    }
}

/// The copies beside the files that the caller sees.
pub(super) fn found(engine: &Engine, call: &Call<'_>) -> Result<Vec<Backup>, Error> {
    let Some(disk) = engine.vault().disk() else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for namespace in vault::namespaces(engine, call)? {
        let places = disk.backups(&namespace).into_iter();
        found.extend(places.map(|below| Backup { namespace: namespace.clone(), below }));
    }
    Ok(found)
}

/// Where they are moved to: out of the vault's folder.
pub(super) fn destination(engine: &Engine) -> PathBuf {
    engine.home().join("vault").join("backups")
}

/// Moves them, and says of each that stays why.
pub(super) fn migrate(engine: &Engine, call: &Call<'_>) -> Result<(Vec<String>, Vec<String>), Error> {
    let (mut moved, mut stayed) = (Vec::new(), Vec::new());
    let backups = found(engine, call)?;
    let Some(disk) = engine.vault().disk().filter(|_| !backups.is_empty()) else {
        return Ok((moved, stayed));
    };
    let actor = authority::authorise_as(engine, call, Action::Update, ACTION, Layer::P5, "")?;
    for backup in backups {
        let place = backup.place();
        match disk.move_backup(&backup.namespace, &backup.below, &destination(engine)) {
            Ok(MovedBackup::To(_)) => moved.push(place),
            Ok(MovedBackup::Clash(_)) => stayed.push(format!("{place}: another copy has its name")),
            Ok(MovedBackup::Gone) => {}
            Err(error) => stayed.push(format!("{place}: {error}")),
        }
    }
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        for place in &moved {
            w.record(&NewAudit {
                layer: Some(Layer::P5),
                ..NewAudit::new(&actor, call.face, ACTION, &super::shown(&format!("vault:{place}")))
            })?;
        }
        authority::seal(w, call, &actor)
    })?;
    Ok((moved, stayed))
}
