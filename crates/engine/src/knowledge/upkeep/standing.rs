//! Whether what is made of the files is in step with them: the index of knowledge, the vectors.

use strata_core::knowledge::cleanup;
use strata_embed::Semantic;
use strata_store::sql::Control;

use super::backups;
use crate::{engine::Engine, error::Error, knowledge::l0, operation::Call};

/// What is known beside the texts.
pub(super) fn standing(engine: &Engine, call: &Call<'_>) -> Result<cleanup::Standing, Error> {
    let index = l0::consistency(engine, call)?;
    Ok(cleanup::Standing {
        legacy_backups: backups::found(engine, call)?.iter().map(backups::Backup::place).collect(),
        orphaned_l1: index.orphaned_l1,
        stale_l0_entries: index.stale_l0_entries,
        vectors_are_stale: !vectors_are_whole(engine)?,
    })
}

/// Whether every passage has a vector of the model in use. Without a model none is missed.
pub(super) fn vectors_are_whole(engine: &Engine) -> Result<bool, Error> {
    let searcher = engine.searcher();
    let index = searcher.index();
    let Some(model) = searcher.model() else { return Ok(true) };
    if !engine.is_initialised()? {
        return Ok(true);
    }
    let is_made = index.database().exists(&Control::default())?;
    if !is_made {
        return Ok(false);
    }
    let waits = matches!(searcher.semantic(), Semantic::Warming);
    Ok(!waits && index.missing_count(engine.tenant(), model)? == 0)
}
