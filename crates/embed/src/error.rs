//! What can go wrong with an embedding model.

use strata_core::error::ErrorKind;

/// A failure of an embedding model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// A model file is not what its format says; names the part.
    #[error("the embedding model is damaged: {0}")]
    Model(&'static str),
    /// The text form of a model key does not parse, or a part of a key is not allowed.
    #[error("`{given}` is not a model key: {problem}")]
    Key {
        /// The offending text, shortened.
        given: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The model could not be asked, or gave up.
    #[error("the embedding model does not answer: {0}")]
    Unanswered(String),
    /// The model gave a vector of another dimension than its own.
    #[error("the embedding model gave {found} components instead of {expected}")]
    Vector {
        /// Components given.
        found: usize,
        /// Components that its key names.
        expected: usize,
    },
    /// The model gave a vector with a component that is no finite number.
    #[error("the embedding model gave a vector that is not of numbers")]
    NoNumber,
}

impl EmbedError {
    /// What sort of failure this is.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Model(_) => ErrorKind::Corrupt,
            Self::Key { .. } => ErrorKind::Invalid,
            Self::Unanswered(_) | Self::Vector { .. } | Self::NoNumber => ErrorKind::Unavailable,
        }
    }

    /// The next action.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Model(_) => "install the model again; keyword search works meanwhile",
            Self::Key { .. } => "write it as id:revision:dimension:normalisation:window:prefix",
            Self::Unanswered(_) => {
                "keyword search works meanwhile; when the model answers, run `strata reembed`"
            }
            Self::Vector { .. } | Self::NoNumber => {
                "check which model is served; keyword search works meanwhile, and `strata reembed` makes what is missing"
            }
        }
    }

    /// A key error, keeping at most 60 characters of the offending text.
    pub(crate) fn key(given: &str, problem: &'static str) -> Self {
        let given = given.chars().filter(|character| !character.is_control()).take(60).collect();
        Self::Key { given, problem }
    }
}
