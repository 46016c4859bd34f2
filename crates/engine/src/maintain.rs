//! Upkeep of a home: init, import, export, backup, purge, doctor, reindex, jobs.

pub mod init;
