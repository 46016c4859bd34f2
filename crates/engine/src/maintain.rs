//! Upkeep of a home: init, import, export, backup, purge, doctor, reindex, jobs.

pub mod import;
pub mod index_files;
pub mod init;
