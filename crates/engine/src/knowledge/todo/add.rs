//! `add_todo`: keeps what is to be done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NewTodo, create, priority};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Add;

/// The todo.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// What is to be done.
    pub content: String,
    /// Default general.
    pub domain: Option<String>,
    /// Default: from the content.
    pub title: Option<String>,
    /// Ids to be done before.
    pub blocked_by: Option<Vec<String>>,
    /// blocker, high, medium (default), low, waiting.
    pub priority: Option<String>,
    /// Remarks.
    pub notes: Option<String>,
    /// Its session.
    pub source_session_id: Option<String>,
}

/// What was stored.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The todo.
    pub id: String,
    /// Its number.
    pub number: Option<i64>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for Add {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "add_todo",
        cli: &["todo", "add"],
        positional: &["content"],
        title: "Add a todo",
        about: "Keeps something to be done later.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["priority"];
    const TEXT_FORM: TextForm = TextForm::Json;
    const IS_DAILY: bool = true;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let created = create(
            engine,
            call,
            &NewTodo {
                id: None,
                domain: request.domain.unwrap_or_default(),
                title: request.title,
                content: request.content,
                blocked_by: request.blocked_by.unwrap_or_default(),
                priority: request.priority.as_deref().map(priority).transpose()?.unwrap_or_default(),
                notes: request.notes,
                session: request.source_session_id,
            },
        )?;
        Ok(Response { success: true, id: created.id, number: created.number, redacted: created.redacted })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let number = self.number.map(|n| format!("#{n} ")).unwrap_or_default();
        let text = format!("added todo {number}{}", self.id);
        Document::new().note(Mark::Good, text).note_redacted(&self.redacted)
    }
}
