//! `gate approve`: a person lets a proposal through, with a signature over what it says.

use strata_core::policy::Action;

use super::{
    Outcome, Request,
    desk::{Desk, checked, reworded},
    proposal::Stage,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
};

/// See the module.
pub struct Approve;

impl Operation for Approve {
    type Request = Request;
    type Response = Outcome;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "gate_approve",
        cli: &["gate", "approve"],
        positional: &["id"],
        title: "Approve a proposal",
        about: "Approves a proposal for the ontology, with the passphrase: a signature over exactly what it says. It is then \
                ready for `gate apply`, or for `gate retire` when it names an entry that should go. For a person at a \
                terminal; anybody else is told which command to run. What was deprecated is not approved again.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Outcome, Error> {
        let id = request.id;
        checked("id", &id)?;
        let desk = Desk::new(engine, call);
        let actor = desk.authorise(Action::Approve, ("approve", "gate_approve"), &id)?;
        let lock = desk.lock()?;
        let mut opened = desk.open(&id)?;
        let past = desk.past(&opened.proposal)?;
        let signed = desk.key()?.is_some_and(|key| opened.proposal.is_signed(&key));
        match opened.proposal.status {
            _ if past.deprecated => {
                return Ok(Outcome::not(format!("'{id}' was deprecated; propose it anew")));
            }
            _ if past.applied => {
                return Ok(Outcome::not(format!("'{id}' was applied; propose the next change")));
            }
            Stage::Approved if signed => return Ok(Outcome::done(format!("'{id}' is approved already"))),
            // Approved by whom, nobody can tell: it is approved now.
            Stage::Proposed | Stage::Approved => {}
            stage => {
                return Ok(Outcome::not(format!(
                    "'{id}' is {}; only what is proposed can be approved",
                    stage.as_str()
                )));
            }
        }
        if past.reworded {
            return Err(reworded(&opened));
        }
        let Some(secret) = call.secret else {
            return Err(Error::Internal("an approval without the secret".into()));
        };
        let now = engine.clock().now();
        opened.proposal.sign(secret, call.principal, now);
        opened.proposal.step(Stage::Approved, now, call.principal);
        desk.record(&actor, "gate_approve", &opened.proposal)?;
        desk.save(&lock, &opened)?;
        let entry = opened.proposal.entry;
        Ok(Outcome::done(format!(
            "approved '{id}': {}, \"{}\" in {}, of {}; `gate apply {id}` puts it into the ontology",
            entry.id, entry.title, entry.space, entry.file
        )))
    }
}
