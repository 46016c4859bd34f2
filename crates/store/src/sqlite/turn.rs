//! Fairness among writing processes. SQLite's write lock goes to whoever asks at the right moment, so a writer
//! can be overtaken again and again. One that has waited long takes a file's lock beside the database, and
//! while it holds that, the others hold back.

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::open::beside;
use crate::{
    files::open_private,
    held::{Held, is_held},
};

/// After this long a writer asks the others to hold back.
const LONG_WAIT: Duration = Duration::from_millis(500);

/// The others hold back no longer than this for one write: whoever asked may have been suspended.
const COURTESY: Duration = Duration::from_millis(250);

/// One write's place among those that wait.
pub(super) struct Turn {
    path: PathBuf,
    since: Instant,
    held_back: Option<Instant>,
    mine: Option<Held>,
}

impl Turn {
    pub(super) fn new(database: &Path) -> Self {
        Self { path: beside(database, ".turn"), since: Instant::now(), held_back: None, mine: None }
    }

    /// Whether this write may ask for the lock now. The turn is over when this value is dropped.
    ///
    /// A place where no file can be made has no turns; then writers compete as ever.
    pub(super) fn has_come(&mut self) -> bool {
        if self.mine.is_some() {
            return true;
        }
        if self.since.elapsed() >= LONG_WAIT
            && let Ok(file) = open_private(&self.path)
            && let Ok(Some(held)) = Held::try_take(file, &self.path)
        {
            self.mine = Some(held);
            return true;
        }
        // Only a writer that waited long has ever made the file.
        let Ok(file) = File::open(&self.path) else { return true };
        !is_held(&file) || self.held_back.get_or_insert_with(Instant::now).elapsed() >= COURTESY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_hold_back_for_a_while_and_only_while_somebody_waits() {
        let place = tempfile::tempdir().expect("temporary directory");
        let database = place.path().join("x.db");
        let mut other = Turn::new(&database);
        assert!(other.has_come(), "nobody has waited");
        let mut patient = Turn::new(&database);
        patient.since = Instant::now().checked_sub(LONG_WAIT).expect("the machine runs longer than that");
        assert!(patient.has_come() && patient.mine.is_some());
        assert!(!other.has_come(), "somebody has waited long");
        other.held_back = Instant::now().checked_sub(COURTESY);
        assert!(other.has_come(), "but courtesy ends");
        other.held_back = None;
        drop(patient);
        assert!(other.has_come(), "and so does the turn");
    }
}
