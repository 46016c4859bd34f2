//! One memory drawn by chance, for whoever asks for it: what nobody looked for, and nobody ranked.

use std::collections::HashSet;

use strata_core::memory::Status;
use strata_store::{
    index::SourceKind,
    ledger::{MemoryFilter, MemoryRow},
};

use super::{
    item::Item,
    search::{Outcome, Query},
};
use crate::{engine::Engine, error::Error, operation::Call};

/// Memories of which one is drawn; they follow a place in the order of numbers that is drawn first.
const CANDIDATES: usize = 32;

/// Draws one that the query's filters let through and that is not among the hits; none when nothing was
/// found, or when the past was asked for.
pub(super) fn draw(
    engine: &Engine,
    call: &Call<'_>,
    query: &Query,
    outcome: &Outcome,
) -> Result<Option<MemoryRow>, Error> {
    let other_sources = !query.sources.is_empty() && !query.sources.contains(&SourceKind::Memory);
    if outcome.hits.is_empty() || other_sources || query.as_of.is_some() {
        return Ok(None);
    }
    let shown: HashSet<i64> = outcome
        .hits
        .iter()
        .filter_map(|hit| if let Item::Memory(m) = &hit.item { Some(m.number) } else { None })
        .collect();
    let now = engine.clock().now();
    let fits = |m: &MemoryRow| {
        let item = Item::Memory(Box::new(m.clone()));
        !shown.contains(&m.number) && query.time.contains(item.at()) && item.passes(query, now)
    };
    let all = MemoryFilter {
        visible_from: Some(query.scope.clone()),
        layers: query.layers.clone(),
        kinds: query.kinds.clone(),
        tags: query.tags.clone(),
        session: query.session.clone(),
        statuses: vec![Status::Active],
        limit: CANDIDATES + shown.len(),
        ..MemoryFilter::default()
    };
    let (place, choice) = (engine.ids().bits(), engine.ids().bits());
    let mut candidates = engine.ledger(call)?.read(&engine.control(call), |r| {
        let newest = r.memories(&all)?;
        let Some(last) = newest.first().map(|m| m.number) else { return Ok(newest) };
        let highest = 1 + i64::try_from(place % last.unsigned_abs().max(1)).unwrap_or(0);
        let mut page = r.memories(&MemoryFilter { before: Some(highest + 1), ..all.clone() })?;
        page.retain(fits);
        Ok(if page.is_empty() { newest } else { page })
    })?;
    candidates.retain(fits);
    if candidates.is_empty() {
        return Ok(None);
    }
    let chosen = usize::try_from(choice % candidates.len() as u64).unwrap_or(0);
    Ok(Some(candidates.swap_remove(chosen)))
}
