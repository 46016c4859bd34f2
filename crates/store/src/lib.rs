//! Strata's persistence, synchronous: the ledger of truth, the derived index, and the files.
//!
//! Invariants, and what this crate deliberately does not know:
//! - SQL and the database drivers appear here and nowhere above; a driver appears only in `sqlite` or `postgres`,
//!   and above these two nothing knows which of them is at work;
//! - nothing here tells the time or draws random numbers: instants, ids, salts and keys are given by the caller (what
//!   encrypts a connection has its own clock and chance);
//! - every write is one transaction that takes the write lock at its start, so that commit order is
//!   sequence order;
//! - no failure is swallowed: each is a [`error::StoreError`] with a kind and a next action.

pub mod backup;
mod copying;
mod database;
pub mod error;
pub mod faults;
pub mod files;
pub mod folder;
pub mod foreign;
mod held;
pub mod index;
pub mod ledger;
pub mod migrate;
pub mod moving;
pub mod place;
mod pool;
mod postgres;
mod retry;
mod rows;
pub mod sql;
mod sqlite;
#[cfg(any(test, debug_assertions))]
mod tenancy;
pub mod vault;

pub use database::{Beside, Rewrite};
pub use error::{Conflict, StoreError, TlsFailure};
pub use place::{Place, Server};
pub use postgres::TlsOptions;
pub use sql::{Control, Database};
