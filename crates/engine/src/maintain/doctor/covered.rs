//! Raw events and questions: whether they say what the audit has the digests of.

use strata_store::ledger::{CoveredReport, EventFinding, QuestionFinding};

use super::{Examination, ledger::named};
use crate::{error::Error, render::counted};

/// What to do about an edited text.
const HINT: &str = "somebody changed the ledger; compare with a backup";

impl Examination<'_> {
    /// Every raw event is as it was stored.
    pub(super) fn events(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let report = ledger.read(&self.engine.control(self.call), |r| r.verify_events())?;
        if report.findings.is_empty() {
            self.ok("events", format!("every raw event is as it was stored{}", not_covered(&report)));
            return Ok(());
        }
        let (mut changed, mut batches) = (Vec::new(), Vec::new());
        for finding in report.findings {
            match finding {
                EventFinding::Changed { id } => changed.push(id),
                EventFinding::Batch { seq } => batches.push(format!("#{seq}")),
            }
        }
        if !changed.is_empty() {
            let count = counted(changed.len(), "event");
            self.bad("events", format!("{count} not as stored: {}", named(&changed)), HINT);
        }
        if !batches.is_empty() {
            let detail = format!(
                "the events of {} are not those that it recorded: {}",
                counted(batches.len(), "audit entry"),
                named(&batches)
            );
            self.bad("events", detail, HINT);
        }
        Ok(())
    }

    /// Every question in the queue asks what was asked.
    pub(super) fn questions(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let report = ledger.read(&self.engine.control(self.call), |r| r.verify_questions())?;
        if report.findings.is_empty() {
            self.ok("reviews", format!("every review asks what was asked{}", not_covered(&report)));
            return Ok(());
        }
        let (mut changed, mut standing, mut lost) = (Vec::new(), Vec::new(), Vec::new());
        for finding in report.findings {
            match finding {
                QuestionFinding::Changed { id } => changed.push(id),
                QuestionFinding::Standing { id } => standing.push(id),
                QuestionFinding::Lost { seq } => lost.push(format!("#{seq}")),
            }
        }
        if !changed.is_empty() {
            let count = counted(changed.len(), "review");
            self.bad("reviews", format!("{count} not as asked: {}", named(&changed)), HINT);
        }
        if !standing.is_empty() {
            let count = counted(standing.len(), "review");
            let detail =
                format!("{count} not decided, or not waiting, as the audit says: {}", named(&standing));
            self.bad("reviews", detail, HINT);
        }
        if !lost.is_empty() {
            let detail = format!("questions on record that are not in the queue: {}", named(&lost));
            self.bad("reviews", detail, HINT);
        }
        Ok(())
    }
}

impl Examination<'_> {
    /// Every entry of the index of knowledge that was written by hand says what was written.
    pub(super) fn l0_entries(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let altered = ledger.read(&self.engine.control(self.call), |r| r.altered_l0_entries())?;
        if altered.is_empty() {
            self.ok("l0", "every entry that was written into the index of knowledge is as it was written");
            return Ok(());
        }
        let places: Vec<String> =
            altered.iter().map(|(namespace, path)| format!("{namespace}/{path}")).collect();
        let count = counted(altered.len(), "entry");
        self.bad("l0", format!("{count} not as written: {}", named(&places)), HINT);
        Ok(())
    }
}

/// How many are from before the audit covered such texts.
fn not_covered<F>(report: &CoveredReport<F>) -> String {
    match report.uncovered {
        0 => String::new(),
        n => format!("; {n} from before the audit covered them cannot be checked"),
    }
}
