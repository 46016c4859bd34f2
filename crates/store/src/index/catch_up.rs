//! Following the ledger: in slices, for as long as allowed, and never waiting for another process.

use std::{
    collections::{HashMap, HashSet},
    sync::mpsc::sync_channel,
    thread,
    time::{Duration, Instant},
};

use crate::{error::StoreError, sql::Control};

use super::{
    Index,
    batches::Batches,
    labels::Space,
    passage::{Passages, Prepared, WordNumbers},
    prepare::Preparer,
    truth::{CollectionKey, Mark, Source, SourceKind, Standing, TruthReader},
    view::View,
    writer::{Cursor, IndexWriter},
};

/// Most changes that a reader prepares for itself when it cannot index them.
pub const MAX_PENDING: usize = 512;

/// Changes read at a time by somebody in a hurry: few at first, and more where they are done quickly.
const HURRIED: (usize, usize) = (32, 128);

/// Changes read at a time by somebody who is not. Two such batches are held at a time: one is written, the next is made.
const AT_LEISURE: usize = 256;

/// How long a reader that is far behind prepares changes; the memories among them are prepared whatever time it takes.
const PREPARING: Duration = Duration::from_millis(50);

/// Changes prepared between two looks at the clock.
const PREPARED_AT_ONCE: usize = 64;

/// A budget from which on nobody is in a hurry.
const UNHURRIED: Duration = Duration::from_secs(1);

/// How long somebody in a hurry goes on merging: one piece of it. A fold leaves some two dozen pieces, so that
/// of a thousand small writes a few are slow instead of one being very slow.
const IN_PASSING: Duration = Duration::from_millis(1);

/// Where the index stands after [`Index::catch_up`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaughtUp {
    /// How far it has followed the ledger.
    pub mark: Mark,
    /// Changes it does not have yet; 0 when it is up to date.
    pub behind: u64,
    /// Of those about [`MAX_PENDING`] at most, ready for [`Index::search`], in order: the latest of memories, which are few and
    /// of which each is waited for, then the first of all others. None behind a budget of a second or more that was used
    /// up.
    pub pending: Vec<Prepared>,
    /// Changes that are neither indexed nor pending.
    pub unsearched: u64,
    /// Whether the index was started over, because it followed another ledger or history.
    pub was_reset: bool,
}

impl Index {
    /// Applies the ledger's changes since the cursor for about `budget`, if nobody else is doing so, and
    /// makes those that remain ready to be searched. Another epoch or history starts the index over.
    pub fn catch_up(
        &self,
        control: &Control,
        tenant: &str,
        truth: &dyn TruthReader,
        preparer: Preparer<'_>,
        budget: Duration,
    ) -> Result<CaughtUp, StoreError> {
        let started = Instant::now();
        // Who is in a hurry waits for nothing that the ledger does without.
        let patience = if budget < UNHURRIED { control.patience.min(budget) } else { control.patience };
        let indexing = Control { patience, ..control.clone() };
        let seen = Seen::of(self, control, tenant, truth)?;
        self.stay_in_history(tenant, truth, &seen)?;
        if seen.is_all() {
            return Ok(CaughtUp { mark: seen.cursor.mark, ..CaughtUp::default() });
        }
        let head = seen.standing.head;
        let (mut result, mut searches) = (CaughtUp::default(), true);
        match self.writer(&indexing) {
            Ok(Some(mut writer)) => {
                let followed =
                    follow(&mut writer, tenant, truth, preparer, (started, budget), seen, &mut result);
                match followed {
                    Ok(Some(mark)) if mark.seq >= head => return Ok(CaughtUp { mark, ..result }),
                    // Whoever takes this long fills the index, and goes on where this ends.
                    Ok(None) if budget >= UNHURRIED => searches = false,
                    followed => followed.map(drop).or_else(searched_without)?,
                }
            }
            Ok(None) => {}
            Err(error) => searched_without(error)?,
        }
        let seen = Seen::of(self, control, tenant, truth)?;
        result.mark = if seen.follows() { seen.cursor.mark } else { Mark::default() };
        result.behind = if seen.is_all() { 0 } else { truth.pending(result.mark)? };
        result.unsearched = result.behind;
        if result.behind > 0 && searches {
            let taken = prepare_pending(truth, preparer, &mut result)?;
            result.unsearched = result.behind.saturating_sub(taken as u64);
        }
        Ok(result)
    }
}

/// Prepares what a search shall find although it is not indexed, and returns how many changes that is.
fn prepare_pending(
    truth: &dyn TruthReader,
    preparer: Preparer<'_>,
    result: &mut CaughtUp,
) -> Result<usize, StoreError> {
    if result.behind <= MAX_PENDING as u64 {
        let changes = truth.changes_at_hand(result.mark, MAX_PENDING)?;
        result.pending = preparer.prepare(truth, &changes)?;
        return Ok(changes.len());
    }
    let began = Instant::now();
    let memories = truth.latest_of_memories(result.mark, MAX_PENDING)?;
    result.pending = preparer.prepare(truth, &memories)?;
    let (mut taken, mut mark) = (memories.len(), result.mark);
    while taken < MAX_PENDING && began.elapsed() < PREPARING {
        let mut others = truth.changes_at_hand(mark, PREPARED_AT_ONCE)?;
        let Some(last) = others.last() else { break };
        mark = last.mark;
        others.retain(|change| change.source.kind != SourceKind::Memory);
        result.pending.append(&mut preparer.prepare(truth, &others)?);
        taken += others.len();
    }
    result.pending.sort_by_key(|prepared| prepared.mark);
    Ok(taken)
}

impl Index {
    /// Forgets the views this process has if the ledger's history is no longer the one they were made in. A dump
    /// that was restored, or an index that was made anew, comes to the same ids and revisions by other changes.
    fn stay_in_history(&self, tenant: &str, truth: &dyn TruthReader, seen: &Seen) -> Result<(), StoreError> {
        let Seen { cursor, standing } = seen;
        let now = (standing.head, standing.head_hash.clone());
        self.views.keep_while(tenant, now, |seq| match seq == cursor.mark.seq {
            true => Ok(standing.hash.clone()),
            false => truth.hash_at(seq),
        })
    }
}

/// How far the index is, and where the ledger stood right after that was read.
struct Seen {
    cursor: Cursor,
    standing: Standing,
}

impl Seen {
    fn of(
        index: &Index,
        control: &Control,
        tenant: &str,
        truth: &dyn TruthReader,
    ) -> Result<Self, StoreError> {
        let cursor = index.read_with(control, Cursor::default(), |tx| super::cursor(tx, tenant))?;
        let standing = truth.standing(cursor.mark.seq)?;
        Ok(Self { cursor, standing })
    }

    /// Whether the cursor is a place in this ledger's history.
    fn follows(&self) -> bool {
        let Self { cursor, standing } = self;
        let same = !cursor.epoch.is_empty() && cursor.epoch == standing.epoch;
        let known = cursor.hash.is_empty() || standing.hash.as_ref() == Some(&cursor.hash);
        same && cursor.mark.seq <= standing.head && known
    }

    /// Whether nothing is left to be indexed.
    fn is_all(&self) -> bool {
        self.follows() && self.cursor.mark == Mark { seq: self.standing.head, ordinal: i64::MAX }
    }
}

/// Passes over what only keeps the index from being written: what it lacks is searched directly.
fn searched_without(error: StoreError) -> Result<(), StoreError> {
    match error {
        StoreError::ReadOnly { .. }
        | StoreError::Forbidden { .. }
        | StoreError::AwaitsOwner { .. }
        | StoreError::Full { .. }
        | StoreError::Busy { .. }
        | StoreError::TooManyConnections { .. } => Ok(()),
        other => Err(other),
    }
}

fn follow(
    writer: &mut IndexWriter<'_>,
    tenant: &str,
    truth: &dyn TruthReader,
    preparer: Preparer<'_>,
    (started, budget): (Instant, Duration),
    mut seen: Seen,
    result: &mut CaughtUp,
) -> Result<Option<Mark>, StoreError> {
    let index = writer.index;
    // Read again: somebody else may have indexed before the lock was ours.
    let control = writer.control.clone();
    let cursor_now = || index.read_with(&control, Cursor::default(), |tx| super::cursor(tx, tenant));
    let cursor = cursor_now()?;
    if cursor != seen.cursor {
        seen = Seen { standing: truth.standing(cursor.mark.seq)?, cursor };
    }
    if !seen.follows() {
        result.was_reset = !seen.cursor.epoch.is_empty();
        writer.reset(tenant, &seen.standing.epoch)?;
        seen.cursor = cursor_now()?;
    }
    let Seen { cursor, standing } = seen;
    writer.until = started.checked_add(budget);
    let batches = Batches::new(truth, preparer, cursor, standing);
    let end = match budget < UNHURRIED {
        true => in_hurry(writer, tenant, batches, (started, budget))?,
        false => at_leisure(writer, tenant, batches, (started, budget))?,
    };
    if end.is_some() {
        let left = budget.saturating_sub(started.elapsed());
        let left = if budget >= UNHURRIED { left } else { left.min(IN_PASSING) };
        if !left.is_zero() && !index.is_tidy(tenant) {
            writer.tidy(tenant, left)?;
        }
    }
    Ok(end)
}

/// A batch after the other, few changes at first. Returns the end if it is reached.
fn in_hurry(
    writer: &mut IndexWriter<'_>,
    tenant: &str,
    mut batches: Batches<'_>,
    (started, budget): (Instant, Duration),
) -> Result<Option<Mark>, StoreError> {
    let (mut limit, mut last) = (HURRIED.0, None);
    // What would not be done in time is not begun; but for the first few, without which a process that spends its time
    // on connecting would never index anything.
    while last.map_or(!budget.is_zero(), |last| started.elapsed() + last < budget) {
        let began = Instant::now();
        let batch = batches.next(limit)?;
        writer.apply_up_to(tenant, &batch.prepared, batch.end.as_ref())?;
        if let Some(end) = batch.end {
            return Ok(Some(end.mark));
        }
        let took = began.elapsed();
        last = Some(took);
        if took < budget / 8 {
            limit = (limit * 2).min(HURRIED.1);
        }
    }
    Ok(None)
}

/// The same with the next batch being made while one is written: what is written, and in which order, is the same.
fn at_leisure(
    writer: &mut IndexWriter<'_>,
    tenant: &str,
    mut batches: Batches<'_>,
    (started, budget): (Instant, Duration),
) -> Result<Option<Mark>, StoreError> {
    thread::scope(|scope| {
        // Whoever has made a batch waits until it is taken, so that no more than two are held.
        let (ready, made) = sync_channel(0);
        scope.spawn(move || {
            loop {
                let batch = batches.next(AT_LEISURE);
                let goes_on = batch.as_ref().is_ok_and(|batch| batch.end.is_none());
                if ready.send(batch).is_err() || !goes_on || started.elapsed() >= budget {
                    break;
                }
            }
        });
        for batch in made {
            let batch = batch?;
            writer.apply_up_to(tenant, &batch.prepared, batch.end.as_ref())?;
            if let Some(end) = batch.end {
                return Ok(Some(end.mark));
            }
        }
        Ok(None)
    })
}

/// `view` as it will be once `ahead` is indexed. `group_number` tells the numbers of known groups.
pub(crate) fn with_pending(
    view: &View,
    key: &CollectionKey,
    ahead: &[Prepared],
    group_number: &dyn Fn(&str) -> Result<Option<u32>, StoreError>,
) -> Result<View, StoreError> {
    let mut view = view.clone();
    let mut groups = Groups { known: group_number, next: view.group_count() + 1, given: HashMap::new() };
    let mut living = living(&view, ahead);
    for change in ahead {
        let places = living.entry(change.source).or_default();
        places.drain(..).for_each(|slot| view.kill(slot, change.mark.seq));
        if let Some(passages) = change.passages.as_ref().filter(|passages| passages.collection == *key) {
            let group = groups.number(&passages.group)?;
            for part in 0..passages.parts.len() {
                places.push(push(&mut view, change, passages, part, group)?);
            }
        }
    }
    view.link();
    Ok(view)
}

fn push(
    view: &mut View,
    change: &Prepared,
    passages: &Passages,
    part: usize,
    group: u32,
) -> Result<u32, StoreError> {
    let words = WordNumbers {
        kind: view.number_or_add(Space::Kind, &passages.kind),
        branch: view.number_or_add(Space::Branch, &passages.branch),
        owner: view.number_or_add(Space::Owner, &passages.owner),
        group,
    };
    let piece = &passages.parts[part];
    let slot = view.push_tail(change.attributes(passages, part, words), &piece.terms)?;
    view.push_vector(slot, passages.model.as_deref(), piece.vector.as_ref());
    if let Some(text) = &piece.text {
        view.texts.insert(slot, text.clone());
    }
    Ok(slot)
}

/// The living slots of the sources that change.
fn living(view: &View, ahead: &[Prepared]) -> HashMap<Source, Vec<u32>> {
    let changed: HashSet<(u8, i64)> =
        ahead.iter().map(|change| (change.source.kind.code(), change.source.number)).collect();
    let mut living: HashMap<Source, Vec<u32>> = HashMap::new();
    for (slot, row) in (0..).zip(&view.rows) {
        let changes = view.alive.contains(slot) && changed.contains(&(row.source_kind, row.source));
        if let Some(source) = row.source().filter(|_| changes) {
            living.entry(source).or_default().push(slot);
        }
    }
    living
}

/// Numbers of groups, given after the known ones where there is none yet.
struct Groups<'g> {
    known: &'g dyn Fn(&str) -> Result<Option<u32>, StoreError>,
    next: u32,
    given: HashMap<String, u32>,
}

impl Groups<'_> {
    fn number(&mut self, word: &str) -> Result<u32, StoreError> {
        if word.is_empty() {
            return Ok(0);
        }
        if let Some(number) = self.given.get(word) {
            return Ok(*number);
        }
        let number = match (self.known)(word)? {
            Some(number) => number,
            None => {
                self.next += 1;
                self.next - 1
            }
        };
        self.given.insert(word.to_owned(), number);
        Ok(number)
    }
}
