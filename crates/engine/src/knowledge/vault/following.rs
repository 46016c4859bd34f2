//! What follows a change to the vault before it is answered.

use std::{panic::resume_unwind, thread};

use super::Written;
use crate::{engine::Engine, error::Error, knowledge::changelog, operation::Call, parallel::has_cores};

/// Lets index and changelog follow what was stored, and notes in it why the index could not. Meanwhile `beside` does what
/// waits for neither, and the disk makes the renames durable. The change stands whatever becomes of index and changelog:
/// the next search, and the next change, catch up.
///
/// # Errors
/// The disk does not say that the files are safe.
pub(crate) fn follow<T>(
    engine: &Engine,
    call: &Call<'_>,
    written: &mut [Written],
    beside: impl FnOnce(&[Written]) -> T,
) -> Result<T, Error> {
    if !written.iter().any(Written::is_changed) {
        return Ok(beside(written));
    }
    let (unindexed, synced, done) = thread::scope(|scope| {
        let shared = &*written;
        let syncing = Beside::begin(scope, true, move || sync(engine, shared));
        let indexing = Beside::begin(scope, has_cores(), || index(engine, call));
        changelog::follow(engine, call);
        let done = beside(shared);
        (indexing.end(), syncing.end(), done)
    });
    synced?;
    let changed = written.iter_mut().filter(|written| written.is_changed());
    changed.for_each(|written| written.unindexed.clone_from(&unindexed));
    Ok(done)
}

/// Lets the index read a text that a file is about to hold.
pub(super) fn foresee(engine: &Engine, call: &Call<'_>, path: &str, text: &str) {
    if let Ok(ledger) = engine.ledger(call) {
        engine.searcher().foresee(ledger, &engine.control(call), engine.clock().now(), path, text);
    }
}

/// Work in another thread; or its result, where this one had to do it.
enum Beside<'s, T> {
    Thread(thread::ScopedJoinHandle<'s, T>),
    Done(T),
}

impl<'s, T: Send> Beside<'s, T> {
    fn begin<'e>(scope: &'s thread::Scope<'s, 'e>, may: bool, job: impl Fn() -> T + Copy + Send + 's) -> Self
    where
        T: 's,
    {
        let spawned = may.then(|| thread::Builder::new().spawn_scoped(scope, job).ok()).flatten();
        spawned.map_or_else(|| Self::Done(job()), Self::Thread)
    }

    fn end(self) -> T {
        match self {
            Self::Thread(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Self::Done(done) => done,
        }
    }
}

/// Waits until the files that were put in place outlast power loss.
fn sync(engine: &Engine, written: &[Written]) -> Result<(), Error> {
    let Some(disk) = engine.vault().disk() else { return Ok(()) };
    let changed = written.iter().filter(|written| written.is_changed());
    Ok(disk.sync_folders(changed.map(|written| (&written.place.namespace, &written.place.path)))?)
}

/// Brings the index up to the ledger, and says why it could not.
fn index(engine: &Engine, call: &Call<'_>) -> Option<String> {
    match engine.follow_truth(call) {
        Ok(caught_up) if caught_up.behind == 0 => None,
        Ok(caught_up) => {
            Some(format!("changes not indexed yet: {}; they are searched directly", caught_up.behind))
        }
        Err(error) => Some(error.to_string()),
    }
}
