//! Indexes of other versions that nobody has written to for long. Who still needs one makes it again.

use std::time::{Duration, SystemTime};

use strata_core::time::Timestamp;
use strata_store::{Beside, index::KEEP_UNUSED};

use crate::{engine::Engine, error::Error, operation::Call};

/// Removes them: files of the home, and schemas of the server. Returns how many went.
///
/// A file tells when it was last written. A server tells how often rows of a schema were, so that number is noted with the
/// time, and the schema goes when it is the same long after.
pub(super) fn remove(engine: &Engine, call: &Call<'_>) -> Result<usize, Error> {
    let index = engine.searcher().index();
    let now = engine.clock().now();
    let since_epoch = Duration::from_micros(now.0.try_into().unwrap_or(0));
    let mut removed = index.remove_unused(SystemTime::UNIX_EPOCH + since_epoch)?.len();
    let control = engine.control(call);
    for other in index.beside(&control)? {
        if has_rested(engine, call, &other, now)? && (other.owned || other.holds) {
            index.remove_beside(&control, &other)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Whether nobody has written to it for long, as far as was seen; what is seen now is noted.
fn has_rested(engine: &Engine, call: &Call<'_>, other: &Beside, now: Timestamp) -> Result<bool, Error> {
    let (ledger, control) = (engine.existing_ledger()?, engine.control(call));
    let key = format!("index_seen:{}", other.namespace);
    let seen = ledger.read(&control, |r| r.setting(&key))?;
    let seen = seen.as_deref().and_then(|text| {
        let (writes, at) = text.split_once(' ')?;
        Some((writes.parse::<i64>().ok()?, at.parse::<i64>().ok()?))
    });
    let rested = match seen {
        Some((writes, at)) if writes == other.writes => {
            let kept = i64::try_from(KEEP_UNUSED.as_micros()).unwrap_or(i64::MAX);
            if now.0.saturating_sub(at) < kept {
                return Ok(false);
            }
            true
        }
        _ => false,
    };
    ledger.write(&control, now, |w| {
        if rested {
            w.remove_setting(&key)
        } else {
            w.set_setting(&key, &format!("{} {}", other.writes, now.0))
        }
    })?;
    Ok(rested)
}
