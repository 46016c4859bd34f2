//! Measuring the product through its own operations: retrieval on labelled sets, and whether permissions hold.

pub mod acl;
pub mod dataset;
pub mod locomo;
pub mod metrics;
pub mod operations;
pub mod run;
