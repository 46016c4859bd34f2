//! Time and randomness, the only two things an engine takes from the machine besides files.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use strata_core::time::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now, in microseconds UTC.
    fn now(&self) -> Timestamp;
}

/// Draws the random bits of new ids, salts and keys.
pub trait IdSource: Send + Sync {
    /// Fills `bytes` with bits nobody can guess.
    fn fill(&self, bytes: &mut [u8]);

    /// 64 random bits.
    fn bits(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// The salt of something that is about to be stored.
    fn salt(&self) -> [u8; 16] {
        let mut salt = [0; 16];
        self.fill(&mut salt);
        salt
    }
}

/// The machine's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        jiff::Timestamp::now().into()
    }
}

/// The operating system's random generator.
#[derive(Debug, Default)]
pub struct SystemIds;

impl IdSource for SystemIds {
    fn fill(&self, bytes: &mut [u8]) {
        // The operating systems we run on cannot fail here once started; ids must not repeat silently.
        getrandom::fill(bytes).expect("the operating system provides random bytes");
    }
}

/// A clock for tests: starts where told and moves only when told, plus one microsecond per reading.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn at(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.0))
    }

    /// Moves the clock forward.
    pub fn advance(&self, microseconds: i64) {
        self.0.fetch_add(microseconds, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Reproducible "random" bits for tests (SplitMix64).
#[derive(Debug)]
pub struct SeededIds(AtomicU64);

impl SeededIds {
    /// The same seed gives the same ids.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl IdSource for SeededIds {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let mut z = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}
