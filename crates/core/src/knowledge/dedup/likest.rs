//! The section that is most like a text.

use super::{Known, Likeness, Neighbour, statements::changed_statement, things::names_two_things};
use crate::{
    duplicate::{Comparison, Prepared, Readings, Verdict},
    knowledge::{meaning::Bands, words::Words},
};

/// The section that is most like the text: the target before others, wording before meaning.
pub(super) fn likest(
    target: Option<usize>,
    content: &str,
    known: &[Known<'_>],
    (neighbours, bands): (&[Neighbour], &Bands),
    readings: &Readings,
) -> Option<Likeness> {
    let text = Prepared::new(content);
    let cosine_of = |index: usize| {
        let near = neighbours.iter().find(|near| near.index == index)?;
        (near.cosine >= bands.merge).then_some(near.cosine)
    };
    let read = |index: usize| {
        let found = text.compare(&readings.read(known[index].body));
        Likeness { cosine: cosine_of(index), ..like(index, &found) }
    };
    let clash = |index: usize| {
        let found = changed_statement(content, known[index].body, readings)?;
        Some(Likeness { cosine: cosine_of(index), ..like(index, &found) })
    };
    let of_target = target.map(read).filter(|like| like.verdict != Verdict::Different);
    if let Some(found) = of_target.or_else(|| target.and_then(clash)) {
        return Some(found);
    }
    let worded = nearest(target, content, known).into_iter().filter_map(|index| {
        let found = text.compare_if_like(&readings.read(known[index].body))?;
        Some(Likeness { cosine: cosine_of(index), ..like(index, &found) })
    });
    let by_words = worded.max_by(|a, b| rank(a).cmp(&rank(b)).then(a.similarity.total_cmp(&b.similarity)));
    by_words.or_else(|| {
        let mut near: Vec<Likeness> = by_meaning(target, known.len(), neighbours, bands)
            .into_iter()
            .map(|near| Likeness { similarity: near.cosine, verdict: Verdict::Different, ..read(near.index) })
            .collect();
        let one = near.iter().position(|like| !names_two_things(&like.differences));
        (!near.is_empty()).then(|| near.swap_remove(one.unwrap_or(0)))
    })
}

/// Most sections near in meaning that are looked at.
const MOST_NEAR: usize = 4;

/// The sections that are near in meaning, the nearest first; the target before others where a fusion is to be asked for.
fn by_meaning(
    target: Option<usize>,
    count: usize,
    neighbours: &[Neighbour],
    bands: &Bands,
) -> Vec<Neighbour> {
    let is_near = |near: &&Neighbour| near.index < count && near.cosine >= bands.merge;
    let mut near: Vec<Neighbour> = neighbours.iter().filter(is_near).copied().collect();
    let is_first = |near: &Neighbour| Some(near.index) == target && near.cosine >= bands.fuse;
    near.sort_by(|a, b| is_first(b).cmp(&is_first(a)).then(b.cosine.total_cmp(&a.cosine)));
    near.truncate(MOST_NEAR);
    near
}

/// The share of words in common from which on a section is compared in full. A text that stands whole in one four times as
/// long shares .4 of all their words with it.
const LEAST_SHARE: f64 = 0.2;

/// Most sections beside the target that are compared in full.
const MOST_COMPARED: usize = 12;

/// The sections that share most words with the text, those of quite another length left out.
fn nearest(target: Option<usize>, content: &str, known: &[Known<'_>]) -> Vec<usize> {
    let words = Words::of(content);
    let is_other = |index: &usize| Some(*index) != target && is_comparable(content, known[*index].body);
    let shares = (0..known.len()).filter(is_other).map(|index| (index, words.shared_with(known[index].body)));
    let mut near: Vec<(usize, f64)> = shares.filter(|(_, share)| *share >= LEAST_SHARE).collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    near.truncate(MOST_COMPARED);
    near.into_iter().map(|(index, _)| index).collect()
}

/// Whether two texts are of about the same length: with four times as many words, one says more than the other.
fn is_comparable(a: &str, b: &str) -> bool {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    short > 0 && long / short < 4
}

fn like(index: usize, found: &Comparison) -> Likeness {
    let Comparison { similarity, verdict, differences, .. } = found.clone();
    Likeness { index, similarity, cosine: None, verdict, differences }
}

fn rank(like: &Likeness) -> u8 {
    match like.verdict {
        Verdict::Same => 3,
        Verdict::NearDuplicate => 2,
        Verdict::ChangedValue | Verdict::Opposed => 1,
        Verdict::Different => 0,
    }
}
