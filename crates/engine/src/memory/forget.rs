//! `forget`: takes a memory out of every search. It stays restorable for 30 days and readable in its history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Status, policy::Action};
use strata_store::ledger::{MemoryRow, NewAudit, State};

use super::reference::Reference;
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Forget;

/// Which memory, and why.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The memory, by its whole id or #number.
    pub id: String,
    /// Why; kept in its history.
    pub reason: Option<String>,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Where it stands now.
    pub status: &'static str,
}

impl Operation for Forget {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Core,
        tool: "forget",
        cli: &["forget"],
        positional: &["id"],
        title: "Forget a memory",
        about: "Takes a memory out of every search and context at once. Use it for what is wrong without replacement or no \
                longer of use; to correct something, call `update`. It can be restored for 30 days and stays readable by \
                its id. Erasing for good is `strata purge`, for people only.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let old = find(engine, call, &request.id)?;
        if is_out_of_use(&old) {
            return Err(Error::Conflict {
                message: format!("memory {} is already {}", old.id, old.state.status),
                hint: "it is out of every search; nothing is left to do".into(),
            });
        }
        let state = State { status: Status::Trashed, ..old.state };
        let reason = Gate::default().field("reason", request.reason.as_deref())?.unwrap_or_default();
        change_status(engine, call, Action::Forget, &old, &state, &reason)
    }
}

/// Whether it is out of every search already.
pub(crate) fn is_out_of_use(memory: &MemoryRow) -> bool {
    matches!(memory.state.status, Status::Superseded | Status::Archived | Status::Trashed)
}

/// The memory that a change names.
pub(crate) fn find(engine: &Engine, call: &Call<'_>, id: &str) -> Result<MemoryRow, Error> {
    let reference = Reference::exact("id", id)?;
    engine.ledger(call)?.read(&engine.control(call), |r| reference.find(r, call))?.existing()
}

/// Gives a memory another state, on record, if the caller may.
pub(super) fn change_status(
    engine: &Engine,
    call: &Call<'_>,
    action: Action,
    old: &MemoryRow,
    state: &State,
    reason: &str,
) -> Result<Response, Error> {
    let actor = authority::authorise(engine, call, action, old.state.layer, &old.id)?;
    let row = NewAudit {
        layer: Some(old.state.layer),
        reason,
        before_hash: Some(old.content_hash),
        after_hash: Some(state.hash(&old.content_hash)),
        ..NewAudit::new(&actor, call.face, action.as_str(), &old.id)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        w.change_state(old.number, Some(old.state_seq), state, seq)?;
        authority::seal(w, call, &actor)
    })?;
    engine.index_what_was_stored(call);
    Ok(Response { id: old.id.clone(), number: old.number, status: state.status.as_str() })
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = match self.status {
            "trashed" => format!(
                "superseded #{} {}: out of every search; `strata restore {}` brings it back within 30 days",
                self.number, self.id, self.id
            ),
            _ => format!("restored #{} {}: {} again", self.number, self.id, self.status),
        };
        Document::new().note(Mark::Good, text)
    }
}
