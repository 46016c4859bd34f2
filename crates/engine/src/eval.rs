//! Measuring the product through its own operations: retrieval on labelled sets, and whether permissions hold.

pub mod acl;
pub mod baseline;
pub mod dataset;
pub mod evidence;
pub mod locomo;
pub mod metrics;
pub mod operations;
pub mod run;
pub mod suite;
