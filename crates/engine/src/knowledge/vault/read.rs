//! Reading files of the vault, now and as they were.

use std::{
    hash::{DefaultHasher, Hasher},
    sync::{Arc, OnceLock},
};

use strata_core::{
    knowledge::ranking::Searchable,
    markdown::{Entry, Shape, body_of, find_entry},
};
use strata_store::ledger::{GenerationRow, VaultHead};

use super::{
    FileHead, FileState, Place,
    look::{self, Look},
};
use crate::{engine::Engine, error::Error, operation::Call};

/// A text and its sections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedFile {
    text: String,
    shape: OnceLock<Shape>,
    searchable: OnceLock<Searchable>,
    /// Hashes of its lines, in order.
    lines: OnceLock<Vec<u64>>,
}

impl ParsedFile {
    /// A text; it is read when somebody asks for more.
    pub fn new(text: String) -> Self {
        let (shape, searchable, lines) = Default::default();
        Self { text, shape, searchable, lines }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its sections, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        self.shape().entries()
    }

    /// Its outline without the text.
    pub fn shape(&self) -> &Shape {
        self.shape.get_or_init(|| Shape::of(&self.text))
    }

    /// The text as recall looks through it; made when it is first asked for.
    pub fn searchable(&self) -> &Searchable {
        self.searchable.get_or_init(|| Searchable::new(&self.text))
    }

    /// Whether one of its lines, without the space at its end, may be this one: if not, none is.
    pub fn may_have_line(&self, line: &str) -> bool {
        let hash = |line: &str| {
            let mut hasher = DefaultHasher::new();
            hasher.write(line.as_bytes());
            hasher.finish()
        };
        let lines = self.lines.get_or_init(|| {
            let mut lines: Vec<u64> = self.text.lines().map(|line| hash(line.trim_end())).collect();
            lines.sort_unstable();
            lines.dedup();
            lines
        });
        lines.binary_search(&hash(line)).is_ok()
    }

    /// The body of a section without the blank lines around it; empty when there is no such section.
    pub fn body(&self, index: usize) -> &str {
        self.entries().get(index).map_or("", |entry| body_of(&self.text, entry))
    }

    /// The position of the section that `heading` names, as `Outline::find` has it.
    pub fn find(&self, heading: &str, ordinal: Option<usize>) -> Option<usize> {
        find_entry(self.entries(), heading, ordinal)
    }
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct FileText {
    /// Which generation it is.
    pub head: FileHead,
    /// Its text and sections.
    pub file: Arc<ParsedFile>,
}

impl FileText {
    /// The text.
    pub fn text(&self) -> &str {
        self.file.text()
    }
}

/// Reads a file; an edit by hand is put on record first.
///
/// # Errors
/// `NotFound`; `Conflict` with the reason when it is there and cannot be read.
pub fn read(engine: &Engine, call: &Call<'_>, place: &Place) -> Result<FileText, Error> {
    let mut head = head_at(engine, call, place)?;
    if let Some(disk) = engine.vault().disk() {
        let stamp = disk.stamp(&place.namespace, &place.path);
        let now = engine.clock().now();
        let is_known = head.as_ref().zip(stamp).is_some_and(|(head, (size, modified))| {
            head.is_present() && look::looks_known(engine, head, size, modified, now)
        });
        if !is_known {
            match look::examine(engine, call, disk, place, head.as_ref())? {
                Look::AsKnown => {}
                Look::Settled => head = head_at(engine, call, place)?,
                Look::Bad(FileState::Unreadable(reason) | FileState::Unavailable(reason)) => {
                    return Err(unreadable(place, &reason));
                }
                Look::Bad(_) => {}
            }
        }
    }
    let head = head.filter(VaultHead::is_present).ok_or_else(|| place.no_file())?;
    let head = FileHead::of(&head)?;
    let file = parsed(engine, call, &head)?;
    Ok(FileText { head, file })
}

/// The text and sections of a file as `head` has it: one that [`super::list`] gave. Unchanged files are read once.
///
/// # Errors
/// `NotFound` when it is gone, `Conflict` when it could not be read.
pub fn parsed(engine: &Engine, call: &Call<'_>, head: &FileHead) -> Result<Arc<ParsedFile>, Error> {
    if let FileState::Unreadable(reason) | FileState::Unavailable(reason) = &head.state {
        return Err(unreadable(&head.place(), reason));
    }
    if let Some(file) = engine.vault().kept(head) {
        return Ok(file);
    }
    let ledger = engine.ledger(call)?;
    let text = ledger.read(&engine.control(call), |r| r.vault_text(head.number, head.generation))?;
    let file = Arc::new(ParsedFile::new(text.ok_or_else(|| head.place().no_file())?));
    engine.vault().keep(head, &file);
    Ok(file)
}

/// Every generation of the file at a place, newest first; none when no such file was ever known.
///
/// # Errors
/// Those of the store.
pub fn history(engine: &Engine, call: &Call<'_>, place: &Place) -> Result<Vec<GenerationRow>, Error> {
    // What hands did last is a generation, too.
    super::look(engine, call, &place.namespace)?;
    let Some(head) = head_at(engine, call, place)? else { return Ok(Vec::new()) };
    Ok(engine.ledger(call)?.read(&engine.control(call), |r| r.vault_generations(head.number))?)
}

/// The text of an earlier generation.
///
/// # Errors
/// `NotFound` when there is no such generation; `Conflict` when it is a deletion, or its text was thinned out or purged.
pub fn generation_text(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    generation: i64,
) -> Result<String, Error> {
    let missing = || Error::NotFound {
        what: "version",
        id: format!("{}@{generation}", place.path),
        hint: "`get_knowledge_history` lists those of the file".into(),
    };
    let head = head_at(engine, call, place)?.ok_or_else(missing)?;
    let (row, text) = engine.ledger(call)?.read(&engine.control(call), |r| {
        let rows = r.vault_generations(head.number)?;
        Ok((
            rows.into_iter().find(|row| row.generation == generation),
            r.vault_text(head.number, generation)?,
        ))
    })?;
    let row = row.ok_or_else(missing)?;
    text.ok_or_else(|| Error::Conflict {
        message: match row.hash {
            None => format!("generation {generation} of `{}` is its deletion", place.path),
            Some(_) => format!("the text of generation {generation} of `{}` is no longer kept", place.path),
        },
        hint: "choose another generation of its history".into(),
    })
}

fn head_at(engine: &Engine, call: &Call<'_>, place: &Place) -> Result<Option<VaultHead>, Error> {
    let find = |r: &strata_store::ledger::LedgerRead<'_>| {
        r.vault_head(place.namespace.as_str(), &place.path.to_string())
    };
    if !engine.is_initialised()? && engine.vault().disk().is_none_or(|disk| !disk.root().is_dir()) {
        return Ok(None);
    }
    Ok(engine.ledger(call)?.read(&engine.control(call), find)?)
}

fn unreadable(place: &Place, reason: &str) -> Error {
    Error::Conflict {
        message: format!("`{}` cannot be read: {reason}", place.path),
        hint: "mend the file or its folder; everything else works".into(),
    }
}
