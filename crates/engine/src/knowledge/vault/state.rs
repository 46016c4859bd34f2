//! What an engine knows of the vault between calls. Nothing here is truth: it may be forgotten at any time.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use strata_core::{knowledge::name::Name, time::Timestamp};
use strata_store::{faults::FaultPlan, ledger::VaultHead, vault::Vault};

use super::{FileHead, ParsedFile};
use crate::settings::Settings;

/// How long a look at a namespace counts before a search looks again.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Namespaces whose files are kept as the ledger has them.
const NAMESPACES: usize = 16;
/// Bytes of text that are kept read.
const KEPT: usize = 64 << 20;

/// See the module.
pub struct VaultState {
    disk: Option<Vault>,
    parsed: Mutex<Kept>,
    stamps: Mutex<HashMap<i64, Stamp>>,
    looks: Mutex<HashMap<Name, Instant>>,
    heads: Mutex<HashMap<Name, (PlaceInHistory, Vec<VaultHead>)>>,
}

/// The time of change of a file that was found to hold its head.
#[derive(Clone, Copy)]
struct Stamp {
    generation: i64,
    modified: Timestamp,
    /// It was found so when the file system's clock had gone on: whoever changes the file leaves another time.
    is_settled: bool,
}

/// Epoch, last change and its hash: the same ledger with the same in it.
pub(super) type PlaceInHistory = (String, i64, Vec<u8>);

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
        let (parsed, stamps, looks, heads) = Default::default();
        Self { disk, parsed, stamps, looks, heads }
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

    /// The files of a namespace, if they were kept at this place of the ledger's history.
    pub(super) fn heads_at(&self, namespace: &Name, place: &PlaceInHistory) -> Option<Vec<VaultHead>> {
        let heads = lock(&self.heads);
        heads.get(namespace).filter(|(kept, _)| kept == place).map(|(_, heads)| heads.clone())
    }

    /// Keeps the files of a namespace as they are at this place.
    pub(super) fn keep_heads(&self, namespace: &Name, place: PlaceInHistory, kept: &[VaultHead]) {
        let mut heads = lock(&self.heads);
        if heads.len() >= NAMESPACES {
            heads.clear();
        }
        heads.insert(namespace.clone(), (place, kept.to_vec()));
    }

    /// Goes on at `to` with what was kept at `from`, when nothing happened in between but that these files changed. Where one of
    /// them is new, the files are to be listed again.
    pub(super) fn carry_heads(&self, from: &PlaceInHistory, to: &PlaceInHistory, changed: &[VaultHead]) {
        for (namespace, (place, heads)) in
            lock(&self.heads).iter_mut().filter(|(_, (place, _))| place == from)
        {
            let own: Vec<&VaultHead> =
                changed.iter().filter(|head| head.namespace == namespace.as_str()).collect();
            let at: Option<Vec<usize>> =
                own.iter().map(|new| heads.iter().position(|head| head.number == new.number)).collect();
            if let Some(at) = at {
                at.into_iter().zip(own).for_each(|(at, new)| heads[at] = new.clone());
                *place = to.clone();
            }
        }
    }

    /// Notes that a file with this time of change was found to hold its head.
    pub(super) fn note_stamp(&self, number: i64, generation: i64, modified: Timestamp) {
        let mut stamps = lock(&self.stamps);
        let known =
            stamps.get(&number).filter(|one| (one.generation, one.modified) == (generation, modified));
        let is_settled = known.is_some_and(|known| known.is_settled);
        stamps.insert(number, Stamp { generation, modified, is_settled });
    }

    /// Notes that this was found when the file system's clock stood at `clock` already.
    pub(super) fn settle_stamp(&self, number: i64, generation: i64, clock: Timestamp) {
        if let Some(noted) = lock(&self.stamps).get_mut(&number).filter(|one| one.generation == generation) {
            noted.is_settled |= noted.modified < clock;
        }
    }

    /// The time of change that was noted for a generation, and whether no change can leave it as it is.
    pub(super) fn stamp(&self, number: i64, generation: i64) -> Option<(Timestamp, bool)> {
        let stamps = lock(&self.stamps);
        let noted = stamps.get(&number).filter(|noted| noted.generation == generation)?;
        Some((noted.modified, noted.is_settled))
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
