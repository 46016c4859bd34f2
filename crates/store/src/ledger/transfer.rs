//! Taking in rows that another store exported: ids and numbers are kept where they are free.

use strata_core::time::Timestamp;

use super::{LedgerWrite, NewEpisode, NewMemory, NewReview, PurgedKind, ReviewDecision, Seq, State};
use crate::{error::StoreError, params};

/// The highest number that a load may bring along. Numbers after it are given one by one, so a file that
/// names the last one there is would leave none for anything else.
const HIGHEST_LOADED: i64 = 1 << 48;

impl LedgerWrite<'_> {
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

    /// Whether an event equal to this one is stored; see [`Self::store_episodes`] for what equal is.
    pub fn knows_episode(&self, episode: &NewEpisode) -> Result<bool, StoreError> {
        let key = self.episode_key(episode)?;
        Ok(self.episode_with_key(&key)?.is_some())
    }

    /// Stores an event that is not known under a number from [`Self::free_number`]. The audit row of `seq` must
    /// cover it ([`super::NewAudit::storing`]).
    pub fn load_episode(&self, number: i64, episode: &NewEpisode, seq: Seq) -> Result<(), StoreError> {
        let key = self.episode_key(episode)?;
        self.insert_episode(number, episode, (&key, &episode.digest()), seq)
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
