//! Strata as a library: every use case is one [`operation::Operation`] in one file, listed in
//! [`registry::OPERATIONS`], and every face (MCP, command line, HTTP) is made from that table.
//!
//! Invariants, and what this crate deliberately does not know:
//! - no protocol, terminal, environment variable or argument parser: settings and the caller's
//!   identity arrive as values;
//! - search, delete and the write gate exist once, in [`recall`], [`memory`] and [`gate`];
//! - only [`clock`] tells the time and draws random bits;
//! - opening an [`engine::Engine`] touches no file: the store opens at the first call that needs it.

pub mod audit;
pub mod authority;
pub mod bench;
pub mod clock;
pub mod compat;
pub mod consolidate;
pub mod context;
pub mod contradictions;
pub mod documents;
pub mod drift;
pub mod engine;
pub mod episode;
pub mod error;
pub mod eval;
pub mod gate;
pub mod graph;
pub mod import;
pub mod job;
pub mod judge;
pub mod knowledge;
pub mod maintain;
pub mod memory;
mod model;
pub mod network;
pub mod ontology;
pub mod operation;
mod parallel;
pub mod paths;
pub mod project;
pub mod prompts;
pub mod recall;
pub mod reflect;
pub mod registry;
pub mod render;
pub mod request;
pub mod resources;
pub mod review;
pub mod rules;
pub mod schema;
pub mod searcher;
pub mod settings;
pub mod snapshot;
pub mod stats;
pub mod status;
pub mod usage;
pub mod vcs;
pub mod wiki;
