//! How far a project's files are known.

use strata_core::time::Timestamp;
use strata_store::{
    index::CollectionKey,
    ledger::{JobRow, JobState},
};

use super::{follow::Place, state::Phase};
use crate::{engine::Engine, error::Error, job::holder::is_gone, operation::Call};

/// How far a project's files are known, to this process and to the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// `UNINITIALIZED`, `BOOTSTRAPPING` while what describes the project is read, `INDEXING_INCREMENTAL` while the rest is, `READY`,
    /// `DEGRADED` when the last look failed, `FAILED` when none has succeeded.
    pub status: &'static str,
    /// Files that are indexed.
    pub documents: u64,
    /// Their parts in the index.
    pub chunks: u64,
    /// Files of the pass that is going on: done, of how many.
    pub going_on: Option<(u64, u64)>,
    /// When files were last indexed.
    pub last_indexed: Option<Timestamp>,
    /// The commit that was checked out then, or when a look after it found nothing new.
    pub last_commit: Option<String>,
    /// What went wrong.
    pub warnings: Vec<String>,
}

impl Progress {
    /// How far the files of the caller's project are known. Reads the record, and no file.
    ///
    /// # Errors
    /// Those of the store.
    pub fn of(engine: &Engine, call: &Call<'_>) -> Result<Self, Error> {
        let Some(place) = Place::of(engine, call)? else {
            return Ok(Self::unknown("there is no project here"));
        };
        let (namespace, project) = (&call.scope.namespace, call.scope.project.as_deref());
        let (roots, jobs, done, commit) = engine.read(call, |r| {
            let roots = r.source_roots(namespace, project)?;
            Ok((
                roots,
                r.jobs(Some(&place.job()), 4)?,
                r.last_done(&place.job())?,
                r.setting(&place.setting())?,
            ))
        })?;
        let documents = roots.iter().find(|of| of.root == place.root).map_or(0, |of| of.present);
        let of = CollectionKey::new(engine.tenant(), namespace, project.unwrap_or(""));
        let index = engine.searcher().index();
        let going_on = going_on(engine, &jobs);
        // What other checkouts of the project hold says nothing of one that was not read.
        let chunks = match documents {
            0 => 0,
            _ => index.count_document_parts(&engine.control(call), &of)?,
        };
        // It is noted when everything that was seen is indexed: not by a pass that did not come to its end.
        let was_read = commit.is_some() || done.is_some();
        let mut progress = Self {
            documents: u64::try_from(documents).unwrap_or(0),
            chunks,
            going_on,
            last_indexed: done.and_then(|job| job.finished_at),
            last_commit: commit.filter(|commit| !commit.is_empty()),
            ..Self::unknown("")
        };
        progress.take(engine, was_read);
        Ok(progress)
    }

    fn unknown(why: &str) -> Self {
        Self {
            status: "UNINITIALIZED",
            documents: 0,
            chunks: 0,
            going_on: None,
            last_indexed: None,
            last_commit: None,
            warnings: Some(why.to_owned()).filter(|why| !why.is_empty()).into_iter().collect(),
        }
    }

    /// What this process knows beside the record, which tells whether the files were ever read to the end.
    fn take(&mut self, engine: &Engine, was_read: bool) {
        let now = engine.files().now();
        let is_known = self.documents > 0 || was_read;
        self.status = match now.phase {
            Phase::First => "BOOTSTRAPPING",
            Phase::Rest if now.done < now.total => "INDEXING_INCREMENTAL",
            _ if now.failure.is_some() && is_known => "DEGRADED",
            _ if now.failure.is_some() => "FAILED",
            _ if self.going_on.is_some() && is_known => "INDEXING_INCREMENTAL",
            _ if self.going_on.is_some() => "BOOTSTRAPPING",
            Phase::Idle => "READY",
            _ if was_read => "READY",
            // Whoever follows them is about to go on, or to begin.
            _ if now.is_followed && is_known => "INDEXING_INCREMENTAL",
            _ if now.is_followed => "BOOTSTRAPPING",
            _ => "UNINITIALIZED",
        };
        if matches!(now.phase, Phase::First | Phase::Rest) && now.done < now.total {
            self.going_on = Some((now.done, now.total));
        }
        self.warnings.extend(now.failure);
        self.warnings.extend(now.problems);
    }
}

/// The progress of the job that is running, whoever does it.
fn going_on(engine: &Engine, jobs: &[JobRow]) -> Option<(u64, u64)> {
    let now = engine.clock().now();
    let running = |job: &&JobRow| {
        job.state == JobState::Running
            && job.lease_until.is_some_and(|until| until > now)
            && !job.lease_owner.as_deref().is_some_and(is_gone)
    };
    let job = jobs.iter().find(running)?;
    Some((u64::try_from(job.done).unwrap_or(0), u64::try_from(job.total).unwrap_or(0)))
}
