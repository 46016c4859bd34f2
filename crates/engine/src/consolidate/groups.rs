//! What waits to be distilled, in the groups that are distilled together.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use strata_core::{digest::Background, scope::Scope, time::Timestamp};
use strata_store::ledger::{RawKind, Undistilled};

use super::text::{Raw, readable};
use crate::{engine::Engine, episode::KIND, error::Error, memory::reference::sees_scope, operation::Call};

/// Rows read at a time.
const PAGE: usize = 500;
/// Most episodes of one digest. A longer session is distilled in stretches: a digest has room for what a few
/// hundred turns say, and its transaction stays short.
const MOST: usize = 250;
/// Characters of a group's name that are shown.
const SHOWN_KEY: usize = 80;

/// Raw material that becomes one digest.
#[derive(Debug)]
pub(super) struct Group {
    /// Where it belongs.
    pub(super) scope: Scope,
    /// The session; empty for what belongs to none.
    pub(super) session: String,
    /// The session's name, or `unattributed:KIND`.
    pub(super) key: String,
    /// In order of time.
    pub(super) pieces: Vec<Piece>,
}

/// A piece without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    at: Timestamp,
    kind: RawKind,
    number: i64,
}

/// The groups to be distilled, and how many are too small.
pub(super) struct Pending {
    pub(super) groups: Vec<Group>,
    pub(super) skipped: usize,
}

/// Namespace and project: over what rarity is counted.
pub(super) type Collection = (String, Option<String>);

/// A group's place among all: collection, branch, name.
type Place = (Collection, Option<String>, String);

impl Group {
    pub(super) fn collection(&self) -> Collection {
        (self.scope.namespace.clone(), self.scope.project.clone())
    }

    /// The name, short enough to be shown.
    pub(super) fn short_key(&self) -> String {
        self.key.chars().take(SHOWN_KEY).collect()
    }
}

/// What the caller sees of what no digest covers, in order of scope and name.
pub(super) fn pending(engine: &Engine, call: &Call<'_>, least: usize) -> Result<Pending, Error> {
    let mut found: BTreeMap<Place, (String, Vec<Piece>)> = BTreeMap::new();
    for kind in [RawKind::Episode, RawKind::Memory] {
        let mut after = 0;
        loop {
            let control = engine.control(call);
            let page = engine.existing_ledger()?.read(&control, |r| r.undistilled(kind, after, PAGE))?;
            let Some(last) = page.last() else { break };
            after = last.number;
            if call.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            for row in page.into_iter().filter(|row| sees_scope(call, &row.scope)) {
                let piece = Piece { at: row.at, kind, number: row.number };
                let key = key_of(&row);
                let Undistilled { scope, session, .. } = row;
                let place = ((scope.namespace, scope.project), scope.branch, key);
                found.entry(place).or_insert_with(|| (session, Vec::new())).1.push(piece);
            }
        }
    }
    let mut pending = Pending { groups: Vec::new(), skipped: 0 };
    for (((namespace, project), branch, key), (session, mut pieces)) in found {
        if pieces.len() < least {
            pending.skipped += 1;
            continue;
        }
        pieces.sort_unstable();
        let scope = Scope { namespace, project, branch, ancestors: Vec::new() };
        for stretch in stretches(&pieces) {
            pending.groups.push(Group {
                scope: scope.clone(),
                session: session.clone(),
                key: key.clone(),
                pieces: stretch.to_vec(),
            });
        }
    }
    Ok(pending)
}

/// The pieces in as few stretches as may be, about equally long.
fn stretches(pieces: &[Piece]) -> impl Iterator<Item = &[Piece]> {
    let parts = pieces.len().div_ceil(MOST).max(1);
    pieces.chunks(pieces.len().div_ceil(parts).max(1))
}

/// The session, or for what belongs to none what sort of event it is.
fn key_of(row: &Undistilled) -> String {
    if !row.session.trim().is_empty() {
        return row.session.clone();
    }
    let metadata: Value = serde_json::from_str(&row.metadata).unwrap_or_default();
    let kind = match row.kind {
        RawKind::Episode => metadata[KIND].as_str().unwrap_or("event"),
        RawKind::Memory => "memory",
    };
    format!("unattributed:{kind}")
}

/// The texts of pieces, in their order. What was purged meanwhile is left out.
pub(super) fn read(engine: &Engine, call: &Call<'_>, pieces: &[Piece]) -> Result<Vec<Raw>, Error> {
    Ok(engine.existing_ledger()?.read(&engine.control(call), |r| {
        let mut raw = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece.kind {
                RawKind::Episode => raw.extend(r.episode_by_number(piece.number)?.map(|row| Raw {
                    kind: piece.kind,
                    number: row.number,
                    id: row.id,
                    at: row.at,
                    speaker: if row.speaker.is_empty() { row.role } else { row.speaker },
                    text: readable(&row.text),
                })),
                RawKind::Memory => raw.extend(r.memory_by_number(piece.number)?.map(|row| Raw {
                    kind: piece.kind,
                    number: row.number,
                    id: row.id,
                    at: row.created_at,
                    speaker: String::new(),
                    text: row.body,
                })),
            }
        }
        Ok(raw)
    })?)
}

/// How often terms occur in all that waits, per collection.
pub(super) fn backgrounds(
    engine: &Engine,
    call: &Call<'_>,
    groups: &[Group],
) -> Result<HashMap<Collection, Background>, Error> {
    let mut backgrounds: HashMap<Collection, Background> = HashMap::new();
    for group in groups {
        if call.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let background = backgrounds.entry(group.collection()).or_default();
        for raw in read(engine, call, &group.pieces)? {
            background.add(&raw.text);
        }
    }
    Ok(backgrounds)
}
