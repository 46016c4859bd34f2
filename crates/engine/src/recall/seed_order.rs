//! The last steps of p-layer's orders, which need the truth behind a hit: what its time to live adds, the order of
//! equals, and the spread over kinds.

use std::{cmp::Ordering, collections::HashMap};

use serde::Serialize;
use strata_core::time::{DAY, Timestamp};

use super::{
    item::Item,
    search::{Hit, Outcome},
};
use crate::{
    render::rounded,
    settings::{Fusion, Recall},
};

/// How many times as many hits as asked for are chosen from.
pub(super) const CHOICE: usize = 3;

/// Results of one kind before those of others have had their turn.
const OF_A_KIND: usize = 3;

/// What full freshness adds to an older score, as a share of it.
const FRESHNESS: f64 = 0.3;

/// How a score came about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rerank {
    /// The score, to 6 digits (`legacy`: 4).
    pub score: f64,
    /// The sum of the reciprocal ranks, to 4 digits.
    pub rrf: f64,
    /// What was added to it; `None` under `legacy`.
    pub boosts: Option<Boosts>,
    /// What the hits are ordered by.
    key: (f64, f64),
}

/// What a score is the sum of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Boosts {
    /// The sum of the reciprocal ranks, to 4 digits.
    pub rrf: f64,
    /// For confidence, to 6 digits.
    pub confidence_boost: f64,
    /// For being new, to 6 digits.
    pub recency_boost: f64,
    /// For the time left to live, to 6 digits.
    pub ttl_boost: f64,
}

/// Puts the hits into p-layer's order and takes `limit` of them.
pub(super) fn arrange(mut outcome: Outcome, config: &Recall, now: Timestamp, limit: usize) -> Outcome {
    for hit in &mut outcome.hits {
        hit.rerank = Some(rerank(hit, config, now));
    }
    // The sort is stable: what is equal stays in the order of the ranking.
    outcome.hits.sort_by(better);
    let kinds = outcome.hits.iter().map(|hit| kind(hit).to_owned()).collect::<Vec<_>>();
    let order = spread(&kinds, limit);
    outcome.has_more |= order.len() < outcome.hits.len();
    let mut hits: Vec<Option<Hit>> = outcome.hits.into_iter().map(Some).collect();
    outcome.hits = order.into_iter().filter_map(|at| hits[at].take()).collect();
    outcome
}

fn rerank(hit: &Hit, config: &Recall, now: Timestamp) -> Rerank {
    let components = &hit.found.hit.components;
    let [rrf, confidence, recency] =
        [components.rrf, components.confidence_boost, components.recency_boost].map(f64::from);
    let left = time_left(&hit.item, now);
    if config.fusion == Fusion::Legacy {
        let key = (rrf + confidence) * (1.0 + FRESHNESS * left);
        return Rerank { score: rounded(key, 4), rrf: rounded(rrf, 4), boosts: None, key: (key, 0.0) };
    }
    let ttl = left * f64::from(config.recency_gain);
    let score = rounded(rrf + confidence + recency + ttl, 6);
    let boosts = Boosts {
        rrf: rounded(rrf, 4),
        confidence_boost: rounded(confidence, 6),
        recency_boost: rounded(recency, 6),
        ttl_boost: rounded(ttl, 6),
    };
    Rerank { score, rrf: boosts.rrf, boosts: Some(boosts), key: (score, rrf) }
}

/// The share of a memory's time to live that is left: 1 when it was just stored, 0 at its end and without one.
fn time_left(item: &Item, now: Timestamp) -> f64 {
    let Item::Memory(memory) = item else { return 0.0 };
    let begun = memory.valid_from.unwrap_or(memory.created_at);
    let Some(ends) = memory.valid_to.filter(|ends| *ends > begun) else { return 0.0 };
    let days = |from: Timestamp, to: Timestamp| to.0.saturating_sub(from.0) as f64 / DAY as f64;
    let age = days(memory.created_at, now).max(0.0);
    (1.0 - age / days(begun, ends)).clamp(0.0, 1.0)
}

/// Best first; equals by their number.
fn better(a: &Hit, b: &Hit) -> Ordering {
    let key = |hit: &Hit| hit.rerank.map_or((0.0, 0.0), |rerank| rerank.key);
    let (first, second) = (key(a), key(b));
    let by_score = second.0.total_cmp(&first.0).then(second.1.total_cmp(&first.1));
    let number = |hit: &Hit| if let Item::Memory(m) = &hit.item { m.number } else { i64::MAX };
    by_score.then_with(|| number(a).cmp(&number(b)))
}

fn kind(hit: &Hit) -> &str {
    &hit.found.kind
}

/// Which `limit` to take, in order: at most [`OF_A_KIND`] of each kind first, then whatever was passed over. Where
/// there is one kind only, nothing is passed over.
fn spread(kinds: &[String], limit: usize) -> Vec<usize> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let (mut taken, mut passed) = (Vec::new(), Vec::new());
    for (at, kind) in kinds.iter().enumerate() {
        let count = counts.entry(kind).or_default();
        *count += 1;
        if *count <= OF_A_KIND { taken.push(at) } else { passed.push(at) }
    }
    if counts.len() < 2 {
        return (0..kinds.len().min(limit)).collect();
    }
    taken.extend(passed);
    taken.truncate(limit);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_of(kinds: &str, limit: usize) -> Vec<usize> {
        let kinds: Vec<String> = kinds.chars().map(String::from).collect();
        spread(&kinds, limit)
    }

    #[test]
    fn each_kind_has_its_turn_and_no_place_stays_empty() {
        assert_eq!(spread_of("ppppppffff", 10), [0, 1, 2, 6, 7, 8, 3, 4, 5, 9]);
        assert_eq!(spread_of("ppppppffff", 4), [0, 1, 2, 6]);
        assert_eq!(spread_of("ppppp", 4), [0, 1, 2, 3]);
        assert_eq!(spread_of("fffffd", 5), [0, 1, 2, 5, 3]);
        assert!(spread_of("", 5).is_empty());
    }
}
