//! `restore`: brings a forgotten memory back.

use strata_core::{memory::Status, policy::Action};
use strata_store::ledger::State;

use super::forget::{Request, Response, change_status, find};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
};

/// See the module.
pub struct Restore;

impl Operation for Restore {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "restore",
        cli: &["restore"],
        positional: &["id"],
        title: "Restore a memory",
        about: "Brings a forgotten or archived memory back into search. A memory that was replaced by a newer version is \
                not restored: update the newer one instead. Fails when another memory has taken its topic in the meantime.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let old = find(engine, call, &request.id)?;
        let hint = match old.state.status {
            Status::Trashed | Status::Archived => {
                let state = State { status: Status::Active, ..old.state };
                let reason = Gate::default().field("reason", request.reason.as_deref())?.unwrap_or_default();
                return change_status(engine, call, Action::Restore, &old, &state, &reason);
            }
            Status::Superseded => match &old.superseded_by {
                Some(head) => format!("update {head}, which replaced it"),
                None => "update the version that replaced it".to_owned(),
            },
            _ => "nothing is left to do".to_owned(),
        };
        Err(Error::Conflict {
            message: format!("memory {} is {}, not forgotten", old.id, old.state.status),
            hint,
        })
    }
}
