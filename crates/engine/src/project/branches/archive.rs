//! Memories of a branch that was given up: taken out of every search, to be restored.

use std::collections::HashSet;

use strata_core::{memory::Status, policy::Action};
use strata_store::ledger::{MemoryRow, NewAudit, State};

use super::{
    fold::{of_branch, system},
    follows_branches,
};
use crate::{authority, engine::Engine, error::Error, operation::Call};

/// The word on record of a memory whose branch was given up.
pub(super) const ABANDONED: &str = "branch_abandon";

/// Takes the memories of a branch out of every search. They can be restored.
pub(super) fn archive_all(
    engine: &Engine,
    call: &Call<'_>,
    (project, branch): (&str, &str),
    why: &str,
) -> Result<Vec<String>, Error> {
    let rows = ending_with(engine, call, project, branch)?;
    archive(engine, call, branch, &rows, why)?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// The same where the repository shows it. What was restored since stays until somebody says otherwise.
pub(super) fn given_up(
    engine: &Engine,
    call: &Call<'_>,
    (project, branch): (&str, &str),
    why: &str,
) -> Result<(), Error> {
    let rows = not_restored(engine, call, ending_with(engine, call, project, branch)?)?;
    archive(engine, call, branch, &rows, why)
}

/// The memories that end with a branch. Rules do not, even where one stands on it from before they left theirs.
fn ending_with(
    engine: &Engine,
    call: &Call<'_>,
    project: &str,
    branch: &str,
) -> Result<Vec<MemoryRow>, Error> {
    let mut rows = of_branch(engine, call, project, branch)?;
    rows.retain(|row| follows_branches(row.state.layer));
    Ok(rows)
}

/// Those that were not archived before: somebody brought these back.
fn not_restored(engine: &Engine, call: &Call<'_>, mut rows: Vec<MemoryRow>) -> Result<Vec<MemoryRow>, Error> {
    let mut restored = HashSet::new();
    engine.read(call, |r| {
        for row in &rows {
            if r.states(row.number)?.iter().any(|then| then.state.status == Status::Archived) {
                restored.insert(row.number);
            }
        }
        Ok(())
    })?;
    rows.retain(|row| !restored.contains(&row.number));
    Ok(rows)
}

fn archive(
    engine: &Engine,
    call: &Call<'_>,
    branch: &str,
    rows: &[MemoryRow],
    why: &str,
) -> Result<(), Error> {
    let actor = system(call);
    let as_system = Call { principal: &actor, ..*call };
    let why = format!("branch `{branch}` was given up: {why}");
    for row in rows {
        authority::authorise_as(engine, &as_system, Action::Update, ABANDONED, row.state.layer, &row.id)?;
    }
    engine.existing_ledger()?.write(&engine.control(call), engine.clock().now(), |w| {
        for row in rows {
            let state = State { status: Status::Archived, ..row.state };
            let audit = NewAudit {
                layer: Some(row.state.layer),
                reason: &why,
                before_hash: Some(row.content_hash),
                after_hash: Some(state.hash(&row.content_hash)),
                ..NewAudit::new(&actor, call.face, ABANDONED, &row.id)
            };
            let seq = w.record(&audit)?;
            w.change_state(row.number, Some(row.state_seq), &state, seq)?;
        }
        Ok(())
    })?;
    engine.index_what_was_stored(call);
    Ok(())
}

/// Whether the configuration leaves the memories of a deleted branch where they are.
pub(super) fn keeps_abandoned(engine: &Engine) -> bool {
    let cleanup = &engine.settings().config.project.memory_retention.branch_cleanup;
    !(cleanup.enabled && cleanup.archive_deleted_branch_memories)
}
