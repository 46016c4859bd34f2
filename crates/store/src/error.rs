//! What can go wrong in the store.

use strata_core::error::ErrorKind;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Others held the store beyond our patience.
    #[error("the store is busy")]
    Busy,
}

impl StoreError {
    /// What sort of failure it is.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Busy
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        "try again in a moment".into()
    }
}
