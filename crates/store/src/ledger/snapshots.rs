//! Snapshots: names for places in the order of changes. The ledger keeps every state, so a snapshot copies
//! nothing; its hash tells whether the states of that place are still what they were.

use std::collections::BTreeMap;

use strata_core::{
    memory::{Kind, Layer, Status, Tier},
    scope::Scope,
    time::Timestamp,
};

use super::{LedgerRead, LedgerWrite, MemoryRow, Seq, State, memories::scope_from};
use crate::{
    error::{Conflict, StoreError},
    params,
    sql::Row,
};

/// The statuses of memories in force, for conditions on a state called `s`.
pub(super) const LIVE_STATE: &str = "s.status IN ('active', 'stale', 'needs_review')";

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRow {
    /// Its name, unique for ever.
    pub name: String,
    /// The last change that it shows; also the audit row that made it.
    pub seq: i64,
    /// What somebody said about it; may be empty.
    pub label: String,
    /// Who made it.
    pub who: String,
    /// When.
    pub at: Timestamp,
    /// How many memories were in force.
    pub live: i64,
    /// The hash over exactly those, with their states ([`set_hash`]).
    pub hash: [u8; 32],
}

/// A snapshot to be taken.
#[derive(Debug, Clone, Copy)]
pub struct NewSnapshot<'a> {
    /// Its name.
    pub name: &'a str,
    /// What is said about it.
    pub label: &'a str,
    /// Who takes it.
    pub who: &'a str,
    /// When; `None` is the time of its audit row.
    pub at: Option<Timestamp>,
    /// How many memories are in force at its sequence.
    pub live: i64,
    /// The hash over them.
    pub hash: [u8; 32],
}

/// A memory that was in force at some place, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveRow {
    /// Its number.
    pub number: i64,
    /// Its kind.
    pub kind: Kind,
    /// Where it belongs.
    pub scope: Scope,
    /// The salted hash of its text.
    pub content_hash: [u8; 32],
    /// Its state there.
    pub state: State,
}

impl LiveRow {
    /// BLAKE3 over number, text hash and every part of the state.
    pub fn hash(&self) -> [u8; 32] {
        let State { status, tier, layer, confidence, importance, pinned } = &self.state;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.number.to_le_bytes()).update(&self.content_hash);
        for word in [Status::as_str(*status), Tier::as_str(*tier), Layer::as_str(*layer)] {
            hasher.update(&(word.len() as u64).to_le_bytes()).update(word.as_bytes());
        }
        hasher.update(&confidence.to_bits().to_le_bytes()).update(&importance.to_bits().to_le_bytes());
        *hasher.update(&[u8::from(*pinned)]).finalize().as_bytes()
    }
}

/// The hash over a set of memories in force: BLAKE3 over the hashes of its rows, by number.
pub fn set_hash(rows: &[LiveRow]) -> [u8; 32] {
    hash_of(&rows.iter().map(|row| (row.number, row.hash())).collect())
}

fn hash_of(parts: &BTreeMap<i64, [u8; 32]>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts.values() {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

const COLUMNS: &str = "name, seq, label, who, at, live, hash";

impl LedgerRead<'_> {
    /// The snapshot of this name.
    pub fn snapshot(&self, name: &str) -> Result<Option<SnapshotRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM snapshots WHERE tenant = $1 AND name = $2");
        self.transaction.query_one(&sql, params![self.tenant, name], |row| self.snapshot_from(row))
    }

    /// Every snapshot, newest first.
    pub fn snapshots(&self) -> Result<Vec<SnapshotRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM snapshots WHERE tenant = $1 ORDER BY seq DESC");
        self.transaction.query(&sql, params![self.tenant], |row| self.snapshot_from(row))
    }

    /// The memories in force at `seq`, by number.
    pub fn live_at(&self, seq: i64) -> Result<Vec<LiveRow>, StoreError> {
        let sql = format!(
            "SELECT m.number, m.kind, m.namespace, m.project, m.branch, m.content_hash,
                 s.status, s.tier, s.layer, s.confidence, s.importance, s.pinned
             FROM memory_states s JOIN memories m ON m.tenant = s.tenant AND m.number = s.number
             WHERE s.tenant = $1 AND s.from_seq <= $2 AND s.to_seq > $2 AND {LIVE_STATE} ORDER BY m.number"
        );
        self.transaction.query(&sql, params![self.tenant, seq], |row| {
            Ok(LiveRow {
                number: row.get(0)?,
                kind: Kind::parse(row.text(1)?)?,
                scope: scope_from(row, 2)?,
                content_hash: self.hash(row.blob(5)?)?,
                state: State::from_row(row, 6)?,
            })
        })
    }

    /// How many memories a purge took out of a snapshot.
    pub fn snapshot_losses(&self, name: &str) -> Result<i64, StoreError> {
        let sql = "SELECT count(*) FROM snapshot_losses WHERE tenant = $1 AND name = $2";
        Ok(self.transaction.query_one(sql, params![self.tenant, name], |row| row.get(0))?.unwrap_or(0))
    }

    /// Whether the states at a snapshot's place are still those it was taken of, but for what was purged.
    pub fn snapshot_holds(&self, snapshot: &SnapshotRow) -> Result<bool, StoreError> {
        let rows = self.live_at(snapshot.seq)?;
        let mut parts: BTreeMap<i64, [u8; 32]> = rows.iter().map(|row| (row.number, row.hash())).collect();
        self.transaction.for_each(
            "SELECT number, hash FROM snapshot_losses WHERE tenant = $1 AND name = $2",
            params![self.tenant, &snapshot.name],
            |row| {
                parts.insert(row.get(0)?, self.hash(row.blob(1)?)?);
                Ok(())
            },
        )?;
        Ok(i64::try_from(parts.len()) == Ok(snapshot.live) && hash_of(&parts) == snapshot.hash)
    }

    fn snapshot_from(&self, row: &Row<'_>) -> Result<SnapshotRow, StoreError> {
        Ok(SnapshotRow {
            name: row.get(0)?,
            seq: row.get(1)?,
            label: row.get(2)?,
            who: row.get(3)?,
            at: row.get(4)?,
            live: row.get(5)?,
            hash: self.hash(row.blob(6)?)?,
        })
    }
}

impl LedgerWrite<'_> {
    /// Keeps a snapshot of the place `seq`. A name that is taken is a conflict.
    pub fn insert_snapshot(&self, new: &NewSnapshot<'_>, seq: Seq) -> Result<(), StoreError> {
        if self.snapshot(new.name)?.is_some() {
            return Err(Conflict::IdTaken { id: new.name.to_owned() }.into());
        }
        let at = match new.at {
            Some(at) => at,
            None => self.head()?.at,
        };
        self.transaction.post(
            "INSERT INTO snapshots (tenant, name, seq, label, who, at, live, hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            params![self.tenant, new.name, self.place(seq)?, new.label, new.who, at, new.live, &new.hash],
        )?;
        Ok(())
    }

    /// Writes down what a memory was in every snapshot that holds it, because it is about to be purged, and
    /// blanks labels that repeat its text.
    pub(super) fn lose_from_snapshots(&self, memory: &MemoryRow, seq: Seq) -> Result<(), StoreError> {
        for snapshot in self.snapshots()? {
            let held = self.state_at(memory.number, snapshot.seq)?.filter(|state| state.status.is_live());
            if let Some(state) = held {
                let row = LiveRow {
                    number: memory.number,
                    kind: memory.kind.clone(),
                    scope: memory.scope.clone(),
                    content_hash: memory.content_hash,
                    state,
                };
                self.transaction.post(
                    "INSERT INTO snapshot_losses (tenant, name, number, hash, seq) VALUES ($1, $2, $3, $4, $5)",
                    params![self.tenant, &snapshot.name, memory.number, &row.hash(), self.place(seq)?],
                )?;
            }
            if repeats(&snapshot.label, memory) {
                self.transaction.post(
                    "UPDATE snapshots SET label = '' WHERE tenant = $1 AND name = $2",
                    params![self.tenant, &snapshot.name],
                )?;
            }
        }
        Ok(())
    }
}

/// Shortest label that is taken for a piece of a text; shorter ones are words that anybody writes.
const TELLING: usize = 8;

fn repeats(label: &str, memory: &MemoryRow) -> bool {
    let texts = [memory.body.trim(), memory.title.trim()];
    let inside = |text: &str| {
        (label.len() >= TELLING && text.contains(label)) || (text.len() >= TELLING && label.contains(text))
    };
    !label.is_empty() && texts.into_iter().any(inside)
}
