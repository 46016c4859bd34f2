//! Applying changes: kills and adds, in short transactions, by whoever holds the index lock.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use crate::{error::StoreError, params, sql::Control, sql::Transaction};

use super::{
    Index,
    attributes::{BLOCK, decode_ends, encode, encode_ends},
    fold,
    labels::{LabelNumbers, Space},
    lock::IndexLock,
    merge,
    passage::{Passages, Prepared, WordNumbers},
    truth::{CollectionKey, Mark},
    vector_set,
};

/// A write transaction of the index ends at the first boundary after this. The bound on the whole is
/// 50 ms; the rest is for the commit and a slow machine.
pub(crate) const SLICE: Duration = Duration::from_millis(20);

/// Rows of merging that follow a fold. A fold writes some 6 000 rows and each is rewritten about three
/// times in all, so merging keeps pace.
const MERGED_PER_FOLD: usize = 24_000;

/// The sequence at which the living end.
pub(crate) const LIVE: i64 = i64::MAX;

/// The right to change the index, held for as long as this lives. See [`Index::writer`].
pub struct IndexWriter<'i> {
    pub(crate) index: &'i Index,
    pub(crate) control: Control,
    /// When to leave merging for later; `None` never does.
    pub(crate) until: Option<Instant>,
    labels: LabelNumbers,
    _lock: IndexLock<'i>,
}

/// How far the index has followed a tenant's ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cursor {
    /// The ledger's epoch.
    pub epoch: String,
    /// The last change applied.
    pub mark: Mark,
    /// The audit hash at `mark.seq`.
    pub hash: Vec<u8>,
}

/// A collection's row while a transaction changes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CollectionRow {
    pub(crate) id: i64,
    pub(crate) revision: i64,
    pub(crate) slots: u32,
    pub(crate) folded: u32,
}

impl<'i> IndexWriter<'i> {
    pub(crate) fn new(index: &'i Index, control: Control, lock: IndexLock<'i>) -> Self {
        Self { index, control, until: None, labels: LabelNumbers::default(), _lock: lock }
    }

    /// Applies `batch`, which ascends by mark, and moves the tenant's cursor to its last mark; then
    /// folds what is due. A change is wholly in one transaction; those applied before are skipped.
    pub fn apply(&mut self, tenant: &str, batch: &[Prepared]) -> Result<(), StoreError> {
        let mut done = 0;
        while done < batch.len() {
            self.control.check()?;
            done += self.slice(tenant, &batch[done..])?;
            self.fold_due(tenant)?;
        }
        Ok(())
    }

    /// Moves the tenant's cursor without a change, e.g. past sequences that concern no text.
    pub fn advance(&self, tenant: &str, cursor: &Cursor) -> Result<(), StoreError> {
        self.index.database.write(&self.control, |tx| {
            tx.execute(
                "INSERT INTO tenants (tenant, epoch, seq, ordinal, hash) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (tenant) DO UPDATE SET epoch = $2, seq = $3, ordinal = $4, hash = $5",
                params![tenant, &cursor.epoch, cursor.mark.seq, cursor.mark.ordinal, &cursor.hash],
            )
        })?;
        Ok(())
    }

    /// Merges, removes what merges and rebuilds left over, and does so for at most `budget`.
    /// Returns whether anything is left to do.
    pub fn tidy(&self, tenant: &str, budget: Duration) -> Result<bool, StoreError> {
        let started = Instant::now();
        for collection in self.collections(tenant)? {
            while merge::step(self, collection)?.is_some() {
                if started.elapsed() >= budget {
                    return Ok(true);
                }
            }
        }
        super::cleaning::step(self, started, budget)
    }

    /// Starts the tenant's index over: searches find nothing until the ledger has been followed again.
    pub fn reset(&mut self, tenant: &str, epoch: &str) -> Result<(), StoreError> {
        self.labels = LabelNumbers::default();
        self.index.database.write(&self.control, |tx| {
            tx.execute(
                "UPDATE collections SET retired = id, revision = revision + 1 WHERE tenant = $1 AND retired = 0",
                params![tenant],
            )?;
            tx.execute(
                "INSERT INTO tenants (tenant, epoch, seq, ordinal, hash) VALUES ($1, $2, 0, 0, $3)
                 ON CONFLICT (tenant) DO UPDATE SET epoch = $2, seq = 0, ordinal = 0, hash = $3",
                params![tenant, epoch, &[0_u8; 0]],
            )
        })?;
        Ok(())
    }

    /// Ids of the tenant's collections.
    pub(crate) fn collections(&self, tenant: &str) -> Result<Vec<i64>, StoreError> {
        self.index.database.read(&self.control, |tx| {
            tx.query(
                "SELECT id FROM collections WHERE tenant = $1 AND retired = 0 ORDER BY id",
                params![tenant],
                |row| row.get(0),
            )
        })
    }

    fn has_time(&self) -> bool {
        self.until.is_none_or(|until| Instant::now() < until)
    }

    fn fold_due(&self, tenant: &str) -> Result<(), StoreError> {
        let due: Vec<i64> = self.index.database.read(&self.control, |tx| {
            tx.query(
                "SELECT id FROM collections WHERE tenant = $1 AND retired = 0 AND slots - folded >= $2",
                params![tenant, BLOCK],
                |row| row.get(0),
            )
        })?;
        for collection in due {
            fold::run(self, collection)?;
            let mut rows = 0;
            while rows < MERGED_PER_FOLD && self.has_time() {
                let Some(written) = merge::step(self, collection)? else { break };
                rows += written;
            }
        }
        Ok(())
    }

    /// One transaction: as many changes as fit, at least one. Returns how many.
    fn slice(&mut self, tenant: &str, batch: &[Prepared]) -> Result<usize, StoreError> {
        let Self { index, control, labels, .. } = self;
        let done = index.database.write(control, |tx| {
            labels.forget_uncommitted();
            let started = Instant::now();
            let mut slice = Slice::begin(tx, tenant, labels)?;
            let mut done = 0;
            while done < batch.len() && (done == 0 || (slice.tail_has_room() && started.elapsed() < SLICE)) {
                slice.change(&batch[done])?;
                done += 1;
            }
            slice.finish(batch[done - 1].mark)?;
            Ok(done)
        });
        match done {
            Ok(done) => {
                self.labels.keep();
                Ok(done)
            }
            Err(error) => {
                self.labels.forget_uncommitted();
                Err(error)
            }
        }
    }
}

/// The changes of one transaction.
struct Slice<'s, 't> {
    tx: &'s Transaction<'t>,
    tenant: &'s str,
    labels: &'s mut LabelNumbers,
    keys: HashMap<CollectionKey, i64>,
    rows: BTreeMap<i64, CollectionRow>,
    ends: BTreeMap<(i64, u32), BTreeMap<u32, i64>>,
    sets: HashMap<String, i64>,
}

/// A live passage of a source.
struct Place {
    collection: i64,
    slot: u32,
    from_seq: i64,
}

impl<'s, 't> Slice<'s, 't> {
    fn begin(
        tx: &'s Transaction<'t>,
        tenant: &'s str,
        labels: &'s mut LabelNumbers,
    ) -> Result<Self, StoreError> {
        let mut slice = Self {
            tx,
            tenant,
            labels,
            keys: HashMap::new(),
            rows: BTreeMap::new(),
            ends: BTreeMap::new(),
            sets: HashMap::new(),
        };
        tx.for_each(
            "SELECT id, revision, slots, folded, namespace, project FROM collections
             WHERE tenant = $1 AND retired = 0",
            params![tenant],
            |row| {
                let found = collection_row(row)?;
                slice.keys.insert(CollectionKey::new(tenant, row.text(4)?, row.text(5)?), found.id);
                slice.rows.insert(found.id, CollectionRow { revision: found.revision + 1, ..found });
                Ok(())
            },
        )?;
        Ok(slice)
    }

    /// Whether every tail is short enough for another change before a fold.
    fn tail_has_room(&self) -> bool {
        self.rows.values().all(|row| row.slots - row.folded < BLOCK)
    }

    fn change(&mut self, change: &Prepared) -> Result<(), StoreError> {
        let live = self.live(change)?;
        let parts = change.passages.as_ref().map_or(0, |passages| passages.parts.len());
        let applied = live.len() == parts && live.iter().all(|place| place.from_seq == change.mark.seq);
        if applied && parts > 0 {
            return Ok(());
        }
        for place in &live {
            self.kill(place, change.mark.seq)?;
        }
        change.passages.as_ref().map_or(Ok(()), |passages| self.add(change, passages))
    }

    fn live(&self, change: &Prepared) -> Result<Vec<Place>, StoreError> {
        let mut places = Vec::new();
        self.tx.for_each(
            "SELECT collection, slot, from_seq FROM passages
             WHERE source_kind = $1 AND source = $2 AND to_seq = $3",
            params![u32::from(change.source.kind.code()), change.source.number, LIVE],
            |row| {
                let place = Place { collection: row.get(0)?, slot: row.get(1)?, from_seq: row.get(2)? };
                // Other tenants and retired collections are not among the rows.
                if self.rows.contains_key(&place.collection) {
                    places.push(place);
                }
                Ok(())
            },
        )?;
        Ok(places)
    }

    fn kill(&mut self, place: &Place, seq: i64) -> Result<(), StoreError> {
        self.tx.execute(
            "UPDATE passages SET to_seq = $3 WHERE collection = $1 AND slot = $2",
            params![place.collection, place.slot, seq],
        )?;
        let block = place.slot / BLOCK;
        let ends = match self.ends.entry((place.collection, block)) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(read_ends(self.tx, place.collection, block)?.into_iter().collect())
            }
        };
        ends.insert(place.slot % BLOCK, seq);
        Ok(())
    }

    fn add(&mut self, change: &Prepared, passages: &Passages) -> Result<(), StoreError> {
        let collection = self.collection(&passages.collection)?;
        let words = WordNumbers {
            kind: self.labels.number(self.tx, collection, Space::Kind, &passages.kind)?,
            branch: self.labels.number(self.tx, collection, Space::Branch, &passages.branch)?,
            owner: self.labels.number(self.tx, collection, Space::Owner, &passages.owner)?,
            group: self.labels.number(self.tx, collection, Space::Group, &passages.group)?,
        };
        let set = self.set(passages)?;
        for part in 0..passages.parts.len() {
            let slot = self.next_slot(collection)?;
            self.add_part(change, passages, part, words, (collection, slot, set))?;
        }
        Ok(())
    }

    fn add_part(
        &self,
        change: &Prepared,
        passages: &Passages,
        part: usize,
        words: WordNumbers,
        (collection, slot, set): (i64, u32, Option<i64>),
    ) -> Result<(), StoreError> {
        let attributes = change.attributes(passages, part, words);
        let piece = &passages.parts[part];
        let source_kind = u32::from(attributes.source_kind);
        self.tx.execute(
            "INSERT INTO passages (collection, slot, source_kind, source, part, from_seq, to_seq)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            params![collection, slot, source_kind, attributes.source, attributes.part, change.mark.seq, LIVE],
        )?;
        self.tx.execute(
            "INSERT INTO tails (collection, slot, attributes, terms) VALUES ($1, $2, $3, $4)",
            params![collection, slot, &encode(&[attributes]), &piece.terms],
        )?;
        if let (Some(set), Some(vector)) = (set, &piece.vector) {
            vector_set::put_tail(self.tx, collection, set, slot, vector)?;
        }
        if let Some(text) = &piece.text {
            self.tx.execute(
                "INSERT INTO texts (collection, slot, title, body) VALUES ($1, $2, $3, $4)",
                params![collection, slot, &text.title, &text.body],
            )?;
        }
        Ok(())
    }

    fn next_slot(&mut self, collection: i64) -> Result<u32, StoreError> {
        let row = self
            .rows
            .get_mut(&collection)
            .ok_or_else(|| StoreError::Internal(format!("collection {collection} is not at hand")))?;
        let slot = row.slots;
        row.slots = slot
            .checked_add(1)
            .ok_or_else(|| StoreError::Invalid("a collection holds at most 4 294 967 295 passages".into()))?;
        Ok(slot)
    }

    /// The collection's id; it is made on first use.
    fn collection(&mut self, key: &CollectionKey) -> Result<i64, StoreError> {
        if let Some(id) = self.keys.get(key) {
            return Ok(*id);
        }
        if key.tenant != self.tenant {
            return Err(StoreError::Invalid("a batch belongs to one tenant".into()));
        }
        let last = self
            .tx
            .query_one("SELECT coalesce(max(id), 0) FROM collections", params![], |row| row.get::<i64>(0))?;
        let id = last.unwrap_or(0) + 1;
        self.tx.execute(
            "INSERT INTO collections (id, tenant, namespace, project) VALUES ($1, $2, $3, $4)",
            params![id, &key.tenant, &key.namespace, &key.project],
        )?;
        self.keys.insert(key.clone(), id);
        self.rows.insert(id, CollectionRow { id, revision: 1, slots: 0, folded: 0 });
        Ok(id)
    }

    fn set(&mut self, passages: &Passages) -> Result<Option<i64>, StoreError> {
        let Some(model) = &passages.model else { return Ok(None) };
        if let Some(set) = self.sets.get(model) {
            return Ok(Some(*set));
        }
        let vectors = passages.parts.iter().filter_map(|part| part.vector.as_ref());
        let Some(dimension) = vectors.map(|vector| vector.values.len()).find(|dimension| *dimension > 0)
        else {
            return vector_set::find(self.tx, self.tenant, model).map(|set| set.map(|set| set.id));
        };
        let set = vector_set::find_or_add(self.tx, self.tenant, model, dimension)?;
        self.sets.insert(model.clone(), set.id);
        Ok(Some(set.id))
    }

    /// Writes what was gathered, and where the stream was left.
    fn finish(self, mark: Mark) -> Result<(), StoreError> {
        let mut touched: Vec<i64> = self.ends.keys().map(|(collection, _)| *collection).collect();
        for ((collection, block), ends) in self.ends {
            write_ends(self.tx, collection, block, self.rows[&collection].revision, &ends)?;
        }
        touched.dedup();
        for row in self.rows.values() {
            // The slots alone tell whether a row was added to; the condition spares the untouched.
            self.tx.execute(
                "UPDATE collections SET slots = $2, revision = $3 WHERE id = $1 AND (slots <> $2 OR $4)",
                params![row.id, row.slots, row.revision, touched.contains(&row.id)],
            )?;
        }
        self.tx.execute(
            "INSERT INTO tenants (tenant, epoch, seq, ordinal, hash) VALUES ($1, '', $2, $3, $4)
             ON CONFLICT (tenant) DO UPDATE SET seq = $2, ordinal = $3, hash = $4",
            params![self.tenant, mark.seq, mark.ordinal, &[0_u8; 0]],
        )?;
        Ok(())
    }
}

/// Reads the columns `id, revision, slots, folded`, in this order.
pub(crate) fn collection_row(row: &crate::sql::Row<'_>) -> Result<CollectionRow, StoreError> {
    Ok(CollectionRow { id: row.get(0)?, revision: row.get(1)?, slots: row.get(2)?, folded: row.get(3)? })
}

/// The dead of a block: (offset, end).
pub(crate) fn read_ends(
    tx: &Transaction<'_>,
    collection: i64,
    block: u32,
) -> Result<Vec<(u32, i64)>, StoreError> {
    let data = tx.query_one(
        "SELECT data FROM ends WHERE collection = $1 AND block = $2",
        params![collection, block],
        |row| row.get::<Vec<u8>>(0),
    )?;
    data.map_or(Ok(Vec::new()), |data| {
        decode_ends(&data).ok_or_else(|| super::damaged("the ends of a block"))
    })
}

pub(crate) fn write_ends(
    tx: &Transaction<'_>,
    collection: i64,
    block: u32,
    revision: i64,
    ends: &BTreeMap<u32, i64>,
) -> Result<(), StoreError> {
    let ends: Vec<_> = ends.iter().map(|(offset, end)| (*offset, *end)).collect();
    tx.execute(
        "INSERT INTO ends (collection, block, revision, data) VALUES ($1, $2, $3, $4)
         ON CONFLICT (collection, block) DO UPDATE SET revision = $3, data = $4",
        params![collection, block, revision, &encode_ends(&ends)],
    )?;
    Ok(())
}
