//! The index of knowledge: one line for each file of the vault, which an agent sees in every turn.
//!
//! It is made of the files and of the entries that somebody wrote, which are rows of the ledger; nothing else is truth.
//! In a home it is also a file, `vault/L0.md`, for whoever reads files: that of a namespace beside the shared one is
//! `vault/L0-NAMESPACE.md`, because it shows files that others do not see. Whatever changes the vault brings these files
//! up to date before it answers ([`sync_after`]). On a server there is no file unless the configuration names one: the
//! index is made whenever somebody reads it, so it is never behind.

mod behind;
mod build;
mod consistency;
mod events;
mod file;
pub mod manage;
pub mod show;
pub mod sync;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;
use strata_core::{
    knowledge::{
        l0::{self, Entry, Format},
        name::Name,
    },
    scope::SHARED,
    time::Timestamp,
};

use super::vault::{self, FileHead, Written};
use crate::{engine::Engine, error::Error, operation::Call};

pub use behind::Behind;
pub(crate) use behind::behind;
use build::build_known;
pub(crate) use build::{Index, build};
pub use consistency::Consistency;
pub(crate) use consistency::consistency;
use file::IndexFile;
pub use sync::Report;
use sync::{Wanted, sync};

/// The most entries that are kept read; more are read anew.
const KEPT: usize = 20_000;

/// What came of bringing the index up to date behind a write.
#[derive(Debug, Clone, Serialize)]
pub struct Synced {
    /// Whether the index shows what was written.
    pub l0_synced: bool,
    /// What was done to the caller's own index.
    pub l0_sync_report: Report,
}

/// Brings the index up to date with a write to the vault. The write stands whatever comes of it: a failure is told in
/// the report.
pub fn sync_after(engine: &Engine, call: &Call<'_>, written: &Written) -> Synced {
    sync_after_all(engine, call, std::slice::from_ref(written))
}

/// The same behind several writes, once.
pub fn sync_after_all(engine: &Engine, call: &Call<'_>, written: &[Written]) -> Synced {
    let told = |l0_synced, l0_sync_report| Synced { l0_synced, l0_sync_report };
    if !engine.settings().config.knowledge.l0.auto_sync {
        return told(false, Report::note("automatic syncing is off: `sync_l0_index` writes the index"));
    }
    if !written.iter().any(Written::is_changed) {
        return told(false, Report::note("nothing was changed"));
    }
    match follow(engine, call, written) {
        Ok(report) => told(true, report),
        Err(error) => told(false, Report::failed(&error)),
    }
}

fn follow(engine: &Engine, call: &Call<'_>, written: &[Written]) -> Result<Report, Error> {
    let forgotten = manage::forget_deleted(engine, call, written)?;
    let is_shared = |written: &Written| written.place.namespace.as_str() == SHARED;
    let own = vault::own_namespace(engine, call)?;
    let mut namespaces = vec![own.clone()];
    namespaces.extend(written.iter().map(|written| written.place.namespace.clone()));
    if written.iter().any(is_shared) {
        namespaces.extend(file::namespaces(engine));
    }
    let moved = |written: &Written| {
        let there = |head: &Option<FileHead>| head.as_ref().is_some_and(FileHead::is_present);
        there(&written.before) != there(&written.after)
    };
    let wanted = Wanted {
        set_may_differ: written.iter().any(moved),
        // The line of an entry that was just taken out is not somebody's.
        adopt: !forgotten,
        // The write has looked at the folder, and what it did stands in the ledger.
        has_looked: true,
        ..Wanted::default()
    };
    sync_each(engine, call, namespaces, &wanted, &own)
}

/// Brings several indexes up to date and gives the report of one of them.
fn sync_each(
    engine: &Engine,
    call: &Call<'_>,
    mut namespaces: Vec<Name>,
    wanted: &Wanted,
    shown: &Name,
) -> Result<Report, Error> {
    namespaces.sort();
    namespaces.dedup();
    let mut report = None;
    for namespace in &namespaces {
        let done = sync(engine, call, namespace, wanted)?;
        if namespace == shown {
            report = Some(done);
        }
    }
    report
        .ok_or_else(|| Error::Internal("the caller's own index was not among those that were synced".into()))
}

/// Brings every index up to date that is a file, and that of the shared namespace; says how many were written.
///
/// # Errors
/// Those of the store and the files.
pub(crate) fn sync_everything(engine: &Engine, call: &Call<'_>) -> Result<usize, Error> {
    sync_all(engine, call, &Wanted { set_may_differ: true, ..Wanted::default() })
}

fn sync_all(engine: &Engine, call: &Call<'_>, wanted: &Wanted) -> Result<usize, Error> {
    let mut namespaces = file::namespaces(engine);
    namespaces.extend(Name::parse(SHARED));
    namespaces.sort();
    namespaces.dedup();
    let mut written = 0;
    for namespace in &namespaces {
        let report = sync(engine, call, namespace, wanted)?;
        written += usize::from(report.bytes_written.is_some());
    }
    Ok(written)
}

/// Entries of files that were read, by the file's number. They may be forgotten at any time.
#[derive(Debug, Default)]
pub struct Kept {
    /// With the generation that each was read from.
    entries: Mutex<HashMap<i64, (i64, Entry)>>,
    /// The last state in which the index said what the files do.
    in_step: Mutex<Option<Step>>,
    /// The texts of indexes that were read last.
    read: Mutex<Vec<Read>>,
}

/// An index that was read.
#[derive(Debug)]
struct Read {
    text: String,
    format: Format,
    lines: Arc<Vec<Entry>>,
}

/// Texts of indexes that are kept read: what a write makes is what the next one finds.
const READ: usize = 4;

/// A state of the index's file and of the files it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    /// When the index was written.
    saved: Timestamp,
    /// How many files there are.
    files: usize,
    /// The latest change to one of them.
    seq: i64,
}

impl Kept {
    /// Whether the index was found to say what the files do, in this state of both.
    fn is_in_step(&self, step: Step) -> bool {
        *self.in_step.lock().unwrap_or_else(PoisonError::into_inner) == Some(step)
    }

    fn note_in_step(&self, step: Step) {
        *self.in_step.lock().unwrap_or_else(PoisonError::into_inner) = Some(step);
    }

    /// The entries of an index.
    fn lines(&self, text: &str, format: &Format) -> Arc<Vec<Entry>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.iter().find(|known| known.text == text && known.format == *format) {
            return Arc::clone(&known.lines);
        }
        let lines = Arc::new(l0::parse(text, format));
        if read.len() >= READ {
            read.remove(0);
        }
        read.push(Read { text: text.to_owned(), format: format.clone(), lines: Arc::clone(&lines) });
        lines
    }

    fn get(&self, head: &FileHead) -> Option<Entry> {
        let kept = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (generation, entry) = kept.get(&head.number)?;
        (*generation == head.generation && entry.path == head.path).then(|| entry.clone())
    }

    fn keep(&self, head: &FileHead, entry: &Entry) {
        let mut kept = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(head.number, (head.generation, entry.clone()));
    }
}
