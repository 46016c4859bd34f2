//! What a task needs of a project: memories and passages of its files in one budget, and single memories with what
//! stands around them.

pub mod agent_context;
mod cache;
mod candidates;
mod compose;
mod granularity;
pub mod inspect_memory;
pub mod meta;
mod passages;
pub mod route;
mod rules;
pub mod shape;
pub mod trace;
pub mod tree;
mod uncommitted;

pub use cache::Kept;
pub(crate) use uncommitted::Looked;
