//! What an older store holds, row by row, before it is let through the gate.

use std::collections::BTreeMap;

use strata_core::{
    id::{Id, IdKind},
    memory::{Kind, Layer},
    scope::Scope,
    time::Timestamp,
};

use strata_store::ledger::RuleAttributes;

use super::graph::Graph;

/// A row's name that stays the same from one import to the next, whatever becomes of the rest of the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowKey {
    /// The table: `knowledge`, `episodes`, ...
    pub(super) table: &'static str,
    /// The row's id, as text.
    pub(super) id: String,
    /// Its date as it is written. Ids are counted from 1 in every file; together with the date they name a row
    /// also in a copy of the file under another name.
    pub(super) created: String,
}

impl RowKey {
    /// The "table" of things named by their line in a file.
    pub(super) const LINE: &'static str = "line";
    /// The "table" of files, named by their names.
    pub(super) const FILE: &'static str = "file";

    /// The id that the row has here: the same whenever it is imported, and also in another home. It follows
    /// from nothing that the row says, so that it tells nothing about a text that was purged.
    pub(super) fn id(&self, kind: IdKind, source: &str, scope: &Scope, version: &str) -> Id {
        let mut hasher = blake3::Hasher::new();
        for part in [source, &scope.to_string(), self.table, &self.id, &self.created, version] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        let mut bits = [0; 8];
        bits.copy_from_slice(hasher.finalize().as_bytes().first_chunk::<8>().expect("32 bytes"));
        Id::from_bits(kind, u64::from_le_bytes(bits))
    }
}

impl std::fmt::Display for RowKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.table {
            Self::LINE => write!(f, "line {}", self.id),
            Self::FILE => write!(f, "`{}`", self.id),
            table => write!(f, "{table} #{}", self.id),
        }
    }
}

/// How a row ended in its store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// Not at all.
    InForce,
    /// Forgotten, for this reason.
    Forgotten(String),
    /// Replaced by the row with this id of the same table, for this reason.
    Replaced(i64, String),
    /// Out of use, for this reason.
    Archived(String),
}

/// A row that becomes a memory.
#[derive(Debug, Clone)]
pub(super) struct IncomingMemory {
    pub(super) key: RowKey,
    /// The number by which chains of its store name it, and that it keeps here where it is free.
    pub(super) number: Option<i64>,
    pub(super) kind: Kind,
    pub(super) title: Option<String>,
    pub(super) text: String,
    pub(super) layer: Layer,
    /// Who wrote it, in the words of its store.
    pub(super) who: Option<String>,
    pub(super) confidence: f64,
    /// None when the store's date could not be read.
    pub(super) created_at: Option<Timestamp>,
    pub(super) valid_to: Option<Timestamp>,
    pub(super) session: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    /// Of a rule: priority, condition, and whether it is enabled.
    pub(super) rule: Option<RuleAttributes>,
    pub(super) ending: Ending,
    /// What only stores of projects know of it.
    pub(super) detail: Option<Box<Detail>>,
}

/// What stores of projects know of a memory beside what it says.
#[derive(Debug, Clone, Default)]
pub(super) struct Detail {
    pub(super) importance: f64,
    pub(super) tags: Vec<String>,
    pub(super) branch: Option<String>,
    pub(super) branch_scope: String,
    pub(super) commit: Option<String>,
    pub(super) module_path: Option<String>,
    /// The memory above it.
    pub(super) parent: Option<RowKey>,
    /// The same by the id that its store gave it.
    pub(super) parent_row: Option<String>,
    /// What it rests on.
    pub(super) grounds: Vec<Ground>,
    /// Whether it was in doubt.
    pub(super) is_stale: bool,
}

/// What a memory rests on.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) text: String,
    pub(super) source: String,
    pub(super) at: Option<Timestamp>,
}

/// A row that becomes a raw event.
#[derive(Debug, Clone)]
pub(super) struct IncomingEpisode {
    pub(super) key: RowKey,
    pub(super) text: String,
    pub(super) session: Option<String>,
    pub(super) at: Option<Timestamp>,
    pub(super) metadata: BTreeMap<String, String>,
}

/// A store's content, and what could not be read of it.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    pub(super) memories: Vec<IncomingMemory>,
    pub(super) episodes: Vec<IncomingEpisode>,
    pub(super) graph: Graph,
    pub(super) findings: Findings,
}

/// What is said about rows, by number.
#[derive(Debug, Default, Clone)]
pub(super) struct Findings {
    /// Rows that were left out, and why.
    pub(super) rejected: Vec<String>,
    /// Rows that were taken in, but not as they stood.
    pub(super) adjusted: Vec<String>,
}

impl Findings {
    /// Notes why a row is left out.
    pub(super) fn reject(&mut self, row: impl std::fmt::Display, why: impl std::fmt::Display) {
        self.rejected.push(format!("{row}: {why}"));
    }

    /// Notes what was changed about a row.
    pub(super) fn adjust(&mut self, row: impl std::fmt::Display, what: impl std::fmt::Display) {
        self.adjusted.push(format!("{row}: {what}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_same_id_at_every_import_and_another_in_another_place() {
        let key = RowKey { table: "knowledge", id: "7".into(), created: "2026-01-01".into() };
        let id = |key: &RowKey, scope: &Scope| key.id(IdKind::Memory, "p-layer", scope, "");
        assert_eq!(id(&key, &Scope::user()), id(&key.clone(), &Scope::user()));
        let later = RowKey { created: "2026-01-02".into(), ..key.clone() };
        assert_ne!(id(&key, &Scope::user()), id(&later, &Scope::user()));
        assert_ne!(id(&key, &Scope::user()), id(&key, &Scope::project("a")));
        assert_eq!(key.to_string(), "knowledge #7");
    }
}
