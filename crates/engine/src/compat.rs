//! The tools of p-layer's older server, under their old names: JSON in, JSON out, through the same functions as
//! everyone. What that server took and ignored (`confidence`, `ttl_days`) counts here.

pub mod forget;
pub mod ontology;
pub mod recall;
pub mod remember;
pub mod snapshots;
pub mod stats;
pub mod update;

use crate::render::{Document, Mark};

/// A reply for people: what a program reads as JSON, in one line.
fn line(text: impl Into<String>) -> Document {
    Document::new().note(Mark::Good, text)
}
