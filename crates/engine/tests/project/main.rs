//! Project memory: identity, files, retrieval, reflection, branches, anchors.

mod anchors;
mod branches;
mod files;
mod identity;
mod layout;
mod reflection;
mod repository;
mod retrieve;
mod vcs;
