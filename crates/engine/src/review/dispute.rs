//! A memory that is stored against another one in force: the question which of them holds, and the mark that both bear
//! until a person decides it. Both stay in force meanwhile.

use serde_json::json;
use strata_core::{
    id::{Id, IdKind},
    memory::{Layer, Relation, Status},
    policy::{self, Action, Verdict},
    principal::Principal,
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{
        LedgerRead, LedgerWrite, MemoryRelation, MemoryRow, NewAudit, NewReview, ReviewFilter, ReviewStatus,
    },
};

use super::{CONFLICT, Conflict};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    memory::{status, write::Stored},
    operation::Call,
};

/// What two memories differ in, through the gate.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    /// The axis of contradiction, `wording` or `confidence`.
    pub(crate) axis: &'static str,
    /// What both are about.
    pub(crate) subject: String,
    /// What the one in force says, and what the new one says.
    pub(crate) values: [String; 2],
    /// How sure it is that both cannot hold, 0 to 1.
    pub(crate) score: f64,
}

/// A question about a memory that is not stored yet.
#[derive(Debug)]
pub(crate) struct Question {
    id: Id,
    difference: Difference,
    at: Timestamp,
    salt: [u8; 16],
}

impl Question {
    /// Prepares one, if the caller may ask.
    ///
    /// # Errors
    /// A refusal by the policy.
    pub(crate) fn new(
        engine: &Engine,
        call: &Call<'_>,
        against: &MemoryRow,
        difference: &Difference,
    ) -> Result<Self, Error> {
        authority::authorise(engine, call, Action::Propose, against.state.layer, &against.id)?;
        Ok(Self {
            id: Id::from_bits(IdKind::Review, engine.ids().bits()),
            difference: difference.clone(),
            at: engine.clock().now(),
            salt: engine.ids().salt(),
        })
    }

    /// The id of its review.
    pub(crate) fn id(&self) -> String {
        self.id.to_string()
    }
}

/// Asks it, of the memory in force and the one that was just stored in `layer`, and relates the two.
pub(crate) fn file(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    question: &Question,
    against: &MemoryRow,
    (stored, layer): (&Stored, Layer),
) -> Result<(), StoreError> {
    let Difference { axis, subject, values, score } = &question.difference;
    let proposal = json!({
        "a": &against.id, "b": &stored.id, "axis": axis, "subject": subject, "values": values, "score": score,
    });
    let review = NewReview {
        id: question.id.clone(),
        kind: CONFLICT.to_owned(),
        target: stored.id.clone(),
        proposal: proposal.to_string(),
        reason: format!("{} and {} cannot both hold", against.id, stored.id),
        proposer: call.principal.to_string(),
        created_at: question.at,
        salt: question.salt,
    };
    let row = NewAudit {
        layer: Some(layer),
        reason: &review.reason,
        ..NewAudit::new(call.principal, call.face, Action::Propose.as_str(), &stored.id).asking(&review)
    };
    let seq = w.record(&row)?;
    w.insert_review(&review, seq)?;
    let relation = Relation::Contradicts;
    let link = MemoryRelation { source: stored.number, relation, target: against.number, at: question.at };
    w.relate_memories(&[link], seq)
}

/// Marks a memory in force as disputed, if the caller may change its layer: it stays in force, and whoever reads it sees
/// that a person has been asked.
pub(crate) fn mark(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    number: i64,
    reason: &str,
) -> Result<(), StoreError> {
    let Some(memory) = w.memory_by_number(number)? else { return Ok(()) };
    let markable = matches!(memory.state.status, Status::Active | Status::Stale);
    if !markable || !may_change(call, memory.state.layer) {
        return Ok(());
    }
    let row = NewAudit::new(call.principal, call.face, "dispute", &memory.id);
    status::turn(w, &row, &memory, (Status::NeedsReview, reason))
}

/// Takes the mark off memories about which no other question waits.
pub(crate) fn calm(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    actor: &Principal,
    ids: &[&str],
    reason: &str,
) -> Result<(), StoreError> {
    for id in ids {
        let Some(memory) = w.memory(id)?.filter(|m| m.state.status == Status::NeedsReview) else { continue };
        if !is_asked_about(w, id)? {
            let row = NewAudit::new(actor, call.face, "settle", &memory.id);
            status::turn(w, &row, &memory, (Status::Active, reason))?;
        }
    }
    Ok(())
}

/// Whether a question about a conflict of this memory waits.
fn is_asked_about(r: &LedgerRead<'_>, id: &str) -> Result<bool, StoreError> {
    let filter = ReviewFilter {
        status: Some(ReviewStatus::Pending),
        kind: Some(CONFLICT.into()),
        limit: usize::MAX,
        ..ReviewFilter::default()
    };
    let names = |proposal: &str| {
        serde_json::from_str::<Conflict>(proposal).is_ok_and(|conflict| conflict.a == id || conflict.b == id)
    };
    Ok(r.reviews(&filter)?.iter().any(|review| review.target == id || names(&review.proposal)))
}

/// Whether the caller may change memories of a layer outright.
pub(crate) fn may_change(call: &Call<'_>, layer: Layer) -> bool {
    policy::decide(Action::Update, call.principal, layer).verdict == Verdict::Allow
}
