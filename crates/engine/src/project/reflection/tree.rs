//! The tree of a project's memories: what stands above a memory, and what those below it say.
//!
//! A memory names the one above it by the id of a version; whoever asks for what is below names all its versions.

use std::collections::HashMap;

use strata_core::{
    memory::{Kind, Status},
    project::placement::{self, MAX_DEPTH, Parent},
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{History, LedgerRead, MemoryFilter, MemoryRow},
};

use crate::{memory::reference::sees_scope, operation::Call};

/// Architectures and modules that are looked at for one to stand under.
const PARENTS: usize = 1_000;

/// What the memories in force below a memory say, as the caller sees them; empty if there are none, and for a version
/// that was replaced.
///
/// # Errors
/// Those of the store.
pub fn consolidated(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
    row: &MemoryRow,
    history: &History,
) -> Result<String, StoreError> {
    if row.scope.project.is_none() || row.superseded_by.is_some() {
        return Ok(String::new());
    }
    let versions: Vec<&str> = history.line.iter().map(|version| version.id.as_str()).collect();
    let mut below = r.children(&row.scope, &versions)?;
    below.retain(|child| child.state.status.is_live() && sees_scope(call, &child.scope));
    Ok(placement::consolidated(below.iter().map(|child| (child.title.as_str(), child.body.as_str()))))
}

/// The memory in force that one of this kind, title and part of the project belongs under.
pub fn parent_of(
    r: &LedgerRead<'_>,
    scope: &Scope,
    (kind, title): (&str, &str),
    module_path: Option<&str>,
) -> Result<Option<MemoryRow>, StoreError> {
    let kinds = ["architecture", "module"].into_iter().filter_map(|word| Kind::parse(word).ok()).collect();
    let filter = MemoryFilter {
        visible_from: Some(scope.clone()),
        kinds,
        statuses: vec![Status::Active, Status::Stale],
        limit: PARENTS,
        ..MemoryFilter::default()
    };
    let rows: Vec<MemoryRow> =
        r.memories(&filter)?.into_iter().filter(|row| row.scope.project == scope.project).collect();
    let above: HashMap<&str, Option<&str>> =
        rows.iter().map(|row| (row.id.as_str(), row.parent.as_deref())).collect();
    let parents: Vec<Parent<'_>> = rows
        .iter()
        .map(|row| Parent {
            kind: row.kind.as_str(),
            title: &row.title,
            module_path: row.module_path.as_deref(),
            depth: depth(&above, &row.id),
        })
        .collect();
    let at = placement::place(kind, title, module_path, &parents);
    Ok(at.and_then(|at| rows.get(at).cloned()))
}

/// How many of the known memories stand above one.
fn depth(above: &HashMap<&str, Option<&str>>, id: &str) -> usize {
    let mut depth = 0;
    let mut next = above.get(id).copied().flatten();
    while let Some(id) = next.filter(|_| depth < MAX_DEPTH) {
        depth += 1;
        next = above.get(id).copied().flatten();
    }
    depth
}
