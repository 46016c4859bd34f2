//! What memories rest on: evidence that is added to one that is stored.

use strata_store::ledger::{EvidenceRow, MemoryRow, NewAudit};

use crate::{engine::Engine, error::Error, operation::Call, review::dispute};

/// Adds what a memory rests on that is not with it yet, on record; returns how much that was. Whoever may not write to
/// its layer adds nothing.
///
/// # Errors
/// Those of the store.
pub fn add_evidence(
    engine: &Engine,
    call: &Call<'_>,
    memory: &MemoryRow,
    grounds: &[EvidenceRow],
    reason: &str,
) -> Result<usize, Error> {
    let known = engine.read(call, |r| r.evidence(memory.number))?;
    if fresh(known, grounds).is_empty() || !dispute::may_change(call, memory.state.layer) {
        return Ok(0);
    }
    let row = NewAudit {
        layer: Some(memory.state.layer),
        reason,
        before_hash: Some(memory.content_hash),
        after_hash: Some(memory.content_hash),
        ..NewAudit::new(call.principal, call.face, "evidence_add", &memory.id)
    };
    Ok(engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        // Somebody else may have added the same meanwhile.
        let fresh = fresh(w.evidence(memory.number)?, grounds);
        if !fresh.is_empty() {
            w.record(&row)?;
        }
        fresh.iter().try_for_each(|evidence| w.add_evidence(memory.number, evidence))?;
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
        let same = |k: &EvidenceRow| k.kind == row.kind && k.reference == row.reference && k.note == row.note;
        if !known.iter().any(same) {
            known.push(row);
        }
    }
}
