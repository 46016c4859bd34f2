//! Keeping the knowledge in order: what decays in it is found, what loses nothing is done, the rest is for a person.

pub mod apply;
pub mod audit;
mod backups;
pub(crate) mod markers;
pub mod plan;
mod promotion;
pub mod reconcile;
mod standing;
pub mod validate;

use serde::Serialize;
use strata_core::{
    knowledge::{
        cleanup::is_credential_like,
        state::{Action, Finding},
    },
    redact::redact,
};

use super::{
    files::Readable,
    vault::{self, FileHead, FileState},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::Call,
    render::{Block, Document, Record, Trust},
};

/// The files that the caller sees, and what is in the way of reading the others.
struct Survey {
    files: Vec<Readable>,
    problems: Vec<Trouble>,
}

/// Something that cannot be read. It stands in nobody's way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The file, or the namespace when the whole folder cannot be looked at.
    pub file: String,
    /// What is wrong.
    pub error: String,
}

impl Survey {
    /// Looks at everything once. A file of the caller's own namespace stands before a shared one of the same name.
    fn of(engine: &Engine, call: &Call<'_>) -> Result<Self, Error> {
        let mut survey = Self { files: Vec::new(), problems: Vec::new() };
        let mut taken: Vec<String> = Vec::new();
        for namespace in vault::namespaces(engine, call)? {
            let seen = vault::look(engine, call, &namespace)?;
            let problems = seen.problems.into_iter().map(|problem| (problem.place, problem.reason));
            let unavailable = seen.unavailable.map(|reason| (namespace.to_string(), reason));
            for (file, error) in problems.chain(unavailable) {
                survey.problems.push(Trouble { file, error });
            }
            let there = |head: &FileHead| head.state != FileState::Gone && !taken.contains(&head.path.key());
            let heads: Vec<FileHead> = seen.files.into_iter().filter(there).collect();
            taken.extend(heads.iter().map(|head| head.path.key()));
            for head in heads.into_iter().filter(FileHead::is_present) {
                survey.add(engine, call, head)?;
            }
        }
        Ok(survey)
    }

    fn add(&mut self, engine: &Engine, call: &Call<'_>, head: FileHead) -> Result<(), Error> {
        match vault::parsed(engine, call, &head) {
            Ok(file) => self.files.push(Readable { head, file }),
            Err(error @ (Error::Conflict { .. } | Error::NotFound { .. })) => {
                self.problems.push(Trouble { file: head.path.to_string(), error: error.to_string() });
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// A line with a marker of state, as clients know it.
#[derive(Debug, Clone, Serialize)]
pub struct Marker {
    /// The file.
    pub file: String,
    /// Its domain.
    pub domain: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The first open marker of the line; without one, the first that says it is done.
    pub marker: String,
    /// The heading it stands under.
    pub heading: String,
    /// The beginning of the line.
    pub text_preview: String,
    /// Finds the line again after it moved.
    pub line_hash: String,
    /// The first marker of the line that says it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_marker: Option<String>,
    /// `move_to_todo`, `rewrite_as_current_rule` or `keep_with_reason`.
    pub action: &'static str,
    /// Why it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_reason: Option<String>,
    /// What to do about one that is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_action: Option<&'static str>,
}

/// What clients know as the way out of an open line.
const OPEN_LINE: &str = "move_to_todo_or_rewrite_as_current_rule";

impl Marker {
    fn of(file: String, domain: String, finding: Finding) -> Self {
        Self {
            file,
            domain,
            line: finding.line,
            marker: finding.marker,
            heading: shown(&finding.heading),
            text_preview: shown(&finding.preview),
            line_hash: finding.line_token,
            resolved_marker: finding.resolved_marker,
            action: finding.action.as_str(),
            suggested_action: (finding.action == Action::MoveToTodo).then_some(OPEN_LINE),
            keep_reason: finding.keep_reason.map(|reason| shown(&reason)),
        }
    }
}

/// A text of a file as it is shown: hands may have put a secret into it. One that looks like a secret without being of
/// a known form is not shown at all.
pub(super) fn shown(text: &str) -> String {
    let clean = redact(text);
    if !clean.is_redacted() && is_credential_like(text) && !text.contains(REDACTED) {
        return format!("{REDACTED}]");
    }
    clean.text.into_owned()
}

/// How a blacked out secret begins.
const REDACTED: &str = "[REDACTED";

/// What files say, as information.
fn recorded(records: Vec<Record>) -> Document {
    match records.is_empty() {
        true => Document::new(),
        false => Document::new().with(Block::Records { trust: Trust::Data, records }),
    }
}

impl Marker {
    fn record(&self) -> Record {
        Record {
            id: format!("{}:{}", self.file, self.line),
            attributes: vec![self.action.to_owned(), self.marker.clone()],
            title: (!self.heading.is_empty()).then(|| self.heading.clone()),
            text: self.text_preview.clone(),
        }
    }
}
