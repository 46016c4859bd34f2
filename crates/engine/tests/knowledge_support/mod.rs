//! Writing into the vault as the tools do, the index behind it.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::{fs, path::PathBuf};

use strata_core::{knowledge::changelog::Operation, scope::Scope};
use strata_engine::{
    engine::Engine,
    knowledge::{
        l0::{self, Synced},
        vault::{self, Change, Edited, Event, Written},
    },
};
use strata_store::ledger::{VaultChange, VaultChangeFilter};

use crate::support::Session;
pub(crate) use crate::support::with_call;

/// Writes a file, or deletes it.
pub(crate) fn change(s: &Session, name: &str, text: Option<&str>) -> (Written, Synced) {
    change_by(&s.engine, s, name, text)
}

/// The same by another process.
pub(crate) fn change_by(engine: &Engine, s: &Session, name: &str, text: Option<&str>) -> (Written, Synced) {
    with_call(s, |call| {
        let place = vault::locate(engine, call, "domain", name).expect("a place");
        let written = vault::edit(engine, call, &place, &Change::new("test"), &mut |before| {
            let operation = match (before, text) {
                (_, None) => Operation::DomainDeleted,
                (None, _) => Operation::DomainCreated,
                _ => Operation::DomainUpdated,
            };
            let event = Event::new(operation, "a test wrote");
            Ok(match text {
                Some(text) => Edited::Write(text.to_owned(), event),
                None => Edited::Delete(event),
            })
        });
        let written = written.expect("written");
        let synced = l0::sync_after(engine, call, &written);
        (written, synced)
    })
}

/// Writes a file and gives what came of the index.
pub(crate) fn write(s: &Session, name: &str, text: &str) -> Synced {
    change(s, name, Some(text)).1
}

/// Moves a session into a namespace.
pub(crate) fn stand_in(s: &mut Session, namespace: &str) {
    s.scope = Scope { namespace: namespace.into(), ..Scope::user() };
}

/// What the changelog says of the index, oldest first: operation and path.
pub(crate) fn events(s: &Session) -> Vec<String> {
    let operations =
        vec![Operation::IndexEntryAdded, Operation::IndexEntryRemoved, Operation::IndexEntryRenamed];
    let filter = VaultChangeFilter { operations, ..VaultChangeFilter::default() };
    let changes = with_call(s, |call| s.engine.read(call, |r| r.vault_changes(&filter))).expect("read");
    let said = |change: &VaultChange| {
        let metadata: serde_json::Value = serde_json::from_str(&change.metadata).expect("JSON");
        format!("{} {}", change.operation.as_str(), metadata["file"].as_str().expect("a file"))
    };
    changes.iter().rev().map(said).collect()
}

/// The file of an index.
pub(crate) fn index_file(s: &Session, name: &str) -> PathBuf {
    s.home.path().join("vault").join(name)
}

/// The text of the shared index: that of its file, where it is one.
pub(crate) fn index(s: &Session) -> String {
    match on_disk(s) {
        true => fs::read_to_string(index_file(s, "L0.md")).expect("an index"),
        false => s.ok("get_l0_index", serde_json::json!({}))["content"].as_str().expect("text").to_owned(),
    }
}

/// Whether the vault is a folder.
pub(crate) fn on_disk(s: &Session) -> bool {
    s.engine.settings().store.is_none()
}
