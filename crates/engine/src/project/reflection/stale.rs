//! `mark_stale`: a memory whose ground has moved. It stays in force, marked, and gives way to what is fresh.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::memory::Status;

use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::status,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct MarkStale;

/// Which memory, and why.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The memory, by its whole id or #number.
    pub node: String,
    /// Why; kept in its history.
    pub reason: String,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory.
    pub node_id: String,
    /// Where it stood.
    pub previous_status: &'static str,
    /// Where it stands.
    pub new_status: &'static str,
    /// Why.
    pub reason: String,
}

impl Operation for MarkStale {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "mark_stale",
        cli: &["project", "stale"],
        positional: &["node", "reason"],
        title: "Mark a memory as stale",
        about: "Says that what a memory rests on has changed: it is still found, marked as stale and behind what is fresh. When \
                you know what holds now, report it with `reflect_and_write` as well; people correct with `strata update` and take \
                back with `strata forget`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "stale"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let memory = status::find(engine, call, "node", &request.node)?;
        let reason = Gate::default().text("reason", &request.reason, crate::gate::MAX_FIELD)?;
        if memory.state.status != Status::Active {
            return Err(Error::Conflict {
                message: format!("memory {} is {}", memory.id, memory.state.status),
                hint: "only a memory that is active goes stale".into(),
            });
        }
        status::change(engine, call, &memory, Status::Stale, ("stale", &reason))?;
        Ok(Response {
            node_id: memory.id,
            previous_status: memory.state.status.as_str(),
            new_status: Status::Stale.as_str(),
            reason,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        Document::new().note(Mark::Good, format!("{} is {}: {}", self.node_id, self.new_status, self.reason))
    }
}
