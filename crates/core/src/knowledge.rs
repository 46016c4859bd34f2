//! Layered knowledge: what can be said of the vault's files and sections from their text alone.
//!
//! A domain is a file, a section a `##` heading with its body (see [`crate::markdown::Outline`]).

pub mod calibration;
pub mod changelog;
pub mod cleanup;
pub mod dedup;
pub mod digest;
pub mod family;
pub mod governance;
pub mod health;
pub mod inject;
pub mod l0;
pub mod meaning;
pub mod name;
pub mod part;
pub mod pointer;
pub mod promotion;
pub mod ranking;
pub mod rot;
pub mod state;
pub mod todo;
mod words;
