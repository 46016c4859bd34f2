//! `get_knowledge_by_id`: the one piece of knowledge that has an id.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    id::{Id, IdKind},
    knowledge::pointer,
    markdown::{
        self,
        fields::{Value, fields},
    },
    redact::redact,
};
use strata_store::index::Section;

use super::{
    access,
    files::{self, Readable},
    room::{REPLY, fitting},
};
use crate::{
    documents,
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Record, Render, Trust},
};

/// See the module.
pub struct GetKnowledgeById;

/// Which.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// From `search_semantic`, or an `id` of a frontmatter.
    pub entry_id: String,
}

/// The piece of knowledge.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// What it says.
    pub entry: View,
}

/// A piece of knowledge.
#[derive(Debug, Serialize)]
pub struct View {
    /// Its id.
    pub id: String,
    /// Its file, without `.md`.
    pub domain: String,
    /// Its heading.
    pub section: String,
    /// The kind that its frontmatter names.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Its text.
    pub content: String,
    /// Whether only its beginning is shown.
    #[serde(skip_serializing_if = "is_default")]
    pub truncated: bool,
    /// In short.
    pub summary: String,
    /// How sure it is.
    pub confidence: Option<f64>,
    /// `pending`, `approved` or `rejected`, as its frontmatter says.
    pub review_status: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
}

/// What a file says of itself in its frontmatter.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Described {
    pub(super) id: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) confidence: Option<f64>,
    pub(super) tags: Vec<String>,
    section: Option<String>,
    summary: Option<String>,
    review_status: Option<String>,
}

impl Described {
    /// Reads the frontmatter of a text; secrets in it are blacked out.
    pub(super) fn of(text: &str) -> Self {
        let mut described = Self::default();
        for (key, value) in fields(text) {
            let one = match &value {
                Value::Text(text) if !text.is_empty() => Some(redact(text).text.into_owned()),
                _ => None,
            };
            match (key.as_str(), value) {
                ("id", _) => described.id = one,
                ("type", _) => described.kind = one,
                ("section", _) => described.section = one,
                ("summary", _) => described.summary = one,
                ("review_status", _) => described.review_status = one,
                ("confidence", _) => described.confidence = one.and_then(|text| text.parse().ok()),
                ("tags", Value::List(tags)) => {
                    described.tags = tags.iter().map(|tag| redact(tag).text.into_owned()).collect();
                }
                ("tags", _) => described.tags = one.into_iter().collect(),
                _ => {}
            }
        }
        described
    }
}

impl Operation for GetKnowledgeById {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_knowledge_by_id",
        cli: &["knowledge", "entry"],
        positional: &["entry_id"],
        title: "Knowledge by its id",
        about: "Shows the piece of knowledge that has an id.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["entry_id"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let id = request.entry_id.trim();
        let files = files::readable(engine, call)?;
        let (file, entry) =
            named(&files, id).or_else(|| part(&files, id)).ok_or_else(|| Error::NotFound {
                what: "piece of knowledge",
                id: id.to_owned(),
                hint: "take the id from `search_semantic`; a section's id changes when its file does".into(),
            })?;
        access::log_read(engine, call, &file.head);
        Ok(Response { success: true, entry })
    }
}

/// The file whose frontmatter has this id.
fn named<'f>(files: &'f [Readable], id: &str) -> Option<(&'f Readable, View)> {
    // A look at the text tells most files apart without reading their frontmatter.
    let may_be = |file: &&Readable| !id.is_empty() && file.file.text().contains(id);
    files.iter().filter(may_be).find_map(|file| {
        let text = file.file.text();
        let described = Described::of(text);
        let same = described.id.as_deref() == Some(id);
        let content = redact(text[markdown::content_start(text)..].trim()).text.into_owned();
        same.then(|| (file, View::new(id, file, described, String::new(), &content)))
    })
}

/// The section that search names by this id.
fn part<'f>(files: &'f [Readable], id: &str) -> Option<(&'f Readable, View)> {
    let id = Id::parse(id).ok().filter(|id| id.kind() == IdKind::Document)?;
    let (number, part) = documents::parse_id(&id);
    let file = files.iter().find(|file| file.head.number == number)?;
    let sections = documents::vault_sections(&file.head.path.to_string(), file.file.text());
    let Section { title, body, .. } = documents::section_of_part(&sections, part)?.clone();
    let heading = title.split_once(" > ").map_or("", |(_, heading)| heading).to_owned();
    let described = Described::of(file.file.text());
    Some((file, View::new(&id.to_string(), file, described, heading, &body)))
}

impl View {
    fn new(id: &str, file: &Readable, described: Described, heading: String, content: &str) -> Self {
        let kept = fitting(content, REPLY);
        Self {
            id: id.to_owned(),
            domain: file.head.domain().to_owned(),
            section: if heading.is_empty() { described.section.unwrap_or_default() } else { heading },
            kind: described.kind,
            summary: described.summary.unwrap_or_else(|| pointer::summary(content)),
            truncated: kept.len() < content.len(),
            content: kept.to_owned(),
            confidence: described.confidence,
            review_status: described.review_status,
            tags: described.tags,
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let View { id, domain, section, content, .. } = &self.entry;
        let record = Record {
            id: id.clone(),
            attributes: vec![domain.clone()],
            title: Some(section.clone()).filter(|title| !title.is_empty()),
            text: content.clone(),
        };
        Document::new().with(Block::Records { trust: Trust::Data, records: vec![record] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frontmatter_describes_its_file() {
        let text = "---\nid: k-7\ntype: decision\nconfidence: 0.8\ntags: [db, 'pool']\nsummary: \"In short\"\nsource:\n  type: session\n---\n\nbody\n";
        let described = Described::of(text);
        assert_eq!(described.id.as_deref(), Some("k-7"));
        assert_eq!((described.kind.as_deref(), described.confidence), (Some("decision"), Some(0.8)));
        assert_eq!(
            (described.tags, described.summary.as_deref()),
            (vec!["db".into(), "pool".into()], Some("In short"))
        );
        assert_eq!(Described::of("# no frontmatter\n"), Described::default());
        assert_eq!(Described::of("---\nconfidence: high\ntags: one\n---\n").tags, ["one"]);
    }
}
