//! Bringing things in: raw events, older stores, Markdown of rules and incidents.
//!
//! An older store is read whole (`p_layer`, `drewgent`), judged row by row into `incoming`, let through the
//! gate (`prepare`), compared with what is here (`decide`), and written in one transaction (`settle`).

pub mod episodes;
pub mod import_drewgent;
pub mod import_incidents;
pub mod import_layered_memory;
pub mod import_memory_engine;
pub mod import_p_layer;
pub mod import_rules;

mod cells;
mod decide;
mod distilled;
mod drewgent;
mod follow;
mod graph;
mod graph_plan;
mod incoming;
mod layered;
mod memory_engine;
mod p_layer;
mod prepare;
mod report;
mod rules_markdown;
mod settle;
mod waiting;

/// What layered-memory is called where its rows are named.
const SOURCE_LAYERED: &str = "layered-memory";
