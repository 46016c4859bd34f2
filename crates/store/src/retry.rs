//! Waiting for a lock that other processes hold: short, jittered sleeps up to the caller's patience.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, Instant},
};

use crate::{error::StoreError, sql::Control};

const FIRST: Duration = Duration::from_micros(400);
/// Longer sleeps would let newcomers overtake a waiter again and again.
const LONGEST: Duration = Duration::from_millis(12);

/// One job's waiting, from its first refusal to its last.
pub(crate) struct Patience<'c> {
    control: &'c Control,
    started: Instant,
    ceiling: Duration,
    jitter: RandomState,
    round: u64,
}

impl<'c> Patience<'c> {
    pub(crate) fn new(control: &'c Control) -> Self {
        Self { control, started: Instant::now(), ceiling: FIRST, jitter: RandomState::new(), round: 0 }
    }

    /// Sleeps a little, or says that the caller has waited long enough.
    pub(crate) fn wait(&mut self) -> Result<(), StoreError> {
        self.control.check()?;
        let waited = self.started.elapsed();
        if waited >= self.control.patience {
            return Err(StoreError::Busy { waited });
        }
        self.round += 1;
        let part = self.jitter.hash_one(self.round) % 1000;
        let nap = self.ceiling / 4 + self.ceiling * u32::try_from(part).unwrap_or(0) / 1000;
        std::thread::sleep(nap.min(self.control.patience.saturating_sub(waited)));
        self.ceiling = (self.ceiling * 2).min(LONGEST);
        Ok(())
    }
}

/// Runs `attempt` again while the store is busy, up to the caller's patience.
pub(crate) fn patiently<T>(
    control: &Control,
    mut attempt: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut patience = Patience::new(control);
    loop {
        match attempt() {
            Err(error) if error.is_busy() => patience.wait()?,
            outcome => return outcome,
        }
    }
}
