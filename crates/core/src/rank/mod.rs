//! Scoring: BM25, fusion, structure, floor, collapse. Pure and deterministic: equal parts give equal
//! rankings, whichever way their index was built.
//!
//! One call of [`rank()`] ranks the passages of one or more collections against one analysed query:
//! 1. BM25 of every lexical hit, and all else for the best of them and what is near them; document counts and average lengths are sums over exactly the given parts;
//! 2. per-query normalisation: BM25 over its best visible value, cosine from its least to its best;
//! 3. structure where it exists: neighbours, group (session, document), owner, date, kind of question;
//! 4. small bounded signals that only part near-equals;
//! 5. the floor, from evidence that does not depend on the other passages' scores;
//! 6. near-duplicate collapse and soft diversity.

mod candidates;
mod columns;
mod corpus;
mod dense;
mod evidence;
mod lexical;
mod score;
mod select;
mod settings;

pub use self::{
    columns::{Columns, ColumnsBuilder, Flags, NO_TIME, NONE, Row},
    corpus::{Corpus, Item},
    evidence::{Evidence, Floor},
    score::Components,
    settings::{Diversity, Fusion, RrfBoosts, Settings, Weights},
};

use self::{dense::Dense, lexical::Lexical, score::Scorer};
use crate::analysis::Query;

/// The postings of one query term in one part: ascending slots of live passages and the term's frequency
/// in each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermPostings {
    /// Ascending slots.
    pub slots: Vec<u32>,
    /// Frequencies, one per slot, at least 1.
    pub frequencies: Vec<u32>,
}

/// One collection as a query sees it.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The collection's columns.
    pub columns: &'a Columns,
    /// One entry per term of the query, in the query's order.
    pub postings: &'a [TermPostings],
    /// Cosine of the query with each slot's vector; NaN where there is none. `None` when semantic search
    /// is off or the collection has no vectors.
    pub cosines: Option<&'a [f32]>,
    /// For each owner number of the columns, the person's number in
    /// [`crate::analysis::QueryContext::people`], or [`NONE`].
    pub people: &'a [u32],
}

/// Where a hit lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Index into the given parts.
    pub part: usize,
    /// Slot in that part.
    pub slot: u32,
}

/// One result with everything needed to explain it.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Where it lies.
    pub place: Place,
    /// The score it was ranked by; comparable within this ranking only.
    pub score: f32,
    /// What the score is the sum of.
    pub components: Components,
    /// Raw BM25.
    pub bm25: f32,
    /// Rank among the visible lexical hits, from 1; `None` when no query term occurs, or past the 2048th.
    pub lexical_rank: Option<u32>,
    /// Rank by cosine among the visible passages, from 1; `None` without a vector, or past the 50th.
    pub dense_rank: Option<u32>,
    /// Absolute evidence, comparable between queries.
    pub evidence: Evidence,
    /// Near-duplicates that were collapsed into this hit, best first.
    pub duplicates: Vec<Place>,
}

/// Why a good candidate was not returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// Its evidence is below the floor.
    Floor,
    /// It came after the last result.
    Limit,
}

/// The outcome of one query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranking {
    /// Best first, at most as many as asked for.
    pub hits: Vec<Hit>,
    /// The best candidates that were not returned, and why; at most [`NEAR_MISSES`].
    pub near_misses: Vec<(Hit, Missed)>,
    /// Visible passages in which a query term occurs.
    pub lexical_hits: u32,
    /// Passages that were scored.
    pub scored: u32,
    /// Live passages in the given parts.
    pub passages: u32,
}

/// Most near misses reported.
pub const NEAR_MISSES: usize = 5;

/// Ranks the passages of `parts`, of which only those that are `visible(part index, slot)` may be returned:
/// filters restrict what can be a hit, never the statistics.
///
/// A part whose postings do not match the query's terms, or whose cosines do not match its columns, is
/// scored by what there is.
pub fn rank(
    query: &Query,
    parts: &[Part<'_>],
    visible: &dyn Fn(usize, u32) -> bool,
    settings: &Settings,
    limit: usize,
) -> Ranking {
    let lexical = Lexical::of(query, parts, visible);
    let dense = Dense::of(query, parts, visible, settings);
    let mut scorer = Scorer::new(query, parts, &lexical, &dense, settings);
    let candidates = scorer.candidates(visible);
    let ranked = scorer.best(&candidates, limit);
    let hits = ranked.into_iter().map(|(place, score)| scorer.explain(place, score)).collect();
    let mut ranking = select::select(hits, query, parts, settings, limit);
    ranking.lexical_hits = u32::try_from(lexical.hits.len()).unwrap_or(u32::MAX);
    ranking.scored = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
    ranking.passages = lexical.passages;
    scorer.add_ranks(&mut ranking);
    ranking
}
