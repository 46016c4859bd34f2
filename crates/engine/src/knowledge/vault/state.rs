//! What an engine knows of the vault between calls. Nothing here is truth: it may be forgotten at any time.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use strata_core::{knowledge::name::Name, time::Timestamp};
use strata_store::{faults::FaultPlan, vault::Vault};

use super::{FileHead, ParsedFile};
use crate::settings::Settings;

/// How long a look at a namespace counts before a search looks again.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Bytes of text that are kept read.
const KEPT: usize = 64 << 20;

/// See the module.
pub struct VaultState {
    disk: Option<Vault>,
    parsed: Mutex<Kept>,
    stamps: Mutex<HashMap<i64, (i64, Timestamp)>>,
    looks: Mutex<HashMap<Name, Instant>>,
}

#[derive(Default)]
struct Kept {
    files: HashMap<i64, KeptFile>,
    bytes: usize,
}

struct KeptFile {
    generation: i64,
    hash: Option<[u8; 32]>,
    file: Arc<ParsedFile>,
}

impl VaultState {
    /// The vault of a home, or that of a server. Touches nothing.
    pub(crate) fn new(settings: &Settings, faults: &FaultPlan) -> Self {
        let disk = settings.store.is_none().then(|| {
            let root = settings.home.join("vault").join("knowledge");
            Vault::new(&root, &settings.home.join("locks")).with_faults(faults)
        });
        Self { disk, parsed: Mutex::default(), stamps: Mutex::default(), looks: Mutex::default() }
    }

    /// The files on disk; `None` when the ledger's rows are the files.
    pub(crate) fn disk(&self) -> Option<&Vault> {
        self.disk.as_ref()
    }

    /// The text of this generation, if it was kept.
    pub(super) fn kept(&self, head: &FileHead) -> Option<Arc<ParsedFile>> {
        let kept = lock(&self.parsed);
        let found = kept.files.get(&head.number)?;
        (found.generation == head.generation && found.hash == head.hash).then(|| Arc::clone(&found.file))
    }

    /// Keeps the text of a generation.
    pub(super) fn keep(&self, head: &FileHead, file: &Arc<ParsedFile>) {
        let mut kept = lock(&self.parsed);
        if kept.bytes + file.text().len() > KEPT {
            *kept = Kept::default();
        }
        kept.bytes += file.text().len();
        let new = KeptFile { generation: head.generation, hash: head.hash, file: Arc::clone(file) };
        let before = kept.files.insert(head.number, new);
        kept.bytes -= before.map_or(0, |before| before.file.text().len());
    }

    /// Notes that a file with this time of change was found to hold its head.
    pub(super) fn note_stamp(&self, number: i64, generation: i64, modified: Timestamp) {
        lock(&self.stamps).insert(number, (generation, modified));
    }

    /// The time of change that was noted for a generation.
    pub(super) fn stamp(&self, number: i64, generation: i64) -> Option<Timestamp> {
        lock(&self.stamps).get(&number).filter(|(noted, _)| *noted == generation).map(|(_, at)| *at)
    }

    /// Whether it is time to look at a namespace again; if so it counts as looked at.
    pub(super) fn is_due(&self, namespace: &Name) -> bool {
        let mut looks = lock(&self.looks);
        if looks.get(namespace).is_some_and(|last| last.elapsed() < LOOK_EVERY) {
            return false;
        }
        looks.insert(namespace.clone(), Instant::now());
        true
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
