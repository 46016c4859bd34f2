//! What is told of the sections that are like the text.

use strata_core::{
    duplicate::{Difference, DifferenceKind, Verdict},
    knowledge::inject::{Action, Decided, Match},
};

use super::{Dedup, Differs};
use crate::{
    knowledge::inject::nearby::Compared,
    render::{rounded, shortened},
};

/// Most values that differ are told.
const MOST_DIFFERENCES: usize = 8;
/// Characters of one of them.
const DIFFERENCE: usize = 80;
impl Dedup {
    pub(super) fn new(decided: &Decided, file: &str) -> Self {
        let Some(like) = &decided.likest else { return Self::default() };
        Self {
            similar_found: true,
            similarity: rounded(like.similarity, 4),
            matched_file: Some(like.file.clone().unwrap_or_else(|| file.to_owned())),
            matched_section: Some(like.heading.clone()),
            suggestion: Some(suggestion(decided.action)),
            match_kind: Some(like.kind.as_str()),
            verdict: Some(verdict(like)),
            cosine: like.cosine.map(|cosine| rounded(cosine, 4)),
            compared_by: None,
            meaning_off: None,
            differences: like.differences.iter().take(MOST_DIFFERENCES).map(Differs::new).collect(),
        }
    }
}

impl Dedup {
    pub(super) fn compared(self, how: Option<&Compared>) -> Self {
        match how {
            None => self,
            Some(Compared::ByMeaningToo) => Self { compared_by: Some("wording_and_meaning"), ..self },
            Some(Compared::ByWording(reason)) => {
                Self { compared_by: Some("wording"), meaning_off: Some(reason.clone()), ..self }
            }
        }
    }
}

const fn suggestion(action: Action) -> &'static str {
    match action {
        Action::Skipped | Action::MergedNoChange | Action::AppendNoChange => "skip",
        Action::Replaced | Action::Consolidated => "replace",
        Action::Merged => "merge",
        Action::DeferredFusion => "defer_fusion",
        Action::DeferredConsolidate => "defer_consolidate",
        Action::Created | Action::SectionCreated | Action::Appended => "append",
        Action::ConsolidateRefused | Action::FuseConflict => "none",
    }
}

const fn verdict(like: &Match) -> &'static str {
    match like.verdict {
        Verdict::Same => "same",
        Verdict::NearDuplicate => "near_duplicate",
        Verdict::ChangedValue => "changed_value",
        Verdict::Opposed => "opposed",
        Verdict::Different => "different",
    }
}

impl Differs {
    fn new(found: &Difference) -> Self {
        let kind = match found.kind {
            DifferenceKind::Number => "number",
            DifferenceKind::Version => "version",
            DifferenceKind::Address => "address",
            DifferenceKind::Url => "url",
            DifferenceKind::Path => "path",
            DifferenceKind::Date => "date",
            DifferenceKind::Time => "time",
            DifferenceKind::Identifier => "identifier",
            DifferenceKind::Money => "money",
            DifferenceKind::Percent => "percent",
            DifferenceKind::Name => "name",
            DifferenceKind::Word => "word",
            DifferenceKind::Negation => "negation",
            DifferenceKind::Antonym => "antonym",
            DifferenceKind::Order => "order",
        };
        let told = |side: &Option<String>| side.as_deref().map(|value| shortened(value, DIFFERENCE));
        Self { kind, new: told(&found.a), old: told(&found.b) }
    }
}
