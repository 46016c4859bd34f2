//! What was made of the thing to be erased: its words must not live on there.

use strata_core::{memory::Layer, policy::Action};
use strata_store::ledger::{PurgedKind, RawKind};

use super::{Material, Request, one, target::Named};
use crate::{authority, engine::Engine, error::Error, operation::Call};

/// What rests on the thing.
#[derive(Debug, Default)]
pub(super) struct Resting {
    /// Digests with words of it.
    quoting: Vec<Named>,
    /// Digests without, and later versions of those with.
    pub(super) others: Vec<String>,
}

/// Finds the digests that cover what `id` names, if the caller may purge that.
pub(super) fn find(engine: &Engine, call: &Call<'_>, named: &Named) -> Result<Resting, Error> {
    let id = named.id.as_str();
    let mut resting = Resting::default();
    let (digests, layer) = engine.existing_ledger()?.read(&engine.control(call), |r| {
        let (kind, number, layer) = match named.kind {
            PurgedKind::Memory => match r.memory(id)? {
                Some(row) => (RawKind::Memory, row.number, row.state.layer),
                None => return Ok((Vec::new(), None)),
            },
            PurgedKind::Episode => match r.episode(id)? {
                Some(row) => (RawKind::Episode, row.number, Layer::P2),
                None => return Ok((Vec::new(), None)),
            },
            PurgedKind::Entity | PurgedKind::Todo | PurgedKind::VaultText => return Ok((Vec::new(), None)),
        };
        let mut digests = Vec::new();
        for (memory, quotes) in r.digests_of(kind, number)? {
            let line = r.history(memory.number)?.line;
            digests.push((memory, quotes, line));
        }
        Ok((digests, Some(layer)))
    })?;
    if let (Some(layer), false) = (layer, digests.is_empty()) {
        authority::authorise(engine, call, Action::Purge, layer, id)?;
    }
    for (memory, quotes, line) in digests {
        match Named::parse(&memory.id) {
            Some(digest) if quotes => {
                resting.quoting.push(digest);
                resting.others.extend(line.into_iter().map(|m| m.id).filter(|other| *other != memory.id));
            }
            _ => resting.others.push(memory.id),
        }
    }
    let gone: Vec<String> = resting.quoting.iter().map(|named| named.id.clone()).collect();
    resting.others.retain(|other| !gone.contains(other));
    resting.others.sort_unstable();
    resting.others.dedup();
    Ok(resting)
}

/// Erases the digests with words of it, and gives what else they covered free to be distilled anew.
pub(super) fn erase(
    engine: &Engine,
    call: &Call<'_>,
    resting: &Resting,
    backups: Option<bool>,
) -> Result<Vec<String>, Error> {
    let mut erased = Vec::new();
    for id in &resting.quoting {
        let request = Request {
            id: id.id.clone(),
            backups,
            reason: Some("it quotes something that is purged".to_owned()),
        };
        one(engine, call, id, &request, Material::IsFreed)?;
        erased.push(id.id.clone());
    }
    Ok(erased)
}
