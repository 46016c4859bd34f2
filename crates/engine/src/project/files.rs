//! A project's files as knowledge: which are read, how they are cut, and how the index follows them.
//!
//! The files are the truth; a row of `sources` names each, and the index holds its chunks. [`Gate`] is the only way to a file.
//! [`follow`] finds what changed and has it indexed; a server does so while it answers.

pub mod bootstrap;
pub mod follow;
pub mod gate;
pub mod inspect;
pub mod kind;
pub mod progress;
mod reading;
pub mod refresh;
pub mod reset;
pub(crate) mod state;
pub mod status;
mod walk;

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;
use strata_store::{
    files::canonical,
    index::Section,
    ledger::{LedgerRead, SourceRow, SourceState},
};

use crate::{documents, engine::Engine, error::Error, operation::Call, recall::item::DocumentPart};
pub use gate::{FileText, Gate, Refusal, Rules};
pub use kind::{SourceType, module_of};
pub(crate) use reading::Reader;
use reading::Standing;

/// What the root of a project's files begins with in `sources`, before the folder: they are cut and followed by this module,
/// and not by `strata index`.
pub const ROOT: &str = "project:";

/// A piece of a project's file, as the index has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chunk {
    /// Names it in further calls.
    pub chunk_id: String,
    /// Names the file in further calls.
    pub document_id: String,
    /// The file, below the project's root.
    pub source_path: String,
    /// What the file is.
    pub source_type: SourceType,
    /// The language, as a word; `None` when nothing tells.
    pub language: Option<String>,
    /// What encloses it, outermost first: headings, names of symbols, keys.
    pub heading_path: Vec<String>,
    /// The names of what is defined in it.
    pub symbols: Vec<String>,
    /// The module the file is; see [`module_of`].
    pub module_path: String,
    /// The first line, counted from 1.
    pub start_line: u32,
    /// The last line, which belongs to it.
    pub end_line: u32,
    /// Its text without secrets: as the file has it now, or as it was indexed when [`Self::is_stale`].
    pub text: String,
    /// Whether the file has changed since it was indexed, or is not there any more.
    pub is_stale: bool,
    /// When the file was last changed, microseconds UTC.
    pub modified: i64,
}

/// The chunk in which a part of an indexed file lies; `None` when it is no file of a project that the caller sees, or
/// not indexed (any more).
///
/// # Errors
/// Those of the store.
pub fn chunk(engine: &Engine, call: &Call<'_>, source: i64, part: u32) -> Result<Option<Chunk>, Error> {
    let control = engine.control(call);
    let row = engine.read(call, |r| r.source(source))?;
    let Some(file) = row.filter(|row| row.state == SourceState::Present && is_seen(call, row)) else {
        return Ok(None);
    };
    let section = engine.searcher().index().document_part(&control, engine.tenant(), source, part)?;
    let Some(section) = section else { return Ok(None) };
    Ok(chunks(engine, call, &[DocumentPart { file, section, part }])?.pop().flatten())
}

/// The chunks in which parts of files lie that a search has found, in their order; `None` for one of another sort of file, and
/// of another worktree of the project. Each file is read once.
///
/// # Errors
/// Those of the store.
pub fn chunks(engine: &Engine, call: &Call<'_>, parts: &[DocumentPart]) -> Result<Vec<Option<Chunk>>, Error> {
    let own = engine.settings().project_root.as_deref().and_then(|root| canonical(root).ok());
    let own = own.map(|root| root_name(&root));
    let mut readers: BTreeMap<&str, Option<Reader>> = BTreeMap::new();
    let mut texts: BTreeMap<i64, Option<String>> = BTreeMap::new();
    let mut chunks = Vec::with_capacity(parts.len());
    for DocumentPart { file, section, .. } in parts {
        let is_here = is_of_project(file) && own.as_ref().is_none_or(|own| file.root == *own);
        let Some(standing) = Standing::parse(&section.place).filter(|_| is_here) else {
            chunks.push(None);
            continue;
        };
        let reader = readers.entry(&file.root).or_insert_with(|| Reader::of(&file.root));
        let fresh = texts.entry(file.number).or_insert_with(|| reader.as_ref()?.unchanged(file));
        let text = match fresh.as_deref().and_then(|text| standing.of(text)) {
            Some(text) => text,
            None => as_indexed(engine, call, file.number, section)?,
        };
        chunks.push(Some(standing.chunk(file, text, fresh.is_none())));
    }
    Ok(chunks)
}

/// The files at these paths below the root of the caller's project that are indexed.
///
/// # Errors
/// Those of the store.
pub(crate) fn at(engine: &Engine, call: &Call<'_>, paths: &[&str]) -> Result<Vec<SourceRow>, Error> {
    let root = engine.settings().project_root.as_deref().and_then(|root| canonical(root).ok());
    let Some(root) = root.map(|root| root_name(&root)) else { return Ok(Vec::new()) };
    let of = (call.scope.namespace.as_str(), call.scope.project.as_deref());
    let mut rows = engine.read(call, |r| r.sources_at(of, &root, paths))?;
    rows.retain(|row| row.state == SourceState::Present);
    Ok(rows)
}

/// All chunks of an indexed file that is as it was when it was indexed; none of another.
pub(crate) fn chunks_of(file: &SourceRow) -> Vec<Chunk> {
    let Some(text) = Reader::of(&file.root).and_then(|reader| reader.unchanged(file)) else {
        return Vec::new();
    };
    let sections = reading::sections(&file.path, &text).sections.into_iter();
    let chunk = |section: Section| Some(Standing::parse(&section.place)?.chunk(file, section.body, false));
    sections.filter_map(chunk).collect()
}

/// A chunk's text as the index has it: its pieces, or the one that is at hand while it is not indexed yet.
fn as_indexed(engine: &Engine, call: &Call<'_>, number: i64, found: &Section) -> Result<String, Error> {
    let index = engine.searcher().index();
    let pieces = index.document_pieces(&engine.control(call), engine.tenant(), number, &found.place)?;
    if pieces.is_empty() {
        return Ok(found.body.clone());
    }
    Ok(pieces.into_iter().map(|piece| piece.body).collect::<Vec<_>>().join("\n"))
}

/// Changes whenever the knowledge does that a caller's project has of its files: the last change of one.
///
/// # Errors
/// Those of the store.
pub fn revision(engine: &Engine, call: &Call<'_>) -> Result<i64, Error> {
    engine.files().revision(|seen| {
        engine.read(call, |r| {
            let head = r.head()?.seq;
            if let Some((at, revision)) = seen.filter(|(at, _)| *at == head) {
                return Ok((at, revision));
            }
            Ok((head, last_change(r, call)?))
        })
    })
}

fn last_change(r: &LedgerRead<'_>, call: &Call<'_>) -> Result<i64, strata_store::error::StoreError> {
    let roots = r.source_roots(&call.scope.namespace, call.scope.project.as_deref())?;
    Ok(roots.into_iter().filter(|of| of.root.starts_with(ROOT)).map(|of| of.last_seq).max().unwrap_or(0))
}

/// Whether a source is a file of a project that this module follows.
pub fn is_of_project(source: &SourceRow) -> bool {
    source.root.starts_with(ROOT)
}

/// How a project's root stands in `sources`.
pub fn root_name(root: &Path) -> String {
    format!("{ROOT}{}", root.to_string_lossy())
}

fn is_seen(call: &Call<'_>, row: &SourceRow) -> bool {
    row.namespace == call.scope.namespace && row.project == call.scope.project
}

/// The id of a file, and of its chunk that begins with `part`.
fn ids(number: i64, part: u32) -> (String, String) {
    (documents::id(number, 0).to_string(), documents::id(number, part).to_string())
}
