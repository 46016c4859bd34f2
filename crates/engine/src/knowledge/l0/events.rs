//! What the changelog says of the index: which entries came and went.
//!
//! The changelog itself is what a new index is compared with, not the file: that may be absent, or too small for all
//! entries, without any entry having come or gone.

use std::collections::BTreeMap;

use serde_json::Value;
use strata_core::{
    knowledge::{changelog::Operation, name::VaultPath},
    policy::Action,
    scope::SHARED,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerWrite, VaultChange, VaultChangeFilter},
};

use super::Index;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault::{self, Change, Event, Place},
    operation::Call,
};

/// Under this name an event has the path of the entry's file.
const FILE: &str = "file";

/// Entries that came and went since the changelog was last written.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Turnover {
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
}

/// Compares the own entries of an index with the changelog.
pub(super) fn turnover(engine: &Engine, call: &Call<'_>, index: &Index) -> Result<Turnover, Error> {
    let standing = standing(engine, call, index)?;
    let is_known = |path: &String| standing.get(path).is_some_and(is_there);
    let added = index.own.iter().filter(|path| !is_known(path)).cloned().collect();
    let gone = standing.iter().filter(|(path, change)| is_there(change) && !index.own.contains(path));
    Ok(Turnover { added, removed: gone.map(|(path, _)| path.clone()).collect() })
}

/// Puts a turnover on record.
pub(super) fn record(
    engine: &Engine,
    call: &Call<'_>,
    index: &Index,
    turnover: &Turnover,
    tool: &str,
) -> Result<(), Error> {
    let event = |operation, path: &String| {
        let place = Place::new(index.namespace.clone(), VaultPath::parse(path).ok()?);
        Some((place, self::event(operation, path)))
    };
    let added = turnover.added.iter().filter_map(|path| event(Operation::IndexEntryAdded, path));
    let removed = turnover.removed.iter().filter_map(|path| event(Operation::IndexEntryRemoved, path));
    let events: Vec<(Place, Event)> = added.chain(removed).collect();
    let change = Change { action: Action::Update, ..Change::new(tool) };
    vault::record_where(engine, call, &change, &events, &|w, (place, event)| {
        let filter =
            VaultChangeFilter { domain: Some(place.domain().to_owned()), ..about(place.namespace.as_str()) };
        let path = place.path.to_string();
        let stands = latest(&w.vault_changes(&filter)?).get(&path).is_some_and(|change| is_there(change));
        // Where no lock keeps writers apart, the index was made before another one wrote.
        let goes = event.operation == Operation::IndexEntryRemoved;
        Ok(stands == goes && has_entry(w, place)? != goes)
    })
}

/// Whether the index of a namespace has an entry of its own about a file now.
fn has_entry(w: &LedgerWrite<'_>, place: &Place) -> Result<bool, StoreError> {
    let (namespace, path) = (place.namespace.as_str(), place.path.to_string());
    let rows = w.l0_entries([namespace, SHARED])?;
    let mut about = rows.iter().filter(|row| row.path == path);
    let own = about.clone().find(|row| row.namespace == namespace);
    match own.or_else(|| about.next()) {
        Some(row) => Ok(row.namespace == namespace && !row.summary.is_empty()),
        None => Ok(w.vault_head(namespace, &path)?.is_some_and(|head| head.is_present())),
    }
}

/// The event of an entry.
pub(super) fn event(operation: Operation, path: &str) -> Event {
    let what = match operation {
        Operation::IndexEntryAdded => "added to the index",
        Operation::IndexEntryRemoved => "removed from the index",
        _ => "has another entry in the index",
    };
    Event::new(operation, format!("{path} {what}")).with(FILE, path)
}

/// The latest event of each path in the index of a namespace.
pub(super) fn standing(
    engine: &Engine,
    call: &Call<'_>,
    index: &Index,
) -> Result<BTreeMap<String, VaultChange>, Error> {
    let filter = about(index.namespace.as_str());
    let changes = engine.read(call, |r| r.vault_changes(&filter))?;
    Ok(latest(&changes).into_iter().map(|(path, change)| (path, change.clone())).collect())
}

fn about(namespace: &str) -> VaultChangeFilter {
    VaultChangeFilter {
        namespaces: vec![namespace.to_owned()],
        operations: vec![
            Operation::IndexEntryAdded,
            Operation::IndexEntryRemoved,
            Operation::IndexEntryRenamed,
        ],
        ..VaultChangeFilter::default()
    }
}

/// Of changes, newest first, the latest of each path.
fn latest(changes: &[VaultChange]) -> BTreeMap<String, &VaultChange> {
    let mut latest = BTreeMap::new();
    for change in changes {
        let metadata: Value = serde_json::from_str(&change.metadata).unwrap_or_default();
        if let Some(path) = metadata[FILE].as_str() {
            latest.entry(path.to_owned()).or_insert(change);
        }
    }
    latest
}

/// Whether an entry stands after this event.
pub(super) fn is_there(change: &VaultChange) -> bool {
    change.operation != Operation::IndexEntryRemoved
}
