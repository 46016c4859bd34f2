//! `get_domain_timeline`: when one file of knowledge was looked for and read.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::name::{VaultPath, stem},
    time::Timestamp,
};
use strata_store::ledger::{AccessFilter, AccessRow, LedgerRead};

use super::{recent, written};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Render, rounded},
};

/// See the module.
pub struct GetDomainTimeline;

const DEFAULT_DAYS: u32 = 30;

/// Which file, and how far back.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file: `infra/proxy`, with or without `.md`.
    pub domain: String,
    /// Days back. Default 30.
    #[schemars(range(min = 1, max = 3650))]
    pub days: Option<u32>,
}

/// How it was used.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// In short.
    pub stats: Stats,
    /// By day, in the user's time zone; days without a hit are left out.
    pub trend: Vec<Day>,
}

/// The file's use in short.
#[derive(Debug, Serialize)]
pub struct Stats {
    /// The file.
    pub domain: String,
    /// Hits in the window.
    pub hits_in_window: usize,
    /// Hits that are on record.
    pub total_hits: usize,
    /// The latest hit on record.
    pub last_access: Option<String>,
    /// The first hit in the window.
    pub first_access_in_window: Option<String>,
    /// The mean score in the window, of the hits that have one.
    pub avg_score: Option<f64>,
}

/// A day.
#[derive(Debug, Serialize)]
pub struct Day {
    /// The day.
    pub day: String,
    /// Hits on it.
    pub hits: usize,
}

impl Operation for GetDomainTimeline {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_domain_timeline",
        cli: &["knowledge", "access", "timeline"],
        positional: &["domain"],
        title: "When a file of knowledge was used",
        about: "Tells how often one file of knowledge was found and read, by day.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["domain"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let path = path_of(&request.domain)?;
        written(engine)?;
        let window = recent(engine, call, request.days.unwrap_or(DEFAULT_DAYS));
        let ever = AccessFilter { since: Timestamp(i64::MIN), ..window.clone() };
        let all = engine.read(call, |r: &LedgerRead<'_>| r.accesses_of(&ever, &path))?;
        let within = all.iter().take_while(|access| access.at >= window.since).collect::<Vec<_>>();
        let mut days = BTreeMap::<String, usize>::new();
        for access in &within {
            *days.entry(access.at.to_date(&engine.settings().zone)).or_default() += 1;
        }
        Ok(Response {
            success: true,
            stats: Stats {
                domain: stem(&path).to_owned(),
                hits_in_window: within.len(),
                total_hits: all.len(),
                last_access: all.first().map(|access| access.at.to_rfc3339()),
                first_access_in_window: within.last().map(|access| access.at.to_rfc3339()),
                avg_score: mean(&within),
            },
            trend: days.into_iter().map(|(day, hits)| Day { day, hits }).collect(),
        })
    }
}

/// The path of a file that is named with or without `.md`.
fn path_of(text: &str) -> Result<String, Error> {
    let text = text.trim().trim_end_matches(".md");
    let path = VaultPath::parse(&format!("{text}.md"));
    path.map(|path| path.to_string()).map_err(|e| {
        Error::argument("domain", e.to_string(), "name a file of knowledge, such as `infra/proxy`")
    })
}

fn mean(accesses: &[&AccessRow]) -> Option<f64> {
    let scores: Vec<f64> = accesses.iter().filter_map(|access| access.score).collect();
    (!scores.is_empty()).then(|| rounded(scores.iter().sum::<f64>() / scores.len() as f64, 2))
}

impl Render for Response {
    fn render(&self) -> Document {
        let Stats { domain, hits_in_window, total_hits, last_access, .. } = &self.stats;
        let Some(last) = last_access else {
            return Document::new().note(Mark::Info, format!("{domain} was never found or read."));
        };
        let rows = self.trend.iter().map(|day| vec![day.day.clone(), day.hits.to_string()]).collect();
        let columns = ["day", "hits"].map(str::to_owned).to_vec();
        let said = format!("{domain}: {hits_in_window} hits, {total_hits} on record, last {last}");
        Document::new().with(Block::Table { columns, rows }).note(Mark::Info, said)
    }
}
