//! `inspect_knowledge`: a chunk, or lines of a file, through the gate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    budget::estimate_tokens,
    id::{Id, IdKind},
};

use super::{Chunk, Refusal, SourceType, chunk, follow::Place};
use crate::{
    documents,
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::storable,
    render::{Block, Document, Mark, Record, Render, Trust},
};

/// Characters of a text that are shown at a time.
const SHOWN: usize = 32_000;

/// See the module.
pub struct InspectKnowledge;

/// What to show.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The chunk, by the id that a search told.
    pub chunk_id: Option<String>,
    /// The file, relative to the project's root; it goes before `chunk_id`.
    pub path: Option<String>,
    /// The first line, counted from 1; with `end_line`. Default: the whole file.
    pub start_line: Option<u32>,
    /// The last line, which is shown too.
    pub end_line: Option<u32>,
    /// Whether to show the text. Default true.
    pub include_content: Option<bool>,
}

/// What was found.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Response {
    /// Lines of a file.
    Lines(Lines),
    /// A chunk.
    Chunk(Box<ChunkView>),
    /// Why there is nothing to show.
    Refused(Refused),
}

/// Lines of a file as it is now, without secrets.
#[derive(Debug, Serialize)]
pub struct Lines {
    /// The file, below the project's root.
    pub path: String,
    /// The first line that is shown.
    pub start_line: u32,
    /// The last.
    pub end_line: u32,
    /// Their text; absent when it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The tokens of their text, as estimated.
    pub token_estimate: u32,
    /// The line to go on with, when there was no room for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_line: Option<u32>,
}

/// A chunk without secrets.
#[derive(Debug, Serialize)]
pub struct ChunkView {
    /// Names it.
    pub chunk_id: String,
    /// Names its file.
    pub document_id: String,
    /// The file, below the project's root.
    pub source_path: String,
    /// What the file is.
    pub source_type: SourceType,
    /// What encloses the chunk.
    pub heading_path: Vec<String>,
    /// The first line, counted from 1.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// Its text; absent when it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The modules it belongs to.
    pub module_paths: Vec<String>,
    /// What is defined in it.
    pub related_symbols: Vec<String>,
    /// `indexed`, or `stale` when the file has changed since.
    pub index_status: &'static str,
}

/// Why there is nothing to show.
#[derive(Debug, Serialize)]
pub struct Refused {
    /// The reason.
    pub error: String,
    /// Whether the path leads out of the project.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub boundary_violation: bool,
}

impl Refused {
    fn because(error: String) -> Response {
        Response::Refused(Self { error, boundary_violation: false })
    }

    fn of(path: &str, refusal: &Refusal) -> Response {
        let (path, boundary_violation) = (storable(path), matches!(refusal, Refusal::Outside));
        let error = match refusal {
            Refusal::Missing => format!("File not found: {path}"),
            Refusal::Outside => format!("Path {path} escapes project root"),
            refusal => format!("Path {path} {refusal}"),
        };
        Response::Refused(Self { error, boundary_violation })
    }
}

impl Operation for InspectKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "inspect_knowledge",
        cli: &["project", "show"],
        positional: &["path"],
        title: "Show a chunk or lines of a file",
        about: "Shows a chunk that a search found, or lines of one of the project's files, without secrets. Use it when the preview of a \
                result is not enough. It reads nothing outside the project, nothing that the project excludes, no credentials and no \
                generated or binary files.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let with_text = request.include_content.unwrap_or(true);
        let given = |text: &Option<String>| {
            text.as_deref().map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned)
        };
        if let Some(path) = given(&request.path) {
            return lines(engine, call, &path, range(&request)?, with_text);
        }
        let Some(id) = given(&request.chunk_id) else {
            return Ok(Refused::because("Provide chunk_id or path".to_owned()));
        };
        let found = match Id::parse(&id).ok().filter(|id| id.kind() == IdKind::Document) {
            Some(id) => {
                let (source, part) = documents::parse_id(&id);
                chunk(engine, call, source, part)?
            }
            None => None,
        };
        Ok(match found {
            Some(chunk) => Response::Chunk(Box::new(view(chunk, with_text))),
            None => Refused::because(format!("Chunk '{}' not found", storable(&id))),
        })
    }
}

/// The lines that were asked for; `None` is all.
fn range(request: &Request) -> Result<Option<(u32, u32)>, Error> {
    let (Some(first), Some(last)) = (request.start_line, request.end_line) else { return Ok(None) };
    if first == 0 || last < first {
        let hint = "count lines from 1, with `end_line` not before `start_line`";
        return Err(Error::argument("start_line", format!("{first} to {last} are no lines"), hint));
    }
    Ok(Some((first, last)))
}

fn lines(
    engine: &Engine,
    call: &Call<'_>,
    named: &str,
    range: Option<(u32, u32)>,
    with_text: bool,
) -> Result<Response, Error> {
    let place = Place::required(engine, call)?;
    let read = place.gate.resolve(named).and_then(|path| Ok((place.gate.read(&path)?, path)));
    let (file, path) = match read {
        Ok(read) => read,
        Err(refusal) => return Ok(Refused::of(named, &refusal)),
    };
    let (first, last) = range.unwrap_or((1, u32::MAX));
    let (mut text, mut end, mut next_line) = (String::new(), first.saturating_sub(1), None);
    for line in file.text.lines().skip(first as usize - 1).take((last - first) as usize + 1) {
        if !text.is_empty() && text.len() + line.len() > SHOWN {
            next_line = Some(end + 1);
            break;
        }
        if end >= first {
            text.push('\n');
        }
        // A line may be as long as the file.
        text.push_str(&line[..line.floor_char_boundary(SHOWN)]);
        end += 1;
    }
    Ok(Response::Lines(Lines {
        path,
        start_line: first,
        end_line: end.max(first),
        token_estimate: estimate_tokens(&text),
        content: with_text.then_some(text),
        next_line,
    }))
}

fn view(chunk: Chunk, with_text: bool) -> ChunkView {
    ChunkView {
        chunk_id: chunk.chunk_id,
        document_id: chunk.document_id,
        source_path: chunk.source_path,
        source_type: chunk.source_type,
        heading_path: chunk.heading_path,
        start_line: chunk.start_line,
        end_line: chunk.end_line,
        content: with_text.then_some(chunk.text),
        module_paths: vec![chunk.module_path],
        related_symbols: chunk.symbols,
        index_status: if chunk.is_stale { "stale" } else { "indexed" },
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let shown = |id: String, attributes: Vec<String>, text: &Option<String>| {
            let record = Record { id, attributes, title: None, text: text.clone().unwrap_or_default() };
            Document::new().with(Block::Records { trust: Trust::Data, records: vec![record] })
        };
        match self {
            Self::Lines(lines) => {
                let at = format!("lines {} to {}", lines.start_line, lines.end_line);
                let document = shown(lines.path.clone(), vec![at], &lines.content);
                match lines.next_line {
                    Some(next) => document.note(Mark::Info, format!("more from line {next} on")),
                    None => document,
                }
            }
            Self::Chunk(chunk) => {
                let at = format!("{}:{}-{}", chunk.source_path, chunk.start_line, chunk.end_line);
                shown(chunk.chunk_id.clone(), vec![at, chunk.index_status.to_owned()], &chunk.content)
            }
            Self::Refused(refused) => Document::new().note(Mark::Bad, refused.error.clone()),
        }
    }
}
