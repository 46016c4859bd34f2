//! `gate retire`: removes an entry from the ontology, by an approved proposal that names it.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_core::policy::Action;

use super::{
    Outcome,
    apply::{settle, stands_in_the_way},
    desk::{Desk, checked},
    entry,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
};

/// See the module.
pub struct Retire;

/// Which proposal.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The id of the approved proposal whose `target` is the entry to remove.
    pub id: String,
}

impl Operation for Retire {
    type Request = Request;
    type Response = Outcome;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "gate_retire",
        cli: &["gate", "retire"],
        positional: &["id"],
        title: "Remove an entry of the ontology",
        about: "Removes every line of the entry that an approved proposal names, with the passphrase; all other bytes of the \
                file stay. Propose it first, with `target` set to the entry's id. For a person at a terminal.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Outcome, Error> {
        let id = request.id;
        checked("id", &id)?;
        let desk = Desk::new(engine, call);
        // An approval says that the entry may change; that a rule goes is decided once more.
        desk.authorise(Action::Update, ("retire", "gate_retire"), &id)?;
        let lock = desk.lock()?;
        let mut opened = desk.open(&id)?;
        if let Some(refusal) = stands_in_the_way(&desk, &opened)? {
            // What was added by this proposal is still there: another one has to name it.
            let target = &opened.proposal.entry.id;
            let stands =
                refusal.ok && desk.read_ontology()?.is_some_and(|t| entry::read(&t).ids.contains_key(target));
            return Ok(match stands {
                true => Outcome::not(format!(
                    "'{id}' added '{target}' and cannot remove it; `strata gate propose` with `target` '{target}' does, once approved"
                )),
                false => refusal,
            });
        }
        let Some(text) = desk.read_ontology()? else {
            return Ok(Outcome::not(format!("ontology file missing: {}", desk.ontology.display())));
        };
        let target = opened.proposal.entry.id.clone();
        let (after, gone) = entry::without(&text, &target);
        if desk.past(&opened.proposal)?.applied {
            return Ok(Outcome::not(format!("'{id}' was carried out before; propose the next change")));
        }
        if gone == 0 {
            return Ok(Outcome::not(format!(
                "no line has the id '{target}'; `gate apply {id}` would add it, `strata gate deprecate {id}` drops the proposal"
            )));
        }
        desk.write_ontology(&lock, Some(&text), &after)?;
        settle(&desk, &lock, &mut opened, "gate_retire")?;
        Ok(Outcome::done(format!("retired '{target}': lines removed: {gone}")))
    }
}
