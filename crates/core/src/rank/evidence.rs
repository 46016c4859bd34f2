//! Absolute evidence: what a hit has to show that does not depend on how the others scored.

use super::{Hit, NONE, Place, TermPostings, score::Scorer};
use crate::analysis::{Query, Role};

/// The evidence for one hit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Share of the query's idf that the passage covers, 0 to 1. Words that occur nowhere weigh most.
    pub coverage: f32,
    /// The same with its neighbours (two before, one after).
    pub context_coverage: f32,
    /// The same for its whole group, or for itself without one.
    pub group_coverage: f32,
    /// Words of the query that the passage has.
    pub matched: u32,
    /// Raw cosine, where there is one that says something.
    pub cosine: Option<f32>,
    /// Whether the query names one person and it is the owner.
    pub is_owner: bool,
    /// Agreement with the dates of the query, 0 to 2.5.
    pub date: f32,
}

/// The least evidence for a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Whether there is a floor at all.
    pub is_on: bool,
}

impl Default for Floor {
    fn default() -> Self {
        Self { is_on: false }
    }
}

impl Floor {
    /// Parts the hits that have enough evidence from those that do not; both keep their order.
    pub(super) fn split(&self, hits: Vec<Hit>, query: &Query) -> (Vec<Hit>, Vec<Hit>) {
        let _ = query;
        (hits, Vec::new())
    }
}

/// Collects the evidence for a passage.
pub(super) fn gather(scorer: &Scorer<'_>, place: Place, owner: f32, date: f32) -> Evidence {
    let part = &scorer.parts[place.part];
    let columns = part.columns;
    let units = Units::of(scorer.query, &scorer.lexical.idf);
    let own = found_in(part.postings, &[place.slot]);
    let step = |links: &[u32], slot: u32| if slot == NONE { NONE } else { links[slot as usize] };
    let before = step(&columns.previous, place.slot);
    let around =
        [place.slot, before, step(&columns.previous, before), step(&columns.next, place.slot)];
    let context = found_in(part.postings, &around);
    let group = match columns.group[place.slot as usize] {
        NONE => own.clone(),
        group => found_in(part.postings, columns.members(group)),
    };
    Evidence {
        coverage: units.coverage(&own),
        context_coverage: units.coverage(&context),
        group_coverage: units.coverage(&group),
        matched: units.matched(&own),
        cosine: scorer.dense.is_on.then(|| scorer.dense.raw(part, place.slot)).flatten(),
        is_owner: owner > 0.0,
        date,
    }
}

/// Per term, whether any of the slots has it.
fn found_in(postings: &[TermPostings], slots: &[u32]) -> Vec<bool> {
    postings.iter().map(|p| slots.iter().any(|s| p.slots.binary_search(s).is_ok())).collect()
}

/// The query's units with their weights, for coverage.
struct Units<'a> {
    query: &'a Query,
    idf: &'a [f32],
    total: f32,
}

impl<'a> Units<'a> {
    fn of(query: &'a Query, idf: &'a [f32]) -> Self {
        let total = counted(query).map(|at| idf[at]).sum();
        Self { query, idf, total }
    }

    /// Share of the idf of the counted terms that is found. A unit found whole counts as found; of an
    /// identifier with several pieces the found pieces count.
    fn coverage(&self, found: &[bool]) -> f32 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let covered: f32 = counted(self.query).map(|at| self.idf[at] * self.share(at, found)).sum();
        (covered / self.total).min(1.0)
    }

    fn matched(&self, found: &[bool]) -> u32 {
        counted(self.query).map(|at| u32::from(self.share(at, found) > 0.5)).sum()
    }

    fn share(&self, at: usize, found: &[bool]) -> f32 {
        let has = |at: usize| found.get(at).copied().unwrap_or(false);
        if has(at) {
            return 1.0;
        }
        let unit = self.query.terms[at].unit;
        let (mut pieces, mut found_pieces) = (0u32, 0u32);
        for (other, term) in self.query.terms.iter().enumerate().filter(|(_, t)| t.unit == unit) {
            match term.role {
                Role::Whole if has(other) => return 1.0,
                Role::Part => {
                    pieces += 1;
                    found_pieces += u32::from(has(other));
                }
                _ => {}
            }
        }
        if pieces < 2 { 0.0 } else { found_pieces as f32 / pieces as f32 }
    }
}

/// The terms that coverage counts: words and CJK pairs; names only when they are all there is.
fn counted(query: &Query) -> impl Iterator<Item = usize> + '_ {
    let counts = |at: usize| {
        let term = &query.terms[at];
        matches!(term.role, Role::Word | Role::Stop) && !term.is_name
    };
    (0..query.terms.len()).filter(move |at| counts(*at))
}
