//! Raw events that an older store had distilled already, linked to the digests that came in with them.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use strata_core::{memory::Layer, principal::Face, time::Timestamp};
use strata_store::{
    error::StoreError,
    ledger::{DigestLink, LedgerWrite, NewAudit, NewEpisode, RawKind},
};

use super::{
    cells::point_in_time,
    decide::Actors,
    prepare::{Origin, Prepared, PreparedMemory},
};
use crate::{episode::KIND, render::counted};

/// Metadata of an event: when its store distilled it.
pub(super) const CONSOLIDATED: &str = "consolidated_at";

/// Puts down which digests the events of an import were made into, in the transaction that stores both. An event
/// whose digest is not among the rows keeps the date at which it was distilled, and is not distilled again for it.
pub(super) fn link(
    w: &LedgerWrite<'_>,
    face: Face,
    origin: &Origin,
    actors: &Actors,
    prepared: &Prepared,
) -> Result<(), StoreError> {
    let mut digests: HashMap<&str, Vec<&PreparedMemory>> = HashMap::new();
    for memory in &prepared.memories {
        digests.entry(&memory.new.source).or_default().push(memory);
    }
    let mut links: BTreeMap<&str, Vec<DigestLink>> = BTreeMap::new();
    for (_, episode) in &prepared.episodes {
        let Some((source, at)) = distilled(episode) else { continue };
        let Some(stored) = w.episode(episode.id.as_str())? else { continue };
        if w.is_distilled(RawKind::Episode, stored.number)? {
            continue;
        }
        // A session that went on was distilled more than once; the digest was stored when its events were marked.
        let made = digests.get(source.as_str()).into_iter().flatten();
        let nearest = made.min_by_key(|digest| digest.new.created_at.0.abs_diff(at.0));
        if let Some(digest) = nearest {
            let link = DigestLink { kind: RawKind::Episode, source: stored.number, quoted: true };
            links.entry(digest.new.id.as_str()).or_default().push(link);
        }
    }
    for (id, links) in links {
        let Some(digest) = w.memory(id)? else { continue };
        let reason = format!("{}: made of {}", origin.source, counted(links.len(), "episode"));
        let actor = actors.of(Layer::P5, origin);
        let row = NewAudit {
            layer: Some(digest.state.layer),
            reason: &reason,
            ..NewAudit::new(&actor, face, "import", id)
        };
        let seq = w.record(&row)?;
        w.link_digest(digest.number, &links, seq)?;
    }
    Ok(())
}

/// The source that the digest of an event has, and when the event was distilled; `None` if it was not.
fn distilled(episode: &NewEpisode) -> Option<(String, Timestamp)> {
    let metadata: Value = serde_json::from_str(&episode.metadata).ok()?;
    let at = point_in_time(metadata[CONSOLIDATED].as_str()?)?;
    let key = match episode.session.as_str() {
        "" => format!("unattributed:{}", metadata[KIND].as_str().unwrap_or("event")),
        session => session.to_owned(),
    };
    Some((format!("consolidation:{key}"), at))
}
