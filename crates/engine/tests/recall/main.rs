//! Finding again: search, its promises, and the ways in.

mod at_once;
mod eval_acl;
mod eval_suite;
mod field_cases;
mod first_use;
mod hostile_input;
#[path = "../knowledge_support/mod.rs"]
mod knowledge_support;
#[path = "../maintain_support/mod.rs"]
mod maintain_support;
mod recall_figures;
mod recall_filters;
mod recall_promises;
mod retrieval_sets;
#[path = "../support/mod.rs"]
mod support;
mod tour_retrieval;
mod wiki;
