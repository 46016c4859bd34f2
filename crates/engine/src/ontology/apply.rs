//! `gate apply`: the system puts what a person approved into the ontology.

use strata_store::files::FileLock;

use super::{
    Outcome, Request,
    desk::{Desk, Opened, checked},
    entry,
    proposal::Stage,
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
};

/// See the module.
pub struct Apply;

impl Operation for Apply {
    type Request = Request;
    type Response = Outcome;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "gate_apply",
        cli: &["gate", "apply"],
        positional: &["id"],
        title: "Apply an approved proposal",
        about: "Adds the entry of an approved proposal to the ontology, as one line. Only what a person approved with the \
                passphrase is applied, and only if it still says what was approved; anyone may then call this. Applying \
                again does nothing. An entry that exists is not replaced: retire it first.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Outcome, Error> {
        let id = request.id;
        checked("id", &id)?;
        let desk = Desk::new(engine, call);
        let lock = desk.lock()?;
        let mut opened = desk.open(&id)?;
        if let Some(refusal) = stands_in_the_way(&desk, &opened)? {
            return Ok(refusal);
        }
        let text = desk.read_ontology()?;
        let reading = entry::read(text.as_deref().unwrap_or_default());
        let problems = [opened.proposal.entry.problems(), reading.errors].concat();
        if !problems.is_empty() {
            return Ok(Outcome::not(format!("nothing was applied: {}", problems.join("; "))));
        }
        let line = opened.proposal.entry.to_line();
        let target = opened.proposal.entry.id.clone();
        if let Some(number) = reading.ids.get(&target) {
            let there = text.as_deref().unwrap_or_default().lines().nth(number - 1).unwrap_or_default();
            if there.trim_start_matches('\u{feff}').trim() != line {
                return Ok(Outcome::not(format!(
                    "the ontology has another entry '{target}' in line {number}; `strata gate retire` removes it, `strata gate deprecate {id}` drops the proposal"
                )));
            }
        } else if desk.past(&opened.proposal)?.applied {
            return Ok(Outcome::not(format!(
                "'{id}' was applied before and its entry has gone since; propose it anew"
            )));
        } else {
            let after = entry::with_line(text.as_deref().unwrap_or_default(), &line);
            desk.write_ontology(&lock, text.as_deref(), &after)?;
        }
        settle(&desk, &lock, &mut opened, "gate_apply")?;
        Ok(Outcome::done(format!("applied '{id}': the ontology has the entry '{target}'")))
    }
}

/// Why a proposal cannot be applied or retired now, or that it has been.
pub(super) fn stands_in_the_way(desk: &Desk<'_>, opened: &Opened) -> Result<Option<Outcome>, Error> {
    let proposal = &opened.proposal;
    let id = &proposal.id;
    let past = desk.past(proposal)?;
    if past.deprecated {
        return Ok(Some(Outcome::not(format!("'{id}' was deprecated; propose it anew"))));
    }
    match proposal.status {
        Stage::Applied if past.applied => {
            return Ok(Some(Outcome::done(format!("'{id}' is applied already"))));
        }
        Stage::Approved => {}
        Stage::Applied => {
            return Ok(Some(Outcome::not(format!(
                "'{id}' says that it is applied, but it never was; propose it anew"
            ))));
        }
        stage => {
            return Ok(Some(Outcome::not(format!(
                "'{id}' is {}; only what a person approved can be applied: `strata gate approve {id}`",
                stage.as_str()
            ))));
        }
    }
    if desk.key()?.is_some_and(|key| proposal.is_signed(&key)) {
        return Ok(None);
    }
    let reason = "the approval is not this home's, or the proposal was changed after it";
    authority::record_refusal(
        desk.engine,
        desk.call,
        "gate_apply",
        Some(strata_core::memory::Layer::P0),
        id,
        reason,
    )?;
    Ok(Some(Outcome::not(format!(
        "'{id}' was not applied: {reason}; `strata gate approve {id}` approves what it says now"
    ))))
}

/// Puts on record that a proposal was carried out, once, and notes it in its file.
pub(super) fn settle(
    desk: &Desk<'_>,
    lock: &FileLock,
    opened: &mut Opened,
    action: &str,
) -> Result<(), Error> {
    let actor = desk.system();
    if !desk.past(&opened.proposal)?.applied {
        desk.record(&actor, action, &opened.proposal)?;
    }
    opened.proposal.step(Stage::Applied, desk.engine.clock().now(), &actor);
    desk.save(lock, opened)
}
