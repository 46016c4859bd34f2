//! What an engine knows of the files it follows: how far it is, and what need not be looked at again.

use std::{
    collections::HashMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError},
    time::{Duration, Instant},
};

use strata_core::time::Timestamp;

use crate::error::Error;

/// Of one engine; see the module.
#[derive(Debug, Default)]
pub(crate) struct State {
    now: Mutex<Now>,
    changed: Condvar,
    pass: Mutex<()>,
    revision: Mutex<Option<(i64, i64)>>,
}

/// Where the work stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Now {
    /// Whether somebody in this process follows the files in the background.
    pub(crate) is_followed: bool,
    /// What is being done.
    pub(crate) phase: Phase,
    /// Files of this pass that are done, of how many.
    pub(crate) done: u64,
    pub(crate) total: u64,
    /// When the files were last looked at to the end.
    pub(crate) looked: Option<Instant>,
    /// What git had checked out then; see [`crate::vcs::stamp`].
    pub(crate) stamp: Option<[u8; 32]>,
    /// What people had written for the project then; see [`crate::project::layout::human::stamp`].
    pub(crate) written: [u8; 32],
    /// How long that took.
    pub(crate) look_took: Duration,
    /// Files that could not be read, with the reason; the first of them.
    pub(crate) problems: Vec<String>,
    /// Why the last pass failed.
    pub(crate) failure: Option<String>,
    /// Whether somebody asked for a look without delay.
    is_woken: bool,
    /// Files that are not for reading, as they were when that was seen.
    skipped: HashMap<String, (u64, Timestamp)>,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Phase {
    /// Nothing was looked at yet.
    #[default]
    Unstarted,
    /// What describes the project is being read.
    First,
    /// The rest is being read.
    Rest,
    /// Everything that was seen is indexed.
    Idle,
}

impl State {
    /// Where the work stands.
    pub(crate) fn now(&self) -> Now {
        let mut now = self.lock();
        // It can be large, and nobody outside looks at it.
        let skipped = std::mem::take(&mut now.skipped);
        let copy = now.clone();
        now.skipped = skipped;
        copy
    }

    /// Changes where it stands, and tells those who wait.
    pub(crate) fn set(&self, change: impl FnOnce(&mut Now)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// The right to do a pass, when nobody else in this process does one.
    pub(crate) fn try_pass(&self) -> Option<MutexGuard<'_, ()>> {
        match self.pass.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The right to do a pass, as soon as nobody else in this process does one.
    pub(crate) fn pass(&self) -> MutexGuard<'_, ()> {
        self.pass.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `enough`, at most for `patience`.
    pub(crate) fn wait(&self, patience: Duration, enough: impl Fn(&Now) -> bool) {
        let guard = self.lock();
        drop(self.changed.wait_timeout_while(guard, patience, |now| !enough(now)));
    }

    /// Lets whoever follows in the background look without delay.
    pub(crate) fn wake(&self) {
        self.set(|now| now.is_woken = true);
    }

    /// Waits for [`Self::wake`], at most for `patience`; tells whether it came.
    pub(crate) fn rest(&self, patience: Duration) -> bool {
        self.wait(patience, |now| now.is_woken);
        std::mem::take(&mut self.lock().is_woken)
    }

    /// Whether a file was seen to be not for reading, as it is now.
    pub(crate) fn is_skipped(&self, path: &str, size: u64, mtime: Timestamp) -> bool {
        self.lock().skipped.get(path) == Some(&(size, mtime))
    }

    /// Notes files that are not for reading.
    pub(crate) fn skip(&self, files: impl Iterator<Item = (String, u64, Timestamp)>) {
        self.lock().skipped.extend(files.map(|(path, size, mtime)| (path, (size, mtime))));
    }

    /// The revision for a head of the ledger: as known, or as `find` has it.
    pub(crate) fn revision(
        &self,
        find: impl FnOnce(Option<(i64, i64)>) -> Result<(i64, i64), Error>,
    ) -> Result<i64, Error> {
        let mut known = self.revision.lock().unwrap_or_else(PoisonError::into_inner);
        let found = find(*known)?;
        *known = Some(found);
        Ok(found.1)
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
