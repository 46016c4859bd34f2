//! One call, from arguments to reply: on an engine thread, with a deadline, cancellable, contained.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use strata_core::{
    cancel::Cancel,
    principal::{Face, Principal},
    time::Timestamp,
};
use strata_engine::{engine::Engine, error::Error, operation::Call};
use tokio::sync::oneshot;

use super::{EngineSource, ScopeResolver};
use crate::pool::{Full, Pool};

/// What every call of one server shares.
pub(super) struct Runner {
    engine: Arc<Opening>,
    scope: ScopeResolver,
    pool: Pool,
    timeout: Duration,
}

/// The engine, opened by the first call that succeeds in it.
struct Opening {
    source: EngineSource,
    engine: Mutex<Option<Arc<Engine>>>,
}

impl Opening {
    fn get(&self) -> Result<Arc<Engine>, Error> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = &*engine {
            return Ok(Arc::clone(engine));
        }
        let opened = Arc::new((self.source)()?);
        *engine = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

/// Who calls and with what key.
pub(super) struct Caller {
    pub(super) principal: Principal,
    pub(super) idempotency_key: Option<String>,
}

/// The latest progress of a call: (done, total), total 0 when unknown.
pub(super) type Progress = Arc<Mutex<Option<(u64, u64)>>>;

/// A call that is running. Dropping it withdraws the call.
pub(super) struct Running<T> {
    outcome: oneshot::Receiver<Result<T, Error>>,
    cancel: Cancel,
    pub(super) progress: Progress,
}

impl Runner {
    pub(super) fn new(source: EngineSource, scope: ScopeResolver, pool: Pool, timeout: Duration) -> Self {
        Self { engine: Arc::new(Opening { source, engine: Mutex::default() }), scope, pool, timeout }
    }

    /// How long a call may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Starts `work` on an engine thread. Error: every thread is at work and the queue is full.
    pub(super) fn start<T, F>(&self, caller: Caller, work: F) -> Result<Running<T>, Full>
    where
        T: Send + 'static,
        F: FnOnce(&Engine, &Call<'_>) -> Result<T, Error> + Send + 'static,
    {
        let (sender, outcome) = oneshot::channel();
        let cancel = Cancel::default();
        let progress = Progress::default();
        let running = Running { outcome, cancel: cancel.clone(), progress: Arc::clone(&progress) };
        let engine = Arc::clone(&self.engine);
        let scope = Arc::clone(&self.scope);
        let give_up = Instant::now() + self.timeout;
        let job = move || {
            let attempt = || {
                let engine = engine.get()?;
                let scope = scope();
                let call = Call {
                    principal: &caller.principal,
                    scope: &scope,
                    face: Face::Mcp,
                    deadline: deadline(&engine, give_up),
                    idempotency_key: caller.idempotency_key.as_deref(),
                    cancel: &cancel,
                    progress: &|done, total| note(&progress, done, total),
                    secret: None,
                };
                work(&engine, &call)
            };
            let outcome = contained(attempt);
            // Nobody waits for it when the call was withdrawn.
            sender.send(outcome).ok();
        };
        self.pool.submit(Box::new(job))?;
        Ok(running)
    }
}

impl<T> Running<T> {
    /// The call's outcome. May be awaited again after it was interrupted.
    pub(super) async fn outcome(&mut self) -> Result<T, Error> {
        (&mut self.outcome)
            .await
            .unwrap_or_else(|_| Err(Error::Internal("the call ended without an answer".into())))
    }

    /// The latest progress, once.
    pub(super) fn take_progress(&self) -> Option<(u64, u64)> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// The moment to give up on the engine's own clock.
fn deadline(engine: &Engine, give_up: Instant) -> Timestamp {
    let left = give_up.saturating_duration_since(Instant::now()).as_micros();
    Timestamp(engine.clock().now().0.saturating_add(i64::try_from(left).unwrap_or(i64::MAX)))
}

fn note(progress: &Progress, done: u64, total: u64) {
    *progress.lock().unwrap_or_else(PoisonError::into_inner) = Some((done, total));
}

/// A panic is a fault of ours: it becomes an error of this call and the server lives.
fn contained<T>(attempt: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|panic| {
        let message = panic_message(&*panic);
        tracing::error!(message, "an operation panicked");
        Err(Error::Internal(message.to_owned()))
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("an operation panicked")
}
