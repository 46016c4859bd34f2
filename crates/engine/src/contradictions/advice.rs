//! What the judge says of findings whose wording alone does not settle them. It annotates, or leaves a question unfiled;
//! it changes no memory.

use serde::{Deserialize, Serialize};
use strata_store::{
    error::StoreError,
    ledger::{AuditFilter, LedgerRead, NewAudit},
};

use super::{file::asked, scan::Finding};
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

/// Asks the configured judge, outside of any transaction, and takes out of `findings` what it dismissed, now or in an
/// earlier scan. Returns how many those are. Without a judge nothing happens, and a judge that is switched off has no
/// say any more: what it had dismissed is then filed.
///
/// A finding about a rule or about P0 and P1 is never dismissed: its text must not be able to talk a judge into silence.
///
/// # Errors
/// Those of the store, and `Cancelled`. A judge that fails is no error.
pub fn advise(engine: &Engine, call: &Call<'_>, findings: &mut Vec<Finding>) -> Result<usize, Error> {
    // A judge that cannot be made is told by `doctor`; the work goes on without it.
    let Ok(Some(judge)) = engine.judge() else { return Ok(0) };
    let (before, mut questions, mut failures) = (findings.len(), 0, 0);
    let mut kept = Vec::with_capacity(before);
    for mut finding in std::mem::take(findings) {
        engine.control(call).check()?;
        let Some(texts) = open_texts(engine, call, &finding)? else {
            kept.push(finding);
            continue;
        };
        let Texts::Open(a, b) = texts else { continue };
        if questions < MOST && failures < PATIENCE {
            questions += 1;
            finding.judge = ask(judge, &a, &b)?;
            failures = if finding.judge.is_some() { 0 } else { failures + 1 };
        }
        if is_dismissed(&finding) {
            dismiss(engine, call, &finding)?;
        } else {
            kept.push(finding);
        }
    }
    *findings = kept;
    Ok(before - findings.len())
}

/// What is known of a finding that the judge may be asked about.
enum Texts {
    /// Nobody has asked yet: both texts.
    Open(String, String),
    /// An earlier scan dismissed it.
    Dismissed,
}

/// `None` for a finding that is sure, was filed before, or whose memories are gone.
fn open_texts(engine: &Engine, call: &Call<'_>, finding: &Finding) -> Result<Option<Texts>, Error> {
    if finding.score >= SURE {
        return Ok(None);
    }
    let (a, b) = (finding.a.id.as_str(), finding.b.id.as_str());
    Ok(engine.existing_ledger()?.read(&engine.control(call), |r| {
        if asked(r, b, a)?.or(asked(r, a, b)?).is_some() {
            return Ok(None);
        }
        if was_dismissed(r, a, b)? {
            return Ok(Some(Texts::Dismissed));
        }
        let body = |id: &str| r.memory(id).map(|row| row.map(|row| row.body));
        Ok(body(a)?.zip(body(b)?).map(|(a, b)| Texts::Open(a, b)))
    })?)
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
    finding.severity != super::scan::HIGH
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

fn was_dismissed(r: &LedgerRead<'_>, a: &str, b: &str) -> Result<bool, StoreError> {
    let filter = AuditFilter {
        target: Some(b.to_owned()),
        action: Some(DISMISS.to_owned()),
        limit: usize::MAX,
        ..AuditFilter::default()
    };
    let reason = dismissal(a, b);
    Ok(r.audit(&filter)?.iter().any(|line| line.entry.reason == reason))
}
