//! What is true of a memory now, and what was true of it at any sequence.
//!
//! `memory_states` is append-only but for the end of the open row; the columns of the same names in
//! `memories` repeat the open row.

use std::collections::HashMap;

use strata_core::{
    memory::{Layer, Status, Tier},
    scope::Scope,
};

use super::{LedgerRead, LedgerWrite, MemoryRow, OPEN, Seq};
use crate::{
    error::{Conflict, StoreError},
    params,
    rows::{LIST, listed, padded},
    sql::Row,
};

/// The changing part of a memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// Where it stands in its life.
    pub status: Status,
    /// How near at hand it is kept.
    pub tier: Tier,
    /// Its layer now.
    pub layer: Layer,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// How much it matters, 0 to 1.
    pub importance: f64,
    /// Whether it stays on the hot page.
    pub pinned: bool,
}

impl State {
    /// An active, hot, unpinned memory of `layer`, certain and of middling importance.
    pub fn active(layer: Layer) -> Self {
        Self {
            status: Status::Active,
            tier: Tier::Hot,
            layer,
            confidence: 1.0,
            importance: 0.5,
            pinned: false,
        }
    }

    /// The hash that stands in the audit for this state of the memory with this content hash: BLAKE3 over both,
    /// each field preceded by its length. The content's salt hides it.
    pub fn hash(&self, content: &[u8; 32]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let (confidence, importance) = (self.confidence.to_bits(), self.importance.to_bits());
        for part in [
            &b"state"[..],
            content,
            self.status.as_str().as_bytes(),
            self.tier.as_str().as_bytes(),
            self.layer.as_str().as_bytes(),
            &confidence.to_le_bytes(),
            &importance.to_le_bytes(),
            &[u8::from(self.pinned)],
        ] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// What becomes of it when another memory takes its place.
    pub fn superseded(self) -> Self {
        Self { status: Status::Superseded, pinned: false, ..self }
    }

    pub(super) fn check(&self) -> Result<(), StoreError> {
        let unit = 0.0..=1.0;
        if unit.contains(&self.confidence) && unit.contains(&self.importance) {
            return Ok(());
        }
        Err(StoreError::Invalid(format!(
            "confidence and importance lie between 0 and 1, not {} and {}",
            self.confidence, self.importance
        )))
    }

    /// Reads the six columns of a state from `first` on.
    pub(super) fn from_row(row: &Row<'_>, first: usize) -> Result<Self, StoreError> {
        Ok(Self {
            status: Status::parse(row.text(first)?)?,
            tier: Tier::parse(row.text(first + 1)?)?,
            layer: Layer::parse(row.text(first + 2)?)?,
            confidence: row.get(first + 3)?,
            importance: row.get(first + 4)?,
            pinned: row.get(first + 5)?,
        })
    }
}

/// A state and the sequences it held from (inclusive) and to (exclusive).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateRow {
    /// The memory.
    pub number: i64,
    /// The change that brought it.
    pub from_seq: i64,
    /// The change that ended it; [`OPEN`] while it holds.
    pub to_seq: i64,
    /// What held.
    pub state: State,
}

const COLUMNS: &str = "number, from_seq, to_seq, status, tier, layer, confidence, importance, pinned";

impl LedgerRead<'_> {
    /// Every state of a memory, oldest first.
    pub fn states(&self, number: i64) -> Result<Vec<StateRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM memory_states WHERE tenant = $1 AND number = $2 ORDER BY from_seq"
        );
        self.transaction.query(&sql, params![self.tenant, number], state_row_from)
    }

    /// The state of one memory at `seq`; `None` before its birth.
    pub fn state_at(&self, number: i64, seq: i64) -> Result<Option<State>, StoreError> {
        self.transaction.query_one(
            "SELECT status, tier, layer, confidence, importance, pinned FROM memory_states
             WHERE tenant = $1 AND number = $2 AND from_seq <= $3 AND to_seq > $3",
            params![self.tenant, number, seq],
            |row| State::from_row(row, 0),
        )
    }

    /// The state of each of these memories at its sequence. Those that had none then are left out.
    pub fn states_at(&self, places: &[(i64, i64)]) -> Result<HashMap<(i64, i64), State>, StoreError> {
        let mut numbers: Vec<i64> = places.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut histories: HashMap<i64, Vec<StateRow>> = HashMap::new();
        for chunk in numbers.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let list = listed(&mut values, padded(chunk).copied());
            let sql = format!("SELECT {COLUMNS} FROM memory_states WHERE tenant = $1 AND number IN ({list})");
            for row in self.transaction.query(&sql, &values, state_row_from)? {
                histories.entry(row.number).or_default().push(row);
            }
        }
        let then = |(number, seq): &(i64, i64)| {
            let held = histories.get(number)?.iter().find(|row| row.from_seq <= *seq && row.to_seq > *seq)?;
            Some(((*number, *seq), held.state))
        };
        Ok(places.iter().filter_map(then).collect())
    }

    /// Whether a memory of this namespace and project, on any branch, was stored or changed its state after `seq`.
    pub fn is_memory_changed_since(&self, scope: &Scope, seq: i64) -> Result<bool, StoreError> {
        let found = self.transaction.query_one(
            "SELECT 1 FROM memory_states s JOIN memories m ON m.tenant = s.tenant AND m.number = s.number
             WHERE s.tenant = $1 AND s.from_seq > $2 AND m.namespace = $3 AND m.project = $4 LIMIT 1",
            params![self.tenant, seq, &scope.namespace, scope.project.as_deref().unwrap_or("")],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }

    /// The state of every memory there was at `seq`, by number.
    pub fn as_of(&self, seq: i64) -> Result<Vec<StateRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM memory_states
             WHERE tenant = $1 AND from_seq <= $2 AND to_seq > $2 ORDER BY number"
        );
        self.transaction.query(&sql, params![self.tenant, seq], state_row_from)
    }
}

impl LedgerWrite<'_> {
    /// Ends the present state of a memory and begins `state`.
    ///
    /// `seen`, if given, is the `state_seq` on which the caller decided; another one by now is a
    /// conflict. So is a topic or content that another live memory of the scope holds. A memory that
    /// comes back to life loses the link to its successor.
    pub fn change_state(
        &self,
        number: i64,
        seen: Option<i64>,
        state: &State,
        seq: Seq,
    ) -> Result<(), StoreError> {
        let memory = self.existing(number)?;
        if let Some(expected) = seen.filter(|expected| *expected != memory.state_seq) {
            let found = memory.state_seq;
            return Err(Conflict::StateMoved { id: memory.id, expected, found }.into());
        }
        state.check()?;
        if state.status.is_live() && !memory.state.status.is_live() {
            self.refuse_taken(&memory.scope, memory.topic_key.as_deref(), &memory.content_key)?;
        }
        self.begin_state(number, memory.state_seq, state, seq)?;
        if state.status.is_live() && memory.superseded_by.is_some() {
            self.link_successor(number, None, None)?;
        }
        Ok(())
    }

    /// Marks `old` as replaced by `by`, which exists already.
    ///
    /// A second successor and a circle of successors are conflicts.
    pub fn supersede(&self, old: i64, by: i64, reason: &str, seq: Seq) -> Result<(), StoreError> {
        let old = self.existing(old)?;
        let by = self.existing(by)?;
        self.refuse_second_successor(&old)?;
        if self.has_among_successors(&by, &old.id)? {
            return Err(Conflict::Cycle { id: old.id, by: by.id }.into());
        }
        self.retire(&old, &by.id, reason, seq)
    }

    /// Ends the life of `old` in favour of the memory with the id `by`.
    pub(super) fn retire(&self, old: &MemoryRow, by: &str, reason: &str, seq: Seq) -> Result<(), StoreError> {
        let state = old.state.superseded();
        self.begin_state(old.number, old.state_seq, &state, seq)?;
        self.link_successor(old.number, Some(by), Some(reason))
    }

    pub(super) fn refuse_second_successor(&self, old: &MemoryRow) -> Result<(), StoreError> {
        match &old.superseded_by {
            Some(by) => Err(Conflict::AlreadySuperseded { id: old.id.clone(), by: by.clone() }.into()),
            None => Ok(()),
        }
    }

    /// Whether `wanted` is `start` or follows from it.
    fn has_among_successors(&self, start: &MemoryRow, wanted: &str) -> Result<bool, StoreError> {
        let mut id = start.id.clone();
        let mut next = start.superseded_by.clone();
        while id != wanted {
            let Some(by) = next else { return Ok(false) };
            next = self.memory(&by)?.and_then(|memory| memory.superseded_by);
            id = by;
        }
        Ok(true)
    }

    fn begin_state(&self, number: i64, since: i64, state: &State, seq: Seq) -> Result<(), StoreError> {
        let seq = self.place(seq)?;
        if since == seq {
            // Nobody saw the first of two states that one change brings.
            self.transaction.post(
                "DELETE FROM memory_states WHERE tenant = $1 AND number = $2 AND from_seq = $3",
                params![self.tenant, number, seq],
            )?;
        } else {
            self.transaction.post(
                "UPDATE memory_states SET to_seq = $4 WHERE tenant = $1 AND number = $2 AND from_seq = $3",
                params![self.tenant, number, since, seq],
            )?;
        }
        self.open_state(number, state, seq)?;
        self.transaction.post(
            "UPDATE memories SET state_seq = $3, status = $4, tier = $5, layer = $6, confidence = $7,
                 importance = $8, pinned = $9
             WHERE tenant = $1 AND number = $2",
            params![
                self.tenant,
                number,
                seq,
                state.status.as_str(),
                state.tier.as_str(),
                state.layer.as_str(),
                state.confidence,
                state.importance,
                state.pinned
            ],
        )?;
        Ok(())
    }

    pub(super) fn open_state(&self, number: i64, state: &State, seq: i64) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO memory_states (tenant, number, from_seq, to_seq, status, tier, layer, confidence,
                 importance, pinned)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            params![
                self.tenant,
                number,
                seq,
                OPEN,
                state.status.as_str(),
                state.tier.as_str(),
                state.layer.as_str(),
                state.confidence,
                state.importance,
                state.pinned
            ],
        )?;
        Ok(())
    }

    fn link_successor(&self, number: i64, by: Option<&str>, reason: Option<&str>) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE memories SET superseded_by = $3, superseded_reason = $4 WHERE tenant = $1 AND number = $2",
            params![self.tenant, number, by, reason],
        )?;
        Ok(())
    }
}

fn state_row_from(row: &Row<'_>) -> Result<StateRow, StoreError> {
    Ok(StateRow {
        number: row.get(0)?,
        from_seq: row.get(1)?,
        to_seq: row.get(2)?,
        state: State::from_row(row, 3)?,
    })
}
