//! When a server that talks to one parent process has outlived its use.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Why a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client closed the connection.
    Closed,
    /// The process that started the server is gone.
    Orphaned,
    /// Nobody asked for anything for the configured time.
    Idle,
}

/// When the client last sent something; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    started: Instant,
    last_second: Arc<AtomicU64>,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), last_second: Arc::default() }
    }

    /// Notes that the client is there.
    pub(crate) fn touch(&self) {
        self.last_second.store(self.started.elapsed().as_secs(), Ordering::Relaxed);
    }

    fn quiet_for(&self) -> Duration {
        let last = Duration::from_secs(self.last_second.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(last)
    }
}

/// Waits until the parent is gone or the client was quiet for `idle`.
///
/// The parent is polled once a second: the kernel's death signal would fire when the parent's
/// *thread* ends, and no end of file arrives while a sibling still holds our input open.
pub(crate) async fn until_useless(activity: &Activity, idle: Option<Duration>) -> Ended {
    let parent = parent();
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    loop {
        ticks.tick().await;
        if parent.is_some() && self::parent() != parent {
            return Ended::Orphaned;
        }
        if idle.is_some_and(|limit| activity.quiet_for() >= limit) {
            return Ended::Idle;
        }
    }
}

/// The parent's process id; `None` when started by init itself, whose end we would not see.
#[cfg(unix)]
fn parent() -> Option<rustix::process::Pid> {
    rustix::process::getppid().filter(|pid| !pid.is_init())
}

/// Not observable here; the end of input has to do.
#[cfg(not(unix))]
fn parent() -> Option<u32> {
    None
}
