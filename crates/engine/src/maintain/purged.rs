//! `purged.jsonl`: what must never come back, beside the ledger so that it outlives every restore.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use strata_core::{id::Id, knowledge::todo::TodoId, time::Timestamp};
use strata_store::{
    files::append_line,
    ledger::{PurgedKind, is_vault_text_id},
    sql::Control,
};

use crate::error::Error;

/// The file's name in the home.
pub const FILE: &str = "purged.jsonl";

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// `memory`, `episode`, `entity`, `todo` or `vault_text`.
    pub kind: String,
    /// The whole id.
    pub id: String,
    /// When, in microseconds since 1970 UTC.
    pub at: i64,
}

/// The list as read.
#[derive(Debug, Default)]
pub struct List {
    /// What was purged, in order, each once.
    pub entries: Vec<(PurgedKind, String)>,
    /// The numbers of lines that cannot be read.
    pub damaged: Vec<usize>,
}

/// Reads the list of a home; none is empty.
pub fn read(home: &Path) -> Result<List, Error> {
    let path = path(home);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(List::default()),
        Err(source) => return Err(Error::File { path: path.display().to_string(), source }),
    };
    let mut list = List::default();
    for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match entry(line) {
            Some(entry) if list.entries.contains(&entry) => {}
            Some(entry) => list.entries.push(entry),
            None => list.damaged.push(number + 1),
        }
    }
    Ok(list)
}

fn entry(line: &str) -> Option<(PurgedKind, String)> {
    let entry: Entry = serde_json::from_str(line).ok()?;
    let kind = PurgedKind::parse(&entry.kind).ok()?;
    let id = match kind {
        PurgedKind::Todo => TodoId::parse(&entry.id).ok()?.to_string(),
        PurgedKind::VaultText => Some(entry.id).filter(|id| is_vault_text_id(id))?,
        _ => Id::parse(&entry.id).ok()?.to_string(),
    };
    Some((kind, id))
}

/// Adds something, unless the list has it.
pub fn add(home: &Path, control: &Control, kind: PurgedKind, id: &str, at: Timestamp) -> Result<(), Error> {
    if read(home)?.entries.iter().any(|(k, i)| *k == kind && i == id) {
        return Ok(());
    }
    let entry = Entry { kind: kind.as_str().to_owned(), id: id.to_owned(), at: at.0 };
    let line = serde_json::to_string(&entry).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(append_line(&path(home), &line, control)?)
}

fn path(home: &Path) -> PathBuf {
    home.join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_once_and_damaged_lines_named() {
        let home = tempfile::tempdir().expect("temporary directory");
        assert!(read(home.path()).expect("none yet").entries.is_empty());
        let control = Control::default();
        for id in ["mem_0123456789", "mem_0123456789", "mem_abcdefghjk"] {
            add(home.path(), &control, PurgedKind::Memory, id, Timestamp(1)).expect("added");
        }
        append_line(&home.path().join(FILE), "{\"kind\":\"memory\",\"id\":\"x\"}", &control)
            .expect("appended");
        let list = read(home.path()).expect("read");
        assert_eq!(list.entries.len(), 2);
        assert_eq!(list.damaged, [3]);
        add(home.path(), &control, PurgedKind::Todo, "gov-0123456789abcdef", Timestamp(1)).expect("added");
        assert_eq!(read(home.path()).expect("read").entries.len(), 3);
    }
}
