//! What every embedding provider can do, and the words for the state of semantic search.

use std::fmt;

use crate::model::ModelKey;

/// A model that turns text into vectors.
pub trait Embedder: Send + Sync {
    /// What the vectors are keyed by, for a passage embedded on its own.
    fn model(&self) -> &ModelKey;

    /// The vector of a stored text, scaled as [`Embedder::model`] says. `None` when the model knows
    /// nothing of the text: such a passage is found by its words alone.
    fn embed_passage(&self, text: &str) -> Option<Vec<f32>>;

    /// The vector of a query, comparable with those of passages. `None` as for a passage.
    fn embed_query(&self, text: &str) -> Option<Vec<f32>>;
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
    fn a_state_says_its_reason() {
        assert_eq!(Semantic::On.to_string(), "on");
        assert_eq!(Semantic::Warming.to_string(), "warming");
        let off = Semantic::Off { reason: "switched off in the configuration".into() };
        assert_eq!((off.word(), off.to_string().as_str()), ("off", "off: switched off in the configuration"));
    }
}
