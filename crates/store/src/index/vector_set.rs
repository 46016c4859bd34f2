//! Vector sets: the vectors of one model, whose key names it wholly (id, revision, dimension, prefix,
//! normalisation, window). Several sets stand side by side; one of them answers searches.

use std::collections::BTreeMap;

use crate::{
    error::StoreError,
    params,
    rows::{Rows, listed, padded},
    sql::{Row, Transaction},
};

use super::{
    Collection, Index,
    attributes::BLOCK,
    damaged,
    truth::{Mark, Source, SourceKind},
    vector_block::{PackedVector, VectorBlock},
    writer::{IndexWriter, LIVE, next_id},
};

/// A set of vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorSet {
    pub(crate) id: i64,
    /// Key of the model.
    pub model: String,
    /// Components of a vector.
    pub dimension: usize,
    /// Whether it answers searches.
    pub is_active: bool,
}

/// The number of no set.
const NO_SET: i64 = 0;

/// A live passage that a set has no vector for yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingVector {
    pub(crate) collection: i64,
    pub(crate) slot: u32,
    /// What to embed.
    pub source: Source,
    /// Which part of it.
    pub part: u32,
}

impl Index {
    /// The tenant's vector sets, in order of making.
    pub fn vector_sets(&self, tenant: &str) -> Result<Vec<VectorSet>, StoreError> {
        self.read(Vec::new(), |tx| all(tx, tenant))
    }

    /// How many live passages the tenant has.
    pub fn live_passages(&self, tenant: &str) -> Result<usize, StoreError> {
        self.read(0, |tx| {
            let count = tx.query_one(
                "SELECT count(*) FROM passages p
                 JOIN collections c ON c.tenant = p.tenant AND c.id = p.collection
                 WHERE p.tenant = $1 AND c.retired = 0 AND p.to_seq = $2",
                params![tenant, LIVE],
                |row| row.get::<usize>(0),
            )?;
            Ok(count.unwrap_or(0))
        })
    }

    /// How many live passages have no vector of `model`.
    pub fn missing_count(&self, tenant: &str, model: &str) -> Result<usize, StoreError> {
        self.read(0, |tx| {
            let set = find(tx, tenant, model)?;
            let mut count = 0;
            for (id, slots, folded) in collections(tx, tenant)? {
                let of = Collection { tenant, id };
                for first in (0..slots).step_by(BLOCK as usize) {
                    count += missing_in_block(tx, of, first, folded, set.as_ref())?;
                }
            }
            Ok(count)
        })
    }

    /// At most `limit` live passages without a vector of `model`; empty when the set is complete.
    /// All passages are missing from a set that does not exist.
    pub fn missing(&self, tenant: &str, model: &str, limit: usize) -> Result<Vec<MissingVector>, StoreError> {
        self.read(Vec::new(), |tx| {
            let set = find(tx, tenant, model)?;
            let mut found = Vec::new();
            for (id, slots, folded) in collections(tx, tenant)? {
                let of = Collection { tenant, id };
                for first in (0..slots).step_by(BLOCK as usize) {
                    if found.len() >= limit {
                        break;
                    }
                    let waiting = waiting_in_block(tx, of, first, folded, set.as_ref())?;
                    live_among(tx, of, first, &waiting, |missing| found.push(missing))?;
                }
            }
            found.truncate(limit);
            Ok(found)
        })
    }
}

impl IndexWriter<'_> {
    /// Adds vectors for passages that [`Index::missing`] named; the set is made if it is not there.
    /// Those whose passage has changed since do no harm.
    pub fn put_vectors(
        &self,
        tenant: &str,
        model: &str,
        dimension: usize,
        vectors: &[(MissingVector, PackedVector)],
    ) -> Result<(), StoreError> {
        let mut sorted: Vec<_> = vectors.iter().collect();
        sorted.sort_by_key(|(place, _)| (place.collection, place.slot));
        for block in
            sorted.chunk_by(|(a, _), (b, _)| (a.collection, a.slot / BLOCK) == (b.collection, b.slot / BLOCK))
        {
            self.control.check()?;
            self.index.database.write(&self.control, |tx| {
                let set = find_or_add(tx, tenant, model, dimension)?;
                if set.dimension != dimension {
                    return Err(StoreError::Invalid(format!(
                        "the vectors of `{model}` have {} components, not {dimension}",
                        set.dimension
                    )));
                }
                put_block(tx, tenant, &set, block)
            })?;
        }
        Ok(())
    }

    /// Lets the complete set of `model` answer searches from now on. One row changes.
    pub fn switch_to(&self, tenant: &str, model: &str) -> Result<(), StoreError> {
        if !self.index.missing(tenant, model, 1)?.is_empty() {
            return Err(StoreError::Invalid(format!("the vectors of `{model}` are not complete yet")));
        }
        self.index.database.write(&self.control, |tx| {
            let set = find(tx, tenant, model)?
                .ok_or_else(|| StoreError::NotFound { what: "vector set", key: model.to_owned() })?;
            tx.post("UPDATE tenants SET active_set = $2 WHERE tenant = $1", params![tenant, set.id])
        })?;
        Ok(())
    }

    /// Removes a set. If it answered searches, semantic search is off until another is switched to.
    pub fn drop_set(&self, tenant: &str, model: &str) -> Result<(), StoreError> {
        let set = self.index.database.write(&self.control, |tx| {
            let Some(set) = find(tx, tenant, model)? else { return Ok(None) };
            tx.post(
                "UPDATE tenants SET active_set = NULL WHERE tenant = $1 AND active_set = $2",
                params![tenant, set.id],
            )?;
            tx.post("DELETE FROM vector_sets WHERE tenant = $1 AND id = $2", params![tenant, set.id])?;
            Ok(Some(set))
        })?;
        set.map_or(Ok(()), |set| super::cleaning::vectors_of(self, tenant, set.id))
    }
}

/// The set of `model`, if there is one.
pub(crate) fn find(tx: &Transaction<'_>, tenant: &str, model: &str) -> Result<Option<VectorSet>, StoreError> {
    Ok(all(tx, tenant)?.into_iter().find(|set| set.model == model))
}

/// How far the tenant's ledger has been followed, and the set that answers searches, in one question.
pub(crate) fn mark_and_active(
    tx: &Transaction<'_>,
    tenant: &str,
) -> Result<(Mark, Option<VectorSet>), StoreError> {
    let found = tx.query_one(
        "SELECT t.seq, t.ordinal, s.id, s.model, s.dimension FROM tenants t
         LEFT JOIN vector_sets s ON s.tenant = t.tenant AND s.id = t.active_set WHERE t.tenant = $1",
        params![tenant],
        |row| {
            let mark = Mark { seq: row.get(0)?, ordinal: row.get(1)? };
            let Some(id) = row.get(2)? else { return Ok((mark, None)) };
            Ok((mark, Some(VectorSet { id, model: row.get(3)?, dimension: row.get(4)?, is_active: true })))
        },
    )?;
    Ok(found.unwrap_or_default())
}

fn all(tx: &Transaction<'_>, tenant: &str) -> Result<Vec<VectorSet>, StoreError> {
    tx.query(
        "SELECT s.id, s.model, s.dimension, t.active_set FROM vector_sets s
         LEFT JOIN tenants t ON t.tenant = s.tenant WHERE s.tenant = $1 ORDER BY s.id",
        params![tenant],
        |row| {
            let id = row.get(0)?;
            let is_active = row.get::<Option<i64>>(3)? == Some(id);
            Ok(VectorSet { id, model: row.get(1)?, dimension: row.get(2)?, is_active })
        },
    )
}

/// The set of `model`; made if it is not there. A tenant's first set answers searches at once.
pub(crate) fn find_or_add(
    tx: &Transaction<'_>,
    tenant: &str,
    model: &str,
    dimension: usize,
) -> Result<VectorSet, StoreError> {
    if let Some(set) = find(tx, tenant, model)? {
        return Ok(set);
    }
    let first = all(tx, tenant)?.is_empty();
    let id = next_id(tx, tenant)?;
    tx.post(
        "INSERT INTO vector_sets (tenant, id, model, dimension) VALUES ($1, $2, $3, $4)",
        params![tenant, id, model, i64::try_from(dimension).unwrap_or(i64::MAX)],
    )?;
    if first {
        tx.post("UPDATE tenants SET active_set = $2 WHERE tenant = $1", params![tenant, id])?;
    }
    Ok(VectorSet { id, model: model.to_owned(), dimension, is_active: first })
}

/// The packed form of a vector that is not folded yet.
pub(crate) fn pack_tail(vector: &PackedVector) -> Vec<u8> {
    let mut data = Vec::with_capacity(4 + vector.values.len());
    data.extend_from_slice(&vector.scale.to_le_bytes());
    data.extend(vector.values.iter().map(|value| value.cast_unsigned()));
    data
}

/// Adds the vectors of passages that are not folded yet: set, slot and [`pack_tail`]. No two have the same place.
pub(crate) fn put_tail(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    vectors: &[(i64, u32, Vec<u8>)],
) -> Result<(), StoreError> {
    const VECTORS: Rows =
        Rows::new("INSERT INTO tail_vectors (tenant, collection, vector_set, slot, data)", 5)
            .or("ON CONFLICT (tenant, collection, vector_set, slot) DO UPDATE SET data = excluded.data");
    let mut values = Vec::with_capacity(vectors.len() * 5);
    for (set, slot, data) in vectors {
        values.extend_from_slice(params![of.tenant, of.id, *set, *slot, data]);
    }
    VECTORS.write(tx, &values)
}

/// Reads the vector in column `column`.
pub(crate) fn tail_vector(row: &Row<'_>, column: usize) -> Result<PackedVector, StoreError> {
    let bytes = row.blob(column)?;
    let (scale, values) = bytes.split_first_chunk::<4>().ok_or_else(|| damaged("a vector"))?;
    Ok(PackedVector {
        scale: f32::from_le_bytes(*scale),
        values: values.iter().map(|value| value.cast_signed()).collect(),
    })
}

/// Moves the vectors of the block from slot `first` on out of the tail, in every set.
pub(crate) fn fold_tail(tx: &Transaction<'_>, of: Collection<'_>, first: u32) -> Result<(), StoreError> {
    let sets =
        tx.query("SELECT id, dimension FROM vector_sets WHERE tenant = $1", params![of.tenant], |row| {
            Ok((row.get::<i64>(0)?, row.get::<usize>(1)?))
        })?;
    for (set, dimension) in sets {
        let mut block = VectorBlock::missing(dimension, BLOCK as usize);
        let mut filled = false;
        tx.for_each(
            "SELECT slot, data FROM tail_vectors
             WHERE tenant = $1 AND collection = $2 AND vector_set = $3 AND slot >= $4 AND slot < $5",
            params![of.tenant, of.id, set, first, first + BLOCK],
            |row| {
                block.set((row.get::<u32>(0)? - first) as usize, &tail_vector(row, 1)?);
                filled = true;
                Ok(())
            },
        )?;
        if filled {
            write_block(tx, of, set, first / BLOCK, 0, &block)?;
            tx.post(
                "DELETE FROM tail_vectors
                 WHERE tenant = $1 AND collection = $2 AND vector_set = $3 AND slot >= $4 AND slot < $5",
                params![of.tenant, of.id, set, first, first + BLOCK],
            )?;
        }
    }
    Ok(())
}

pub(crate) fn write_block(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    set: i64,
    block: u32,
    revision: i64,
    vectors: &VectorBlock,
) -> Result<(), StoreError> {
    let missing = i64::try_from(vectors.missing_slots()).unwrap_or(i64::MAX);
    tx.post(
        "INSERT INTO vector_blocks (tenant, collection, vector_set, block, revision, missing, data)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (tenant, collection, vector_set, block)
         DO UPDATE SET revision = excluded.revision, missing = excluded.missing, data = excluded.data",
        params![of.tenant, of.id, set, block, revision, missing, &vectors.encode()],
    )?;
    Ok(())
}

pub(crate) fn read_block(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    set: &VectorSet,
    block: u32,
) -> Result<Option<VectorBlock>, StoreError> {
    let data = tx.query_one(
        "SELECT data FROM vector_blocks
         WHERE tenant = $1 AND collection = $2 AND vector_set = $3 AND block = $4",
        params![of.tenant, of.id, set.id, block],
        |row| row.get::<Vec<u8>>(0),
    )?;
    let decode =
        |data: Vec<u8>| VectorBlock::decode(&data, set.dimension).ok_or_else(|| damaged("a vector block"));
    data.map(decode).transpose()
}

/// Adds vectors that all lie in one block, folded or not.
fn put_block(
    tx: &Transaction<'_>,
    tenant: &str,
    set: &VectorSet,
    vectors: &[&(MissingVector, PackedVector)],
) -> Result<(), StoreError> {
    let Some((first, _)) = vectors.first().copied() else { return Ok(()) };
    let of = Collection { tenant, id: first.collection };
    let Some(row) = super::fold::read_row(tx, of)? else { return Ok(()) };
    let revision = row.revision + 1;
    if first.slot < row.folded {
        let block = first.slot / BLOCK;
        let mut packed = read_block(tx, of, set, block)?
            .unwrap_or_else(|| VectorBlock::missing(set.dimension, BLOCK as usize));
        for (place, vector) in vectors {
            packed.set((place.slot % BLOCK) as usize, vector);
        }
        write_block(tx, of, set.id, block, revision, &packed)?;
    } else {
        let known = vectors.iter().filter(|(place, _)| place.slot < row.slots);
        // By slot: the last of two for one place counts.
        let packed: BTreeMap<u32, Vec<u8>> =
            known.map(|(place, vector)| (place.slot, pack_tail(vector))).collect();
        let tails: Vec<_> = packed.into_iter().map(|(slot, data)| (set.id, slot, data)).collect();
        put_tail(tx, of, &tails)?;
    }
    tx.post(
        "UPDATE collections SET revision = $3 WHERE tenant = $1 AND id = $2",
        params![of.tenant, of.id, revision],
    )?;
    Ok(())
}

fn collections(tx: &Transaction<'_>, tenant: &str) -> Result<Vec<(i64, u32, u32)>, StoreError> {
    tx.query(
        "SELECT id, slots, folded FROM collections WHERE tenant = $1 AND retired = 0 ORDER BY id",
        params![tenant],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
}

/// Calls `job` with each of `slots`, none of them folded, that has a vector of the set.
pub(crate) fn for_each_in_tail(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    set: &VectorSet,
    slots: &[u32],
    mut job: impl FnMut(u32),
) -> Result<(), StoreError> {
    let mut values = params![of.tenant, of.id, set.id].to_vec();
    let list = listed(&mut values, padded(slots).copied());
    tx.for_each(
        &format!(
            "SELECT slot FROM tail_vectors
             WHERE tenant = $1 AND collection = $2 AND vector_set = $3 AND slot IN ({list})"
        ),
        &values,
        |row| {
            job(row.get(0)?);
            Ok(())
        },
    )
}

/// For each offset in the block from slot `first` on, whether the set waits for its vector; empty where it waits for
/// none.
pub(crate) fn waiting_in_block(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    first: u32,
    folded: u32,
    set: Option<&VectorSet>,
) -> Result<Vec<bool>, StoreError> {
    let mut waiting = vec![true; BLOCK as usize];
    let Some(set) = set else { return Ok(waiting) };
    if first < folded {
        let complete = tx.query_one(
            "SELECT missing FROM vector_blocks
             WHERE tenant = $1 AND collection = $2 AND vector_set = $3 AND block = $4",
            params![of.tenant, of.id, set.id, first / BLOCK],
            |row| Ok(row.get::<i64>(0)? == 0),
        )?;
        if complete == Some(true) {
            return Ok(Vec::new());
        }
        if let Some(block) = read_block(tx, of, set, first / BLOCK)? {
            waiting = block.scales.iter().map(|scale| *scale < 0.0).collect();
        }
        return Ok(waiting);
    }
    tx.for_each(
        "SELECT slot FROM tail_vectors
         WHERE tenant = $1 AND collection = $2 AND vector_set = $3 AND slot >= $4 AND slot < $5",
        params![of.tenant, of.id, set.id, first, first.saturating_add(BLOCK)],
        |row| {
            waiting[(row.get::<u32>(0)? - first) as usize] = false;
            Ok(())
        },
    )?;
    Ok(waiting)
}

/// How many live passages of a block have no vector of the set. Only a block that is half filled is looked into.
fn missing_in_block(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    first: u32,
    folded: u32,
    set: Option<&VectorSet>,
) -> Result<usize, StoreError> {
    if let Some(set) = set.filter(|_| first < folded) {
        let waiting = waiting_in_block(tx, of, first, folded, Some(set))?;
        let mut count = 0;
        live_among(tx, of, first, &waiting, |_| count += 1)?;
        return Ok(count);
    }
    let count = tx.query_one(
        "SELECT count(*) FROM passages p
         WHERE p.tenant = $1 AND p.collection = $2 AND p.slot >= $3 AND p.slot < $4 AND p.to_seq = $5
           AND NOT EXISTS (SELECT 1 FROM tail_vectors v WHERE v.tenant = p.tenant
               AND v.collection = p.collection AND v.vector_set = $6 AND v.slot = p.slot)",
        params![of.tenant, of.id, first, first.saturating_add(BLOCK), LIVE, set.map_or(NO_SET, |set| set.id)],
        |row| row.get(0),
    )?;
    Ok(count.unwrap_or(0))
}

fn live_among(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    first: u32,
    waiting: &[bool],
    mut found: impl FnMut(MissingVector),
) -> Result<(), StoreError> {
    if waiting.is_empty() {
        return Ok(());
    }
    tx.for_each(
        "SELECT slot, source_kind, source, part FROM passages
         WHERE tenant = $1 AND collection = $2 AND slot >= $3 AND slot < $4 AND to_seq = $5 ORDER BY slot",
        params![of.tenant, of.id, first, first.saturating_add(BLOCK), LIVE],
        |row| {
            let slot = row.get::<u32>(0)?;
            if waiting.get((slot - first) as usize).copied().unwrap_or(false) {
                let kind = SourceKind::from_code(row.get(1)?).ok_or_else(|| damaged("a passage's source"))?;
                let source = Source { kind, number: row.get(2)? };
                found(MissingVector { collection: of.id, slot, source, part: row.get(3)? });
            }
            Ok(())
        },
    )
}
