//! `get_knowledge_file`: one file, page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{knowledge::digest::body_token, redact::redact};

use super::existing;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{access, room::Page, vault},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Record, Render, Trust},
};

/// See the module.
pub struct GetKnowledgeFile;

/// Which file, and from where on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// E.g. infra/proxy.md.
    pub filename: String,
    /// Bytes to pass over: `next_offset` of the page before.
    #[schemars(range(min = 0, max = 5_242_880))]
    pub offset: Option<u32>,
}

/// The file, or a page of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The file.
    pub file: String,
    /// Its text, or the page.
    pub content: String,
    /// Bytes of the whole text.
    pub size_bytes: usize,
    /// The token of the whole text: `expected_hash` of a change.
    pub hash: String,
    /// Where the page begins.
    #[serde(skip_serializing_if = "is_default")]
    pub offset: usize,
    /// Whether more follows.
    #[serde(skip_serializing_if = "is_default")]
    pub truncated: bool,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Families of secrets that are blacked out here and stand in the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for GetKnowledgeFile {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_knowledge_file",
        cli: &["knowledge", "get"],
        positional: &["filename"],
        title: "Read a file of knowledge",
        about: "Shows a knowledge file whole, in pages.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const IS_DAILY: bool = true;
    const EXPLAINED: &'static [&'static str] = &["offset"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = existing(engine, call, &request.filename)?;
        let read = vault::read(engine, call, &place)?;
        let redaction = redact(read.text());
        let mut redacted: Vec<&'static str> =
            redaction.findings.iter().map(|finding| finding.family.as_str()).collect();
        redacted.sort_unstable();
        redacted.dedup();
        let text = redaction.text.as_ref();
        let page = Page::of(text, request.offset);
        access::log_read(engine, call, &read.head);
        Ok(Response {
            success: true,
            file: place.path.to_string(),
            content: page.text.to_owned(),
            size_bytes: text.len(),
            hash: body_token(read.text()),
            offset: page.offset,
            truncated: page.next.is_some(),
            next_offset: page.next,
            redacted,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let record = Record {
            id: self.file.clone(),
            attributes: vec![format!("{} bytes", self.size_bytes), format!("token {}", self.hash)],
            title: None,
            text: self.content.clone(),
        };
        let mut document = Document::new().with(Block::Records { trust: Trust::Data, records: vec![record] });
        if !self.redacted.is_empty() {
            let said = format!("blacked out here: {}", self.redacted.join(", "));
            document = document.note(Mark::Warning, said);
        }
        match self.next_offset {
            Some(next) => document.note(Mark::Info, format!("more follows: `offset` {next}")),
            None => document,
        }
    }
}
