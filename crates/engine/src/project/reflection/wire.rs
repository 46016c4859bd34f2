//! The words of a report as the wire has them.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_core::project::{
    intent::Intent,
    outcome::{TaskOutcome, Verification},
};

/// What speaks for an outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "documented once, in strata_core")]
pub enum VerificationStatus {
    TestsPassed,
    BuildSuccess,
    ManualCheck,
    TestsFailed,
    #[default]
    Unverified,
}

/// How work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "documented once, in strata_core")]
pub enum OutcomeName {
    Completed,
    PartiallyCompleted,
    Reverted,
    Failed,
}

/// The sort of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "documented once, in strata_core")]
pub enum IntentName {
    BugFix,
    FeatureImplementation,
    Refactor,
    ArchitectureReview,
    CodeExplanation,
    TestFailure,
    RepositoryOnboarding,
    WorkflowQuestion,
    Documentation,
    TrivialEdit,
    Unknown,
}

impl From<VerificationStatus> for Verification {
    fn from(word: VerificationStatus) -> Self {
        match word {
            VerificationStatus::TestsPassed => Self::TestsPassed,
            VerificationStatus::BuildSuccess => Self::BuildSuccess,
            VerificationStatus::ManualCheck => Self::ManualCheck,
            VerificationStatus::TestsFailed => Self::TestsFailed,
            VerificationStatus::Unverified => Self::Unverified,
        }
    }
}

impl From<OutcomeName> for TaskOutcome {
    fn from(word: OutcomeName) -> Self {
        match word {
            OutcomeName::Completed => Self::Completed,
            OutcomeName::PartiallyCompleted => Self::PartiallyCompleted,
            OutcomeName::Reverted => Self::Reverted,
            OutcomeName::Failed => Self::Failed,
        }
    }
}

impl From<IntentName> for Intent {
    fn from(word: IntentName) -> Self {
        match word {
            IntentName::BugFix => Self::BugFix,
            IntentName::FeatureImplementation => Self::FeatureImplementation,
            IntentName::Refactor => Self::Refactor,
            IntentName::ArchitectureReview => Self::ArchitectureReview,
            IntentName::CodeExplanation => Self::CodeExplanation,
            IntentName::TestFailure => Self::TestFailure,
            IntentName::RepositoryOnboarding => Self::RepositoryOnboarding,
            IntentName::WorkflowQuestion => Self::WorkflowQuestion,
            IntentName::Documentation => Self::Documentation,
            IntentName::TrivialEdit => Self::TrivialEdit,
            IntentName::Unknown => Self::Unknown,
        }
    }
}
