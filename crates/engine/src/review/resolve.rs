//! `review_resolve`: decides which side of a conflict stays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{policy::Action, principal::Principal};
use strata_store::{
    error as store,
    ledger::{MemoryRow, NewAudit, ReviewRow, ReviewStatus},
};

use super::{CONFLICT, Conflict, Open, dispute, missing, moved_on, note, on_record, sides};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    memory::reference::sees_scope,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Resolve;

/// The word on record.
const ACTION: &str = "resolve";

/// Which conflict, and what stays.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The review, by its whole id.
    pub id: String,
    /// What stays.
    pub decision: Decision,
    /// A word on the decision; kept with it.
    pub note: Option<String>,
}

/// What stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// the older one; the newer is superseded by it
    KeepA,
    /// the newer one; the older is superseded by it
    KeepB,
    /// both: they do not contradict each other
    KeepBoth,
}

/// What was decided.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The review.
    pub review: String,
    /// `approved`, or `rejected` when it was no conflict.
    pub status: &'static str,
    /// What stays.
    pub decision: Decision,
    /// The memories that stay.
    pub kept: Vec<String>,
    /// The memory that gave way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded: Option<String>,
}

impl Operation for Resolve {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "review_resolve",
        cli: &["review", "resolve"],
        positional: &["id", "decision", "note"],
        title: "Resolve a conflict",
        about: "Decides a conflict between two memories: keep one, which then supersedes the other (its history is kept), or \
                keep both when they do not contradict each other. Takes the right to update the layer of what gives way: P0 \
                and P1 are a human's with the passphrase. See both sides with `review_show` first.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let open = Open::find(engine, call, &request.id)?;
        let note = note(request.note.as_deref())?;
        let review = &open.review;
        let (a, b) = both(engine, call, review)?;
        let command = || format!("strata review resolve {} {}", review.id, request.decision.word());
        let may = |memory: &MemoryRow| {
            authority::authorise(engine, call, Action::Update, memory.state.layer, &memory.id)
                .map_err(|e| e.with_command(command()))
        };
        let (kept, loser) = match request.decision {
            Decision::KeepA => (&a, &b),
            Decision::KeepB => (&b, &a),
            Decision::KeepBoth => {
                // It takes both to say that neither gives way.
                let actor = authority::either(may(&a)?, may(&b)?);
                dismiss(engine, call, &actor, (review, &note), (&a, &b))?;
                return Ok(Response::new(review, request.decision, vec![a.id, b.id], None));
            }
        };
        must_reach(review, kept, loser)?;
        let actor = may(loser)?;
        settle(engine, call, &actor, (review, &note), (kept, loser))?;
        engine.index_what_was_stored(call);
        Ok(Response::new(review, request.decision, vec![kept.id.clone()], Some(loser.id.clone())))
    }
}

/// Both sides, visible and in force.
fn both(engine: &Engine, call: &Call<'_>, review: &ReviewRow) -> Result<(MemoryRow, MemoryRow), Error> {
    if review.kind != CONFLICT {
        return Err(Error::Conflict {
            message: format!("review {} is of kind {}, not a conflict", review.id, review.kind),
            hint: format!("`strata review approve {}` or `strata review reject {}`", review.id, review.id),
        });
    }
    let gone = || Error::Conflict {
        message: format!("a side of conflict {} is no longer here", review.id),
        hint: format!("`strata review reject {}` closes it", review.id),
    };
    let conflict: Conflict = serde_json::from_str(&review.proposal).map_err(|_| gone())?;
    let found = engine.ledger(call)?.read(&engine.control(call), |r| sides(r, &conflict))?;
    let (Some(a), Some(b)) = found else { return Err(gone()) };
    for side in [&a, &b] {
        if !sees_scope(call, &side.scope) {
            return Err(missing(&review.id));
        }
        if !side.state.status.is_live() {
            return Err(moved_on(review, side));
        }
    }
    Ok((a, b))
}

/// What a branch says takes the place of nothing that is read elsewhere too.
fn must_reach(review: &ReviewRow, kept: &MemoryRow, loser: &MemoryRow) -> Result<(), Error> {
    match &kept.scope.branch {
        Some(branch) if kept.scope.branch != loser.scope.branch => Err(Error::Conflict {
            message: format!("memory {} holds on branch {branch} alone, {} elsewhere too", kept.id, loser.id),
            hint: format!(
                "`strata review resolve {} keep_both` lets each hold where it stands; decide again once the branch is merged",
                review.id
            ),
        }),
        _ => Ok(()),
    }
}

/// The kept one takes the other's place.
fn settle(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    (review, note): (&ReviewRow, &str),
    (kept, loser): (&MemoryRow, &MemoryRow),
) -> Result<(), Error> {
    let reason = on_record(review, note);
    let row = NewAudit {
        layer: Some(loser.state.layer),
        reason: &reason,
        before_hash: Some(loser.content_hash),
        after_hash: Some(loser.state.superseded().hash(&loser.content_hash)),
        ..NewAudit::new(actor, call.face, ACTION, &loser.id)
    };
    Ok(engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        // The right was judged by the layer that either had, and the person by what either said.
        for side in [kept, loser] {
            let found = w.memory_by_number(side.number)?.map_or(0, |now| now.state_seq);
            if found != side.state_seq {
                let (id, expected) = (side.id.clone(), side.state_seq);
                return Err(store::Conflict::StateMoved { id, expected, found }.into());
            }
        }
        let seq = w.record(&row)?;
        w.supersede(loser.number, kept.number, &reason, seq)?;
        w.decide_review(&review.id, ReviewStatus::Approved, &call.principal.to_string(), note, seq)?;
        dispute::calm(w, call, actor, &[&kept.id], &reason)?;
        authority::seal(w, call, actor)
    })?)
}

/// Both stay.
fn dismiss(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    (review, note): (&ReviewRow, &str),
    (older, newer): (&MemoryRow, &MemoryRow),
) -> Result<(), Error> {
    let reason = on_record(review, note);
    let row = NewAudit {
        layer: Some(newer.state.layer),
        reason: &reason,
        before_hash: Some(newer.content_hash),
        after_hash: Some(newer.content_hash),
        ..NewAudit::new(actor, call.face, ACTION, &newer.id)
    };
    Ok(engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        w.decide_review(&review.id, ReviewStatus::Rejected, &call.principal.to_string(), note, seq)?;
        dispute::calm(w, call, actor, &[&older.id, &newer.id], &reason)?;
        authority::seal(w, call, actor)
    })?)
}

impl Decision {
    const fn word(self) -> &'static str {
        match self {
            Self::KeepA => "keep_a",
            Self::KeepB => "keep_b",
            Self::KeepBoth => "keep_both",
        }
    }
}

impl Response {
    fn new(review: &ReviewRow, decision: Decision, kept: Vec<String>, superseded: Option<String>) -> Self {
        let status = if superseded.is_some() { ReviewStatus::Approved } else { ReviewStatus::Rejected };
        Self { review: review.id.clone(), status: status.as_str(), decision, kept, superseded }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = match &self.superseded {
            Some(loser) => format!(
                "resolved {}: superseded {loser} by {}; its history is kept",
                self.review,
                self.kept.join(", ")
            ),
            None => format!("resolved {}: no conflict, {} both stay", self.review, self.kept.join(" and ")),
        };
        Document::new().note(Mark::Good, text)
    }
}
