//! Removing what nobody can see any more: inputs of merges, collections that a rebuild replaced,
//! dropped vector sets. All in slices, and again from the start after a crash.

use std::time::{Duration, Instant};

use crate::{error::StoreError, params, sql::Transaction};

use super::{Collection, schema::state, writer::IndexWriter};

/// Rows removed in one transaction.
const ROWS: u32 = 4_096;

/// Blocks of vectors removed in one transaction.
const VECTOR_BLOCKS: u32 = 16;

/// Removes the tenant's leftovers until `budget` has passed since `started`. Returns whether anything is left.
pub(crate) fn step(
    writer: &IndexWriter<'_>,
    tenant: &str,
    started: Instant,
    budget: Duration,
) -> Result<bool, StoreError> {
    loop {
        writer.control.check()?;
        let removed = writer.index.database.read(&writer.control, |tx| next(tx, tenant))?;
        let Some(leftover) = removed else { return Ok(false) };
        if started.elapsed() >= budget {
            return Ok(true);
        }
        writer.index.database.write(&writer.control, |tx| leftover.remove(tx, tenant))?;
    }
}

/// Removes every vector of `set`, which no table of sets lists any more.
pub(crate) fn vectors_of(writer: &IndexWriter<'_>, tenant: &str, set: i64) -> Result<(), StoreError> {
    loop {
        writer.control.check()?;
        let removed = writer.index.database.write(&writer.control, |tx| {
            let blocks = remove_vector_blocks(tx, tenant, set)?;
            let tails = tx.execute(
                "DELETE FROM tail_vectors WHERE tenant = $1 AND vector_set = $2 AND (collection, slot) IN
                 (SELECT collection, slot FROM tail_vectors WHERE tenant = $1 AND vector_set = $2 LIMIT $3)",
                params![tenant, set, ROWS],
            )?;
            Ok(blocks + tails)
        })?;
        if removed == 0 {
            return Ok(());
        }
    }
}

fn remove_vector_blocks(tx: &Transaction<'_>, tenant: &str, set: i64) -> Result<usize, StoreError> {
    tx.execute(
        "DELETE FROM vector_blocks WHERE tenant = $1 AND vector_set = $2 AND (collection, block) IN
         (SELECT collection, block FROM vector_blocks WHERE tenant = $1 AND vector_set = $2 LIMIT $3)",
        params![tenant, set, VECTOR_BLOCKS],
    )
}

/// Something to remove.
enum Leftover {
    /// A segment whose postings are merged elsewhere.
    Segment { collection: i64, segment: i64 },
    /// Vectors of a set that was dropped before it was empty.
    Set(i64),
    /// A collection that a rebuild replaced.
    Collection(i64),
}

fn next(tx: &Transaction<'_>, tenant: &str) -> Result<Option<Leftover>, StoreError> {
    let segment = tx.query_one(
        "SELECT s.collection, s.id FROM segments s
         JOIN collections c ON c.tenant = s.tenant AND c.id = s.collection
         WHERE s.tenant = $1 AND (s.state = $2 OR c.retired <> 0) LIMIT 1",
        params![tenant, state::RETIRED],
        |row| Ok(Leftover::Segment { collection: row.get(0)?, segment: row.get(1)? }),
    )?;
    if segment.is_some() {
        return Ok(segment);
    }
    let set = tx.query_one(
        "SELECT vector_set FROM vector_blocks WHERE tenant = $1
             AND vector_set NOT IN (SELECT id FROM vector_sets WHERE tenant = $1) LIMIT 1",
        params![tenant],
        |row| Ok(Leftover::Set(row.get(0)?)),
    )?;
    if set.is_some() {
        return Ok(set);
    }
    tx.query_one(
        "SELECT id FROM collections WHERE tenant = $1 AND retired <> 0 LIMIT 1",
        params![tenant],
        |row| Ok(Leftover::Collection(row.get(0)?)),
    )
}

impl Leftover {
    fn remove(&self, tx: &Transaction<'_>, tenant: &str) -> Result<(), StoreError> {
        match self {
            Self::Segment { collection, segment } => {
                remove_segment(tx, Collection { tenant, id: *collection }, *segment)
            }
            Self::Set(set) => remove_vector_blocks(tx, tenant, *set).map(drop),
            Self::Collection(collection) => remove_collection(tx, Collection { tenant, id: *collection }),
        }
    }
}

/// Removes some postings; the segment itself once none is left.
fn remove_segment(tx: &Transaction<'_>, of: Collection<'_>, segment: i64) -> Result<(), StoreError> {
    let bound = tx.query_one(
        "SELECT term FROM postings WHERE tenant = $1 AND collection = $2 AND segment = $3
         ORDER BY term LIMIT 1 OFFSET $4",
        params![of.tenant, of.id, segment, ROWS],
        |row| row.get::<String>(0),
    )?;
    if let Some(bound) = bound {
        tx.post(
            "DELETE FROM postings WHERE tenant = $1 AND collection = $2 AND segment = $3 AND term < $4",
            params![of.tenant, of.id, segment, &bound],
        )?;
        return Ok(());
    }
    for statement in [
        "DELETE FROM postings WHERE tenant = $1 AND collection = $2 AND segment = $3",
        "DELETE FROM segments WHERE tenant = $1 AND collection = $2 AND id = $3",
    ] {
        tx.post(statement, params![of.tenant, of.id, segment])?;
    }
    Ok(())
}

/// Removes some rows of a replaced collection; the collection itself once none is left.
fn remove_collection(tx: &Transaction<'_>, of: Collection<'_>) -> Result<(), StoreError> {
    const VECTORS: &str = "DELETE FROM vector_blocks WHERE tenant = $1 AND collection = $2
        AND (vector_set, block) IN
        (SELECT vector_set, block FROM vector_blocks WHERE tenant = $1 AND collection = $2 LIMIT $3)";
    const TAIL_VECTORS: &str = "DELETE FROM tail_vectors WHERE tenant = $1 AND collection = $2
        AND (vector_set, slot) IN
        (SELECT vector_set, slot FROM tail_vectors WHERE tenant = $1 AND collection = $2 LIMIT $3)";
    const LABELS: &str = "DELETE FROM labels WHERE tenant = $1 AND collection = $2 AND (space, number) IN
        (SELECT space, number FROM labels WHERE tenant = $1 AND collection = $2 LIMIT $3)";
    const BY_SLOT: [&str; 3] = [
        "DELETE FROM passages WHERE tenant = $1 AND collection = $2 AND slot IN
         (SELECT slot FROM passages WHERE tenant = $1 AND collection = $2 LIMIT $3)",
        "DELETE FROM tails WHERE tenant = $1 AND collection = $2 AND slot IN
         (SELECT slot FROM tails WHERE tenant = $1 AND collection = $2 LIMIT $3)",
        "DELETE FROM texts WHERE tenant = $1 AND collection = $2 AND slot IN
         (SELECT slot FROM texts WHERE tenant = $1 AND collection = $2 LIMIT $3)",
    ];
    const WHOLE: [&str; 3] = [
        "DELETE FROM blocks WHERE tenant = $1 AND collection = $2",
        "DELETE FROM ends WHERE tenant = $1 AND collection = $2",
        "DELETE FROM collections WHERE tenant = $1 AND id = $2",
    ];
    if tx.execute(VECTORS, params![of.tenant, of.id, VECTOR_BLOCKS])? > 0 {
        return Ok(());
    }
    for statement in BY_SLOT.into_iter().chain([TAIL_VECTORS, LABELS]) {
        if tx.execute(statement, params![of.tenant, of.id, ROWS])? > 0 {
            return Ok(());
        }
    }
    for statement in WHOLE {
        tx.post(statement, params![of.tenant, of.id])?;
    }
    Ok(())
}
