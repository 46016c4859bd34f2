//! What lists of memories say of the code that these are pinned to.

use std::collections::HashMap;

use strata_store::ledger::MemoryRow;

use super::{AnchorView, views_of, worst};
use crate::{engine::Engine, error::Error, operation::Call};

/// The pins of listed memories, as they stand now, by the memories' numbers.
#[derive(Default)]
pub(crate) struct Pins(HashMap<i64, Vec<AnchorView>>);

impl Pins {
    /// Those of the memories that a list shows.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn of<'m>(
        engine: &Engine,
        call: &Call<'_>,
        memories: impl Iterator<Item = &'m MemoryRow>,
    ) -> Result<Self, Error> {
        let numbers: Vec<i64> = memories.map(|row| row.number).collect();
        Ok(Self(views_of(engine, call, &numbers)?))
    }

    /// Those of one memory.
    pub(crate) fn on(&self, memory: &MemoryRow) -> &[AnchorView] {
        self.0.get(&memory.number).map_or(&[], Vec::as_slice)
    }

    /// The same in a few words each.
    pub(crate) fn in_words(&self, memory: &MemoryRow) -> impl Iterator<Item = String> + '_ {
        self.on(memory).iter().map(AnchorView::in_words)
    }

    /// The one that stands worst, where a list has room for no more.
    pub(crate) fn worst(&self, memory: &MemoryRow) -> Option<&AnchorView> {
        self.on(memory).iter().max_by_key(|view| view.state)
    }

    /// What is left of a memory's weight for the code behind it.
    pub(crate) fn share(&self, memory: &MemoryRow) -> f64 {
        worst(self.on(memory)).share()
    }
}
