//! `list_sections`: the headings of a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{knowledge::digest::body_token, redact::redact};

use super::existing;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        room::{REPLY, cost},
        vault,
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct ListSections;

/// JSON that stands around a heading in the list.
const FRAME: usize = 160;

/// Which file, and from where on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file.
    pub domain: String,
    /// Sections to pass over.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub offset: Option<u32>,
}

/// The sections, in the order of the file.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The file.
    pub file: String,
    /// Its generation.
    pub generation: i64,
    /// Sections in it.
    pub total: usize,
    /// Those that were asked for.
    pub sections: Vec<Item>,
    /// Whether more follow.
    #[serde(skip_serializing_if = "is_default")]
    pub truncated: bool,
}

/// A section.
#[derive(Debug, Serialize)]
pub struct Item {
    /// Its heading.
    pub section: String,
    /// Which of those with this heading it is, where there are several.
    pub ordinal: usize,
    /// The line of the heading, from 1.
    pub line: usize,
    /// Bytes of its text.
    pub bytes: usize,
    /// Its token: `expected_hash` of a change.
    pub hash: String,
}

impl Operation for ListSections {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "list_sections",
        cli: &["knowledge", "sections"],
        positional: &["domain"],
        title: "Sections of a file",
        about: "Lists the sections of a knowledge file.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = existing(engine, call, &request.domain)?;
        let read = vault::read(engine, call, &place)?;
        let total = read.file.entries().len();
        let mut room = REPLY;
        let mut sections = Vec::new();
        for (at, entry) in read.file.entries().iter().enumerate().skip(request.offset.unwrap_or(0) as usize) {
            let heading = redact(&entry.heading).text;
            let Some(left) = room.checked_sub(cost(&heading) + FRAME) else { break };
            room = left;
            let body = read.file.body(at);
            sections.push(Item {
                section: heading.into_owned(),
                ordinal: entry.ordinal,
                line: entry.line,
                bytes: body.len(),
                hash: body_token(body),
            });
        }
        let shown = request.offset.unwrap_or(0) as usize + sections.len();
        Ok(Response {
            success: true,
            file: place.path.to_string(),
            generation: read.head.generation,
            total,
            truncated: shown < total,
            sections,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.sections.is_empty() {
            return Document::new().note(Mark::Info, format!("{} has no sections here.", self.file));
        }
        let columns = ["line", "section", "bytes"].map(str::to_owned).to_vec();
        let row = |s: &Item| {
            let heading =
                if s.ordinal > 1 { format!("{} ({})", s.section, s.ordinal) } else { s.section.clone() };
            vec![s.line.to_string(), heading, s.bytes.to_string()]
        };
        let rows = self.sections.iter().map(row).collect();
        let document = Document::new().with(Block::Table { columns, rows });
        let note = format!("{} of {} sections of {}", self.sections.len(), self.total, self.file);
        document.note(Mark::Info, note)
    }
}
