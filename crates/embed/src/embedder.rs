//! What every embedding provider can do, and the words for the state of semantic search.

use std::fmt;

use crate::{error::EmbedError, model::ModelKey};

/// A model that turns text into vectors. It bounds its own time: a model that is asked over a connection gives up after
/// a few seconds and says so.
pub trait Embedder: Send + Sync {
    /// What the vectors are keyed by, for a passage embedded on its own.
    fn model(&self) -> &ModelKey;

    /// The vector of a stored text, scaled as [`Embedder::model`] says. `None` when the model knows
    /// nothing of the text: such a passage is found by its words alone.
    ///
    /// # Errors
    /// [`EmbedError::Unanswered`] when it could not be asked: it may answer another time.
    fn embed_passage(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError>;

    /// The vector of a query, comparable with those of passages. `None` as for a passage.
    ///
    /// # Errors
    /// As for a passage.
    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError>;
}

/// A vector as it may be stored and compared: of the model's own dimension, and of numbers.
///
/// # Errors
/// [`EmbedError::Vector`] when it is not.
pub fn checked(model: &ModelKey, vector: Vec<f32>) -> Result<Vec<f32>, EmbedError> {
    if vector.len() != model.dimension() {
        return Err(EmbedError::Vector { found: vector.len(), expected: model.dimension() });
    }
    if vector.iter().all(|component| component.is_finite()) { Ok(vector) } else { Err(EmbedError::NoNumber) }
}

/// The state of semantic search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Semantic {
    /// Vectors of the chosen model exist for everything.
    On,
    /// Vectors are being made; keyword search answers meanwhile.
    Warming,
    /// There is no semantic search.
    Off {
        /// Why, in words for a person.
        reason: String,
    },
}

impl Semantic {
    /// The stable word for the state, without the reason.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Warming => "warming",
            Self::Off { .. } => "off",
        }
    }
}

impl fmt::Display for Semantic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off { reason } => write!(f, "off: {reason}"),
            state => f.write_str(state.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_of_another_size_or_without_numbers_is_refused() {
        let model = ModelKey::new("letters", "1", 2).expect("a key");
        assert_eq!(checked(&model, vec![0.6, 0.8]), Ok(vec![0.6, 0.8]));
        assert_eq!(checked(&model, vec![1.0]), Err(EmbedError::Vector { found: 1, expected: 2 }));
        for component in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(checked(&model, vec![0.1, component]), Err(EmbedError::NoNumber));
        }
    }

    #[test]
    fn a_state_says_its_reason() {
        assert_eq!(Semantic::On.to_string(), "on");
        assert_eq!(Semantic::Warming.to_string(), "warming");
        let off = Semantic::Off { reason: "switched off in the configuration".into() };
        assert_eq!((off.word(), off.to_string().as_str()), ("off", "off: switched off in the configuration"));
    }
}
