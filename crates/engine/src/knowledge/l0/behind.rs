//! Whether the index as a file says something else than the files do, as it does after edits by hand.

use serde::Serialize;
use strata_core::{knowledge::l0, time::Timestamp};

use super::{IndexFile, Step, build, file};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault::{self, FileHead},
    operation::Call,
};

/// Files that are named.
const NAMED: usize = 10;

/// The index as a file is behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Behind {
    /// Always true.
    pub stale: bool,
    /// When the index was written.
    pub l0_mtime: String,
    /// When a file was last saved.
    pub newest_l1_mtime: String,
    /// Of which files it says something else, at most ten of them.
    pub stale_files: Vec<String>,
    /// How many there are.
    pub stale_count: usize,
    /// What to do.
    pub suggestion: &'static str,
}

/// Whether the file of the caller's index is behind `heads`, the files that the caller sees. Where the index is no
/// file it never is, and what cannot be read says nothing.
pub(crate) fn behind(engine: &Engine, call: &Call<'_>, heads: &[&FileHead]) -> Option<Behind> {
    let newest = heads.iter().map(|head| head.mtime).max()?;
    let path = file::place(engine, &vault::own_namespace(engine, call).ok()?)?;
    let saved = file::modified(&path);
    // Whatever the index was written after, it was made of.
    if saved == Timestamp(0) || saved >= newest {
        return None;
    }
    let step = Step { saved, files: heads.len(), seq: heads.iter().map(|head| head.seq).max().unwrap_or(0) };
    if engine.index_entries().is_in_step(step) {
        return None;
    }
    let stale = stale(engine, call).ok()?;
    if stale.is_empty() {
        engine.index_entries().note_in_step(step);
        return None;
    }
    Some(Behind {
        stale: true,
        l0_mtime: saved.to_rfc3339(),
        newest_l1_mtime: newest.to_rfc3339(),
        stale_count: stale.len(),
        stale_files: stale.into_iter().take(NAMED).collect(),
        suggestion: "`sync_l0_index` writes the index anew",
    })
}

/// The files of which the index says something else.
fn stale(engine: &Engine, call: &Call<'_>) -> Result<Vec<String>, Error> {
    let own = vault::own_namespace(engine, call)?;
    let config = &engine.settings().config.knowledge.l0;
    let format = config.line_format();
    let Some(written) = IndexFile::read(engine, &own)?.and_then(|file| file.text) else {
        return Ok(Vec::new());
    };
    let index = build(engine, call, &own)?;
    let rendered = index.render(engine, call, &format, config.budget_bytes)?;
    let (old, new) = (l0::parse(&written, &format), l0::parse(&rendered.text, &format));
    let difference = l0::difference(&old, &new);
    // What a small budget let in or kept out is no news.
    let is_cut = rendered.left_out > 0 || l0::left_out(&written) > 0;
    let known = |path: &String| index.entries.iter().any(|entry| entry.path.to_string() == *path);
    let mut stale = difference.changed;
    stale.extend(difference.added.into_iter().filter(|_| !is_cut));
    stale.extend(difference.removed.into_iter().filter(|path| !is_cut || !known(path)));
    stale.sort();
    Ok(stale)
}
