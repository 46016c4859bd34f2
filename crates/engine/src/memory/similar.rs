//! The stored memory that says nearly the same, or the opposite.

use serde::Serialize;
use strata_core::duplicate::{Comparison, DifferenceKind, Verdict, contradiction::Contradiction};

use crate::render::shortened;

/// What was found, for the writer to act on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Similar {
    /// The stored memory's id.
    pub id: String,
    /// `same`, `near_duplicate`, `changed_value` or `opposed`.
    pub verdict: &'static str,
    /// Overlap of the wording, 0 to 1.
    pub similarity: f64,
    /// What differs, as `was -> is`.
    pub differences: Vec<String>,
    /// The stored text, shortened.
    pub text: String,
}

/// Most differences listed.
const MAX_DIFFERENCES: usize = 5;
/// Characters of the stored text shown.
const EXCERPT: usize = 160;

impl Similar {
    /// Describes a comparison of the stored text (first) with the new one (second); `None` when they say
    /// different things.
    pub fn of(id: &str, stored: &str, comparison: &Comparison) -> Option<Self> {
        let verdict = match comparison.verdict {
            Verdict::Same => "same",
            Verdict::NearDuplicate => "near_duplicate",
            Verdict::ChangedValue => "changed_value",
            Verdict::Opposed => "opposed",
            Verdict::Different => return None,
        };
        let side = |text: &Option<String>| text.as_deref().unwrap_or("nothing").to_owned();
        let differences = comparison.differences.iter().take(MAX_DIFFERENCES);
        Some(Self {
            id: id.to_owned(),
            verdict,
            similarity: (comparison.similarity * 100.0).round() / 100.0,
            differences: differences.map(|d| format!("{} -> {}", side(&d.a), side(&d.b))).collect(),
            text: shortened(stored, EXCERPT),
        })
    }

    /// What to tell the writer.
    pub fn sentence(&self) -> String {
        let differences = self.differences.join(", ");
        match self.verdict {
            "changed_value" => format!(
                "{} says the same with another value ({differences}); if this replaces it, call `remember` with `supersedes` {}",
                self.id, self.id
            ),
            "opposed" => format!("{} says the opposite ({differences})", self.id),
            _ => format!("{} says nearly the same; consider `update` or `forget` on one of them", self.id),
        }
    }
}

/// A stored memory that cannot hold together with the new one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contradicts {
    /// The stored memory's id.
    pub id: String,
    /// What differs: number, version, negation, frequency, deontic, date, state or choice.
    pub axis: &'static str,
    /// The words that both share.
    pub subject: String,
    /// What is stored, and what is new.
    pub values: [String; 2],
    /// How sure it is, 0 to 1.
    pub score: f64,
    /// The stored text, shortened.
    pub text: String,
}

impl Contradicts {
    /// Describes a contradiction of the stored text (first) and the new one (second).
    pub fn of(id: &str, stored: &str, found: Contradiction) -> Self {
        Self {
            id: id.to_owned(),
            axis: found.axis.as_str(),
            subject: found.subject,
            values: [found.a, found.b],
            score: found.score,
            text: shortened(stored, EXCERPT),
        }
    }

    /// What to tell the writer.
    pub fn sentence(&self) -> String {
        let [stored, new] = &self.values;
        format!(
            "contradicts {}: of \"{}\" it says {stored}, this {new}; if this replaces it, call `remember` with `supersedes` {}",
            self.id, self.subject, self.id
        )
    }
}

/// Whether the new statement is so plainly the stored one turned around that it takes over: nothing
/// differs but one negation or antonym.
pub fn takes_over(comparison: &Comparison) -> bool {
    let polar = |kind| matches!(kind, DifferenceKind::Negation | DifferenceKind::Antonym);
    comparison.verdict == Verdict::Opposed
        && matches!(comparison.differences.as_slice(), [only] if polar(only.kind))
        && comparison.frame_similarity >= 0.999
}
