//! Absolute evidence: what a hit has to show that does not depend on how the others scored.

use std::collections::HashMap;

use super::{Hit, NONE, Part, Place, TermPostings, lexical::Lexical, score::Scorer};
use crate::analysis::{Query, Role, Term};

/// The evidence for one hit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Share of the query's idf that the passage covers, 0 to 1. Words that occur nowhere weigh most.
    pub coverage: f32,
    /// The same with its neighbours (two before, one after).
    pub context_coverage: f32,
    /// The same for its whole group, or for itself without one.
    pub group_coverage: f32,
    /// Of a query that is only partly in Latin letters: the share of its Latin words' idf that the passage covers;
    /// else 0.
    pub names: f32,
    /// Words of the query that the passage has.
    pub matched: u32,
    /// Raw cosine, where there is one that says something.
    pub cosine: Option<f32>,
    /// Whether its owner is the person that the query names first.
    pub is_owner: bool,
    /// Agreement with the dates of the query, 0 to 2.5.
    pub date: f32,
    /// Whether it is of the date that the query names: of the day (or up to two days after it) when a day is
    /// named, else of the month or year.
    pub is_dated: bool,
}

/// The least evidence for a result.
///
/// A query is answered when its best hit has enough evidence; then every hit with a trace of evidence of its
/// own stands, for passages that share no word with the question are found through their neighbours, their
/// group, their owner or their time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Whether there is a floor at all.
    pub is_on: bool,
    /// Least evidence of the best hit when there are no cosines, for queries in scripts with words.
    pub keyword: f32,
    /// The same for queries that are mostly Han, kana or hangul: pairs across word borders never match, so a
    /// good hit covers less.
    pub keyword_cjk: f32,
    /// Least evidence of the best hit when there are cosines.
    pub fused: f32,
    /// What the best cosine counts at most.
    pub cosine: f32,
    /// The cosine of the model that counts nothing.
    pub cosine_low: f32,
    /// The cosine of the model that counts in full.
    pub cosine_high: f32,
    /// What it counts to be by the person named.
    pub owner: f32,
    /// What it counts to be of the date named.
    pub date: f32,
    /// The share of the least evidence that every further hit needs.
    pub further: f32,
    /// Whether a query that is only partly in Latin letters is also answered by its Latin words alone. Code is in
    /// Latin letters: of a task in Chinese it can have no more than the names.
    pub by_names: bool,
}

impl Default for Floor {
    fn default() -> Self {
        Self {
            is_on: true,
            keyword: 0.29,
            keyword_cjk: 0.24,
            fused: 0.45,
            cosine: 0.5,
            cosine_low: 0.3,
            cosine_high: 0.8,
            owner: 0.25,
            date: 0.3,
            further: 0.25,
            by_names: false,
        }
    }
}

impl Floor {
    /// No floor: whatever was scored may be returned.
    pub const OFF: Self = Self {
        is_on: false,
        keyword: 0.0,
        keyword_cjk: 0.0,
        fused: 0.0,
        cosine: 0.0,
        cosine_low: 0.0,
        cosine_high: 1.0,
        owner: 0.0,
        date: 0.0,
        further: 0.0,
        by_names: false,
    };

    /// The evidence in one number.
    pub fn strength(&self, evidence: &Evidence) -> f32 {
        let span = (self.cosine_high - self.cosine_low).max(f32::EPSILON);
        let cosine = evidence.cosine.map_or(0.0, |c| ((c - self.cosine_low) / span).clamp(0.0, 1.0));
        let text = 0.5 * evidence.coverage + 0.3 * evidence.context_coverage + 0.2 * evidence.group_coverage;
        let text = if self.by_names { text.max(evidence.names) } else { text };
        text + self.cosine * cosine
            + if evidence.is_owner { self.owner } else { 0.0 }
            + if evidence.is_dated { self.date } else { 0.0 }
    }

    /// The least evidence that a query needs of its best hit.
    fn least(&self, evidence: &Evidence, query: &Query) -> f32 {
        let least = match evidence.cosine {
            Some(_) => self.fused,
            None if query.is_mostly_cjk() => self.keyword_cjk,
            None => self.keyword,
        };
        let is_brief = !query.is_mostly_cjk() && counted(query).count() <= BRIEF_WORDS;
        if is_brief { BRIEF * least } else { least }
    }

    /// Parts the hits that have enough evidence from those that do not; both keep their order.
    pub(super) fn split(&self, hits: Vec<Hit>, query: &Query, limit: usize) -> (Vec<Hit>, Vec<Hit>) {
        if !self.is_on {
            return (hits, Vec::new());
        }
        let share = |hit: &Hit| self.strength(&hit.evidence) / self.least(&hit.evidence, query);
        let is_answered = hits.iter().take(limit.max(10)).any(|h| share(h) >= 1.0);
        hits.into_iter().partition(|h| is_answered && share(h) >= self.further)
    }
}

/// Collects the evidence for a passage.
pub(super) fn gather(scorer: &mut Scorer<'_>, place: Place, owner: f32, date: f32) -> Evidence {
    let part = scorer.parts[place.part];
    let columns = part.columns;
    let units = Units::of(scorer.query, scorer.lexical);
    let own = found_in(part.postings, &[place.slot]);
    let step = |links: &[u32], slot: u32| if slot == NONE { NONE } else { links[slot as usize] };
    let before = step(&columns.previous, place.slot);
    let around = [place.slot, before, step(&columns.previous, before), step(&columns.next, place.slot)];
    let context = found_in(part.postings, &around);
    let group_coverage = match columns.group[place.slot as usize] {
        NONE => units.coverage(&own),
        group => *scorer
            .groups
            .0
            .entry((place.part, group))
            .or_insert_with(|| units.coverage(&found_in_group(&part, group))),
    };
    Evidence {
        coverage: units.coverage(&own),
        context_coverage: units.coverage(&context),
        group_coverage,
        names: units.names(&own),
        matched: units.matched(&own),
        cosine: scorer.dense.is_on.then(|| scorer.dense.raw(&part, place.slot)).flatten(),
        is_owner: owner > 0.0,
        date,
        is_dated: date >= if scorer.query.dates.names_a_day() { 2.0 } else { 1.0 },
    }
}

/// Per term, whether any of the slots has it.
fn found_in(postings: &[TermPostings], slots: &[u32]) -> Vec<bool> {
    postings.iter().map(|p| slots.iter().any(|s| p.slots.binary_search(s).is_ok())).collect()
}

/// The coverage of the groups met so far.
#[derive(Debug, Default)]
pub(super) struct GroupMemory(HashMap<(usize, u32), f32>);

/// Per term, whether any passage of the group has it. Walks the shorter of the group and the postings
/// between its first and its last slot.
fn found_in_group(part: &Part<'_>, group: u32) -> Vec<bool> {
    let members = part.columns.members(group);
    let (Some(first), Some(last)) = (members.first(), members.last()) else {
        return vec![false; part.postings.len()];
    };
    let has = |postings: &TermPostings| {
        let from = postings.slots.partition_point(|s| s < first);
        let to = postings.slots.partition_point(|s| s <= last);
        let between = postings.slots.get(from..to).unwrap_or_default();
        if between.len() > 8 * members.len() {
            members.iter().any(|s| between.binary_search(s).is_ok())
        } else {
            between.iter().any(|s| part.columns.group.get(*s as usize) == Some(&group))
        }
    };
    part.postings.iter().map(has).collect()
}

/// The query's units with their weights, for coverage.
struct Units<'a> {
    query: &'a Query,
    weights: Vec<f32>,
    total: f32,
    /// The weight of the words in Latin letters beside others, at least that of one word: what stands everywhere is
    /// no answer, though it be all the Latin that there is. `None` where all words are in one script.
    named: Option<f32>,
}

/// Words up to which a query is brief.
const BRIEF_WORDS: usize = 2;

/// The share of the least evidence that a brief query needs: where one of two words is found, the other is as
/// likely another word for the same thing ("payment provider") as another thing.
const BRIEF: f32 = 0.85;

/// Words beyond which a longer query asks for no more evidence; twice as many CJK pairs.
const MOST_WORDS: f32 = 6.0;

/// Weight of a CJK pair that occurs nowhere: it is mostly a word border, not a word.
const UNKNOWN_PAIR: f32 = 0.5;

impl<'a> Units<'a> {
    fn of(query: &'a Query, lexical: &Lexical) -> Self {
        let weigh = |(idf, term): (&f32, &Term)| {
            let is_unknown_pair =
                *idf >= lexical.unknown_idf && !term.text.is_ascii() && term.text.chars().nth(2).is_none();
            if is_unknown_pair { UNKNOWN_PAIR * idf } else { *idf }
        };
        let weights: Vec<f32> = lexical.evidence_idf.iter().zip(&query.terms).map(weigh).collect();
        let total: f32 = counted(query).map(|at| weights[at]).sum();
        let most = MOST_WORDS * (1.0 + query.cjk_share) * lexical.unknown_idf;
        let named: f32 = names(query).map(|at| weights[at]).sum();
        let named = query.is_of_two_scripts().then_some(named.max(lexical.unknown_idf));
        Self { query, weights, total: total.min(most), named }
    }

    /// Share of the idf of the counted terms that is found. A unit found whole counts as found; of an
    /// identifier with several pieces the found pieces count.
    fn coverage(&self, found: &[bool]) -> f32 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let covered: f32 = counted(self.query).map(|at| self.weights[at] * self.share(at, found)).sum();
        (covered / self.total).min(1.0)
    }

    /// The same of the words in Latin letters alone, where there are others.
    fn names(&self, found: &[bool]) -> f32 {
        let Some(total) = self.named.filter(|total| *total > 0.0) else { return 0.0 };
        let covered: f32 = names(self.query).map(|at| self.weights[at] * self.share(at, found)).sum();
        (covered / total).min(1.0)
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

/// Those of them that are in Latin letters.
fn names(query: &Query) -> impl Iterator<Item = usize> + '_ {
    counted(query).filter(|at| query.terms[*at].is_latin())
}
