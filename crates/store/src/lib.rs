//! Strata's persistence, synchronous: the ledger of truth, the derived index, and the files.
//!
//! Invariants, and what this crate deliberately does not know:
//! - SQL and the database driver appear here and nowhere above; the driver appears only in `sqlite`;
//! - nothing here tells the time or draws random numbers: instants, ids, salts and keys are given by the caller;
//! - every write is one transaction that takes the write lock at its start, so that commit order is
//!   sequence order;
//! - no failure is swallowed: each is a [`error::StoreError`] with a kind and a next action.

pub mod backup;
pub mod error;
pub mod faults;
pub mod files;
pub mod foreign;
pub mod index;
pub mod ledger;
pub mod migrate;
pub mod place;
mod retry;
mod rows;
pub mod sql;
mod sqlite;
#[cfg(any(test, debug_assertions))]
mod tenancy;

pub use error::{Conflict, StoreError};
pub use sql::{Control, Database};
