//! How imported memories stand to each other.

use std::collections::HashMap;

use strata_core::{memory::Relation, time::Timestamp};
use strata_store::ledger::{MemoryRelation, NewAudit};

use super::prepare::{Origin, Prepared};
use crate::{engine::Engine, error::Error, operation::Call};

/// That a row stands so to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Related {
    /// The id of the row that it is said of.
    pub(super) source: String,
    pub(super) relation: Relation,
    /// The id of the other.
    pub(super) target: String,
    /// When that was put down, where it is told.
    pub(super) at: Option<Timestamp>,
}

/// Puts down what is not known yet of how the rows stand to each other, once they are stored. One that names a row which was
/// left out is left out, too. Tells how many it put down.
///
/// # Errors
/// Those of the store.
pub(super) fn relate(
    engine: &Engine,
    call: &Call<'_>,
    origin: &Origin,
    (prepared, related): (&Prepared, &[Related]),
) -> Result<usize, Error> {
    if related.is_empty() {
        return Ok(0);
    }
    let ids: HashMap<&str, String> =
        prepared.memories.iter().map(|row| (row.key.id.as_str(), row.new.id.to_string())).collect();
    let missing = engine.read(call, |r| {
        let mut numbers: HashMap<&str, i64> = HashMap::new();
        for (row, id) in &ids {
            numbers.extend(r.memory(id)?.map(|memory| (*row, memory.number)));
        }
        let known = r.memory_relations_of(&numbers.values().copied().collect::<Vec<_>>())?;
        let is_known = |new: &MemoryRelation| {
            let same = |old: &&MemoryRelation| {
                (old.source, old.relation, old.target) == (new.source, new.relation, new.target)
            };
            new.source == new.target || known.iter().any(|old| same(&old))
        };
        let placed = |one: &Related| {
            Some(MemoryRelation {
                source: *numbers.get(one.source.as_str())?,
                relation: one.relation,
                target: *numbers.get(one.target.as_str())?,
                at: one.at.unwrap_or(origin.now),
            })
        };
        Ok(related.iter().filter_map(placed).filter(|new| !is_known(new)).collect::<Vec<_>>())
    })?;
    if missing.is_empty() {
        return Ok(0);
    }
    engine.ledger(call)?.write(&engine.control(call), origin.now, |w| {
        let reason = format!("relations of {}", origin.source);
        let row = NewAudit::new(call.principal, call.face, "relate", "");
        let seq = w.record(&NewAudit { reason: &reason, ..row })?;
        w.relate_memories(&missing, seq)
    })?;
    Ok(missing.len())
}
