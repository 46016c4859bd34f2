//! A section of an indexed file.

use jiff::tz::TimeZone;
use serde::Serialize;
use strata_core::{id::Id, redact::redact, scope::Scope};
use strata_store::ledger::{SourceRow, SourceState};

use super::{super::reference::sees_scope, stamp};
use crate::{
    documents,
    error::Error,
    operation::Call,
    render::{Block, Document, Record, Trust, neutral},
};

/// A section of an indexed file, as the file has it now.
#[derive(Debug, Serialize)]
pub struct DocumentView {
    /// The id it was asked by.
    pub id: String,
    /// The file, absolute; one of the vault as `vault:NAMESPACE/PATH`.
    pub path: String,
    /// The headings above it.
    pub heading: String,
    /// Its text.
    pub text: String,
    /// When the file was last changed.
    pub modified: String,
}

pub(super) fn document(
    (row, vault_text): (Option<SourceRow>, Option<String>),
    call: &Call<'_>,
    id: &Id,
    zone: &TimeZone,
) -> Result<DocumentView, Error> {
    let hint = "its file has changed since; call `recall` again, or run `strata index`";
    let missing = || Error::NotFound { what: "document section", id: id.to_string(), hint: hint.into() };
    let (_, part) = documents::parse_id(id);
    let row = row.filter(|row| row.state == SourceState::Present).ok_or_else(missing)?;
    let scope = Scope { namespace: row.namespace.clone(), project: row.project.clone(), ..Scope::user() };
    if !sees_scope(call, &scope) {
        return Err(missing());
    }
    let path = documents::path_of(&row);
    let sections = documents::sections_of(&row, vault_text.as_deref())?;
    let section = documents::section_of_part(&sections, part).ok_or_else(missing)?;
    Ok(DocumentView {
        id: id.to_string(),
        path: redact(&path.display().to_string()).text.into_owned(),
        heading: section.title.clone(),
        text: section.body.clone(),
        modified: stamp(row.mtime, zone),
    })
}

impl DocumentView {
    pub(super) fn render(&self) -> Document {
        let record = Record {
            id: self.id.clone(),
            attributes: vec![neutral(&self.path), format!("changed {}", self.modified)],
            title: Some(self.heading.clone()).filter(|h| !h.is_empty()),
            text: self.text.clone(),
        };
        Document::new().with(Block::Records { trust: Trust::Data, records: vec![record] })
    }
}
