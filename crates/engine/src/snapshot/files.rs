//! The files of the vault as a snapshot shows them.

use strata_core::{
    knowledge::{
        changelog::Operation,
        digest::body_token,
        name::{Name, VaultPath},
    },
    policy::Action,
    scope::Scope,
    time::Timestamp,
};
use strata_store::{error::StoreError, ledger::LedgerRead};

use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault::{Change, Edited, Event, Joined, Origin, Place},
    memory::reference::sees_scope,
    operation::Call,
};

/// What a rollback does to the files.
#[derive(Debug, Default)]
pub(super) struct FilesPlan {
    /// Those that are to hold another generation.
    pub(super) steps: Vec<FileStep>,
    /// Those that cannot: the text of then is no longer kept.
    pub(super) lost: usize,
    /// Those that differ and that the caller does not see.
    pub(super) outside: usize,
}

/// A file and what it held.
#[derive(Debug)]
pub(super) struct FileStep {
    place: Place,
    number: i64,
    /// `None`: there was no file.
    generation: Option<i64>,
}

impl FilesPlan {
    /// The files that do not hold what they held at `then`.
    pub(super) fn read(r: &LedgerRead<'_>, call: &Call<'_>, then: Timestamp) -> Result<Self, StoreError> {
        let mut plan = Self::default();
        for head in r.vault_heads(None)? {
            let held = r.vault_generation_at(head.number, then)?;
            let had_file = held.as_ref().filter(|row| row.hash.is_some());
            let is_same = match had_file {
                Some(row) => row.generation == head.generation,
                None => !head.is_present(),
            };
            if is_same {
                continue;
            }
            let scope = Scope { namespace: head.namespace.clone(), ..Scope::user() };
            let (Ok(namespace), Ok(path)) = (Name::parse(&head.namespace), VaultPath::parse(&head.path))
            else {
                continue;
            };
            if !sees_scope(call, &scope) {
                plan.outside += 1;
            } else if had_file.is_some_and(|row| !row.has_content) {
                plan.lost += 1;
            } else {
                let generation = had_file.map(|row| row.generation);
                plan.steps.push(FileStep {
                    place: Place::new(namespace, path),
                    number: head.number,
                    generation,
                });
            }
        }
        Ok(plan)
    }

    /// Takes the files and decides what they shall hold; stored with the rest of the rollback.
    pub(super) fn join(
        &self,
        engine: &Engine,
        call: &Call<'_>,
        name: &str,
    ) -> Result<Joined<'static>, Error> {
        let places: Vec<Place> = self.steps.iter().map(|step| step.place.clone()).collect();
        let change =
            Change { action: Action::Rollback, origin: Origin::Restore, ..Change::new("snapshot_rollback") };
        let mut joined = Joined::take(engine, call, &places, change)?;
        let ledger = engine.existing_ledger()?;
        let mut edits = Vec::with_capacity(self.steps.len());
        for (step, (_, head)) in self.steps.iter().zip(joined.heads()) {
            let is_there = head.is_some_and(|head| head.is_present());
            let text = match step.generation {
                Some(generation) => {
                    ledger.read(&engine.control(call), |r| r.vault_text(step.number, generation))?
                }
                None => None,
            };
            let reason = format!("rollback:{name}");
            edits.push(match (text, is_there) {
                (Some(text), _) => {
                    let operation =
                        if is_there { Operation::DomainUpdated } else { Operation::DomainCreated };
                    let event = Event::new(operation, "the file is as a snapshot shows it")
                        .because(reason)
                        .tokens(None, Some(body_token(&text)));
                    Edited::Write(text, event)
                }
                (None, true) => Edited::Delete(
                    Event::new(Operation::DomainDeleted, "the snapshot has no such file").because(reason),
                ),
                (None, false) => Edited::Keep,
            });
        }
        joined.decide(engine, edits)?;
        Ok(joined)
    }
}
