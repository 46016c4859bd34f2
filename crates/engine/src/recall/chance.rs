//! One more memory by chance, for who asked for it: something nobody thought of looking for.

use strata_store::{
    index::SourceKind,
    ledger::{MemoryFilter, MemoryRow},
};

use super::{item::Item, search::Query};
use crate::{engine::Engine, error::Error, operation::Call};

/// The newest memories that one is drawn from.
const CHOICE: usize = 500;

/// A memory that the query's filters let through and that is not among the `taken` ids; `None` when there is none.
pub(super) fn draw(
    engine: &Engine,
    call: &Call<'_>,
    query: &Query,
    taken: &[&str],
) -> Result<Option<MemoryRow>, Error> {
    let other_sources = !query.sources.is_empty() && !query.sources.contains(&SourceKind::Memory);
    // What was in force at another time is looked for, not stumbled over.
    if other_sources || query.as_of.is_some() {
        return Ok(None);
    }
    let filter = MemoryFilter {
        visible_from: Some(query.scope.clone()),
        layers: query.layers.clone(),
        kinds: query.kinds.clone(),
        limit: CHOICE,
        ..MemoryFilter::default()
    };
    let rows = engine.ledger(call)?.read(&engine.control(call), |r| r.memories(&filter))?;
    let now = engine.clock().now();
    let fits = |row: &MemoryRow| {
        let item = Item::Memory(Box::new(row.clone()));
        !taken.contains(&row.id.as_str()) && query.time.contains(item.at()) && item.passes(query, now)
    };
    let mut rows: Vec<MemoryRow> = rows.into_iter().filter(fits).collect();
    let Some(at) = engine.ids().bits().checked_rem(rows.len() as u64) else { return Ok(None) };
    Ok(Some(rows.swap_remove(usize::try_from(at).unwrap_or(0))))
}
