//! Long work: who is doing it, how far it is, and taking it over when its worker has died.
//!
//! Jobs change no truth of their own, so they are not audited; what they do to memories is.

use strata_core::{error::ParseError, id::Id, time::Timestamp};

use super::{LedgerRead, LedgerWrite, filter::Conditions};
use crate::{
    error::{Conflict, StoreError},
    params,
    sql::{Param, Row},
};

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// Nobody has taken it yet.
    Queued,
    /// A worker holds it.
    Running,
    /// Finished as meant.
    Done,
    /// Ended with an error.
    Failed,
    /// Withdrawn.
    Cancelled,
}

impl JobState {
    const ALL: [Self; 5] = [Self::Queued, Self::Running, Self::Done, Self::Failed, Self::Cancelled];

    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more will happen to it.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// Parses the word, ignoring ASCII case.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let wanted = text.trim();
        Self::ALL.into_iter().find(|state| state.as_str().eq_ignore_ascii_case(wanted)).ok_or_else(|| {
            ParseError::new("job state", text, "use queued, running, done, failed or cancelled")
        })
    }
}

/// A job to be queued.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Its id, drawn by the caller.
    pub id: Id,
    /// What is to be done: `import`, `reindex`, `maintain`, ...
    pub kind: String,
    /// Steps in all; 0 if unknown.
    pub total: i64,
    /// One line about it.
    pub message: String,
}

/// How far a job is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Steps done.
    pub done: i64,
    /// Steps in all; 0 if unknown.
    pub total: i64,
    /// What is being done now.
    pub message: &'a str,
}

/// A job as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub kind: String,
    /// Where it stands.
    pub state: JobState,
    /// Who holds it.
    pub lease_owner: Option<String>,
    /// Until when it is held.
    pub lease_until: Option<Timestamp>,
    /// The worker's last sign of life.
    pub heartbeat: Option<Timestamp>,
    /// Steps done.
    pub done: i64,
    /// Steps in all; 0 if unknown.
    pub total: i64,
    /// What is being done now.
    pub message: String,
    /// When it was queued.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// What came of it: a JSON value or a message.
    pub result: Option<String>,
}

/// What came of a job whose worker stopped before the work was over.
pub const STOPPED: &str = "the worker stopped";

/// Who holds jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The name the jobs are held under.
    pub owner: String,
    /// When the last of its leases ends.
    pub until: Option<Timestamp>,
}

const COLUMNS: &str = "id, kind, state, lease_owner, lease_until, heartbeat, done, total, message, created_at, \
                       finished_at, result";

impl LedgerRead<'_> {
    /// The job with this whole id.
    pub fn job(&self, id: &str) -> Result<Option<JobRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM jobs WHERE tenant = $1 AND id = $2");
        self.transaction.query_one(&sql, params![self.tenant, id], job_from)
    }

    /// Lists jobs, newest first; only of this kind if one is given.
    pub fn jobs(&self, kind: Option<&str>, limit: usize) -> Result<Vec<JobRow>, StoreError> {
        let mut all = Conditions::new("tenant", self.tenant);
        all.any_of("kind", kind);
        all.sql.push_str(" ORDER BY created_at DESC, id");
        all.limit(limit);
        let sql = format!("SELECT {COLUMNS} FROM jobs WHERE {}", all.sql);
        self.transaction.query(&sql, &all.params, job_from)
    }

    /// Who holds the jobs that are on record as running, and until when.
    pub fn workers(&self) -> Result<Vec<Worker>, StoreError> {
        self.transaction.query(
            "SELECT lease_owner, MAX(lease_until) FROM jobs
             WHERE tenant = $1 AND state = 'running' AND lease_owner IS NOT NULL GROUP BY lease_owner",
            params![self.tenant],
            |row| Ok(Worker { owner: row.get(0)?, until: row.get(1)? }),
        )
    }

    /// The latest job of a kind that ended as meant: when the work was last done.
    pub fn last_done(&self, kind: &str) -> Result<Option<JobRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM jobs WHERE tenant = $1 AND kind = $2 AND state = 'done'
             ORDER BY finished_at DESC, id LIMIT 1"
        );
        self.transaction.query_one(&sql, params![self.tenant, kind], job_from)
    }
}

impl LedgerWrite<'_> {
    /// Queues a job.
    pub fn queue_job(&self, new: &NewJob) -> Result<(), StoreError> {
        self.refuse_used_id("jobs", new.id.as_str())?;
        self.transaction.post(
            "INSERT INTO jobs (tenant, id, kind, state, done, total, message, created_at)
             VALUES ($1, $2, $3, 'queued', 0, $4, $5, $6)",
            params![self.tenant, new.id.as_str(), &new.kind, new.total, &new.message, self.now],
        )?;
        Ok(())
    }

    /// Queues `new` and takes it at once, whatever else of its kind is going on.
    pub fn begin_job(&self, new: &NewJob, owner: &str, until: Timestamp) -> Result<(), StoreError> {
        self.queue_job(new)?;
        self.transaction.post(
            "UPDATE jobs SET state = 'running', lease_owner = $3, lease_until = $4, heartbeat = $5
             WHERE tenant = $1 AND id = $2",
            params![self.tenant, new.id.as_str(), owner, until, self.now],
        )?;
        Ok(())
    }

    /// Takes the oldest job of a kind that is queued, or whose worker let its lease run out.
    pub fn take_job(&self, kind: &str, owner: &str, until: Timestamp) -> Result<Option<JobRow>, StoreError> {
        let sql = format!(
            "UPDATE jobs SET state = 'running', lease_owner = $3, lease_until = $4, heartbeat = $5
             WHERE tenant = $1 AND id = (
                 SELECT id FROM jobs WHERE tenant = $1 AND kind = $2
                     AND (state = 'queued' OR (state = 'running' AND lease_until <= $5))
                 ORDER BY created_at, id LIMIT 1)
             RETURNING {COLUMNS}"
        );
        self.transaction.query_one(&sql, params![self.tenant, kind, owner, until, self.now], job_from)
    }

    /// Queues `new` and takes it at once, unless somebody is at work on its kind: then `None`.
    pub fn start_alone(
        &self,
        new: &NewJob,
        owner: &str,
        until: Timestamp,
    ) -> Result<Option<JobRow>, StoreError> {
        let held = self.transaction.query_one(
            "SELECT 1 FROM jobs WHERE tenant = $1 AND kind = $2 AND state = 'running' AND lease_until > $3 LIMIT 1",
            params![self.tenant, &new.kind, self.now],
            |_| Ok(()),
        )?;
        if held.is_some() {
            return Ok(None);
        }
        self.expire_jobs()?;
        self.queue_job(new)?;
        self.take_job(&new.kind, owner, until)
    }

    /// Extends the lease and reports how far the work is. A job that ended or has another worker by
    /// now is a conflict: stop working on it.
    pub fn renew_job(
        &self,
        id: &str,
        owner: &str,
        until: Timestamp,
        progress: Progress<'_>,
    ) -> Result<(), StoreError> {
        self.held_job(id, owner)?;
        self.transaction.post(
            "UPDATE jobs SET lease_until = $3, heartbeat = $4, done = $5, total = $6, message = $7
             WHERE tenant = $1 AND id = $2",
            params![self.tenant, id, until, self.now, progress.done, progress.total, progress.message],
        )?;
        Ok(())
    }

    /// Ends a job that `owner` holds.
    pub fn finish_job(&self, id: &str, owner: &str, state: JobState, result: &str) -> Result<(), StoreError> {
        self.held_job(id, owner)?;
        self.end_job(id, state, result)
    }

    /// Withdraws a job that has not ended; its worker finds out when it renews. True if it was so.
    pub fn cancel_job(&self, id: &str) -> Result<bool, StoreError> {
        let job = self.job(id)?.ok_or_else(|| missing(id))?;
        if job.state.is_final() {
            return Ok(false);
        }
        self.end_job(id, JobState::Cancelled, "cancelled")?;
        Ok(true)
    }

    /// Marks as failed the jobs whose workers let their leases run out, and returns how many.
    pub fn expire_jobs(&self) -> Result<usize, StoreError> {
        self.fail_jobs("lease_until <= $2", params![self.tenant, self.now])
    }

    /// Marks as failed the jobs of workers that are known to have stopped, and returns how many.
    pub fn end_jobs_of(&self, gone: &[String]) -> Result<usize, StoreError> {
        let end = |worker| self.fail_jobs("lease_owner = $3", params![self.tenant, self.now, worker]);
        gone.iter().map(end).sum()
    }

    fn fail_jobs(&self, which: &str, values: &[Param<'_>]) -> Result<usize, StoreError> {
        self.transaction.execute(
            &format!(
                "UPDATE jobs SET state = 'failed', finished_at = $2, result = '{STOPPED}', lease_owner = NULL
                 WHERE tenant = $1 AND state = 'running' AND {which}"
            ),
            values,
        )
    }

    /// Removes jobs that ended before `before`, and returns how many.
    pub fn forget_jobs(&self, before: Timestamp) -> Result<usize, StoreError> {
        self.transaction
            .execute("DELETE FROM jobs WHERE tenant = $1 AND finished_at < $2", params![self.tenant, before])
    }

    fn held_job(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        let job = self.job(id)?.ok_or_else(|| missing(id))?;
        if job.state == JobState::Running && job.lease_owner.as_deref() == Some(owner) {
            return Ok(());
        }
        let owner = job.lease_owner.unwrap_or_else(|| format!("nobody ({})", job.state.as_str()));
        Err(Conflict::Leased { id: job.id, owner }.into())
    }

    fn end_job(&self, id: &str, state: JobState, result: &str) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE jobs SET state = $3, finished_at = $4, result = $5, lease_owner = NULL, lease_until = NULL
             WHERE tenant = $1 AND id = $2",
            params![self.tenant, id, state.as_str(), self.now, result],
        )?;
        Ok(())
    }
}

fn missing(id: &str) -> StoreError {
    StoreError::NotFound { what: "job", key: id.to_owned() }
}

fn job_from(row: &Row<'_>) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        id: row.get(0)?,
        kind: row.get(1)?,
        state: JobState::parse(row.text(2)?)?,
        lease_owner: row.get(3)?,
        lease_until: row.get(4)?,
        heartbeat: row.get(5)?,
        done: row.get(6)?,
        total: row.get(7)?,
        message: row.get(8)?,
        created_at: row.get(9)?,
        finished_at: row.get(10)?,
        result: row.get(11)?,
    })
}
