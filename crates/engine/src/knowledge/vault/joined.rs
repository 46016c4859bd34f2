//! Files that are changed as a part of something larger.

use strata_core::principal::Principal;
use strata_store::{
    error::StoreError,
    ledger::{LedgerWrite, VaultHead},
};

use super::{
    Change, Edited, Place,
    edit::take_all,
    held::Held,
    store::{self, Step},
};
use crate::{engine::Engine, error::Error, operation::Call};

/// Files that are changed as a part of something larger, in its transaction: taken first, so that nobody changes them
/// meanwhile, stored inside it, put in place when it is over.
pub(crate) struct Joined<'c> {
    change: Change<'c>,
    held: Vec<Held>,
    steps: Vec<Step>,
}

impl<'c> Joined<'c> {
    /// Takes the files.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub(crate) fn take(
        engine: &Engine,
        call: &Call<'_>,
        places: &[Place],
        change: Change<'c>,
    ) -> Result<Self, Error> {
        Ok(Self { change, held: take_all(engine, call, places)?, steps: Vec::new() })
    }

    /// The files as rows of the ledger, in the order of the places.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (&Place, Option<&VaultHead>)> {
        self.held.iter().map(|held| (&held.place, held.head.as_ref()))
    }

    /// Says what shall become of each, in the same order.
    ///
    /// # Errors
    /// A text is too large, or the disk refuses it.
    pub(crate) fn decide(&mut self, engine: &Engine, edits: Vec<Edited>) -> Result<(), Error> {
        let held = std::mem::take(&mut self.held);
        let change = &self.change;
        self.steps = held
            .into_iter()
            .zip(edits)
            .map(|(held, edited)| Step::new(engine, change, held, edited, false))
            .collect::<Result<_, _>>()?;
        store::announce(&self.steps)
    }

    /// Stores what was decided.
    pub(crate) fn store(
        &mut self,
        w: &LedgerWrite<'_>,
        call: &Call<'_>,
        actor: &Principal,
    ) -> Result<(), StoreError> {
        store::insert(w, call, actor, &self.change, &mut self.steps)
    }

    /// Brings the files to what was stored, once the transaction is committed.
    ///
    /// # Errors
    /// The first that could not be brought there; that is on record.
    pub(crate) fn finish(mut self, engine: &Engine, call: &Call<'_>, actor: &Principal) -> Result<(), Error> {
        let mut failed = None;
        for step in &mut self.steps {
            if let Err(error) = store::put(step) {
                store::fail(engine, call, actor, step, &error)?;
                failed = failed.or(Some(error));
            }
        }
        if let Some(disk) = engine.vault().disk() {
            let places = self.steps.iter().map(|step| (&step.held.place.namespace, &step.held.place.path));
            failed = failed.or(disk.sync_folders(places).err());
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}
