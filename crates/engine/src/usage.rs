//! Uses of memories, gathered so that a read does not end in a write.
//!
//! Invariant: these are statistics. They reach the ledger with the next memory stored, when many or old
//! ones have gathered, and when the engine is closed; a process that is killed loses the rest.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Memories whose uses may wait.
const MOST: usize = 256;
/// How long uses may wait.
const LONGEST: Duration = Duration::from_secs(60);

/// The uses that the ledger does not know of yet.
#[derive(Debug, Default)]
pub struct Uses(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    batch: Batch,
    since: Option<Instant>,
}

/// Uses by number of memory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Batch {
    counts: BTreeMap<i64, [i64; 2]>,
}

impl Uses {
    /// Adds uses, as (number, times). Tells whether it is time to write them down.
    pub fn add(&self, recalled: &[(i64, i64)], inspected: &[(i64, i64)]) -> bool {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (column, uses) in [recalled, inspected].into_iter().enumerate() {
            for (number, times) in uses {
                waiting.batch.counts.entry(*number).or_default()[column] += times;
            }
        }
        let since = *waiting.since.get_or_insert_with(Instant::now);
        waiting.batch.counts.len() >= MOST || since.elapsed() >= LONGEST
    }

    /// Hands over what waits.
    pub fn take(&self) -> Batch {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *waiting).batch
    }

    /// How often a memory was recalled and inspected since the last writing down.
    pub fn of(&self, number: i64) -> [i64; 2] {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.batch.counts.get(&number).copied().unwrap_or_default()
    }
}

impl Batch {
    /// Whether there is nothing to write down.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Recalls, as (number, times).
    pub fn recalled(&self) -> Vec<(i64, i64)> {
        self.column(0)
    }

    /// Inspections, as (number, times).
    pub fn inspected(&self) -> Vec<(i64, i64)> {
        self.column(1)
    }

    fn column(&self, at: usize) -> Vec<(i64, i64)> {
        self.counts.iter().map(|(number, times)| (*number, times[at])).filter(|(_, n)| *n > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_add_up_until_taken() {
        let uses = Uses::default();
        assert!(!uses.add(&[(1, 1), (2, 1)], &[]));
        assert!(!uses.add(&[(1, 1)], &[(1, 1)]));
        assert_eq!(uses.of(1), [2, 1]);
        let batch = uses.take();
        assert_eq!((batch.recalled(), batch.inspected()), (vec![(1, 2), (2, 1)], vec![(1, 1)]));
        assert!(uses.take().is_empty() && uses.of(1) == [0, 0]);
    }

    #[test]
    fn many_are_due() {
        let uses = Uses::default();
        let many: Vec<_> = (0..MOST as i64).map(|number| (number, 1)).collect();
        assert!(uses.add(&many, &[]));
    }
}
