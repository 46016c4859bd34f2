//! `promote_memory`: what was only proposed, or reported by an agent, becomes what a person stands for.
//!
//! A candidate is compared with what is in force and then approved; a constraint that an agent reported becomes a rule.
//! Both take a person with the passphrase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Status, project::promotion::decide};
use strata_store::ledger::{MemoryRow, ReviewFilter};

use super::known::{areas, compared, like, node};
use crate::{
    engine::Engine,
    error::Error,
    memory::{
        remember::LayerName,
        status,
        update::{Request as UpdateRequest, Update},
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
    review::approve::{Approve, Request as ApproveRequest},
};

/// See the module.
pub struct PromoteMemory;

/// Which memory.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The candidate or constraint, by its whole id or #number.
    pub node: String,
    /// Why; kept in its history.
    pub reason: Option<String>,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory that is in force.
    pub id: String,
    /// `approved` for a candidate, `rule` for a constraint.
    pub action: &'static str,
    /// Its layer.
    pub layer: String,
    /// What the table of promotions says of it beside what is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<&'static str>,
    /// The memory in force that it was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// How like the two are, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
}

impl Operation for PromoteMemory {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "promote_memory",
        cli: &["project", "promote"],
        positional: &["node", "reason"],
        title: "Promote a candidate or constraint",
        about: "For people: approves a candidate, and says what in force is like it; or makes a rule (P0) of a constraint that an \
                agent reported. Takes the passphrase, at a terminal.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "promote"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let memory = status::find(engine, call, "node", &request.node)?;
        match memory.state.status {
            Status::Candidate => approve(engine, call, &memory, request.reason),
            Status::Active if memory.kind.as_str() == "constraint" => {
                let update = UpdateRequest {
                    id: memory.id.clone(),
                    layer: Some(LayerName::P0),
                    reason: request.reason,
                    ..UpdateRequest::default()
                };
                let done = Update::run(engine, call, update)
                    .map_err(|e| e.with_command(format!("strata project promote {}", memory.id)))?;
                let layer = "P0".to_owned();
                Ok(Response {
                    id: done.id,
                    action: "rule",
                    layer,
                    beside: None,
                    target: None,
                    similarity: None,
                })
            }
            other => Err(Error::Conflict {
                message: format!("memory {} is a {} that is {other}", memory.id, memory.kind),
                hint: "a candidate is promoted, or a constraint that is active; conflicts are for \
                       `strata review resolve`"
                    .into(),
            }),
        }
    }
}

/// Approves the review that waits for a candidate.
fn approve(
    engine: &Engine,
    call: &Call<'_>,
    memory: &MemoryRow,
    note: Option<String>,
) -> Result<Response, Error> {
    let waiting = ReviewFilter { target: Some(memory.id.clone()), ..ReviewFilter::default() };
    let review = engine.read(call, |r| r.reviews(&waiting))?.into_iter().next();
    let review = review.ok_or_else(|| Error::Conflict {
        message: format!("nobody asked about candidate {}", memory.id),
        hint: "store it with `add_memory_node`, or report it again with `reflect_and_write`".into(),
    })?;
    let rows = like(engine, call, &memory.scope, (&memory.title, &memory.body))?;
    let known: Vec<_> = rows.iter().map(|row| compared(call, &memory.scope, row)).collect();
    let decision = decide(&node(memory), &known, &areas(engine));
    let done = Approve::run(engine, call, ApproveRequest { id: review.id, note })?;
    Ok(Response {
        id: done.id,
        action: "approved",
        layer: done.layer,
        beside: Some(decision.action.as_str()),
        target: decision.target.and_then(|at| rows.get(at)).map(|row| row.id.clone()),
        similarity: decision.likeness.map(|likeness| likeness.score),
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = match self.action == "rule" {
            true => format!(
                "approved: {} is in {} now; `retrieve_agent_context` gives it as a rule",
                self.id, self.layer
            ),
            false => format!("{} {} in {}", self.action, self.id, self.layer),
        };
        let document = Document::new().note(Mark::Good, said);
        match (self.beside, &self.target) {
            (Some(beside), Some(target)) => document.note(Mark::Info, format!("beside {target}: {beside}")),
            _ => document,
        }
    }
}
