//! Who may do what, and what is held to be true.

mod approval_record;
mod attack_doors;
mod attack_governance;
mod consolidation;
mod contradictions;
mod contradictions_filing;
#[path = "../maintain_support/mod.rs"]
mod maintain_support;
mod ontology_gate;
mod policy_matrix;
mod review;
mod rules;
#[path = "../support/mod.rs"]
mod support;
