//! Merging: adjacent segments of one level become one of the next.
//!
//! The new segment grows unseen, term by term in ascending order, a slice per transaction; one
//! transaction then publishes it and retires its inputs, whose postings are removed in slices later.
//! A merge that was cut off goes on after the last term written: inputs never change.

use crate::{error::StoreError, params, sql::Transaction};

use super::{
    Collection, damaged,
    fold::{add_segment, last_term, write_slice},
    merge_policy::{Segment, merged, next_merge},
    postings::{PostingWriter, for_each_posting},
    schema::state,
    writer::IndexWriter,
};

/// Rows of an input read at a time.
const CHUNK: u32 = 1_024;

/// Does a piece of the collection's merging and returns how many rows it wrote; `None` when nothing is due.
pub(crate) fn step(writer: &IndexWriter<'_>, of: Collection<'_>) -> Result<Option<usize>, StoreError> {
    let Some((inputs, output)) = current(writer, of)? else { return Ok(None) };
    let rows = writer.index.database.read(&writer.control, |tx| {
        let after = last_term(tx, of, output)?.unwrap_or_default();
        next_rows(tx, of, &inputs, &after)
    })?;
    if rows.is_empty() {
        publish(writer, of, &inputs, output)?;
    }
    let mut done = 0;
    while done < rows.len() {
        writer.control.check()?;
        done += write_slice(writer, of, output, &rows[done..])?;
    }
    Ok(Some(done))
}

/// The merge under way, or a new one if one is due: inputs in slot order, and the output's id.
fn current(writer: &IndexWriter<'_>, of: Collection<'_>) -> Result<Option<(Vec<Segment>, i64)>, StoreError> {
    let database = &writer.index.database;
    let (published, under_way) =
        database.read(&writer.control, |tx| Ok((published(tx, of)?, under_way(tx, of)?)))?;
    if let Some(output) = under_way {
        let end = output.first_slot + output.slots;
        let inside = |s: &Segment| s.first_slot >= output.first_slot && s.first_slot < end;
        return Ok(Some((published.into_iter().filter(inside).collect(), output.id)));
    }
    let Some((run, new)) = next_merge(&published).and_then(|run| Some((run, merged(run)?))) else {
        return Ok(None);
    };
    let output =
        database.write(&writer.control, |tx| add_segment(tx, of, new.first_slot, new.slots, new.level))?;
    Ok(Some((run.to_vec(), output)))
}

fn under_way(tx: &Transaction<'_>, of: Collection<'_>) -> Result<Option<Segment>, StoreError> {
    tx.query_one(
        "SELECT id, first_slot, slots, level FROM segments
         WHERE tenant = $1 AND collection = $2 AND state = $3 AND level > 0",
        params![of.tenant, of.id, state::BUILDING],
        segment,
    )
}

/// The published segments of a collection in slot order.
pub(crate) fn published(tx: &Transaction<'_>, of: Collection<'_>) -> Result<Vec<Segment>, StoreError> {
    tx.query(
        "SELECT id, first_slot, slots, level FROM segments
         WHERE tenant = $1 AND collection = $2 AND state = $3 ORDER BY first_slot",
        params![of.tenant, of.id, state::PUBLISHED],
        segment,
    )
}

fn segment(row: &crate::sql::Row<'_>) -> Result<Segment, StoreError> {
    Ok(Segment { id: row.get(0)?, first_slot: row.get(1)?, slots: row.get(2)?, level: row.get(3)? })
}

/// The next merged rows after `after`: every term up to the least of the last terms read, so that no
/// input can still hold postings of a returned term. Empty when all inputs are used up.
pub(crate) fn next_rows(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    inputs: &[Segment],
    after: &str,
) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
    let mut bound: Option<String> = None;
    let mut read: Vec<(String, usize, Vec<u8>)> = Vec::new();
    // With the number in it, not bound to it: SQLite would plan it anew each time.
    let sql = format!(
        "SELECT term, data FROM postings
         WHERE tenant = $1 AND collection = $2 AND segment = $3 AND term > $4 ORDER BY term LIMIT {CHUNK}"
    );
    for (input, segment) in inputs.iter().enumerate() {
        let before = read.len();
        tx.for_each(&sql, params![of.tenant, of.id, segment.id, after], |row| {
            read.push((row.get(0)?, input, row.get(1)?));
            Ok(())
        })?;
        if read.len() - before == CHUNK as usize {
            let last = &read[read.len() - 1].0;
            if bound.as_ref().is_none_or(|bound| last < bound) {
                bound = Some(last.clone());
            }
        }
    }
    read.retain(|(term, ..)| bound.as_ref().is_none_or(|bound| term <= bound));
    // Inputs are in slot order, so this is the order of the merged lists, too.
    read.sort_unstable_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    read.chunk_by(|a, b| a.0 == b.0).map(concatenate).collect()
}

fn concatenate(lists: &[(String, usize, Vec<u8>)]) -> Result<(String, Vec<u8>), StoreError> {
    let mut out = PostingWriter::default();
    for (_, _, data) in lists {
        for_each_posting(data, |posting| out.push(posting)).ok_or_else(|| damaged("a list of postings"))?;
    }
    Ok((lists[0].0.clone(), out.into_bytes()))
}

fn publish(
    writer: &IndexWriter<'_>,
    of: Collection<'_>,
    inputs: &[Segment],
    output: i64,
) -> Result<(), StoreError> {
    writer.index.database.write(&writer.control, |tx| {
        let retired = inputs.iter().map(|input| (input.id, state::RETIRED));
        for (segment, state) in retired.chain([(output, state::PUBLISHED)]) {
            tx.post(
                "UPDATE segments SET state = $4 WHERE tenant = $1 AND collection = $2 AND id = $3",
                params![of.tenant, of.id, segment, state],
            )?;
        }
        tx.post(
            "UPDATE collections SET revision = revision + 1 WHERE tenant = $1 AND id = $2",
            params![of.tenant, of.id],
        )?;
        Ok(())
    })
}
