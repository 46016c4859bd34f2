//! A flag by which a caller withdraws a call that is already running.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Shared by whoever may cancel and whoever does the work; clones are the same flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Withdraws the call. Work in progress stops at its next check.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the call was withdrawn.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
