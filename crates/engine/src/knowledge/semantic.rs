//! `search_semantic`: the sections of the vault that are nearest in meaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{knowledge::changelog::clip, redact::redact};

use super::{
    access::{self, Access, AccessKind},
    entry::Described,
    files::{self, Readable},
    recall::by_meaning,
    room::{check_question, echo},
    vault,
};
use crate::{
    documents,
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    recall::item::DocumentPart,
    render::{Block, Document, Mark, Record, Render, Trust, rounded},
};

/// See the module.
pub struct SearchSemantic;

const DEFAULT_RESULTS: u32 = 5;
/// Characters of a text.
const PREVIEW: usize = 200;

/// What to look for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// A question or statement.
    pub query: String,
    /// Sections. Default 5.
    #[schemars(range(min = 1, max = 30))]
    pub top_n: Option<u32>,
    /// Only this file.
    pub domain: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// What was looked for.
    pub query: String,
    /// The sections, nearest first.
    pub results: Vec<Found>,
}

/// A section.
#[derive(Debug, Serialize)]
pub struct Found {
    /// The id in its frontmatter, or that of the section; `get_knowledge_by_id` takes either.
    pub id: String,
    /// Its file, without `.md`.
    pub domain: String,
    /// Its beginning.
    pub text: String,
    /// More about it.
    pub metadata: Metadata,
    /// The cosine.
    pub score: f64,
}

/// More about a section.
#[derive(Debug, Serialize)]
pub struct Metadata {
    /// The kind that its frontmatter names.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// How sure it is, as its frontmatter says.
    pub confidence: Option<f64>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its heading.
    pub section: String,
}

impl Operation for SearchSemantic {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "search_semantic",
        cli: &["knowledge", "semantic"],
        positional: &["query"],
        title: "Find knowledge by meaning",
        about: "Finds the sections of knowledge nearest in meaning, with their cosines.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        check_question("query", &request.query)?;
        if request.query.trim().is_empty() {
            return Err(Error::argument("query", "is empty", "say what you look for"));
        }
        let mut files = files::readable(engine, call)?;
        if let Some(domain) = &request.domain {
            let place = vault::locate(engine, call, "domain", domain)?;
            files.retain(|file| file.head.namespace == place.namespace && file.head.path == place.path);
        }
        let limit = request.top_n.unwrap_or(DEFAULT_RESULTS) as usize;
        let found = by_meaning(engine, call, &files, &request.query, limit)?;
        let results: Vec<(Found, &Readable)> = found
            .iter()
            .take(limit)
            .filter_map(|passage| {
                let file = files.iter().find(|file| file.head.number == passage.part.file.number)?;
                Some((Found::new(&passage.part, file, passage.score), file))
            })
            .collect();
        log(engine, call, &request.query, &results);
        let results = results.into_iter().map(|(found, _)| found).collect();
        Ok(Response { success: true, query: echo(&request.query), results })
    }
}

fn log(engine: &Engine, call: &Call<'_>, query: &str, results: &[(Found, &Readable)]) {
    let paths: Vec<String> = results.iter().map(|(_, file)| file.head.path.to_string()).collect();
    let accesses: Vec<Access<'_>> = results
        .iter()
        .zip(&paths)
        .enumerate()
        .map(|(at, ((found, file), path))| Access {
            namespace: file.head.namespace.as_str(),
            path,
            kind: AccessKind::Semantic,
            query: Some(query),
            rank: Some(at + 1),
            score: Some(found.score),
        })
        .collect();
    access::log(engine, call, &accesses);
}

impl Found {
    fn new(part: &DocumentPart, file: &Readable, cosine: f64) -> Self {
        let described = Described::of(file.file.text());
        let title = &part.section.title;
        let body = part.section.body.trim();
        // What was cut of a text ends in three dots here, as it does in the pointers.
        let text = match clip(body, PREVIEW) {
            short if short.len() == body.len() => short,
            cut => cut.trim_end_matches('…').to_owned() + "...",
        };
        Self {
            id: described.id.unwrap_or_else(|| documents::id(part.file.number, part.part).to_string()),
            domain: file.head.domain().to_owned(),
            text: redact(&text).text.into_owned(),
            metadata: Metadata {
                kind: described.kind,
                confidence: described.confidence,
                tags: described.tags,
                section: title.split_once(" > ").map_or("", |(_, heading)| heading).to_owned(),
            },
            // The bytes of a vector are rounded, and its length with them.
            score: rounded(cosine.min(1.0), 4),
        }
    }

    fn record(&self) -> Record {
        Record {
            id: self.id.clone(),
            attributes: vec![self.domain.clone(), format!("cosine {}", self.score)],
            title: Some(self.metadata.section.clone()).filter(|title| !title.is_empty()),
            text: self.text.clone(),
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.results.is_empty() {
            return Document::new().note(Mark::Info, "Nothing in the knowledge is near in meaning.");
        }
        let records = self.results.iter().map(Found::record).collect();
        Document::new().with(Block::Records { trust: Trust::Data, records })
    }
}
