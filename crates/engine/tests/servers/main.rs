//! Stores on a real server, whatever the store of the run is.

mod embedder_faults;
#[path = "../maintain_support/mod.rs"]
mod maintain_support;
#[path = "../moves_support/mod.rs"]
mod moves_support;
mod same_ranks;
mod server_isolation;
mod store_moves;
#[path = "../support/mod.rs"]
mod support;
mod tenants_apart;
mod wide_model;
mod zero_character;
