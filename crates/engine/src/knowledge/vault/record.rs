//! What the changelog says of something beside the files.

use strata_core::memory::Layer;
use strata_store::{
    error::StoreError,
    ledger::{LedgerWrite, NewAudit, Seq, VaultChange},
};

use super::{Change, Event, Place};
use crate::{authority, engine::Engine, error::Error, knowledge::changelog, operation::Call};

/// Puts on record what the changelog says of something beside the files, such as the index of them: each with its
/// audit row, all in one transaction. `about` are namespace and file.
///
/// # Errors
/// Refusals by the policy.
pub fn record(
    engine: &Engine,
    call: &Call<'_>,
    change: &Change<'_>,
    about: &[(Place, Event)],
) -> Result<(), Error> {
    record_where(engine, call, change, about, &|_, _| Ok(true))
}

/// Whether an event is still to be recorded.
type IsWanted<'a> = &'a dyn Fn(&LedgerWrite<'_>, &(Place, Event)) -> Result<bool, StoreError>;

/// The same of those that are still wanted when it is their turn: others may have recorded them meanwhile.
pub(crate) fn record_where(
    engine: &Engine,
    call: &Call<'_>,
    change: &Change<'_>,
    about: &[(Place, Event)],
    is_wanted: IsWanted<'_>,
) -> Result<(), Error> {
    if about.is_empty() {
        return Ok(());
    }
    let actor = authority::authorise(engine, call, change.action, Layer::P5, "")?;
    let rows: Vec<(&(Place, Event), VaultChange)> = about
        .iter()
        .map(|pair| Ok((pair, pair.1.row(engine, change, &pair.0)?)))
        .collect::<Result<_, Error>>()?;
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        for (pair, row) in &rows {
            if !is_wanted(w, pair)? {
                continue;
            }
            let (target, operation) = (pair.0.target(), pair.1.operation.as_str());
            let audit = NewAudit {
                layer: Some(Layer::P5),
                reason: &row.reason,
                ..NewAudit::new(&actor, call.face, operation, &target)
            };
            let seq = w.record(&audit)?;
            w.record_vault_change(row, 0, seq)?;
        }
        authority::seal(w, call, &actor)
    })?;
    changelog::follow(engine, call);
    Ok(())
}

/// The same of one event whose change `job` makes, in the same transaction. `after_hash` is what the audit keeps of it.
///
/// # Errors
/// Refusals by the policy; what `job` returns.
pub(crate) fn record_with(
    engine: &Engine,
    call: &Call<'_>,
    change: &Change<'_>,
    (place, event): &(Place, Event),
    after_hash: Option<[u8; 32]>,
    job: &dyn Fn(&LedgerWrite<'_>, Seq) -> Result<(), StoreError>,
) -> Result<(), Error> {
    let target = place.target();
    let actor = authority::authorise(engine, call, change.action, Layer::P5, &target)?;
    let row = event.row(engine, change, place)?;
    let audit = NewAudit {
        layer: Some(Layer::P5),
        reason: &row.reason,
        after_hash,
        ..NewAudit::new(&actor, call.face, event.operation.as_str(), &target)
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        let seq = w.record(&audit)?;
        w.record_vault_change(&row, 0, seq)?;
        job(w, seq)?;
        authority::seal(w, call, &actor)
    })?;
    Ok(())
}
