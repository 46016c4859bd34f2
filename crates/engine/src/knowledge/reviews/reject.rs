//! `reject_knowledge`: what was proposed does not take effect.

use super::{Request, Response, for_a_person};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    review::{approve, reject},
};

/// See the module.
pub struct RejectKnowledge;

impl Operation for RejectKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "reject_knowledge",
        cli: &["knowledge", "reject"],
        positional: &["entry_id", "note"],
        title: "Turn a proposal down",
        about: "Turns down what was proposed. For a person; an agent gets the command to hand on.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["reviewer"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let note = request.note();
        let asked = approve::Request { id: request.entry_id.clone(), note };
        let decided = reject::Reject::run(engine, call, asked)
            .map_err(|e| for_a_person(e, "reject", &request.entry_id))?;
        Ok(Response { success: true, action: decided.status, id: decided.review })
    }
}
