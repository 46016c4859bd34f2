//! Long work: which jobs there are, how far they are, and withdrawing one.

pub mod cancel;
pub mod list;
pub mod show;

use serde::Serialize;
use strata_core::{
    id::{Id, IdKind},
    time::Timestamp,
};
use strata_store::ledger::{JobRow, JobState};

use crate::{
    error::Error,
    job::holder,
    render::{Block, Document, Mark, Render},
};

/// A job as shown.
#[derive(Debug, Clone, Serialize)]
pub struct JobView {
    /// Its id.
    pub id: String,
    /// What is being done: import, index, reindex, ...
    pub kind: String,
    /// queued, running, stalled, done, failed or cancelled. A stalled one says that it runs, but its process has ended
    /// on this machine, or its worker has been silent for longer than its lease.
    pub state: &'static str,
    /// Who works on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Steps done.
    pub done: i64,
    /// Steps in all; 0 if unknown.
    pub total: i64,
    /// What is being done now.
    pub message: String,
    /// When it was queued.
    pub created_at: String,
    /// The worker's last sign of life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<String>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl JobView {
    pub(super) fn new(row: JobRow, now: Timestamp) -> Self {
        Self {
            state: if is_stalled(&row, now) { "stalled" } else { row.state.as_str() },
            id: row.id,
            kind: row.kind,
            worker: row.lease_owner.map(|owner| holder::name(&owner).to_owned()),
            done: row.done,
            total: row.total,
            message: row.message,
            created_at: row.created_at.to_rfc3339(),
            heartbeat: row.heartbeat.map(Timestamp::to_rfc3339),
            finished_at: row.finished_at.map(Timestamp::to_rfc3339),
            result: row.result,
        }
    }

    fn progress(&self) -> String {
        match self.total {
            0 => self.done.to_string(),
            total => format!("{} of {total}", self.done),
        }
    }
}

/// Whether a job's worker has ended on this machine, or let its lease run out.
pub(crate) fn is_stalled(row: &JobRow, now: Timestamp) -> bool {
    let late = row.lease_until.is_some_and(|until| until <= now);
    row.state == JobState::Running && (late || row.lease_owner.as_deref().is_some_and(holder::is_gone))
}

/// Reads the id of a job.
fn job_id(text: &str) -> Result<String, Error> {
    match Id::parse(text) {
        Ok(id) if id.kind() == IdKind::Job => Ok(id.to_string()),
        _ => Err(Error::argument("id", "is not the whole id of a job", "`strata jobs list` shows the ids")),
    }
}

fn missing(id: &str) -> Error {
    Error::NotFound { what: "job", id: id.to_owned(), hint: "`strata jobs list` shows the jobs".into() }
}

impl Render for JobView {
    fn render(&self) -> Document {
        let mut pairs = vec![
            ("job".to_owned(), self.id.clone()),
            ("what".to_owned(), self.kind.clone()),
            ("state".to_owned(), self.state.to_owned()),
            ("progress".to_owned(), self.progress()),
            ("queued".to_owned(), self.created_at.clone()),
        ];
        let message = Some(self.message.clone()).filter(|message| !message.is_empty());
        let optional = [
            ("now", &message),
            ("worker", &self.worker),
            ("last sign of life", &self.heartbeat),
            ("ended", &self.finished_at),
            ("result", &self.result),
        ];
        pairs.extend(optional.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v.clone()?))));
        let document = Document::new().with(Block::Pairs(pairs));
        match self.state {
            "stalled" => document
                .note(Mark::Warning, "its worker has stopped; `strata doctor --fix` ends it on record"),
            "failed" => document.note(Mark::Bad, "it failed; start the work again"),
            _ => document,
        }
    }
}
