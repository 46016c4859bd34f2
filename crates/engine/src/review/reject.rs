//! `review_reject`: what was proposed does not take effect.

use serde::Serialize;
use strata_core::{
    memory::{Layer, Status},
    policy::Action,
};
use strata_store::ledger::{NewAudit, ReviewStatus, State};

use super::{CONFLICT, Conflict, Open, approve::Request, dispute, note, on_record};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Reject;

/// What was decided.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The review.
    pub review: String,
    /// `rejected`.
    pub status: &'static str,
    /// What it was about.
    pub target: String,
}

impl Operation for Reject {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "review_reject",
        cli: &["review", "reject"],
        positional: &["id", "note"],
        title: "Turn a proposal down",
        about: "Turns down what was proposed: a candidate is archived, an amendment changes nothing, a conflict counts as none. \
                For people. Say why in `note`: whoever proposed can read it.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let open = Open::find(engine, call, &request.id)?;
        let note = note(request.note.as_deref())?;
        let review = &open.review;
        let layer = open.layer().unwrap_or(Layer::P5);
        let actor = authority::authorise(engine, call, Action::Reject, layer, &review.target)?;
        let reason = on_record(review, &note);
        let candidate = open.memory.as_ref().filter(|m| m.state.status == Status::Candidate);
        let archived = candidate.map(|m| (m, State { status: Status::Archived, ..m.state }));
        let row = NewAudit {
            layer: open.layer(),
            reason: &reason,
            before_hash: open.memory.as_ref().map(|memory| memory.content_hash),
            after_hash: archived.map(|(memory, state)| state.hash(&memory.content_hash)),
            ..NewAudit::new(&actor, call.face, Action::Reject.as_str(), &review.target)
        };
        engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
            let seq = w.record(&row)?;
            if let Some((memory, state)) = archived {
                w.change_state(memory.number, Some(memory.state_seq), &state, seq)?;
            }
            w.decide_review(&review.id, ReviewStatus::Rejected, &call.principal.to_string(), &note, seq)?;
            let sides = serde_json::from_str::<Conflict>(&review.proposal).ok();
            let sides = sides.as_ref().filter(|_| review.kind == CONFLICT);
            sides.map_or(Ok(()), |c| dispute::calm(w, call, &actor, &[&c.a, &c.b], &reason))
        })?;
        Ok(Response {
            review: review.id.clone(),
            status: ReviewStatus::Rejected.as_str(),
            target: review.target.clone(),
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        Document::new()
            .note(Mark::Good, format!("rejected {}; {} is not changed by it", self.review, self.target))
    }
}
