//! What a vector set is keyed by.

use std::fmt;
use std::str::FromStr;

use crate::error::EmbedError;

/// Everything that decides whether two vectors may be compared.
///
/// The text form is `id:revision:dimension:normalisation:window:prefix`, for example
/// `static-minilm:3f2a9c0d11e84b57:256:unit:2:`. It is stable: stores keep it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelKey {
    id: String,
    revision: String,
    dimension: usize,
    normalisation: Normalisation,
    window: u32,
    prefix: String,
}

/// How the vectors of a set are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Normalisation {
    /// Length 1: the dot product is the cosine.
    Unit,
    /// As the model gave them.
    Raw,
}

impl ModelKey {
    /// A key for unit vectors without a prefix and without a window.
    ///
    /// # Errors
    /// [`EmbedError::Key`] when the dimension is 0, or the id or the revision is empty or has other
    /// characters than ASCII letters, digits, `.`, `_` and `-`.
    pub fn new(id: &str, revision: &str, dimension: usize) -> Result<Self, EmbedError> {
        for part in [id, revision] {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            if part.is_empty() || !part.bytes().all(allowed) {
                return Err(EmbedError::key(part, "id and revision take letters, digits, `.`, `_` and `-`"));
            }
        }
        if dimension == 0 {
            return Err(EmbedError::key("0", "the dimension is at least 1"));
        }
        Ok(Self {
            id: id.to_owned(),
            revision: revision.to_owned(),
            dimension,
            normalisation: Normalisation::Unit,
            window: 0,
            prefix: String::new(),
        })
    }

    /// The same key with another number of preceding turns embedded together with a turn.
    #[must_use]
    pub fn with_window(mut self, window: u32) -> Self {
        self.window = window;
        self
    }

    /// The same key with the text that the model puts before every passage.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// The same key with another scaling.
    #[must_use]
    pub fn with_normalisation(mut self, normalisation: Normalisation) -> Self {
        self.normalisation = normalisation;
        self
    }

    /// The model's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Which build of the model; vectors of two revisions are never mixed.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Components per vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How the vectors are scaled.
    pub fn normalisation(&self) -> Normalisation {
        self.normalisation
    }

    /// How many preceding turns of the same session are embedded together with a turn.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// The text that the model puts before every passage.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

impl fmt::Display for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, revision, dimension, normalisation, window, prefix } = self;
        // The prefix is last because it alone may hold any character.
        write!(f, "{id}:{revision}:{dimension}:{normalisation}:{window}:{prefix}")
    }
}

impl FromStr for ModelKey {
    type Err = EmbedError;

    fn from_str(text: &str) -> Result<Self, EmbedError> {
        let parts: Vec<&str> = text.splitn(6, ':').collect();
        let [id, revision, dimension, normalisation, window, prefix] = parts[..] else {
            return Err(EmbedError::key(text, "it has fewer than six parts"));
        };
        let dimension =
            number(dimension).ok_or_else(|| EmbedError::key(text, "the dimension is not a number"))?;
        let window = number(window).ok_or_else(|| EmbedError::key(text, "the window is not a number"))?;
        let normalisation = match normalisation {
            "unit" => Normalisation::Unit,
            "raw" => Normalisation::Raw,
            _ => return Err(EmbedError::key(text, "the normalisation is `unit` or `raw`")),
        };
        let key = Self::new(id, revision, dimension as usize)?;
        Ok(key.with_normalisation(normalisation).with_window(window).with_prefix(prefix))
    }
}

/// A decimal number in its one canonical spelling, so that equal keys have equal text.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

impl fmt::Display for Normalisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unit => "unit",
            Self::Raw => "raw",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_text_form_is_stable() {
        let key = ModelKey::new("static-minilm", "3f2a", 256).unwrap().with_window(2);
        assert_eq!(key.to_string(), "static-minilm:3f2a:256:unit:2:");
        let key = key.with_prefix("passage: ").with_normalisation(Normalisation::Raw);
        assert_eq!(key.to_string(), "static-minilm:3f2a:256:raw:2:passage: ");
    }

    #[test]
    fn what_is_not_a_key_is_refused_with_its_reason() {
        for text in ["", "a:b:256:unit:0", "a:b:x:unit:0:", "a:b:1:none:0:", "a:b:1:unit:-1:", "a::1:unit:0:"]
        {
            assert!(matches!(text.parse::<ModelKey>(), Err(EmbedError::Key { .. })), "{text}");
        }
        for text in ["a:b:0:unit:0:", "a:b:01:unit:0:", "a:b:+1:unit:0:", "a b:c:1:unit:0:"] {
            assert!(matches!(text.parse::<ModelKey>(), Err(EmbedError::Key { .. })), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_key_comes_back_from_its_text(
            id in "[a-zA-Z0-9._-]{1,12}", revision in "[a-zA-Z0-9._-]{1,12}",
            dimension in 1_u32..5000, window: u32, prefix in "\\PC{0,12}", raw: bool,
        ) {
            let normalisation = if raw { Normalisation::Raw } else { Normalisation::Unit };
            let key = ModelKey::new(&id, &revision, dimension as usize).unwrap()
                .with_window(window).with_prefix(prefix).with_normalisation(normalisation);
            prop_assert_eq!(key.to_string().parse::<ModelKey>().unwrap(), key);
        }

        #[test]
        fn any_text_is_answered(text in "\\PC*") {
            if let Ok(key) = text.parse::<ModelKey>() {
                prop_assert_eq!(key.to_string(), text);
            }
        }
    }
}
