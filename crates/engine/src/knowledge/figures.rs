//! `get_memory_v2_stats`: what search by meaning and the review queue hold.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::name::stem;
use strata_embed::Semantic;
use strata_store::ledger::{ReviewFilter, ReviewStatus};

use super::{
    files,
    room::{REPLY, fitting_names},
    vault::ParsedFile,
};
use crate::{
    engine::Engine,
    error::Error,
    memory::reference::reader,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Render},
};

/// See the module.
pub struct GetMemoryV2Stats;

/// Nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// The figures.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The figures.
    pub v2_stats: Figures,
}

/// The figures.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// What is searched by meaning.
    pub vector_store: VectorStore,
    /// What was proposed.
    pub review_queue: Queue,
    /// The files, without `.md`.
    pub l1_domains: Vec<String>,
    /// How many more there are, here and by section.
    #[serde(skip_serializing_if = "is_default")]
    pub domains_left_out: usize,
}

/// What is searched by meaning.
#[derive(Debug, Serialize)]
pub struct VectorStore {
    /// Sections with a text.
    pub total_entries: usize,
    /// The same, by file.
    pub domains: BTreeMap<String, usize>,
    /// The model.
    pub model: Option<String>,
    /// Components of a vector.
    pub dim: Option<usize>,
    /// Whether it answers.
    pub is_fitted: bool,
    /// Where the index lies.
    pub db_path: String,
}

/// What was proposed.
#[derive(Debug, Default, Serialize)]
pub struct Queue {
    /// All of it.
    pub total: usize,
    /// What waits.
    pub pending: usize,
    /// What was approved.
    pub approved: usize,
    /// What was turned down.
    pub rejected: usize,
}

impl Operation for GetMemoryV2Stats {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_memory_v2_stats",
        cli: &["knowledge", "figures"],
        positional: &[],
        title: "Figures of search by meaning and of the reviews",
        about: "Counts sections searched by meaning, and proposals by state.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _: Request) -> Result<Response, Error> {
        let mut domains = BTreeMap::new();
        for file in files::readable(engine, call)? {
            let path = file.head.path.to_string();
            domains.insert(stem(&path).to_owned(), sections(&file.file));
        }
        let searcher = engine.searcher();
        let place = match &engine.settings().store {
            None => searcher.index().path().display().to_string(),
            Some(server) => server.to_string(),
        };
        let total_entries = domains.values().sum();
        let names: Vec<String> = domains.keys().cloned().collect();
        let (listed, left_out) = fitting_names(&names, REPLY / 3);
        domains.retain(|name, _| listed.contains(name));
        Ok(Response {
            success: true,
            v2_stats: Figures {
                l1_domains: listed.to_vec(),
                domains_left_out: left_out,
                vector_store: VectorStore {
                    total_entries,
                    domains,
                    model: searcher.model().map(str::to_owned),
                    dim: searcher.dimension(),
                    is_fitted: searcher.semantic() == Semantic::On,
                    db_path: place,
                },
                review_queue: queue(engine, call)?,
            },
        })
    }
}

/// How many sections of a file say something; one that has no sections is one.
pub(super) fn sections(file: &ParsedFile) -> usize {
    let count = (0..file.entries().len()).filter(|at| !file.body(*at).is_empty()).count();
    if count == 0 { usize::from(!file.text().trim().is_empty()) } else { count }
}

fn queue(engine: &Engine, call: &Call<'_>) -> Result<Queue, Error> {
    let visible_from = reader(call).cloned();
    engine.read(call, |r| {
        let count = |status: Option<ReviewStatus>| {
            let filter =
                ReviewFilter { status, visible_from: visible_from.clone(), ..ReviewFilter::default() };
            Ok::<usize, strata_store::error::StoreError>(
                r.review_counts(&filter)?.iter().map(|(_, count)| count).sum(),
            )
        };
        Ok(Queue {
            total: count(None)?,
            pending: count(Some(ReviewStatus::Pending))?,
            approved: count(Some(ReviewStatus::Approved))?,
            rejected: count(Some(ReviewStatus::Rejected))?,
        })
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let Figures { vector_store, review_queue, l1_domains, domains_left_out } = &self.v2_stats;
        let model = vector_store.model.as_deref().unwrap_or("none");
        let pairs = [
            ("files", (l1_domains.len() + domains_left_out).to_string()),
            ("sections", vector_store.total_entries.to_string()),
            ("model", model.to_owned()),
            ("answers by meaning", if vector_store.is_fitted { "yes" } else { "no" }.to_owned()),
            ("proposals", format!("{}, {} wait", review_queue.total, review_queue.pending)),
        ];
        let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Document::new().with(Block::Pairs(pairs))
    }
}
