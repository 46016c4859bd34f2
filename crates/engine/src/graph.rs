//! The knowledge graph: entities, relations, what memories mention, and the questions asked of them.

pub mod closure;
pub mod entity_add;
pub mod entity_list;
pub mod explore;
pub mod naming;
pub mod noticing;
pub mod rca;
pub mod relation_add;
pub mod relation_list;
pub mod relation_remove;
pub mod trace;
pub mod walk;
