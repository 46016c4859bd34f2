//! `drift_report`: how the memory has changed since a baseline, and whether it is alive. Only reads the store.

mod measure;
mod report;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::time::Timestamp;
use strata_store::files;

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    paths,
    render::{Block, Document, Mark, Render},
};
pub use measure::{Distilling, Failures, Metrics, RulesAlive};
pub use report::Delta;

/// See the module.
pub struct DriftReport;

/// The folder inside the home, unless told otherwise.
const FOLDER: &str = "drift";
/// What is compared with.
const BASELINE: &str = "baseline.json";
/// The largest baseline that is read, in bytes.
const MAX_BASELINE: u64 = 1 << 20;

/// Where, and whether to begin anew.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The folder of the baseline and the reports. Default: drift in the home.
    pub baseline_dir: Option<String>,
    /// Make the numbers of today the baseline, once they are compared with the old one.
    pub refresh: Option<bool>,
}

/// The report.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// `no change`, `drift`, or `failure` when something could not be measured.
    pub status: &'static str,
    /// The report as Markdown; the same name with `.json` is for programs.
    pub path: Option<String>,
    /// Metrics that changed by more than 30 percent.
    pub deltas: Vec<Delta>,
    /// The metrics that are compared.
    pub metrics: Option<Metrics>,
    /// Is memory being distilled?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distilling: Option<Distilling>,
    /// Are the rules alive?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<RulesAlive>,
    /// Are there silent failures?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
    /// What wants attention, in words.
    pub alerts: Vec<String>,
    /// What could not be read, with the next step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
    /// When the baseline was made.
    pub baseline_at: Option<String>,
}

/// The baseline's file.
#[derive(Debug, Serialize, Deserialize)]
struct Baseline {
    created_at: String,
    metrics: Metrics,
}

const FAILURE: &str = "failure";

impl Operation for DriftReport {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "drift_report",
        cli: &["govern", "drift"],
        positional: &[],
        title: "Report drift",
        about: "Compares the memory with a baseline and answers with numbers: is memory being distilled, are the rules alive, \
                are there silent failures? Writes a weekly report as Markdown and JSON beside the baseline; the store is only \
                read. The first report makes the baseline. A change of more than 30 percent is `drift`; what cannot be \
                measured is `failure`, never `no change`. Use it to notice that memory has stopped working; to repair \
                something run `strata doctor`.",
        effect: Effect::Files,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["drift-report"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let own = engine.home().join(FOLDER);
        let dir = match request.baseline_dir.as_deref().filter(|dir| !dir.trim().is_empty()) {
            Some(dir) => paths::writable(engine, call, "baseline_dir", dir)?,
            None => own,
        };
        let measured = match measure::measure(engine, call) {
            Ok(measured) => measured,
            Err(error) if call.cancel.is_cancelled() => return Err(error),
            Err(error) => return Ok(failed(format!("the store: {error}; {}", error.hint()))),
        };
        let refresh = request.refresh.unwrap_or(false);
        let baseline = match read_baseline(&inside(engine, call, &dir, BASELINE)?) {
            Ok(baseline) => baseline,
            Err(_) if refresh => None,
            Err(reason) => return Ok(failed(reason)),
        };
        let now = engine.clock().now();
        let is_new = baseline.is_none();
        let mut response = report::compare(measured, baseline);
        response.path = Some(write_report(engine, call, &dir, now, &response)?);
        if refresh || is_new {
            write_baseline(&inside(engine, call, &dir, BASELINE)?, now, response.metrics)?;
        }
        Ok(response)
    }
}

fn failed(reason: String) -> Response {
    Response { status: FAILURE, unreadable: vec![reason], ..Response::default() }
}

/// A file of the folder, if the caller may write there, wherever links lead.
fn inside(engine: &Engine, call: &Call<'_>, dir: &Path, name: &str) -> Result<PathBuf, Error> {
    paths::writable(engine, call, "baseline_dir", &dir.join(name).to_string_lossy())
}

/// The baseline, none if there is none yet. One that cannot be read is told and left as it is.
fn read_baseline(path: &Path) -> Result<Option<Baseline>, String> {
    if matches!(std::fs::symlink_metadata(path), Err(e) if e.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let next = "correct or remove it, or call `drift_report` with `refresh` to begin anew";
    let bytes = files::read_regular(path, MAX_BASELINE).map_err(|e| format!("the baseline: {e}; {next}"))?;
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|e| format!("the baseline {} is damaged: {e}; {next}", path.display()))
}

fn write_baseline(path: &Path, now: Timestamp, metrics: Option<Metrics>) -> Result<(), Error> {
    let Some(metrics) = metrics else { return Ok(()) };
    write_json(path, &Baseline { created_at: now.to_rfc3339(), metrics })
}

/// Writes today's report in both forms and gives the path of the one for people.
fn write_report(
    engine: &Engine,
    call: &Call<'_>,
    dir: &Path,
    now: Timestamp,
    response: &Response,
) -> Result<String, Error> {
    let name = format!("weekly-{}", now.to_date(&engine.settings().zone));
    let markdown = inside(engine, call, dir, &format!("{name}.md"))?;
    let json = inside(engine, call, dir, &format!("{name}.json"))?;
    std::fs::create_dir_all(dir).map_err(|source| Error::File { path: dir.display().to_string(), source })?;
    files::write_atomic(&markdown, report::markdown(response, now).as_bytes())?;
    write_json(&json, response)?;
    Ok(markdown.display().to_string())
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(files::write_atomic(path, (text + "\n").as_bytes())?)
}

impl Render for Response {
    fn is_alarming(&self) -> bool {
        self.status == FAILURE
    }

    fn render(&self) -> Document {
        let mark = match self.status {
            FAILURE => Mark::Bad,
            "drift" => Mark::Warning,
            _ => Mark::Good,
        };
        let mut document = Document::new().note(mark, self.status.to_owned());
        for reason in &self.unreadable {
            document = document.note(Mark::Bad, reason.clone());
        }
        if let Some(metrics) = &self.metrics {
            let pairs =
                metrics.named().filter_map(|(name, value)| Some((name.to_owned(), value?.to_string())));
            document = document.with(Block::Pairs(pairs.collect()));
        }
        if self.metrics.is_some() && self.baseline_at.is_none() {
            document =
                document.note(Mark::Info, "the first report: its numbers are the baseline of the next");
        }
        for (question, numbers) in
            report::answers(self).into_iter().filter(|(_, numbers)| !numbers.is_empty())
        {
            document = document.with(Block::Heading(question.to_owned())).with(Block::Pairs(numbers));
        }
        for delta in &self.deltas {
            let text =
                format!("{}: {} to {} ({:+.1}%)", delta.metric, delta.base, delta.cur, delta.delta_pct);
            document = document.note(Mark::Warning, text);
        }
        for alert in &self.alerts {
            document = document.note(Mark::Warning, alert.clone());
        }
        match &self.path {
            Some(path) => document.note(Mark::Info, format!("report: {path}")),
            None => document,
        }
    }
}
