//! The index: equal however it was built, whole after a crash.

mod index_crash;
mod index_equality;
mod index_history;
mod index_renewed;
#[path = "../index_support/mod.rs"]
mod index_support;
mod index_vectors;
