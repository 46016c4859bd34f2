//! `knowledge_update`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::line;
use crate::{
    engine::Engine,
    error::Error,
    memory::update::{Request as UpdateRequest, Update},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Render},
};

/// See the module.
pub struct KnowledgeUpdate;

/// What to change; what is left out stays.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The fact, by its number or whole id.
    pub id: String,
    /// The corrected fact, whole.
    pub fact: Option<String>,
    /// Another kind.
    pub r#type: Option<String>,
    /// How sure you are now, 0 to 1.
    pub confidence: Option<f64>,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true: a failure is an error.
    pub updated: bool,
    /// The number of the version before.
    pub superseded_id: i64,
    /// The number that now stands for it; the same when only its confidence changed.
    pub new_id: i64,
}

impl Operation for KnowledgeUpdate {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Compat,
        tool: "knowledge_update",
        cli: &["compat", "update"],
        positional: &["id", "fact"],
        title: "Correct a fact",
        about: "Corrects a fact, as `update` does, under the name and with the reply of p-layer's older server. The version \
                before stays in its history. For clients that were set up for it; others use `update`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let asked = UpdateRequest {
            id: request.id,
            text: request.fact,
            kind: request.r#type,
            confidence: request.confidence,
            ..UpdateRequest::default()
        };
        let done = Update::run(engine, call, asked)?;
        Ok(Response { updated: true, superseded_id: done.previous_number, new_id: done.number })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        line(format!("updated #{} → #{}", self.superseded_id, self.new_id))
    }
}
