//! `memory_stats`: how much there is of everything.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::chain::Outcome;
use strata_embed::Semantic;
use strata_store::{
    error::StoreError,
    ledger::{AuditFilter, LedgerRead, MemoryCount, SCHEMA},
};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Render, counted},
    rules::is_rule,
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
    /// Entities of the graph.
    pub entities: i64,
    /// Relations that hold.
    pub relations: i64,
    /// Live memories of kind rule, of any layer.
    pub rules: i64,
    /// Those of them that are not disabled.
    pub rules_enabled: i64,
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
    /// What keeps the memory: `sqlite`, or `postgresql`.
    pub backend: &'static str,
    /// Whether searches go by meaning too. That needs a model and no extension of a server.
    pub semantic_available: bool,
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
        about: "Counts what the memory holds: memories by kind, layer and status, rules, raw events, the graph, vectors, snapshots, \
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
    let (totals, counts, snapshots, refused, head, disabled) = ledger.read(&engine.control(call), |r| {
        let snapshots = r.snapshots()?.len();
        let refused = r.audit_count(&refusals)?;
        Ok((r.totals()?, r.memory_counts()?, snapshots, refused, r.head()?.seq, disabled_rules(r)?))
    })?;
    let index = engine.searcher().index();
    let embeddings_by_version = vectors(engine)?;
    let live = |count: &MemoryCount| count.status.is_live();
    let any = |_: &MemoryCount| true;
    let active_by_layer = summed(&counts, live, |c| c.layer.to_string());
    let rules = counts.iter().filter(|c| live(c) && is_rule(&c.kind)).map(|c| c.count).sum::<i64>();
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
        entities: totals.entities,
        relations: totals.relations,
        rules,
        rules_enabled: rules - disabled,
        active_by_layer,
        snapshots,
        pending_reviews: totals.pending_reviews,
        purged: totals.purged,
        audit: totals.audit,
        refused,
        schema_version: SCHEMA.latest(),
        backend: if engine.settings().store.is_some() { "postgresql" } else { "sqlite" },
        semantic_available: !matches!(engine.searcher().semantic(), Semantic::Off { .. }),
        embedder: engine.searcher().model().unwrap_or("none").to_owned(),
        embed_warning: match engine.searcher().semantic() {
            Semantic::Off { reason } => Some(reason.to_string()),
            _ => None,
        },
        index_behind: (head - index.cursor(engine.tenant()).map_or(0, |cursor| cursor.mark.seq)).max(0),
    })
}

/// How many live rules are disabled.
fn disabled_rules(r: &LedgerRead<'_>) -> Result<i64, StoreError> {
    let mut disabled = 0;
    for (number, _) in r.rules_now()?.into_iter().filter(|(_, attributes)| !attributes.enabled) {
        let rule = r.memory_by_number(number)?;
        let counts = rule.is_some_and(|rule| rule.state.status.is_live() && is_rule(&rule.kind));
        disabled += i64::from(counts);
    }
    Ok(disabled)
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
    if !index.database().exists(&strata_store::Control::default())? {
        return Ok(found);
    }
    let live = index.live_passages(engine.tenant())?;
    for set in index.vector_sets(engine.tenant())? {
        let missing = index.missing_count(engine.tenant(), &set.model)?;
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
            ("rules", format!("{}, of them {} enabled", self.rules, self.rules_enabled)),
            (
                "graph",
                format!("{}, {}", counted(self.entities, "entity"), counted(self.relations, "relation")),
            ),
            ("episodes", self.episodes.to_string()),
            ("indexed files", self.documents.to_string()),
            ("vectors", format!("{} by {}", self.embeddings, self.embedder)),
            ("snapshots", self.snapshots.to_string()),
            ("waiting for review", self.pending_reviews.to_string()),
            (
                "audit",
                format!("{}, of them {}", counted(self.audit, "line"), counted(self.refused, "refusal")),
            ),
            ("purged", self.purged.to_string()),
            ("schema", format!("version {}", self.schema_version)),
        ];
        Document::new().with(Block::Pairs(pairs.map(|(what, text)| (what.to_owned(), text)).to_vec()))
    }
}
