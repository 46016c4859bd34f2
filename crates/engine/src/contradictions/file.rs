//! Puts findings into the review queue, each pair once for ever.
//!
//! What is to be asked is decided before anything is written, from one reading of the queue; only for that are texts let
//! through the gate and memories looked up. A transaction then writes a few questions, if the queue is still as it was
//! read. If it is not, what changed is read, and decided anew: so two scans at a time ask nothing twice, and not too much.

use std::collections::HashMap;

use serde_json::json;
use strata_core::{
    id::{Id, IdKind},
    memory::Layer,
    policy::Action,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerWrite, NewAudit, NewReview, Seq},
};

use super::{advice::Adviser, book::Book, scan::Finding};
use crate::{authority, engine::Engine, error::Error, gate::Gate, operation::Call, review::CONFLICT};

/// Findings filed in one transaction.
const SLICE: usize = 32;

/// Most questions that wait about one memory. A crowd of memories that all differ about one thing would bury the queue:
/// whoever decides these has the next ones filed by the next scan.
pub const WAITING: usize = 3;

/// What became of findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filing {
    /// Put into the queue.
    pub filed: usize,
    /// There before, decided or not.
    pub known: usize,
    /// Not filed, because enough questions about one of the two wait already.
    pub left_out: usize,
    /// Not filed, because the configured judge is sure that both can hold.
    pub dismissed: usize,
}

/// Files what is new, the severest and surest first, and names the review of each finding. What the judge dismissed is
/// taken out of `findings`, and so are those of memories that are no longer in force.
///
/// # Errors
/// `Cancelled` between two transactions; what was filed until then stays.
pub fn file(engine: &Engine, call: &Call<'_>, findings: &mut Vec<Finding>) -> Result<Filing, Error> {
    let mut book = Book::default();
    let mut adviser = Adviser::of(engine, call)?;
    let mut fates = Vec::with_capacity(findings.len());
    follow(engine, call, &mut book)?;
    while fates.len() < findings.len() {
        engine.control(call).check()?;
        let rest = &mut findings[fates.len()..];
        let mut plan = plan(rest, &book, &mut |finding| adviser.dismisses(finding))?;
        if file_slice(engine, call, &mut book, rest, &mut plan)? {
            fates.append(&mut plan);
        } else {
            follow(engine, call, &mut book)?;
        }
    }
    let mut filing = Filing::default();
    let mut fates = fates.into_iter();
    findings.retain_mut(|finding| fates.next().is_none_or(|fate| filing.count(fate, finding)));
    Ok(filing)
}

fn follow(engine: &Engine, call: &Call<'_>, book: &mut Book) -> Result<(), Error> {
    Ok(engine.ledger(call)?.read(&engine.control(call), |r| book.follow(r))?)
}

impl Filing {
    /// Whether the finding is still one.
    fn count(&mut self, fate: Fate, finding: &mut Finding) -> bool {
        let (counter, review) = match fate {
            Fate::Filed(id) => (&mut self.filed, Some(id)),
            Fate::Known(id) => (&mut self.known, Some(id)),
            Fate::LeftOut => (&mut self.left_out, None),
            Fate::Dismissed => {
                self.dismissed += 1;
                return false;
            }
            Fate::New | Fate::Gone => return false,
        };
        *counter += 1;
        finding.review = review;
        true
    }
}

/// What is to become, or became, of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    /// To be asked.
    New,
    /// It was asked, in this review.
    Filed(String),
    /// It was asked before.
    Known(String),
    LeftOut,
    Dismissed,
    /// One of the two is no longer in force.
    Gone,
}

/// Decides about the first findings, until a transaction's worth of them is to be asked. `dismisses` is called for those only
/// that would be asked.
fn plan(
    findings: &mut [Finding],
    book: &Book,
    dismisses: &mut dyn FnMut(&mut Finding) -> Result<bool, Error>,
) -> Result<Vec<Fate>, Error> {
    let (mut fates, mut new) = (Vec::new(), 0);
    // Questions of this plan, by the memory's number.
    let mut ahead: HashMap<i64, usize> = HashMap::new();
    for finding in findings {
        if new == SLICE {
            break;
        }
        let sides = [&finding.a, &finding.b];
        let enough = sides
            .iter()
            .any(|side| book.waiting(&side.id) + ahead.get(&side.number).copied().unwrap_or(0) >= WAITING);
        let numbers = sides.map(|side| side.number);
        fates.push(match book.review(&finding.a.id, &finding.b.id) {
            Some(review) => Fate::Known(review.to_owned()),
            None if enough => Fate::LeftOut,
            None if dismisses(finding)? => Fate::Dismissed,
            None => {
                new += 1;
                numbers.iter().for_each(|number| *ahead.entry(*number).or_default() += 1);
                Fate::New
            }
        });
    }
    Ok(fates)
}

/// Asks what the plan wants asked, and enters the reviews into plan and book. `false`, and nothing written, when somebody
/// else asked or decided since the book was read.
fn file_slice(
    engine: &Engine,
    call: &Call<'_>,
    book: &mut Book,
    findings: &[Finding],
    plan: &mut [Fate],
) -> Result<bool, Error> {
    let new = || findings.iter().zip(&*plan).filter(|(_, fate)| **fate == Fate::New);
    let questions =
        new().map(|(finding, _)| question(engine, call, finding)).collect::<Result<Vec<_>, _>>()?;
    if questions.is_empty() {
        return Ok(true);
    }
    let numbers: Vec<i64> = questions.iter().flat_map(|question| question.numbers).collect();
    let written = engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        if !book.is_current(w)? {
            return Ok(None);
        }
        let live = w.live_among(&numbers)?;
        let stands = |question: &&Question| question.numbers.iter().all(|number| live.contains(number));
        let record = |question| record(w, call, question).map(|seq| (&question.review, seq));
        let asked = questions.iter().filter(stands).map(record).collect::<Result<Vec<_>, _>>()?;
        w.insert_reviews(&asked)?;
        Ok(Some((live, w.head()?)))
    })?;
    let Some((live, head)) = written else { return Ok(false) };
    let stands = |question: &&Question| question.numbers.iter().all(|number| live.contains(number));
    book.enter(questions.iter().filter(stands).map(|q| (&q.pair, q.review.id.as_str())), head);
    let outcomes = plan.iter_mut().filter(|fate| **fate == Fate::New);
    for (fate, question) in outcomes.zip(&questions) {
        *fate = match stands(&question) {
            true => Fate::Filed(question.review.id.to_string()),
            false => Fate::Gone,
        };
    }
    Ok(true)
}

/// A finding as it will stand in the queue.
struct Question {
    review: NewReview,
    pair: [String; 2],
    numbers: [i64; 2],
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
    Ok(Question { review, pair: [a.id.clone(), b.id.clone()], numbers: [a.number, b.number], layer })
}

/// The line of the audit that covers a question.
fn record(w: &LedgerWrite<'_>, call: &Call<'_>, question: &Question) -> Result<Seq, StoreError> {
    let row = NewAudit {
        layer: question.layer,
        reason: &question.review.reason,
        ..NewAudit::new(call.principal, call.face, Action::Propose.as_str(), &question.review.target)
            .asking(&question.review)
    };
    w.record(&row)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use strata_core::chain::Head;

    use super::*;
    use crate::contradictions::scan::Side;

    fn side(number: usize) -> Arc<Side> {
        Arc::new(Side {
            id: format!("mem_{number:06}"),
            number: i64::try_from(number).expect("small"),
            layer: "P5".into(),
            kind: "fact".into(),
            scope: "user".into(),
            text: format!("Port {number}."),
        })
    }

    /// Each of `memories` against the sixteen before it.
    fn crowd(memories: usize) -> Vec<Finding> {
        let sides: Vec<_> = (0..memories).map(side).collect();
        let of = |b: usize| (b.saturating_sub(16)..b).map(move |a| (a, b));
        let finding = |(a, b): (usize, usize)| Finding {
            severity: "medium",
            axis: "number",
            subject: "port".into(),
            values: [a.to_string(), b.to_string()],
            score: 0.8,
            a: Arc::clone(&sides[a]),
            b: Arc::clone(&sides[b]),
            review: None,
            judge: None,
        };
        (0..memories).flat_map(of).map(finding).collect()
    }

    /// Plans and enters until all is decided; returns the fates and how many findings were looked at more closely.
    fn run(findings: &mut [Finding], book: &mut Book) -> (Vec<Fate>, usize) {
        let (mut fates, mut looked) = (Vec::new(), 0);
        while fates.len() < findings.len() {
            let rest = &mut findings[fates.len()..];
            let mut planned = plan(rest, book, &mut |_| {
                looked += 1;
                Ok(false)
            })
            .expect("nothing fails");
            assert!(planned.iter().filter(|fate| **fate == Fate::New).count() <= SLICE);
            for (fate, finding) in planned.iter_mut().zip(&*rest).filter(|(fate, _)| **fate == Fate::New) {
                let review = format!("rev_{}_{}", finding.a.number, finding.b.number);
                let pair = [finding.a.id.clone(), finding.b.id.clone()];
                book.enter([(&pair, review.as_str())], Head::GENESIS);
                *fate = Fate::Filed(review);
            }
            fates.append(&mut planned);
        }
        (fates, looked)
    }

    #[test]
    fn only_what_is_filed_is_looked_at() {
        let (mut findings, mut book) = (crowd(10_000), Book::default());
        let (fates, looked) = run(&mut findings, &mut book);
        let filed = fates.iter().filter(|fate| matches!(fate, Fate::Filed(_))).count();
        assert!((1..=10_000 * WAITING / 2).contains(&filed), "{filed} of {}", findings.len());
        assert_eq!(looked, filed, "what is left out costs a look into the book");
        assert_eq!(fates.iter().filter(|fate| **fate == Fate::LeftOut).count(), findings.len() - filed);
        assert!((0..10_000).all(|n| book.waiting(&side(n).id) <= WAITING));
        let (again, looked) = run(&mut findings, &mut book);
        assert_eq!((again.iter().filter(|fate| matches!(fate, Fate::Known(_))).count(), looked), (filed, 0));
    }

    #[test]
    fn questions_that_wait_count_before_those_of_the_scan() {
        let mut book = Book::default();
        let pair = |other: usize| [side(0).id.clone(), side(other).id.clone()];
        for other in 100..103 {
            book.enter([(&pair(other), "rev_x")], Head::GENESIS);
        }
        let mut findings = crowd(2);
        let (fates, looked) = run(&mut findings, &mut book);
        assert_eq!((fates, looked), (vec![Fate::LeftOut], 0));
    }
}
