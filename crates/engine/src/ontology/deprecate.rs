//! `gate deprecate`: a proposal that was approved or applied is given up for good.

use strata_core::policy::Action;

use super::{
    Outcome, Request,
    desk::{Desk, checked},
    proposal::Stage,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
};

/// See the module.
pub struct Deprecate;

impl Operation for Deprecate {
    type Request = Request;
    type Response = Outcome;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "gate_deprecate",
        cli: &["gate", "deprecate"],
        positional: &["id"],
        title: "Give a proposal up",
        about: "Marks an approved or applied proposal as given up, with the passphrase. It cannot be approved or applied again. \
                The ontology stays as it is: a line that was added is removed with `gate retire`, through a proposal of its \
                own. For a person at a terminal.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Outcome, Error> {
        let id = request.id;
        checked("id", &id)?;
        let desk = Desk::new(engine, call);
        let actor = desk.authorise(Action::Update, ("deprecate", "gate_deprecate"), &id)?;
        let lock = desk.lock()?;
        let mut opened = desk.open(&id)?;
        match opened.proposal.status {
            Stage::Approved | Stage::Applied => {}
            Stage::Deprecated => return Ok(Outcome::done(format!("'{id}' is deprecated already"))),
            Stage::Proposed => {
                return Ok(Outcome::not(format!(
                    "'{id}' is proposed; only what is approved or applied is given up"
                )));
            }
        }
        if !desk.past(&opened.proposal)?.deprecated {
            desk.record(&actor, "gate_deprecate", &opened.proposal)?;
        }
        opened.proposal.step(Stage::Deprecated, engine.clock().now(), call.principal);
        desk.save(&lock, &opened)?;
        Ok(Outcome::done(format!("deprecated '{id}'; the ontology is as it was")))
    }
}
