//! Memories: remember, inspect, chain, update, forget, restore.

pub(crate) mod beside;
pub mod chain;
pub mod draft;
pub mod forget;
pub mod inspect;
pub mod placed;
pub mod reference;
pub mod remember;
pub mod restore;
pub mod similar;
pub mod status;
pub mod update;
pub mod write;
