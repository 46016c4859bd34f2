//! What the judge says of findings whose wording alone does not settle them. It annotates, or leaves a question unfiled;
//! it changes no memory.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use strata_store::{
    error::StoreError,
    ledger::{AuditFilter, LedgerRead, MemoryRow, NewAudit},
};

use super::scan::{Finding, HIGH};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    judge::{Judge, Relation, Verdict, verdict_of},
    operation::Call,
};
use strata_core::{memory::Layer, policy::Action};

/// Findings at least this sure are not asked about: the wording leaves no doubt.
const SURE: f64 = 0.9;
/// Most findings that one scan asks about, the severest and surest first; the next scan asks about others.
pub const MOST: usize = 20;
/// Failures in a row after which a scan does not ask any more: the judge is away.
const PATIENCE: usize = 3;
/// How sure the judge must be that both can hold, for the question not to be filed.
const DISMISSES: f64 = 0.9;
/// The action in the audit of a finding that was not filed because of the judge.
const DISMISS: &str = "dismiss";

/// A verdict as it stands beside a finding and in its review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// Who said it.
    pub by: String,
    /// same, contradicts, compatible or unsure.
    pub relation: Relation,
    /// How sure it says it is, 0 to 1.
    pub confidence: f64,
    /// Why; data from outside.
    pub reason: String,
}

impl std::fmt::Display for Opinion {
    /// `contradicts, 0.9: a reason`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}: {}", self.relation.as_str(), self.confidence, self.reason)
    }
}

/// Asks the configured judge, outside of any transaction, about findings that would be filed. Without a judge nothing
/// happens, and a judge that is switched off has no say any more: what it had dismissed is then filed.
pub(super) struct Adviser<'e> {
    engine: &'e Engine,
    call: &'e Call<'e>,
    judge: Option<&'e dyn Judge>,
    /// What was said of the findings dismissed in earlier scans.
    dismissals: HashSet<String>,
    questions: usize,
    failures: usize,
}

impl<'e> Adviser<'e> {
    /// # Errors
    /// Those of the store. A judge that cannot be made is told by `doctor`; the work goes on without it.
    pub(super) fn of(engine: &'e Engine, call: &'e Call<'e>) -> Result<Self, Error> {
        let judge = engine.judge().ok().flatten();
        let dismissals = match judge {
            Some(_) => engine.existing_ledger()?.read(&engine.control(call), dismissals)?,
            None => HashSet::new(),
        };
        Ok(Self { engine, call, judge, dismissals, questions: 0, failures: 0 })
    }

    /// Whether the judge is sure, now or since an earlier scan, that both sides of a finding can hold. Otherwise its
    /// opinion, if it has one, stands in the finding. One about a rule or about P0 and P1 is never dismissed: its text
    /// must not be able to talk a judge into silence.
    ///
    /// # Errors
    /// Those of the store, and `Cancelled`. A judge that fails is no error.
    pub(super) fn dismisses(&mut self, finding: &mut Finding) -> Result<bool, Error> {
        let Some(judge) = self.judge.filter(|_| finding.score < SURE) else { return Ok(false) };
        if finding.severity != HIGH && self.dismissals.contains(&dismissal(&finding.a.id, &finding.b.id)) {
            return Ok(true);
        }
        let may_ask = self.questions < MOST && self.failures < PATIENCE && finding.judge.is_none();
        if let Some([a, b]) = if may_ask { self.texts(finding)? } else { None } {
            self.engine.control(self.call).check()?;
            self.questions += 1;
            finding.judge = ask(judge, &a, &b)?.map(Box::new);
            self.failures = if finding.judge.is_some() { 0 } else { self.failures + 1 };
        }
        if !is_dismissed(finding) {
            return Ok(false);
        }
        dismiss(self.engine, self.call, finding)?;
        self.dismissals.insert(dismissal(&finding.a.id, &finding.b.id));
        Ok(true)
    }

    /// What both say, while they are there.
    fn texts(&self, finding: &Finding) -> Result<Option<[String; 2]>, Error> {
        let numbers = [finding.a.number, finding.b.number];
        let control = self.engine.control(self.call);
        let rows = self.engine.existing_ledger()?.read(&control, |r| r.memories_by_numbers(&numbers))?;
        Ok(<[MemoryRow; 2]>::try_from(rows).ok().map(|rows| rows.map(|row| row.body)))
    }
}

/// A verdict that passed the gate; `None` when there is none.
fn ask(judge: &dyn Judge, a: &str, b: &str) -> Result<Option<Opinion>, Error> {
    let Ok(Verdict { relation, reason, confidence }) = verdict_of(judge, a, b) else { return Ok(None) };
    let mut gate = Gate::default();
    let mut pass = |name, text: &str| gate.field(name, Some(text)).map(Option::unwrap_or_default);
    Ok(Some(Opinion {
        by: pass("judge", &judge.name())?,
        relation,
        confidence,
        reason: pass("reason", &reason)?,
    }))
}

fn is_dismissed(finding: &Finding) -> bool {
    let says = finding.judge.as_ref();
    finding.severity != HIGH
        && says.is_some_and(|o| o.relation == Relation::Compatible && o.confidence >= DISMISSES)
}

/// Leaves on record that a finding was not filed, so that it is not asked about again.
fn dismiss(engine: &Engine, call: &Call<'_>, finding: &Finding) -> Result<(), Error> {
    let layer = Layer::parse(&finding.b.layer).ok();
    if let Some(layer) = layer {
        authority::authorise(engine, call, Action::Propose, layer, &finding.b.id)?;
    }
    let reason = dismissal(&finding.a.id, &finding.b.id);
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let row = NewAudit {
            layer,
            reason: &reason,
            ..NewAudit::new(call.principal, call.face, DISMISS, &finding.b.id)
        };
        w.record(&row).map(drop)
    })?;
    Ok(())
}

/// The reason in the audit. It has no word of the judge or of a memory: the audit outlives a purge.
fn dismissal(a: &str, b: &str) -> String {
    format!("the judge says that {a} and {b} can both hold")
}

/// The reasons of all that was dismissed.
fn dismissals(r: &LedgerRead<'_>) -> Result<HashSet<String>, StoreError> {
    let filter =
        AuditFilter { action: Some(DISMISS.to_owned()), limit: usize::MAX, ..AuditFilter::default() };
    Ok(r.audit(&filter)?.into_iter().map(|line| line.entry.reason).collect())
}
