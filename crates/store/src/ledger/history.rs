//! Everything that happened to a memory: its line of predecessors and successors, states, audit.

use std::collections::{BTreeMap, VecDeque};

use strata_core::chain::LinkedEntry;

use super::{AuditFilter, LedgerRead, MemoryRow, StateRow, memories::missing};
use crate::{error::StoreError, params};

/// Longest line that is followed. A longer one is cut, not an error.
const LONGEST: usize = 1000;

/// The history of one memory.
#[derive(Debug, Clone)]
pub struct History {
    /// The line it belongs to, itself included, by number. Several memories may share a successor.
    pub line: Vec<MemoryRow>,
    /// Its own states, oldest first.
    pub states: Vec<StateRow>,
    /// The audit rows about it, oldest first.
    pub audit: Vec<LinkedEntry>,
}

impl LedgerRead<'_> {
    /// The history of the memory with this number.
    pub fn history(&self, number: i64) -> Result<History, StoreError> {
        let memory = self.memory_by_number(number)?.ok_or_else(|| missing(&format!("#{number}")))?;
        let filter =
            AuditFilter { target: Some(memory.id.clone()), limit: LONGEST, ..AuditFilter::default() };
        let mut audit = self.audit(&filter)?;
        audit.reverse();
        Ok(History { line: self.line(memory)?, states: self.states(number)?, audit })
    }

    /// The ids of the memories that `id` replaced, oldest first.
    pub fn predecessors(&self, id: &str) -> Result<Vec<String>, StoreError> {
        self.linked("superseded_by", id)
    }

    /// The ids of the memories that were stored to replace `id`, oldest first.
    fn stored_to_replace(&self, id: &str) -> Result<Vec<String>, StoreError> {
        self.linked("supersedes", id)
    }

    fn linked(&self, column: &str, id: &str) -> Result<Vec<String>, StoreError> {
        // Asked for in order, SQLite reads all memories by number rather than the few that are linked.
        let sql = format!("SELECT number, id FROM memories WHERE tenant = $1 AND {column} = $2");
        let mut found: Vec<(i64, String)> =
            self.transaction.query(&sql, params![self.tenant, id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }

    /// Every memory that leads to `start` or follows from it.
    fn line(&self, start: MemoryRow) -> Result<Vec<MemoryRow>, StoreError> {
        let mut found = BTreeMap::new();
        let mut waiting = VecDeque::from([start]);
        while let Some(memory) = waiting.pop_front() {
            if found.len() >= LONGEST || found.contains_key(&memory.number) {
                continue;
            }
            let mut neighbours = self.predecessors(&memory.id)?;
            neighbours.extend(self.stored_to_replace(&memory.id)?);
            neighbours.extend(memory.superseded_by.clone());
            // A rollback takes the link of a version that comes back; what it was stored to replace stays.
            neighbours.extend(memory.supersedes.clone());
            for id in neighbours {
                waiting.extend(self.memory(&id)?);
            }
            found.insert(memory.number, memory);
        }
        Ok(found.into_values().collect())
    }
}
