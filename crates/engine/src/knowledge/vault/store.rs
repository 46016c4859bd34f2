//! Changes on their way into the ledger and onto the disk.
//!
//! The order is what makes a crash harmless: the text is beside the file and its generation is noted, then the transaction is
//! committed, then the file is renamed. What a caller waits for before an answer:
//!
//! - the new text is durable before the rename, or power loss could leave a file with nothing in it. It gets there while the
//!   transaction goes on ([`OpenFile::begin`]), and there is room for it before the transaction begins;
//! - the transaction is durable before the rename: nothing is in a file that the ledger does not know;
//! - the rename is durable before the answer. [`super::follow`] sees to that while the index follows.
//!
//! The note on the generation, the index, `L0.md` and `changelog.jsonl` are not waited for: they tell what a killed process
//! had in hand, which a disk that lost power does not need, or are made anew from ledger and files.
//!
//! [`OpenFile::begin`]: strata_store::vault::OpenFile::begin

use std::{sync::Arc, thread};

use strata_core::{memory::Layer, principal::Principal};
use strata_store::{
    error::{Conflict, StoreError},
    files::Prepared,
    ledger::{LedgerRead, LedgerWrite, NewAudit, NewGeneration, Origin, VaultChange, VaultHead},
};

use super::{
    Change, Edited, Event, FileHead, MAX_FILE, ParsedFile, Place, Written, following::foresee, held::Held,
    state::PlaceInHistory,
};
use crate::{authority, engine::Engine, error::Error, operation::Call, parallel::has_cores};

/// A file and what shall become of it.
pub(super) struct Step {
    pub(super) held: Held,
    /// What shall be stored; `None`: nothing.
    wanted: Option<Wanted>,
}

/// What shall be stored of a file.
struct Wanted {
    /// `None` deletes.
    text: Option<String>,
    event: Event,
    row: VaultChange,
    salt: [u8; 16],
    prepared: Option<Prepared>,
    /// What the ledger has of the file, set when it is stored.
    stored: Option<VaultHead>,
}

impl Step {
    /// The step from what is held to what was decided. Of a file that is changed `alone` the text becomes durable while
    /// the transaction goes on.
    pub(super) fn new(
        engine: &Engine,
        change: &Change<'_>,
        held: Held,
        edited: Edited,
        alone: bool,
    ) -> Result<Self, Error> {
        let (text, event) = match edited {
            Edited::Keep => return Ok(Self { held, wanted: None }),
            Edited::Write(text, event) => (Some(text), event),
            Edited::Delete(event) => (None, event),
        };
        if text == held.text {
            return Ok(Self { held, wanted: None });
        }
        let size = text.as_ref().map_or(0, String::len);
        if size as u64 > MAX_FILE {
            let limit = usize::try_from(MAX_FILE).unwrap_or(usize::MAX);
            return Err(Error::TooLarge { field: held.place.path.to_string(), size, limit });
        }
        if held.head.is_none() && super::is_secret(&held.place.path) {
            return Err(Error::argument("domain", "holds a secret", "give the file another name"));
        }
        let row = event.row(engine, change, &held.place)?;
        let prepared = match (&held.file, &text) {
            (Some(file), Some(text)) if alone => Some(file.begin(text)?),
            (Some(file), Some(text)) => Some(file.prepare(text)?),
            _ => None,
        };
        let wanted = Wanted { text, event, row, salt: engine.ids().salt(), prepared, stored: None };
        Ok(Self { held, wanted: Some(wanted) })
    }
}

/// Stores the steps; `None` when somebody else was faster, and they must be made anew.
pub(super) fn store(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    change: &Change<'_>,
    mut steps: Vec<Step>,
) -> Result<Option<Vec<Written>>, Error> {
    if steps.iter().all(|step| step.wanted.is_none()) {
        return finish(engine, steps).map(Some);
    }
    announce(&steps)?;
    match commit_foreseen(engine, call, actor, change, &mut steps) {
        Ok(()) => {}
        Err(StoreError::Conflict(Conflict::FileMoved { .. })) => {
            conclude(&steps);
            return Ok(None);
        }
        Err(error) => {
            // What the ledger says now decides, should the commit have been made all the same.
            return Err(error.into());
        }
    }
    let alone = steps.len() == 1;
    for step in &mut steps {
        match put(step) {
            Ok(()) => {}
            // Whoever opens the file next keeps what was saved and marks our generation: we, if it is the only file.
            Err(StoreError::Conflict(Conflict::FileMoved { .. })) if alone => return Ok(None),
            Err(error) => {
                fail(engine, call, actor, step, &error)?;
                return Err(error.into());
            }
        }
    }
    finish(engine, steps).map(Some)
}

/// Notes beside each file which generation it is about to get.
pub(super) fn announce(steps: &[Step]) -> Result<(), Error> {
    for Step { held, wanted } in steps {
        if let (Some(file), Some(_)) = (&held.file, wanted) {
            file.announce(held.next)?;
        }
    }
    Ok(())
}

fn conclude(steps: &[Step]) {
    for file in steps.iter().filter_map(|step| step.held.file.as_ref()) {
        // A note that stays does no harm: it names a generation that is not there.
        drop(file.conclude());
    }
}

/// Commits, and lets the index see what will be in the file meanwhile: most of the time goes into waiting for the disk.
fn commit_foreseen(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    change: &Change<'_>,
    steps: &mut [Step],
) -> Result<(), StoreError> {
    let new = match steps {
        [Step { held, wanted: Some(Wanted { text: Some(text), .. }) }] if has_cores() => {
            Some((held.place.path.to_string(), text.clone()))
        }
        _ => None,
    };
    thread::scope(|scope| {
        let spawn = |(path, text): (String, String)| {
            let job = move || foresee(engine, call, &path, &text);
            thread::Builder::new().spawn_scoped(scope, job).ok()
        };
        let foreseeing = new.and_then(spawn);
        let committed = commit(engine, call, actor, change, steps);
        // Whatever becomes of it, the index does it again.
        foreseeing.into_iter().for_each(|thread| drop(thread.join()));
        committed
    })
}

fn commit(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    change: &Change<'_>,
    steps: &mut [Step],
) -> Result<(), StoreError> {
    let ledger = engine.ledger(call).map_err(|error| match error {
        Error::Store(error) => error,
        other => StoreError::Internal(other.to_string()),
    })?;
    let (from, to) = ledger.write(&engine.control(call), engine.clock().now(), |w| {
        let from = place_in_history(w)?;
        insert(w, call, actor, change, steps)?;
        authority::seal(w, call, actor)?;
        Ok((from, place_in_history(w)?))
    })?;
    let stored = |step: &Step| step.wanted.as_ref()?.stored.clone();
    let changed: Vec<VaultHead> = steps.iter().filter_map(stored).collect();
    engine.vault().carry_heads(&from, &to, &changed);
    Ok(())
}

/// Where a transaction stands in the ledger's history.
pub(super) fn place_in_history(r: &LedgerRead<'_>) -> Result<PlaceInHistory, StoreError> {
    let standing = r.standing(0)?;
    Ok((standing.epoch, standing.head, standing.head_hash))
}

/// Stores the steps, each with its audit row and its line of the changelog, in a transaction that is going on.
pub(super) fn insert(
    w: &LedgerWrite<'_>,
    call: &Call<'_>,
    actor: &Principal,
    change: &Change<'_>,
    steps: &mut [Step],
) -> Result<(), StoreError> {
    let writer = actor.to_string();
    for Step { held, wanted } in steps.iter_mut() {
        let Some(wanted) = wanted else { continue };
        let modified = wanted.prepared.as_ref().map_or(w.now(), Prepared::modified);
        let new = NewGeneration {
            namespace: held.place.namespace.as_str(),
            path: &held.place.path,
            from: held.generation(),
            origin: if wanted.text.is_none() { Origin::Delete } else { change.origin },
            writer: &writer,
            text: wanted.text.as_deref(),
            salt: wanted.salt,
            mtime: modified,
        };
        let target = held.place.target();
        let row = NewAudit {
            layer: Some(Layer::P5),
            reason: &wanted.row.reason,
            before_hash: held.head.as_ref().and_then(|head| head.hash),
            after_hash: new.hash(),
            ..NewAudit::new(actor, call.face, wanted.event.operation.as_str(), &target)
        };
        let seq = w.record(&row)?;
        let (number, generation) = w.insert_generation(&new, seq)?;
        w.record_vault_change(&VaultChange { number: Some(number), ..wanted.row.clone() }, 0, seq)?;
        wanted.stored = Some(VaultHead {
            number,
            namespace: held.place.namespace.to_string(),
            path: held.place.path.to_string(),
            generation,
            size: i64::try_from(wanted.text.as_ref().map_or(0, String::len)).unwrap_or(i64::MAX),
            mtime: modified,
            hash: new.hash(),
            salt: wanted.text.as_ref().map(|_| wanted.salt),
            seq: seq.get(),
        });
    }
    Ok(())
}

/// Brings the file to what was stored.
pub(super) fn put(step: &mut Step) -> Result<(), StoreError> {
    let (Some(file), Some(wanted)) = (&mut step.held.file, &mut step.wanted) else { return Ok(()) };
    match (&wanted.text, wanted.prepared.take()) {
        (Some(text), Some(prepared)) => file.put(prepared, text)?,
        (Some(text), None) => file.replace(text)?,
        (None, _) => file.remove()?,
    }
    // The change is made; a note that stays is read together with the file.
    drop(file.conclude());
    Ok(())
}

/// Puts on record that a file could not be brought to what was stored.
pub(super) fn fail(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    step: &Step,
    error: &StoreError,
) -> Result<(), Error> {
    let Some(stored) = step.wanted.as_ref().and_then(|wanted| wanted.stored.as_ref()) else {
        return Ok(());
    };
    let (target, reason) = (step.held.place.target(), error.to_string());
    let row = NewAudit {
        layer: Some(Layer::P5),
        reason: &reason,
        ..NewAudit::new(actor, call.face, "vault_failed", &target)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        w.fail_generation(stored.number, stored.generation, seq)
    })?;
    conclude(std::slice::from_ref(step));
    Ok(())
}

fn finish(engine: &Engine, steps: Vec<Step>) -> Result<Vec<Written>, Error> {
    let written = steps.into_iter().map(Step::written).collect::<Result<Vec<_>, _>>()?;
    for one in written.iter().filter(|one| one.is_changed()) {
        if let (Some(head), Some(text)) = (&one.after, &one.text) {
            engine.vault().keep(head, &Arc::new(ParsedFile::new(text.clone())));
        }
    }
    Ok(written)
}

impl Step {
    fn written(self) -> Result<Written, Error> {
        let Self { held, wanted } = self;
        let before = held.head.as_ref().map(FileHead::of).transpose()?;
        let stored = wanted.and_then(|wanted| Some((wanted.stored?, wanted.text)));
        let Some((head, text)) = stored else {
            return Ok(Written {
                place: held.place,
                after: before.clone(),
                before,
                text: held.text,
                seq: None,
                unindexed: None,
            });
        };
        let place = Place { exists: text.is_some(), ..held.place };
        let before = before.filter(|head| head.hash.is_some());
        let after = Some(FileHead::of(&head)?);
        Ok(Written { place, before, after, text, seq: Some(head.seq), unindexed: None })
    }
}
