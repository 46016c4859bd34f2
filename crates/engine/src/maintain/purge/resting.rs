//! What was made of the thing to be erased: its words must not live on there.

use strata_core::{
    id::{Id, IdKind},
    memory::Layer,
    policy::Action,
};
use strata_store::ledger::RawKind;

use super::{Material, Request, one};
use crate::{authority, engine::Engine, error::Error, operation::Call};

/// What rests on the thing.
#[derive(Debug, Default)]
pub(super) struct Resting {
    /// Digests with words of it.
    quoting: Vec<Id>,
    /// Digests without, and later versions of those with.
    pub(super) others: Vec<String>,
}

/// Finds the digests that cover what `id` names, if the caller may purge that.
pub(super) fn find(engine: &Engine, call: &Call<'_>, id: &Id) -> Result<Resting, Error> {
    let mut resting = Resting::default();
    let (digests, layer) = engine.existing_ledger()?.read(&engine.control(call), |r| {
        let (kind, number, layer) = match id.kind() {
            IdKind::Memory => match r.memory(id.as_str())? {
                Some(row) => (RawKind::Memory, row.number, row.state.layer),
                None => return Ok((Vec::new(), None)),
            },
            _ => match r.episode(id.as_str())? {
                Some(row) => (RawKind::Episode, row.number, Layer::P2),
                None => return Ok((Vec::new(), None)),
            },
        };
        let mut digests = Vec::new();
        for (memory, quotes) in r.digests_of(kind, number)? {
            let line = r.history(memory.number)?.line;
            digests.push((memory, quotes, line));
        }
        Ok((digests, Some(layer)))
    })?;
    if let (Some(layer), false) = (layer, digests.is_empty()) {
        authority::authorise(engine, call, Action::Purge, layer, id.as_str())?;
    }
    for (memory, quotes, line) in digests {
        match Id::parse(&memory.id) {
            Ok(digest) if quotes => {
                resting.quoting.push(digest);
                resting.others.extend(line.into_iter().map(|m| m.id).filter(|other| *other != memory.id));
            }
            _ => resting.others.push(memory.id),
        }
    }
    let gone: Vec<String> = resting.quoting.iter().map(Id::to_string).collect();
    resting.others.retain(|other| !gone.contains(other));
    resting.others.sort_unstable();
    resting.others.dedup();
    Ok(resting)
}

/// Erases the digests with words of it, and gives what else they covered free to be distilled anew.
pub(super) fn erase(
    engine: &Engine,
    call: &Call<'_>,
    resting: &Resting,
    backups: Option<bool>,
) -> Result<Vec<String>, Error> {
    let mut erased = Vec::new();
    for id in &resting.quoting {
        let request = Request {
            id: id.to_string(),
            backups,
            reason: Some("it quotes something that is purged".to_owned()),
        };
        one(engine, call, id, &request, Material::IsFreed)?;
        erased.push(id.to_string());
    }
    Ok(erased)
}
