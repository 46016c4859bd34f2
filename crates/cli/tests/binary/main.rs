//! The real binary, as users and clients meet it.

mod command_line;
mod field_cases;
mod foreign_clients;
mod hostile_lines;
mod hostile_processes;
mod importers;
mod killed;
mod layered_network;
mod layered_recall;
mod many_clients;
mod night;
mod p_layer;
mod p_layer_governance;
mod p_layer_options;
mod passphrase;
mod process_life;
mod project_check;
mod project_figures;
mod project_files;
mod project_place;
mod project_words;
mod protocol;
mod reference;
mod rule_attacks;
mod server_faults;
mod server_first_use;
mod server_leases;
mod server_limits;
mod server_replica;
mod server_shared;
mod story;
mod todos;
mod wording;

use strata_testkit::{binary::Binary, home::TestHome};

/// The binary under test on a home.
fn strata(home: &TestHome) -> Binary<'_> {
    Binary::new(env!("CARGO_BIN_EXE_strata"), home)
}
