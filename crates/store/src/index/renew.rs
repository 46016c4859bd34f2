//! Making a collection anew of which most is dead: files that change leave passages behind that nobody can see any more, and
//! those keep their numbers, postings and vectors.
//!
//! The others are copied, in their order, into a collection that nobody sees; one transaction then puts it in the place of
//! the old one, which is removed in slices like any that was replaced. Cut off before, the copy is such a one.

use std::collections::BTreeMap;

use crate::{error::StoreError, params, rows::Rows, sql::Transaction};

use super::{
    Collection,
    attributes::{Attributes, BLOCK, decode, decode_ends, encode},
    damaged,
    fold::{add_segment, read_row, write_slice},
    labels::Space,
    merge::{next_rows, published},
    merge_policy::FAN_OUT,
    postings::{PostingWriter, for_each_posting},
    schema::state,
    slice::birth,
    truth::SourceKind,
    vector_block::{PackedVector, VectorBlock},
    vector_set::{self, VectorSet},
    writer::{CollectionRow, IndexWriter, LIVE, next_id, write_ends},
};

/// A slot with the sort, number and part of its source, and since and until when it counts.
type PassageRow = (u32, [i64; 5]);
/// A slot with its title, text and place.
type TextRow = (u32, [String; 3]);

/// A collection of fewer slots is left as it is: nothing would be won.
const LEAST: u32 = 2 * BLOCK;

/// Passages and names copied in one transaction.
const CHUNK: usize = 512;

/// The place of a slot that has none in the copy.
const NONE: u32 = u32::MAX;

impl IndexWriter<'_> {
    /// Makes those collections of a tenant anew of which more than half is dead, and returns how many that were. Searches go on
    /// meanwhile, and find the same before and after.
    pub fn renew(&self, tenant: &str) -> Result<usize, StoreError> {
        let mut renewed = 0;
        for id in self.collections(tenant)? {
            let of = Collection { tenant, id };
            let Some(plan) = self.index.database.read(&self.control, |tx| Plan::of(tx, of))? else {
                continue;
            };
            let id = self.index.database.write(&self.control, |tx| begin(tx, of))?;
            let to = Collection { tenant, id };
            Copying { writer: self, of, to, plan: &plan, groups: BTreeMap::new() }.run()?;
            self.index.note_tidy(tenant, false);
            renewed += 1;
        }
        Ok(renewed)
    }
}

/// What goes where.
struct Plan {
    row: CollectionRow,
    /// By slot: its number in the copy, or [`NONE`].
    place: Vec<u32>,
    /// The slots that are copied and lie in blocks.
    packed: Vec<u32>,
    /// Those that do not.
    tail: Vec<u32>,
    /// Slots of the copy that lie in blocks; the last of them may be holes.
    folded: u32,
}

impl Plan {
    /// `None` when too little of the collection is dead. A version of a file of the vault is not: it is read again, and so
    /// is what a memory was.
    fn of(tx: &Transaction<'_>, of: Collection<'_>) -> Result<Option<Self>, StoreError> {
        let Some(row) = read_row(tx, of)?.filter(|row| row.slots >= LEAST) else { return Ok(None) };
        let most = row.slots as usize / 2;
        if count_dead(tx, of)? <= most {
            return Ok(None);
        }
        let kept = tx.query(
            "SELECT slot FROM passages p WHERE tenant = $1 AND collection = $2
               AND (source_kind <> $3 OR to_seq = $4 OR EXISTS (SELECT 1 FROM texts t
                    WHERE t.tenant = p.tenant AND t.collection = p.collection AND t.slot = p.slot))
             ORDER BY slot",
            params![of.tenant, of.id, u32::from(SourceKind::Document.code()), LIVE],
            |found| found.get::<u32>(0),
        )?;
        if kept.len() >= most || kept.last().is_some_and(|last| *last >= row.slots) {
            return Ok(None);
        }
        let (packed, tail) = kept.split_at(kept.partition_point(|slot| *slot < row.folded));
        let folded = u32::try_from(packed.len()).unwrap_or(u32::MAX).next_multiple_of(BLOCK);
        let mut place = vec![NONE; row.slots as usize];
        for (new, old) in (0..).zip(packed).chain((folded..).zip(tail)) {
            place[*old as usize] = new;
        }
        Ok(Some(Self { row, place, packed: packed.to_vec(), tail: tail.to_vec(), folded }))
    }

    fn place(&self, slot: u32) -> Option<u32> {
        self.place.get(slot as usize).copied().filter(|place| *place != NONE)
    }
}

fn count_dead(tx: &Transaction<'_>, of: Collection<'_>) -> Result<usize, StoreError> {
    let mut dead = 0;
    tx.for_each(
        "SELECT data FROM ends WHERE tenant = $1 AND collection = $2",
        params![of.tenant, of.id],
        |row| {
            dead += decode_ends(row.blob(0)?).ok_or_else(|| damaged("the ends of a block"))?.len();
            Ok(())
        },
    )?;
    Ok(dead)
}

/// Adds an empty collection beside `of` that nobody sees.
fn begin(tx: &Transaction<'_>, of: Collection<'_>) -> Result<i64, StoreError> {
    let id = next_id(tx, of.tenant)?;
    tx.post(
        "INSERT INTO collections (tenant, id, namespace, project, birth, retired)
         SELECT tenant, $3, namespace, project, $4, $3 FROM collections WHERE tenant = $1 AND id = $2",
        params![of.tenant, of.id, id, birth()],
    )?;
    Ok(id)
}

/// A copy under way.
struct Copying<'c> {
    writer: &'c IndexWriter<'c>,
    of: Collection<'c>,
    to: Collection<'c>,
    plan: &'c Plan,
    /// Groups that still have a member, by their old numbers.
    groups: BTreeMap<u32, u32>,
}

impl Copying<'_> {
    fn run(mut self) -> Result<(), StoreError> {
        self.blocks()?;
        self.tail()?;
        self.words()?;
        for set in self.writer.index.vector_sets(self.of.tenant)? {
            self.vectors(&set)?;
        }
        let slots: Vec<u32> = self.plan.packed.iter().chain(&self.plan.tail).copied().collect();
        for slots in slots.chunks(CHUNK) {
            self.passages(slots)?;
        }
        self.ends()?;
        let segment = self.postings()?;
        self.write(|tx| self.publish(tx, segment))
    }

    fn read<T>(&self, job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.writer.control.check()?;
        self.writer.index.database.read(&self.writer.control, job)
    }

    fn write<T>(&self, job: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.writer.control.check()?;
        self.writer.index.database.write(&self.writer.control, job)
    }

    /// The same passage in the copy, where groups without a member have no number.
    fn renumbered(&mut self, row: Attributes) -> Attributes {
        if row.group == 0 {
            return row;
        }
        let next = u32::try_from(self.groups.len()).unwrap_or(u32::MAX).saturating_add(1);
        Attributes { group: *self.groups.entry(row.group).or_insert(next), ..row }
    }

    fn blocks(&mut self) -> Result<(), StoreError> {
        let (mut from, mut rows) = (NONE, Vec::new());
        for (block, slots) in (0_u32..).zip(self.plan.packed.chunks(BLOCK as usize)) {
            let mut copy = Vec::with_capacity(BLOCK as usize);
            for slot in slots {
                if slot / BLOCK != from {
                    from = slot / BLOCK;
                    rows = self.read(|tx| block_at(tx, self.of, from))?;
                }
                let row = rows.get((slot % BLOCK) as usize).ok_or_else(|| damaged("a block of passages"))?;
                copy.push(self.renumbered(*row));
            }
            copy.resize(BLOCK as usize, Attributes::PURGED);
            let data = encode(&copy);
            self.write(|tx| {
                tx.post(
                    "INSERT INTO blocks (tenant, collection, block, attributes) VALUES ($1, $2, $3, $4)",
                    params![self.to.tenant, self.to.id, block, &data],
                )
            })?;
        }
        Ok(())
    }

    fn tail(&mut self) -> Result<(), StoreError> {
        const TAILS: Rows = Rows::new("INSERT INTO tails (tenant, collection, slot, attributes, terms)", 5);
        let (of, to, plan) = (self.of, self.to, self.plan);
        let rows = self.read(|tx| {
            tx.query(
                "SELECT slot, attributes, terms FROM tails
                 WHERE tenant = $1 AND collection = $2 AND slot >= $3 ORDER BY slot",
                params![of.tenant, of.id, plan.row.folded],
                |row| Ok((row.get::<u32>(0)?, row.get::<Vec<u8>>(1)?, row.get::<Vec<u8>>(2)?)),
            )
        })?;
        let mut copy = Vec::with_capacity(plan.tail.len());
        for (slot, attributes, terms) in rows {
            let Some(place) = plan.place(slot) else { continue };
            let one = decode(&attributes).and_then(|rows| rows.into_iter().next());
            let one = self.renumbered(one.ok_or_else(|| damaged("a passage's attributes"))?);
            copy.push((place, encode(&[one]), terms));
        }
        self.write(|tx| {
            let mut values = Vec::with_capacity(copy.len() * 5);
            for (place, attributes, terms) in &copy {
                values.extend_from_slice(params![to.tenant, to.id, *place, attributes, terms]);
            }
            TAILS.write(tx, &values)
        })
    }

    fn words(&self) -> Result<(), StoreError> {
        let (of, to) = (self.of, self.to);
        self.write(|tx| {
            tx.post(
                "INSERT INTO labels (tenant, collection, space, number, word)
                 SELECT tenant, $3, space, number, word FROM labels
                 WHERE tenant = $1 AND collection = $2 AND space <> $4",
                params![of.tenant, of.id, to.id, Space::Group.code()],
            )
        })?;
        let groups: Vec<(u32, u32)> = self.groups.iter().map(|(old, new)| (*old, *new)).collect();
        groups.chunks(CHUNK).try_for_each(|groups| {
            self.write(|tx| {
                groups.iter().try_for_each(|(old, new)| {
                    tx.post(
                        "INSERT INTO labels (tenant, collection, space, number, word)
                         SELECT tenant, $4, space, $5, word FROM labels
                         WHERE tenant = $1 AND collection = $2 AND space = $3 AND number = $6",
                        params![of.tenant, of.id, Space::Group.code(), to.id, *new, *old],
                    )
                })
            })
        })
    }

    fn vectors(&self, set: &VectorSet) -> Result<(), StoreError> {
        let none = PackedVector { values: Vec::new(), scale: 0.0 };
        let (mut from, mut vectors): (u32, Option<VectorBlock>) = (NONE, None);
        for (block, slots) in (0_u32..).zip(self.plan.packed.chunks(BLOCK as usize)) {
            let mut copy = VectorBlock::missing(set.dimension, BLOCK as usize);
            for (at, slot) in slots.iter().enumerate() {
                if slot / BLOCK != from {
                    from = slot / BLOCK;
                    vectors = self.read(|tx| vector_set::read_block(tx, self.of, set, from))?;
                }
                if let Some(vectors) = &vectors {
                    copy.copy(at, vectors, (slot % BLOCK) as usize);
                }
            }
            (slots.len()..BLOCK as usize).for_each(|hole| copy.set(hole, &none));
            self.write(|tx| vector_set::write_block(tx, self.to, set.id, block, 0, &copy))?;
        }
        self.tail_vectors(set)
    }

    fn tail_vectors(&self, set: &VectorSet) -> Result<(), StoreError> {
        let rows = self.read(|tx| {
            tx.query(
                "SELECT slot, data FROM tail_vectors
                 WHERE tenant = $1 AND collection = $2 AND vector_set = $3 ORDER BY slot",
                params![self.of.tenant, self.of.id, set.id],
                |row| Ok((row.get::<u32>(0)?, row.get::<Vec<u8>>(1)?)),
            )
        })?;
        let copied = rows.into_iter().filter_map(|(slot, data)| Some((set.id, self.plan.place(slot)?, data)));
        let copied: Vec<_> = copied.collect();
        self.write(|tx| vector_set::put_tail(tx, self.to, &copied))
    }

    /// Copies where `slots` are, and their texts.
    fn passages(&self, slots: &[u32]) -> Result<(), StoreError> {
        const PASSAGES: Rows = Rows::new(
            "INSERT INTO passages (tenant, collection, slot, source_kind, source, part, from_seq, to_seq)",
            8,
        );
        const TEXTS: Rows = Rows::new("INSERT INTO texts (tenant, collection, slot, title, body, place)", 6);
        let (Some(first), Some(last)) = (slots.first(), slots.last()) else { return Ok(()) };
        let (passages, texts) = self.written(*first, *last)?;
        let to = self.to;
        self.write(|tx| {
            let mut values = Vec::with_capacity(slots.len() * 8);
            for (slot, [kind, source, part, from, until]) in &passages {
                let Some(place) = self.plan.place(*slot) else { continue };
                values.extend_from_slice(params![
                    to.tenant, to.id, place, *kind, *source, *part, *from, *until
                ]);
            }
            PASSAGES.write(tx, &values)?;
            values.clear();
            for (slot, [title, body, at]) in &texts {
                let Some(place) = self.plan.place(*slot) else { continue };
                values.extend_from_slice(params![to.tenant, to.id, place, title, body, at]);
            }
            TEXTS.write(tx, &values)
        })
    }

    /// The rows of the slots `first` to `last`: where they are, and their texts.
    fn written(&self, first: u32, last: u32) -> Result<(Vec<PassageRow>, Vec<TextRow>), StoreError> {
        let range = params![self.of.tenant, self.of.id, first, last];
        self.read(|tx| {
            let passages = tx.query(
                "SELECT slot, source_kind, source, part, from_seq, to_seq FROM passages
                 WHERE tenant = $1 AND collection = $2 AND slot >= $3 AND slot <= $4",
                range,
                |row| Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?])),
            )?;
            let texts = tx.query(
                "SELECT slot, title, body, place FROM texts
                 WHERE tenant = $1 AND collection = $2 AND slot >= $3 AND slot <= $4",
                range,
                |row| Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?])),
            )?;
            Ok((passages, texts))
        })
    }

    fn ends(&self) -> Result<(), StoreError> {
        let mut ends: BTreeMap<u32, BTreeMap<u32, i64>> = BTreeMap::new();
        self.read(|tx| {
            tx.for_each(
                "SELECT block, data FROM ends WHERE tenant = $1 AND collection = $2",
                params![self.of.tenant, self.of.id],
                |row| {
                    let first = row.get::<u32>(0)? * BLOCK;
                    let dead = decode_ends(row.blob(1)?).ok_or_else(|| damaged("the ends of a block"))?;
                    for (offset, end) in dead {
                        if let Some(place) = self.plan.place(first + offset) {
                            ends.entry(place / BLOCK).or_default().insert(place % BLOCK, end);
                        }
                    }
                    Ok(())
                },
            )
        })?;
        ends.iter().try_for_each(|(block, ends)| self.write(|tx| write_ends(tx, self.to, *block, 0, ends)))
    }

    /// The postings of all blocks as one segment; `None` when there is no block.
    fn postings(&self) -> Result<Option<i64>, StoreError> {
        if self.plan.folded == 0 {
            return Ok(None);
        }
        let level = (self.plan.folded / BLOCK).ilog(u32::try_from(FAN_OUT).unwrap_or(u32::MAX));
        let segment = self.write(|tx| add_segment(tx, self.to, 0, self.plan.folded, level))?;
        let inputs = self.read(|tx| published(tx, self.of))?;
        let mut after = String::new();
        loop {
            let rows = self.read(|tx| next_rows(tx, self.of, &inputs, &after))?;
            let Some((last, _)) = rows.last() else { return Ok(Some(segment)) };
            after.clone_from(last);
            let mut copied = Vec::with_capacity(rows.len());
            for (term, data) in rows {
                let mut list = PostingWriter::default();
                for_each_posting(&data, |posting| {
                    if let Some(slot) = self.plan.place(posting.slot) {
                        list.push(super::postings::Posting { slot, ..posting });
                    }
                })
                .ok_or_else(|| damaged("a list of postings"))?;
                let list = list.into_bytes();
                if !list.is_empty() {
                    copied.push((term, list));
                }
            }
            let mut done = 0;
            while done < copied.len() {
                self.writer.control.check()?;
                done += write_slice(self.writer, self.to, segment, &copied[done..])?;
            }
        }
    }

    /// Puts the copy in the place of the old collection.
    fn publish(&self, tx: &Transaction<'_>, segment: Option<i64>) -> Result<(), StoreError> {
        let Plan { row, tail, folded, .. } = self.plan;
        let slots = folded + u32::try_from(tail.len()).unwrap_or(0);
        tx.post(
            "UPDATE collections SET retired = id, revision = revision + 1 WHERE tenant = $1 AND id = $2",
            params![self.of.tenant, self.of.id],
        )?;
        if let Some(segment) = segment {
            tx.post(
                "UPDATE segments SET state = $4 WHERE tenant = $1 AND collection = $2 AND id = $3",
                params![self.to.tenant, self.to.id, segment, state::PUBLISHED],
            )?;
        }
        tx.post(
            "UPDATE collections SET retired = 0, slots = $3, folded = $4, revision = $5
             WHERE tenant = $1 AND id = $2",
            params![self.to.tenant, self.to.id, slots, *folded, row.revision + 1],
        )
    }
}

/// The attributes of a block; none of one that is not there.
fn block_at(tx: &Transaction<'_>, of: Collection<'_>, block: u32) -> Result<Vec<Attributes>, StoreError> {
    let data = tx.query_one(
        "SELECT attributes FROM blocks WHERE tenant = $1 AND collection = $2 AND block = $3",
        params![of.tenant, of.id, block],
        |row| row.get::<Vec<u8>>(0),
    )?;
    data.map_or(Ok(Vec::new()), |data| decode(&data).ok_or_else(|| damaged("a block of passages")))
}
