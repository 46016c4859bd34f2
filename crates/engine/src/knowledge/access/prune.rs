//! `prune_access_log`: removes what is older than the log keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::time::{DAY, Timestamp};

use super::written;
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct PruneAccessLog;

/// Nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// What was removed.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// Entries removed.
    pub deleted: usize,
    /// Days that entries are kept.
    pub retention_days: u32,
}

impl Operation for PruneAccessLog {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "prune_access_log",
        cli: &["knowledge", "access", "prune"],
        positional: &[],
        title: "Remove old entries of the access log",
        about: "Removes entries of the access log that are older than it keeps. `strata maintain` does it daily.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _: Request) -> Result<Response, Error> {
        written(engine)?;
        let retention_days = engine.settings().config.access_log.retention_days;
        Ok(Response { success: true, deleted: prune(engine, call)?, retention_days })
    }
}

/// Removes what is older than the log keeps; says how many there were.
pub(crate) fn prune(engine: &Engine, call: &Call<'_>) -> Result<usize, Error> {
    if !engine.is_initialised()? {
        return Ok(0);
    }
    let now = engine.clock().now();
    let kept = i64::from(engine.settings().config.access_log.retention_days).saturating_mul(DAY);
    let before = Timestamp(now.0.saturating_sub(kept));
    let ledger = engine.existing_ledger()?;
    Ok(ledger.write(&engine.control(call), now, |w| w.forget_accesses(before))?)
}

impl Render for Response {
    fn render(&self) -> Document {
        let removed = counted(self.deleted, "entry");
        Document::new()
            .note(Mark::Good, format!("{removed} removed; entries are kept for {} days", self.retention_days))
    }
}
