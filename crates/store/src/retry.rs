//! Waiting for a lock that other processes hold: short, jittered sleeps up to the caller's patience.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, Instant},
};

use crate::{error::StoreError, sql::Control};

const FIRST: Duration = Duration::from_micros(400);
const LONGEST: Duration = Duration::from_millis(12);
/// Who has waited long looks more often, so that newcomers do not overtake it again and again.
const LONG_WAIT: Duration = Duration::from_millis(500);
const LONGEST_AFTER_LONG_WAIT: Duration = Duration::from_millis(2);
/// Between attempts that cost the other side more than they cost us: from this, doubling, to that.
const FIRST_SPARING: Duration = Duration::from_millis(50);
const LONGEST_SPARING: Duration = Duration::from_secs(1);
/// How often somebody who sleeps long looks at its control.
const LOOK: Duration = Duration::from_millis(20);

/// One job's waiting, from its first refusal to its last.
pub(crate) struct Patience<'c> {
    control: &'c Control,
    started: Instant,
    ceiling: Duration,
    /// Whether what is asked is a burden to whoever is asked.
    sparing: bool,
    jitter: RandomState,
    round: u64,
}

impl<'c> Patience<'c> {
    pub(crate) fn new(control: &'c Control) -> Self {
        Self {
            control,
            started: Instant::now(),
            ceiling: FIRST,
            sparing: false,
            jitter: RandomState::new(),
            round: 0,
        }
    }

    /// The same with naps of 50 ms to 1 s.
    pub(crate) fn sparing(control: &'c Control) -> Self {
        Self { ceiling: FIRST_SPARING, sparing: true, ..Self::new(control) }
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
        self.sleep(nap.min(self.control.patience.saturating_sub(waited)))?;
        let longest = match waited < LONG_WAIT {
            _ if self.sparing => LONGEST_SPARING,
            true => LONGEST,
            false => LONGEST_AFTER_LONG_WAIT,
        };
        self.ceiling = (self.ceiling * 2).min(longest);
        Ok(())
    }

    /// Sleeps, and hears meanwhile that the call was withdrawn or has come to its deadline.
    fn sleep(&self, nap: Duration) -> Result<(), StoreError> {
        let began = Instant::now();
        while let Some(left) = nap.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
            std::thread::sleep(left.min(LOOK));
            self.control.check()?;
        }
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
