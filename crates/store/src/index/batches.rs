//! The changes behind a place, made ready a batch at a time.

use crate::error::StoreError;

use super::{
    passage::Prepared,
    prepare::Preparer,
    truth::{Mark, Standing, TruthReader},
    writer::Cursor,
};

/// See the module.
pub(super) struct Batches<'t> {
    truth: &'t dyn TruthReader,
    preparer: Preparer<'t>,
    /// Where the ledger stood before anything was read.
    standing: Standing,
    /// Behind what was read.
    cursor: Cursor,
}

/// Changes that are ready to be written.
pub(super) struct Batch {
    pub(super) prepared: Vec<Prepared>,
    /// The end of the ledger, when nothing lies between the last of them and it.
    pub(super) end: Option<Cursor>,
}

impl<'t> Batches<'t> {
    pub(super) fn new(
        truth: &'t dyn TruthReader,
        preparer: Preparer<'t>,
        cursor: Cursor,
        standing: Standing,
    ) -> Self {
        Self { truth, preparer, standing, cursor }
    }

    /// The next changes, at most `limit`. Nothing is to be asked for behind the end.
    pub(super) fn next(&mut self, limit: usize) -> Result<Batch, StoreError> {
        let changes = self.truth.changes(self.cursor.mark, limit)?;
        self.cursor.mark = changes.last().map_or(self.cursor.mark, |last| last.mark);
        let is_last =
            changes.len() < limit && (changes.is_empty() || self.truth.pending(self.cursor.mark)? == 0);
        let end = if is_last { Some(self.end()?) } else { None };
        Ok(Batch { prepared: self.preparer.prepare(self.truth, &changes)?, end })
    }

    fn end(&self) -> Result<Cursor, StoreError> {
        let Self { truth, standing, cursor, .. } = self;
        // The head was read before the changes, so nothing up to it is missing.
        let seq = standing.head.max(cursor.mark.seq);
        let hash = match seq == standing.head {
            true => standing.head_hash.clone(),
            false => truth.hash_at(seq)?.unwrap_or_default(),
        };
        Ok(Cursor { mark: Mark { seq, ordinal: i64::MAX }, hash, ..cursor.clone() })
    }
}
