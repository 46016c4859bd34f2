//! The engine: one home, opened when first needed.

use std::path::{Path, PathBuf};

use crate::{
    clock::{Clock, IdSource, SystemClock, SystemIds},
    settings::Settings,
};

/// The ledger's file name in a home.
pub const LEDGER_FILE: &str = "ledger.db";

/// One home and what it takes to work on it. Cheap to make: no file is touched until a call needs it.
pub struct Engine {
    settings: Settings,
    clock: Box<dyn Clock>,
    ids: Box<dyn IdSource>,
}

impl Engine {
    /// An engine on the machine's clock and random generator.
    pub fn new(settings: Settings) -> Self {
        Self::with_sources(settings, Box::new(SystemClock), Box::new(SystemIds))
    }

    /// An engine on given sources of time and randomness.
    pub fn with_sources(settings: Settings, clock: Box<dyn Clock>, ids: Box<dyn IdSource>) -> Self {
        Self { settings, clock, ids }
    }

    /// What the face told us.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The directory of the store.
    pub fn home(&self) -> &Path {
        &self.settings.home
    }

    /// Where the ledger lies.
    pub fn ledger_path(&self) -> PathBuf {
        self.home().join(LEDGER_FILE)
    }

    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The source of random bits.
    pub fn ids(&self) -> &dyn IdSource {
        &*self.ids
    }
}
