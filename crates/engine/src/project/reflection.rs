//! What finished work teaches: gates, candidates, and how a candidate becomes a memory; what a project is told of itself;
//! what becomes of its memories with time.

pub mod add;
pub mod evidence_add;
pub mod grounds;
pub mod known;
pub mod place;
pub mod promote;
pub mod promotion;
pub mod relations;
pub mod report;
pub mod retention;
pub mod seed;
pub mod stale;
pub mod tree;
pub mod wire;
