//! Which passages are scored in full.

use super::{
    Hit, Missed, NO_TIME, NONE, Part, Place, Ranking,
    score::{Scorer, order},
    settings::Fusion,
};

/// Lexical hits that are scored in full; of a longer list, the best by BM25. Results come from the first
/// hundreds, so the rest costs time and changes nothing.
const SCORED_HITS: usize = 2048;

/// Lexical hits whose neighbours are looked at too.
const NEIGHBOUR_HITS: usize = 100;

/// Groups of which every passage is looked at.
const BEST_GROUPS: usize = 3;

/// Longest group of which every passage is looked at; a longer one gives its hits only.
const LONG_GROUP: usize = 512;

/// Passages that a named date alone proposes.
const DATED: usize = 200;

/// The best lexical hits, best first.
pub(super) fn best_hits(parts: &[Part<'_>], hits: &[(f32, Place)]) -> Vec<(f32, Place)> {
    best(parts, hits.to_vec(), SCORED_HITS)
}

/// The best `count`, best first.
fn best(parts: &[Part<'_>], mut scored: Vec<(f32, Place)>, count: usize) -> Vec<(f32, Place)> {
    if scored.len() > count {
        scored.select_nth_unstable_by(count, |a, b| order(parts, a, b));
        scored.truncate(count);
    }
    scored.sort_unstable_by(|a, b| order(parts, a, b));
    scored
}

impl Scorer<'_> {
    /// The best lexical hits, the best by cosine, the neighbours of the best, the passages of the best groups,
    /// and passages of a named date.
    pub(super) fn candidates(&mut self, visible: &dyn Fn(usize, u32) -> bool) -> Vec<Place> {
        let mut seen: Vec<Vec<bool>> = self.parts.iter().map(|p| vec![false; p.columns.slots()]).collect();
        let mut found: Vec<Place> = Vec::with_capacity(self.best_lexical.len());
        let mut add = |place: Place, is_visible: bool| {
            let seen = &mut seen[place.part][place.slot as usize];
            if !*seen {
                *seen = true;
                if is_visible || visible(place.part, place.slot) {
                    found.push(place);
                }
            }
        };
        self.best_lexical.iter().for_each(|(_, place)| add(*place, true));
        self.dense.proposed.iter().for_each(|place| add(*place, true));
        if self.settings.fusion == Fusion::Convex {
            self.neighbourhood().into_iter().for_each(|place| add(place, false));
            self.group_members().into_iter().for_each(|place| add(place, false));
            self.dated().into_iter().for_each(|place| add(place, false));
        }
        found
    }

    fn neighbourhood(&self) -> Vec<Place> {
        let lexical = self.best_lexical.iter().take(NEIGHBOUR_HITS).map(|(_, place)| *place);
        let mut around = Vec::new();
        for place in lexical.chain(self.dense.proposed.iter().copied()) {
            let at = |slot: u32| (slot != NONE).then_some(Place { part: place.part, slot });
            let next = self.next(place);
            around.extend(at(self.previous(place)).into_iter().chain(at(next)));
            around.extend(at(next).and_then(|n| at(self.next(n))));
        }
        around
    }

    fn group_members(&self) -> Vec<Place> {
        let mut best: Vec<(f32, u64, usize, u32)> = Vec::new();
        for (part, scores) in self.lexical.group_scores.iter().enumerate() {
            let columns = self.parts[part].columns;
            for (group, score) in (0u32..).zip(scores) {
                if *score > 0.0 && (best.len() < BEST_GROUPS || *score >= best[BEST_GROUPS - 1].0) {
                    let stable = columns.members(group).iter().map(|s| columns.stable[*s as usize]);
                    best.push((*score, stable.min().unwrap_or(u64::MAX), part, group));
                    best.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                    best.truncate(BEST_GROUPS);
                }
            }
        }
        let members = |(_, _, part, group): (f32, u64, usize, u32)| {
            let members = self.parts[part].columns.members(group);
            let taken = if members.len() > LONG_GROUP { &[] } else { members };
            taken.iter().map(move |slot| Place { part, slot: *slot })
        };
        best.into_iter().flat_map(members).collect()
    }

    fn dated(&mut self) -> Vec<Place> {
        if self.query.dates.is_empty() {
            return Vec::new();
        }
        let mut dated: Vec<(f32, Place)> = Vec::new();
        for (part, columns) in self.parts.iter().map(|p| p.columns).enumerate() {
            for (slot, at) in (0u32..).zip(&columns.at) {
                let score = if *at == NO_TIME { 0.0 } else { self.dates.score(*at) };
                if score >= 1.0 {
                    dated.push((score, Place { part, slot }));
                }
            }
        }
        best(self.parts, dated, DATED).into_iter().map(|(_, place)| place).collect()
    }

    /// Fills in the ranks per leg of what is returned.
    pub(super) fn add_ranks(&self, ranking: &mut Ranking) {
        let misses = ranking.near_misses.iter_mut().map(|(hit, _): &mut (Hit, Missed)| hit);
        for hit in ranking.hits.iter_mut().chain(misses) {
            let lexical = self.best_lexical.iter().position(|(_, place)| *place == hit.place);
            let dense = self.dense.proposed.iter().position(|place| *place == hit.place);
            let rank = |at: Option<usize>| at.and_then(|at| u32::try_from(at + 1).ok());
            (hit.lexical_rank, hit.dense_rank) = (rank(lexical), rank(dense));
        }
    }
}
