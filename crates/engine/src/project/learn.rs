//! `project_learn`: what a project's own records say, proposed for review.

mod told;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::duplicate;

use self::told::{Told, of_changelog, of_commit, of_decision_record};
use super::{
    branches::{Git, no_project},
    files::{Gate, follow::Place as Files},
};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate as TextGate,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    reflect::{Reflect, Request as Proposal},
    render::{Document, Mark, Render, counted, shortened},
    vcs::{Fault, Range},
};

/// See the module.
pub struct Learn;

/// Commits read when the caller names no limit.
const COMMITS: u32 = 200;
/// Proposals of one call when the caller names no limit.
const PROPOSALS: u32 = 20;
/// Characters of a proposal that are shown.
const SHOWN: usize = 160;
/// Folders that decision records lie in.
const DECISIONS: [&str; 5] = ["docs/adr", "doc/adr", "adr", "docs/decisions", "docs/architecture/decisions"];
/// Names of a changelog.
const CHANGELOGS: [&str; 3] = ["CHANGELOG.md", "CHANGES.md", "docs/CHANGELOG.md"];

/// What to read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only commits after this one: a commit, branch or tag.
    pub since: Option<String>,
    /// Commits to read, 1 to 5000, the latest first. Default 200.
    #[schemars(range(min = 1, max = 5_000))]
    pub commits: Option<u32>,
    /// Proposals to file at most, 1 to 200. Default 20.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// Only tell what would be proposed. Default false.
    pub dry_run: Option<bool>,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Whether nothing was filed.
    pub dry_run: bool,
    /// Commits that were read.
    pub commits: usize,
    /// Decision records and changelogs that were read.
    pub files: usize,
    /// What was filed for review, or would be.
    pub proposals: Vec<Proposed>,
    /// What is stored, waits or was turned down already.
    pub known: usize,
    /// What the limit left for another call.
    #[serde(skip_serializing_if = "is_default")]
    pub more: usize,
}

/// A proposal.
#[derive(Debug, Serialize)]
pub struct Proposed {
    /// decision or fix.
    pub kind: &'static str,
    /// Its text.
    pub text: String,
    /// What it rests on.
    pub evidence: String,
    /// The review that asks about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
}

impl Operation for Learn {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_learn",
        cli: &["project", "learn"],
        positional: &[],
        title: "Propose what the history tells",
        about: "Reads commits, decision records and changelogs of this project and proposes the decisions and fixes that they \
                tell as candidates, each with the commit or file that it rests on. Nothing is in force until a person approves \
                it; what is known or was turned down is not proposed again. Who made a commit is not read.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let gate = Files::of(engine, call)?.ok_or_else(no_project)?.gate;
        let (mut told, files) = of_files(&gate);
        let (from_commits, commits) = of_commits(engine, call, &request)?;
        told.extend(from_commits);
        let dry_run = request.dry_run.unwrap_or(false);
        let limit = request.limit.unwrap_or(PROPOSALS) as usize;
        let mut response = Response { dry_run, commits, files, proposals: Vec::new(), known: 0, more: 0 };
        for told in told {
            if is_known(engine, call, &told)? {
                response.known += 1;
            } else if response.proposals.len() == limit {
                response.more += 1;
            } else {
                response.propose(engine, call, told)?;
            }
            engine.control(call).check()?;
        }
        Ok(response)
    }
}

impl Response {
    fn propose(&mut self, engine: &Engine, call: &Call<'_>, told: Told) -> Result<(), Error> {
        let mut review = None;
        if !self.dry_run {
            let proposal = Proposal {
                text: Some(told.text.clone()),
                kind: Some(told.kind.to_owned()),
                reason: Some(format!("told by {}", told.evidence)),
                evidence: vec![told.evidence.clone()],
                ..Proposal::default()
            };
            let filed = Reflect::run(engine, call, proposal)?;
            if filed.was_waiting {
                self.known += 1;
                return Ok(());
            }
            review = Some(filed.review);
        }
        let text = TextGate::default().body("text", &told.text)?;
        self.proposals.push(Proposed { kind: told.kind, text, evidence: told.evidence, review });
        Ok(())
    }
}

/// Whether the same text is stored here, in whatever state.
fn is_known(engine: &Engine, call: &Call<'_>, told: &Told) -> Result<bool, Error> {
    let text = TextGate::default().body("text", &told.text)?;
    let identity = duplicate::identity(&text);
    engine.read(call, |r| {
        let same = r.by_content(&r.content_key(&identity)?)?;
        Ok(same.iter().any(|memory| memory.scope.project == call.scope.project))
    })
}

/// What decision records and changelogs tell, and how many were read.
fn of_files(gate: &Gate) -> (Vec<Told>, usize) {
    let mut told = Vec::new();
    let mut read = 0;
    for folder in DECISIONS {
        let Ok(entries) = std::fs::read_dir(gate.root().join(folder)) else { continue };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.to_lowercase().ends_with(".md")).collect();
        names.sort();
        for name in names {
            let path = format!("{folder}/{name}");
            let Ok(file) = gate.read(&path) else { continue };
            read += 1;
            told.extend(of_decision_record(&path, &file.text));
        }
    }
    for path in CHANGELOGS {
        let Ok(file) = gate.read(path) else { continue };
        read += 1;
        told.extend(of_changelog(path, &file.text));
    }
    (told, read)
}

/// What commits tell, and how many were read; none outside a repository.
fn of_commits(engine: &Engine, call: &Call<'_>, request: &Request) -> Result<(Vec<Told>, usize), Error> {
    let git = match Git::of(engine, call) {
        None | Some(Err(Fault::None)) => return Ok((Vec::new(), 0)),
        Some(git) => git?,
    };
    let Some(head) = git.repository.head()?.commit else { return Ok((Vec::new(), 0)) };
    let after: Vec<String> = match request.since.as_deref().map(str::trim).filter(|since| !since.is_empty()) {
        None => Vec::new(),
        Some(since) => vec![git.repository.resolve(since).map_err(|_| {
            Error::argument(
                "since",
                format!("there is no commit `{since}`"),
                "name a commit, a branch or a tag",
            )
        })?],
    };
    let limit = request.commits.unwrap_or(COMMITS) as usize;
    let range = Range { after: &after, up_to: &[head], limit, first_parents: false };
    let commits = git.repository.commits(range)?;
    let told = commits.iter().filter(|commit| commit.parents.len() < 2);
    Ok((told.filter_map(|commit| of_commit(&commit.id, &commit.message)).collect(), commits.len()))
}

impl Render for Response {
    fn render(&self) -> Document {
        let read = format!("{} and {}", counted(self.commits, "commit"), counted(self.files, "file"));
        let verb = if self.dry_run { "would be filed for review" } else { "filed for review" };
        let text =
            format!("{} {verb} from {read}; {} known", counted(self.proposals.len(), "proposal"), self.known);
        let mut document = Document::new().note(Mark::Good, text);
        if !self.proposals.is_empty() {
            let columns = ["kind", "text", "rests on", "review"];
            let row = |p: &Proposed| {
                let review = p.review.clone().unwrap_or_default();
                vec![p.kind.to_owned(), shortened(&p.text, SHOWN), p.evidence.clone(), review]
            };
            document = document.with_stored_table(&columns, self.proposals.iter().map(row).collect());
        }
        if self.proposals.iter().any(|p| p.review.is_some()) {
            document = document.note(
                Mark::Info,
                "a person decides about each: `strata review list`, `strata review approve`",
            );
        }
        document.note_more(self.more)
    }
}
