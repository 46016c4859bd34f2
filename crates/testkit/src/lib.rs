//! Test support: temporary homes, the real binary as a process, and scripts that speak MCP to it.
//!
//! Never shipped. Faults end the test with a panic that says what was expected.

pub mod binary;
pub mod home;
pub mod mcp;
