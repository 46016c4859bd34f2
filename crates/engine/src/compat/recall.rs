//! `knowledge_recall`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::anchors::AnchorView,
    recall::{
        arguments::{MAX_LIMIT, Request as Asked, SourceName},
        item::Item,
        operation::count_use,
        search::{Hit, search},
    },
    render::{Block, Document, Mark, Record, Render, Trust},
};

/// See the module.
pub struct KnowledgeRecall;

/// What to look for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// What you want to know.
    pub query: String,
    /// At most this many results, 1 to 100. Default 10.
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    pub limit: Option<u32>,
    /// Accepted for older clients; the same question always has the same answer.
    pub serendipity: Option<bool>,
}

/// The hits, best first: a list, as the older server gave it.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Response {
    /// Best first.
    pub hits: Vec<HitView>,
}

/// One hit.
#[derive(Debug, Serialize)]
pub struct HitView {
    /// The memory's number.
    pub id: i64,
    /// The memory's whole id.
    pub memory_id: String,
    /// Its kind.
    pub r#type: String,
    /// Its text, whole.
    pub content: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Its session.
    pub session_id: Option<String>,
    /// Its layer.
    pub layer: String,
    /// Who wrote it.
    pub who: String,
    /// How sure it is.
    pub confidence: f64,
    /// When it was written.
    pub created_at: String,
    /// Comparable within this answer only.
    pub score: f64,
    /// Cosine of question and text; null where no vector took part.
    pub semantic_score: Option<f64>,
    /// The code that it is pinned to, and whether that has changed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<AnchorView>,
}

impl Operation for KnowledgeRecall {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Compat,
        tool: "knowledge_recall",
        cli: &["compat", "recall"],
        positional: &["query"],
        title: "Find facts",
        about: "Finds memories, as `recall` does, under the name and with the reply of p-layer's older server: a list of \
                results with their whole text. For clients that were set up for it; others use `recall`, which also finds \
                raw turns and documents.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let asked = Asked {
            query: request.query,
            limit: request.limit,
            sources: vec![SourceName::Memory],
            ..Asked::default()
        };
        let outcome = search(engine, call, &asked.to_query(engine, call)?)?;
        count_use(engine, call, &outcome);
        Ok(Response { hits: outcome.hits.iter().filter_map(HitView::of).collect() })
    }
}

impl HitView {
    fn of(hit: &Hit) -> Option<Self> {
        let Item::Memory(row) = &hit.item else { return None };
        let score = f64::from(hit.found.hit.score);
        Some(Self {
            id: row.number,
            memory_id: row.id.clone(),
            r#type: row.kind.to_string(),
            content: row.body.clone(),
            source: Some(row.source.clone()).filter(|source| !source.is_empty()),
            session_id: row.session.clone(),
            layer: row.state.layer.to_string(),
            who: row.writer.clone(),
            confidence: row.state.confidence,
            created_at: row.created_at.to_rfc3339(),
            score: (score * 1e6).round() / 1e6,
            semantic_score: hit.found.hit.evidence.cosine.map(|c| (f64::from(c) * 1e6).round() / 1e6),
            code: hit.code.clone(),
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.hits.is_empty() {
            return Document::new().note(Mark::Info, "Nothing found in memory.");
        }
        let attributes = |hit: &HitView| {
            let told = [format!("#{}", hit.id), format!("{} {}", hit.layer, hit.r#type)];
            told.into_iter().chain(hit.code.iter().map(AnchorView::in_words)).collect()
        };
        let record = |hit: &HitView| Record {
            id: hit.memory_id.clone(),
            attributes: attributes(hit),
            title: None,
            text: hit.content.clone(),
        };
        let records = self.hits.iter().map(record).collect();
        Document::new().with(Block::Records { trust: Trust::Data, records })
    }
}
