//! `approve_knowledge`: what was proposed takes effect.

use super::{Request, Response, for_a_person};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    review::approve,
};

/// See the module.
pub struct ApproveKnowledge;

impl Operation for ApproveKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "approve_knowledge",
        cli: &["knowledge", "approve"],
        positional: &["entry_id", "note"],
        title: "Approve a proposal",
        about: "Puts what was proposed in force. For a person with the passphrase; an agent gets the command to hand on.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["reviewer"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let note = request.note();
        let asked = approve::Request { id: request.entry_id.clone(), note };
        let decided = approve::Approve::run(engine, call, asked)
            .map_err(|e| for_a_person(e, "approve", &request.entry_id))?;
        Ok(Response { success: true, action: decided.status, id: decided.review })
    }
}
