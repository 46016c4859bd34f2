//! Durable knowledge in the vault: files of sections, their index, routes and todos. One operation per file.

pub mod access;
mod bands;
pub mod bring;
pub mod changelog;
pub mod entry;
pub mod export;
pub mod figures;
pub mod files;
pub mod history;
pub mod import;
pub mod inject;
pub mod l0;
pub mod recall;
pub mod reindex;
pub mod reviews;
mod room;
pub mod routing;
pub mod sections;
pub mod semantic;
pub mod todo;
pub mod upkeep;
pub mod vault;
pub(crate) mod vectors;
