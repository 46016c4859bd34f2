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
use strata_engine::{
    engine::Engine,
    error::Error,
    operation::{Call, Effect},
    project::identity::resolve,
};
use tokio::sync::oneshot;

use super::{EngineSource, ScopeResolver, admission::Door, following::Following, idle::Upkeep};
use crate::pool::{Full, Pool};

/// What every call of one server shares.
pub(super) struct Runner {
    engine: Arc<Opening>,
    scope: ScopeResolver,
    door: Door,
    pool: Pool,
    timeout: Duration,
}

/// The engine, opened by the first call that succeeds in it.
pub(super) struct Opening {
    source: EngineSource,
    engine: Mutex<Option<Arc<Engine>>>,
}

impl Opening {
    /// The engine, if a call has opened it.
    pub(super) fn opened(&self) -> Option<Arc<Engine>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The engine, opened now if no call has.
    pub(super) fn get(&self) -> Result<Arc<Engine>, Error> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = &*engine {
            return Ok(Arc::clone(engine));
        }
        let opened = Arc::new((self.source)()?);
        *engine = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

/// The latest progress of a call: (done, total), total 0 when unknown.
type Progress = Arc<Mutex<Option<(u64, u64)>>>;

/// A call that is running. Dropping it withdraws the call.
pub(super) struct Running<T> {
    outcome: oneshot::Receiver<Result<T, Error>>,
    cancel: Cancel,
    progress: Progress,
}

impl Runner {
    pub(super) fn new(source: EngineSource, scope: ScopeResolver, pool: Pool, timeout: Duration) -> Self {
        let engine = Arc::new(Opening { source, engine: Mutex::default() });
        Self { engine, scope, door: Door::new(pool.max_threads()), pool, timeout }
    }

    /// What does the upkeep of the same home.
    pub(super) fn upkeep(&self) -> Upkeep {
        Upkeep { engine: Arc::clone(&self.engine), scope: Arc::clone(&self.scope) }
    }

    /// What follows the files of the project.
    pub(super) fn following(&self) -> Following {
        Following::new(Arc::clone(&self.engine), Arc::clone(&self.scope))
    }

    /// How long a call may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Starts `work` on an engine thread when its turn comes. Error: too many calls wait, or no thread
    /// became free.
    pub(super) async fn start<T, F>(
        &self,
        principal: Principal,
        effect: Effect,
        work: F,
    ) -> Result<Running<T>, Full>
    where
        T: Send + 'static,
        F: FnOnce(&Engine, &Call<'_>) -> Result<T, Error> + Send + 'static,
    {
        let give_up = Instant::now() + self.timeout;
        let admission = self.door.enter(effect).await?;
        let (sender, outcome) = oneshot::channel();
        let cancel = Cancel::default();
        let progress = Progress::default();
        let running = Running { outcome, cancel: cancel.clone(), progress: Arc::clone(&progress) };
        let engine = Arc::clone(&self.engine);
        let scope = Arc::clone(&self.scope);
        let job = move || {
            let attempt = || {
                let engine = engine.get()?;
                let scope = resolve(&engine, scope());
                let call = Call {
                    principal: &principal,
                    scope: &scope,
                    face: Face::Mcp,
                    deadline: deadline(&engine, give_up),
                    cancel: &cancel,
                    progress: &|done, total| note(&progress, done, total),
                    secret: None,
                };
                work(&engine, &call)
            };
            let outcome = contained(attempt);
            // Before the answer: whoever reads it may send the next call at once.
            drop(admission);
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

    /// The latest progress.
    pub(super) fn progress(&self) -> Option<(u64, u64)> {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use strata_core::{error::ErrorKind, principal::PrincipalKind, scope::Scope};
    use strata_engine::settings::Settings;

    use super::*;

    fn runner(source: EngineSource, timeout: Duration) -> Runner {
        Runner::new(source, Arc::new(Scope::user), Pool::new(2, 2), timeout)
    }

    fn fine() -> EngineSource {
        Arc::new(|| Ok(Engine::new(Settings::for_home("/nowhere"))))
    }

    fn caller() -> Principal {
        Principal::new(PrincipalKind::Agent, "test")
    }

    fn run<T: Send + 'static>(
        runner: &Runner,
        work: impl FnOnce(&Engine, &Call<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(async {
            runner.start(caller(), Effect::Read, work).await.expect("room").outcome().await
        })
    }

    #[test]
    fn a_call_is_told_its_circumstances() {
        let runner = runner(fine(), Duration::from_secs(50));
        run(&runner, |engine, call| {
            let now = engine.clock().now();
            assert!(call.deadline > now && call.deadline.0 <= now.0 + 50_000_000);
            assert_eq!(call.principal.to_string(), "agent:test");
            assert!(call.face == Face::Mcp && call.secret.is_none() && !call.cancel.is_cancelled());
            Ok(())
        })
        .expect("the circumstances are as they should be");
    }

    #[test]
    fn a_panic_is_an_error_of_its_call_and_the_next_call_works() {
        let runner = runner(fine(), Duration::from_secs(50));
        let error = run::<()>(&runner, |_, _| panic!("on purpose")).expect_err("it panicked");
        assert_eq!((error.kind(), error.to_string().contains("on purpose")), (ErrorKind::Internal, true));
        assert_eq!(run(&runner, |_, _| Ok(7)).expect("the server lives"), 7);
    }

    #[test]
    fn dropping_a_running_call_withdraws_it() {
        let runner = runner(fine(), Duration::from_secs(50));
        let (told, hears) = std::sync::mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(async {
            let work = move |_: &Engine, call: &Call<'_>| {
                while !call.cancel.is_cancelled() {
                    std::thread::yield_now();
                }
                told.send(()).expect("the test listens");
                Ok(())
            };
            drop(runner.start(caller(), Effect::Read, work).await.expect("room"));
        });
        hears.recv_timeout(Duration::from_secs(20)).expect("the work stops");
    }

    #[test]
    fn an_engine_that_does_not_open_is_tried_again() {
        let attempts = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&attempts);
        let source: EngineSource = Arc::new(move || {
            let mut attempts = counted.lock().expect("no panic holds it");
            *attempts += 1;
            if *attempts == 1 {
                Err(Error::Deadline)
            } else {
                Ok(Engine::new(Settings::for_home("/nowhere")))
            }
        });
        let runner = runner(source, Duration::from_secs(50));
        assert!(run(&runner, |_, _| Ok(())).is_err());
        run(&runner, |_, _| Ok(())).expect("opened");
        run(&runner, |_, _| Ok(())).expect("still open");
        assert_eq!(*attempts.lock().expect("no panic holds it"), 2);
    }
}
