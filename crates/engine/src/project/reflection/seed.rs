//! `seed_project_context`: what a project is told of itself at the start, by a person or agent and by its README.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::project::{
    gates::Candidate,
    readme::{self, Found},
    wording::headline,
};

use super::{
    known::areas,
    place::{Standing, standing},
    promote::{Incoming, promote},
};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::files::{bootstrap::name, follow::Place},
    render::{Block, Document, Mark, Render, counted},
};

/// See the module.
pub struct SeedProjectContext;

/// What is known of the project.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// What the project is, in a few sentences.
    #[serde(default)]
    pub description: String,
    /// Rules of its code, one sentence each.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// What was decided, and why; one each.
    #[serde(default)]
    pub decisions: Vec<String>,
    /// Languages, libraries, services.
    #[serde(default)]
    pub tech_stack: Vec<String>,
    /// How the team works, one each.
    #[serde(default)]
    pub conventions: Vec<String>,
    /// Leave the README out.
    #[serde(default)]
    pub skip_auto_extract: bool,
}

/// What was stored.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Memories that were not there before.
    pub nodes_created: usize,
    /// Of them, overviews of the project.
    pub module_nodes: usize,
    /// Of them, constraints.
    pub constraint_nodes: usize,
    /// Of them, decisions.
    pub decision_nodes: usize,
    /// Of them, procedures.
    pub procedure_nodes: usize,
    /// Their titles.
    pub node_titles: Vec<String>,
    /// Questions that wait for a person, because something contradicts a memory in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<String>,
    /// Why nothing was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<String>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

/// How sure what somebody said is, and what a file says that anybody may have written.
const SAID: f64 = 1.0;
const READ: f64 = 0.7;
/// Most constraints, decisions, parts of the stack, bullets of conventions.
const CONSTRAINTS: usize = 12;
const DECISIONS: usize = 8;
const STACK: usize = 6;
const CONVENTIONS: usize = 10;
/// Characters of a title after its first word.
const TITLE: usize = 72;
/// What it came from.
const SOURCE: &str = "project_seed";
/// READMEs that are looked for, in order.
const READMES: [&str; 3] = ["README.md", "README.rst", "README.txt"];

impl Operation for SeedProjectContext {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "seed_project_context",
        cli: &["project", "seed"],
        positional: &["description"],
        title: "Tell a project of itself",
        about: "Stores what is known of a project before anybody worked in it: an overview, constraints, decisions, the stack, \
                conventions. What the README says under headings such as Constraints or Decisions is added, as less sure, \
                unless `skip_auto_extract` is set. Call it again with more whenever you like: what is there already is not \
                stored twice, and nothing else is touched.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "seed"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let standing = standing(engine, call, None, None)?;
        let mut gate = Gate::default();
        let told = Told::read(&mut gate, &request)?;
        let place = match Place::of(engine, call) {
            Err(_) if request.skip_auto_extract => None,
            place => place?,
        };
        let found = match place.as_ref().filter(|_| !request.skip_auto_extract) {
            Some(place) => found(place, &mut gate)?,
            None => Found::default(),
        };
        let key = call.scope.project.clone().unwrap_or_default();
        let name = place.as_ref().map_or(key, |place| name(engine, place));
        let candidates = candidates(&name, &told, &found);
        if candidates.is_empty() {
            let reason = "nothing was told, and the README says nothing that is made for a memory";
            return Ok(Response { skipped_reason: Some(reason.into()), ..Response::default() });
        }
        let response = store(engine, call, &standing, &candidates)?;
        Ok(Response { redacted: gate.redacted, ..response })
    }
}

/// What somebody said, through the gate.
struct Told {
    description: Option<String>,
    constraints: Vec<String>,
    decisions: Vec<String>,
    stack: Vec<String>,
    conventions: Vec<String>,
}

impl Told {
    fn read(gate: &mut Gate, request: &Request) -> Result<Self, Error> {
        Ok(Self {
            description: gate.field("description", Some(&request.description))?,
            constraints: gate.list("constraints", &request.constraints)?,
            decisions: gate.list("decisions", &request.decisions)?,
            stack: gate.list("tech_stack", &request.tech_stack)?,
            conventions: gate.list("conventions", &request.conventions)?,
        })
    }
}

fn candidates(name: &str, told: &Told, found: &Found) -> Vec<Candidate> {
    let mut all = Vec::new();
    let described = told.description.as_deref().unwrap_or(&found.description);
    let stack: Vec<&str> = told.stack.iter().take(STACK).map(String::as_str).collect();
    let stack_said =
        if stack.is_empty() { String::new() } else { format!("Tech stack: {}.", stack.join(", ")) };
    let overview =
        [described, &stack_said].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join(" ");
    if !overview.is_empty() {
        let sure = if told.description.is_some() || !stack.is_empty() { SAID } else { READ };
        let mut tags = vec!["project_overview"];
        tags.extend(stack.iter().take(4));
        all.push(new("module", format!("{name} — project overview"), overview, (0.75, sure), &tags));
    }
    let (constraints, sure) = first_of(&told.constraints, &found.constraints);
    for text in constraints.iter().take(CONSTRAINTS) {
        all.push(new("constraint", titled("Constraint", text), text.clone(), (0.90, sure), &[]));
    }
    let (decisions, sure) = first_of(&told.decisions, &found.decisions);
    for text in decisions.iter().take(DECISIONS) {
        all.push(new("decision", titled("Decision", text), text.clone(), (0.82, sure), &[]));
    }
    if !told.conventions.is_empty() {
        let bullets: Vec<String> =
            told.conventions.iter().take(CONVENTIONS).map(|c| format!("- {c}")).collect();
        let title = "Team conventions and workflow rules".to_owned();
        all.push(new("procedure", title, bullets.join("\n"), (0.70, SAID), &[]));
    }
    all
}

/// What was said or, if nothing was, what was read.
fn first_of<'t>(said: &'t [String], read: &'t [String]) -> (&'t [String], f64) {
    if said.is_empty() { (read, READ) } else { (said, SAID) }
}

fn titled(word: &str, text: &str) -> String {
    format!("{word}: {}", headline(readme::first_sentence(text), TITLE))
}

fn new(
    kind: &'static str,
    title: String,
    text: String,
    (importance, confidence): (f64, f64),
    tags: &[&str],
) -> Candidate {
    let tags = std::iter::once("seed").chain(tags.iter().copied()).map(str::to_owned).collect();
    Candidate { kind, title, text, tags, module_path: None, importance, confidence, rests_on_report: false }
}

fn store(
    engine: &Engine,
    call: &Call<'_>,
    standing: &Standing,
    candidates: &[Candidate],
) -> Result<Response, Error> {
    let areas = areas(engine);
    let mut response = Response::default();
    for candidate in candidates {
        let incoming =
            Incoming { candidate, grounds: Vec::new(), source: SOURCE.to_owned(), standing, parent: None };
        let outcome = promote(engine, call, &incoming, &areas)?;
        response.reviews.extend(outcome.review.clone());
        if !outcome.is_promoted() && !outcome.is_asked() {
            continue;
        }
        let counter = match candidate.kind {
            "module" => &mut response.module_nodes,
            "constraint" => &mut response.constraint_nodes,
            "decision" => &mut response.decision_nodes,
            _ => &mut response.procedure_nodes,
        };
        *counter += 1;
        response.nodes_created += 1;
        response.node_titles.push(candidate.title.clone());
    }
    if response.nodes_created == 0 {
        response.skipped_reason = Some("all of it is known already".into());
    }
    Ok(response)
}

/// What the project's README says.
fn found(place: &Place, gate: &mut Gate) -> Result<Found, Error> {
    let Some(file) = READMES.into_iter().find_map(|name| place.gate.read(name).ok()) else {
        return Ok(Found::default());
    };
    let found = readme::read(&file.text);
    Ok(Found {
        description: gate.field("README", Some(&found.description))?.unwrap_or_default(),
        constraints: gate.list("README", &found.constraints)?,
        decisions: gate.list("README", &found.decisions)?,
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = match &self.skipped_reason {
            Some(reason) => format!("nothing stored: {reason}"),
            None => {
                format!("{} stored", counted(self.nodes_created, "memory"))
            }
        };
        let titles = Block::Stored(Box::new(Block::Paragraph(self.node_titles.join("\n"))));
        let mut document = Document::new().note(Mark::Good, text).with(titles);
        for review in &self.reviews {
            document =
                document.note(Mark::Warning, format!("a person decides with `strata review show {review}`"));
        }
        document.note_redacted(&self.redacted)
    }
}
