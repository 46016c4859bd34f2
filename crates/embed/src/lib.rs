//! Embedding providers behind one trait.
//!
//! Invariants, and what this crate deliberately does not know:
//! - no store, no files, no network: a model is bytes, and vectors are given back, not kept;
//! - there is never a fake vector: a text the model knows nothing about has none;
//! - vectors of two [`ModelKey`]s are never comparable.

mod embedder;
mod error;
mod model;
mod static_model;
pub mod table;
mod wordpiece;

pub use embedder::{Embedder, Semantic, checked};
pub use error::EmbedError;
pub use model::{ModelKey, Normalisation};
pub use static_model::StaticModel;
pub use wordpiece::{TOKEN_LIMIT, WordPiece};
