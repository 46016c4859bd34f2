//! Layered knowledge: the vault, its index, routing, todos, changelog and upkeep.

mod bad_input;
mod hot_page;
#[path = "../knowledge_support/mod.rs"]
mod knowledge_support;
mod layered_access;
mod layered_changelog;
mod layered_figures;
mod layered_files;
mod layered_habits;
mod layered_import;
mod layered_inject;
mod layered_l0;
mod layered_meaning;
mod layered_recall;
mod layered_routing;
mod layered_sections;
mod layered_upkeep;
#[path = "../maintain_support/mod.rs"]
mod maintain_support;
mod odd_places;
mod purged_everywhere;
#[path = "../support/mod.rs"]
mod support;
mod todos;
mod vault;
mod vault_processes;
