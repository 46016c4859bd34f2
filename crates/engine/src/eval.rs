//! Measuring retrieval on labelled sets, through the product's own import and recall.

pub mod baseline;
pub mod dataset;
pub mod evidence;
pub mod locomo;
pub mod metrics;
pub mod operations;
pub mod run;
pub mod suite;
