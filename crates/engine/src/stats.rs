//! `memory_stats`: how much there is of everything.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{chain::Outcome, memory::Layer};
use strata_embed::Semantic;
use strata_store::ledger::{AuditFilter, LOCAL, MemoryCount, SCHEMA};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Render},
};

/// See the module.
pub struct Stats;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// The figures. All scopes count.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Memories of every status.
    pub knowledge: i64,
    /// Memories in force.
    pub active: i64,
    /// Memories of every status, by kind.
    pub by_type: BTreeMap<String, i64>,
    /// Memories of every status, by layer.
    pub by_layer: BTreeMap<String, i64>,
    /// Memories, by status.
    pub by_status: BTreeMap<String, i64>,
    /// Memories in force, by layer.
    pub active_by_layer: BTreeMap<String, i64>,
    /// Vectors of passages, in all models.
    pub embeddings: usize,
    /// The same, by model.
    pub embeddings_by_version: BTreeMap<String, usize>,
    /// Raw events.
    pub episodes: i64,
    /// Indexed files that are there.
    pub documents: i64,
    /// Rules in force: the memories of P0.
    pub rules: i64,
    /// Snapshots.
    pub snapshots: usize,
    /// Proposals that wait for a person.
    pub pending_reviews: i64,
    /// Things that were erased for good.
    pub purged: i64,
    /// Lines of the audit.
    pub audit: i64,
    /// How many of them are refusals; the same one again has no line of its own.
    pub refused: i64,
    /// Version of the ledger's schema that this binary writes.
    pub schema_version: i64,
    /// The embedding model in use.
    pub embedder: String,
    /// Why semantic search is off, when it is.
    pub embed_warning: Option<String>,
    /// Changes that the index has not followed yet.
    pub index_behind: i64,
}

impl Operation for Stats {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "memory_stats",
        cli: &["govern", "stats"],
        positional: &[],
        title: "Figures of the memory",
        about: "Counts what the memory holds: memories by kind, layer and status, rules, raw events, vectors, snapshots, \
                proposals that wait, lines of the audit and refusals. Use it to see whether knowledge grows and is distilled. \
                For who you are and whether all is well, call `status`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["stats"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        stats(engine, call)
    }
}

/// Counts everything.
pub(crate) fn stats(engine: &Engine, call: &Call<'_>) -> Result<Response, Error> {
    let ledger = engine.existing_ledger()?;
    let refusals = AuditFilter { outcome: Some(Outcome::Refused), ..AuditFilter::default() };
    let (totals, counts, snapshots, refused, head) = ledger.read(&engine.control(call), |r| {
        let snapshots = r.snapshots()?.len();
        Ok((r.totals()?, r.memory_counts()?, snapshots, r.audit_count(&refusals)?, r.head()?.seq))
    })?;
    let index = engine.searcher().index();
    let embeddings_by_version = vectors(engine)?;
    let live = |count: &MemoryCount| count.status.is_live();
    let any = |_: &MemoryCount| true;
    let active_by_layer = summed(&counts, live, |c| c.layer.to_string());
    Ok(Response {
        knowledge: totals.memories,
        active: active_by_layer.values().sum(),
        by_type: summed(&counts, any, |c| c.kind.to_string()),
        by_layer: summed(&counts, any, |c| c.layer.to_string()),
        by_status: summed(&counts, any, |c| c.status.to_string()),
        embeddings: embeddings_by_version.values().sum(),
        embeddings_by_version,
        episodes: totals.episodes,
        documents: totals.sources,
        rules: active_by_layer.get(Layer::P0.as_str()).copied().unwrap_or(0),
        active_by_layer,
        snapshots,
        pending_reviews: totals.pending_reviews,
        purged: totals.purged,
        audit: totals.audit,
        refused,
        schema_version: SCHEMA.latest(),
        embedder: engine.searcher().model().unwrap_or("none").to_owned(),
        embed_warning: match engine.searcher().semantic() {
            Semantic::Off { reason } => Some(reason.to_string()),
            _ => None,
        },
        index_behind: (head - index.cursor(LOCAL).map_or(0, |cursor| cursor.mark.seq)).max(0),
    })
}

fn summed(
    counts: &[MemoryCount],
    wanted: impl Fn(&MemoryCount) -> bool,
    key: impl Fn(&MemoryCount) -> String,
) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    for count in counts.iter().filter(|count| wanted(count)) {
        *sums.entry(key(count)).or_default() += count.count;
    }
    sums
}

/// How many live passages have a vector, by model.
fn vectors(engine: &Engine) -> Result<BTreeMap<String, usize>, Error> {
    let index = engine.searcher().index();
    let mut found = BTreeMap::new();
    if !index.database().exists() {
        return Ok(found);
    }
    let live = index.live_passages(LOCAL)?;
    for set in index.vector_sets(LOCAL)? {
        let missing = index.missing(LOCAL, &set.model, usize::MAX)?.len();
        found.insert(set.model, live.saturating_sub(missing));
    }
    Ok(found)
}

impl Render for Response {
    fn render(&self) -> Document {
        let listed = |counts: &BTreeMap<String, i64>| {
            let all: Vec<String> = counts.iter().map(|(what, n)| format!("{what}: {n}")).collect();
            if all.is_empty() { "none".to_owned() } else { all.join(", ") }
        };
        let pairs = [
            ("memories", format!("{}, of them {} in force", self.knowledge, self.active)),
            ("by kind", listed(&self.by_type)),
            ("by layer", listed(&self.by_layer)),
            ("in force by layer", listed(&self.active_by_layer)),
            ("by status", listed(&self.by_status)),
            ("rules", self.rules.to_string()),
            ("episodes", self.episodes.to_string()),
            ("indexed files", self.documents.to_string()),
            ("vectors", format!("{} by {}", self.embeddings, self.embedder)),
            ("snapshots", self.snapshots.to_string()),
            ("waiting for review", self.pending_reviews.to_string()),
            ("audit", format!("{} lines, of them {} refusals", self.audit, self.refused)),
            ("purged", self.purged.to_string()),
            ("schema", format!("version {}", self.schema_version)),
        ];
        Document::new().with(Block::Pairs(pairs.map(|(what, text)| (what.to_owned(), text)).to_vec()))
    }
}
