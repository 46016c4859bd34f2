//! From which cosines on likeness by meaning decides: as configured, else as calibrated on the files, else the defaults.

use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{calibration::calibrate, meaning::Bands},
    memory::Layer,
    policy::Action,
    scope::SHARED,
};
use strata_store::ledger::NewAudit;

use super::{
    vault,
    vectors::{Embedded, MOST_SECTIONS},
};
use crate::{authority, engine::Engine, error::Error, operation::Call, render::rounded};

/// The setting under which a namespace's calibration is kept.
const SETTING: &str = "knowledge_bands:";

/// Bands and where they come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct InForce {
    pub(super) bands: Bands,
    /// `config_override`, `calibrated` or `default`.
    pub(super) source: &'static str,
}

impl InForce {
    /// The defaults.
    pub(super) fn default_bands() -> Self {
        Self { bands: Bands::default(), source: "default" }
    }
}

/// Thresholds that fit the files.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Calibration {
    /// Whether the files tell any.
    pub calibrated: bool,
    /// Sections that were looked at.
    pub sections: usize,
    /// Between unlike and alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valley: Option<f64>,
    /// From here on one text for both is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuse: Option<f64>,
    /// From here on lines are merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge: Option<f64>,
    /// From here on it is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<f64>,
    /// Why there are none, or what becomes of them.
    pub reason: String,
}

/// A calibration as it is kept: that of one model.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Stored {
    model: String,
    merge: f64,
    fuse: f64,
    skip: f64,
}

impl Calibration {
    /// Nothing is told, and why.
    pub(super) fn none(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..Self::default() }
    }

    /// What these sections tell.
    pub(super) fn of(embedded: &Embedded) -> Result<Self, Error> {
        let sections = embedded.places.len();
        Ok(match calibrate(sections, &embedded.cosines()?) {
            Ok(found) => Self {
                calibrated: true,
                sections,
                valley: Some(rounded(found.valley, 4)),
                fuse: Some(rounded(found.fuse, 4)),
                merge: Some(rounded(found.merge, 4)),
                skip: Some(rounded(found.skip, 4)),
                reason: String::new(),
            },
            Err(why) => Self { sections, reason: why.to_string(), ..Self::default() },
        })
    }

    /// The thresholds, where there are any.
    pub(super) fn bands(&self) -> Option<Bands> {
        Some(Bands { merge: self.merge?, fuse: self.fuse?, skip: self.skip? })
    }
}

/// The bands that hold for the caller.
///
/// # Errors
/// Those of the store.
pub(super) fn in_force(engine: &Engine, call: &Call<'_>) -> Result<InForce, Error> {
    let given = engine.settings().config.knowledge.similarity;
    let calibrated = calibrated(engine, call)?;
    let bands = given.over(&calibrated.unwrap_or_default());
    let source = match calibrated {
        _ if given.is_any() => "config_override",
        Some(_) => "calibrated",
        None => "default",
    };
    Ok(InForce { bands, source })
}

/// What was calibrated on the files of the caller's namespace, else of the shared one, with the model in use.
fn calibrated(engine: &Engine, call: &Call<'_>) -> Result<Option<Bands>, Error> {
    let Some(model) = engine.searcher().model() else { return Ok(None) };
    let own = vault::own_namespace(engine, call)?;
    let found = engine.read(call, |r| {
        let kept = r.setting(&format!("{SETTING}{own}"))?;
        if kept.is_some() { Ok(kept) } else { r.setting(&format!("{SETTING}{SHARED}")) }
    })?;
    let stored = found.and_then(|text| serde_json::from_str::<Stored>(&text).ok());
    let of_model = stored.filter(|stored| stored.model == model);
    Ok(of_model.map(|Stored { merge, fuse, skip, .. }| Bands { merge, fuse, skip }))
}

/// Calibrates on the files that the caller sees. From now on that holds for writes into the caller's namespace, until
/// it is done again; files that tell nothing bring the defaults back.
///
/// # Errors
/// Those of the store, and refusals by the policy.
pub(super) fn recalibrate(engine: &Engine, call: &Call<'_>) -> Result<Calibration, Error> {
    let files = super::files::readable(engine, call)?;
    let Some(embedded) = Embedded::of(engine, call, files.iter().enumerate())? else {
        return Ok(Calibration::none("no model answers: wording alone decides"));
    };
    let mut found = Calibration::of(&embedded)?;
    let model = engine.searcher().model().unwrap_or_default().to_owned();
    let stored = found.bands().map(|Bands { merge, fuse, skip }| Stored { model, merge, fuse, skip });
    keep(engine, call, stored.as_ref())?;
    if found.calibrated {
        found.reason = match engine.settings().config.knowledge.similarity.is_any() {
            true => "they hold where `knowledge.similarity` in config.toml sets none",
            false => "they hold from now on",
        }
        .to_owned();
    }
    if found.sections == MOST_SECTIONS {
        found.reason = format!("{}; the first {MOST_SECTIONS} sections were looked at", found.reason);
    }
    Ok(found)
}

/// Keeps a calibration, or takes the one away that is kept.
fn keep(engine: &Engine, call: &Call<'_>, stored: Option<&Stored>) -> Result<(), Error> {
    let own = vault::own_namespace(engine, call)?;
    let setting = format!("{SETTING}{own}");
    let before = engine.read(call, |r| r.setting(&setting))?;
    let text = stored.map(serde_json::to_string).transpose();
    let text = text.map_err(|error| Error::Internal(error.to_string()))?;
    if before == text {
        return Ok(());
    }
    let target = format!("vault:{own}");
    let actor = authority::authorise(engine, call, Action::Update, Layer::P5, &target)?;
    let reason = text.as_deref().unwrap_or("the files tell no thresholds");
    let row = NewAudit {
        layer: Some(Layer::P5),
        reason,
        ..NewAudit::new(&actor, call.face, "vault_calibrated", &target)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        w.record(&row)?;
        match &text {
            Some(text) => w.set_setting(&setting, text)?,
            None => w.remove_setting(&setting)?,
        }
        authority::seal(w, call, &actor)
    })?;
    Ok(())
}
