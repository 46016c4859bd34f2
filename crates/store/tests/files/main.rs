//! SQLite's own files: the frozen ones of every version, and what lies beside them.

#[path = "../fixture/mod.rs"]
mod fixture;
mod ledger_fixture;
mod ledger_seam;
