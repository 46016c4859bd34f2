//! Another status for a memory, on record.

use strata_core::{memory::Status, policy::Action};
use strata_store::{
    error::{Conflict, StoreError},
    ledger::{LedgerWrite, MemoryRow, NewAudit, State},
};

use super::reference::Reference;
use crate::{authority, engine::Engine, error::Error, operation::Call};

/// The memory that a request names.
///
/// # Errors
/// `NotFound` for what is not there, or not seen from where the caller stands.
pub fn find(engine: &Engine, call: &Call<'_>, field: &str, id: &str) -> Result<MemoryRow, Error> {
    let reference = Reference::exact(field, id)?;
    engine.ledger(call)?.read(&engine.control(call), |r| reference.find(r, call))?.existing()
}

/// Gives a memory another status, if the caller may: `action` is the word on record.
///
/// # Errors
/// A refusal by the policy; a conflict when somebody changed it meanwhile.
pub fn change(
    engine: &Engine,
    call: &Call<'_>,
    memory: &MemoryRow,
    status: Status,
    (action, reason): (&'static str, &str),
) -> Result<(), Error> {
    let layer = memory.state.layer;
    let actor = authority::authorise_as(engine, call, Action::Update, action, layer, &memory.id)?;
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        turn(w, &NewAudit::new(&actor, call.face, action, &memory.id), memory, (status, reason))?;
        authority::seal(w, call, &actor)
    })?;
    engine.index_what_was_stored(call);
    Ok(())
}

/// The same inside of a transaction, for whoever was judged before; `row` says who does what.
pub fn turn(
    w: &LedgerWrite<'_>,
    row: &NewAudit<'_>,
    memory: &MemoryRow,
    (status, reason): (Status, &str),
) -> Result<(), StoreError> {
    let found = w.memory_by_number(memory.number)?.map_or(0, |now| now.state_seq);
    if found != memory.state_seq {
        let (id, expected) = (memory.id.clone(), memory.state_seq);
        return Err(Conflict::StateMoved { id, expected, found }.into());
    }
    let pinned = memory.state.pinned && status.is_live();
    let state = State { status, pinned, ..memory.state };
    let seq = w.record(&NewAudit {
        layer: Some(memory.state.layer),
        reason,
        before_hash: Some(memory.content_hash),
        after_hash: Some(state.hash(&memory.content_hash)),
        ..row.clone()
    })?;
    w.change_state(memory.number, Some(memory.state_seq), &state, seq)
}
