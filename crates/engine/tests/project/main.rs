//! Project memory: identity, files, retrieval, reflection, branches, anchors.

mod anchors;
mod boilerplate;
mod branches;
mod fenced;
mod figures;
mod files;
mod identity;
mod layout;
#[path = "../maintain_support/mod.rs"]
mod maintain_support;
mod merge;
mod odd_repositories;
mod promotion;
mod questions;
mod reflection;
mod repository;
mod retrieve;
mod scripts;
mod settings;
#[path = "../support/mod.rs"]
mod support;
mod vcs;
