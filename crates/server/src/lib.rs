//! Strata's faces for machines.
//!
//! Invariants, and what this crate deliberately does not know:
//! - only [`mcp`] names the protocol library, and nothing of it appears in a public signature;
//! - no environment variable, no argument and no terminal: the binary passes settings in as values;
//! - tools, schemas and descriptions come from [`strata_engine::registry::OPERATIONS`] alone;
//! - listing tools opens no file: the store is first touched by the first call.

pub mod interrupt;
pub mod mcp;
mod pool;
mod watch;
