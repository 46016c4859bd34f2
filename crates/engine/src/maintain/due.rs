//! `maintain`: does the upkeep that is due, each task by one process at a time.

mod tasks;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    principal::{Principal, PrincipalKind},
    time::{HOUR, Timestamp},
};
use strata_store::{
    error::StoreError,
    ledger::{JobRow, JobState, LedgerRead, STOPPED},
    sql::Access,
};

use crate::{
    engine::Engine,
    error::Error,
    job::{self, Job},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};
pub use tasks::{TASKS, Task};

/// See the module.
pub struct Maintain;

/// How long a task that failed rests before it is due again.
const REST: i64 = HOUR;

/// Which tasks, and how.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only this task: consolidate, contradictions, wiki, drift, trash, index, jobs, l0,
    /// accesses, vault or branches.
    pub task: Option<String>,
    /// Also do what is not due yet.
    pub force: Option<bool>,
    /// Only say what is due.
    pub dry_run: Option<bool>,
}

/// What was done.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Every task that applies to this home.
    pub tasks: Vec<Outcome>,
    /// How many failed.
    pub failed: usize,
    /// Whether this was only a look.
    pub dry_run: bool,
}

/// What became of one task.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Its name.
    pub task: &'static str,
    /// `done` or `failed` now; `due` in a look; `waiting` until it is due; `busy` while another process does it.
    pub status: &'static str,
    /// What came of it, now or the last time.
    pub detail: String,
    /// Hours from one time to the next.
    pub every_hours: i64,
    /// When it was last done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_done: Option<String>,
}

impl Operation for Maintain {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "maintain",
        cli: &["maintain"],
        positional: &[],
        title: "Do the upkeep that is due",
        about: "Does the upkeep that is due: distils sessions and files contradictions for review every night, reports drift every week, archives what has lain in \
                the trash for 30 days, compiles the wiki where there is one, tidies the index, removes old jobs and old entries of the access log, archives what the settings have due of a project's branches. Run it \
                from a schedule, as often as you like: each task is done once when it is due, by one process. A task that \
                fails does not stop the others; the command then ends with 1. A server that has been idle for ten minutes \
                does the same, unless `[maintain] idle = false` in config.toml.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let chosen = chosen(request.task.as_deref())?;
        let dry_run = request.dry_run.unwrap_or(false);
        let mut response = Response { dry_run, ..Response::default() };
        if !engine.is_initialised()? {
            engine.is_empty_place(call)?;
            return Ok(response);
        }
        let system = Principal::new(PrincipalKind::System, "maintain").on_behalf_of(call.principal);
        let as_system = Call { principal: &system, ..*call };
        let has_place = |task: &&Task| !task.of_project || call.scope.project.is_some();
        for task in chosen.into_iter().filter(|task| (task.applies)(engine)).filter(has_place) {
            let outcome = attend(engine, &as_system, task, request.force.unwrap_or(false), dry_run)?;
            response.failed += usize::from(outcome.status == FAILED);
            response.tasks.push(outcome);
        }
        Ok(response)
    }
}

const FAILED: &str = "failed";

/// The upkeep that an idle server does. Nothing when the home is not there or cannot be written.
pub fn when_idle(engine: &Engine, call: &Call<'_>) -> Result<Response, Error> {
    let writable = engine.is_initialised()?
        && matches!(engine.existing_ledger()?.access(&engine.control(call))?, Access::ReadWrite);
    if !writable {
        return Ok(Response::default());
    }
    job::clear(engine, &engine.control(call))?;
    Maintain::run(engine, call, Request::default())
}

/// The tasks that have not been done for twice as long as they should.
pub fn overdue(engine: &Engine, r: &LedgerRead<'_>) -> Result<Vec<&'static str>, StoreError> {
    let now = engine.clock().now();
    let born = r.created_at()?;
    let mut names = Vec::new();
    for task in TASKS.iter().filter(|task| (task.applies)(engine) && !task.of_project) {
        let last =
            r.last_done(&format!("maintain:{}", task.name))?.and_then(|job| job.finished_at).unwrap_or(born);
        if now.0.saturating_sub(last.0) > 2 * task.every {
            names.push(task.name);
        }
    }
    Ok(names)
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Task>, Error> {
    let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
        return Ok(TASKS.iter().collect());
    };
    let names = || TASKS.iter().map(|task| task.name).collect::<Vec<_>>().join(", ");
    match TASKS.iter().find(|task| task.name == name) {
        Some(task) => Ok(vec![task]),
        None => Err(Error::argument(
            "task",
            format!("there is no task `{name}`"),
            format!("use one of {}", names()),
        )),
    }
}

/// The kind of a task's jobs; where it is one of a project, of the caller's.
fn kind(task: &Task, call: &Call<'_>) -> String {
    match call.scope.project.as_deref().filter(|_| task.of_project) {
        Some(project) => {
            format!("maintain:{}:{}", task.name, &blake3::hash(project.as_bytes()).to_hex()[..16])
        }
        None => format!("maintain:{}", task.name),
    }
}

/// What is on record of a task.
struct Record {
    last_done: Option<Timestamp>,
    last_result: String,
    is_due: bool,
}

fn record(engine: &Engine, call: &Call<'_>, task: &Task) -> Result<Record, Error> {
    let kind = kind(task, call);
    let now = engine.clock().now().0;
    let (done, last) = engine.existing_ledger()?.read(&engine.control(call), |r| {
        Ok((r.last_done(&kind)?, r.jobs(Some(&kind), 1)?.into_iter().next()))
    })?;
    let last_done = done.and_then(|job| job.finished_at);
    // One that was cut off has not failed: whoever comes next takes it up.
    let has_failed = |job: &&JobRow| job.state == JobState::Failed && job.result.as_deref() != Some(STOPPED);
    let failed = last.as_ref().filter(has_failed).and_then(|job| job.finished_at);
    let rests = failed.is_some_and(|at| now.saturating_sub(at.0) < REST);
    Ok(Record {
        is_due: !rests && last_done.is_none_or(|at| now.saturating_sub(at.0) >= task.every),
        last_done,
        last_result: last.and_then(|job| job.result).unwrap_or_default(),
    })
}

/// Does one task if it is its time. Only a withdrawn call is an error; a failure is an outcome.
fn attend(
    engine: &Engine,
    call: &Call<'_>,
    task: &'static Task,
    force: bool,
    dry_run: bool,
) -> Result<Outcome, Error> {
    let known = record(engine, call, task)?;
    let outcome = |status, detail, last_done: Option<Timestamp>| Outcome {
        task: task.name,
        status,
        detail,
        every_hours: task.every / HOUR,
        last_done: last_done.map(Timestamp::to_rfc3339),
    };
    if !known.is_due && !force {
        return Ok(outcome("waiting", known.last_result, known.last_done));
    }
    if dry_run {
        return Ok(outcome("due", task.about.to_owned(), known.last_done));
    }
    let Some(job) = Job::start_alone(engine, call, &kind(task, call))? else {
        return Ok(outcome("busy", "another process is at it".to_owned(), known.last_done));
    };
    let result = (task.run)(engine, call);
    match job.finish(result, Clone::clone) {
        Ok(detail) => Ok(outcome("done", detail, Some(engine.clock().now()))),
        Err(error) if call.cancel.is_cancelled() => Err(error),
        Err(error) => Ok(outcome(FAILED, format!("{error}; {}", error.hint()), known.last_done)),
    }
}

impl Render for Response {
    fn is_alarming(&self) -> bool {
        self.failed > 0
    }

    fn render(&self) -> Document {
        let columns = ["task", "status", "what came of it", "last done", "every"].map(str::to_owned).to_vec();
        let row = |o: &Outcome| {
            vec![
                o.task.to_owned(),
                o.status.to_owned(),
                o.detail.clone(),
                o.last_done.clone().unwrap_or_else(|| "never".into()),
                format!("{} h", o.every_hours),
            ]
        };
        let count = |status: &str| self.tasks.iter().filter(|o| o.status == status).count();
        let document =
            Document::new().with(Block::Table { columns, rows: self.tasks.iter().map(row).collect() });
        match (self.failed, self.dry_run) {
            (0, true) => document.note(Mark::Info, format!("tasks that are due: {}", count("due"))),
            (0, false) => document.note(Mark::Good, format!("tasks done: {}", count("done"))),
            (failed, _) => document.note(Mark::Bad, format!("tasks that failed: {failed}")),
        }
    }
}
