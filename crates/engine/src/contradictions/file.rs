//! Puts findings into the review queue, each pair once for ever.

use serde_json::{Value, json};
use strata_core::{
    id::{Id, IdKind},
    memory::Layer,
    policy::Action,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, LedgerWrite, NewAudit, NewReview, ReviewFilter},
};

use super::scan::Finding;
use crate::{authority, engine::Engine, error::Error, gate::Gate, operation::Call, review::CONFLICT};

/// Findings filed in one transaction.
const BATCH: usize = 64;

/// Files what is new and names the review of each finding. Returns how many were filed and how many had been before.
///
/// # Errors
/// `Cancelled` between two batches; what was filed until then stays.
pub fn file(engine: &Engine, call: &Call<'_>, findings: &mut [Finding]) -> Result<(usize, usize), Error> {
    let mut filed = 0;
    for batch in findings.chunks_mut(BATCH) {
        engine.control(call).check()?;
        let questions = batch.iter().map(|f| question(engine, call, f)).collect::<Result<Vec<_>, _>>()?;
        let ids = engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
            questions.iter().map(|q| put(w, call, q)).collect::<Result<Vec<_>, _>>()
        })?;
        for (finding, (id, new)) in batch.iter_mut().zip(ids) {
            finding.review = Some(id);
            filed += usize::from(new);
        }
    }
    Ok((filed, findings.len() - filed))
}

/// A finding as it will stand in the queue.
struct Question {
    review: NewReview,
    pair: [String; 2],
    layer: Option<Layer>,
}

fn question(engine: &Engine, call: &Call<'_>, finding: &Finding) -> Result<Question, Error> {
    let (a, b) = (&finding.a, &finding.b);
    let layer = Layer::parse(&b.layer).ok();
    if let Some(layer) = layer {
        authority::authorise(engine, call, Action::Propose, layer, &b.id)?;
    }
    let mut gate = Gate::default();
    let subject = gate.field("subject", Some(&finding.subject))?.unwrap_or_default();
    let mut value = |text: &str| gate.field("value", Some(text)).map(Option::unwrap_or_default);
    let values = [value(&finding.values[0])?, value(&finding.values[1])?];
    let mut proposal = json!({
        "a": &a.id,
        "b": &b.id,
        "axis": finding.axis,
        "subject": subject,
        "values": values,
        "score": finding.score,
    });
    if let Some(opinion) = &finding.judge {
        proposal["judge"] = json!(opinion);
    }
    let review = NewReview {
        id: Id::from_bits(IdKind::Review, engine.ids().bits()),
        kind: CONFLICT.to_owned(),
        target: b.id.clone(),
        proposal: proposal.to_string(),
        reason: format!("{} and {} cannot both hold", a.id, b.id),
        proposer: call.principal.to_string(),
        created_at: engine.clock().now(),
        salt: engine.ids().salt(),
    };
    Ok(Question { review, pair: [a.id.clone(), b.id.clone()], layer })
}

/// Inserts a question unless its pair was asked about before; returns the review's id and whether it is new.
fn put(w: &LedgerWrite<'_>, call: &Call<'_>, question: &Question) -> Result<(String, bool), StoreError> {
    let [a, b] = &question.pair;
    for (target, other) in [(b, a), (a, b)] {
        if let Some(id) = asked(w, target, other)? {
            return Ok((id, false));
        }
    }
    let row = NewAudit {
        layer: question.layer,
        reason: &question.review.reason,
        ..NewAudit::new(call.principal, call.face, Action::Propose.as_str(), b).asking(&question.review)
    };
    let seq = w.record(&row)?;
    w.insert_review(&question.review, seq)?;
    Ok((question.review.id.to_string(), true))
}

/// The review, waiting or decided, of `target` against `other`.
pub(super) fn asked(r: &LedgerRead<'_>, target: &str, other: &str) -> Result<Option<String>, StoreError> {
    let filter = ReviewFilter {
        status: None,
        kind: Some(CONFLICT.to_owned()),
        target: Some(target.to_owned()),
        limit: usize::MAX,
    };
    let names = |proposal: &str| {
        let read: Option<Value> = serde_json::from_str(proposal).ok();
        read.is_some_and(|p| p["a"] == *other || p["b"] == *other)
    };
    Ok(r.reviews(&filter)?.into_iter().find(|review| names(&review.proposal)).map(|review| review.id))
}
