//! The access log: which files of knowledge were looked for and read, and what nobody looks at.
//!
//! Invariant: these are statistics, like the uses of memories. They are not audited, a read waits for none of them, and
//! no failure of theirs is a failure of the call. They reach the ledger when many or old ones have gathered, before they
//! are shown, and when the engine is closed; a process that is killed loses the rest. The text of a query is kept
//! only where the configuration says so, without its secrets, and goes with the next purge.

pub mod prune;
pub mod stats;
pub mod timeline;

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use strata_core::{
    scope::SHARED,
    time::{DAY, Timestamp},
};
pub use strata_store::ledger::AccessKind;
use strata_store::ledger::{AccessFilter, AccessRow};

use super::vault::FileHead;
use crate::{engine::Engine, error::Error, gate::Gate, operation::Call, render::shortened};

/// Accesses that may wait.
const MOST: usize = 256;
/// Accesses that wait while the ledger takes none; the oldest are lost first.
const MOST_KEPT: usize = 4 * MOST;
/// How long accesses may wait.
const LONGEST: Duration = Duration::from_secs(60);
/// How long a read may be held up by writing accesses down.
pub(crate) const PATIENCE: Duration = Duration::from_millis(250);
/// How long somebody waits who asks for the log itself.
const ASKED: Duration = Duration::from_secs(3);
/// Characters of a query that are kept.
const QUERY: usize = 200;

/// A file of knowledge that somebody came by.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// The namespace of the file.
    pub namespace: &'a str,
    /// Its path below that, such as `infra/proxy.md`.
    pub path: &'a str,
    /// How.
    pub kind: AccessKind,
    /// What was looked for.
    pub query: Option<&'a str>,
    /// Its place among the results, from 1.
    pub rank: Option<usize>,
    /// Its score there.
    pub score: Option<f64>,
}

/// Notes accesses. Never fails, and waits for nothing but, now and then, a quarter of a second for the ledger.
pub fn log(engine: &Engine, call: &Call<'_>, accesses: &[Access<'_>]) {
    let config = &engine.settings().config.access_log;
    if !config.enabled || accesses.is_empty() {
        return;
    }
    let at = engine.clock().now();
    let mut last: Option<(&str, Option<String>)> = None;
    let rows = accesses.iter().map(|access| {
        let query = access.query.filter(|_| config.log_query).and_then(|query| match &last {
            Some((same, kept)) if *same == query => kept.clone(),
            _ => {
                let kept = kept(query);
                last = Some((query, kept.clone()));
                kept
            }
        });
        AccessRow {
            at,
            reader: call.scope.namespace.clone(),
            namespace: access.namespace.to_owned(),
            path: access.path.to_owned(),
            kind: access.kind,
            query,
            rank: access.rank.and_then(|rank| i64::try_from(rank).ok()),
            score: access.score.filter(|score| score.is_finite()),
        }
    });
    engine.note_accesses(rows.collect());
}

/// Notes that somebody read a file, whole or a part of it.
pub(crate) fn log_read(engine: &Engine, call: &Call<'_>, file: &FileHead) {
    let path = file.path.to_string();
    let read = Access {
        namespace: file.namespace.as_str(),
        path: &path,
        kind: AccessKind::GetFile,
        query: None,
        rank: None,
        score: None,
    };
    log(engine, call, &[read]);
}

/// What is kept of a query: nothing of one that the gate refuses.
fn kept(query: &str) -> Option<String> {
    let passed = Gate::default().field("query", Some(query)).ok().flatten()?;
    Some(shortened(&passed.split_whitespace().collect::<Vec<_>>().join(" "), QUERY))
}

/// The accesses that the ledger does not know of yet.
#[derive(Debug, Default)]
pub struct Waiting(Mutex<Gathered>);

#[derive(Debug, Default)]
struct Gathered {
    rows: Vec<AccessRow>,
    since: Option<Instant>,
}

impl Waiting {
    /// Adds accesses. Tells whether it is time to write them down.
    pub fn add(&self, rows: Vec<AccessRow>) -> bool {
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.rows.extend(rows);
        let since = *gathered.since.get_or_insert_with(Instant::now);
        gathered.rows.len() >= MOST || since.elapsed() >= LONGEST
    }

    /// Hands over what waits.
    pub fn take(&self) -> Vec<AccessRow> {
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *gathered).rows
    }

    /// Takes back what could not be written down, as far as there is room.
    pub fn give_back(&self, mut rows: Vec<AccessRow>) {
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.append(&mut gathered.rows);
        let surplus = rows.len().saturating_sub(MOST_KEPT);
        gathered.rows = rows.split_off(surplus);
        gathered.since = Some(Instant::now());
    }

    /// Forgets what was looked for: a purge is going on.
    pub fn forget_queries(&self) {
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.rows.iter_mut().for_each(|row| row.query = None);
    }
}

/// The log, written down as far as this process knows it.
///
/// # Errors
/// It is switched off.
fn written(engine: &Engine) -> Result<(), Error> {
    if !engine.settings().config.access_log.enabled {
        return Err(Error::Conflict {
            message: "the access log is switched off".into(),
            hint: "write `enabled = true` under `[access_log]` in config.toml".into(),
        });
    }
    engine.write_down_accesses(ASKED);
    Ok(())
}

/// The accesses of the last `days` days to files that the caller sees.
fn recent<'a>(engine: &Engine, call: &'a Call<'_>, days: u32) -> AccessFilter<'a> {
    let since = engine.clock().now().0.saturating_sub(i64::from(days).saturating_mul(DAY));
    AccessFilter { namespaces: [&call.scope.namespace, SHARED], since: Timestamp(since) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: i64) -> AccessRow {
        AccessRow {
            at: Timestamp(number),
            reader: SHARED.into(),
            namespace: SHARED.into(),
            path: "a.md".into(),
            kind: AccessKind::Recall,
            query: Some("q".into()),
            rank: None,
            score: None,
        }
    }

    #[test]
    fn many_are_due_and_what_cannot_be_written_is_kept_within_bounds() {
        let waiting = Waiting::default();
        assert!(!waiting.add(vec![row(0)]));
        assert!(waiting.add((1..MOST as i64).map(row).collect()));
        let taken = waiting.take();
        assert_eq!((taken.len(), waiting.take().len()), (MOST, 0));
        waiting.add(vec![row(-1)]);
        waiting.give_back((0..2 * MOST_KEPT as i64).map(row).collect());
        waiting.forget_queries();
        let kept = waiting.take();
        assert_eq!((kept.len(), kept.last().map(|row| row.at.0)), (MOST_KEPT, Some(-1)));
        assert!(kept.iter().all(|row| row.query.is_none()));
    }

    #[test]
    fn a_query_loses_its_secrets_before_it_is_cut() {
        let secret = format!("{} password is hunter2trombone", "x ".repeat(95));
        let cut = kept(&secret).expect("kept");
        assert!(!cut.contains("hunter2") && cut.chars().count() <= QUERY + 1, "{cut}");
        assert_eq!(kept("  连接池 \n 端口 ").as_deref(), Some("连接池 端口"));
        assert_eq!(kept(&"y".repeat(10_000)), None);
        assert_eq!(kept("  "), None);
    }
}
