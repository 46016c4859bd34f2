//! `create_knowledge_file`: a new file, whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{changelog::Operation as Logged, digest::body_token},
    policy::Action,
};

use super::{Beside, new_place};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::vault::{self, Change, Edited, Event},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct CreateKnowledgeFile;

const TOOL: &str = "create_knowledge_file";

/// The file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// E.g. infra/proxy.md.
    pub filename: String,
    /// Markdown.
    pub content: String,
}

/// What was made.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `created`.
    pub action: &'static str,
    /// The file.
    pub file: String,
    /// Its bytes.
    pub size_bytes: usize,
    /// What came of it beside the file.
    #[serde(flatten)]
    pub beside: Beside,
}

impl Operation for CreateKnowledgeFile {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: TOOL,
        cli: &["knowledge", "create"],
        positional: &["filename", "content"],
        title: "Make a file of knowledge",
        about: "Makes a knowledge file from whole Markdown. For one section use `inject_knowledge`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = new_place(engine, call, &request.filename)?;
        let mut gate = Gate::default();
        let text = vault::admit(&mut gate, "content", &request.content)?;
        let file = place.path.to_string();
        let change = Change { action: Action::Remember, ..Change::new(TOOL) };
        let written = vault::edit(engine, call, &place, &change, &mut |before| {
            if before.is_some() {
                return Err(Error::Conflict {
                    message: format!("`{file}` is there already"),
                    hint: "`update_knowledge_file` replaces it".into(),
                });
            }
            let event = Event::new(Logged::DomainCreated, format!("{file} was created"))
                .tokens(None, Some(body_token(&text)))
                .with("file", file.clone())
                .with("before_bytes", 0)
                .with("after_bytes", text.len());
            Ok(Edited::Write(text.clone(), event))
        })?;
        Ok(Response {
            success: true,
            action: "created",
            size_bytes: text.len(),
            beside: Beside::of(engine, call, "create", &written, gate),
            file,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = format!("created {}: {} bytes", self.file, self.size_bytes);
        self.beside.note(Document::new().note(Mark::Good, said))
    }
}
