//! `validate_knowledge`: how well the knowledge is kept, file by file and as a whole.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{
        health::{self, Health, Issue as Fault, WikiLink, wiki_links},
        name::{VaultPath, stem},
    },
    time::DAY,
};

use super::{
    Marker, Survey, Trouble,
    audit::{Audit, Summary},
    markers::{Lines, Markers},
    recorded,
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        files::Readable,
        l0::{self, Consistency},
        room::{REPLY, keep_fitting},
        vault,
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Document, Mark, Render, counted, rounded},
};

/// See the module.
pub struct ValidateKnowledge;

/// Files that an issue names.
const NAMED: usize = 20;

/// Which file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only this file.
    pub filename: Option<String>,
}

/// How well it is kept.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `good`, `fair` or `poor`.
    pub overall_health: &'static str,
    /// What is wrong.
    pub issues: Vec<Issue>,
    /// The index beside the files.
    pub l0_l1_consistency: Consistency,
    /// Each file, the worst first.
    pub file_reports: Vec<Report>,
    /// How many files are not listed.
    #[serde(skip_serializing_if = "is_default")]
    pub file_reports_left_out: usize,
    /// What decays, in figures: `audit_rot` lists it.
    pub rot_summary: Summary,
    /// 0 to 100.
    pub rot_health_score: u32,
    /// Lines that say that something is open, or was.
    pub governance_summary: Governance,
}

/// Something that is wrong.
#[derive(Debug, Serialize)]
pub struct Issue {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The files, at most twenty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The same as a sentence.
    pub message: String,
}

/// A file.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Which.
    pub file: String,
    /// 0 to 100.
    pub health_score: f64,
    /// `good`, `fair` or `poor`.
    pub health: &'static str,
    /// Bytes.
    pub size_bytes: u64,
    /// What lowered the score.
    pub issues: Vec<String>,
}

/// Lines that say that something is open, or was.
#[derive(Debug, Serialize)]
pub struct Governance {
    /// How many.
    pub state_markers: Markers,
    /// Open lines, at most ten.
    pub top_findings: Vec<Marker>,
    /// Whether there are more of either sort.
    pub truncated: bool,
    /// Every line with a marker, at most ten.
    pub lifecycle_findings: Vec<Marker>,
}

impl Operation for ValidateKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "validate_knowledge",
        cli: &["knowledge", "validate"],
        positional: &["filename"],
        title: "Check the knowledge",
        about: "Checks the knowledge files and their index: what is wrong, and a score for each file.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["validate_knowledge_tool"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let Survey { files, mut problems } = Survey::of(engine, call)?;
        let only = request.filename.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let only = only.map(|name| named(engine, call, name, &problems)).transpose()?;
        let only = only.as_deref();
        let is_asked = |file: &str| only.is_none_or(|only| only == file);
        problems.retain(|problem| is_asked(&problem.file));
        let audit = Audit::of(engine, call, &files, only)?;
        let index = l0::consistency(engine, call)?;
        let asked: Vec<&Readable> = files.iter().filter(|f| is_asked(&f.head.path.to_string())).collect();
        let mut reports = reports(engine, &files, &asked, &problems);
        let rot_summary = audit.summary();
        let issues = issues(&problems, &index, &reports, &rot_summary, &is_asked);
        let governance_summary = Governance::of(engine, &asked);
        let total = reports.len();
        keep_fitting(&mut reports, REPLY / 3);
        Ok(Response {
            success: true,
            overall_health: overall(&issues),
            issues,
            l0_l1_consistency: fitting(index),
            file_reports_left_out: total - reports.len(),
            file_reports: reports,
            rot_health_score: audit.score(),
            rot_summary,
            governance_summary,
        })
    }
}

/// The path of the file that was asked for. One that is there and cannot be read is found too.
fn named(engine: &Engine, call: &Call<'_>, name: &str, problems: &[Trouble]) -> Result<String, Error> {
    if problems.iter().any(|problem| problem.file == name) {
        return Ok(name.to_owned());
    }
    Ok(vault::locate_existing(engine, call, "filename", name)?.path.to_string())
}

/// The files with their scores, the worst first.
fn reports(engine: &Engine, all: &[Readable], asked: &[&Readable], problems: &[Trouble]) -> Vec<Report> {
    let links = Targets::of(all);
    let now = engine.clock().now();
    let mut reports: Vec<Report> = problems.iter().map(Report::unreadable).collect();
    for Readable { head, file } in asked {
        let text = file.text();
        let broken = wiki_links(text).iter().filter(|link| !links.has(link)).count();
        let age = now.0.saturating_sub(head.mtime.0).max(0) as f64 / DAY as f64;
        reports.push(Report::of(head.path.to_string(), head.size, &health::score(text, age, broken)));
    }
    reports.sort_by(|a, b| a.health_score.total_cmp(&b.health_score).then_with(|| a.file.cmp(&b.file)));
    reports
}

/// What a link can lead to.
struct Targets(HashSet<String>);

impl Targets {
    fn of(files: &[Readable]) -> Self {
        let mut keys = HashSet::new();
        for file in files {
            let key = file.head.path.key();
            keys.extend(key.rsplit('/').next().map(str::to_owned));
            keys.insert(key);
        }
        Self(keys)
    }

    fn has(&self, link: &WikiLink) -> bool {
        let target = stem(&link.target);
        VaultPath::parse(&format!("{target}.md")).is_ok_and(|path| self.0.contains(&path.key()))
    }
}

impl Report {
    fn of(file: String, size_bytes: u64, health: &Health) -> Self {
        let issues = health.issues.iter().map(|(fault, points)| {
            let what = match fault {
                Fault::Large => "large",
                Fault::Stub => "hardly any text",
                Fault::NoHeadings => "no heading",
                Fault::Old => "not changed for a month or more",
                Fault::BrokenLink => "links that lead nowhere",
            };
            format!("{what}: -{}", rounded(*points, 1))
        });
        let (health_score, issues) = (rounded(health.score, 1), issues.collect());
        Self { file, health_score, health: health.grade(), size_bytes, issues }
    }

    fn unreadable(problem: &Trouble) -> Self {
        Self {
            file: problem.file.clone(),
            health_score: 0.0,
            health: "poor",
            size_bytes: 0,
            issues: vec![problem.error.clone()],
        }
    }
}

fn issues(
    problems: &[Trouble],
    index: &Consistency,
    reports: &[Report],
    rot: &Summary,
    is_asked: &dyn Fn(&str) -> bool,
) -> Vec<Issue> {
    let warning = |kind, files: Vec<String>, count: usize, what: &str| {
        let files = files.into_iter().take(NAMED).collect();
        (count > 0).then(|| Issue { severity: "warning", kind, files, message: format!("{what}: {count}") })
    };
    let of = |files: &[String]| files.iter().filter(|file| is_asked(file)).cloned().collect::<Vec<_>>();
    let (orphans, stale) = (of(&index.orphaned_l1), of(&index.stale_l0_entries));
    let graded = reports.iter().filter(|report| !problems.iter().any(|problem| problem.file == report.file));
    let poor: Vec<String> =
        graded.filter(|report| report.health == "poor").map(|report| report.file.clone()).collect();
    let counts = (orphans.len(), stale.len(), poor.len());
    let unreadable = problems.iter().take(NAMED).map(|problem| Issue {
        severity: "error",
        kind: "unreadable_file",
        files: vec![problem.file.clone()],
        message: format!("{}: {}", problem.file, problem.error),
    });
    let warnings = [
        warning("orphaned_l1", orphans, counts.0, "files that the index does not name"),
        warning("stale_l0_entries", stale, counts.1, "entries of the index whose file is gone"),
        warning("poor_file", poor, counts.2, "files in poor health"),
        warning("stale_state", Vec::new(), rot.stale, "open lines past their date"),
        warning("cross_file_duplicate", Vec::new(), rot.cross_file_duplicate, "sections that two files have"),
        warning("same_file_duplicate", Vec::new(), rot.same_file_duplicate, "sections that a file has twice"),
    ];
    unreadable.chain(warnings.into_iter().flatten()).collect()
}

/// A warning counts one, an error three: none is good, up to three are fair.
fn overall(issues: &[Issue]) -> &'static str {
    match issues.iter().map(|issue| if issue.severity == "error" { 3 } else { 1 }).sum::<usize>() {
        0 => "good",
        1..=3 => "fair",
        _ => "poor",
    }
}

/// What fits into the reply; the totals tell the rest.
fn fitting(mut index: Consistency) -> Consistency {
    for list in [&mut index.orphaned_l1, &mut index.stale_l0_entries, &mut index.consistent] {
        keep_fitting(list, REPLY / 12);
    }
    index
}

impl Governance {
    fn of(engine: &Engine, files: &[&Readable]) -> Self {
        let (states, words) = engine.states();
        let mut lines = Lines::default();
        for Readable { head, file } in files {
            lines.read(&head.path, file.text(), states, words);
        }
        let Lines { summary, open, all, truncated } = lines;
        Self { state_markers: summary, top_findings: open, truncated, lifecycle_findings: all }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let markers = self.governance_summary.top_findings.iter();
        let closed = self.governance_summary.lifecycle_findings.iter();
        let closed = closed.filter(|marker| marker.suggested_action.is_none());
        let records = markers.chain(closed).map(Marker::record).collect();
        let mut document = recorded(records);
        for report in self.file_reports.iter().filter(|report| !report.issues.is_empty()) {
            document = document.text(format!(
                "{}: {} ({})",
                report.file,
                report.health_score,
                report.issues.join("; ")
            ));
        }
        document = document.note_more(self.file_reports_left_out);
        for issue in &self.issues {
            let mark = if issue.severity == "error" { Mark::Bad } else { Mark::Warning };
            document = document.note(mark, issue.message.clone());
        }
        let mark = if self.issues.is_empty() { Mark::Good } else { Mark::Info };
        let files = counted(self.governance_summary.state_markers.files_scanned, "file");
        document.note(
            mark,
            format!("{}: {files}, rot score {} of 100", self.overall_health, self.rot_health_score),
        )
    }
}
