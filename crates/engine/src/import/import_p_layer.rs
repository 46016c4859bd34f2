//! `import_p_layer`: takes over a p-layer database, with its chains, rules and dates.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::memory::Layer;
use strata_store::foreign;

use super::{
    decide::{Plan, authorise, decide},
    graph_plan::{GraphOutcome, GraphPlan, PreparedGraph},
    p_layer::{self, PLayerDatabase},
    prepare::{Origin, Prepared, prepare},
    report::RowReport,
    settle::{Settled, Summary, settle},
};
use crate::{
    authority::hexadecimal,
    engine::Engine,
    error::Error,
    memory::{draft::placed, remember::ScopeName},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct ImportPLayer;

/// Rows of this source are told from those of others by its name.
const SOURCE: &str = "p-layer";

/// Which database.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The database file; the one that p-layer's own settings name by default.
    pub path: Option<String>,
    /// Where it belongs: user by default, because an older store was seen everywhere; or project.
    pub scope: Option<ScopeName>,
    /// A name that tells this store from another whose rows have the same numbers and dates; p-layer by default.
    pub source: Option<String>,
    /// Only say what would be imported.
    pub dry_run: Option<bool>,
}

/// What was imported.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The file.
    pub path: String,
    /// Its schema; 0 when it does not say.
    pub schema_version: i64,
    /// Where its content belongs now.
    pub scope: String,
    /// Memories stored now, rules among them.
    pub added: usize,
    /// Those of them kept as replaced, because the same text is in force already.
    pub merged: usize,
    /// Memories that follow a change of their row.
    pub updated: usize,
    /// Memories that ended, because their rows have since the last import.
    pub ended: usize,
    /// Rows that were here before.
    pub known: usize,
    /// Raw events stored now.
    pub episodes_added: usize,
    /// Raw events that were here before.
    pub episodes_known: usize,
    /// Rows whose memory or event was purged here; they stay out.
    pub purged: usize,
    /// Entities and relations stored now.
    pub entities_imported: usize,
    /// See `entities_imported`.
    pub relations_imported: usize,
    /// Entities that were left out.
    pub entities_skipped: usize,
    /// Relations that were left out: an end is missing, or the graph's constraints do not allow them.
    pub relations_skipped: usize,
    /// Snapshots the file holds; they are not taken over.
    pub snapshots: u64,
    /// Rows of its audit log.
    pub audit_rows: usize,
    /// The BLAKE3 of its audit log, which the audit of this home keeps.
    pub audit_hash: String,
    /// What is odd about the file as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What is said about rows.
    #[serde(flatten)]
    pub rows: RowReport,
    /// Whether this was only a look.
    pub dry_run: bool,
}

impl Operation for ImportPLayer {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "import_p_layer",
        cli: &["import-p-layer"],
        positional: &["path"],
        title: "Import a p-layer database",
        about: "Takes over a p-layer database of any schema: knowledge with its chains and writers, rules, episodes, the graph. The file \
                is only read. All good rows come in together, bad ones are listed by number. Running it again adds nothing \
                and follows what has changed. Rows of P0, P1 and P3 need one approval. Secrets are blacked out.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let path = database_path(engine, call, request.path.as_deref())?;
        let scope = placed(call.scope, Some(request.scope.unwrap_or(ScopeName::User)))?;
        let call = &Call { scope: &scope, ..*call };
        let mut database = foreign::read(&path, &engine.control(call), p_layer::read)?;
        let graph = std::mem::take(&mut database.incoming.graph);
        let mut gate = crate::gate::Gate::default();
        let source = gate.field("source", request.source.as_deref())?.unwrap_or_else(|| SOURCE.into());
        let origin = Origin::new(engine, call, &source);
        let mut prepared = prepare(engine, &origin, std::mem::take(&mut database.incoming));
        let constraints = engine.settings().config.graph.constraints()?;
        let graph = PreparedGraph::new(&origin, constraints, &graph, &mut prepared);
        let (plan, graph_plan) = engine.ledger(call)?.read(&engine.control(call), |r| {
            let mut plan = decide(r, &origin, &prepared)?;
            let graph_plan = graph.plan(r, &origin)?;
            plan.graph = graph_plan.work();
            Ok((plan, graph_plan))
        })?;
        graph_plan.report(&mut prepared.findings);
        let mut response = report(&path, &database, (&prepared, &plan), &origin);
        response.skipped(&graph, &graph_plan);
        if request.dry_run == Some(true) {
            response.dry_run = true;
            (response.added, response.episodes_added) = (plan.new.len(), plan.episodes.len());
            (response.updated, response.ended) =
                (plan.revised.len() + plan.adjusted.len() + plan.rules.len(), plan.ended.len());
            response.count_graph(graph_plan.outcome());
            return Ok(response);
        }
        if !plan.is_empty() {
            let actors = authorise(engine, call, &origin, &prepared, &plan, "import-p-layer PATH")?;
            let summary = summary(&database);
            let work = (&prepared, &plan, &actors);
            let settled = settle(engine, call, &origin, work, Some(&summary), true, |w| {
                let stored = graph.store(w, &origin, (&actors.of(Layer::P5, &origin), call.face))?;
                response.count_graph(stored);
                Ok(())
            })?;
            response.count(settled);
        }
        Ok(response)
    }
}

/// The file that was named, or the one that the older program's settings name.
pub(super) fn database_path(engine: &Engine, call: &Call<'_>, given: Option<&str>) -> Result<PathBuf, Error> {
    if let Some(given) = given.filter(|g| !g.trim().is_empty()) {
        return paths::reachable(engine, call, "path", given);
    }
    let Some(path) = engine.settings().older_database.as_deref() else {
        return Err(Error::argument("path", "is missing", "name the database file"));
    };
    if !path.is_file() {
        let message = format!("is missing, and there is no `{}`", path.display());
        return Err(Error::argument("path", message, "name the database file"));
    }
    paths::reachable(
        engine,
        call,
        "path",
        &std::path::absolute(path)
            .map_err(|source| Error::File { path: path.display().to_string(), source })?
            .display()
            .to_string(),
    )
}

/// The old audit log stays where it is; the audit of this home keeps how long it was and its hash, so that a
/// later change of it can be told.
fn summary(database: &PLayerDatabase) -> Summary {
    let (rows, hash) = database.audit;
    let said = format!("p-layer schema {}; its audit_log has {}", database.schema, counted(rows, "row"));
    (SOURCE.to_owned(), said, Some(hash))
}

fn report(
    path: &Path,
    database: &PLayerDatabase,
    (prepared, plan): (&Prepared, &Plan),
    origin: &Origin,
) -> Response {
    Response {
        path: path.display().to_string(),
        schema_version: database.schema,
        scope: origin.scope.to_string(),
        known: plan.known,
        episodes_known: plan.episodes_known,
        purged: plan.purged,
        snapshots: database.snapshots,
        audit_rows: database.audit.0,
        audit_hash: hexadecimal(&database.audit.1),
        warnings: database.warnings.clone(),
        rows: RowReport::of(prepared),
        ..Response::default()
    }
}

impl Response {
    fn skipped(&mut self, graph: &PreparedGraph, plan: &GraphPlan) {
        self.entities_skipped = graph.entities_refused + plan.purged;
        self.relations_skipped = graph.dangling + plan.refused.len();
    }

    fn count_graph(&mut self, stored: GraphOutcome) {
        (self.entities_imported, self.relations_imported) = (stored.entities, stored.relations);
    }

    fn count(&mut self, settled: Settled) {
        self.added = settled.added;
        self.merged = settled.merged;
        self.updated = settled.updated;
        self.ended = settled.ended;
        self.episodes_added = settled.episodes;
    }
}

fn graph(entities: usize, relations: usize) -> String {
    format!("{} and {}", counted(entities, "entity"), counted(relations, "relation"))
}

impl Render for Response {
    fn render(&self) -> Document {
        let would = if self.dry_run { "would import" } else { "imported" };
        let text = format!(
            "{would} {} and {} into {} from {} ({} known already, {} updated, {} ended, {} left out)",
            counted(self.added, "memory"),
            counted(self.episodes_added, "episode"),
            self.scope,
            self.path,
            self.known + self.episodes_known,
            self.updated,
            self.ended,
            self.rows.rejected
        );
        let mark = if self.rows.rejected == 0 { Mark::Good } else { Mark::Warning };
        let mut document = Document::new().note(mark, text);
        for warning in &self.warnings {
            document = document.note(Mark::Warning, warning.clone());
        }
        if self.merged > 0 {
            document = document.text(format!(
                "{} of them say what is in force already; they are kept as replaced",
                self.merged
            ));
        }
        if self.entities_imported + self.relations_imported > 0 {
            let graph = graph(self.entities_imported, self.relations_imported);
            document = document.text(format!("graph: {graph}"));
        }
        if self.entities_skipped + self.relations_skipped > 0 {
            let graph = graph(self.entities_skipped, self.relations_skipped);
            document = document.note(Mark::Warning, format!("left out of the graph: {graph}"));
        }
        if self.snapshots > 0 {
            document = document.text(format!("not taken over: {}", counted(self.snapshots, "snapshot")));
        }
        self.rows.render(document)
    }
}
