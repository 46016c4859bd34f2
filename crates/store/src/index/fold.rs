//! Folding: the oldest block of a tail becomes a packed block and a level-0 segment.
//!
//! The postings are written in slices into a segment that nobody sees; one last transaction publishes
//! it together with the block and removes the tail rows. Cut off anywhere, the next fold goes on from
//! the last term written, because the tail rows it reads are still there.

use std::{collections::HashMap, time::Instant};

use crate::{error::StoreError, params, rows::Rows, sql::Transaction};

use super::{
    Collection,
    attributes::{Attributes, BLOCK, decode, encode},
    damaged,
    postings::{Posting, PostingWriter, for_each_term},
    schema::state,
    vector_set,
    writer::{CollectionRow, IndexWriter, collection_row},
};

/// Folds until the collection's tail is shorter than a block.
pub(crate) fn run(writer: &IndexWriter<'_>, of: Collection<'_>) -> Result<(), StoreError> {
    while let Some(tail) = Tail::read(writer, of)? {
        let segment = building_segment(writer, of, tail.row)?;
        write_postings(writer, of, segment, &tail.postings)?;
        publish(writer, of, &tail, segment)?;
    }
    Ok(())
}

/// The first block of a tail, inverted.
struct Tail {
    row: CollectionRow,
    attributes: Vec<Attributes>,
    postings: Vec<(String, Vec<u8>)>,
}

impl Tail {
    fn read(writer: &IndexWriter<'_>, of: Collection<'_>) -> Result<Option<Self>, StoreError> {
        writer.index.database.read(&writer.control, |tx| {
            let Some(row) = read_row(tx, of)? else { return Ok(None) };
            if row.slots - row.folded < BLOCK {
                return Ok(None);
            }
            let (attributes, postings) = invert(tx, of, row)?;
            Ok(Some(Self { row, attributes, postings }))
        })
    }
}

pub(crate) fn read_row(
    tx: &Transaction<'_>,
    of: Collection<'_>,
) -> Result<Option<CollectionRow>, StoreError> {
    tx.query_one(
        "SELECT id, revision, slots, folded, birth FROM collections WHERE tenant = $1 AND id = $2",
        params![of.tenant, of.id],
        collection_row,
    )
}

type Inverted = (Vec<Attributes>, Vec<(String, Vec<u8>)>);

fn invert(tx: &Transaction<'_>, of: Collection<'_>, row: CollectionRow) -> Result<Inverted, StoreError> {
    let mut attributes = Vec::with_capacity(BLOCK as usize);
    let mut terms: HashMap<String, PostingWriter> = HashMap::new();
    tx.for_each(
        "SELECT slot, attributes, terms FROM tails
         WHERE tenant = $1 AND collection = $2 AND slot >= $3 AND slot < $4 ORDER BY slot",
        params![of.tenant, of.id, row.folded, row.folded + BLOCK],
        |columns| {
            let slot = columns.get::<u32>(0)?;
            let one = decode(columns.blob(1)?).ok_or_else(|| damaged("a passage's attributes"))?;
            attributes.extend(one);
            for_each_term(columns.blob(2)?, |term, count| {
                let posting = Posting { slot, count };
                match terms.get_mut(term) {
                    Some(list) => list.push(posting),
                    None => terms.entry(term.to_owned()).or_default().push(posting),
                }
            })
            .ok_or_else(|| damaged("a passage's terms"))
        },
    )?;
    if attributes.len() != BLOCK as usize {
        return Err(damaged("a tail with a gap"));
    }
    let mut postings: Vec<_> = terms.into_iter().map(|(term, list)| (term, list.into_bytes())).collect();
    postings.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok((attributes, postings))
}

/// The unseen level-0 segment of this fold: the one a broken-off fold left, or a new one.
fn building_segment(
    writer: &IndexWriter<'_>,
    of: Collection<'_>,
    row: CollectionRow,
) -> Result<i64, StoreError> {
    writer.index.database.write(&writer.control, |tx| {
        let left = tx.query_one(
            "SELECT id FROM segments
             WHERE tenant = $1 AND collection = $2 AND level = 0 AND state = $3 AND first_slot = $4",
            params![of.tenant, of.id, state::BUILDING, row.folded],
            |found| found.get::<i64>(0),
        )?;
        left.map_or_else(|| add_segment(tx, of, row.folded, BLOCK, 0), Ok)
    })
}

/// Adds an unseen segment and returns its id. Ids are never given twice.
pub(crate) fn add_segment(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    first_slot: u32,
    slots: u32,
    level: u32,
) -> Result<i64, StoreError> {
    let id = tx.query_one(
        "UPDATE collections SET segments = segments + 1 WHERE tenant = $1 AND id = $2 RETURNING segments",
        params![of.tenant, of.id],
        |row| row.get::<i64>(0),
    )?;
    let id = id.ok_or_else(|| damaged("a segment without a collection"))?;
    tx.post(
        "INSERT INTO segments (tenant, collection, id, first_slot, slots, level, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        params![of.tenant, of.id, id, first_slot, slots, level, state::BUILDING],
    )?;
    Ok(id)
}

/// The last term a broken-off run wrote into an unseen segment. Terms are written in ascending order.
pub(crate) fn last_term(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    segment: i64,
) -> Result<Option<String>, StoreError> {
    tx.query_one(
        "SELECT term FROM postings WHERE tenant = $1 AND collection = $2 AND segment = $3
         ORDER BY term DESC LIMIT 1",
        params![of.tenant, of.id, segment],
        |row| row.get::<String>(0),
    )
}

fn write_postings(
    writer: &IndexWriter<'_>,
    of: Collection<'_>,
    segment: i64,
    postings: &[(String, Vec<u8>)],
) -> Result<(), StoreError> {
    let last = writer.index.database.read(&writer.control, |tx| last_term(tx, of, segment))?;
    let mut done = last.map_or(0, |last| postings.partition_point(|(term, _)| *term <= last));
    while done < postings.len() {
        writer.control.check()?;
        done += write_slice(writer, of, segment, &postings[done..])?;
    }
    Ok(())
}

/// Writes as many postings as fit a slice and returns how many.
pub(crate) fn write_slice(
    writer: &IndexWriter<'_>,
    of: Collection<'_>,
    segment: i64,
    postings: &[(String, Vec<u8>)],
) -> Result<usize, StoreError> {
    const BETWEEN_LOOKS: usize = 256;
    const POSTINGS: Rows = Rows::new("INSERT INTO postings (tenant, collection, segment, term, data)", 5);
    writer.index.database.write(&writer.control, |tx| {
        let started = Instant::now();
        let mut done = 0;
        let mut values = Vec::with_capacity(BETWEEN_LOOKS * 5);
        for chunk in postings.chunks(BETWEEN_LOOKS) {
            values.clear();
            for (term, data) in chunk {
                values.extend_from_slice(params![of.tenant, of.id, segment, term, data]);
            }
            POSTINGS.write(tx, &values)?;
            done += chunk.len();
            if started.elapsed() >= writer.slice_time() {
                break;
            }
        }
        Ok(done)
    })
}

fn publish(
    writer: &IndexWriter<'_>,
    of: Collection<'_>,
    tail: &Tail,
    segment: i64,
) -> Result<(), StoreError> {
    let folded = tail.row.folded;
    let attributes = encode(&tail.attributes);
    writer.index.database.write(&writer.control, |tx| {
        tx.post(
            "INSERT INTO blocks (tenant, collection, block, attributes) VALUES ($1, $2, $3, $4)",
            params![of.tenant, of.id, folded / BLOCK, &attributes],
        )?;
        vector_set::fold_tail(tx, of, folded)?;
        tx.post(
            "DELETE FROM tails WHERE tenant = $1 AND collection = $2 AND slot >= $3 AND slot < $4",
            params![of.tenant, of.id, folded, folded + BLOCK],
        )?;
        tx.post(
            "UPDATE segments SET state = $4 WHERE tenant = $1 AND collection = $2 AND id = $3",
            params![of.tenant, of.id, segment, state::PUBLISHED],
        )?;
        tx.post(
            "UPDATE collections SET folded = $3, revision = revision + 1 WHERE tenant = $1 AND id = $2",
            params![of.tenant, of.id, folded + BLOCK],
        )?;
        Ok(())
    })
}
