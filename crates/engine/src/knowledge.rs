//! Durable knowledge in the vault: files of sections, their index, routes and todos. One operation per file.

pub mod access;
pub mod inject;
pub mod l0;
pub mod reviews;
pub mod routing;
pub mod vault;
