//! Where what is written in a project belongs: its branch and commit, and the memory above it.

use std::collections::HashMap;

use strata_core::{
    memory::{Kind, Status},
    project::placement::{self, MAX_DEPTH, Parent},
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, MemoryFilter, MemoryRow},
};

use crate::{error::Error, gate::Gate, operation::Call, project::storable};

/// Branches that are the project's own line wherever they are found.
const MAINLINES: [&str; 5] = ["main", "master", "develop", "development", "trunk"];
/// Architectures and modules that are looked at for one to stand under.
const PARENTS: usize = 1_000;
/// Versions of one memory that are followed.
const LONGEST: usize = 1_000;

/// The place of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Where it holds: the project or, on a branch that is no mainline, that branch of it.
    pub scope: Scope,
    /// How it follows branches.
    pub branch_scope: &'static str,
    /// The commit it is written at.
    pub commit: Option<String>,
}

/// The place of a write by this caller. `branch` and `commit` win over where the caller stands.
///
/// # Errors
/// `Argument` when no project is known, or the names are too long.
pub fn standing(call: &Call<'_>, branch: Option<&str>, commit: Option<&str>) -> Result<Standing, Error> {
    if call.scope.project.is_none() {
        return Err(Error::argument(
            "project",
            "is not known here",
            "start Strata inside a repository, or pass --project",
        ));
    }
    let mut gate = Gate::default();
    let given = gate.field("current_branch", branch)?.map(|name| storable(&name));
    let commit = gate.field("head_commit", commit)?;
    let branch = given.or_else(|| call.scope.branch.clone());
    let (branch, branch_scope) = match branch {
        None => (None, "global"),
        Some(name) if MAINLINES.contains(&name.as_str()) => (None, "mainline"),
        Some(name) => (Some(name), "current_branch"),
    };
    Ok(Standing { scope: Scope { branch, ..call.scope.clone() }, branch_scope, commit })
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

/// The memory that a line of versions ends in, given any of its ids; `None` when that was purged.
pub fn newest(r: &LedgerRead<'_>, id: &str) -> Result<Option<MemoryRow>, StoreError> {
    let mut found = r.memory(id)?;
    for _ in 0..LONGEST {
        let Some(by) = found.as_ref().and_then(|row| row.superseded_by.clone()) else { break };
        match r.memory(&by)? {
            Some(row) => found = Some(row),
            None => break,
        }
    }
    Ok(found)
}
