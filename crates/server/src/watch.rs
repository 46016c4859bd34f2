//! When a server that talks to one parent process has outlived its use.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use strata_core::cancel::Cancel;

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

/// When the client last sent something, and what has to give way when it does; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    started: Instant,
    last_second: Arc<AtomicU64>,
    upkeep: Arc<Mutex<Option<Cancel>>>,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), last_second: Arc::default(), upkeep: Arc::default() }
    }

    /// A flag that the client's next message raises.
    pub(crate) fn until_message(&self) -> Cancel {
        let cancel = Cancel::default();
        *self.upkeep.lock().unwrap_or_else(PoisonError::into_inner) = Some(cancel.clone());
        cancel
    }

    /// Notes that the client is there.
    pub(crate) fn touch(&self) {
        self.last_second.store(self.started.elapsed().as_secs(), Ordering::Relaxed);
        if let Some(upkeep) = self.upkeep.lock().unwrap_or_else(PoisonError::into_inner).take() {
            upkeep.cancel();
        }
    }

    pub(crate) fn quiet_for(&self) -> Duration {
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

#[cfg(test)]
mod tests {
    use super::Activity;

    #[test]
    fn work_in_a_silence_gives_way_to_the_next_message() {
        let activity = Activity::new();
        activity.touch();
        let (work, client) = (activity.until_message(), activity.clone());
        assert!(!work.is_cancelled());
        client.touch();
        assert!(work.is_cancelled());
        assert!(!activity.until_message().is_cancelled(), "the message before is no reason");
    }
}
