//! `get_l0_index`: the index of knowledge as it is now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IndexFile, build, sync::word};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{room::sendable_lines, vault},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct GetL0Index;

/// Nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// The index.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `l0_file` when the file says the same, else `generated`.
    pub source: &'static str,
    /// `hermes` or `generic`.
    pub format: &'static str,
    /// Its lines.
    pub total_entries: usize,
    /// Entries that did not fit.
    #[serde(skip_serializing_if = "crate::operation::is_default")]
    pub left_out: usize,
    /// The index.
    pub content: String,
    /// Why it is not the file's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Operation for GetL0Index {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_l0_index",
        cli: &["l0", "show"],
        positional: &[],
        title: "The index of knowledge",
        about: "Shows the index of knowledge: one line for each file, saying what it is about. Look here first.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const IS_DAILY: bool = true;
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _: Request) -> Result<Response, Error> {
        let namespace = vault::own_namespace(engine, call)?;
        let config = &engine.settings().config.knowledge.l0;
        let format = config.line_format();
        let index = build(engine, call, &namespace)?;
        let rendered = index.render(engine, call, &format, config.budget_bytes)?;
        let note = match IndexFile::read(engine, &namespace) {
            Ok(Some(file)) if file.text.as_deref() == Some(rendered.text.as_str()) => None,
            Ok(Some(file)) if file.text.is_some() => {
                Some(format!("{} is behind; `sync_l0_index` writes it", file.path.display()))
            }
            Ok(_) if index.entries.is_empty() => Some("there is no knowledge yet".to_owned()),
            Ok(Some(_)) => Some("there is no index file yet; `sync_l0_index` writes it".to_owned()),
            Ok(None) => Some("the index is made whenever it is read; there is no file".to_owned()),
            Err(error) => Some(format!("{error}; {}", error.hint())),
        };
        let (content, unsent) = sendable_lines(call, &rendered.text);
        let left_out = (rendered.left_out + unsent).min(index.entries.len());
        Ok(Response {
            success: true,
            source: if note.is_none() { "l0_file" } else { "generated" },
            format: word(&format),
            total_entries: index.entries.len() - left_out,
            left_out,
            content: if index.entries.is_empty() { String::new() } else { content.to_owned() },
            note,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let document = match self.content.as_str() {
            "" => Document::new(),
            content => Document::new().text(content.trim_end()),
        };
        match &self.note {
            Some(note) => document.note(Mark::Info, note.clone()),
            None => document,
        }
    }
}
