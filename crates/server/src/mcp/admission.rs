//! Who may start when: calls of one client keep their order where it matters, and not too many wait.
//!
//! Clients send several calls at once and expect what they wrote to be there when they read. A write
//! therefore starts after the calls before it, and a read after the writes before it. Reads run side
//! by side. The order is a courtesy with a limit: long work holds the others back for a moment only.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use strata_engine::operation::Effect;
use tokio::{
    sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit, RwLock, Semaphore},
    task::AbortHandle,
    time::{sleep, timeout},
};

use crate::pool::Full;

/// How long a running call holds later ones back.
const HOLDS_ORDER: Duration = Duration::from_secs(2);

/// How long a call waits for a free thread.
const ROOM_PATIENCE: Duration = Duration::from_secs(10);

/// The most calls that may wait.
const MAX_WAITING: usize = 512;

/// The door to the engine's threads.
#[derive(Debug)]
pub(super) struct Door {
    order: Arc<RwLock<()>>,
    room: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// The right to run, until dropped.
#[derive(Debug)]
pub(super) struct Admission {
    _room: OwnedSemaphorePermit,
    order: Held,
    release: AbortHandle,
}

/// A place in the order that can be given up before the call ends.
type Held = Arc<Mutex<Option<Order>>>;

impl Drop for Admission {
    fn drop(&mut self) {
        self.release.abort();
        give_up(&self.order);
    }
}

fn give_up(order: &Held) {
    drop(order.lock().unwrap_or_else(PoisonError::into_inner).take());
}

#[derive(Debug)]
#[expect(dead_code, reason = "held, not read")]
enum Order {
    Read(OwnedRwLockReadGuard<()>),
    Write(OwnedRwLockWriteGuard<()>),
}

impl Door {
    /// A door that lets `room` calls run at once.
    pub(super) fn new(room: usize) -> Self {
        Self { order: Arc::default(), room: Arc::new(Semaphore::new(room)), waiting: AtomicUsize::new(0) }
    }

    /// Waits for this call's turn. Error: too many wait already, or no thread became free.
    pub(super) async fn enter(&self, effect: Effect) -> Result<Admission, Full> {
        let _waiting = Waiting::count(&self.waiting)?;
        let order = self.turn(effect).await;
        let room = timeout(ROOM_PATIENCE, Arc::clone(&self.room).acquire_owned()).await;
        let Ok(Ok(room)) = room else { return Err(Full) };
        let order = Arc::new(Mutex::new(Some(order)));
        let held = Arc::clone(&order);
        let release = tokio::spawn(async move {
            sleep(HOLDS_ORDER).await;
            give_up(&held);
        });
        Ok(Admission { _room: room, order, release: release.abort_handle() })
    }

    /// The lock is fair: turns come in the order in which they were asked for.
    async fn turn(&self, effect: Effect) -> Order {
        let order = Arc::clone(&self.order);
        match effect {
            Effect::Read | Effect::Files => Order::Read(order.read_owned().await),
            Effect::Write | Effect::Destroy => Order::Write(order.write_owned().await),
        }
    }
}

/// One of those who wait, counted until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn count(waiting: &'a AtomicUsize) -> Result<Self, Full> {
        let counted = Self(waiting);
        if waiting.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING { Err(Full) } else { Ok(counted) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a call gets in without anybody else moving.
    async fn enters(door: &Door, effect: Effect) -> bool {
        timeout(Duration::from_millis(50), door.enter(effect)).await.is_ok()
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(test);
    }

    #[test]
    fn reads_run_side_by_side_and_wait_for_writes() {
        run(async {
            let door = Door::new(4);
            let first = door.enter(Effect::Read).await.expect("room");
            assert!(enters(&door, Effect::Read).await);
            assert!(!enters(&door, Effect::Write).await, "a read before it still runs");
            drop(first);
            let write = door.enter(Effect::Write).await.expect("room");
            assert!(!enters(&door, Effect::Read).await, "it must see what is being written");
            drop(write);
            assert!(enters(&door, Effect::Read).await);
        });
    }

    #[test]
    fn long_work_does_not_block_for_ever() {
        run(async {
            tokio::time::pause();
            let door = Door::new(4);
            let _import = door.enter(Effect::Write).await.expect("room");
            assert!(door.enter(Effect::Read).await.is_ok(), "it no longer holds others back");
        });
    }

    #[test]
    fn without_room_the_answer_is_full() {
        run(async {
            tokio::time::pause();
            let door = Door::new(1);
            let _only = door.enter(Effect::Read).await.expect("room");
            assert_eq!(door.enter(Effect::Read).await.err(), Some(Full));
            assert_eq!(door.waiting.load(Ordering::Relaxed), 0);
        });
    }
}
