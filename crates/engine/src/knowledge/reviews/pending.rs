//! `get_pending_reviews`: what waits for a person's decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::{
    error::StoreError,
    ledger::{MemoryRow, ReviewFilter, ReviewRow, ReviewStatus},
};

use crate::{
    engine::Engine,
    error::Error,
    memory::reference::reader,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Record, Render, Trust, shortened},
    review::list::proposed,
};

/// See the module.
pub struct GetPendingReviews;

const DEFAULT_LIMIT: u32 = 50;
/// Characters of a summary.
const SUMMARY: usize = 200;

/// Which of them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Default 50.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// How many to pass over.
    #[schemars(range(min = 0, max = 100_000))]
    pub offset: Option<u32>,
}

/// The queue, longest waiting first.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// How many wait, shown or not.
    pub pending_count: usize,
    /// Those that were asked for.
    pub items: Vec<Item>,
}

/// One that waits.
#[derive(Debug, Serialize)]
pub struct Item {
    /// The review's id, as approving and rejecting want it.
    pub id: String,
    /// The topic of the memory it is about, the domain it had where it was imported from, its project, or else its layer.
    pub domain: String,
    /// That memory's title.
    pub section: String,
    /// That memory's kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is proposed, in short.
    pub summary: String,
    /// How sure that memory is, 0 to 1.
    pub confidence: Option<f64>,
    /// When it was proposed.
    pub submitted_at: String,
    /// What is asked: `candidate`, `amendment` or `conflict`.
    pub question: String,
    /// The memory's id.
    pub target: String,
}

impl Operation for GetPendingReviews {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_pending_reviews",
        cli: &["knowledge", "reviews"],
        positional: &[],
        title: "What waits for review",
        about: "Lists proposals that wait for a person's decision, longest first.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let passed_over = request.offset.unwrap_or(0) as usize;
        let filter = ReviewFilter {
            status: Some(ReviewStatus::Pending),
            visible_from: reader(call).cloned(),
            limit: limit + passed_over,
            ..ReviewFilter::default()
        };
        let found = engine.read(call, |r| {
            let pending_count = r.review_counts(&filter)?.iter().map(|(_, count)| count).sum();
            let page = r.reviews(&filter)?.into_iter().skip(passed_over);
            let items = page
                .map(|review| Ok(Item::new(r.memory(&review.target)?.as_ref(), review)))
                .collect::<Result<Vec<_>, StoreError>>()?;
            Ok(Response { success: true, pending_count, items })
        })?;
        Ok(Response { success: true, ..found })
    }
}

/// The domain that layered-memory gave it.
fn imported_domain(memory: &MemoryRow) -> Option<String> {
    let metadata: serde_json::Value = serde_json::from_str(&memory.metadata).ok()?;
    Some(metadata["domain"].as_str()?.to_owned())
}

impl Item {
    fn new(memory: Option<&MemoryRow>, review: ReviewRow) -> Self {
        let domain = |m: &MemoryRow| {
            let place =
                m.topic_key.clone().or_else(|| imported_domain(m)).or_else(|| m.scope.project.clone());
            place.unwrap_or_else(|| m.state.layer.to_string())
        };
        Self {
            summary: shortened(&proposed(&review, memory), SUMMARY),
            domain: memory.map(domain).unwrap_or_default(),
            section: memory.map(|m| m.title.clone()).unwrap_or_default(),
            kind: memory.map_or_else(|| review.kind.clone(), |m| m.kind.to_string()),
            confidence: memory.map(|m| m.state.confidence),
            submitted_at: review.created_at.to_rfc3339(),
            id: review.id,
            question: review.kind,
            target: review.target,
        }
    }

    fn record(&self) -> Record {
        Record {
            id: self.id.clone(),
            attributes: vec![
                format!("{} of {}", self.question, self.target),
                self.kind.clone(),
                self.submitted_at.clone(),
            ],
            title: (!self.section.is_empty()).then(|| self.section.clone()),
            text: self.summary.clone(),
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.items.is_empty() {
            let text = match self.pending_count {
                0 => "Nothing waits for review.".to_owned(),
                count => format!("{count} wait; none of them that far on."),
            };
            return Document::new().note(Mark::Info, text);
        }
        let records = self.items.iter().map(Item::record).collect();
        let document = Document::new().with(Block::Records { trust: Trust::Data, records });
        document.note(Mark::Info, format!("{} of {} that wait", self.items.len(), self.pending_count))
    }
}
