//! `update_knowledge_file`: another text for a whole file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::{changelog::Operation as Logged, digest::body_token};

use super::{Beside, existing};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::vault::{self, Change, Edited, Event, Written},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct UpdateKnowledgeFile;

const TOOL: &str = "update_knowledge_file";

/// The file and its new text.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// E.g. infra/proxy.md.
    pub filename: String,
    /// The whole new Markdown.
    pub content: String,
    /// The `hash` it had when it was read.
    pub expected_hash: Option<String>,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `updated`.
    pub action: &'static str,
    /// The file.
    pub file: String,
    /// Bytes before.
    pub old_size: usize,
    /// Bytes now.
    pub new_size: usize,
    /// Where the text before is kept.
    pub backup: Backup,
    /// What came of it beside the file.
    #[serde(flatten)]
    pub beside: Beside,
}

/// Where the text before is kept: as a generation of the file.
#[derive(Debug, Default, Serialize)]
pub struct Backup {
    /// The file and the generation: `infra/proxy.md@3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<&'static str>,
}

impl Operation for UpdateKnowledgeFile {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: TOOL,
        cli: &["knowledge", "update"],
        positional: &["filename", "content"],
        title: "Replace a file of knowledge",
        about: "Replaces the whole text of a knowledge file. The text before is kept.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["expected_hash"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = existing(engine, call, &request.filename)?;
        let mut gate = Gate::default();
        let text = vault::admit(&mut gate, "content", &request.content)?;
        let file = place.path.to_string();
        let expected = request.expected_hash.as_deref().map(str::trim).filter(|token| !token.is_empty());
        let mut old_size = 0;
        let written = vault::edit(engine, call, &place, &Change::new(TOOL), &mut |before| {
            let before = before.ok_or_else(|| place.no_file())?;
            let token = body_token(before);
            if let Some(expected) = expected.filter(|expected| *expected != token) {
                return Err(Error::Conflict {
                    message: format!("`{file}` is another text by now: its token is {token}, not {expected}"),
                    hint: "read it again, and send what is to hold".into(),
                });
            }
            old_size = before.len();
            let event = Event::new(Logged::DomainUpdated, format!("{file} was updated"))
                .tokens(Some(token), Some(body_token(&text)))
                .with("file", file.clone())
                .with("before_bytes", before.len())
                .with("after_bytes", text.len());
            Ok(Edited::Write(text.clone(), event))
        })?;
        Ok(Response {
            success: true,
            action: "updated",
            old_size,
            new_size: text.len(),
            backup: backup(&written, &file, old_size),
            beside: Beside::of(engine, call, "update", &written, gate),
            file,
        })
    }
}

fn backup(written: &Written, file: &str, bytes: usize) -> Backup {
    match written.before.as_ref().filter(|_| written.is_changed()) {
        Some(before) => {
            Backup { path: Some(format!("{file}@{}", before.generation)), bytes: Some(bytes), skipped: None }
        }
        None => Backup { skipped: Some("the text is the same"), ..Backup::default() },
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = match &self.backup.path {
            Some(kept) => {
                format!("updated {}: {} bytes; the text before is {kept}", self.file, self.new_size)
            }
            None => format!("{} says that already", self.file),
        };
        self.beside.note(Document::new().note(Mark::Good, said))
    }
}
