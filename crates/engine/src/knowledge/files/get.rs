//! `get_knowledge_file`: one file, page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{knowledge::digest::body_token, redact::redact};

use super::existing;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        access::{self, Access, AccessKind},
        room::{REPLY, fitting},
        vault,
    },
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
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = existing(engine, call, &request.filename)?;
        let read = vault::read(engine, call, &place)?;
        let file = place.path.to_string();
        let redaction = redact(read.text());
        let mut redacted: Vec<&'static str> =
            redaction.findings.iter().map(|finding| finding.family.as_str()).collect();
        redacted.sort_unstable();
        redacted.dedup();
        let text = redaction.text.as_ref();
        let offset = text.floor_char_boundary(request.offset.unwrap_or(0) as usize);
        let page = page(&text[offset..]);
        let next = offset + page.len();
        let truncated = next < text.len();
        access::log(
            engine,
            call,
            &[Access {
                namespace: place.namespace.as_str(),
                path: &file,
                kind: AccessKind::GetFile,
                query: None,
                rank: None,
                score: None,
            }],
        );
        Ok(Response {
            success: true,
            content: page.to_owned(),
            size_bytes: text.len(),
            hash: body_token(read.text()),
            offset,
            truncated,
            next_offset: truncated.then_some(next),
            redacted,
            file,
        })
    }
}

/// The beginning of a text that fits on a page: whole lines, unless one line alone is longer.
fn page(text: &str) -> &str {
    let most = fitting(text, REPLY);
    if most.len() == text.len() {
        return most;
    }
    let lines = most.rfind('\n').map_or(0, |at| at + 1);
    if lines > most.len() / 2 { &most[..lines] } else { most }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_the_text_and_end_with_a_line() {
        let text = "字 of a line\n".repeat(9_000) + &"长".repeat(40_000);
        let (mut at, mut pages) = (0, 0);
        while at < text.len() {
            let page = page(&text[at..]);
            assert!(!page.is_empty() && crate::knowledge::room::cost(page) <= REPLY);
            at += page.len();
            pages += 1;
        }
        assert!((6..9).contains(&pages), "{pages}");
        assert_eq!(at, text.len());
        assert!(page(&text).ends_with('\n'));
    }
}
