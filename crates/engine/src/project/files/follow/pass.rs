//! One look at a project's files, and what follows from it.

use std::{
    collections::HashMap,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

use strata_core::time::Timestamp;
use strata_store::ledger::{NewSource, SourceRow, SourceState};

use super::{
    super::{
        Gate, ROOT, Refusal,
        gate::path_of_root,
        kind::precedence,
        state::Phase,
        walk::{Seen, Walk, walk},
    },
    AGAIN, Changes, Place,
};
use crate::{
    engine::Engine,
    error::Error,
    job::Job,
    maintain::{
        index_files::{forget, write},
        reindex::index_everything,
    },
    operation::Call,
    project::{layout::human, storable},
    vcs,
};

/// Files recorded in one transaction, and indexed before more are recorded.
const BATCH: usize = 1_000;

/// The same in bytes: 16 MiB.
const BATCH_BYTES: u64 = 16 << 20;

/// Files read by one thread at least, before another one helps.
const PER_THREAD: usize = 16;

/// Problems that are told; of more, the first.
const TOLD: usize = 20;

/// The same in bytes: 1 MiB.
const FEW_BYTES: u64 = 1 << 20;

/// What a look at a file told: the hash of its bytes, their number, and when it was changed.
type Looked = Result<([u8; 32], u64, Timestamp), Refusal>;

/// A file to read, and what is on record of it.
type ToRead = (Seen, Option<SourceRow>);

/// What became of a pass.
pub(super) enum Outcome {
    /// Everything is indexed, or as much as was asked for.
    Done(Changes),
    /// Another process is at it, or there is more than was asked for.
    Busy,
}

/// One look and what follows from it.
pub(super) struct Pass<'e> {
    engine: &'e Engine,
    call: &'e Call<'e>,
    place: &'e Place,
    problems: Vec<String>,
}

/// What git has checked out, where the settings let it take part, and what people wrote for the project.
struct CheckedOut {
    /// The commit; `""` without one.
    commit: String,
    /// What changes with a checkout.
    stamp: Option<[u8; 32]>,
    /// What changes with people's files.
    written: [u8; 32],
}

impl CheckedOut {
    fn of(engine: &Engine, place: &Place) -> Self {
        let written = human::stamp(engine);
        match engine.settings().config.project.runtime.git_aware_sync {
            true => Self { stamp: vcs::stamp(place.gate.root()), commit: place.commit(), written },
            false => Self { commit: String::new(), stamp: None, written },
        }
    }
}

/// What differs between the files and the record.
struct Difference {
    /// Files to read, and what is on record of them; in the order in which they are read.
    read: Vec<ToRead>,
    /// Numbers of files that are gone.
    gone: Vec<i64>,
    /// Files that are as they were.
    unchanged: usize,
}

impl<'e> Pass<'e> {
    pub(super) fn new(engine: &'e Engine, call: &'e Call<'e>, place: &'e Place) -> Self {
        Self { engine, call, place, problems: Vec::new() }
    }

    /// Looks, and indexes what changed if it is no more than `most` files.
    pub(super) fn run(mut self, most: usize) -> Result<Outcome, Error> {
        let began = Instant::now();
        // Read first: what is committed or written meanwhile counts as not seen.
        let checked_out = CheckedOut::of(self.engine, self.place);
        let seen = walk(&self.place.gate, self.call.cancel);
        self.engine.control(self.call).check()?;
        let difference = self.compare(&seen)?;
        let took = began.elapsed();
        self.engine.files().set(|now| now.look_took = took);
        self.problems.extend(seen.problems.iter().cloned());
        let bytes: u64 = difference.read.iter().map(|(file, _)| file.size).sum();
        if most < usize::MAX && (difference.read.len() > most || bytes > FEW_BYTES) {
            return Ok(Outcome::Busy);
        }
        if difference.read.is_empty() && difference.gone.is_empty() {
            let changes = Changes { unchanged: difference.unchanged, ..Changes::default() };
            // A process that died may have recorded what it did not come to index.
            let behind = self.engine.follow_truth(self.call)?.behind;
            if behind > 0 {
                self.engine.files().set(|now| (now.phase, now.done, now.total) = (Phase::Rest, 0, behind));
                self.index(1)?;
            }
            self.complete(&checked_out)?;
            return Ok(Outcome::Done(changes));
        }
        let kind = self.place.job();
        let Some(job) = Job::start_alone(self.engine, self.call, &kind)? else { return Ok(Outcome::Busy) };
        let outcome = self.work(&job, &seen, &checked_out);
        let told = |c: &Changes| format!("{} new, {} changed, {} gone", c.new, c.changed, c.deleted);
        job.finish(outcome, told).map(Outcome::Done)
    }

    /// Everything that was seen is indexed. Notes the commit that it is of, when that is another than before.
    fn complete(self, of: &CheckedOut) -> Result<(), Error> {
        let key = self.place.setting();
        let noted = self.engine.read(self.call, |r| r.setting(&key))?;
        let commit = of.commit.as_str();
        let is_new = noted.as_deref() != Some(commit) && !(noted.is_none() && commit.is_empty());
        if is_new && self.engine.is_initialised()? {
            let ledger = self.engine.ledger(self.call)?;
            let control = self.engine.control(self.call);
            ledger.write(&control, self.engine.clock().now(), |w| w.set_setting(&key, commit))?;
        }
        self.engine.files().set(|now| {
            now.phase = Phase::Idle;
            now.looked = Some(Instant::now());
            (now.stamp, now.written) = (of.stamp, of.written);
            now.problems = self.problems;
        });
        Ok(())
    }

    fn compare(&self, seen: &Walk) -> Result<Difference, Error> {
        let (namespace, project) = (&self.call.scope.namespace, self.call.scope.project.as_deref());
        let (rows, elsewhere) = self.engine.read(self.call, |r| {
            Ok((r.sources_of(namespace, project, &self.place.root)?, r.source_roots(namespace, project)?))
        })?;
        let mut known: HashMap<&str, &SourceRow> = rows.iter().map(|row| (row.path.as_str(), row)).collect();
        let mut difference = Difference { read: Vec::new(), gone: Vec::new(), unchanged: 0 };
        let state = self.engine.files();
        let by_size_and_time = self.engine.settings().config.project.runtime.incremental_indexing;
        for file in &seen.files {
            let row = known.remove(file.path.as_str());
            let is_same = row.is_some_and(|row| {
                by_size_and_time
                    && row.state == SourceState::Present
                    && u64::try_from(row.size) == Ok(file.size)
                    && row.mtime == file.mtime
            });
            if is_same {
                difference.unchanged += 1;
            } else if row.is_some_and(|row| row.state == SourceState::Present)
                || !state.is_skipped(&file.path, file.size, file.mtime)
            {
                difference.read.push((file.clone(), row.cloned()));
            }
        }
        let is_closed = |path: &str| seen.closed.iter().any(|folder| Path::new(path).starts_with(folder));
        let left = known.into_values().filter(|row| row.state != SourceState::Gone);
        difference
            .gone
            .extend(left.filter(|row| !seen.is_void && !is_closed(&row.path)).map(|row| row.number));
        for other in elsewhere.iter().filter(|of| of.present > 0 && is_moved(&of.root)) {
            let rows = self.engine.read(self.call, |r| r.sources_of(namespace, project, &other.root))?;
            let present = rows.iter().filter(|row| row.state != SourceState::Gone);
            difference.gone.extend(present.map(|row| row.number));
        }
        let rank = |path: &str| precedence(path).unwrap_or(u8::MAX);
        difference.read.sort_by_cached_key(|(file, _)| (rank(&file.path), file.path.clone()));
        Ok(difference)
    }

    /// Does what a look found, as the only one.
    fn work(mut self, job: &Job<'_>, seen: &Walk, of: &CheckedOut) -> Result<Changes, Error> {
        // Somebody else may have done some of it before the turn was ours.
        let Difference { read, gone, unchanged } = self.compare(seen)?;
        let mut changes = Changes { unchanged, ..Changes::default() };
        changes.deleted += gone.len();
        forget(self.engine, self.call, gone)?;
        let total = read.len() as u64;
        let state = self.engine.files();
        state.set(|now| {
            (now.done, now.total) = (0, total);
            now.phase = now.phase.max(Phase::First);
            if now.phase == Phase::Idle {
                now.phase = Phase::Rest;
            }
        });
        let (mut done, batches) = (0, batches(&read));
        let gate = &self.place.gate;
        let mut looked = batches.first().map_or_else(Vec::new, |batch| looks(gate, batch));
        for (at, batch) in batches.iter().enumerate() {
            // The next files are looked at while these are indexed.
            looked = thread::scope(|scope| {
                let ahead = batches.get(at + 1).map(|next| scope.spawn(|| looks(gate, next)));
                self.batch(batch, looked, &mut changes)?;
                Ok::<_, Error>(ahead.map_or_else(Vec::new, joined))
            })?;
            done += batch.len() as u64;
            state.set(|now| (now.phase, now.done) = (Phase::Rest, done));
            job.progress(done, total, "reading files")?;
        }
        if total == 0 {
            self.index(changes.deleted)?;
        }
        self.complete(of)?;
        Ok(changes)
    }

    /// Records those of some files that differ from what is on record, and has them indexed.
    fn batch(&mut self, batch: &[ToRead], looked: Vec<Looked>, changes: &mut Changes) -> Result<(), Error> {
        let (mut found, mut touched, mut lost, mut skipped) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for ((file, row), looked) in batch.iter().zip(looked) {
            let present = row.as_ref().filter(|row| row.state == SourceState::Present);
            match looked {
                Ok((hash, _, mtime)) if present.is_some_and(|row| row.hash == hash) => {
                    changes.unchanged += 1;
                    touched.extend(present.map(|row| (row.number, mtime)));
                }
                Ok((hash, size, mtime)) => {
                    let is_new = present.is_none();
                    (changes.new, changes.changed) =
                        (changes.new + usize::from(is_new), changes.changed + usize::from(!is_new));
                    found.push(self.source(&file.path, hash, size, mtime));
                }
                // What cannot be read now may be read later; it stays as it was.
                Err(refusal @ Refusal::Unreadable(_)) => self.tell(&file.path, &refusal),
                Err(_) => {
                    lost.extend(present.map(|row| row.number));
                    skipped.push((file.path.clone(), file.size, file.mtime));
                }
            }
        }
        self.engine.files().skip(skipped.into_iter());
        changes.deleted += lost.len();
        write(self.engine, self.call, &found)?;
        let gone = lost.len();
        forget(self.engine, self.call, lost)?;
        if !touched.is_empty() {
            let ledger = self.engine.ledger(self.call)?;
            ledger.write(&self.engine.control(self.call), self.engine.clock().now(), |w| {
                touched.iter().try_for_each(|(number, mtime)| w.touch_source(*number, *mtime))
            })?;
        }
        self.index(found.len() + gone)
    }

    fn index(&self, changes: usize) -> Result<(), Error> {
        if changes == 0 {
            return Ok(());
        }
        let mut behind = u64::MAX;
        loop {
            let left = index_everything(self.engine, self.call, &mut |_, _| {
                Ok(self.engine.control(self.call).check()?)
            })?;
            // What another process indexes is waited for while it gets on.
            if left == 0 || left >= behind {
                return Ok(());
            }
            behind = left;
            thread::sleep(AGAIN);
        }
    }

    fn source(&self, path: &str, hash: [u8; 32], size: u64, mtime: Timestamp) -> NewSource {
        NewSource {
            namespace: self.call.scope.namespace.clone(),
            project: self.call.scope.project.clone(),
            root: self.place.root.clone(),
            path: path.to_owned(),
            size: i64::try_from(size).unwrap_or(i64::MAX),
            mtime,
            hash,
            state: SourceState::Present,
        }
    }

    fn tell(&mut self, path: &str, refusal: &Refusal) {
        if self.problems.len() < TOLD {
            self.problems.push(format!("{} {refusal}", storable(path)));
        }
    }
}

/// What files are now, in their order, read on as many threads as there are cores.
fn looks(gate: &Gate, batch: &[ToRead]) -> Vec<Looked> {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = (batch.len() / PER_THREAD).clamp(1, cores);
    if threads == 1 {
        return batch.iter().map(|(file, _)| gate.look(&file.path)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((file, _)) = batch.get(at) else { return done };
            done.push((at, gate.look(&file.path)));
        }
    };
    let mut all: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(joined).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, looked)| looked).collect()
}

/// What a thread made; its panic goes on here.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Whether a project's root has been moved or removed: a folder above it is there, and it is not. A drive that is not mounted
/// takes the folder above with it, or leaves the root.
fn is_moved(root: &str) -> bool {
    let Some(root) = path_of_root(root).filter(|_| root.starts_with(ROOT)) else { return false };
    let missing =
        std::fs::symlink_metadata(&root).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    missing && root.parent().is_some_and(Path::is_dir)
}

/// Cuts a list into pieces of at most [`BATCH`] files and about [`BATCH_BYTES`]; what describes the project is the first.
fn batches(read: &[ToRead]) -> Vec<&[ToRead]> {
    let first = read.iter().take_while(|(file, _)| precedence(&file.path).is_some()).count();
    let (mut all, mut from, mut bytes) = (Vec::new(), 0, 0);
    for (at, (file, _)) in read.iter().enumerate() {
        let is_full = at - from >= BATCH || bytes >= BATCH_BYTES;
        if at > from && (at == first || is_full) {
            all.push(&read[from..at]);
            (from, bytes) = (at, 0);
        }
        bytes += file.size;
    }
    if from < read.len() {
        all.push(&read[from..]);
    }
    all
}
