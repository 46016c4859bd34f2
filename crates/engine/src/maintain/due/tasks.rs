//! The tasks. A new one is a line in [`TASKS`] and a function.

use strata_core::{
    memory::Status,
    policy::Action,
    time::{DAY, HOUR, Timestamp},
};
use strata_store::ledger::{NewAudit, State};

use crate::{
    authority, consolidate,
    contradictions::{
        file::{Filing, file},
        scan::{Scanned, scan_everywhere},
    },
    drift::{self, DriftReport},
    engine::Engine,
    error::Error,
    job,
    knowledge::{access, l0, vault},
    maintain::{old_indexes, reembed, reindex::index_everything},
    operation::{Call, Operation},
    project::reflection::retention,
    render::counted,
    wiki,
};

/// How long what was forgotten can be restored from the trash, and how long jobs are kept.
const KEPT: i64 = 30 * DAY;
/// Memories archived in one transaction.
const BATCH: usize = 100;

/// A task of upkeep.
pub struct Task {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Microseconds from one time to the next.
    pub every: i64,
    /// Whether it is one of the caller's project, and so due for each by itself.
    pub of_project: bool,
    /// Whether there is anything for it in a home.
    pub applies: fn(&Engine) -> bool,
    /// Does it, as the system, and says what came of it. It must bear to be done again at once.
    pub run: fn(&Engine, &Call<'_>) -> Result<String, Error>,
}

/// Every task, in the order in which they are done: a digest is to stand in the report and in the wiki of the same
/// night, and to be held against what was known.
pub const TASKS: &[Task] = &[
    Task {
        name: "consolidate",
        about: "distil sessions",
        every: 20 * HOUR,
        of_project: false,
        applies: always,
        run: distil,
    },
    Task {
        name: "contradictions",
        about: "file new contradictions for review",
        every: 20 * HOUR,
        of_project: false,
        applies: always,
        run: find_contradictions,
    },
    Task {
        name: "wiki",
        about: "compile the wiki",
        every: 20 * HOUR,
        of_project: false,
        applies: wiki::exists,
        run: compile_wiki,
    },
    Task {
        name: "drift",
        about: "report drift",
        every: 6 * DAY + 20 * HOUR,
        of_project: false,
        applies: always,
        run: report_drift,
    },
    Task {
        name: "trash",
        about: "archive old trash",
        every: 20 * HOUR,
        of_project: false,
        applies: always,
        run: archive_trash,
    },
    Task {
        name: "index",
        about: "complete and tidy the index",
        every: 20 * HOUR,
        of_project: false,
        applies: always,
        run: tidy_index,
    },
    Task {
        name: "jobs",
        about: "end dead jobs, remove old ones",
        every: 20 * HOUR,
        of_project: false,
        applies: always,
        run: clear_jobs,
    },
    Task {
        name: "l0",
        about: "bring the index of knowledge up to date",
        every: 20 * HOUR,
        of_project: false,
        applies: always,
        run: sync_index,
    },
    Task {
        name: "accesses",
        about: "remove old entries of the access log",
        every: 20 * HOUR,
        of_project: false,
        applies: always,
        run: prune_accesses,
    },
    Task {
        name: "vault",
        about: "keep what was edited by hand, thin out old versions, remove what dead writers left",
        every: 20 * HOUR,
        of_project: false,
        applies: always,
        run: tend_vault,
    },
    Task {
        name: "branches",
        about: "archive what is due of branches that were merged or left",
        every: 20 * HOUR,
        of_project: true,
        applies: has_branches,
        run: tend_branches,
    },
];

/// Whether the settings have anything archived because of its branch.
fn has_branches(engine: &Engine) -> bool {
    let settings = &engine.settings().config.project;
    let retention = &settings.memory_retention;
    retention.enabled
        && (retention.branch_cleanup.enabled || settings.memory.branch_memory_retention_days.is_some())
}

const fn always(_: &Engine) -> bool {
    true
}

fn distil(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let done = consolidate::as_configured(engine, call, &consolidate::Request::default())?;
    Ok(format!(
        "{} of {}, {} waiting for more",
        counted(done.digests, "digest"),
        counted(done.episodes_covered, "episode"),
        counted(done.skipped, "group")
    ))
}

fn find_contradictions(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let Scanned { mut findings, memories, .. } = scan_everywhere(engine, call)?;
    let Filing { filed, known, left_out, dismissed } = file(engine, call, &mut findings)?;
    Ok(format!(
        "{filed} filed, {known} known, {left_out} left out, {dismissed} dismissed, among {}",
        counted(memories, "memory")
    ))
}

fn compile_wiki(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let done = wiki::compile_own(engine, call)?;
    Ok(format!("{} written, {} unchanged, {} removed", done.rewritten, done.unchanged, done.removed))
}

fn report_drift(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let report = DriftReport::run(engine, call, drift::Request::default())?;
    if report.unreadable.is_empty() {
        return Ok(format!("{}, {}", report.status, counted(report.alerts.len(), "alert")));
    }
    Err(Error::Conflict {
        message: report.unreadable.join("; "),
        hint: "`drift_report` shows it again".to_owned(),
    })
}

/// What was forgotten long ago leaves the trash. It stays readable in its history and can still be restored.
fn archive_trash(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let before = Timestamp(engine.clock().now().0.saturating_sub(KEPT));
    let ledger = engine.existing_ledger()?;
    let control = engine.control(call);
    let mut archived = 0;
    loop {
        let old = ledger.read(&control, |r| r.trashed_before(before, BATCH))?;
        if old.is_empty() {
            break;
        }
        for memory in &old {
            authority::authorise(engine, call, Action::Forget, memory.state.layer, &memory.id)?;
        }
        ledger.write(&control, engine.clock().now(), |w| {
            for memory in &old {
                let state = State { status: Status::Archived, ..memory.state };
                let seq = w.record(&NewAudit {
                    layer: Some(memory.state.layer),
                    reason: "in the trash for 30 days",
                    before_hash: Some(memory.content_hash),
                    after_hash: Some(state.hash(&memory.content_hash)),
                    ..NewAudit::new(call.principal, call.face, "archive", &memory.id)
                })?;
                w.change_state(memory.number, Some(memory.state_seq), &state, seq)?;
            }
            Ok(())
        })?;
        archived += old.len();
        if call.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
    Ok(format!("{} archived", counted(archived, "memory")))
}

fn tidy_index(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let behind = index_everything(engine, call, &mut |_, _| {
        if call.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    })?;
    let (embedded, _) = if behind == 0 { reembed::complete(engine, call, &mut |_| Ok(()))? } else { (0, 0) };
    let removed = old_indexes::remove(engine, call)?;
    let mut said = match behind {
        0 if embedded > 0 => format!("complete; {} embedded", counted(embedded, "passage")),
        0 => "complete".to_owned(),
        n => format!("{} behind; another process is indexing them", counted(n, "change")),
    };
    if removed > 0 {
        said.push_str(&format!("; {removed} of other versions removed"));
    }
    Ok(said)
}

fn clear_jobs(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let now = engine.clock().now();
    let before = Timestamp(now.0.saturating_sub(KEPT));
    let (ledger, control) = (engine.existing_ledger()?, engine.control(call));
    let gone = ledger.read(&control, job::gone)?;
    let (ended, removed) = ledger
        .write(&control, now, |w| Ok((w.expire_jobs()? + w.end_jobs_of(&gone)?, w.forget_jobs(before)?)))?;
    Ok(format!("{} ended, {removed} removed", counted(ended, "dead job")))
}

fn sync_index(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    Ok(format!("{} written", counted(l0::sync_everything(engine, call)?, "index file")))
}

fn prune_accesses(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    Ok(format!("{} removed", counted(access::prune::prune(engine, call)?, "entry")))
}

fn tend_vault(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let seen = vault::look_everywhere(engine, call)?;
    let files = seen.iter().flat_map(|(_, seen)| &seen.files).filter(|file| file.is_present()).count();
    let problems: usize = seen.iter().map(|(_, seen)| seen.problems.len()).sum();
    let thinned = vault::thin(engine, call)?;
    let mut said =
        format!("{}, {}, {thinned} thinned out", counted(files, "file"), counted(problems, "problem"));
    match vault::clear_abandoned(engine)? {
        0 => {}
        left => said.push_str(&format!("; {left} unfinished removed")),
    }
    Ok(said)
}

fn tend_branches(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    Ok(format!("{} archived", counted(retention::run::tidy_branches(engine, call)?, "memory")))
}
