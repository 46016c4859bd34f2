//! `reflect_and_write`: what finished work taught, kept as memories of the project.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::project::{
    areas::Areas,
    gates::{Candidate, Reflection, Report, SkipReason, reflect},
    intent::Intent,
    outcome::{self, TaskOutcome, Verification},
    routing::forbids_memory,
};
use strata_store::ledger::EvidenceRow;

use super::{
    known::areas,
    place::{Standing, standing},
    promote::{Incoming, Outcome, promote},
    wire::{IntentName, OutcomeName, VerificationStatus},
};
use crate::{
    engine::Engine,
    error::Error,
    gate::{Gate, MAX_ENTRIES},
    memory::write,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::{
        anchors,
        retrieve::meta::{Meta, meta},
    },
    render::{Block, Document, Mark, Record, Render, Trust},
    request::unit,
};

/// See the module.
pub struct ReflectAndWrite;

/// What was done, and what came of it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// What was to be done.
    pub task: String,
    /// What came of it, in sentences that stand on their own: cause, change, consequence.
    pub outcome: String,
    /// What speaks for it. Unverified reports are kept only where `agent_confidence` is 0.7 or more.
    #[serde(default)]
    pub verification_status: VerificationStatus,
    /// How the work ended; read from `outcome` when absent. Failed and reverted work is not kept.
    pub task_outcome: Option<OutcomeName>,
    /// Files that were changed, relative to the project.
    #[serde(default)]
    pub changed_files: Vec<String>,
    /// Names of what was touched.
    #[serde(default)]
    pub touched_symbols: Vec<String>,
    /// The part of the project, e.g. `scheduler.retry`; the folder of the changed files when absent.
    pub module_path: Option<String>,
    /// Rules of the code that were found out, one sentence each.
    #[serde(default)]
    pub discovered_constraints: Vec<String>,
    /// Ways to do something that were found out, one each.
    #[serde(default)]
    pub discovered_procedures: Vec<String>,
    /// What was done, as notes: kept as evidence.
    pub task_summary: Option<String>,
    /// What the tests said, e.g. `47 passed`: kept as evidence.
    pub test_summary: Option<String>,
    /// What else it rests on: files with lines, URLs, commits.
    #[serde(default)]
    pub evidence_refs: Vec<String>,
    /// How sure you are, 0 to 1. Default 0.85; 0.65 for what is unverified.
    pub agent_confidence: Option<f64>,
    /// The branch; the checked-out one when absent.
    pub current_branch: Option<String>,
    /// The commit; the checked-out one when absent.
    pub head_commit: Option<String>,
    /// The sort of work; read from `task` when absent.
    pub task_intent: Option<IntentName>,
    /// `do_not_persist`, `isolated_task` or `do_not_use_memory`: nothing is kept.
    #[serde(default)]
    pub user_instruction_flags: Vec<String>,
}

/// What was kept.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// `persisted`, `skipped` or `needs_review`.
    pub outcome: &'static str,
    /// Why nothing was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_reason: Option<&'static str>,
    /// Candidates that the report gave reason for.
    pub candidates_staged: usize,
    /// Those that became memories, or a part of one.
    pub candidates_promoted: usize,
    /// Those that said nothing new.
    pub candidates_discarded: usize,
    /// Those that contradict a memory in force: stored beside it, and put before a person.
    pub candidates_needs_review: usize,
    /// What memories above the new ones now tell of, and what could not be stored; at most five.
    pub consolidation_notes: Vec<String>,
    /// How the report passed the gates, or why not.
    pub reasons: Vec<String>,
    /// What became of each candidate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Outcome>,
    /// Where the report was taken, and how the project's memory is searched.
    pub meta: Meta,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

/// Most notes in a reply.
const NOTES: usize = 5;
/// What a memory came from, and where its evidence is from.
const SOURCE: &str = "post_task_reflection";
/// Files named in the source of a memory.
const NAMED: usize = 3;

impl Operation for ReflectAndWrite {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "reflect_and_write",
        cli: &["project", "reflect"],
        positional: &["task", "outcome"],
        title: "Keep what work taught",
        about: "Call it once work is done and checked. The report passes gates (failed, reverted, trivial and unverified work is not \
                kept; the reply says why) and becomes memories of the project: the fault that was fixed, the module that changed, \
                the decision that was taken, constraints and procedures that you found out. What is known already is not stored \
                twice. What contradicts a memory in force is stored beside it and put before a person. Say the same again freely: \
                nothing is doubled.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;
    const IS_DAILY: bool = true;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut gate = Gate::default();
        let mut told = Told::read(engine, &mut gate, &request)?;
        let standing =
            standing(engine, call, request.current_branch.as_deref(), request.head_commit.as_deref())?;
        if request.user_instruction_flags.iter().any(|flag| forbids_memory(flag)) {
            let reasons = vec!["a flag says that nothing is to be kept".to_owned()];
            let meta = meta(engine, &standing.scope, standing.commit.as_deref());
            return Ok(Response { outcome: "skipped", reasons, meta, ..Response::default() });
        }
        told.evidence = anchors::pin_what_is_there(engine, call, &told.evidence);
        let areas = areas(engine);
        let report = told.report(&request)?;
        let mut reflection = reflect(&report, &areas);
        if reflection.skipped.is_some()
            && request.task_outcome.is_none()
            && report.outcome != TaskOutcome::Completed
        {
            reflection.reasons.push(format!(
                "that it is {} was read from its words: send `task_outcome` if it ended otherwise",
                report.outcome
            ));
        }
        let response = keep(engine, call, &told, (&reflection, &standing), &areas)?;
        let meta = meta(engine, &standing.scope, standing.commit.as_deref());
        Ok(Response { redacted: gate.redacted, meta, ..response })
    }
}

/// A file as the project names it: what lies elsewhere on the machine is known by its name alone.
fn relative(engine: &Engine, file: &str) -> String {
    let path = Path::new(file);
    if !path.is_absolute() {
        return file.to_owned();
    }
    let root = engine.settings().project_root.as_deref();
    let below = root.and_then(|root| path.strip_prefix(root).ok());
    let kept = below.or_else(|| path.file_name().map(Path::new)).unwrap_or(path);
    kept.to_string_lossy().replace('\\', "/")
}

/// A report through the gate.
struct Told {
    task: String,
    outcome: String,
    files: Vec<String>,
    symbols: Vec<String>,
    module_path: Option<String>,
    constraints: Vec<String>,
    procedures: Vec<String>,
    task_summary: Option<String>,
    test_summary: Option<String>,
    evidence: Vec<String>,
    verification: Verification,
}

impl Told {
    fn read(engine: &Engine, gate: &mut Gate, request: &Request) -> Result<Self, Error> {
        let files: Vec<String> =
            request.changed_files.iter().take(MAX_ENTRIES).map(|file| relative(engine, file)).collect();
        let symbols = &request.touched_symbols[..request.touched_symbols.len().min(MAX_ENTRIES)];
        Ok(Self {
            task: gate.body("task", &request.task)?,
            outcome: gate.body("outcome", &request.outcome)?,
            files: gate.list("changed_files", &files)?,
            symbols: gate.list("touched_symbols", symbols)?,
            module_path: gate.field("module_path", request.module_path.as_deref())?,
            constraints: gate.list("discovered_constraints", &request.discovered_constraints)?,
            procedures: gate.list("discovered_procedures", &request.discovered_procedures)?,
            task_summary: gate.field("task_summary", request.task_summary.as_deref())?,
            test_summary: gate.field("test_summary", request.test_summary.as_deref())?,
            evidence: gate.list("evidence_refs", &request.evidence_refs)?,
            verification: request.verification_status.into(),
        })
    }

    fn report<'a>(&'a self, request: &Request) -> Result<Report<'a>, Error> {
        let sureness = unit("agent_confidence", request.agent_confidence)?;
        Ok(Report {
            task: &self.task,
            summary: &self.outcome,
            outcome: request.task_outcome.map_or_else(|| self.ended(), TaskOutcome::from),
            verification: self.verification,
            work: request.task_intent.map_or_else(|| Intent::of_task(&self.task), Intent::from),
            sureness: sureness.unwrap_or_else(|| self.verification.usual_sureness()),
            files: &self.files,
            symbols: &self.symbols,
            module_path: self.module_path.as_deref(),
            constraints: &self.constraints,
            procedures: &self.procedures,
        })
    }

    /// How the work ended, by what it says of itself and what the tests said.
    fn ended(&self) -> TaskOutcome {
        let tests = self.test_summary.as_deref().unwrap_or_default();
        outcome::read(&format!("{}\n{tests}", self.outcome))
    }

    /// What a candidate rests on: the tests, the notes, what was named and, where it is not the report itself, the
    /// report.
    fn grounds(&self, engine: &Engine, candidate: &Candidate) -> Vec<EvidenceRow> {
        let at = engine.clock().now();
        let row = |kind: &str, note: &str| EvidenceRow {
            kind: kind.to_owned(),
            reference: format!("{SOURCE}: {}", self.verification),
            note: note.to_owned(),
            at,
        };
        let tests = self.test_summary.iter().map(|text| row("test", text));
        let notes = self.task_summary.iter().map(|text| row("note", text));
        let report = candidate.rests_on_report.then(|| row("note", &self.outcome));
        let refs = self.evidence.iter().map(|text| write::evidence(text, at));
        tests.chain(notes).chain(report).chain(refs).collect()
    }

    fn source(&self) -> String {
        let files: Vec<&str> = self.files.iter().take(NAMED).map(String::as_str).collect();
        if files.is_empty() { SOURCE.to_owned() } else { format!("{SOURCE}: {}", files.join(", ")) }
    }
}

/// Promotes every candidate; one that cannot be stored is noted, and the others are. If none can, that is an error.
fn keep(
    engine: &Engine,
    call: &Call<'_>,
    told: &Told,
    (reflection, standing): (&Reflection, &Standing),
    areas: &Areas,
) -> Result<Response, Error> {
    let mut response = Response {
        outcome: "skipped",
        skip_reason: reflection.skipped.map(SkipReason::as_str),
        candidates_staged: reflection.candidates.len(),
        reasons: reflection.reasons.clone(),
        ..Response::default()
    };
    let mut unstored = None;
    for candidate in &reflection.candidates {
        let grounds = told.grounds(engine, candidate);
        let incoming = Incoming { candidate, grounds, source: told.source(), standing, parent: None };
        match promote(engine, call, &incoming, areas) {
            Ok(outcome) => response.count(outcome),
            Err(error) if error.kind() == strata_core::error::ErrorKind::Conflict => {
                response.note(format!("`{}` was not stored: {error}", candidate.title));
                unstored = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    let asked = response.candidates_needs_review > 0;
    if asked || response.candidates_promoted > 0 {
        response.outcome = if asked { "needs_review" } else { "persisted" };
    } else if let Some(error) = unstored {
        return Err(error);
    } else if response.skip_reason.is_none() {
        response.skip_reason = Some(SkipReason::NoNewKnowledge.as_str());
    }
    Ok(response)
}

impl Response {
    fn count(&mut self, outcome: Outcome) {
        let counter = match (outcome.is_promoted(), outcome.is_asked()) {
            (true, _) => &mut self.candidates_promoted,
            (_, true) => &mut self.candidates_needs_review,
            _ => &mut self.candidates_discarded,
        };
        *counter += 1;
        if let Some(note) = outcome.note.clone() {
            self.note(note);
        }
        self.candidates.push(outcome);
    }

    fn note(&mut self, note: String) {
        if self.consolidation_notes.len() < NOTES && !self.consolidation_notes.contains(&note) {
            self.consolidation_notes.push(note);
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let mark = if self.outcome == "skipped" { Mark::Info } else { Mark::Good };
        let why = self.skip_reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        let mut document = Document::new().note(mark, format!("{}{why}", self.outcome));
        let records = self.candidates.iter().map(record).collect();
        document = document.with(Block::Records { trust: Trust::Data, records });
        for review in self.candidates.iter().filter_map(|outcome| outcome.review.as_ref()) {
            document =
                document.note(Mark::Warning, format!("a person decides with `strata review show {review}`"));
        }
        // Notes on what stands above quote its title.
        let notes = Block::Paragraph(self.consolidation_notes.join("\n"));
        document = document.with(Block::Stored(Box::new(notes)));
        for reason in &self.reasons {
            document = document.note(Mark::Info, reason.clone());
        }
        document.note_redacted(&self.redacted)
    }
}

/// What became of a candidate.
fn record(outcome: &Outcome) -> Record {
    let attributes = vec![format!("{} {}", outcome.action, outcome.kind), outcome.reason.to_owned()];
    Record { id: outcome.id.clone(), attributes, title: None, text: outcome.title.clone() }
}
