//! Token estimates, by which records are fitted into a budget.

mod estimate;

pub use estimate::estimate_tokens;
