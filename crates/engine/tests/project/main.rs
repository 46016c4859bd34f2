//! Project memory: identity, files, retrieval, reflection, branches, anchors.

mod anchors;
mod branches;
mod files;
mod identity;
mod layout;
mod questions;
mod reflection;
mod repository;
mod retrieve;
#[path = "../support/mod.rs"]
mod support;
mod vcs;
