//! `delete_knowledge_file`: a file goes; its earlier texts stay in its history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{changelog::Operation as Logged, digest::body_token},
    policy::Action,
};

use super::{Beside, existing};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::vault::{self, Change, Edited, Event},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct DeleteKnowledgeFile;

const TOOL: &str = "delete_knowledge_file";

/// The file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// E.g. infra/proxy.md.
    pub filename: String,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `deleted`.
    pub action: &'static str,
    /// The file.
    pub file: String,
    /// Bytes it had.
    pub deleted_size_bytes: usize,
    /// The generation under which its history keeps the text.
    pub backup: String,
    /// What came of it beside the file.
    #[serde(flatten)]
    pub beside: Beside,
}

impl Operation for DeleteKnowledgeFile {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: TOOL,
        cli: &["knowledge", "delete"],
        positional: &["filename"],
        title: "Delete a file of knowledge",
        about: "Deletes a knowledge file. Its history keeps the text.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = existing(engine, call, &request.filename)?;
        let file = place.path.to_string();
        let change = Change { action: Action::Forget, ..Change::new(TOOL) };
        let mut size = 0;
        let written = vault::edit(engine, call, &place, &change, &mut |before| {
            let before = before.ok_or_else(|| place.no_file())?;
            size = before.len();
            let event = Event::new(Logged::DomainDeleted, format!("{file} was deleted"))
                .tokens(Some(body_token(before)), None)
                .with("file", file.clone())
                .with("before_bytes", before.len())
                .with("after_bytes", 0);
            Ok(Edited::Delete(event))
        })?;
        let generation = written.before.as_ref().map_or(0, |before| before.generation);
        Ok(Response {
            success: true,
            action: "deleted",
            deleted_size_bytes: size,
            backup: format!("{file}@{generation}"),
            beside: Beside::of(engine, call, "delete", &written, Gate::default()),
            file,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = format!("deleted {}; the text before is {}", self.file, self.backup);
        self.beside.note(Document::new().note(Mark::Good, said))
    }
}
