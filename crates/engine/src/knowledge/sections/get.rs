//! `get_section`: one section, whole or page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{knowledge::digest::body_token, redact::redact};

use super::{existing, position};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{access, room::Page, vault},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Record, Render, Trust},
};

/// See the module.
pub struct GetSection;

/// Which section, and from where on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file.
    pub domain: String,
    /// Its heading.
    pub section: String,
    /// Which of several with this heading, from 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub ordinal: Option<u32>,
    /// Bytes to pass over.
    #[schemars(range(min = 0, max = 5_242_880))]
    pub offset: Option<u32>,
}

/// The section, or a page of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The file.
    pub file: String,
    /// The heading.
    pub section: String,
    /// The text under it, or the page.
    pub content: String,
    /// The token of the whole text: `expected_hash` of a change.
    pub hash: String,
    /// Bytes of the whole text.
    pub size_bytes: usize,
    /// Whether more follows.
    #[serde(skip_serializing_if = "is_default")]
    pub truncated: bool,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

impl Operation for GetSection {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_section",
        cli: &["knowledge", "section"],
        positional: &["domain", "section"],
        title: "Read a section",
        about: "Shows one section of a knowledge file.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["ordinal"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = existing(engine, call, &request.domain)?;
        let read = vault::read(engine, call, &place)?;
        let at = position(read.file.entries(), &request.section, request.ordinal)?;
        let body = read.file.body(at);
        let shown = redact(body);
        let text = shown.text.as_ref();
        let page = Page::of(text, request.offset);
        access::log_read(engine, call, &read.head);
        Ok(Response {
            success: true,
            section: redact(&read.file.entries()[at].heading).text.into_owned(),
            file: place.path.to_string(),
            content: page.text.to_owned(),
            hash: body_token(body),
            size_bytes: text.len(),
            truncated: page.next.is_some(),
            next_offset: page.next,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let record = Record {
            id: self.file.clone(),
            attributes: vec![format!("token {}", self.hash)],
            title: Some(self.section.clone()),
            text: self.content.clone(),
        };
        let document = Document::new().with(Block::Records { trust: Trust::Data, records: vec![record] });
        match self.next_offset {
            Some(next) => document.note(Mark::Info, format!("more follows: `offset` {next}")),
            None => document,
        }
    }
}
