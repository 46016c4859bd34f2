//! Measuring retrieval on labelled sets, through the product's own import and recall.

pub mod dataset;
pub mod locomo;
pub mod metrics;
pub mod operations;
pub mod run;
