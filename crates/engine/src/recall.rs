//! Recall: the one search, and the operation that shows its results.

pub mod arguments;
mod boilerplate;
mod chance;
pub mod elsewhere;
pub mod focus;
pub mod item;
pub mod operation;
pub mod search;
pub mod seed_order;
pub mod view;
