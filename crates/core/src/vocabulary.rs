//! Words of natural languages that say what sort of text they stand in, as data.
//!
//! One file per language in `vocabulary/`: a new language is a new file and a line in `LANGUAGES`. A home may add markers in
//! the same form and switch markers off.

use std::{collections::BTreeMap, sync::LazyLock};

use toml::{Table, Value};

use crate::route::Route;

/// The languages that are built in, with their words.
const LANGUAGES: [(&str, &str); 4] = [
    ("en", include_str!("vocabulary/en.toml")),
    ("zh", include_str!("vocabulary/zh.toml")),
    ("ja", include_str!("vocabulary/ja.toml")),
    ("ko", include_str!("vocabulary/ko.toml")),
];

/// What a marker says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sense {
    /// The text belongs to this route.
    Tells(Route),
    /// It may belong to this route.
    Hints(Route),
    /// It tells what to do in which order.
    Sequence,
    /// A preference is meant for everywhere.
    Scope,
    /// A statement is still open.
    Open,
    /// A statement was open and is resolved.
    Resolved,
}

/// Markers with their senses, and the words around a marker that make it a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vocabulary {
    /// By text: a text may say several things.
    pub(crate) markers: BTreeMap<String, Vec<Sense>>,
    /// Nouns after a marker that make it the name of a thing.
    pub(crate) names_after: Vec<String>,
    /// Words before a marker that say it is spoken of.
    pub(crate) names_before: Vec<String>,
    /// Labels of the line that says why a state marker stays.
    pub(crate) keep_reasons: Vec<String>,
}

/// Why a vocabulary cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VocabularyError {
    /// No TOML.
    #[error("it is no TOML: {0}")]
    Syntax(String),
    /// A table or key that means nothing.
    #[error("`{0}` is no group of markers")]
    UnknownGroup(String),
    /// Not a list of texts, or a text without a letter.
    #[error("`{0}` is no list of texts with letters")]
    NotTexts(String),
}

static BUILT_IN: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut vocabulary = Vocabulary::default();
    for (language, words) in LANGUAGES {
        let added = vocabulary.extend(words);
        debug_assert_eq!(added, Ok(()), "the words of {language}");
    }
    vocabulary
});

impl Vocabulary {
    /// The languages that are built in.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Adds markers written as in `vocabulary/en.toml`. After an error nothing has changed.
    pub fn extend(&mut self, words: &str) -> Result<(), VocabularyError> {
        let file: Table =
            words.parse().map_err(|e: toml::de::Error| VocabularyError::Syntax(e.message().to_owned()))?;
        let mut extended = self.clone();
        for (name, group) in &file {
            let group = group.as_table().ok_or_else(|| VocabularyError::UnknownGroup(name.clone()))?;
            for (key, value) in group {
                extended.add(name, key, &texts(value, &format!("{name}.{key}"))?)?;
            }
        }
        *self = extended;
        Ok(())
    }

    /// Takes markers out, in whatever sense and letter case, and with the colon that some have: `TODO` takes out `todo:`.
    pub fn disable(&mut self, markers: &[&str]) {
        let bare = |marker: &str| marker.trim_end_matches([':', '：']).to_lowercase();
        let markers: Vec<String> = markers.iter().map(|marker| bare(marker)).collect();
        self.markers.retain(|text, _| !markers.contains(&bare(text)));
    }

    fn add(&mut self, group: &str, key: &str, texts: &[String]) -> Result<(), VocabularyError> {
        let unknown = || VocabularyError::UnknownGroup(format!("{group}.{key}"));
        let words = match (group, key) {
            ("names", "after") => Some(&mut self.names_after),
            ("names", "before") => Some(&mut self.names_before),
            ("state", "keep_reason") => Some(&mut self.keep_reasons),
            _ => None,
        };
        if let Some(words) = words {
            words.extend_from_slice(texts);
            return Ok(());
        }
        let sense = match (group, key) {
            ("state", "open") => Sense::Open,
            ("state", "resolved") => Sense::Resolved,
            ("skill", "sequence") => Sense::Sequence,
            ("user_profile", "scope") => Sense::Scope,
            (_, "tells") => Sense::Tells(Route::classified(group).ok_or_else(unknown)?),
            (_, "hints") => Sense::Hints(Route::classified(group).ok_or_else(unknown)?),
            _ => return Err(unknown()),
        };
        for text in texts {
            let senses = self.markers.entry(text.clone()).or_default();
            if !senses.contains(&sense) {
                senses.push(sense);
            }
        }
        Ok(())
    }
}

fn texts(value: &Value, name: &str) -> Result<Vec<String>, VocabularyError> {
    let error = || VocabularyError::NotTexts(name.to_owned());
    let read = |value: &Value| {
        let text = value.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
        text.chars().any(char::is_alphabetic).then_some(text)
    };
    value.as_array().ok_or_else(error)?.iter().map(|v| read(v).ok_or_else(error)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_words_for_every_group() {
        for (language, words) in LANGUAGES {
            let mut vocabulary = Vocabulary::default();
            assert_eq!(vocabulary.extend(words), Ok(()), "{language}");
            let senses: Vec<Sense> = vocabulary.markers.values().flatten().copied().collect();
            for route in Route::CLASSIFIED {
                let count = senses.iter().filter(|sense| **sense == Sense::Tells(route)).count();
                assert!(count >= 15, "{language} has {count} markers for {}", route.as_str());
            }
            for sense in [Sense::Sequence, Sense::Scope, Sense::Open, Sense::Resolved] {
                assert!(senses.iter().filter(|s| **s == sense).count() >= 8, "{language} {sense:?}");
            }
            assert!(!vocabulary.names_after.is_empty() && !vocabulary.names_before.is_empty());
            assert!(!vocabulary.keep_reasons.is_empty());
        }
    }

    #[test]
    fn a_faulty_extension_changes_nothing() {
        let mut vocabulary = Vocabulary::built_in().clone();
        for (words, error) in [
            ("[todo", None),
            ("todo = 1", Some(VocabularyError::UnknownGroup("todo".to_owned()))),
            ("[l0_index]\ntells = ['x']", Some(VocabularyError::UnknownGroup("l0_index.tells".to_owned()))),
            ("[todo]\nshouts = ['x']", Some(VocabularyError::UnknownGroup("todo.shouts".to_owned()))),
            ("[todo]\ntells = ['ok', '--']", Some(VocabularyError::NotTexts("todo.tells".to_owned()))),
            ("[todo]\ntells = 'x'", Some(VocabularyError::NotTexts("todo.tells".to_owned()))),
        ] {
            let found = vocabulary.extend(words).expect_err(words);
            assert!(error.is_none_or(|error| error == found), "{words}: {found}");
        }
        assert_eq!(&vocabulary, Vocabulary::built_in());
    }
}
