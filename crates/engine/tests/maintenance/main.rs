//! Keeping a home well: upkeep, backups, moves, erasure, damage.

mod attack_backups;
mod attack_tampering;
mod drift;
mod inspect;
mod jobs_left;
mod maintain_doctor;
mod maintain_erasure;
mod maintain_faults;
#[path = "../maintain_support/mod.rs"]
mod maintain_support;
mod maintain_transfer;
mod maintenance;
#[path = "../moves_support/mod.rs"]
mod moves_support;
mod server_upkeep;
mod store_moves_trouble;
#[path = "../support/mod.rs"]
mod support;
mod usage;
mod whole_lists;
