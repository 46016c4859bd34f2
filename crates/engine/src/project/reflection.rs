//! What finished work teaches: gates, candidates, and how a candidate becomes a memory.

pub mod known;
pub mod place;
pub mod promote;
pub mod report;
