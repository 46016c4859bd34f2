//! Snapshots: names for places in the order of changes, to look at, to compare and to go back to.

pub mod compare;
pub mod create;
mod files;
pub mod list;
pub mod rollback;
pub mod show;

use serde::Serialize;
use strata_core::{id::Id, principal::Principal};
use strata_store::{
    error::StoreError,
    ledger::{
        LedgerRead, LedgerWrite, LiveRow, MemoryRow, NewAudit, NewSnapshot, Seq, SnapshotRow, set_hash,
    },
};

use crate::{
    error::Error,
    gate::Gate,
    memory::reference::sees_scope,
    operation::Call,
    render::{Record, headline, one_line},
};

/// Longest name, in characters.
const MAX_NAME: usize = 100;
/// Characters of a memory's text where it is only named.
const FIRST_WORDS: usize = 80;
/// Things listed when the caller does not say how many.
const LISTED: u32 = 20;
/// Things listed at most.
const MOST_LISTED: u32 = 200;

/// A memory as it is named in a list.
#[derive(Debug, Clone, Serialize)]
pub struct Named {
    /// Its id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its layer there.
    pub layer: String,
    /// Its kind.
    pub kind: String,
    /// Its first words.
    pub text: String,
    /// What is different, for one that changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

impl Named {
    pub(crate) fn new(row: &MemoryRow, live: &LiveRow) -> Self {
        Self {
            id: row.id.clone(),
            number: row.number,
            layer: live.state.layer.to_string(),
            kind: row.kind.to_string(),
            text: headline(&row.title, &row.body, FIRST_WORDS),
            changes: Vec::new(),
        }
    }

    pub(crate) fn record(&self) -> Record {
        let mut attributes = vec![format!("#{}", self.number), format!("{} {}", self.layer, self.kind)];
        attributes.extend(self.changes.iter().cloned());
        Record { id: self.id.clone(), attributes, title: None, text: self.text.clone() }
    }
}

/// The first memories of a list that the caller sees, and how many follow.
pub(crate) fn named(
    r: &LedgerRead<'_>,
    rows: &[&LiveRow],
    limit: usize,
) -> Result<(Vec<Named>, usize), StoreError> {
    let mut shown = Vec::new();
    for live in rows.iter().take(limit) {
        shown.extend(r.memory_by_number(live.number)?.map(|row| Named::new(&row, live)));
    }
    Ok((shown, rows.len().saturating_sub(limit)))
}

/// How many things a list shows.
pub(crate) fn limit(asked: Option<u32>) -> usize {
    asked.unwrap_or(LISTED) as usize
}

/// The rows that the caller sees, and how many it does not.
pub(crate) fn seen<'a>(call: &Call<'_>, rows: Vec<&'a LiveRow>) -> (Vec<&'a LiveRow>, usize) {
    let all = rows.len();
    let seen: Vec<_> = rows.into_iter().filter(|row| sees_scope(call, &row.scope)).collect();
    let hidden = all - seen.len();
    (seen, hidden)
}

/// A new snapshot's name, checked.
pub(crate) fn new_name(field: &str, text: &str) -> Result<String, Error> {
    let hint = "choose a short name such as before-migration";
    let mut gate = Gate::default();
    let name = gate.field(field, Some(text))?.map(|name| one_line(&name)).unwrap_or_default();
    if name.is_empty() {
        return Err(Error::argument(field, "must not be empty", hint));
    }
    if name.chars().count() > MAX_NAME {
        return Err(Error::argument(field, format!("is longer than {MAX_NAME} characters"), hint));
    }
    if Id::parse(&name).is_ok() {
        return Err(Error::argument(field, "is the id of something else", hint));
    }
    Ok(name)
}

/// The snapshot of a name.
pub(crate) fn find(r: &LedgerRead<'_>, name: &str) -> Result<SnapshotRow, Error> {
    r.snapshot(&one_line(name))?.ok_or_else(|| Error::NotFound {
        what: "snapshot",
        id: name.to_owned(),
        hint: "`snapshot_list` shows their names".into(),
    })
}

/// What is in force at one place, measured for a snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// The place.
    pub(crate) seq: i64,
    live: i64,
    pub(crate) hash: [u8; 32],
}

impl Measured {
    /// What is in force now.
    pub(crate) fn now(r: &LedgerRead<'_>) -> Result<Self, StoreError> {
        let seq = r.head()?.seq;
        Ok(Self::of(seq, &r.live_at(seq)?))
    }

    pub(crate) fn of(seq: i64, rows: &[LiveRow]) -> Self {
        Self { seq, live: i64::try_from(rows.len()).unwrap_or(i64::MAX), hash: set_hash(rows) }
    }

    /// How many memories are in force.
    pub(crate) fn live(&self) -> i64 {
        self.live
    }
}

/// Keeps a snapshot of what is in force, on record. `measured` must be of the present head.
pub(crate) fn take(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    actor: &Principal,
    (name, label): (&str, &str),
    measured: &Measured,
) -> Result<Seq, StoreError> {
    let row = NewAudit {
        after_hash: Some(measured.hash),
        ..NewAudit::new(actor, call.face, strata_core::policy::Action::Snapshot.as_str(), name)
    };
    let seq = w.record(&row)?;
    let who = actor.to_string();
    let new = NewSnapshot { name, label, who: &who, at: None, live: measured.live, hash: measured.hash };
    w.insert_snapshot(&new, seq)?;
    Ok(seq)
}
