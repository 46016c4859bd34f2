//! What ranking can be set to. One set of defaults serves every kind of data.

use super::evidence::Floor;

/// How a query is ranked.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How the legs are put together.
    pub fusion: Fusion,
    /// The weights of the convex fusion.
    pub weights: Weights,
    /// Whether the embedding model knows English only: then cosines say nothing of mostly-CJK queries and
    /// passages and are left out for them.
    pub english_only_model: bool,
    /// The least evidence for a result.
    pub floor: Floor,
    /// Whether near-duplicates of a better hit are folded into it.
    pub collapse: bool,
    /// Spread of results over sources.
    pub diversity: Diversity,
    /// Now, in microseconds UTC, for the recency signal; `None` leaves the signal out.
    pub now: Option<i64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            fusion: Fusion::Convex,
            weights: Weights::default(),
            english_only_model: true,
            floor: Floor::default(),
            collapse: true,
            diversity: Diversity::default(),
            now: None,
        }
    }
}

/// How the lexical and the dense leg are put together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fusion {
    /// Per-query normalised convex combination with structure: the default, and measurably the better.
    Convex,
    /// Reciprocal rank fusion, sum of 1/(k + rank) over the legs, for callers whose documented numbers
    /// depend on it. Structure and signals are left out.
    Rrf {
        /// The constant k, usually 60.
        k: f32,
        /// What is added to the fused score.
        boosts: RrfBoosts,
    },
    /// Reciprocal rank fusion times 0.5 + 0.5 x confidence: the order before there were boosts.
    Legacy {
        /// The constant k, usually 60.
        k: f32,
    },
}

/// Additive boosts of reciprocal rank fusion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RrfBoosts {
    /// Weight of confidence minus `confidence_center`.
    pub confidence_gain: f32,
    /// The confidence that is neither a boost nor a malus.
    pub confidence_center: f32,
    /// Boost of a passage written now.
    pub recency_gain: f32,
    /// Days in which the recency boost falls to 0, in a straight line.
    pub recency_window_days: f32,
}

impl Default for RrfBoosts {
    fn default() -> Self {
        Self {
            confidence_gain: 0.0005,
            confidence_center: 0.5,
            recency_gain: 0.0002,
            recency_window_days: 30.0,
        }
    }
}

/// Weights of the convex fusion. `b` is BM25 over the best visible BM25 of the query, `c` the cosine scaled
/// from the least to the best of the query; both lie between 0 and 1.
///
/// The structure weights are about half of what was fitted on chat alone, so that sentences of documents,
/// facts and code are served by the same numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// `b` of the passage.
    pub lexical: f32,
    /// `c` of the passage.
    pub dense: f32,
    /// `b` of the passage when there are no cosines.
    pub lexical_alone: f32,
    /// `b` of a code passage, in place of `lexical`.
    pub code_lexical: f32,
    /// `c` of a code passage, in place of `dense`.
    pub code_dense: f32,
    /// `b` of the passage before it.
    pub previous: f32,
    /// `b` of the passage two before it.
    pub second_previous: f32,
    /// `b` of the passage after it.
    pub next: f32,
    /// `c` of the passage after it.
    pub next_dense: f32,
    /// The best `b` of its group.
    pub group_best: f32,
    /// `b` of the passage before it, once more, when that one is a question: answers follow questions.
    pub answer: f32,
    /// Scale of the neighbour terms for passages that are no turns: a sentence of a document says less about
    /// the next than a turn does.
    pub document_neighbours: f32,
    /// BM25 of its group as one text, over the best such value.
    pub group_lexical: f32,
    /// Mean of the three best `c` of its group.
    pub group_dense: f32,
    /// Owner: +half when it is the person that the query names first, -half when it is a person not named.
    pub owner: f32,
    /// Agreement of its time with the dates of the query, 0 to 2.5.
    pub date: f32,
    /// A turn that names a time, for a question about time.
    pub when: f32,
    /// A passage that is no turn and names a time, for a question about time.
    pub document_when: f32,
    /// A turn that is itself a question.
    pub question: f32,
    /// ln(1 + content words) of a turn, against the average passage.
    pub length: f32,
    /// Authority of the layer: P0 has all of it, P6 none.
    pub authority: f32,
    /// Confidence of the memory.
    pub confidence: f32,
    /// Importance of the memory.
    pub importance: f32,
    /// Recency, halved every 30 days.
    pub recency: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            lexical: 0.40,
            dense: 0.60,
            lexical_alone: 0.5,
            code_lexical: 0.40,
            code_dense: 0.60,
            previous: 0.12,
            second_previous: 0.10,
            next: 0.035,
            next_dense: 0.18,
            answer: 0.2,
            document_neighbours: 0.3,
            group_best: 0.2,
            group_lexical: 0.25,
            group_dense: 0.3,
            owner: 0.44,
            date: 0.6,
            when: 0.3,
            document_when: 0.1,
            question: -0.11,
            length: 0.04,
            authority: 0.004,
            confidence: 0.006,
            importance: 0.004,
            recency: 0.004,
        }
    }
}

impl Weights {
    /// For the files of a project, where a question names things by the words that are written there: words count for
    /// more than meaning, and a file is found by its best piece rather than by all of it. Set by hand: by the usual weights
    /// sentences of documentation found their file less often than by words alone (`engine/tests/project/questions.rs`).
    pub fn of_files() -> Self {
        let usual = Self::default();
        Self {
            lexical: 0.8,
            dense: 0.2,
            code_lexical: 0.8,
            code_dense: 0.2,
            group_best: 0.5 * usual.group_best,
            group_lexical: 0.5 * usual.group_lexical,
            group_dense: 0.15 * usual.group_dense,
            next_dense: 0.0,
            document_neighbours: 0.0,
            ..usual
        }
    }
}

/// Soft spread of results over sources ([`super::Row::source`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diversity {
    /// Largest share of the results from one source while another has candidates nearly as good; 1 turns
    /// the spread off.
    pub largest_share: f32,
    /// What "nearly as good" is: the share of the score of the hit it would stand in for.
    pub least_ratio: f32,
}

impl Default for Diversity {
    fn default() -> Self {
        Self { largest_share: 0.8, least_ratio: 0.75 }
    }
}
