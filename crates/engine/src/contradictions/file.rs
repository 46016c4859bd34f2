//! Puts findings into the review queue, each pair once for ever.

use std::collections::HashMap;

use serde_json::{Value, json};
use strata_core::{
    id::{Id, IdKind},
    memory::Layer,
    policy::Action,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, LedgerWrite, NewAudit, NewReview, ReviewFilter, ReviewRow, ReviewStatus},
};

use super::scan::Finding;
use crate::{authority, engine::Engine, error::Error, gate::Gate, operation::Call, review::CONFLICT};

/// Findings filed in one transaction.
const BATCH: usize = 64;

/// Most questions that wait about one memory. A crowd of memories that all differ about one thing would bury the queue:
/// whoever decides these has the next ones filed by the next scan.
const WAITING: usize = 3;

/// What became of findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filing {
    /// Put into the queue.
    pub filed: usize,
    /// There before, decided or not.
    pub known: usize,
    /// Not filed, because enough questions about one of the two wait already.
    pub left_out: usize,
}

/// Files what is new, the severest and surest first, and names the review of each finding.
///
/// # Errors
/// `Cancelled` between two batches; what was filed until then stays.
pub fn file(engine: &Engine, call: &Call<'_>, findings: &mut [Finding]) -> Result<Filing, Error> {
    let mut filing = Filing::default();
    let mut waiting = Waiting::default();
    for batch in findings.chunks_mut(BATCH) {
        engine.control(call).check()?;
        let questions = batch.iter().map(|f| question(engine, call, f)).collect::<Result<Vec<_>, _>>()?;
        let (outcomes, counted) =
            engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
                // The transaction may be tried again.
                let mut waiting = waiting.above();
                let put = |question| put(w, call, question, &mut waiting);
                Ok((questions.iter().map(put).collect::<Result<Vec<_>, _>>()?, waiting.here))
            })?;
        waiting.add(counted);
        for (finding, outcome) in batch.iter_mut().zip(outcomes) {
            match &outcome {
                Outcome::Filed(_) => filing.filed += 1,
                Outcome::Known(_) => filing.known += 1,
                Outcome::LeftOut => filing.left_out += 1,
            }
            finding.review = outcome.review();
        }
    }
    Ok(filing)
}

/// How many questions about each memory wait, as far as this scan has come.
#[derive(Debug, Default)]
struct Waiting<'a> {
    below: Option<&'a Self>,
    here: HashMap<String, usize>,
}

impl Waiting<'_> {
    /// Counts that stand on these, for one transaction.
    fn above(&self) -> Waiting<'_> {
        Waiting { below: Some(self), here: HashMap::new() }
    }

    fn of(&self, memory: &str) -> usize {
        self.here.get(memory).copied().unwrap_or(0) + self.below.map_or(0, |below| below.of(memory))
    }

    fn count(&mut self, pair: &[String; 2]) {
        for memory in pair {
            *self.here.entry(memory.clone()).or_default() += 1;
        }
    }

    fn add(&mut self, counted: HashMap<String, usize>) {
        for (memory, more) in counted {
            *self.here.entry(memory).or_default() += more;
        }
    }
}

/// What became of a question.
#[derive(Debug)]
enum Outcome {
    Filed(String),
    Known(String),
    LeftOut,
}

impl Outcome {
    fn review(self) -> Option<String> {
        match self {
            Self::Filed(id) | Self::Known(id) => Some(id),
            Self::LeftOut => None,
        }
    }
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

/// Inserts a question unless its pair was asked about before, or enough is asked about one of the two.
fn put(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    question: &Question,
    waiting: &mut Waiting<'_>,
) -> Result<Outcome, StoreError> {
    let [a, b] = &question.pair;
    if let Some(review) = asked(w, b, a)?.map_or_else(|| asked(w, a, b), |found| Ok(Some(found)))? {
        if review.status == ReviewStatus::Pending {
            waiting.count(&question.pair);
        }
        return Ok(Outcome::Known(review.id));
    }
    if question.pair.iter().any(|memory| waiting.of(memory) >= WAITING) {
        return Ok(Outcome::LeftOut);
    }
    let row = NewAudit {
        layer: question.layer,
        reason: &question.review.reason,
        ..NewAudit::new(call.principal, call.face, Action::Propose.as_str(), b).asking(&question.review)
    };
    let seq = w.record(&row)?;
    w.insert_review(&question.review, seq)?;
    waiting.count(&question.pair);
    Ok(Outcome::Filed(question.review.id.to_string()))
}

/// The review, waiting or decided, of `target` against `other`.
pub(super) fn asked(r: &LedgerRead<'_>, target: &str, other: &str) -> Result<Option<ReviewRow>, StoreError> {
    let filter = ReviewFilter {
        status: None,
        kind: Some(CONFLICT.to_owned()),
        target: Some(target.to_owned()),
        limit: usize::MAX,
        ..ReviewFilter::default()
    };
    let names = |proposal: &str| {
        let read: Option<Value> = serde_json::from_str(proposal).ok();
        read.is_some_and(|p| p["a"] == *other || p["b"] == *other)
    };
    Ok(r.reviews(&filter)?.into_iter().find(|review| names(&review.proposal)))
}
