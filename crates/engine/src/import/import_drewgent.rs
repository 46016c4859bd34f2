//! `import_drewgent`: takes over a drewgent `knowledge.db`, once or as long as the old program writes it.

use std::{path::Path, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{error::ErrorKind, memory::Layer};
use strata_store::{
    error::StoreError,
    foreign::{self, ForeignStamp},
};

use super::{
    decide::{authorise, decide},
    drewgent::{self, DrewgentDatabase},
    follow::{Cursor, wait},
    graph_plan::PreparedGraph,
    prepare::{Origin, prepare},
    report::RowReport,
    settle::settle,
};
use crate::{
    engine::Engine,
    error::Error,
    memory::{draft::placed, remember::ScopeName},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct ImportDrewgent;

/// Rows of this source are told from those of others by its name.
const SOURCE: &str = "drewgent";
/// Seconds between two looks.
const INTERVAL: f64 = 5.0;

/// Which database, and for how long.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The database file.
    pub path: String,
    /// Where it belongs: user by default, because an older store was seen everywhere; or project.
    pub scope: Option<ScopeName>,
    /// Leave the search index to the next search.
    pub no_embed: Option<bool>,
    /// Keep importing what is written to the file, until the command is interrupted.
    pub follow: Option<bool>,
    /// With follow: seconds between two looks at the file, 0.1 to 3600; 5 by default.
    pub interval: Option<f64>,
}

/// What was imported.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Response {
    /// Memories stored now.
    pub knowledge_imported: usize,
    /// Entities stored now.
    pub entities_imported: usize,
    /// Relations stored now.
    pub relations_imported: usize,
    /// Relations left out: an end is missing, or the graph's rules do not allow them.
    pub relations_skipped: usize,
    /// Sessions stored now.
    pub sessions_imported: usize,
    /// Memories that got a vector along with it.
    pub reembedded: usize,
    /// Entities left out.
    pub entities_skipped: usize,
    /// Memories that follow a change of their row.
    pub knowledge_updated: usize,
    /// Rows that were here before.
    pub known: usize,
    /// Rows whose memory or event was purged here; they stay out.
    pub purged: usize,
    /// What is said about rows.
    #[serde(flatten)]
    pub rows: RowReport,
    /// With follow: looks at which something had changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<usize>,
    /// With follow: looks at which the file was missing, locked or half written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<usize>,
    /// The file.
    pub path: String,
    /// Where its content belongs now.
    pub scope: String,
}

impl Operation for ImportDrewgent {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "import_drewgent",
        cli: &["import-drewgent"],
        positional: &["path"],
        title: "Import a drewgent database",
        about: "Takes over a drewgent knowledge.db: knowledge (P5), sessions (P2) and the graph, with their dates. The file is only read. \
                All good rows come in together, bad ones are listed by number; running it again adds nothing. With follow it \
                goes on importing what the old program writes, until interrupted, and takes up there when started again.",
        effect: Effect::Write,
        audience: Audience::People,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("src", "path")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let path = paths::reachable(engine, call, "path", &request.path)?;
        let scope = placed(call.scope, Some(request.scope.unwrap_or(ScopeName::User)))?;
        let call = &Call { scope: &scope, ..*call };
        let interval = request.interval.unwrap_or(INTERVAL);
        if !(0.1..=3600.0).contains(&interval) {
            return Err(Error::argument(
                "interval",
                format!("{interval} is out of range"),
                "send 0.1 to 3600",
            ));
        }
        let import = Import { engine, call, path: &path, embed: request.no_embed != Some(true) };
        if request.follow == Some(true) {
            return import.follow(Duration::from_secs_f64(interval));
        }
        let database = import.read(None)?;
        import.store(database, None)
    }
}

/// One file on its way in.
struct Import<'a> {
    engine: &'a Engine,
    call: &'a Call<'a>,
    path: &'a Path,
    embed: bool,
}

impl Import<'_> {
    fn read(&self, after: Option<i64>) -> Result<DrewgentDatabase, Error> {
        let control = self.engine.control(self.call);
        Ok(foreign::read(self.path, &control, |reader| drewgent::read(reader, after))?)
    }

    /// Stores what was read; the cursor goes into the same transaction.
    fn store(&self, database: DrewgentDatabase, cursor: Option<(&str, &Cursor)>) -> Result<Response, Error> {
        let (engine, call) = (self.engine, self.call);
        let DrewgentDatabase { mut incoming, .. } = database;
        let graph = std::mem::take(&mut incoming.graph);
        let origin = Origin::new(engine, call, SOURCE);
        let mut prepared = prepare(engine, &origin, incoming);
        let constraints = engine.settings().config.graph.constraints()?;
        let graph = PreparedGraph::new(&origin, constraints, &graph, &mut prepared);
        let (plan, graph_plan) = engine.ledger(call)?.read(&engine.control(call), |r| {
            let mut plan = decide(r, &origin, &prepared)?;
            let graph_plan = graph.plan(r, &origin)?;
            plan.graph = graph_plan.work();
            Ok((plan, graph_plan))
        })?;
        graph_plan.report(&mut prepared.findings);
        let mut response = Response {
            entities_skipped: graph.entities_refused + graph_plan.purged,
            relations_skipped: graph.dangling + graph_plan.refused.len(),
            known: plan.known + plan.episodes_known,
            purged: plan.purged,
            rows: RowReport::of(&prepared),
            path: self.path.display().to_string(),
            scope: origin.scope.to_string(),
            ..Response::default()
        };
        if plan.is_empty() {
            return Ok(response);
        }
        let actors = authorise(engine, call, &origin, &prepared, &plan, "import-drewgent PATH")?;
        let settled = settle(engine, call, &origin, (&prepared, &plan, &actors), None, self.embed, |w| {
            let stored = graph.store(w, &origin, (&actors.of(Layer::P5, &origin), call.face))?;
            (response.entities_imported, response.relations_imported) = (stored.entities, stored.relations);
            cursor.map_or(Ok(()), |(setting, cursor)| w.set_setting(setting, &cursor.to_text()))
        })?;
        response.knowledge_imported = settled.added;
        response.knowledge_updated = settled.updated;
        response.sessions_imported = settled.episodes;
        response.reembedded = if self.embed { settled.added + settled.updated } else { 0 };
        Ok(response)
    }

    /// Imports what is there and what comes, until the call is withdrawn.
    fn follow(&self, interval: Duration) -> Result<Response, Error> {
        let setting = Cursor::setting(SOURCE, self.path);
        let mut cursor = Cursor::load(self.engine, self.call, &setting)?;
        let mut total = Response {
            path: self.path.display().to_string(),
            scope: self.call.scope.to_string(),
            passes: Some(0),
            waits: Some(0),
            ..Response::default()
        };
        loop {
            match self.changes(cursor.as_ref()) {
                Ok(Some((stamp, database))) => {
                    let now = Cursor::at(&stamp, database.last);
                    match self.store(database, Some((&setting, &now))) {
                        Ok(pass) => {
                            total.add(&pass);
                            cursor = Some(now);
                        }
                        Err(Error::Cancelled | Error::Store(StoreError::Cancelled)) => return Ok(total),
                        Err(error) if is_crossed(&error) => *total.waits.get_or_insert(0) += 1,
                        Err(error) => return Err(error),
                    }
                }
                Ok(None) => {}
                Err(Error::Cancelled | Error::Store(StoreError::Cancelled)) => return Ok(total),
                Err(error) if is_unready(&error, &total) => *total.waits.get_or_insert(0) += 1,
                Err(error) => return Err(error),
            }
            (self.call.progress)(total.imported() as u64, 0);
            if !wait(self.call.cancel, interval) {
                return Ok(total);
            }
        }
    }

    /// What was written to the file since the cursor, and how the file looked before it was read.
    fn changes(&self, cursor: Option<&Cursor>) -> Result<Option<(ForeignStamp, DrewgentDatabase)>, Error> {
        let Some(stamp) = ForeignStamp::of(self.path) else {
            let source = std::io::ErrorKind::NotFound.into();
            return Err(Error::File { path: self.path.display().to_string(), source });
        };
        if cursor.is_some_and(|c| c.is_current(&stamp)) {
            return Ok(None);
        }
        let database = self.read(cursor.and_then(|c| c.after(&stamp)))?;
        Ok(Some((stamp, database)))
    }
}

/// Whether the file may be readable at the next look: it is being replaced, locked, half written, or made anew.
fn is_unready(error: &Error, total: &Response) -> bool {
    let was_read = total.passes.is_some_and(|passes| passes > 0);
    match error.kind() {
        ErrorKind::Busy | ErrorKind::Corrupt | ErrorKind::Unavailable => true,
        ErrorKind::Invalid => was_read,
        _ => false,
    }
}

/// Whether somebody else's write came between, so that the same rows are tried again at the next look.
fn is_crossed(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Busy | ErrorKind::Conflict)
}

impl Response {
    fn imported(&self) -> usize {
        self.knowledge_imported + self.sessions_imported
    }

    fn add(&mut self, pass: &Self) {
        self.knowledge_imported += pass.knowledge_imported;
        self.knowledge_updated += pass.knowledge_updated;
        self.entities_imported += pass.entities_imported;
        self.relations_imported += pass.relations_imported;
        self.sessions_imported += pass.sessions_imported;
        self.reembedded += pass.reembedded;
        // Counted anew at every look.
        self.entities_skipped = pass.entities_skipped;
        self.relations_skipped = pass.relations_skipped;
        self.known = pass.known;
        self.purged = pass.purged;
        self.rows = pass.rows.clone();
        *self.passes.get_or_insert(0) += 1;
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = format!(
            "imported {}, {}, {} and {} into {} from {} ({} known already, {} updated, {} left out)",
            counted(self.knowledge_imported, "memory"),
            counted(self.sessions_imported, "session"),
            counted(self.entities_imported, "entity"),
            counted(self.relations_imported, "relation"),
            self.scope,
            self.path,
            self.known,
            self.knowledge_updated,
            self.rows.rejected
        );
        let mark = if self.rows.rejected == 0 { Mark::Good } else { Mark::Warning };
        self.rows.render(Document::new().note(mark, text))
    }
}
