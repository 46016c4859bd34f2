//! Jobs that are over and stand as running: their process died, or could not write that they ended.

use std::sync::{Mutex, PoisonError};

use strata_core::time::Timestamp;
use strata_store::{
    error::StoreError,
    ledger::{JobState, LedgerRead, LedgerWrite, Worker},
    sql::Control,
};

use super::holder;
use crate::engine::Engine;

/// Ends all that are left, if there are any, and returns how many that were.
///
/// # Errors
/// Those of the store.
pub(crate) fn clear(engine: &Engine, control: &Control) -> Result<usize, StoreError> {
    let now = engine.clock().now();
    let stopped = engine.store().read(control, |r| stopped(r, now))?;
    if stopped.is_empty() && engine.unended().is_empty() {
        return Ok(0);
    }
    end_with(engine, control, |_| Ok(()))?;
    Ok(stopped.len())
}

/// Ends all that are left, and does `work` in the same transaction.
pub(super) fn end_with<T>(
    engine: &Engine,
    control: &Control,
    mut work: impl FnMut(&LedgerWrite<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let now = engine.clock().now();
    let stopped = engine.store().read(control, |r| stopped(r, now))?;
    let ends = engine.unended().take();
    let done = engine.store().write(control, now, |w| {
        ends.iter().try_for_each(|end| end.put_down(w))?;
        w.end_jobs_of(&stopped)?;
        work(w)
    });
    if done.is_err() {
        engine.unended().give_back(ends);
    }
    done
}

/// The workers on record that have stopped: their process has ended on this machine, or they let their lease run out and
/// are not known to run here.
fn stopped(r: &LedgerRead<'_>, now: Timestamp) -> Result<Vec<String>, StoreError> {
    let has_stopped = |worker: &Worker| {
        let is_late = worker.until.is_some_and(|until| until <= now);
        holder::is_gone(&worker.owner) || is_late && !holder::runs_here(&worker.owner)
    };
    Ok(r.workers()?.into_iter().filter(has_stopped).map(|worker| worker.owner).collect())
}

/// The workers on record whose processes are known to have ended: those of this machine. Others have their leases.
pub(crate) fn gone(r: &LedgerRead<'_>) -> Result<Vec<String>, StoreError> {
    let workers = r.workers()?.into_iter().map(|worker| worker.owner);
    Ok(workers.filter(|owner| holder::is_gone(owner)).collect())
}

/// How a job of this process ended that could not be put down.
#[derive(Debug)]
pub(super) struct End {
    pub(super) id: String,
    pub(super) owner: String,
    pub(super) state: JobState,
    pub(super) text: String,
}

impl End {
    fn put_down(&self, w: &LedgerWrite<'_>) -> Result<(), StoreError> {
        match w.finish_job(&self.id, &self.owner, self.state, &self.text) {
            // It was ended, or removed, meanwhile.
            Err(StoreError::Conflict(_) | StoreError::NotFound { .. }) => Ok(()),
            outcome => outcome,
        }
    }
}

/// The ends that this process has still to put down.
#[derive(Debug, Default)]
pub(crate) struct Unended(Mutex<Vec<End>>);

impl Unended {
    pub(super) fn add(&self, end: End) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(end);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn take(&self) -> Vec<End> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn give_back(&self, ends: Vec<End>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(ends);
    }
}
