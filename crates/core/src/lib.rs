//! Strata's pure domain: the words of the product as types, and every decision that can be made
//! from values alone.
//!
//! Invariants, and what this crate deliberately does not know:
//! - no I/O, no async, no clock, no randomness: time zones, timestamps and random bits arrive as values;
//! - no database, no wire format: nothing here is `Serialize`; outer crates own their formats and convert;
//! - no panic on any input.

pub mod analysis;
pub mod budget;
pub mod cancel;
pub mod chain;
mod composed;
pub mod digest;
pub mod duplicate;
pub mod error;
pub mod graph;
pub mod id;
pub mod knowledge;
pub mod markdown;
pub mod memory;
pub mod policy;
pub mod principal;
pub mod project;
pub mod rank;
pub mod redact;
pub mod route;
pub mod scope;
pub mod signing;
pub mod surrogates;
pub mod time;
pub mod vector;
pub mod vocabulary;
