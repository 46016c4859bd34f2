//! `review_approve`: what was proposed takes effect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    memory::{Layer, Status},
    policy::Action,
    principal::Principal,
};
use strata_store::ledger::{MemoryRow, NewAudit, ReviewRow, ReviewStatus, State};

use super::{AMENDMENT, CANDIDATE, CONFLICT, Open, amendment::Prepared, moved_on, note, on_record};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    graph::noticing,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::branches::BRANCH,
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Approve;

/// Which review.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The review, by its whole id.
    pub id: String,
    /// A word on the decision; kept with it.
    pub note: Option<String>,
}

/// What stands now.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The review.
    pub review: String,
    /// `approved`.
    pub status: &'static str,
    /// The memory that is in force.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its layer.
    pub layer: String,
    /// The version it replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_number: Option<i64>,
}

impl Operation for Approve {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "review_approve",
        cli: &["review", "approve"],
        positional: &["id", "note"],
        title: "Approve a proposal",
        about: "Puts what was proposed in force: a candidate becomes active, an amendment makes a new version of its rule or \
                memory. For a human with the passphrase, at a terminal; the system applies it on their behalf and signs the \
                audit. Fails when the memory changed after the proposal. Conflicts are decided with `review_resolve`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let open = Open::find(engine, call, &request.id)?;
        let note = note(request.note.as_deref())?;
        let review = &open.review;
        let memory = open.memory()?;
        // Nobody is asked for a passphrase, or turned away, where there is nothing to approve.
        if review.kind == CONFLICT {
            return Err(Error::Conflict {
                message: format!("review {} is a conflict; one of its sides is chosen", review.id),
                hint: format!("`review resolve {} keep_a`, keep_b or keep_both", review.id),
            });
        }
        if review.kind == BRANCH {
            return Err(Error::Conflict {
                message: format!("review {} asks what became of a branch", review.id),
                hint: "`strata project merged BRANCH`, or the same with --abandoned".into(),
            });
        }
        let layer = memory.state.layer;
        let actor = authority::authorise(engine, call, Action::Approve, layer, &memory.id)
            .map_err(|e| e.with_command(format!("strata review approve {}", review.id)))?;
        let response = match review.kind.as_str() {
            CANDIDATE => candidate(engine, call, &actor, (review, &note), memory)?,
            AMENDMENT => amendment(engine, call, &actor, (review, &note), memory)?,
            other => {
                return Err(Error::Conflict {
                    message: format!("review {} is of kind {other}, which is not approved", review.id),
                    hint: format!("`strata review reject {}` closes it", review.id),
                });
            }
        };
        engine.index_what_was_stored(call);
        Ok(response)
    }
}

/// A candidate comes into force as it stands.
fn candidate(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    (review, note): (&ReviewRow, &str),
    memory: &MemoryRow,
) -> Result<Response, Error> {
    if memory.state.status != Status::Candidate {
        return Err(moved_on(review, memory));
    }
    let reason = on_record(review, note);
    let state = State { status: Status::Active, ..memory.state };
    let row = NewAudit {
        layer: Some(memory.state.layer),
        reason: &reason,
        before_hash: Some(memory.state.hash(&memory.content_hash)),
        after_hash: Some(state.hash(&memory.content_hash)),
        ..NewAudit::new(actor, call.face, Action::Approve.as_str(), &memory.id)
    };
    let (ledger, control) = (engine.ledger(call)?, engine.control(call));
    let told = (memory.title.as_str(), memory.body.as_str());
    let noticed = noticing::look(engine, ledger, &control, told, &memory.scope, &memory.writer)?;
    ledger.write(&control, engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        w.change_state(memory.number, Some(memory.state_seq), &state, seq)?;
        noticing::link(w, &noticed, memory.number, seq)?;
        w.decide_review(&review.id, ReviewStatus::Approved, &call.principal.to_string(), note, seq)?;
        authority::seal(w, call, actor)
    })?;
    Ok(Response::new(review, &memory.id, memory.number, memory.state.layer))
}

/// The change is made to the memory as the proposal saw it.
fn amendment(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    (review, note): (&ReviewRow, &str),
    memory: &MemoryRow,
) -> Result<Response, Error> {
    let prepared = Prepared::new(engine, call, actor, review, memory)?;
    let number = engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let (seq, number) = prepared.apply(w, call, actor, (review, note))?;
        w.decide_review(&review.id, ReviewStatus::Approved, &call.principal.to_string(), note, seq)?;
        authority::seal(w, call, actor)?;
        Ok(number)
    })?;
    let replaced = number != memory.number;
    Ok(Response {
        previous: replaced.then(|| memory.id.clone()),
        previous_number: replaced.then_some(memory.number),
        ..Response::new(review, prepared.id(), number, memory.state.layer)
    })
}

impl Response {
    fn new(review: &ReviewRow, id: &str, number: i64, layer: Layer) -> Self {
        Self {
            review: review.id.clone(),
            status: ReviewStatus::Approved.as_str(),
            id: id.to_owned(),
            number,
            layer: layer.to_string(),
            previous: None,
            previous_number: None,
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let what = match self.previous_number {
            Some(previous) => format!(
                "#{previous} → #{} {} (old version superseded, history preserved)",
                self.number, self.id
            ),
            None => format!("#{} {} is in force", self.number, self.id),
        };
        Document::new().note(Mark::Good, format!("approved {}: {what}, {}", self.review, self.layer))
    }
}
