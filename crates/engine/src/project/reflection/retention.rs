//! What becomes of a project's memories with time: put away, summed up, brought back. Nothing is deleted.

pub mod restore;
pub mod run;
pub mod status;

use std::collections::HashMap;

use strata_core::{
    memory::{Layer, Status},
    project::retention::{Aged, Plan, Policy, plan},
    time::Timestamp,
};
use strata_store::ledger::{MemoryFilter, MemoryRow};

use super::known::{KINDS, SUM};
use crate::{engine::Engine, error::Error, operation::Call, project::branches};

/// A project's memories and what would become of them.
pub struct Outlook {
    /// The memories that take part, by number.
    pub rows: HashMap<i64, MemoryRow>,
    /// What would become of them.
    pub plan: Plan,
    /// How many stand where in their life.
    pub counts: Vec<(Status, usize)>,
    /// Whether the settings let any of it be done.
    pub enabled: bool,
}

/// Looks through the memories of the project that the caller stands in, of every branch.
///
/// # Errors
/// There is no project; those of the store.
pub fn look(engine: &Engine, call: &Call<'_>) -> Result<Outlook, Error> {
    look_in(engine, call, Some(&call.scope.namespace))
}

/// The same in one namespace; `None`: in all of them, for upkeep, which is done once for a project.
fn look_in(engine: &Engine, call: &Call<'_>, namespace: Option<&str>) -> Result<Outlook, Error> {
    super::place::standing(engine, call, None, None)?;
    let rows = rows(engine, call, namespace)?;
    let changed = changes(engine, call, &rows)?;
    let came_from = came_from(&rows);
    let aged: Vec<Aged> = rows
        .iter()
        .map(|row| Aged {
            came_from: came_from.get(row.id.as_str()).copied().unwrap_or_default().to_owned(),
            ..aged(row, &changed)
        })
        .collect();
    let count = |status: Status| rows.iter().filter(|row| in_tree(row) && row.state.status == status).count();
    let counts = Status::ALL.iter().map(|status| (*status, count(*status))).filter(|(_, n)| *n > 0).collect();
    let plan = plan(&aged, &policy(engine), engine.clock().now());
    let enabled = engine.settings().config.project.memory_retention.enabled;
    Ok(Outlook { rows: rows.into_iter().map(|row| (row.number, row)).collect(), plan, counts, enabled })
}

/// What takes part, in order of numbers: what is kept tidy, and what is proposed for any layer.
fn rows(engine: &Engine, call: &Call<'_>, namespace: Option<&str>) -> Result<Vec<MemoryRow>, Error> {
    let tidy = [Layer::P4, Layer::P5, Layer::P6];
    let proposed = Layer::ALL.iter().copied().filter(|layer| !tidy.contains(layer)).collect();
    let filters = [(Status::ALL.to_vec(), tidy.to_vec()), (vec![Status::Candidate], proposed)];
    let mut rows = Vec::new();
    engine.read(call, |r| {
        for (statuses, layers) in filters {
            r.for_each_memory(&MemoryFilter { statuses, layers, ..MemoryFilter::default() }, |row| {
                let is_here = row.scope.project == call.scope.project
                    && namespace.is_none_or(|name| row.scope.namespace == name);
                rows.extend(is_here.then_some(row));
                Ok(())
            })?;
        }
        Ok(())
    })?;
    rows.sort_by_key(|row| row.number);
    Ok(rows)
}

/// When what happened to memories and to the branches that they stand on.
struct Changes {
    /// By sequence.
    changed: HashMap<i64, Timestamp>,
    /// By branch.
    merged: HashMap<String, Timestamp>,
}

fn changes(engine: &Engine, call: &Call<'_>, rows: &[MemoryRow]) -> Result<Changes, Error> {
    let seqs: Vec<i64> = rows.iter().map(|row| row.state_seq).collect();
    let project = call.scope.project.as_deref().unwrap_or_default();
    let (changed, merged) = engine.read(call, |r| {
        let mut merged = HashMap::new();
        for branch in r.branches_of(project)? {
            if let Some(at) = branches::merged_at(r, project, &branch)? {
                merged.insert(branch, at);
            }
        }
        Ok((r.instants(&seqs)?, merged))
    })?;
    Ok(Changes { changed, merged })
}

/// A memory as far as its age matters, but for the branch that it came from.
fn aged(row: &MemoryRow, changes: &Changes) -> Aged {
    let branch = row.scope.branch.as_ref();
    Aged {
        number: row.number,
        kind: row.kind.as_str().to_owned(),
        status: row.state.status,
        created_at: row.created_at,
        changed_at: changes.changed.get(&row.state_seq).copied().unwrap_or(row.created_at),
        parent: row.parent.clone().unwrap_or_default(),
        branch: branch.cloned().unwrap_or_default(),
        merged_at: branch.and_then(|branch| changes.merged.get(branch)).copied(),
        came_from: String::new(),
        is_kept: row.state.pinned,
        is_sum: row.tags.iter().any(|tag| tag == SUM),
        in_tree: in_tree(row),
    }
}

fn in_tree(row: &MemoryRow) -> bool {
    KINDS.contains(&row.kind.as_str())
}

/// The branches that memories of the mainline came from, by the id of the memory.
fn came_from(rows: &[MemoryRow]) -> HashMap<&str, &str> {
    rows.iter()
        .filter_map(|row| Some((row.superseded_by.as_deref()?, row.scope.branch.as_deref()?)))
        .collect()
}

/// How long what is kept in sight.
fn policy(engine: &Engine) -> Policy {
    let settings = &engine.settings().config.project;
    let config = &settings.memory_retention;
    let (compaction, cleanup) = (&config.compaction, &config.branch_cleanup);
    let mut protected = config.protected_memory_types.clone();
    // The wire's word for it.
    if protected.iter().any(|word| word == "debug") {
        protected.push("incident".into());
    }
    Policy {
        candidate_days: config.candidate_expiry_days,
        stale_days: config.stale_archive_days,
        superseded_days: config.inactive_archive_days,
        protected,
        compacts: compaction.enabled,
        compact_least: compaction.min_related_memories as usize,
        compact_days: compaction.min_age_days,
        compact_by_parent: compaction.require_same_parent_scope,
        compact_by_kind: compaction.require_same_memory_type,
        branch_days: settings.memory.branch_memory_retention_days,
        merged_days: cleanup.enabled.then_some(cleanup.archive_merged_branch_memories_after_days),
        keeps_promoted: cleanup.preserve_promoted_mainline_knowledge,
    }
}
