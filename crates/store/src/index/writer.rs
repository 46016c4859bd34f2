//! Applying changes: kills and adds, in short transactions, by whoever holds the index lock.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crate::{
    error::StoreError,
    params,
    sql::{Control, Transaction},
};

use super::{
    Collection, Index,
    attributes::{decode_ends, encode_ends},
    fold,
    labels::LabelNumbers,
    lock::IndexLock,
    merge,
    passage::Prepared,
    slice::Slice,
    truth::Mark,
};

/// A write transaction of the index ends at the first boundary after this. The bound on the whole is
/// 50 ms; the rest is for the commit and a slow machine.
const SLICE: Duration = Duration::from_millis(20);

/// The same on a server.
const SLICE_ON_SERVER: Duration = Duration::from_millis(250);

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
    pub(crate) labels: LabelNumbers,
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
    /// Drawn when it was made; see the schema.
    pub(crate) birth: i64,
}

impl<'i> IndexWriter<'i> {
    pub(crate) fn new(index: &'i Index, control: Control, lock: IndexLock<'i>) -> Self {
        Self { index, control, until: None, labels: LabelNumbers::default(), _lock: lock }
    }

    /// Applies `batch`, which ascends by mark, and moves the tenant's cursor to its last mark; then
    /// folds what is due. A change is wholly in one transaction; those applied before are skipped.
    pub fn apply(&mut self, tenant: &str, batch: &[Prepared]) -> Result<(), StoreError> {
        self.apply_up_to(tenant, batch, None)
    }

    /// The same, with the cursor at `end` behind the last of them: nothing lies between.
    pub(crate) fn apply_up_to(
        &mut self,
        tenant: &str,
        batch: &[Prepared],
        end: Option<&Cursor>,
    ) -> Result<(), StoreError> {
        if let (Some(end), true) = (end, batch.is_empty()) {
            return self.advance(tenant, end);
        }
        let mut done = 0;
        while done < batch.len() {
            self.control.check()?;
            let (changes, due) = self.slice(tenant, &batch[done..], end)?;
            done += changes;
            self.fold_due(tenant, &due)?;
        }
        Ok(())
    }

    /// How long a transaction goes on. On a server nobody waits for it but who would index, too, and each
    /// costs more.
    pub(crate) fn slice_time(&self) -> Duration {
        if self.index.file_path().is_some() { SLICE } else { SLICE_ON_SERVER }
    }

    /// Moves the tenant's cursor without a change, e.g. past sequences that concern no text.
    pub fn advance(&self, tenant: &str, cursor: &Cursor) -> Result<(), StoreError> {
        self.index.database.write(&self.control, |tx| {
            tx.execute(
                "INSERT INTO tenants (tenant, epoch, seq, ordinal, hash) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (tenant) DO UPDATE SET epoch = excluded.epoch, seq = excluded.seq,
                     ordinal = excluded.ordinal, hash = excluded.hash",
                params![tenant, &cursor.epoch, cursor.mark.seq, cursor.mark.ordinal, &cursor.hash],
            )
        })?;
        Ok(())
    }

    /// Merges, removes what merges and rebuilds of the tenant left over, and does so for at most `budget`.
    /// Returns whether anything is left to do.
    pub fn tidy(&self, tenant: &str, budget: Duration) -> Result<bool, StoreError> {
        let started = Instant::now();
        for collection in self.collections(tenant)? {
            while merge::step(self, Collection { tenant, id: collection })?.is_some() {
                if started.elapsed() >= budget {
                    return Ok(true);
                }
            }
        }
        let is_left = super::cleaning::step(self, tenant, started, budget)?;
        self.index.note_tidy(tenant, !is_left);
        Ok(is_left)
    }

    /// Starts the tenant's index over: searches find nothing until the ledger has been followed again.
    pub fn reset(&mut self, tenant: &str, epoch: &str) -> Result<(), StoreError> {
        self.labels = LabelNumbers::default();
        self.index.note_tidy(tenant, false);
        self.index.database.write(&self.control, |tx| {
            tx.post(
                "UPDATE collections SET retired = id, revision = revision + 1 WHERE tenant = $1 AND retired = 0",
                params![tenant],
            )?;
            tx.post(
                "INSERT INTO tenants (tenant, epoch, seq, ordinal, hash) VALUES ($1, $2, 0, 0, $3)
                 ON CONFLICT (tenant) DO UPDATE SET epoch = excluded.epoch, seq = 0, ordinal = 0,
                     hash = excluded.hash",
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

    fn fold_due(&self, tenant: &str, due: &[i64]) -> Result<(), StoreError> {
        for id in due {
            self.index.note_tidy(tenant, false);
            let collection = Collection { tenant, id: *id };
            fold::run(self, collection)?;
            let mut rows = 0;
            while rows < MERGED_PER_FOLD && self.has_time() {
                let Some(written) = merge::step(self, collection)? else { break };
                rows += written;
            }
        }
        Ok(())
    }

    /// One transaction: as many changes as fit, at least one. Returns how many, and the collections whose tails are
    /// long enough for a fold.
    fn slice(
        &mut self,
        tenant: &str,
        batch: &[Prepared],
        end: Option<&Cursor>,
    ) -> Result<(usize, Vec<i64>), StoreError> {
        let longest = self.slice_time();
        let Self { index, control, labels, .. } = self;
        let done = index.database.write(control, |tx| {
            labels.forget_uncommitted();
            let started = Instant::now();
            let mut slice = Slice::begin(tx, tenant, labels, batch)?;
            let mut done = 0;
            while done < batch.len() && (done == 0 || (slice.tail_has_room() && started.elapsed() < longest))
            {
                slice.change(done)?;
                done += 1;
            }
            let due = slice.due();
            let end = end.filter(|_| done == batch.len());
            slice
                .finish(end.map_or(batch[done - 1].mark, |end| end.mark), end.map_or(&[], |end| &end.hash))?;
            Ok((done, due))
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

/// An id of the tenant's that was never given, to a collection or a vector set.
pub(crate) fn next_id(tx: &Transaction<'_>, tenant: &str) -> Result<i64, StoreError> {
    let id = tx.query_one(
        "INSERT INTO tenants (tenant, epoch, seq, ordinal, hash, last_id) VALUES ($1, '', 0, 0, $2, 1)
         ON CONFLICT (tenant) DO UPDATE SET last_id = tenants.last_id + 1 RETURNING last_id",
        params![tenant, &[0_u8; 0]],
        |row| row.get(0),
    )?;
    id.ok_or_else(|| super::damaged("a tenant's last id"))
}

/// Reads the columns `id, revision, slots, folded, birth`, in this order.
pub(crate) fn collection_row(row: &crate::sql::Row<'_>) -> Result<CollectionRow, StoreError> {
    Ok(CollectionRow {
        id: row.get(0)?,
        revision: row.get(1)?,
        slots: row.get(2)?,
        folded: row.get(3)?,
        birth: row.get(4)?,
    })
}

/// The dead of a block: (offset, end).
pub(crate) fn read_ends(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    block: u32,
) -> Result<Vec<(u32, i64)>, StoreError> {
    let data = tx.query_one(
        "SELECT data FROM ends WHERE tenant = $1 AND collection = $2 AND block = $3",
        params![of.tenant, of.id, block],
        |row| row.get::<Vec<u8>>(0),
    )?;
    data.map_or(Ok(Vec::new()), |data| {
        decode_ends(&data).ok_or_else(|| super::damaged("the ends of a block"))
    })
}

pub(crate) fn write_ends(
    tx: &Transaction<'_>,
    of: Collection<'_>,
    block: u32,
    revision: i64,
    ends: &BTreeMap<u32, i64>,
) -> Result<(), StoreError> {
    let ends: Vec<_> = ends.iter().map(|(offset, end)| (*offset, *end)).collect();
    tx.post(
        "INSERT INTO ends (tenant, collection, block, revision, data) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant, collection, block)
         DO UPDATE SET revision = excluded.revision, data = excluded.data",
        params![of.tenant, of.id, block, revision, &encode_ends(&ends)],
    )?;
    Ok(())
}
