//! A bounded set of connections, opened when first needed and lent one job at a time.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::open::Connection;
use crate::{error::StoreError, sql::Control};

/// How often a waiting job looks at its cancel flag.
const LOOK: Duration = Duration::from_millis(20);

/// The connections of one role.
pub(super) struct Pool {
    capacity: usize,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    lent: usize,
    /// Connections lent before the last `clear` are dropped when they come back.
    generation: u64,
}

/// A connection lent to one job; it goes back when dropped.
pub(super) struct Lease<'p> {
    pool: &'p Pool,
    connection: Option<Connection>,
    generation: u64,
}

impl Pool {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, state: Mutex::default(), returned: Condvar::new() }
    }

    /// Lends an idle connection, or the one `open` makes, waiting while all are lent.
    pub(super) fn lease(
        &self,
        control: &Control,
        open: impl FnOnce() -> Result<Connection, StoreError>,
    ) -> Result<Lease<'_>, StoreError> {
        let started = Instant::now();
        let mut state = self.state();
        while state.lent >= self.capacity {
            control.check()?;
            let waited = started.elapsed();
            if waited >= control.patience {
                return Err(StoreError::Busy { waited });
            }
            state = self.returned.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.lent += 1;
        let idle = state.idle.pop();
        let mut lease = Lease { pool: self, connection: idle, generation: state.generation };
        drop(state);
        if lease.connection.is_none() {
            lease.connection = Some(open()?);
        }
        Ok(lease)
    }

    /// Closes the idle connections and, when they come back, those lent now.
    pub(super) fn clear(&self) {
        let mut state = self.state();
        state.generation += 1;
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        drop(idle);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease<'_> {
    /// The connection.
    pub(super) fn get(&mut self) -> Result<&mut Connection, StoreError> {
        self.connection.as_mut().ok_or_else(|| StoreError::Internal("a lease lost its connection".into()))
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let connection = self.connection.take();
        let mut state = self.pool.state();
        state.lent -= 1;
        match connection {
            Some(connection) if state.generation == self.generation && connection.is_reusable() => {
                state.idle.push(connection);
                drop(state);
            }
            stale => {
                drop(state);
                drop(stale);
            }
        }
        self.pool.returned.notify_one();
    }
}
