//! p-layer's promises, and imports of its homes.

mod import_drewgent;
mod import_p_layer;
#[path = "../maintain_support/mod.rs"]
mod maintain_support;
mod p_layer_audit;
mod p_layer_compat;
mod p_layer_context;
mod p_layer_graph;
mod p_layer_mentions;
mod p_layer_recall;
mod p_layer_reembed;
mod p_layer_snapshots;
mod p_layer_writes;
#[path = "../support/mod.rs"]
mod support;
