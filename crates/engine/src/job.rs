//! Long work as a job: visible to others, cancellable, with progress.

pub(crate) mod holder;
mod left;

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use strata_core::{
    id::{Id, IdKind},
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{JobState, NewJob, Progress, STOPPED},
};

use self::left::End;
pub(crate) use self::left::{Unended, clear, gone};
use crate::{engine::Engine, error::Error, operation::Call};

/// How long a silent worker keeps its job: one minute.
const LEASE: i64 = 60_000_000;

/// Progress is put down no oftener than this: each time is a commit.
const PAUSE: Duration = Duration::from_millis(200);

/// A job this call works on.
pub struct Job<'e> {
    engine: &'e Engine,
    call: &'e Call<'e>,
    id: String,
    owner: String,
    /// Steps in all, as told last; 0 when unknown.
    total: Cell<u64>,
    reported: Cell<Option<Instant>>,
    is_over: bool,
}

impl<'e> Job<'e> {
    /// Begins a job of a kind (`import`, `index`, ...) with `total` steps (0 when unknown). Jobs whose workers have stopped
    /// end on record.
    pub fn start(engine: &'e Engine, call: &'e Call<'e>, kind: &str, total: u64) -> Result<Self, Error> {
        let id = Id::from_bits(IdKind::Job, engine.ids().bits());
        let owner = owner(engine, call);
        let new =
            NewJob { id: id.clone(), kind: kind.to_owned(), total: signed(total), message: String::new() };
        let until = lease_end(engine);
        engine.ledger(call)?;
        left::end_with(engine, &engine.control(call), |w| w.begin_job(&new, &owner, until))?;
        Ok(Self::held(engine, call, id.to_string(), owner, total))
    }

    /// Begins a job of a kind of which one at a time is done; `None` while another worker is at it. One whose process
    /// has died is not: its lease is not waited for.
    pub fn start_alone(engine: &'e Engine, call: &'e Call<'e>, kind: &str) -> Result<Option<Self>, Error> {
        let id = Id::from_bits(IdKind::Job, engine.ids().bits());
        let owner = owner(engine, call);
        let new = NewJob { id, kind: kind.to_owned(), total: 0, message: String::new() };
        let until = lease_end(engine);
        engine.ledger(call)?;
        let taken = left::end_with(engine, &engine.control(call), |w| w.start_alone(&new, &owner, until))?;
        Ok(taken.map(|row| Self::held(engine, call, row.id, owner, 0)))
    }

    fn held(engine: &'e Engine, call: &'e Call<'e>, id: String, owner: String, total: u64) -> Self {
        Self { engine, call, id, owner, total: Cell::new(total), reported: Cell::new(None), is_over: false }
    }

    /// The job's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Reports progress and learns whether to go on.
    ///
    /// # Errors
    /// `Cancelled` when the caller or somebody else withdrew the job.
    pub fn progress(&self, done: u64, total: u64, message: &str) -> Result<(), Error> {
        (self.call.progress)(done, total);
        self.total.set(total);
        if self.call.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if done < total && self.reported.get().is_some_and(|last| last.elapsed() < PAUSE) {
            return Ok(());
        }
        self.reported.set(Some(Instant::now()));
        let progress = || Progress { done: signed(done), total: signed(total), message };
        let until = lease_end(self.engine);
        let renewed = self.write(|w| w.renew_job(&self.id, &self.owner, until, progress()));
        match renewed {
            Err(Error::Store(StoreError::Conflict(_))) => Err(Error::Cancelled),
            outcome => outcome,
        }
    }

    /// Ends the job with the outcome of its work, and hands that on.
    pub fn finish<T>(
        mut self,
        outcome: Result<T, Error>,
        describe: impl Fn(&T) -> String,
    ) -> Result<T, Error> {
        let (state, text) = match &outcome {
            Ok(value) => (JobState::Done, describe(value)),
            Err(Error::Cancelled) => (JobState::Cancelled, "cancelled".to_owned()),
            Err(error) => (JobState::Failed, error.to_string()),
        };
        let ended = self.write(|w| {
            // What was done is done to the end, whichever step it last told.
            if state == JobState::Done && self.total.get() > 0 {
                let total = signed(self.total.get());
                let progress = Progress { done: total, total, message: "" };
                w.renew_job(&self.id, &self.owner, lease_end(self.engine), progress)?;
            }
            w.finish_job(&self.id, &self.owner, state, &text)
        });
        self.is_over = true;
        if ended.as_ref().is_err_and(|error| !matches!(error, Error::Store(StoreError::Conflict(_)))) {
            // A full disk, or a store that is busy: this process says it when it can.
            self.leave(state, text);
        }
        match (outcome, ended) {
            // A job that was cancelled meanwhile has ended already; the work's own outcome counts.
            (outcome, Ok(()) | Err(Error::Store(StoreError::Conflict(_)))) => outcome,
            (Ok(_), Err(error)) => Err(error),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// Leaves it to be put down how the job ended.
    fn leave(&self, state: JobState, text: String) {
        self.engine.unended().add(End { id: self.id.clone(), owner: self.owner.clone(), state, text });
    }

    fn write<T>(
        &self,
        job: impl FnMut(&strata_store::ledger::LedgerWrite<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Error> {
        // The end of a cancelled call is written too, so its flag does not count here.
        let control = strata_store::sql::Control::default();
        Ok(self.engine.ledger(self.call)?.write(&control, self.engine.clock().now(), job)?)
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.leave(JobState::Failed, STOPPED.to_owned());
        }
    }
}

/// Who works: the principal, a word that tells their jobs apart, and the process.
fn owner(engine: &Engine, call: &Call<'_>) -> String {
    holder::named(&format!("{}#{:x}", call.principal, engine.ids().bits()))
}

fn lease_end(engine: &Engine) -> Timestamp {
    Timestamp(engine.clock().now().0.saturating_add(LEASE))
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
