//! Purging: no byte of a source's text, terms or vectors stays, in the file or its log.
//!
//! The slots remain as holes that are never seen, so that nothing else moves.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Rewrite, error::StoreError, params, rows::Rows, sql::Transaction};

use super::{
    Collection,
    attributes::{Attributes, BLOCK, decode, encode},
    damaged, fold,
    labels::{LabelNumbers, Space, forget_unused},
    postings::{PostingWriter, for_each_posting},
    truth::Source,
    vector_block::{PackedVector, VectorBlock},
    writer::{IndexWriter, read_ends, write_ends},
};

/// Rows of a segment looked through in one transaction.
const CHUNK: u32 = 8_192;

impl IndexWriter<'_> {
    /// Removes everything the index has of `sources`, living and dead, and rewrites the file so that no
    /// deleted byte remains. Repeating a purge that was cut off completes it, if `rewritten` is everything.
    ///
    /// Returns the statements that the owner of a server is left to run; see [`crate::Database::rewrite`].
    pub fn purge(
        &mut self,
        tenant: &str,
        sources: &[Source],
        rewritten: Rewrite,
    ) -> Result<Vec<String>, StoreError> {
        // A word that goes gets a new number when it comes back.
        self.labels = LabelNumbers::default();
        let places = self.index.database.read(&self.control, |tx| places(tx, tenant, sources))?;
        let collections: BTreeSet<i64> = places.iter().map(|(collection, _)| *collection).collect();
        for collection in collections {
            let slots: BTreeSet<u32> =
                places.iter().filter(|(of, _)| *of == collection).map(|(_, slot)| *slot).collect();
            let of = Collection { tenant, id: collection };
            self.purge_postings(of, &slots)?;
            self.index.database.write(&self.control, |tx| purge_slots(tx, of, &slots))?;
        }
        // A process that has the file open must not keep what it read.
        self.index.views.clear();
        self.index.database.rewrite(&self.control, rewritten)
    }

    fn purge_postings(&self, of: Collection<'_>, slots: &BTreeSet<u32>) -> Result<(), StoreError> {
        let segments = self.index.database.read(&self.control, |tx| {
            tx.query(
                "SELECT id, first_slot, slots FROM segments WHERE tenant = $1 AND collection = $2",
                params![of.tenant, of.id],
                |row| Ok((row.get::<i64>(0)?, row.get::<u32>(1)?, row.get::<u32>(2)?)),
            )
        })?;
        for (segment, first, count) in segments {
            if slots.range(first..first.saturating_add(count)).next().is_none() {
                continue;
            }
            let mut after = Some(String::new());
            while let Some(from) = after {
                self.control.check()?;
                let database = &self.index.database;
                let (changed, last) =
                    database.read(&self.control, |tx| rewritten(tx, of, segment, &from, slots))?;
                database.write(&self.control, |tx| rewrite(tx, of, segment, &changed))?;
                after = last;
            }
        }
        Ok(())
    }
}

fn places(tx: &Transaction<'_>, tenant: &str, sources: &[Source]) -> Result<Vec<(i64, u32)>, StoreError> {
    let mut places = Vec::new();
    for source in sources {
        places.extend(tx.query(
            "SELECT collection, slot FROM passages WHERE tenant = $1 AND source_kind = $2 AND source = $3",
            params![tenant, u32::from(source.kind.code()), source.number],
            |row| Ok((row.get::<i64>(0)?, row.get::<u32>(1)?)),
        )?);
    }
    Ok(places)
}

type Rewritten = (Vec<(String, Vec<u8>)>, Option<String>);

/// The lists after term `from` that hold one of `slots`, without them, and the last term looked at;
/// `None` at the end.
fn rewritten(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    segment: i64,
    from: &str,
    slots: &BTreeSet<u32>,
) -> Result<Rewritten, StoreError> {
    let (mut changed, mut last, mut seen) = (Vec::new(), None, 0);
    tx.for_each(
        "SELECT term, data FROM postings
         WHERE tenant = $1 AND collection = $2 AND segment = $3 AND term > $4 ORDER BY term LIMIT $5",
        params![of.tenant, of.id, segment, from, CHUNK],
        |row| {
            let (mut kept, mut purged) = (PostingWriter::default(), false);
            for_each_posting(row.blob(1)?, |posting| {
                if slots.contains(&posting.slot) {
                    purged = true;
                } else {
                    kept.push(posting);
                }
            })
            .ok_or_else(|| damaged("a list of postings"))?;
            if purged {
                changed.push((row.get::<String>(0)?, kept.into_bytes()));
            }
            seen += 1;
            if seen == CHUNK {
                last = Some(row.get(0)?);
            }
            Ok(())
        },
    )?;
    Ok((changed, last))
}

fn rewrite(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    segment: i64,
    changed: &[(String, Vec<u8>)],
) -> Result<(), StoreError> {
    const POSTINGS: Rows = Rows::new("INSERT INTO postings (tenant, collection, segment, term, data)", 5)
        .or("ON CONFLICT (tenant, collection, segment, term) DO UPDATE SET data = excluded.data");
    let mut values = Vec::with_capacity(changed.len() * 5);
    for (term, data) in changed {
        if data.is_empty() {
            tx.post(
                "DELETE FROM postings WHERE tenant = $1 AND collection = $2 AND segment = $3 AND term = $4",
                params![of.tenant, of.id, segment, term],
            )?;
        } else {
            values.extend_from_slice(params![of.tenant, of.id, segment, term, data]);
        }
    }
    POSTINGS.write(tx, &values)
}

/// Blanks the slots everywhere else. The places go last: until then the purge can be repeated.
fn purge_slots(tx: &Transaction<'_>, of: Collection<'_>, slots: &BTreeSet<u32>) -> Result<(), StoreError> {
    let Some(row) = fold::read_row(tx, of)? else { return Ok(()) };
    let hole = encode(&[Attributes::PURGED]);
    for slot in slots {
        if *slot >= row.folded {
            tx.post(
                "UPDATE tails SET attributes = $4, terms = $5 WHERE tenant = $1 AND collection = $2 AND slot = $3",
                params![of.tenant, of.id, *slot, &hole, &[0_u8; 0]],
            )?;
        }
        for statement in [
            "DELETE FROM texts WHERE tenant = $1 AND collection = $2 AND slot = $3",
            "DELETE FROM tail_vectors WHERE tenant = $1 AND collection = $2 AND slot = $3",
            "DELETE FROM passages WHERE tenant = $1 AND collection = $2 AND slot = $3",
        ] {
            tx.post(statement, params![of.tenant, of.id, *slot])?;
        }
    }
    let blocks: BTreeSet<u32> = slots.iter().map(|slot| slot / BLOCK).collect();
    for block in blocks {
        end_before_all(tx, (of, row.revision + 1), block, slots)?;
        if block * BLOCK < row.folded {
            blank_attributes(tx, of, block, slots)?;
            blank_vectors(tx, (of, row.revision + 1), block, slots)?;
        }
    }
    forget_words(tx, of, row.folded)?;
    tx.post(
        "UPDATE collections SET revision = revision + 1 WHERE tenant = $1 AND id = $2",
        params![of.tenant, of.id],
    )?;
    Ok(())
}

/// Takes away the names of speakers, sessions, branches and kinds that no passage has any more.
fn forget_words(tx: &Transaction<'_>, of: Collection<'_>, folded: u32) -> Result<(), StoreError> {
    let mut used = Space::ALL.map(|space| (space, BTreeSet::new()));
    let mut note = |data: &[u8]| -> Result<(), StoreError> {
        for one in decode(data).ok_or_else(|| damaged("a block of passages"))? {
            for (space, numbers) in &mut used {
                numbers.insert(match space {
                    Space::Kind => one.kind,
                    Space::Branch => one.branch,
                    Space::Owner => one.owner,
                    Space::Group => one.group,
                });
            }
        }
        Ok(())
    };
    tx.for_each(
        "SELECT attributes FROM blocks WHERE tenant = $1 AND collection = $2",
        params![of.tenant, of.id],
        |row| note(row.blob(0)?),
    )?;
    tx.for_each(
        "SELECT attributes FROM tails WHERE tenant = $1 AND collection = $2 AND slot >= $3",
        params![of.tenant, of.id, folded],
        |row| note(row.blob(0)?),
    )?;
    used.iter().try_for_each(|(space, numbers)| forget_unused(tx, of, *space, numbers))
}

fn inside(block: u32, slots: &BTreeSet<u32>) -> impl Iterator<Item = usize> {
    slots.range(block * BLOCK..(block + 1) * BLOCK).map(move |slot| (slot % BLOCK) as usize)
}

/// Ends the slots before every sequence, so that views made earlier let go of them, too.
fn end_before_all(
    tx: &Transaction<'_>,
    (of, revision): (Collection<'_>, i64),
    block: u32,
    slots: &BTreeSet<u32>,
) -> Result<(), StoreError> {
    let mut ends: BTreeMap<u32, i64> = read_ends(tx, of, block)?.into_iter().collect();
    for offset in slots.range(block * BLOCK..(block + 1) * BLOCK).map(|slot| slot % BLOCK) {
        ends.insert(offset, i64::MIN);
    }
    write_ends(tx, of, block, revision, &ends)
}

fn blank_attributes(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    block: u32,
    slots: &BTreeSet<u32>,
) -> Result<(), StoreError> {
    let data = tx.query_one(
        "SELECT attributes FROM blocks WHERE tenant = $1 AND collection = $2 AND block = $3",
        params![of.tenant, of.id, block],
        |row| row.get::<Vec<u8>>(0),
    )?;
    let Some(data) = data else { return Ok(()) };
    let mut rows = decode(&data).ok_or_else(|| damaged("a block of passages"))?;
    for offset in inside(block, slots) {
        rows[offset] = Attributes::PURGED;
    }
    tx.post(
        "UPDATE blocks SET attributes = $4 WHERE tenant = $1 AND collection = $2 AND block = $3",
        params![of.tenant, of.id, block, &encode(&rows)],
    )?;
    Ok(())
}

fn blank_vectors(
    tx: &Transaction<'_>,
    (of, revision): (Collection<'_>, i64),
    block: u32,
    slots: &BTreeSet<u32>,
) -> Result<(), StoreError> {
    let sets = tx.query(
        "SELECT v.vector_set, s.dimension, v.data FROM vector_blocks v
         JOIN vector_sets s ON s.tenant = v.tenant AND s.id = v.vector_set
         WHERE v.tenant = $1 AND v.collection = $2 AND v.block = $3",
        params![of.tenant, of.id, block],
        |row| Ok((row.get::<i64>(0)?, row.get::<usize>(1)?, row.get::<Vec<u8>>(2)?)),
    )?;
    let none = PackedVector { values: Vec::new(), scale: 0.0 };
    for (set, dimension, data) in sets {
        let mut vectors = VectorBlock::decode(&data, dimension).ok_or_else(|| damaged("a vector block"))?;
        let known = vectors.slots();
        for offset in inside(block, slots).filter(|offset| *offset < known) {
            vectors.set(offset, &none);
        }
        tx.post(
            "UPDATE vector_blocks SET data = $5, revision = $6
             WHERE tenant = $1 AND collection = $2 AND vector_set = $3 AND block = $4",
            params![of.tenant, of.id, set, block, &vectors.encode(), revision],
        )?;
    }
    Ok(())
}
