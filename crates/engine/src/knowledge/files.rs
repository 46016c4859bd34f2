//! Files of the vault as a whole: read, made, replaced, deleted, counted.

pub mod create;
pub mod delete;
pub mod get;
pub mod governance;
pub mod stats;
pub mod update;

use std::sync::Arc;

use serde::Serialize;
use strata_core::knowledge::name::{NameError, VaultPath};

use self::governance::Governance;
use super::{
    l0::{self, Report},
    vault::{self, FileHead, FileState, ParsedFile, Place, Written},
};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::Call,
    render::{Document, Mark},
};

/// A file that can be read, and its text.
#[derive(Debug, Clone)]
pub(crate) struct Readable {
    pub(crate) head: FileHead,
    pub(crate) file: Arc<ParsedFile>,
}

/// The files that the caller sees and that can be read. One that cannot stands in nobody's way.
///
/// # Errors
/// Those of the store.
pub(crate) fn readable(engine: &Engine, call: &Call<'_>) -> Result<Vec<Readable>, Error> {
    readable_of(engine, call, vault::list(engine, call)?)
}

/// Those of these that can be read.
pub(crate) fn readable_of(
    engine: &Engine,
    call: &Call<'_>,
    heads: Vec<FileHead>,
) -> Result<Vec<Readable>, Error> {
    let mut files = Vec::new();
    for head in heads.into_iter().filter(FileHead::is_present) {
        match vault::parsed(engine, call, &head) {
            Ok(file) => files.push(Readable { head, file }),
            Err(Error::Conflict { .. } | Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}

/// The file that a name with `.md` means; in a folder too, when only one is called so.
fn existing(engine: &Engine, call: &Call<'_>, filename: &str) -> Result<Place, Error> {
    path_of(filename)?;
    vault::locate_existing(engine, call, "filename", filename)
}

/// The place of a new file: in the caller's own namespace, whatever the shared one holds.
fn new_place(engine: &Engine, call: &Call<'_>, filename: &str) -> Result<Place, Error> {
    let path = path_of(filename)?;
    let own = vault::own_namespace(engine, call)?;
    let key = path.key();
    let seen = vault::look(engine, call, &own)?;
    let twin = seen.files.iter().find(|file| file.state != FileState::Gone && file.path.key() == key);
    if let Some(place) = vault::unreadable(&own, &seen, &path)? {
        // The reason is told by whoever opens it.
        return Ok(place);
    }
    match twin {
        Some(twin) => Err(Error::Conflict {
            message: format!("`{}` is there already", twin.path),
            hint: "`update_knowledge_file` replaces it".into(),
        }),
        None => Ok(Place::new(own, path)),
    }
}

fn path_of(filename: &str) -> Result<VaultPath, Error> {
    VaultPath::parse(filename).map_err(|error| {
        let whole = format!("{}.md", filename.trim());
        let hint = match error {
            NameError::NotMarkdown if VaultPath::parse(&whole).is_ok() => format!("send `{whole}`"),
            NameError::NotMarkdown => "name a file that ends in .md, such as infra/proxy.md".to_owned(),
            _ => "name a file below the folder of knowledge, such as infra/proxy.md".to_owned(),
        };
        Error::argument("filename", format!("cannot be a file's name: {error}"), hint)
    })
}

/// What came of a write beside the file.
#[derive(Debug, Serialize)]
pub struct Beside {
    /// Whether the index of knowledge shows it.
    pub l0_synced: bool,
    /// What kept the index from showing it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l0_sync: Option<Report>,
    /// Whether every search finds it as it is now.
    pub vector_sync_ok: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_sync_error: Option<String>,
    /// What there is to say of the new text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governance: Option<Governance>,
    /// Families of secrets that were blacked out before the text was stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Beside {
    /// Brings index and search up to date with a write, and looks at what was written.
    fn of(engine: &Engine, call: &Call<'_>, kind: &'static str, written: &Written, gate: Gate) -> Self {
        let synced = l0::sync_after(engine, call, written);
        let vector_sync_error = written.unindexed.clone();
        Self {
            l0_synced: synced.l0_synced,
            l0_sync: (!synced.l0_synced).then_some(synced.l0_sync_report),
            vector_sync_ok: vector_sync_error.is_none(),
            vector_sync_error,
            governance: written
                .text
                .as_deref()
                .map(|text| Governance::of(engine, kind, &written.place.path, text)),
            redacted: gate.redacted,
        }
    }

    fn note(&self, document: Document) -> Document {
        let mut document = document.note_redacted(&self.redacted);
        if let Some(error) = &self.vector_sync_error {
            document = document.note(Mark::Warning, error.clone());
        }
        match &self.governance {
            Some(found) if !found.clean => document.note(Mark::Info, found.suggestions.join(". ")),
            _ => document,
        }
    }
}
