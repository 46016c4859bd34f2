//! Which vocabulary entries get a row, and how much each row counts.

use super::DistillError;

/// Of smooth inverse frequency (Arora, Liang, Ma 2017): an entry of frequency p counts a / (a + p).
const SMOOTHING: f64 = 1e-3;

/// A vocabulary entry that gets a row.
pub(super) struct Entry<'a> {
    /// Its number in the encoder's vocabulary.
    pub(super) id: u32,
    /// Its text; a continuation piece starts with `##`.
    pub(super) text: &'a str,
    /// What its row is multiplied by.
    pub(super) weight: f32,
}

/// The entries of a vocabulary file (one per line, line number = id) that occur in text.
///
/// The reserved entries (`[PAD]`, `[CLS]`, `[unused7]`, ...) never do. The file is sorted by frequency,
/// so an entry's frequency is estimated by Zipf's law from its place.
pub(super) fn entries(vocabulary: &str) -> Result<Vec<Entry<'_>>, DistillError> {
    let reserved = |text: &str| text.len() > 2 && text.starts_with('[') && text.ends_with(']');
    let kept: Vec<(u32, &str)> = (0..).zip(vocabulary.lines()).filter(|(_, text)| !reserved(text)).collect();
    if kept.is_empty() {
        return Err(DistillError::Weights("the vocabulary has no entries".to_owned()));
    }
    let total: f64 = (1..=kept.len()).map(|rank| 1.0 / rank as f64).sum();
    let weigh = |rank: usize| (SMOOTHING / (SMOOTHING + 1.0 / (rank as f64 * total))) as f32;
    Ok((1..).zip(kept).map(|(rank, (id, text))| Entry { id, text, weight: weigh(rank) }).collect())
}
