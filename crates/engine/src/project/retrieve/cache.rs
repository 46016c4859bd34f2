//! Answers of before, for as long as they hold: five minutes, and until anything changes that they rest on.

use std::sync::Mutex;

use strata_core::time::Timestamp;

use super::{
    agent_context::{Asked, Request},
    meta::Meta,
    shape::Response,
};
use crate::{engine::Engine, error::Error, operation::Call, project::layout::human};

/// Microseconds for which an answer is kept.
const KEPT_FOR: i64 = 300 * 1_000_000;
/// Answers kept at a time.
const MOST: usize = 64;

/// Stands for everything that an answer depends on.
pub(super) type Key = [u8; 32];

/// The answers of one engine, oldest first.
#[derive(Default)]
pub struct Kept(Mutex<Vec<(Key, Timestamp, Response)>>);

impl Kept {
    /// The answer for a key, unless it is too old.
    pub(super) fn get(&self, key: &Key, now: Timestamp) -> Option<Response> {
        let mut kept = self.0.lock().ok()?;
        kept.retain(|(_, at, _)| now.0.saturating_sub(at.0) < KEPT_FOR && at.0 <= now.0);
        kept.iter().find(|(known, _, _)| known == key).map(|(_, _, response)| response.clone())
    }

    pub(super) fn keep(&self, key: Key, now: Timestamp, response: Response) {
        let Ok(mut kept) = self.0.lock() else { return };
        kept.retain(|(known, _, _)| *known != key);
        if kept.len() == MOST {
            kept.remove(0);
        }
        kept.push((key, now, response));
    }
}

/// The key of a request here and now: all that was asked, who asks from where, how search goes, and the last change of the
/// ledger, which every memory and every file that is indexed has a part in; and what people wrote and trust, which may be
/// another before it is indexed.
///
/// # Errors
/// Those of the store.
pub(super) fn key(
    engine: &Engine,
    call: &Call<'_>,
    request: &Request,
    asked: &Asked,
    meta: &Meta,
) -> Result<Key, Error> {
    let head = engine.read(call, |r| Ok(r.head()?.seq))?;
    let mut files = asked.files.clone();
    files.sort_unstable();
    let mut symbols = asked.symbols.clone();
    symbols.sort_unstable();
    let everything = format!(
        "{:?}",
        (
            (&asked.task, files, symbols, asked.budget, asked.intent, &asked.granularity),
            (&request.proposition_types, asked.trace as u8, &asked.scope, call.principal.to_string()),
            (head, meta, human::stamp(engine), &asked.uncommitted),
        )
    );
    Ok(*blake3::hash(everything.as_bytes()).as_bytes())
}
