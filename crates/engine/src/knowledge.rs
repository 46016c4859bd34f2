//! Layered knowledge: what agents and people write into the vault, and how it is found again.

pub mod access;
pub mod reviews;
