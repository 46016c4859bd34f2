//! Taking in rows that another store exported: ids and numbers are kept where they are free.

use std::collections::HashSet;

use strata_core::time::Timestamp;

use super::{
    LedgerRead, LedgerWrite, NewEpisode, NewMemory, NewReview, PurgedKind, ReviewDecision, Seq, State,
};
use crate::{
    error::StoreError,
    params,
    rows::{LIST, listed, padded},
};

/// The highest number that a load may bring along. Numbers after it are given one by one, so a file that
/// names the last one there is would leave none for anything else.
const HIGHEST_LOADED: i64 = 1 << 48;

/// What of a list is here already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Present {
    /// Ids of the sort that was asked about.
    pub ids: HashSet<String>,
    /// Ids of anything that was purged.
    pub purged: HashSet<String>,
}

impl LedgerRead<'_> {
    /// Which of `ids` name something of `kind`, or something that was purged.
    pub fn present(&self, kind: PurgedKind, ids: &[&str]) -> Result<Present, StoreError> {
        Ok(Present { ids: self.ids_among(kind.table(), ids)?, purged: self.ids_among("tombstones", ids)? })
    }

    fn ids_among(&self, table: &'static str, ids: &[&str]) -> Result<HashSet<String>, StoreError> {
        let mut found = HashSet::new();
        for chunk in ids.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let list = listed(&mut values, padded(chunk).copied());
            let sql = format!("SELECT id FROM {table} WHERE tenant = $1 AND id IN ({list})");
            found.extend(self.transaction.query(&sql, &values, |row| row.get::<String>(0))?);
        }
        Ok(found)
    }
}

/// The numbers of a table while rows come in that bring theirs along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers {
    /// Those of the wanted ones that something has, or had before it was purged, and those given since.
    taken: HashSet<i64>,
    /// Behind all that were ever given.
    next: i64,
}

impl Numbers {
    /// Whether [`Self::give`] would give another.
    pub fn is_taken(&self, wanted: i64) -> bool {
        !(1..=HIGHEST_LOADED).contains(&wanted) || self.taken.contains(&wanted)
    }

    /// `wanted`, unless it is taken; then the next free one.
    pub fn give(&mut self, wanted: i64) -> i64 {
        let number = if self.is_taken(wanted) { self.next } else { wanted };
        self.taken.insert(number);
        self.next = self.next.max(number + 1);
        number
    }
}

impl LedgerWrite<'_> {
    /// The numbers of a table, for rows that want `wanted`. Nothing else may take any meanwhile.
    pub fn numbers(&self, kind: PurgedKind, wanted: &[i64]) -> Result<Numbers, StoreError> {
        let mut taken = HashSet::new();
        for chunk in wanted.chunks(LIST) {
            let mut values = params![self.tenant, kind.as_str()].to_vec();
            let list = listed(&mut values, padded(chunk).copied());
            let sql = format!(
                "SELECT number FROM {} WHERE tenant = $1 AND number IN ({list})
                 UNION ALL SELECT number FROM tombstones WHERE tenant = $1 AND kind = $2 AND number IN ({list})",
                kind.table()
            );
            taken.extend(self.transaction.query(&sql, &values, |row| row.get::<i64>(0))?);
        }
        Ok(Numbers { taken, next: self.next_number(kind.table(), kind.as_str())? })
    }

    /// `wanted`, unless something has that number or had it before it was purged; then the next free one.
    pub fn free_number(&self, kind: PurgedKind, wanted: i64) -> Result<i64, StoreError> {
        let table = kind.table();
        let sql = format!(
            "SELECT 1 FROM {table} WHERE tenant = $1 AND number = $2
             UNION ALL SELECT 1 FROM tombstones WHERE tenant = $1 AND kind = $3 AND number = $2 LIMIT 1"
        );
        let taken =
            self.transaction.query_one(&sql, params![self.tenant, wanted, kind.as_str()], |_| Ok(()))?;
        let sensible = (1..=HIGHEST_LOADED).contains(&wanted);
        if taken.is_none() && sensible { Ok(wanted) } else { self.next_number(table, kind.as_str()) }
    }

    /// Stores a memory with its whole history, oldest state first, under a number from
    /// [`Self::free_number`]. `successor` is the id that replaced it and why.
    ///
    /// A live last state whose topic or content another live memory of the scope holds is a conflict.
    pub fn load_memory(
        &self,
        number: i64,
        new: &NewMemory,
        history: &[(Seq, State)],
        successor: (Option<&str>, Option<&str>),
    ) -> Result<(), StoreError> {
        let (Some((born, first)), Some((latest, last))) = (history.first(), history.last()) else {
            return Err(StoreError::Invalid(format!("memory `{}` has no state", new.id)));
        };
        for (_, state) in history {
            state.check()?;
        }
        let content_key = *blake3::keyed_hash(&self.store_key()?, new.identity.as_bytes()).as_bytes();
        if last.status.is_live() {
            self.refuse_taken(&new.scope, new.topic_key.as_deref(), &content_key)?;
        }
        let row = NewMemory { state: *last, ..new.clone() };
        self.insert_row(number, &row, first, &content_key, *born)?;
        self.transaction.post(
            "UPDATE memories SET birth_layer = $3, state_seq = $4, superseded_by = $5, superseded_reason = $6
             WHERE tenant = $1 AND number = $2",
            params![self.tenant, number, first.layer.as_str(), latest.get(), successor.0, successor.1],
        )?;
        let mut open: Option<Seq> = None;
        for (seq, state) in history {
            if let Some(since) = open {
                self.transaction.post(
                    "UPDATE memory_states SET to_seq = $4 WHERE tenant = $1 AND number = $2 AND from_seq = $3",
                    params![self.tenant, number, since.get(), seq.get()],
                )?;
            }
            self.open_state(number, state, seq.get())?;
            open = Some(*seq);
        }
        self.insert_tags(number, &new.tags)?;
        self.insert_bands(number, &new.bands)?;
        for evidence in &new.evidence {
            self.add_evidence(number, evidence)?;
        }
        Ok(())
    }

    /// Stores events that are not known, each under a number from [`Self::numbers`] and with its key
    /// ([`Self::episode_key`]). The audit row of `seq` must cover them ([`super::NewAudit::storing`]).
    pub fn load_episodes(
        &self,
        episodes: &[(i64, &NewEpisode, [u8; 32])],
        seq: Seq,
    ) -> Result<(), StoreError> {
        self.insert_episodes(episodes, seq)
    }

    /// Stores a review with what came of it. The audit row of `seq` must cover what was asked.
    pub fn load_review(&self, asked: &NewReview, came: &ReviewDecision, seq: Seq) -> Result<(), StoreError> {
        self.insert_review(asked, seq)?;
        self.transaction.post(
            "UPDATE reviews SET status = $3, decided_at = $4, decided_by = $5, decision_note = $6
             WHERE tenant = $1 AND id = $2",
            params![
                self.tenant,
                asked.id.as_str(),
                came.status.as_str(),
                came.at,
                came.by.as_deref(),
                came.note.as_deref()
            ],
        )?;
        Ok(())
    }

    /// Records that something was purged where it came from.
    pub fn load_tombstone(
        &self,
        kind: PurgedKind,
        number: i64,
        id: &str,
        at: Timestamp,
        seq: Seq,
    ) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO tombstones (tenant, kind, number, id, at, seq) VALUES ($1, $2, $3, $4, $5, $6)",
            params![self.tenant, kind.as_str(), number, id, at, seq.get()],
        )?;
        Ok(())
    }
}
