//! The one review queue under the names of the layered tools. What they do is done by [`crate::review`].

pub mod approve;
pub mod pending;
pub mod reject;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, at_a_terminal},
    render::{Document, Mark, Render},
};

/// Who decides when nobody is named: whoever calls.
const HUMAN: &str = "human";

/// A decision.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The review's whole id.
    pub entry_id: String,
    /// In whose name; kept with the note. Who decides is the caller.
    pub reviewer: Option<String>,
    /// Why.
    pub note: Option<String>,
}

impl Request {
    /// What is kept with the decision.
    fn note(&self) -> Option<String> {
        let given = |text: &Option<String>| {
            text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        match (given(&self.reviewer).filter(|name| name != HUMAN), given(&self.note)) {
            (Some(name), Some(note)) => Some(format!("{name}: {note}")),
            (Some(name), None) => Some(format!("reviewed by {name}")),
            (None, note) => note,
        }
    }
}

/// What was decided.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `approved` or `rejected`.
    pub action: &'static str,
    /// The review.
    pub id: String,
}

impl Render for Response {
    fn render(&self) -> Document {
        Document::new().note(Mark::Good, format!("{} {}", self.action, self.id))
    }
}

/// Deciding is a person's affair: an agent that may not is told which command a person runs.
fn for_a_person(error: Error, verb: &str, id: &str) -> Error {
    match error {
        Error::Refused { layer, action, reason, .. } => Error::ApprovalRequired {
            action: format!("{action} in {layer}"),
            reason,
            command: at_a_terminal(format_args!("strata review {verb} {id}")),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reviewer_is_a_word_in_the_note() {
        let note = |reviewer: &str, note: &str| {
            Request { entry_id: String::new(), reviewer: Some(reviewer.into()), note: Some(note.into()) }
                .note()
        };
        assert_eq!(note("human", ""), None);
        assert_eq!(note(" ", "settled"), Some("settled".into()));
        assert_eq!(note("Mei", "已确认"), Some("Mei: 已确认".into()));
        assert_eq!(note("Mei", ""), Some("reviewed by Mei".into()));
    }
}
