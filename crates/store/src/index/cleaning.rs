//! Removing what nobody can see any more: inputs of merges, collections that a rebuild replaced,
//! dropped vector sets. All in slices, and again from the start after a crash.

use std::time::{Duration, Instant};

use crate::{error::StoreError, params, sql::Transaction};

use super::{schema::state, writer::IndexWriter};

/// Rows removed in one transaction.
const ROWS: u32 = 4_096;

/// Blocks of vectors removed in one transaction.
const VECTOR_BLOCKS: u32 = 16;

/// Removes leftovers until `budget` has passed since `started`. Returns whether anything is left.
pub(crate) fn step(writer: &IndexWriter<'_>, started: Instant, budget: Duration) -> Result<bool, StoreError> {
    loop {
        writer.control.check()?;
        let removed = writer.index.database.read(&writer.control, next)?;
        let Some(leftover) = removed else { return Ok(false) };
        if started.elapsed() >= budget {
            return Ok(true);
        }
        writer.index.database.write(&writer.control, |tx| leftover.remove(tx))?;
    }
}

/// Removes every vector of `set`, which no table of sets lists any more.
pub(crate) fn vectors_of(writer: &IndexWriter<'_>, set: i64) -> Result<(), StoreError> {
    loop {
        writer.control.check()?;
        let removed = writer.index.database.write(&writer.control, |tx| {
            let blocks = tx.execute(
                "DELETE FROM vector_blocks WHERE vector_set = $1 AND (collection, block) IN
                 (SELECT collection, block FROM vector_blocks WHERE vector_set = $1 LIMIT $2)",
                params![set, VECTOR_BLOCKS],
            )?;
            let tails = tx.execute(
                "DELETE FROM tail_vectors WHERE vector_set = $1 AND (collection, slot) IN
                 (SELECT collection, slot FROM tail_vectors WHERE vector_set = $1 LIMIT $2)",
                params![set, ROWS],
            )?;
            Ok(blocks + tails)
        })?;
        if removed == 0 {
            return Ok(());
        }
    }
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

fn next(tx: &Transaction<'_>) -> Result<Option<Leftover>, StoreError> {
    let segment = tx.query_one(
        "SELECT s.collection, s.id FROM segments s JOIN collections c ON c.id = s.collection
         WHERE s.state = $1 OR c.retired <> 0 LIMIT 1",
        params![state::RETIRED],
        |row| Ok(Leftover::Segment { collection: row.get(0)?, segment: row.get(1)? }),
    )?;
    if segment.is_some() {
        return Ok(segment);
    }
    let set = tx.query_one(
        "SELECT vector_set FROM vector_blocks WHERE vector_set NOT IN (SELECT id FROM vector_sets) LIMIT 1",
        params![],
        |row| Ok(Leftover::Set(row.get(0)?)),
    )?;
    if set.is_some() {
        return Ok(set);
    }
    tx.query_one("SELECT id FROM collections WHERE retired <> 0 LIMIT 1", params![], |row| {
        Ok(Leftover::Collection(row.get(0)?))
    })
}

impl Leftover {
    fn remove(&self, tx: &Transaction<'_>) -> Result<(), StoreError> {
        match self {
            Self::Segment { collection, segment } => remove_segment(tx, *collection, *segment),
            Self::Set(set) => tx
                .execute(
                    "DELETE FROM vector_blocks WHERE vector_set = $1 AND (collection, block) IN
                     (SELECT collection, block FROM vector_blocks WHERE vector_set = $1 LIMIT $2)",
                    params![*set, VECTOR_BLOCKS],
                )
                .map(drop),
            Self::Collection(collection) => remove_collection(tx, *collection),
        }
    }
}

/// Removes some postings; the segment itself once none is left.
fn remove_segment(tx: &Transaction<'_>, collection: i64, segment: i64) -> Result<(), StoreError> {
    let bound = tx.query_one(
        "SELECT term FROM postings WHERE collection = $1 AND segment = $2 ORDER BY term LIMIT 1 OFFSET $3",
        params![collection, segment, ROWS],
        |row| row.get::<String>(0),
    )?;
    if let Some(bound) = bound {
        tx.execute(
            "DELETE FROM postings WHERE collection = $1 AND segment = $2 AND term < $3",
            params![collection, segment, &bound],
        )?;
        return Ok(());
    }
    tx.execute("DELETE FROM postings WHERE collection = $1 AND segment = $2", params![collection, segment])?;
    tx.execute("DELETE FROM segments WHERE collection = $1 AND id = $2", params![collection, segment])?;
    Ok(())
}

/// Removes some rows of a replaced collection; the collection itself once none is left.
fn remove_collection(tx: &Transaction<'_>, collection: i64) -> Result<(), StoreError> {
    const VECTORS: &str = "DELETE FROM vector_blocks WHERE collection = $1 AND (vector_set, block) IN
        (SELECT vector_set, block FROM vector_blocks WHERE collection = $1 LIMIT $2)";
    const TAIL_VECTORS: &str = "DELETE FROM tail_vectors WHERE collection = $1 AND (vector_set, slot) IN
        (SELECT vector_set, slot FROM tail_vectors WHERE collection = $1 LIMIT $2)";
    const LABELS: &str = "DELETE FROM labels WHERE collection = $1 AND (space, number) IN
        (SELECT space, number FROM labels WHERE collection = $1 LIMIT $2)";
    const BY_SLOT: [&str; 3] = [
        "DELETE FROM passages WHERE collection = $1 AND slot IN
         (SELECT slot FROM passages WHERE collection = $1 LIMIT $2)",
        "DELETE FROM tails WHERE collection = $1 AND slot IN
         (SELECT slot FROM tails WHERE collection = $1 LIMIT $2)",
        "DELETE FROM texts WHERE collection = $1 AND slot IN
         (SELECT slot FROM texts WHERE collection = $1 LIMIT $2)",
    ];
    const BY_BLOCK: [&str; 2] =
        ["DELETE FROM blocks WHERE collection = $1", "DELETE FROM ends WHERE collection = $1"];
    if tx.execute(VECTORS, params![collection, VECTOR_BLOCKS])? > 0 {
        return Ok(());
    }
    for statement in BY_SLOT.into_iter().chain([TAIL_VECTORS, LABELS]) {
        if tx.execute(statement, params![collection, ROWS])? > 0 {
            return Ok(());
        }
    }
    for statement in BY_BLOCK {
        tx.execute(statement, params![collection])?;
    }
    tx.execute("DELETE FROM collections WHERE id = $1", params![collection])?;
    Ok(())
}
