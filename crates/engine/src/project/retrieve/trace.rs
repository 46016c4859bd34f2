//! How a choice came about: for everything that was weighed its signals, and why it is there or not.
//!
//! A summary stands in the budget of the reply, so it says nothing that the reply says elsewhere: of what is returned its
//! strongest signals, of what is not the reasons with how often each, and an example of each.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::shape::Unit;
use crate::render::rounded;

/// Signals by name; those that are nothing are left out.
pub type Breakdown = BTreeMap<&'static str, f64>;

/// One thing that was weighed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TraceEntry {
    /// `memory` or `knowledge`, in a full trace.
    #[serde(skip_serializing_if = "str::is_empty")]
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
    /// What it was ordered by, in a full trace; of what is returned it stands among its signals, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
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
    /// Why, where the signals do not tell.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Why something is not in the reply.
pub(super) const NO_ROOM: &str = "Token budget exhausted for this bucket";
/// The same of a passage.
pub(super) const NO_ROOM_FOR_PASSAGE: &str = "token_budget_exceeded";
/// A passage that says what a memory in the reply says.
pub(super) const SAID_BY_MEMORY: &str = "near_duplicate_of_memory";

impl TraceEntry {
    /// What a summary tells: of what is returned its strongest signals, of the rest the reason.
    pub(super) fn brief(&self) -> Self {
        let is_selected = self.action == SELECTED;
        // What holds whatever is asked was not found by any signal.
        let is_found = self.score_breakdown.contains_key(FINAL);
        Self {
            result_id: self.result_id.clone(),
            action: self.action,
            score_breakdown: if is_selected { strongest(&self.score_breakdown) } else { Breakdown::new() },
            reason: if is_selected && is_found { String::new() } else { self.reason.clone() },
            ..Self::default()
        }
    }

    /// The same entry for something that is not returned.
    pub(super) fn excluded(&self, reason: impl Into<String>) -> Self {
        Self { action: EXCLUDED, reason: reason.into(), ..self.clone() }
    }
}

/// Signals that a summary tells beside the sum of all, to so many digits.
const TOLD: usize = 3;
const DIGITS: i32 = 2;
/// The sum of all.
const FINAL: &str = "final_score";
/// What is no signal of nearness to the task, is much the same for all that is found, or goes with another that is told.
const GENERAL: [&str; 9] = [
    FINAL,
    "base_score",
    "confidence",
    "freshness",
    "importance",
    "lexical_coverage",
    "source_quality",
    "task_intent_compatibility",
    "vector",
];
/// What every text that is found has: it makes way for what only some have.
const COMMON: [&str; 3] = ["lexical", "lexical_similarity", "semantic_similarity"];

/// The sum and what it rests on most; of what has no sum, what it weighs.
fn strongest(all: &Breakdown) -> Breakdown {
    let Some(sum) = all.get(FINAL) else { return all.clone() };
    let mut signals: Vec<(&'static str, f64)> =
        all.iter().filter(|(name, _)| !GENERAL.contains(name)).map(|(name, value)| (*name, *value)).collect();
    // What counts against something says as much as what counts for it.
    signals.sort_by(|a, b| {
        COMMON.contains(&a.0).cmp(&COMMON.contains(&b.0)).then(b.1.abs().total_cmp(&a.1.abs()))
    });
    signals.truncate(TOLD);
    signals.push((FINAL, *sum));
    let told = signals.into_iter().map(|(name, value)| (name, rounded(value, DIGITS)));
    told.filter(|(name, value)| *value != 0.0 || *name == FINAL).collect()
}

/// A statement or summary without what its score and its sort say already, or all have alike.
pub(super) fn brief_unit(unit: &Unit) -> Unit {
    let is_told = |name: &str| !matches!(name, "total" | "source_quality" | "freshness_bonus");
    let told = unit.score_breakdown.iter().filter(|(name, _)| is_told(name));
    let score_breakdown = told.map(|(name, value)| (*name, rounded(*value, DIGITS))).collect();
    Unit { score_breakdown, selection_reason: String::new(), ..unit.clone() }
}

/// How many things were left out for each reason.
pub(super) fn counted(excluded: &[TraceEntry]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in excluded {
        *counts.entry(entry.reason.clone()).or_default() += 1;
    }
    counts
}

/// The first that was left out for each reason: examples.
pub(super) fn examples(excluded: &[TraceEntry]) -> impl Iterator<Item = TraceEntry> + '_ {
    let mut seen = HashSet::new();
    excluded.iter().filter(move |entry| seen.insert(entry.reason.as_str())).map(TraceEntry::brief)
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
