//! Following a file that another program still writes: when to look, and how far it was read.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use strata_core::cancel::Cancel;
use strata_store::foreign::ForeignStamp;

use crate::{authority::hexadecimal, engine::Engine, error::Error, operation::Call};

/// The longest sleep between two looks at the cancel flag.
const NAP: Duration = Duration::from_millis(50);

/// How far a file was read, as the ledger's settings keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// Which file it was.
    identity: (u64, u64),
    /// Lengths and times of the file and its log.
    sizes: [(u64, u64); 2],
    /// The highest id that was read.
    pub(super) last: i64,
}

impl Cursor {
    /// A cursor at `last` in the file as it looked before it was read.
    pub(super) fn at(stamp: &ForeignStamp, last: i64) -> Self {
        // Nanoseconds since 1970 fit until the year 2554.
        let sizes = stamp.sizes.map(|(length, time)| (length, u64::try_from(time).unwrap_or(u64::MAX)));
        Self { identity: stamp.identity, sizes, last }
    }

    /// Whether the file is the same and nothing was written to it since.
    pub(super) fn is_current(&self, stamp: &ForeignStamp) -> bool {
        *self == Self::at(stamp, self.last)
    }

    /// The id to read on from: nowhere in a file that was put in its place.
    pub(super) fn after(&self, stamp: &ForeignStamp) -> Option<i64> {
        (self.identity == stamp.identity).then_some(self.last)
    }

    /// The name of the setting for a file.
    pub(super) fn setting(source: &str, path: &Path) -> String {
        let hash = blake3::hash(path.as_os_str().as_encoded_bytes());
        format!("import.{source}.{}", hexadecimal(&hash.as_bytes()[..8]))
    }

    /// The cursor that an earlier run left.
    pub(super) fn load(engine: &Engine, call: &Call<'_>, setting: &str) -> Result<Option<Self>, Error> {
        let text = engine.ledger(call)?.read(&engine.control(call), |r| r.setting(setting))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// As a setting holds it.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Sleeps until the next look is due; false once the call is withdrawn.
pub(super) fn wait(cancel: &Cancel, interval: Duration) -> bool {
    let started = Instant::now();
    while !cancel.is_cancelled() {
        let left = interval.saturating_sub(started.elapsed());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(NAP));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_knows_its_file_and_survives_its_text() {
        let stamp = ForeignStamp { identity: (1, 2), sizes: [(4096, 17), (0, 0)] };
        let cursor = Cursor::at(&stamp, 9);
        assert_eq!(serde_json::from_str::<Cursor>(&cursor.to_text()).ok().as_ref(), Some(&cursor));
        assert!(cursor.is_current(&stamp));
        let grown = ForeignStamp { sizes: [(4096, 17), (512, 18)], ..stamp.clone() };
        assert!(!cursor.is_current(&grown));
        assert_eq!(cursor.after(&grown), Some(9));
        assert_eq!(cursor.after(&ForeignStamp { identity: (1, 3), ..stamp }), None);
    }

    #[test]
    fn waiting_ends_with_the_call() {
        let cancel = Cancel::default();
        assert!(wait(&cancel, Duration::from_millis(5)));
        cancel.cancel();
        assert!(!wait(&cancel, Duration::from_mins(1)));
    }
}
