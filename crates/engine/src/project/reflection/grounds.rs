//! What memories rest on: evidence that is added to one that is stored.

use strata_core::principal::Principal;
use strata_store::ledger::{EvidenceRow, MemoryRow, NewAudit};

use crate::{authority, engine::Engine, error::Error, operation::Call, project::anchors::is_same_pin};

/// Adds what a memory rests on that is not with it yet, on record as done by `actor`, who was let write to its layer;
/// returns how much that was.
///
/// # Errors
/// Those of the store.
pub fn add_evidence(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    memory: &MemoryRow,
    grounds: &[EvidenceRow],
    reason: &str,
) -> Result<usize, Error> {
    let known = engine.read(call, |r| r.evidence(memory.number))?;
    if fresh(known, grounds).is_empty() {
        return Ok(0);
    }
    let row = NewAudit {
        layer: Some(memory.state.layer),
        reason,
        before_hash: Some(memory.content_hash),
        after_hash: Some(memory.content_hash),
        ..NewAudit::new(actor, call.face, "evidence_add", &memory.id)
    };
    Ok(engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        // Somebody else may have added the same meanwhile.
        let fresh = fresh(w.evidence(memory.number)?, grounds);
        if !fresh.is_empty() {
            w.record(&row)?;
        }
        fresh.iter().try_for_each(|evidence| w.add_evidence(memory.number, evidence))?;
        authority::seal(w, call, actor)?;
        Ok(fresh.len())
    })?)
}

/// What of `more` is not known, each once.
fn fresh(mut known: Vec<EvidenceRow>, more: &[EvidenceRow]) -> Vec<EvidenceRow> {
    let before = known.len();
    add_new(&mut known, more.to_vec());
    known.split_off(before)
}

/// Adds those that are not there yet, whenever they were written.
pub fn add_new(known: &mut Vec<EvidenceRow>, more: Vec<EvidenceRow>) {
    for row in more {
        let says =
            |k: &EvidenceRow| k.reference == row.reference || is_same_pin(&k.reference, &row.reference);
        let same = |k: &EvidenceRow| k.kind == row.kind && k.note == row.note && says(k);
        if !known.iter().any(same) {
            known.push(row);
        }
    }
}
