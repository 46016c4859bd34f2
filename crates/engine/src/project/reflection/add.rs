//! `add_memory_node`: one memory of a project, put where its writer wants it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    duplicate,
    memory::{Kind, Tier},
    project::placement::MAX_DEPTH,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, MemoryRow},
};

use super::{known::KINDS, place::standing, promote::layer_of};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::{
        draft::{Draft, Placing},
        status,
        write::{self, Judged},
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::{anchors, node::kind_of_wire},
    render::{Document, Mark, Render},
    request::unit,
};

/// See the module.
pub struct AddMemoryNode;

/// The memory.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Its headline.
    pub title: String,
    /// Its text, in sentences that stand on their own.
    pub summary: String,
    /// architecture, module (default), decision, debug, procedure, constraint or outcome.
    pub kind: Option<String>,
    /// The id of the memory above it.
    pub parent: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How much it matters, 0 to 1. Default 0.5.
    pub importance: Option<f64>,
    /// How sure it is, 0 to 1. Default 1 for people, 0.8 for others.
    pub confidence: Option<f64>,
    /// The part of the project it is about, e.g. `scheduler.retry`.
    pub module_path: Option<String>,
    /// What it rests on, one each.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// What was stored.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// `created`, or `unchanged` when the same text is in force already.
    pub status: &'static str,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for AddMemoryNode {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "add_memory_node",
        cli: &["project", "add"],
        positional: &["title", "summary"],
        title: "Add a memory to a project's tree",
        about: "Stores one memory of the project as it is given, with its place in the tree. For what finished work taught use \
                `reflect_and_write`, which compares it with what is known.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "add"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut gate = Gate::default();
        let draft = draft(engine, call, &mut gate, &request)?;
        let judged = Judged::new("");
        let stored = write::store_judged(engine, call, &draft, judged, &|_, _| Ok(()))?;
        let status = if stored.new { "created" } else { "unchanged" };
        Ok(Response { id: stored.id, number: stored.number, status, redacted: gate.redacted })
    }
}

fn draft(engine: &Engine, call: &Call<'_>, gate: &mut Gate, request: &Request) -> Result<Draft, Error> {
    let standing = standing(engine, call, None, None)?;
    let text = gate.body("summary", &request.summary)?;
    let kind = kind(request.kind.as_deref())?;
    let parent = request.parent.as_deref().map(|id| parent(engine, call, id)).transpose()?;
    let usual = if call.principal.kind == strata_core::principal::PrincipalKind::Human { 1.0 } else { 0.8 };
    Ok(Draft {
        title: Some(gate.body("title", &request.title)?),
        layer: layer_of(kind.as_str()),
        tags: gate.list("tags", &request.tags)?,
        confidence: unit("confidence", request.confidence)?.unwrap_or(usual),
        importance: unit("importance", request.importance)?.unwrap_or(0.5),
        evidence: anchors::pin_all(engine, call, gate.list("evidence", &request.evidence)?)?,
        placing: Placing {
            branch_scope: standing.branch_scope.to_owned(),
            commit: standing.commit.clone(),
            module_path: gate.field("module_path", request.module_path.as_deref())?,
            parent: parent.map(|row| row.id),
        },
        bands: duplicate::bands(&text),
        scope: standing.scope,
        action: "add",
        writer: None,
        text,
        kind,
        topic_key: None,
        supersedes: None,
        supersede_reason: None,
        source: None,
        session: None,
        grounds: Vec::new(),
        valid_from: None,
        valid_to: None,
        pinned: false,
        tier: Tier::Hot,
        metadata: std::collections::BTreeMap::new(),
        redacted: Vec::new(),
        route: None,
        rule: None,
    })
}

/// A kind of the tree, by the wire's word.
fn kind(word: Option<&str>) -> Result<Kind, Error> {
    let kind = kind_of_wire(word.unwrap_or("module")).map_err(|e| Error::parse("kind", &e))?;
    if KINDS.contains(&kind.as_str()) {
        return Ok(kind);
    }
    let hint = "send architecture, module, decision, debug, procedure, constraint or outcome";
    Err(Error::argument("kind", format!("{kind} has no place in a project's tree"), hint))
}

/// A memory of this project that another may stand under.
fn parent(engine: &Engine, call: &Call<'_>, id: &str) -> Result<MemoryRow, Error> {
    let row = status::find(engine, call, "parent", id)?;
    let above = engine.read(call, |r| depth(r, &row))?;
    if row.scope.project != call.scope.project {
        return Err(Error::argument("parent", "is of another project", "name a memory of this one"));
    }
    if !row.state.status.is_live() {
        let message = format!("is {}", row.state.status);
        return Err(Error::argument("parent", message, "name a memory in force"));
    }
    if above + 1 >= MAX_DEPTH {
        let message = format!("stands {above} deep; a tree has at most {MAX_DEPTH} levels");
        return Err(Error::argument("parent", message, "name a memory further up"));
    }
    Ok(row)
}

/// How many memories stand above one.
fn depth(r: &LedgerRead<'_>, row: &MemoryRow) -> Result<usize, StoreError> {
    let (mut depth, mut next) = (0, row.parent.clone());
    while let Some(id) = next.filter(|_| depth < MAX_DEPTH) {
        depth += 1;
        next = r.memory(&id)?.and_then(|row| row.parent);
    }
    Ok(depth)
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = format!("{} #{} {}", self.status, self.number, self.id);
        Document::new().note(Mark::Good, text).note_redacted(&self.redacted)
    }
}
