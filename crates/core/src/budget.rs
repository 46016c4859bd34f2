//! Token estimates and packing of whole records into a token budget.

mod estimate;
mod pack;

pub use estimate::estimate_tokens;
pub use pack::{Cost, Omitted, Packed, Packer, RULE};
