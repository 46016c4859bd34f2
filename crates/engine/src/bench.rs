//! `bench`: what this machine does with this binary, on a made-up corpus that is the same everywhere.

pub mod corpus;
pub mod latency;
pub mod machine;
mod register;

use std::{path::Path, time::Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    principal::{Principal, PrincipalKind},
    scope::Scope,
};
use strata_store::{Control, Server};

use crate::{
    engine::Engine,
    error::Error,
    maintain::{
        import::{IMPORT, Plan, store},
        reindex::index_everything,
    },
    memory::{draft::Draft, remember::Request as Remember, write},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    recall::search::{Query, search},
    render::{Block, Document, Render, counted},
    settings::Settings,
};
use latency::{Latency, milliseconds};
use machine::Machine;
use register::{Register, erase_tenant};

/// See the module.
pub struct Bench;

/// Passages when the caller names no size.
const SIZES: [u64; 2] = [1_000, 10_000];
/// The largest size.
const MAX_SIZE: u64 = 2_000_000;
/// Memories written and timed per size.
const WRITES: usize = 200;
/// Questions asked per kind of recall.
const QUESTIONS: usize = 100;
/// Most memories stored beforehand.
const MAX_MEMORIES: u64 = 1_000_000;
/// Memories stored beforehand in one transaction.
const BATCH: usize = 500;
/// Events brought in at a time, so that memory stays flat.
const PORTION: usize = 20_000;

/// Which sizes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Numbers of passages to measure at, e.g. 1000, 10000, 100000, 1000000. Default: 1000 and 10000.
    #[serde(default)]
    pub sizes: Vec<u64>,
    /// Memories that are there, beside the passages, before storing one is timed, e.g. 50000. Default: none.
    pub memories: Option<u64>,
}

/// The figures.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Version of this binary.
    pub version: &'static str,
    /// What it was measured on.
    pub machine: Machine,
    /// BLAKE3 of the corpus, first 16 digits.
    pub data: String,
    /// One row per size.
    pub sizes: Vec<Figures>,
}

/// The figures at one size. Times are milliseconds.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// Episodes stored.
    pub passages: u64,
    /// Memories that were there before one was timed.
    pub memories: u64,
    /// Episodes stored and indexed per second.
    pub import_per_second: f64,
    /// The same per second of processor time, over all threads.
    pub import_per_cpu_second: Option<f64>,
    /// Bringing one page to this disk.
    pub fsync: Latency,
    /// Storing one memory, indexed.
    pub remember: Latency,
    /// Recall by 8 words alone.
    pub keyword_8: Latency,
    /// Recall by 24 words alone.
    pub keyword_24: Latency,
    /// Recall with the default settings, 8 words.
    pub default_8: Latency,
    /// Recall with the default settings, 24 words.
    pub default_24: Latency,
    /// Opening the home and the first recall.
    pub cold_recall: f64,
    /// Memory this process holds after the recalls, MiB; what it took to import is still among it.
    pub resident_mib: Option<f64>,
    /// Ledger and index on disk, MiB; absent on a server.
    pub disk_mib: Option<f64>,
}

impl Operation for Bench {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "bench",
        cli: &["bench"],
        positional: &["sizes"],
        title: "Measure speed",
        about: "Measures import, remember and recall at given sizes in a throwaway home, or as a throwaway tenant of the store \
                on a server, on a made-up corpus that is the same everywhere, and says on which machine. Nothing of \
                your own memory is touched.",
        effect: Effect::Read,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let sizes = if request.sizes.is_empty() { SIZES.to_vec() } else { request.sizes };
        if let Some(wrong) = sizes.iter().find(|n| **n == 0 || **n > MAX_SIZE) {
            return Err(Error::argument(
                "sizes",
                format!("{wrong} is out of range"),
                format!("send 1 to {MAX_SIZE}"),
            ));
        }
        let memories = request.memories.unwrap_or(0);
        if memories > MAX_MEMORIES {
            let allowed = format!("send 0 to {MAX_MEMORIES}");
            return Err(Error::argument("memories", format!("{memories} is out of range"), allowed));
        }
        let figures =
            sizes.iter().map(|size| measure(engine, call, *size, memories)).collect::<Result<_, _>>()?;
        Ok(Response {
            version: env!("CARGO_PKG_VERSION"),
            machine: machine::describe(),
            data: corpus::fingerprint(),
            sizes: figures,
        })
    }
}

fn measure(engine: &Engine, call: &Call<'_>, size: u64, memories: u64) -> Result<Figures, Error> {
    let home =
        tempfile::tempdir().map_err(|source| Error::File { path: "a temporary home".into(), source })?;
    let place = Place::beside(engine, call, home.path())?;
    let settings = place.settings.clone();
    let mut words_only = settings.clone();
    words_only.config.semantic.model = "off".into();
    let person = Principal::new(PrincipalKind::Human, "bench");
    let scope = Scope::project("bench");
    let call = &Call { principal: &person, scope: &scope, ..*call };
    let (imported, remember) = {
        let bench = Engine::new(settings.clone());
        let imported = import(&bench, call, size)?;
        let before = usize::try_from(memories).unwrap_or(usize::MAX);
        fill(&bench, call, before)?;
        (imported, remember(&bench, call, before)?)
    };
    let bench = Engine::new(settings);
    let started = Instant::now();
    ask(&bench, call, 0, 8)?;
    let cold_recall = milliseconds(started);
    let default_8 = recall(&bench, call, 8)?;
    let default_24 = recall(&bench, call, 24)?;
    let resident_mib = machine::resident_mib();
    drop(bench);
    let keyword = Engine::new(words_only);
    Ok(Figures {
        passages: size,
        memories,
        import_per_second: imported.per_second,
        import_per_cpu_second: imported.per_cpu_second,
        fsync: latency::of_disk(home.path())?,
        remember,
        keyword_8: recall(&keyword, call, 8)?,
        keyword_24: recall(&keyword, call, 24)?,
        default_8,
        default_24,
        cold_recall,
        resident_mib,
        disk_mib: place.server().is_none().then(|| disk_mib(home.path())),
    })
}

/// Where one size is measured: a throwaway home, and where the caller's memory lies on a server a tenant of its own
/// there, which goes with this.
struct Place {
    settings: Settings,
}

impl Place {
    fn beside(engine: &Engine, call: &Call<'_>, home: &Path) -> Result<Self, Error> {
        let own = engine.settings();
        let Some(server) = &own.store else {
            return Ok(Self { settings: Settings { home: home.to_owned(), ..own.clone() } });
        };
        let register = Register::open(engine, call, server, home)?;
        register.sweep(call)?;
        let mut number = [0; 8];
        engine.ids().fill(&mut number);
        let tenant = format!("bench-{:016x}", u64::from_be_bytes(number));
        register.add(call, &tenant)?;
        let store = Some(server.for_tenant(&tenant)?);
        Ok(Self { settings: Settings { home: home.to_owned(), store, ..own.clone() } })
    }

    const fn server(&self) -> Option<&Server> {
        self.settings.store.as_ref()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(server) = self.server() else { return };
        // The measurement's own failure is what is told; of this one only made-up rows remain, and the next
        // measurement removes them.
        if erase_tenant(&self.settings, &Control::default()).is_ok() {
            Register::of(&self.settings, server).and_then(|r| r.remove(server.tenant())).ok();
        }
    }
}

/// How fast events came in.
struct Imported {
    per_second: f64,
    per_cpu_second: Option<f64>,
}

fn import(engine: &Engine, call: &Call<'_>, size: u64) -> Result<Imported, Error> {
    let plan =
        Plan { source: "bench".into(), scope: call.scope.clone(), gateway: IMPORT.into(), dry_run: false };
    let mut episodes = corpus::episodes(usize::try_from(size).unwrap_or(usize::MAX));
    let (mut seconds, mut cpu) = (0.0, Some(0.0));
    loop {
        let portion: Vec<_> = episodes.by_ref().take(PORTION).collect();
        if portion.is_empty() {
            let rate = |seconds: f64| size as f64 / seconds;
            let per_cpu_second = cpu.filter(|cpu| *cpu > 0.0).map(rate);
            return Ok(Imported { per_second: rate(seconds), per_cpu_second });
        }
        let (started, before) = (Instant::now(), machine::process_cpu());
        store(engine, call, &portion, &plan)?;
        seconds += started.elapsed().as_secs_f64();
        cpu = cpu.zip(machine::process_cpu()).zip(before).map(|((sum, after), before)| sum + after - before);
    }
}

/// Puts memories where those that are timed will go, many to a transaction.
fn fill(engine: &Engine, call: &Call<'_>, count: usize) -> Result<(), Error> {
    let numbers: Vec<usize> = (0..count).collect();
    for batch in numbers.chunks(BATCH) {
        let drafts = batch.iter().map(|n| draft(engine, call, *n)).collect::<Result<Vec<_>, _>>()?;
        write::store_distinct(engine, call, &drafts)?;
    }
    index_everything(engine, call, &mut |_, _| Ok(())).map(drop)
}

fn remember(engine: &Engine, call: &Call<'_>, before: usize) -> Result<Latency, Error> {
    Latency::of(WRITES, |n| {
        let draft = draft(engine, call, before + n)?;
        write::store(engine, call, &draft).map(drop)
    })
}

fn draft(engine: &Engine, call: &Call<'_>, n: usize) -> Result<Draft, Error> {
    let request = Remember { text: corpus::memory(n), ..Remember::default() };
    Draft::from_request(engine, call, &request)
}

fn recall(engine: &Engine, call: &Call<'_>, words: usize) -> Result<Latency, Error> {
    Latency::of(QUESTIONS, |n| ask(engine, call, n, words))
}

fn ask(engine: &Engine, call: &Call<'_>, n: usize, words: usize) -> Result<(), Error> {
    search(engine, call, &Query::new(&corpus::question(n, words), call.scope, 10)).map(drop)
}

fn disk_mib(home: &Path) -> f64 {
    let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
    let bytes: u64 = entries.filter_map(|e| e.metadata().ok()).map(|m| m.len()).sum();
    bytes as f64 / f64::from(1 << 20)
}

impl Render for Response {
    fn render(&self) -> Document {
        let m = &self.machine;
        let head = format!(
            "Strata {} ({} build), {} x {}, {} MiB, {}; corpus {}",
            self.version,
            m.build,
            m.processors,
            m.processor.as_deref().unwrap_or("unknown processor"),
            m.memory_mib.map_or_else(|| "?".to_owned(), |n| n.to_string()),
            m.system,
            self.data,
        );
        let mut document = Document::new().text(head);
        for figures in &self.sizes {
            document = figures.render(document);
        }
        document.text("cpu is processor time per call, of the thread that calls.")
    }
}

impl Figures {
    fn render(&self, document: Document) -> Document {
        let mib = self.resident_mib.map_or_else(|| "-".to_owned(), |mib| format!("{mib:.0} MiB"));
        let per_cpu = self
            .import_per_cpu_second
            .map_or_else(String::new, |n| format!(" ({n:.0} per second of processor time)"));
        let disk = self.disk_mib.map_or_else(String::new, |mib| format!("; on disk {mib:.0} MiB"));
        let summary = format!(
            "import {:.0} passages a second{per_cpu}; opening and first recall {:.1} ms; resident {mib}{disk}",
            self.import_per_second, self.cold_recall,
        );
        let rows = [
            ("page to disk (fsync)", self.fsync),
            ("remember", self.remember),
            ("recall, words alone, 8", self.keyword_8),
            ("recall, words alone, 24", self.keyword_24),
            ("recall, default, 8 words", self.default_8),
            ("recall, default, 24 words", self.default_24),
        ];
        let columns = ["milliseconds", "median", "95th percentile", "cpu"];
        document
            .with(Block::Heading(format!(
                "{}, {}",
                counted(self.passages, "passage"),
                counted(self.memories, "memory")
            )))
            .with(Block::Table {
                columns: columns.map(str::to_owned).to_vec(),
                rows: rows.iter().map(|(what, latency)| row(what, latency)).collect(),
            })
            .text(summary)
    }
}

fn row(what: &str, latency: &Latency) -> Vec<String> {
    let cpu = latency.cpu.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.2}"));
    vec![what.to_owned(), format!("{:.2}", latency.median), format!("{:.2}", latency.p95), cpu]
}
