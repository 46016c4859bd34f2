//! How a choice came about: for everything that was weighed its signals, and why it is there or not.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::render::rounded;

/// Signals by name; those that are nothing are left out.
pub type Breakdown = BTreeMap<&'static str, f64>;

/// One thing that was weighed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TraceEntry {
    /// `memory` or `knowledge`.
    pub result_type: &'static str,
    /// Names it in further calls.
    pub result_id: String,
    /// Its headline, in a full trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its file or module, in a full trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    /// Its last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// `selected` or `excluded`.
    pub action: &'static str,
    /// What it was ordered by.
    pub score: f64,
    /// What the score is the sum of.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub score_breakdown: Breakdown,
    /// What sort of file it is from, in a full trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_type: Option<String>,
    /// How new its source is, in a full trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freshness: Option<f64>,
    /// A memory's status, unless it is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What encloses it, in a full trace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heading_path: Vec<String>,
    /// Why.
    pub reason: String,
}

/// Why something is not in the reply.
pub(super) const NO_ROOM: &str = "Token budget exhausted for this bucket";
/// The same of a passage.
pub(super) const NO_ROOM_FOR_PASSAGE: &str = "token_budget_exceeded";
/// A passage that says what a memory in the reply says.
pub(super) const SAID_BY_MEMORY: &str = "near_duplicate_of_memory";

impl TraceEntry {
    /// What a summary tells: of what is returned its strongest signals, of the rest the reason alone.
    pub(super) fn brief(&self) -> Self {
        let score_breakdown = match self.action {
            SELECTED => strongest(&self.score_breakdown),
            _ => Breakdown::new(),
        };
        Self {
            result_type: self.result_type,
            result_id: self.result_id.clone(),
            action: self.action,
            score: self.score,
            score_breakdown,
            status: self.status.clone(),
            reason: self.reason.clone(),
            ..Self::default()
        }
    }

    /// The same entry for something that is not returned.
    pub(super) fn excluded(&self, reason: impl Into<String>) -> Self {
        Self { action: EXCLUDED, reason: reason.into(), ..self.clone() }
    }
}

/// Signals that a summary tells beside the sum of all.
const TOLD: usize = 3;
/// What is no signal of nearness to the task.
const SUMS: [&str; 4] = ["base_score", "final_score", "importance", "confidence"];

/// The sum and what it rests on most.
fn strongest(all: &Breakdown) -> Breakdown {
    let mut signals: Vec<(&'static str, f64)> =
        all.iter().filter(|(name, _)| !SUMS.contains(name)).map(|(name, value)| (*name, *value)).collect();
    signals.sort_by(|a, b| b.1.total_cmp(&a.1));
    signals.truncate(TOLD);
    let mut told: Breakdown = signals.into_iter().collect();
    told.extend(all.get("final_score").map(|score| ("final_score", *score)));
    told
}

/// It is in the reply.
pub(super) const SELECTED: &str = "selected";
/// It is not.
pub(super) const EXCLUDED: &str = "excluded";

/// Adds a signal unless it is nothing, to so many digits.
pub(super) fn put(breakdown: &mut Breakdown, name: &'static str, value: f64) {
    let value = rounded(value, 3);
    if value != 0.0 {
        breakdown.insert(name, value);
    }
}
