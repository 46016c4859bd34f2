//! From the scored list to the results: floor, near-duplicate collapse, soft spread over sources.

use super::{Hit, Missed, NEAR_MISSES, Part, Place, Ranking, settings::Settings};
use crate::analysis::Query;

/// Chooses the results from hits sorted best first.
pub(super) fn select(
    hits: Vec<Hit>,
    query: &Query,
    parts: &[Part<'_>],
    settings: &Settings,
    limit: usize,
) -> Ranking {
    let (kept, below) = settings.floor.split(hits, query, limit);
    let kept = if settings.collapse { collapse(kept, parts) } else { kept };
    let (results, rest) = spread(kept, parts, settings, limit);
    let mut near_misses: Vec<(Hit, Missed)> = rest
        .into_iter()
        .map(|h| (h, Missed::Limit))
        .chain(below.into_iter().map(|h| (h, Missed::Floor)))
        .collect();
    near_misses.truncate(NEAR_MISSES);
    Ranking { hits: results, near_misses, ..Ranking::default() }
}

/// Folds near-duplicates of the same owner into the best of them.
fn collapse(hits: Vec<Hit>, parts: &[Part<'_>]) -> Vec<Hit> {
    let of = |place: Place| {
        let columns = parts[place.part].columns;
        let slot = place.slot as usize;
        (columns.fingerprint[slot], columns.owner[slot], columns.length[slot])
    };
    let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        let (print, owner, length) = of(hit.place);
        let twin = kept.iter_mut().find(|k| {
            let (other, other_owner, other_length) = of(k.place);
            length > 0
                && owner == other_owner
                && length.abs_diff(other_length) <= 1 + length / 8
                && print.is_near(other)
        });
        match twin {
            Some(better) => better.duplicates.push(hit.place),
            None => kept.push(hit),
        }
    }
    kept
}

/// Takes the best `limit`, but holds back hits of a source that has its share while others are nearly as
/// good. What was held back fills the rest, so there are never fewer results than candidates allow.
fn spread(hits: Vec<Hit>, parts: &[Part<'_>], settings: &Settings, limit: usize) -> (Vec<Hit>, Vec<Hit>) {
    let source = |hit: &Hit| parts[hit.place.part].columns.source[hit.place.slot as usize];
    let share = (settings.diversity.largest_share.clamp(0.0, 1.0) * limit as f32).ceil() as usize;
    let mut counts = [0usize; 256];
    let mut chosen = vec![false; hits.len()];
    let mut taken = 0;
    for at in 0..hits.len() {
        if taken == limit {
            break;
        }
        if chosen[at] {
            continue;
        }
        let mut pick = at;
        if counts[usize::from(source(&hits[at]))] >= share.max(1) {
            let least = settings.diversity.least_ratio * hits[at].score;
            let other = (at + 1..hits.len())
                .take_while(|o| hits[*o].score >= least)
                .find(|o| !chosen[*o] && counts[usize::from(source(&hits[*o]))] < share.max(1));
            pick = other.unwrap_or(at);
        }
        chosen[pick] = true;
        counts[usize::from(source(&hits[pick]))] += 1;
        taken += 1;
    }
    let (mut results, mut rest) = (Vec::with_capacity(taken), Vec::new());
    for (hit, chosen) in hits.into_iter().zip(chosen) {
        if chosen { results.push(hit) } else { rest.push(hit) }
    }
    (results, rest)
}
