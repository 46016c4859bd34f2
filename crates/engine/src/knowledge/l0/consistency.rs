//! Whether the index names the files that are there, and no others.

use std::collections::BTreeSet;

use serde::Serialize;
use strata_core::knowledge::l0;

use super::{IndexFile, build};
use crate::{engine::Engine, error::Error, knowledge::vault, operation::Call};

/// Orphans up to which the index is not called poor.
const FEW: usize = 2;

/// The index beside the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Consistency {
    /// Files that the index does not name.
    pub orphaned_l1: Vec<String>,
    /// Files that the index names and that are gone.
    pub stale_l0_entries: Vec<String>,
    /// Files that it names.
    pub consistent: Vec<String>,
    /// Files.
    pub total_l1: usize,
    /// Files that the index names.
    pub total_l0_refs: usize,
    /// `good`, `fair` or `poor`.
    pub health: &'static str,
}

/// Compares the caller's index with the files. Where the index is no file, it is made of them and never differs. A file
/// whose entry was taken out on purpose, or did not fit, is not missed.
pub(crate) fn consistency(engine: &Engine, call: &Call<'_>) -> Result<Consistency, Error> {
    let own = vault::own_namespace(engine, call)?;
    let config = &engine.settings().config.knowledge.l0;
    let index = build(engine, call, &own)?;
    let wanted: BTreeSet<String> = index.entries.iter().map(|entry| entry.path.to_string()).collect();
    let file = IndexFile::read(engine, &own).map(|file| file.map(|file| file.text.unwrap_or_default()));
    let (named, is_cut) = match file {
        Ok(None) => (wanted.clone(), false),
        // What is no index names nothing; `sync_l0_index` says what is wrong with it.
        Err(_) => (BTreeSet::new(), false),
        Ok(Some(text)) => {
            let entries = l0::parse(&text, &config.line_format());
            let named = entries.iter().map(|entry| entry.path.to_string()).collect();
            (named, l0::left_out(&text) > 0)
        }
    };
    let orphans: Vec<String> = wanted.difference(&named).cloned().collect();
    let orphaned_l1 = if is_cut { Vec::new() } else { orphans };
    let stale_l0_entries: Vec<String> = named.difference(&wanted).cloned().collect();
    let health = match (orphaned_l1.len(), stale_l0_entries.len()) {
        (0, 0) => "good",
        (orphans, _) if orphans <= FEW => "fair",
        _ => "poor",
    };
    let consistent = named.intersection(&wanted).cloned().collect();
    let (total_l1, total_l0_refs) = (index.files, named.len());
    Ok(Consistency { orphaned_l1, stale_l0_entries, consistent, total_l1, total_l0_refs, health })
}
