//! `bench`: what this machine does with this binary, on a made-up corpus that is the same everywhere.

pub mod corpus;
pub mod machine;

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    principal::{Principal, PrincipalKind},
    scope::Scope,
};

use crate::{
    engine::Engine,
    error::Error,
    maintain::import::{Plan, store},
    memory::{draft::Draft, remember::Request as Remember, write},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    recall::search::{Query, search},
    render::{Block, Document, Render},
    settings::Settings,
};
use machine::Machine;

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
/// Calls that are not counted, first.
const WARM_UP: usize = 5;
/// Events brought in at a time, so that memory stays flat.
const PORTION: usize = 20_000;

/// Which sizes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Numbers of passages to measure at, e.g. 1000, 10000, 100000, 1000000. Default: 1000 and 10000.
    #[serde(default)]
    pub sizes: Vec<u64>,
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

/// The figures at one size. Times are milliseconds: median and 95th percentile.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// Episodes stored.
    pub passages: u64,
    /// Episodes stored and indexed per second.
    pub import_per_second: f64,
    /// Storing one memory, indexed.
    pub remember: [f64; 2],
    /// Recall by 8 words alone.
    pub keyword_8: [f64; 2],
    /// Recall by 24 words alone.
    pub keyword_24: [f64; 2],
    /// Recall with the default settings, 8 words.
    pub default_8: [f64; 2],
    /// Recall with the default settings, 24 words.
    pub default_24: [f64; 2],
    /// Opening the home and the first recall.
    pub cold_recall: f64,
    /// Memory this process holds after the recalls, MiB.
    pub resident_mib: Option<f64>,
    /// Ledger and index on disk, MiB.
    pub disk_mib: f64,
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
        about: "Measures import, remember and recall at given sizes in a throwaway home, on a made-up corpus that is the same \
                everywhere, and says on which machine. Nothing of your own memory is touched.",
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
        let figures = sizes.iter().map(|size| measure(engine, call, *size)).collect::<Result<_, _>>()?;
        Ok(Response {
            version: env!("CARGO_PKG_VERSION"),
            machine: machine::describe(),
            data: corpus::fingerprint(),
            sizes: figures,
        })
    }
}

fn measure(engine: &Engine, call: &Call<'_>, size: u64) -> Result<Figures, Error> {
    let home =
        tempfile::tempdir().map_err(|source| Error::File { path: "a temporary home".into(), source })?;
    let settings = Settings { home: home.path().to_owned(), ..engine.settings().clone() };
    let mut words_only = settings.clone();
    words_only.config.semantic.model = "off".into();
    let person = Principal::new(PrincipalKind::Human, "bench");
    let scope = Scope::project("bench");
    let call = &Call { principal: &person, scope: &scope, ..*call };
    let (import_per_second, remember) = {
        let bench = Engine::new(settings.clone());
        (import(&bench, call, size)?, remember(&bench, call)?)
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
        import_per_second,
        remember,
        keyword_8: recall(&keyword, call, 8)?,
        keyword_24: recall(&keyword, call, 24)?,
        default_8,
        default_24,
        cold_recall,
        resident_mib,
        disk_mib: disk_mib(home.path()),
    })
}

fn import(engine: &Engine, call: &Call<'_>, size: u64) -> Result<f64, Error> {
    let plan = Plan { source: "bench".into(), scope: call.scope.clone(), dry_run: false };
    let mut episodes = corpus::episodes(usize::try_from(size).unwrap_or(usize::MAX));
    let mut seconds = 0.0;
    loop {
        let portion: Vec<_> = episodes.by_ref().take(PORTION).collect();
        if portion.is_empty() {
            return Ok(size as f64 / seconds);
        }
        let started = Instant::now();
        store(engine, call, &portion, &plan)?;
        seconds += started.elapsed().as_secs_f64();
    }
}

fn remember(engine: &Engine, call: &Call<'_>) -> Result<[f64; 2], Error> {
    timed(WRITES, |n| {
        let request = Remember { text: corpus::memory(n), ..Remember::default() };
        let draft = Draft::from_request(engine, call, &request)?;
        write::store(engine, call, &draft).map(drop)
    })
}

fn recall(engine: &Engine, call: &Call<'_>, words: usize) -> Result<[f64; 2], Error> {
    timed(QUESTIONS, |n| ask(engine, call, n, words))
}

fn ask(engine: &Engine, call: &Call<'_>, n: usize, words: usize) -> Result<(), Error> {
    search(engine, call, &Query::new(&corpus::question(n, words), call.scope, 10)).map(drop)
}

/// Median and 95th percentile of the milliseconds of `count` calls, after a few that are not counted.
fn timed(count: usize, mut work: impl FnMut(usize) -> Result<(), Error>) -> Result<[f64; 2], Error> {
    let mut times = Vec::with_capacity(count);
    for n in 0..count + WARM_UP {
        let started = Instant::now();
        work(n)?;
        if n >= WARM_UP {
            times.push(milliseconds(started));
        }
    }
    times.sort_by(f64::total_cmp);
    Ok([times[count / 2], times[count * 95 / 100]])
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn disk_mib(home: &std::path::Path) -> f64 {
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
        let columns = [
            "passages",
            "import /s",
            "remember",
            "keyword 8",
            "keyword 24",
            "default 8",
            "default 24",
            "cold",
            "RSS MiB",
            "disk MiB",
        ];
        let rows = self.sizes.iter().map(figures_row).collect();
        Document::new()
            .text(head)
            .with(Block::Table { columns: columns.map(str::to_owned).to_vec(), rows })
            .text("Times are milliseconds, median / 95th percentile.")
    }
}

fn figures_row(f: &Figures) -> Vec<String> {
    let pair = |v: [f64; 2]| format!("{:.1} / {:.1}", v[0], v[1]);
    vec![
        f.passages.to_string(),
        format!("{:.0}", f.import_per_second),
        pair(f.remember),
        pair(f.keyword_8),
        pair(f.keyword_24),
        pair(f.default_8),
        pair(f.default_24),
        format!("{:.1}", f.cold_recall),
        f.resident_mib.map_or_else(|| "-".to_owned(), |v| format!("{v:.0}")),
        format!("{:.0}", f.disk_mib),
    ]
}
