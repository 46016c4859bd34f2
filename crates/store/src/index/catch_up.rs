//! Following the ledger: in slices, for as long as allowed, and never waiting for another process.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use crate::{error::StoreError, sql::Control};

use super::{
    Index,
    labels::Space,
    passage::{Passages, Prepared, WordNumbers},
    prepare::Preparer,
    truth::{CollectionKey, Mark, Source, TruthReader},
    view::View,
    writer::{Cursor, IndexWriter},
};

/// Most changes that a reader prepares for itself when it cannot index them.
pub const MAX_PENDING: usize = 512;

/// Changes read at a time by somebody in a hurry, and by somebody who is not.
const BATCHES: [usize; 2] = [128, 2_048];

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
    /// The first of those, at most [`MAX_PENDING`], ready for [`Index::search`].
    pub pending: Vec<Prepared>,
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
        let head = truth.head()?;
        let cursor = self.cursor(tenant)?;
        let same = follows(truth, &cursor, head)?;
        self.stay_in_history(tenant, truth, head, same.then_some(&cursor))?;
        if same && cursor.mark.seq == head && cursor.mark.ordinal == i64::MAX {
            return Ok(CaughtUp { mark: cursor.mark, ..CaughtUp::default() });
        }
        let mut result = CaughtUp::default();
        match self.writer(control) {
            Ok(Some(mut writer)) => {
                let seen = Seen { head, cursor: same.then_some(cursor) };
                let followed =
                    follow(&mut writer, tenant, truth, preparer, (started, budget), seen, &mut result);
                match followed {
                    Ok(Some(mark)) if mark.seq >= head => return Ok(CaughtUp { mark, ..result }),
                    followed => followed.map(drop).or_else(searched_without)?,
                }
            }
            Ok(None) => {}
            Err(error) => searched_without(error)?,
        }
        let cursor = self.cursor(tenant)?;
        let from = if follows(truth, &cursor, head)? { cursor.mark } else { Mark::default() };
        result.mark = from;
        result.behind = if from.seq >= head && from.ordinal == i64::MAX { 0 } else { truth.pending(from)? };
        if result.behind > 0 {
            result.pending = preparer.prepare(truth, &truth.changes(from, MAX_PENDING)?)?;
        }
        Ok(result)
    }
}

impl Index {
    /// Forgets the views this process has if the ledger's history is no longer the one they were made in. A dump
    /// that was restored, or an index that was made anew, comes to the same ids and revisions by other changes.
    fn stay_in_history(
        &self,
        tenant: &str,
        truth: &dyn TruthReader,
        head: i64,
        cursor: Option<&Cursor>,
    ) -> Result<(), StoreError> {
        let hash = match cursor.filter(|cursor| cursor.mark.seq == head && !cursor.hash.is_empty()) {
            Some(cursor) => Some(cursor.hash.clone()),
            None => truth.hash_at(head)?,
        };
        self.views.keep_while(tenant, (head, hash.unwrap_or_default()), |seq| truth.hash_at(seq))
    }
}

/// What was seen before the index was locked.
struct Seen {
    head: i64,
    /// The cursor, if it is a place in this ledger's history.
    cursor: Option<Cursor>,
}

/// Passes over what only keeps the index from being written: what it lacks is searched directly.
fn searched_without(error: StoreError) -> Result<(), StoreError> {
    match error {
        StoreError::ReadOnly { .. } | StoreError::Full { .. } | StoreError::Busy { .. } => Ok(()),
        other => Err(other),
    }
}

/// Whether `cursor` is a place in this ledger's history.
fn follows(truth: &dyn TruthReader, cursor: &Cursor, head: i64) -> Result<bool, StoreError> {
    if cursor.epoch.is_empty() || cursor.epoch != truth.epoch()? || cursor.mark.seq > head {
        return Ok(false);
    }
    if cursor.hash.is_empty() {
        return Ok(true);
    }
    Ok(truth.hash_at(cursor.mark.seq)?.is_some_and(|hash| hash == cursor.hash))
}

fn follow(
    writer: &mut IndexWriter<'_>,
    tenant: &str,
    truth: &dyn TruthReader,
    preparer: Preparer<'_>,
    (started, budget): (Instant, Duration),
    seen: Seen,
    result: &mut CaughtUp,
) -> Result<Option<Mark>, StoreError> {
    let index = writer.index;
    // Read again: somebody else may have indexed before the lock was ours.
    let mut cursor = index.cursor(tenant)?;
    let mut head = seen.head;
    if seen.cursor.as_ref() != Some(&cursor) {
        head = truth.head()?;
        if !follows(truth, &cursor, head)? {
            result.was_reset = !cursor.epoch.is_empty();
            writer.reset(tenant, &truth.epoch()?)?;
            cursor = index.cursor(tenant)?;
        }
    }
    writer.until = started.checked_add(budget);
    let batch = BATCHES[usize::from(budget >= UNHURRIED)];
    while started.elapsed() < budget {
        let changes = truth.changes(cursor.mark, batch)?;
        if let Some(last) = changes.last() {
            writer.apply(tenant, &preparer.prepare(truth, &changes)?)?;
            cursor.mark = last.mark;
        }
        if changes.len() < batch {
            // The head was read before the changes, so nothing up to it is missing.
            let mark = Mark { seq: head.max(cursor.mark.seq), ordinal: i64::MAX };
            let hash = truth.hash_at(mark.seq)?.unwrap_or_default();
            writer.advance(tenant, &Cursor { epoch: cursor.epoch, mark, hash })?;
            let left = budget.saturating_sub(started.elapsed());
            let left = if budget >= UNHURRIED { left } else { left.min(IN_PASSING) };
            if !left.is_zero() {
                writer.tidy(tenant, left)?;
            }
            return Ok(Some(mark));
        }
    }
    Ok(None)
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
