//! Strata's persistence, synchronous on every database.

pub mod error;
