//! `add_evidence`: one more thing that a memory rests on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::policy::Action;
use strata_store::ledger::EvidenceRow;

use super::grounds::add_evidence;
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::{status, write},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::anchors,
    render::{Document, Mark, Render},
};

/// See the module.
pub struct AddEvidence;

/// What rests on what.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The memory, by its whole id or #number.
    pub node: String,
    /// What it rests on: a sentence, test output, a file and line, a URL.
    pub content: String,
    /// Where that comes from.
    pub source: Option<String>,
}

/// What was added.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory.
    pub id: String,
    /// Whether it was not there yet.
    pub added: bool,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for AddEvidence {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "add_evidence",
        cli: &["project", "evidence", "add"],
        positional: &["node", "content"],
        title: "Add evidence to a memory",
        about: "Adds what a memory rests on. The memory's text stays as it is; the same evidence is not added twice.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "evidence", "add"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let memory = status::find(engine, call, "node", &request.node)?;
        let mut gate = Gate::default();
        let content = gate.text("content", &request.content, crate::gate::MAX_FIELD)?;
        let source = gate.field("source", request.source.as_deref())?;
        let actor = authority::authorise_as(
            engine,
            call,
            Action::Update,
            "evidence_add",
            memory.state.layer,
            &memory.id,
        )?;
        let at = engine.clock().now();
        let row = match source {
            Some(reference) => EvidenceRow { reference, note: content, ..write::evidence("", at) },
            None => match anchors::pin_all(engine, call, vec![content])?.pop() {
                Some(text) => write::evidence(&text, at),
                None => return Err(Error::Internal("a piece of evidence went missing".into())),
            },
        };
        let added = add_evidence(engine, call, &actor, &memory, &[row], "")? > 0;
        Ok(Response { id: memory.id, added, redacted: gate.redacted })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let what = if self.added { "evidence added to" } else { "that evidence was there already:" };
        Document::new().note(Mark::Good, format!("{what} {}", self.id)).note_redacted(&self.redacted)
    }
}
