//! A todo as it is shown.

use serde::Serialize;
use strata_store::ledger::TodoRow;

use crate::{knowledge::room::fitting, operation::is_default, render::Record};

/// Characters of a todo beside its texts.
const REST: usize = 500;

/// A todo; the keys are those of the older system.
#[derive(Debug, Clone, Serialize)]
pub struct TodoView {
    /// Its id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// The project it belongs to; absent at the user level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The domain of knowledge that it belongs to.
    pub domain: String,
    /// One line.
    pub title: String,
    /// What is to be done.
    pub content: String,
    /// Ids of what has to be done before.
    pub blocked_by: Vec<String>,
    /// How pressing it is.
    pub priority: &'static str,
    /// Where it stands.
    pub status: &'static str,
    /// The session it comes from; may be empty.
    pub source_session_id: String,
    /// What was noted beside it; may be empty.
    pub notes: String,
    /// When it was stored, RFC 3339 in UTC, like all times here.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// When it was done.
    pub completed_at: Option<String>,
    /// When it was given up.
    pub cancelled_at: Option<String>,
    /// When it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<String>,
    /// Whether there is more of its texts than is shown.
    #[serde(skip_serializing_if = "is_default")]
    pub is_cut: bool,
}

impl From<TodoRow> for TodoView {
    fn from(row: TodoRow) -> Self {
        let version = row.version;
        Self {
            id: row.origin.id,
            number: row.number,
            project: row.origin.scope.project,
            domain: version.domain,
            title: version.title,
            content: version.content,
            blocked_by: version.blocked_by,
            priority: version.priority.as_str(),
            status: version.status.as_str(),
            source_session_id: row.origin.session,
            notes: version.notes,
            created_at: row.origin.created_at.to_rfc3339(),
            updated_at: version.updated_at.to_rfc3339(),
            completed_at: version.stamps.completed_at.map(|at| at.to_rfc3339()),
            cancelled_at: version.stamps.cancelled_at.map(|at| at.to_rfc3339()),
            deleted_at: version.deleted_at.map(|at| at.to_rfc3339()),
            is_cut: false,
        }
    }
}

impl TodoView {
    /// Cuts its texts so that they have at most so many characters of JSON together, two thirds for what is to be done.
    pub(super) fn shorten(&mut self, most: usize) {
        // What else a todo has is bounded, and counted here as a guess.
        let most = most.saturating_sub(REST);
        for (text, share) in [(&mut self.content, most / 3 * 2), (&mut self.notes, most / 3)] {
            let kept = fitting(text, share).len();
            self.is_cut |= kept < text.len();
            text.truncate(kept);
        }
    }

    /// As a record: short facts, then the text and its notes.
    pub fn record(&self) -> Record {
        let mut attributes = vec![
            format!("#{}", self.number),
            self.priority.to_owned(),
            self.status.replace('_', " "),
            self.domain.clone(),
            self.created_at.chars().take(10).collect(),
        ];
        if !self.blocked_by.is_empty() {
            attributes.push(format!("after {}", self.blocked_by.join(", ")));
        }
        if self.deleted_at.is_some() {
            attributes.push("deleted".to_owned());
        }
        let notes = if self.notes.is_empty() { String::new() } else { format!("\n\n{}", self.notes) };
        Record {
            id: self.id.clone(),
            attributes,
            // A title that was made of the text would say its beginning twice.
            title: (!self.content.starts_with(&self.title)).then(|| self.title.clone()),
            text: format!("{}{notes}", self.content),
        }
    }
}
