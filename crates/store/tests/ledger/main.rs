//! The ledger: what it keeps, as of when, for whom, and what comes back.

#[path = "../fixture/mod.rs"]
mod fixture;
mod ledger_accesses;
mod ledger_as_of;
mod ledger_audit;
mod ledger_backup;
mod ledger_covered;
mod ledger_graph;
mod ledger_memories;
mod ledger_origins;
mod ledger_rules;
mod ledger_snapshots;
mod ledger_tables;
mod ledger_todos;
mod ledger_transfer;
mod memory_relations;
mod vault_files;
