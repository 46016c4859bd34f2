//! `reindex`: makes the search index anew from the ledger and the indexed files.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::{
    error::StoreError,
    index::{Index, IndexWriter, Opened},
    ledger::Ledger,
};

use super::{left_to_owner, reembed};
use crate::{
    engine::Engine,
    error::Error,
    job::Job,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct Reindex;

/// How long one slice of indexing may take before progress is reported.
const SLICE: Duration = Duration::from_millis(1_500);
/// How long to wait for another process that is indexing, per attempt and in attempts.
const WAIT: (Duration, u32) = (Duration::from_millis(50), 100);

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {}

/// What was made.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The index's file.
    pub path: String,
    /// Memories, raw events and indexed files that the ledger knows.
    pub items: u64,
    /// Changes still missing; another process follows them.
    pub behind: u64,
    /// Where the damaged file lies that was there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<String>,
    /// Semantic search: `on`, or `off: reason`.
    pub semantic: String,
    /// The job, as `jobs list` shows it.
    pub job: String,
    /// What would give the space of the old index back to the server's disk: statements for its owner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_to_owner: Vec<String>,
}

impl Operation for Reindex {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "reindex",
        cli: &["reindex"],
        positional: &[],
        title: "Rebuild the index",
        about: "Drops the search index and makes it anew from the ledger and the indexed files. Nothing is lost: the index \
                holds no truth. Use it when `doctor` says that the index is damaged, or to free its space. Searches work \
                meanwhile and find what is indexed so far.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        engine.existing_ledger()?;
        let job = Job::start(engine, call, "reindex", 0)?;
        let id = job.id().to_owned();
        let outcome = rebuild(engine, call, &job);
        let Rebuilt { items, behind, set_aside, left_to_owner } =
            job.finish(outcome, |rebuilt| counted(rebuilt.items, "item"))?;
        Ok(Response {
            path: engine.searcher().index().path().display().to_string(),
            items,
            behind,
            set_aside,
            semantic: engine.searcher().semantic().to_string(),
            job: id,
            left_to_owner,
        })
    }
}

struct Rebuilt {
    items: u64,
    behind: u64,
    set_aside: Option<String>,
    left_to_owner: Vec<String>,
}

fn rebuild(engine: &Engine, call: &Call<'_>, job: &Job<'_>) -> Result<Rebuilt, Error> {
    let totals = engine.existing_ledger()?.read(&engine.control(call), |r| r.totals())?;
    let items = u64::try_from(totals.memories + totals.episodes + totals.sources).unwrap_or(0);
    let set_aside = drop_index(engine, call)?;
    let behind = index_everything(engine, call, &mut |done, total| job.progress(done, total, "indexing"))?;
    let mut left_to_owner = Vec::new();
    if behind == 0 && engine.searcher().index().database().exists(&engine.control(call))? {
        // A model that is new here takes over from the one whose vectors were dropped.
        match reembed::complete(engine, call, &mut |_| Ok(())) {
            // The index is whole without it, and the response says why there is no search by meaning.
            Err(Error::Embedding(_)) => {}
            outcome => drop(outcome?),
        }
        // The rows that the rebuild replaced are gone; now their space goes, too.
        left_to_owner = engine.searcher().index().database().compact(&engine.control(call))?;
    }
    Ok(Rebuilt { items, behind, set_aside, left_to_owner })
}

/// Makes the index anew without a job of its own: part of a repair.
pub(super) fn rebuild_quietly(engine: &Engine, call: &Call<'_>) -> Result<u64, Error> {
    drop_index(engine, call)?;
    index_everything(engine, call, &mut |_, _| Ok(()))
}

/// Makes the index empty; a file that cannot be used is set aside.
fn drop_index(engine: &Engine, call: &Call<'_>) -> Result<Option<String>, Error> {
    let index = engine.searcher().index();
    let control = engine.control(call);
    if let Opened::SetAside(path) = index.open(&control)? {
        return Ok(Some(path.display().to_string()));
    }
    let epoch = engine.existing_ledger()?.read(&control, |r| r.epoch())?;
    let reset = with_writer(engine, call, index, |writer| writer.reset(engine.tenant(), &epoch));
    match reset {
        Err(Error::Store(StoreError::Corrupt { .. } | StoreError::Foreign { .. })) => {
            match index.set_aside()? {
                Opened::SetAside(path) => Ok(Some(path.display().to_string())),
                Opened::Ready => Ok(None),
            }
        }
        outcome => outcome.map(|()| None),
    }
}

/// Works on the index as soon as no other process does.
///
/// # Errors
/// `Busy` when another process goes on indexing for five seconds.
pub(super) fn with_writer<T>(
    engine: &Engine,
    call: &Call<'_>,
    index: &Index,
    work: impl FnOnce(&mut IndexWriter<'_>) -> Result<T, StoreError>,
) -> Result<T, Error> {
    let control = engine.control(call);
    for _ in 0..WAIT.1 {
        control.check()?;
        if let Some(mut writer) = index.writer(&control)? {
            return Ok(work(&mut writer)?);
        }
        std::thread::sleep(WAIT.0);
    }
    Err(StoreError::Busy { waited: WAIT.0 * WAIT.1 }.into())
}

/// Indexes until nothing is left or another process does it, and returns how many
/// changes are missing. `progress` hears (done, total).
pub(crate) fn index_everything(
    engine: &Engine,
    call: &Call<'_>,
    progress: &mut dyn FnMut(u64, u64) -> Result<(), Error>,
) -> Result<u64, Error> {
    let mut before = u64::MAX;
    let mut total = 0;
    loop {
        let behind = engine.follow_truth_for(call, SLICE)?.behind;
        total = total.max(behind);
        if behind == 0 {
            tidy(engine, call, &mut || progress(total, total))?;
        }
        if behind == 0 || behind >= before {
            return Ok(behind);
        }
        before = behind;
        progress(total - behind, total)?;
    }
}

/// So many new rows that a server's idea of its tables is out of date.
const MANY: usize = 1_000;

/// Behind `rows` new ones: lets a server look at its tables, if they are many. A help and no part of the work: where it
/// cannot be done now, the server does it by itself later.
pub(super) fn look_at_tables(engine: &Engine, call: &Call<'_>, rows: usize) {
    if rows < MANY {
        return;
    }
    let control = engine.control(call);
    for database in engine.existing_ledger().into_iter().map(Ledger::database) {
        drop(database.analyze(&control));
    }
    drop(engine.searcher().index().database().analyze(&control));
}

/// Merges and removes all that is due, so that the small writes that follow need not. Nothing is wrong where it
/// cannot be done: somebody else works on the index, or it may not be written.
fn tidy(
    engine: &Engine,
    call: &Call<'_>,
    progress: &mut dyn FnMut() -> Result<(), Error>,
) -> Result<(), Error> {
    let index = engine.searcher().index();
    if !index.database().exists(&engine.control(call))? {
        return Ok(());
    }
    let Ok(Some(writer)) = index.writer(&engine.control(call)) else { return Ok(()) };
    while writer.tidy(engine.tenant(), SLICE)? {
        progress()?;
    }
    Ok(())
}

/// Makes those parts of the index anew of which most is dead. Nothing is wrong where it cannot be done: it is done later.
///
/// # Errors
/// `Cancelled`, and those of reading and writing the index.
pub(crate) fn renew(engine: &Engine, call: &Call<'_>) -> Result<(), Error> {
    let (index, control) = (engine.searcher().index(), engine.control(call));
    if !index.database().exists(&control)? {
        return Ok(());
    }
    let Ok(Some(writer)) = index.writer(&control) else { return Ok(()) };
    if writer.renew(engine.tenant())? > 0 {
        while writer.tidy(engine.tenant(), SLICE)? {
            control.check()?;
        }
    }
    Ok(())
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut document = Document::new().note(
            Mark::Good,
            format!(
                "rebuilt {} from {}; semantic search: {}",
                self.path,
                counted(self.items, "item"),
                self.semantic
            ),
        );
        if self.behind > 0 {
            document = document.note(
                Mark::Info,
                format!("{} left; another process is indexing them", counted(self.behind, "change")),
            );
        }
        if let Some(aside) = &self.set_aside {
            document = document.note(
                Mark::Warning,
                format!("the old index was damaged and lies at {aside}; `strata doctor --fix` removes it"),
            );
        }
        let why = "the space of the old index stays with the server's files and is used for what comes";
        left_to_owner::told(document, why, &self.left_to_owner)
    }
}
