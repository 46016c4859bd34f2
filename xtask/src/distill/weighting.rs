//! Which vocabulary entries get a row, how frequent each is thought to be, and how much its row counts.

use super::DistillError;

/// Of smooth inverse frequency (Arora, Liang, Ma 2017): a word of frequency p counts a / (a + p).
const SMOOTHING: f64 = 1e-3;

/// What a punctuation mark counts. Marks are in nearly every text and tell texts apart hardly at all.
const MARK: f64 = 0.01;

/// What a single ASCII letter or digit counts. Those of other scripts count whole: they stand for words.
const CHARACTER: f64 = 0.2;

/// The most frequent word. The words follow it by falling frequency; the single characters precede it in
/// code point order, which says nothing about their frequency.
const FIRST_WORD: &str = "the";

/// The place in the order of frequency that a single character is given in the mean of all entries.
const CHARACTER_RANK: f64 = 1_000.0;

/// A vocabulary entry that gets a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry<'a> {
    /// Its number in the encoder's vocabulary.
    pub(super) id: u32,
    /// Its text; a continuation piece starts with `##`.
    pub(super) text: &'a str,
    /// What its row is multiplied by.
    pub(super) weight: f32,
    /// Its share of running text, up to a constant, by Zipf's law from its place in the vocabulary.
    pub(super) frequency: f64,
}

/// The entries of a vocabulary file (one per line, line number = id) that occur in text, in its order.
///
/// The reserved entries (`[PAD]`, `[CLS]`, `[unused7]`, ...) never do.
pub(super) fn entries(vocabulary: &str) -> Result<Vec<Entry<'_>>, DistillError> {
    let reserved = |text: &str| text.len() > 2 && text.starts_with('[') && text.ends_with(']');
    let kept: Vec<(u32, &str)> = (0..).zip(vocabulary.lines()).filter(|(_, text)| !reserved(text)).collect();
    let first_word = kept.iter().position(|(_, text)| *text == FIRST_WORD);
    let first_word = first_word
        .ok_or_else(|| DistillError::Weights(format!("the vocabulary has no entry `{FIRST_WORD}`")))?;
    let total: f64 = (1..=kept.len() - first_word).map(|rank| 1.0 / rank as f64).sum();
    let entry = |(place, (id, text)): (usize, (u32, _))| {
        let rank = place.checked_sub(first_word).map(|words_before| (words_before + 1) as f64);
        let frequency = 1.0 / rank.unwrap_or(CHARACTER_RANK);
        let weight = match rank {
            Some(_) => SMOOTHING / (SMOOTHING + frequency / total),
            None => character_weight(text),
        };
        Entry { id, text, weight: weight as f32, frequency }
    };
    Ok(kept.into_iter().enumerate().map(entry).collect())
}

fn character_weight(text: &str) -> f64 {
    match text.chars().find(|character| *character != '#') {
        Some(character) if character.is_ascii_alphanumeric() => CHARACTER,
        Some(character) if character.is_alphanumeric() => 1.0,
        _ => MARK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_count_more_and_reserved_entries_have_no_row() {
        let entries = entries("[PAD]\n[unused1]\n[UNK]\n!\n#\n]\na\n東\nthe\nof\n##s\nzebra").unwrap();
        let texts: Vec<&str> = entries.iter().map(|entry| entry.text).collect();
        assert_eq!(texts, ["!", "#", "]", "a", "東", "the", "of", "##s", "zebra"]);
        assert_eq!(entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [3, 4, 5, 6, 7, 8, 9, 10, 11]);
        let weights: Vec<f32> = entries.iter().map(|entry| entry.weight).collect();
        assert_eq!(weights[..5], [MARK as f32, MARK as f32, MARK as f32, CHARACTER as f32, 1.0]);
        assert!(weights[5..].is_sorted_by(|a, b| a < b) && weights[8] < 1.0);
        assert_eq!(entries[6].frequency, 0.5);
    }

    #[test]
    fn a_vocabulary_without_words_is_refused() {
        assert!(entries("").is_err() && entries("[PAD]\n!").is_err());
    }
}
