//! Upkeep of a home: init, import, export, backup, purge, doctor, reindex, jobs, what is due.

pub mod backup;
pub mod byte_scan;
pub mod doctor;
pub mod due;
pub mod export;
pub mod import;
pub mod index_files;
pub mod init;
pub mod jobs;
mod left_to_owner;
pub mod load;
pub mod migrate_store;
mod old_indexes;
pub mod purge;
pub mod purged;
pub mod reembed;
pub mod reindex;
pub mod transfer;
