//! Context: what an agent should know before it begins, inside a token budget; and the hot page.

pub mod assemble;
pub mod hot;
pub mod operation;
pub mod pack;
