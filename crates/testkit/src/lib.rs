//! Test support: temporary homes, databases on real servers, a server of a test's own, the real binary as a process, scripts that speak MCP to it, damage, and
//! what a fuzzer runs.
//!
//! Never shipped. Faults end the test with a panic that says what was expected.

#![allow(clippy::panic, reason = "a fault here is a failed test, and the panic says which")]

pub mod binary;
pub mod fuzz;
pub mod home;
mod looks;
pub mod mcp;
pub mod older;
pub mod server;
pub mod store;
pub mod tamper;
mod template;
