//! A bounded set of connections, opened when first needed and lent one job at a time.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{error::StoreError, sql::Control};

/// How often a waiting job looks at its cancel flag.
const LOOK: Duration = Duration::from_millis(20);

/// What can be lent again.
pub(crate) trait Lendable {
    /// Whether another job may use it: no transaction was left open, and it sees later changes.
    fn is_reusable(&self) -> bool;
}

/// The connections of one role.
pub(crate) struct Pool<C: Lendable> {
    capacity: usize,
    state: Mutex<State<C>>,
    returned: Condvar,
}

struct State<C> {
    idle: Vec<C>,
    lent: usize,
    /// Connections lent before the last `clear` are dropped when they come back.
    generation: u64,
}

/// A connection lent to one job; it goes back when dropped.
pub(crate) struct Lease<'p, C: Lendable> {
    pool: &'p Pool<C>,
    connection: Option<C>,
    generation: u64,
}

impl<C: Lendable> Pool<C> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State { idle: Vec::new(), lent: 0, generation: 0 };
        Self { capacity, state: Mutex::new(state), returned: Condvar::new() }
    }

    /// Lends an idle connection, or the one `open` makes, waiting while all are lent.
    pub(crate) fn lease(
        &self,
        control: &Control,
        open: impl FnOnce() -> Result<C, StoreError>,
    ) -> Result<Lease<'_, C>, StoreError> {
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
        self.lend(state, open)
    }

    /// The same without waiting: `None` while all are lent.
    pub(crate) fn try_lease(
        &self,
        open: impl FnOnce() -> Result<C, StoreError>,
    ) -> Result<Option<Lease<'_, C>>, StoreError> {
        let state = self.state();
        if state.lent >= self.capacity {
            return Ok(None);
        }
        self.lend(state, open).map(Some)
    }

    fn lend<'p>(
        &'p self,
        mut state: MutexGuard<'p, State<C>>,
        open: impl FnOnce() -> Result<C, StoreError>,
    ) -> Result<Lease<'p, C>, StoreError> {
        state.lent += 1;
        let idle = state.idle.pop();
        let mut lease = Lease { pool: self, connection: idle, generation: state.generation };
        drop(state);
        if lease.connection.is_none() {
            lease.connection = Some(open()?);
        }
        Ok(lease)
    }

    /// Closes the idle connections; whether there were any.
    pub(crate) fn close_idle(&self) -> bool {
        let idle = std::mem::take(&mut self.state().idle);
        !idle.is_empty()
    }

    /// Closes the idle connections and, when they come back, those lent now.
    pub(crate) fn clear(&self) {
        let mut state = self.state();
        state.generation += 1;
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        drop(idle);
    }

    fn state(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Lendable> Lease<'_, C> {
    /// The connection.
    pub(crate) fn get(&mut self) -> Result<&mut C, StoreError> {
        self.connection.as_mut().ok_or_else(|| StoreError::Internal("a lease lost its connection".into()))
    }

    /// Puts the connection that `open` makes in the place of a broken one.
    pub(crate) fn replace(&mut self, open: impl FnOnce() -> Result<C, StoreError>) -> Result<(), StoreError> {
        self.connection = None;
        self.connection = Some(open()?);
        Ok(())
    }
}

impl<C: Lendable> Drop for Lease<'_, C> {
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
