//! How memories stand to each other beside the line of versions.

use strata_core::{memory::Relation, time::Timestamp};

use super::{LedgerRead, LedgerWrite, Seq};
use crate::{
    error::StoreError,
    params,
    rows::{LIST, Rows, listed, padded},
    sql::Row,
};

/// That a memory stands so to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryRelation {
    /// The number of the memory that it is said of.
    pub source: i64,
    /// How it stands to the other.
    pub relation: Relation,
    /// The number of the other.
    pub target: i64,
    /// When that was put down.
    pub at: Timestamp,
}

const COLUMNS: &str = "source, relation, target, at";

impl LedgerRead<'_> {
    /// The relations that a memory has, at either end, by source, relation and target.
    pub fn memory_relations(&self, number: i64) -> Result<Vec<MemoryRelation>, StoreError> {
        self.memory_relations_of(&[number])
    }

    /// The relations that any of these memories has, at either end, each once, by source, relation and target.
    pub fn memory_relations_of(&self, numbers: &[i64]) -> Result<Vec<MemoryRelation>, StoreError> {
        let mut found = Vec::new();
        for chunk in numbers.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let list = listed(&mut values, padded(chunk).copied());
            // Two statements, so that each follows its own index.
            for end in ["source", "target"] {
                let sql =
                    format!("SELECT {COLUMNS} FROM memory_relations WHERE tenant = $1 AND {end} IN ({list})");
                found.extend(self.transaction.query(&sql, &values, relation_from)?);
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Relations of which an end is not there, at most `limit`.
    pub fn dangling_memory_relations(&self, limit: usize) -> Result<Vec<MemoryRelation>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM memory_relations r WHERE r.tenant = $1 AND (
                 NOT EXISTS (SELECT 1 FROM memories m WHERE m.tenant = r.tenant AND m.number = r.source)
                 OR NOT EXISTS (SELECT 1 FROM memories m WHERE m.tenant = r.tenant AND m.number = r.target))
             ORDER BY source, relation, target LIMIT $2"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.transaction.query(&sql, params![self.tenant, limit], relation_from)
    }
}

impl LedgerWrite<'_> {
    /// Puts down relations between memories that are there. One that is there already stays as it is, with its time.
    pub fn relate_memories(&self, relations: &[MemoryRelation], seq: Seq) -> Result<(), StoreError> {
        let seq = self.place(seq)?;
        let mut values = Vec::with_capacity(relations.len() * 6);
        for MemoryRelation { source, relation, target, at } in relations {
            if source == target {
                return Err(StoreError::Invalid(format!("memory #{source} does not stand to itself")));
            }
            values.extend_from_slice(params![self.tenant, *source, relation.as_str(), *target, *at, seq]);
        }
        Rows::new("INSERT INTO memory_relations (tenant, source, relation, target, at, seq)", 6)
            .or("ON CONFLICT DO NOTHING")
            .write(self.transaction, &values)
    }

    /// Gives the relations of a version to the one that replaces it: they speak of what the memory is about. What
    /// speaks of the version itself stays with it: what it replaced, what it was compacted into, what contradicted it.
    pub fn carry_memory_relations(&self, from: i64, to: i64, seq: Seq) -> Result<(), StoreError> {
        let stays = |r: &MemoryRelation| {
            matches!(r.relation, Relation::Supersedes | Relation::CompactionSource | Relation::Contradicts)
        };
        let mut carried = Vec::new();
        for known in self.memory_relations(from)?.into_iter().filter(|r| !stays(r)) {
            let end = |number| if number == from { to } else { number };
            let next = MemoryRelation { source: end(known.source), target: end(known.target), ..known };
            carried.extend((next.source != next.target).then_some(next));
        }
        self.relate_memories(&carried, seq)
    }

    /// Takes back the relations of a memory that is purged.
    pub(super) fn purge_memory_relations(&self, number: i64) -> Result<(), StoreError> {
        self.transaction.post(
            "DELETE FROM memory_relations WHERE tenant = $1 AND (source = $2 OR target = $2)",
            params![self.tenant, number],
        )?;
        Ok(())
    }
}

fn relation_from(row: &Row<'_>) -> Result<MemoryRelation, StoreError> {
    Ok(MemoryRelation {
        source: row.get(0)?,
        relation: Relation::parse(row.text(1)?)?,
        target: row.get(2)?,
        at: row.get(3)?,
    })
}
