//! What a change leaves as it was. An edit of one section gives its whole file anew; the parts that read as before keep
//! their passages, so that a write costs what it changes and not what the file holds.
//!
//! The parts of one source then begin at different sequences. What they have in common is the same for all of them, or
//! none is kept; only their time is that of an earlier change, and the latest one's holds for all: see
//! [`super::columns`].

use std::collections::{BTreeMap, HashSet};

use strata_core::rank::Flags;

use crate::{
    error::StoreError,
    params,
    rows::{LIST, listed, padded},
    sql::Transaction,
};

use super::{
    Collection,
    attributes::{Attributes, BLOCK, decode},
    damaged,
    passage::{Passages, Prepared, WordNumbers},
    vector_set::{self, VectorSet},
};

/// The collection that holds the passages.
pub(crate) struct Known<'k> {
    pub(crate) of: Collection<'k>,
    /// Slots that lie in blocks.
    pub(crate) folded: u32,
    /// The set that the vectors of the change go to.
    pub(crate) set: Option<&'k VectorSet>,
}

/// The slots, by part, of living passages of a document that say what the same part says after `change`, and have a
/// vector where it would. `live` are its living slots, each with the sequence from which it is seen.
///
/// At least one part is always left out: it carries the time of the change, and shows that it was made.
pub(crate) fn parts(
    tx: &Transaction<'_>,
    known: &Known<'_>,
    live: &[(u32, i64)],
    change: &Prepared,
    passages: &Passages,
    words: WordNumbers,
) -> Result<BTreeMap<u32, u32>, StoreError> {
    let mut kept = BTreeMap::new();
    let Some((latest, _)) = live.iter().max_by_key(|(slot, from)| (*from, *slot)) else { return Ok(kept) };
    if passages.parts.len() < 2 || passages.parts.iter().any(|part| part.text.is_none()) {
        return Ok(kept);
    }
    let has_same_frame = attributes(tx, known, *latest)?
        .is_some_and(|old| frame(&old) == frame(&change.attributes(passages, 0, words)));
    if !has_same_frame {
        return Ok(kept);
    }
    let mut slots: Vec<u32> = live.iter().map(|(slot, _)| *slot).collect();
    slots.sort_unstable();
    let waiting = waiting(tx, known, &slots, passages)?;
    for slots in slots.chunks(LIST) {
        for_each_text(tx, known.of, slots, |slot, part, held| {
            let text = passages.parts.get(part as usize).and_then(|part| part.text.as_ref());
            let is_same = text.is_some_and(|text| [&*text.title, &*text.body, &*text.place] == held);
            if is_same && !waiting.contains(&slot) {
                kept.insert(part, slot);
            }
        })?;
    }
    if kept.len() == passages.parts.len() {
        kept.pop_last();
    }
    Ok(kept)
}

/// What the parts of one source have in common.
fn frame(of: &Attributes) -> impl PartialEq + use<> {
    let own = Flags((of.flags & 0xff) as u8);
    let words = (of.group, of.owner, of.kind, of.branch);
    let worth = (of.layer, of.confidence, of.importance);
    (words, worth, of.order, of.flags >> 8, own.has(Flags::CODE), own.has(Flags::TURN))
}

fn attributes(tx: &Transaction<'_>, known: &Known<'_>, slot: u32) -> Result<Option<Attributes>, StoreError> {
    let is_folded = slot < known.folded;
    let (sql, place) = match is_folded {
        true => (
            "SELECT attributes FROM blocks WHERE tenant = $1 AND collection = $2 AND block = $3",
            slot / BLOCK,
        ),
        false => ("SELECT attributes FROM tails WHERE tenant = $1 AND collection = $2 AND slot = $3", slot),
    };
    let data =
        tx.query_one(sql, params![known.of.tenant, known.of.id, place], |row| row.get::<Vec<u8>>(0))?;
    let Some(data) = data else { return Ok(None) };
    let rows = decode(&data).ok_or_else(|| damaged("a passage's attributes"))?;
    Ok(rows.get(if is_folded { (slot % BLOCK) as usize } else { 0 }).copied())
}

/// Those of `slots`, which ascend, that wait for a vector.
fn waiting(
    tx: &Transaction<'_>,
    known: &Known<'_>,
    slots: &[u32],
    passages: &Passages,
) -> Result<HashSet<u32>, StoreError> {
    if passages.model.is_none() {
        return Ok(HashSet::new());
    }
    let Some(set) = known.set else { return Ok(slots.iter().copied().collect()) };
    let (folded, tail) = slots.split_at(slots.partition_point(|slot| *slot < known.folded));
    let mut waiting: HashSet<u32> = tail.iter().copied().collect();
    for slots in tail.chunks(LIST) {
        vector_set::for_each_in_tail(tx, known.of, set, slots, |slot| {
            waiting.remove(&slot);
        })?;
    }
    for slots in folded.chunk_by(|a, b| a / BLOCK == b / BLOCK) {
        let first = slots[0] / BLOCK * BLOCK;
        let lacking = vector_set::waiting_in_block(tx, known.of, first, known.folded, Some(set))?;
        let lacks = |slot: &u32| lacking.get((slot - first) as usize).copied().unwrap_or(false);
        waiting.extend(slots.iter().copied().filter(lacks));
    }
    Ok(waiting)
}

fn for_each_text(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    slots: &[u32],
    mut job: impl FnMut(u32, u32, [&str; 3]),
) -> Result<(), StoreError> {
    let mut values = params![of.tenant, of.id].to_vec();
    let list = listed(&mut values, padded(slots).copied());
    tx.for_each(
        &format!(
            "SELECT t.slot, p.part, t.title, t.body, t.place FROM texts t
             JOIN passages p ON p.tenant = t.tenant AND p.collection = t.collection AND p.slot = t.slot
             WHERE t.tenant = $1 AND t.collection = $2 AND t.slot IN ({list})"
        ),
        &values,
        |row| {
            job(row.get(0)?, row.get(1)?, [row.text(2)?, row.text(3)?, row.text(4)?]);
            Ok(())
        },
    )
}
