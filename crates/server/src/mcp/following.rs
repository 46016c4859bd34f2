//! The project's files, followed while the server serves: on a thread of its own, so that every call is answered meanwhile.

use std::{sync::Arc, thread, time::Duration};

use strata_core::cancel::Cancel;
use strata_engine::project::files::follow;
use tokio::{sync::oneshot, time::timeout};

use super::{ScopeResolver, call::Opening};

/// How long the end of a server waits for the thread to give way.
const LEAVE: Duration = Duration::from_secs(1);

/// Pauses between attempts to open a home that cannot be opened.
const AGAIN: Duration = Duration::from_secs(5);

/// What follows the files of one server's project.
pub(super) struct Following {
    engine: Arc<Opening>,
    scope: ScopeResolver,
}

/// A thread that follows.
pub(super) struct Running {
    engine: Arc<Opening>,
    cancel: Cancel,
    ended: Option<oneshot::Receiver<()>>,
}

impl Following {
    pub(super) fn new(engine: Arc<Opening>, scope: ScopeResolver) -> Self {
        Self { engine, scope }
    }

    /// Begins at once: whoever shows the tools of a project wants its files known.
    pub(super) fn start(self) -> Running {
        let (cancel, (sender, ended)) = (Cancel::default(), oneshot::channel());
        let (engine, flag) = (Arc::clone(&self.engine), cancel.clone());
        let work = move || {
            self.run(&flag);
            sender.send(()).ok();
        };
        // Without a thread the calls look after the files themselves.
        let is_running = thread::Builder::new().name("files".into()).spawn(work).is_ok();
        Running { engine, cancel, ended: is_running.then_some(ended) }
    }

    fn run(&self, cancel: &Cancel) {
        while !cancel.is_cancelled() {
            match self.engine.get() {
                Ok(engine) => return follow::watch(&engine, cancel, &*self.scope),
                Err(error) => tracing::debug!(%error, "the files of the project wait"),
            }
            let mut left = AGAIN;
            while !left.is_zero() && !cancel.is_cancelled() {
                let step = left.min(Duration::from_millis(100));
                thread::sleep(step);
                left -= step;
            }
        }
    }
}

impl Running {
    /// Lets the thread give way, and waits a little until it has.
    pub(super) async fn end(self) {
        self.cancel.cancel();
        if let Some(engine) = self.engine.opened() {
            follow::wake(&engine);
        }
        if let Some(ended) = self.ended {
            timeout(LEAVE, ended).await.ok();
        }
    }
}
