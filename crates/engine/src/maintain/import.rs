//! `import`: brings raw events in from a JSON Lines file.

use std::{collections::HashMap, num::NonZero, path::Path, thread};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    id::{Id, IdKind},
    memory::Layer,
    policy::Action,
    principal::{Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_store::{
    files,
    ledger::{EpisodeInsert, NewAudit, NewEpisode},
};

use super::reindex::{index_everything, look_at_tables};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::{Gate, add_families},
    import::episodes::{BadLine, EpisodeLine, parse},
    job::Job,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Block, Document, Mark, Render, counted},
};

/// See the module.
pub struct Import;

/// The gateway of files, and the audit action of what any gateway brings in.
pub const IMPORT: &str = "import";

/// Events of one transaction.
const BATCH: usize = 500;
/// Lines that are worth another thread at the gate.
const PER_THREAD: usize = 256;
/// The largest file that is read, in bytes: what a process can hold, several times over.
pub(super) const MAX_FILE: u64 = 4 << 30;
/// Bad lines listed in the reply.
const LISTED: usize = 20;

/// Which file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file: one JSON object a line, {id, session, at, speaker, role, text, metadata}; only text is needed.
    pub path: String,
    /// What to call the source; the file's name by default. Events are told apart by source, session and id.
    pub source: Option<String>,
    /// Only say what would be imported.
    pub dry_run: Option<bool>,
}

/// What was imported.
#[derive(Debug, Serialize, Default)]
pub struct Response {
    /// Events stored now.
    pub added: usize,
    /// Events that were stored before.
    pub known: usize,
    /// Lines that could not be taken.
    pub rejected: usize,
    /// The first of them, by line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
    /// Where they belong.
    pub scope: String,
    /// Whether this was only a look.
    pub dry_run: bool,
}

impl Operation for Import {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "import",
        cli: &["import"],
        positional: &["path"],
        title: "Import conversations",
        about: "Imports raw conversation turns (P2) from a JSON Lines file. Good lines are imported, bad ones are listed by \
                number. Running it again adds nothing twice. Secrets are blacked out on the way in.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let path = paths::reachable(engine, call, "path", &request.path)?;
        let text = read_text(&path)?;
        let (lines, bad) = parse(&text, &engine.settings().zone);
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let source = request.source.filter(|s| !s.trim().is_empty()).unwrap_or(name);
        let plan = Plan {
            source,
            scope: call.scope.whole_project(),
            gateway: IMPORT.into(),
            dry_run: request.dry_run.unwrap_or(false),
        };
        let lines: Vec<EpisodeLine> = lines.into_iter().map(|(_, line)| line).collect();
        let mut response = store(engine, call, &lines, &plan)?;
        response.rejected += bad.len();
        response.problems.extend(bad.iter().take(LISTED).map(problem));
        Ok(response)
    }
}

/// Reads a file as text; bytes that are not UTF-8 become replacement characters.
pub(super) fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = files::read_regular(path, MAX_FILE)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn problem(bad: &BadLine) -> String {
    format!("line {}: {}", bad.line, bad.reason)
}

/// Where and how events are stored.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What they come from.
    pub source: String,
    /// Where they belong.
    pub scope: Scope,
    /// The gateway that brings them in; its writer is `gateway:NAME`.
    pub gateway: String,
    /// Whether to store nothing.
    pub dry_run: bool,
}

/// Stores events in batches, on record, and indexes them.
pub fn store(
    engine: &Engine,
    call: &Call<'_>,
    lines: &[EpisodeLine],
    plan: &Plan,
) -> Result<Response, Error> {
    let gateway = gateway_of(call, plan);
    let as_gateway = Call { principal: &gateway, ..*call };
    let (episodes, mut response) = passed(engine, &as_gateway, lines, plan)?;
    (response.added, response.known) = if plan.dry_run {
        compare(engine, &as_gateway, &episodes)?
    } else {
        let job = Job::start(engine, call, IMPORT, episodes.len() as u64)?;
        let progress = |done, total, doing: &str| job.progress(done, total, doing);
        let outcome = write_batches(engine, &as_gateway, &episodes, &progress);
        job.finish(outcome, |(added, known)| format!("{added} added, {known} known"))?
    };
    Ok(response)
}

/// Stores one event as [`store`] does, but too short a work to be a job, and says which it is: the event
/// stored now, or the equal one that was there.
pub(crate) fn store_one(
    engine: &Engine,
    call: &Call<'_>,
    line: &EpisodeLine,
    plan: &Plan,
) -> Result<(EpisodeInsert, NewEpisode, Vec<&'static str>), Error> {
    let gateway = gateway_of(call, plan);
    let as_gateway = Call { principal: &gateway, ..*call };
    let (episodes, response) = passed(engine, &as_gateway, std::slice::from_ref(line), plan)?;
    let Some(episode) = episodes.into_iter().next() else {
        let why = response.problems.into_iter().next().unwrap_or_default();
        return Err(Error::argument("text", why, "send the event in plain text, in fields of moderate size"));
    };
    let inserted = write_batch(engine, &as_gateway, std::slice::from_ref(&episode))?;
    engine.index_what_was_stored(&as_gateway);
    let inserted = inserted.into_iter().next();
    let inserted = inserted.ok_or_else(|| Error::Internal("an event was neither stored nor known".into()))?;
    Ok((inserted, episode, response.redacted))
}

fn gateway_of(call: &Call<'_>, plan: &Plan) -> Principal {
    Principal::new(PrincipalKind::Gateway, &plan.gateway).on_behalf_of(call.principal)
}

/// Lets the lines through policy and gate; what does not pass is counted and named.
fn passed(
    engine: &Engine,
    as_gateway: &Call<'_>,
    lines: &[EpisodeLine],
    plan: &Plan,
) -> Result<(Vec<NewEpisode>, Response), Error> {
    authority::authorise(engine, as_gateway, Action::Remember, Layer::P2, "")?;
    let mut gate = Gate::default();
    let source = gate.field("source", Some(&plan.source))?.unwrap_or_default();
    let plan = &Plan { source, ..plan.clone() };
    let mut response = Response {
        redacted: gate.redacted,
        scope: plan.scope.to_string(),
        dry_run: plan.dry_run,
        ..Response::default()
    };
    let mut nameless = Vec::new();
    let mut episodes = Vec::with_capacity(lines.len());
    let through = pass_gate(engine, lines, plan, as_gateway.principal, &mut response.redacted);
    for (line, passed) in lines.iter().zip(through) {
        match passed {
            Ok(episode) => {
                if line.id.is_none() && line.at.is_none() {
                    nameless.push(episodes.len());
                }
                episodes.push(episode);
            }
            Err(error) => {
                response.rejected += 1;
                if response.problems.len() < LISTED {
                    response
                        .problems
                        .push(format!("event {}: {error}", line.id.as_deref().unwrap_or("without id")));
                }
            }
        }
    }
    name(engine, as_gateway, &mut episodes, &nameless)?;
    Ok((episodes, response))
}

/// What derived ids begin with.
pub(crate) const DERIVED: &str = "~";

/// Gives ids to those events that neither an id nor a time tells from others, so that a second import knows them: from
/// what they say, and the how-many-eth they are to say it.
fn name(
    engine: &Engine,
    call: &Call<'_>,
    episodes: &mut [NewEpisode],
    nameless: &[usize],
) -> Result<(), Error> {
    if nameless.is_empty() {
        return Ok(());
    }
    let said = |place: &usize| {
        let episode = &episodes[*place];
        let said = [&episode.session, &episode.speaker, &episode.role, &episode.text].map(String::as_str);
        serde_json::to_string(&said).map_err(|e| Error::Internal(e.to_string()))
    };
    let said = nameless.iter().map(said).collect::<Result<Vec<_>, _>>()?;
    // Keyed with the store's own key: the id must not let anybody test what a purged text said.
    let keys = engine.ledger(call)?.read(&engine.control(call), |r| {
        said.iter().map(|said| r.content_key(said)).collect::<Result<Vec<_>, _>>()
    })?;
    let mut times: HashMap<[u8; 32], u32> = HashMap::new();
    for (place, key) in nameless.iter().zip(keys) {
        let times = times.entry(key).and_modify(|n| *n += 1).or_insert(1);
        let digits = authority::hexadecimal(key.get(..8).unwrap_or_default());
        episodes[*place].external_id = Some(format!("{DERIVED}{digits}.{times}"));
    }
    Ok(())
}

/// Lets every line through the gate, on as many threads as the machine has cores, and adds the families of
/// secrets found, in order of first sight. What comes out does not depend on the number of threads.
fn pass_gate(
    engine: &Engine,
    lines: &[EpisodeLine],
    plan: &Plan,
    writer: &Principal,
    redacted: &mut Vec<&'static str>,
) -> Vec<Result<NewEpisode, Error>> {
    let now = engine.clock().now();
    let arrived = (0..).zip(lines).map(|(n, line)| Arrived {
        id: Id::from_bits(IdKind::Episode, engine.ids().bits()),
        salt: engine.ids().salt(),
        at: line.at.unwrap_or(Timestamp(now.0.saturating_add(n))),
        line,
    });
    let arrived: Vec<_> = arrived.collect();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = (arrived.len() / PER_THREAD).clamp(1, cores);
    let writer = writer.to_string();
    let pass = |chunk: &[Arrived<'_>]| {
        let mut gate = Gate::default();
        let passed: Vec<_> = chunk.iter().map(|one| one.pass(&mut gate, plan, &writer)).collect();
        (passed, gate.redacted)
    };
    let pass = &pass;
    let done: Vec<_> = thread::scope(|scope| {
        let chunks = arrived.chunks(arrived.len().div_ceil(threads).max(1));
        let workers: Vec<_> = chunks.map(|chunk| scope.spawn(move || pass(chunk))).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut all = Vec::with_capacity(lines.len());
    for (passed, families) in done {
        all.extend(passed);
        add_families(redacted, families);
    }
    all
}

/// A line with what was drawn for it on arrival.
struct Arrived<'l> {
    id: Id,
    salt: [u8; 16],
    at: Timestamp,
    line: &'l EpisodeLine,
}

impl Arrived<'_> {
    fn pass(&self, gate: &mut Gate, plan: &Plan, writer: &str) -> Result<NewEpisode, Error> {
        let line = self.line;
        let metadata = gate.map("metadata", &line.metadata)?;
        Ok(NewEpisode {
            id: self.id.clone(),
            external_id: gate.field("id", line.id.as_deref())?,
            session: gate.field("session", line.session.as_deref())?.unwrap_or_default(),
            at: self.at,
            speaker: gate.field("speaker", line.speaker.as_deref())?.unwrap_or_default(),
            role: gate.field("role", line.role.as_deref())?.unwrap_or_default(),
            text: gate.body("text", &line.text)?,
            metadata: serde_json::to_string(&metadata).unwrap_or_else(|_| "{}".into()),
            scope: plan.scope.clone(),
            source: plan.source.clone(),
            writer: writer.to_owned(),
            salt: self.salt,
        })
    }
}

/// How long work reports: done, in all, doing what.
type Report<'a> = dyn Fn(u64, u64, &str) -> Result<(), Error> + 'a;

/// How many events would be added and how many are known. Nothing is stored, no job either.
fn compare(engine: &Engine, call: &Call<'_>, episodes: &[NewEpisode]) -> Result<(usize, usize), Error> {
    if !engine.is_initialised()? {
        return Ok((episodes.len(), 0));
    }
    let mut unknown = 0;
    let ledger = engine.existing_ledger()?;
    for batch in episodes.chunks(BATCH) {
        let became =
            ledger.write(&engine.control(call), engine.clock().now(), |w| w.known_episodes(batch))?;
        unknown += became.iter().filter(|e| e.added).count();
    }
    Ok((unknown, episodes.len() - unknown))
}

fn write_batches(
    engine: &Engine,
    call: &Call<'_>,
    episodes: &[NewEpisode],
    report: &Report<'_>,
) -> Result<(usize, usize), Error> {
    let (mut added, mut seen) = (0, 0);
    for batch in episodes.chunks(BATCH) {
        added += write_batch(engine, call, batch)?.iter().filter(|e| e.added).count();
        seen += batch.len();
        report(seen as u64, episodes.len() as u64, "storing")?;
    }
    index_everything(engine, call, &mut |done, total| report(done, total, "indexing"))?;
    look_at_tables(engine, call, added);
    Ok((added, episodes.len() - added))
}

/// Stores what is not known yet of a batch, on record, and says what became of each event.
fn write_batch(engine: &Engine, call: &Call<'_>, batch: &[NewEpisode]) -> Result<Vec<EpisodeInsert>, Error> {
    let target = format!("episodes:{}", batch.len());
    let row =
        NewAudit { layer: Some(Layer::P2), ..NewAudit::new(call.principal, call.face, IMPORT, &target) };
    Ok(engine
        .ledger(call)?
        .write(&engine.control(call), engine.clock().now(), |w| w.store_episodes(batch, &row))?)
}

impl Render for Response {
    fn render(&self) -> Document {
        let would = if self.dry_run { "would import" } else { "imported" };
        let text = format!(
            "{would} {} into {} ({} known already, {} rejected)",
            counted(self.added, "episode"),
            self.scope,
            self.known,
            self.rejected
        );
        let mark = if self.rejected == 0 { Mark::Good } else { Mark::Warning };
        let mut document = Document::new().note(mark, text);
        if !self.problems.is_empty() {
            let rows = self.problems.iter().map(|p| vec![p.clone()]).collect();
            document = document.with(Block::Table { columns: vec!["problem".into()], rows });
        }
        if !self.redacted.is_empty() {
            document = document
                .note(Mark::Warning, format!("secrets were blacked out: {}", self.redacted.join(", ")));
        }
        document
    }
}
