//! The stores of one process on one server: when the server has no place left, those that are idle make room for the one
//! that works.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Inner;

/// Stores that were opened by one handle on a server or its clones.
#[derive(Clone, Default)]
pub(crate) struct Household(Arc<Mutex<Vec<Weak<Inner>>>>);

impl Household {
    /// Takes a store in.
    pub(super) fn add(&self, store: &Arc<Inner>) {
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|store| store.strong_count() > 0);
        stores.push(Arc::downgrade(store));
    }

    /// Closes the connections that nobody uses; whether there were any.
    pub(super) fn make_room(&self) -> bool {
        let stores: Vec<_> = {
            let stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            stores.iter().filter_map(Weak::upgrade).collect()
        };
        // Every store, also behind the first that had some.
        stores.iter().fold(false, |made, store| {
            let connections = store.connections.close_idle();
            let locks = store.locks.close_idle();
            made || connections || locks
        })
    }
}
