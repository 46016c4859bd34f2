//! How passages of the files count that people write for a project: as trusted only while their bytes are those that a
//! person trusted.

use std::collections::BTreeMap;

use serde::Serialize;
use strata_store::{files, ledger::SourceRow};

use super::{
    HUMAN_FILES,
    trust::{self, MAX_FILE, Trusted},
};
use crate::{
    documents,
    engine::Engine,
    operation::Call,
    project::{FOLDER, files::is_of_project},
};

/// How a passage of such a file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// A person has read the file as it is, and lets it count.
    Trusted,
    /// A person let it count as it was; it has changed since.
    Changed,
    /// Nobody has said so: it came with a clone.
    Unconfirmed,
}

impl Word {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Changed => "changed",
            Self::Unconfirmed => "unconfirmed",
        }
    }

    /// It in a few words, with what to do about it.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Trusted => "written by people, trusted",
            Self::Changed => {
                "written by people, unconfirmed: changed since it was trusted; read it, then `strata project trust`"
            }
            Self::Unconfirmed => "written by people, unconfirmed",
        }
    }
}

/// What a home trusts, as far as it was asked, each file looked at once.
pub(crate) struct Words<'e> {
    engine: &'e Engine,
    trusted: Option<Trusted>,
    known: BTreeMap<i64, Word>,
}

impl<'e> Words<'e> {
    pub(crate) fn of(engine: &'e Engine) -> Self {
        Self { engine, trusted: None, known: BTreeMap::new() }
    }

    /// How passages of an indexed file count; `None` for a file that is none of people's.
    pub(crate) fn word(&mut self, file: &SourceRow) -> Option<Word> {
        let name = name_of(&file.path).filter(|_| is_of_project(file))?;
        if let Some(known) = self.known.get(&file.number) {
            return Some(*known);
        }
        let trusted = self.trusted.get_or_insert_with(|| Trusted::read(self.engine.home()));
        // What is shown may be what was indexed or what lies there now: both must be what was trusted.
        let bytes = files::read_regular(&documents::path_of(file), MAX_FILE).ok();
        let is_same = bytes.is_some_and(|bytes| *blake3::hash(&bytes).as_bytes() == file.hash);
        let is_it = file.path == format!("{FOLDER}/{name}");
        let word = match trusted.word(name, file.project.as_deref(), &file.hash) {
            Word::Trusted if !is_same => Word::Changed,
            Word::Trusted if !is_it => Word::Unconfirmed,
            word => word,
        };
        self.known.insert(file.number, word);
        Some(word)
    }
}

impl Trusted {
    /// How the file `name` of a project's folder counts while its bytes have this hash.
    fn word(&self, name: &str, project: Option<&str>, hash: &[u8; 32]) -> Word {
        if self.has_hash(name, &blake3::Hash::from_bytes(*hash).to_hex()) {
            return Word::Trusted;
        }
        match self.of(project.unwrap_or("")).any(|known| known.name == name) {
            true => Word::Changed,
            false => Word::Unconfirmed,
        }
    }
}

/// How the file at `path` in the caller's project counts while its bytes have this hash.
pub(crate) fn word_of(engine: &Engine, call: &Call<'_>, path: &str, hash: &[u8; 32]) -> Word {
    let project = call.scope.project.as_deref();
    name_of(path).map_or(Word::Unconfirmed, |name| Trusted::read(engine.home()).word(name, project, hash))
}

/// Changes with the files that people write for the project at hand, and with what is trusted.
pub(crate) fn stamp(engine: &Engine) -> [u8; 32] {
    let folder = engine.settings().project_root.as_deref().map(super::folder);
    let written = folder.iter().flat_map(|folder| HUMAN_FILES.map(|name| folder.join(name)));
    let mut hasher = blake3::Hasher::new();
    for path in std::iter::once(engine.home().join(trust::FILE)).chain(written) {
        let bytes = files::read_regular(&path, MAX_FILE).unwrap_or_default();
        hasher.update(blake3::hash(&bytes).as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// The name in the folder of a file that people write, by its path below the root. Another way of writing it is another
/// file, which nobody can have trusted.
fn name_of(path: &str) -> Option<&'static str> {
    let (folder, name) = path.split_once('/')?;
    if !folder.eq_ignore_ascii_case(FOLDER) {
        return None;
    }
    HUMAN_FILES.into_iter().find(|known| known.eq_ignore_ascii_case(name))
}
