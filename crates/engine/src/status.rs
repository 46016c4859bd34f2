//! `status`: what this memory is and how it is doing. Creates nothing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::{
    ledger::{LedgerRead, Totals},
    moving,
    sql::Access,
};

use crate::{
    authority::PUBLIC_KEY,
    engine::Engine,
    error::Error,
    judge,
    maintain::{due::overdue, migrate_store::CUT_OFF},
    memory::reference::sees_scope,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset, is_default},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct Status;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {}

/// The state of the home.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Version of this binary.
    pub version: &'static str,
    /// The home directory.
    pub home: String,
    /// The server that holds the store, its user and its database; absent when the store is in the home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// Whose memory on that server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// `ok`, `read_only` or `not_initialized`.
    pub status: &'static str,
    /// Who is asking, as the audit would record it.
    pub principal: String,
    /// Where the caller stands.
    pub scope: String,
    /// Semantic search: `on`, or `off: reason`.
    pub semantic: String,
    /// The language model that may be asked for advice: `off`, or which one and where. It was not asked.
    pub judge: String,
    /// What of the configuration makes no sense and was passed over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub configuration: Vec<String>,
    /// What the home holds; absent before `init`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<Holds>,
}

/// What the home holds.
#[derive(Debug, Serialize)]
pub struct Holds {
    /// Memories in force that the caller sees, by layer.
    pub by_layer: BTreeMap<String, i64>,
    /// Memories of every status, in every scope.
    pub memories: i64,
    /// Raw events.
    pub episodes: i64,
    /// Indexed files that are there.
    pub documents: i64,
    /// Todos that are neither done nor given up.
    pub open_todos: i64,
    /// Proposals that wait for a person.
    pub pending_reviews: i64,
    /// Lines of the audit.
    pub audit: i64,
    /// Whether a human's secret protects rules, identity and purges.
    pub has_secret: bool,
    /// Changes that the index has not followed yet.
    pub index_behind: i64,
    /// Tasks of upkeep that have not been done for twice as long as they should.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overdue: Vec<&'static str>,
    /// Whether a move to this store was cut off before it was looked over.
    #[serde(skip_serializing_if = "is_default")]
    pub unfinished_move: bool,
    /// Why the store cannot be written, when it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<String>,
}

impl Operation for Status {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Core,
        tool: "status",
        cli: &["status"],
        positional: &[],
        title: "Memory status",
        about: "Shows which memory this is, who you are to it, what it holds and whether it is healthy. \
                Use it when answers look wrong or empty. It changes nothing and is safe before `init`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let holds = if engine.is_initialised()? { Some(holds(engine, call)?) } else { None };
        let status = match &holds {
            None => "not_initialized",
            Some(holds) if holds.read_only.is_some() => "read_only",
            Some(_) => "ok",
        };
        Ok(Response {
            version: env!("CARGO_PKG_VERSION"),
            home: engine.home().display().to_string(),
            store: engine.settings().store.as_ref().map(ToString::to_string),
            tenant: engine.settings().store.as_ref().map(|server| server.tenant().to_owned()),
            status,
            principal: call.principal.to_string(),
            scope: call.scope.to_string(),
            semantic: engine.searcher().semantic().to_string(),
            judge: judge::describe(&engine.settings().config.judge),
            configuration: engine.settings().config.notices.clone(),
            holds,
        })
    }
}

fn holds(engine: &Engine, call: &Call<'_>) -> Result<Holds, Error> {
    let control = engine.control(call);
    let ledger = engine.existing_ledger()?;
    let (totals, by_layer, (has_secret, unfinished_move), head, overdue) = ledger.read(&control, |r| {
        let marks = (r.setting(PUBLIC_KEY)?.is_some(), moving::is_unfinished(r)?);
        Ok((r.totals()?, by_layer(r, call)?, marks, r.head()?.seq, overdue(engine, r)?))
    })?;
    let followed = match engine.searcher().index().cursor(engine.tenant()) {
        Ok(cursor) => cursor.mark.seq,
        // Who waited in vain does not wait again for the rest.
        Err(error) if error.is_busy() => return Err(error.into()),
        Err(_) => 0,
    };
    let read_only = match ledger.access(&control)? {
        Access::ReadOnly(reason) => Some(reason.to_string()),
        _ => None,
    };
    let Totals { memories, episodes, sources, open_todos, pending_reviews, audit, .. } = totals;
    Ok(Holds {
        by_layer,
        memories,
        episodes,
        documents: sources,
        open_todos,
        pending_reviews,
        audit,
        has_secret,
        index_behind: (head - followed).max(0),
        overdue,
        unfinished_move,
        read_only,
    })
}

fn by_layer(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
) -> Result<BTreeMap<String, i64>, strata_store::error::StoreError> {
    let mut layers = BTreeMap::new();
    for count in r.memory_counts()?.into_iter().filter(|c| c.status.is_live() && sees_scope(call, &c.scope)) {
        *layers.entry(count.layer.to_string()).or_default() += count.count;
    }
    Ok(layers)
}

impl Render for Response {
    fn render(&self) -> Document {
        let mark = match self.status {
            "ok" => Mark::Good,
            "read_only" => Mark::Warning,
            _ => Mark::Info,
        };
        let mut pairs = vec![
            ("home".to_owned(), self.home.clone()),
            ("you are".to_owned(), self.principal.clone()),
            ("scope".to_owned(), self.scope.clone()),
            ("semantic search".to_owned(), self.semantic.clone()),
            ("judge".to_owned(), self.judge.clone()),
        ];
        for (name, value) in [("tenant", &self.tenant), ("store", &self.store)] {
            if let Some(value) = value {
                pairs.insert(1, (name.to_owned(), value.clone()));
            }
        }
        let mut document = Document::new().note(mark, format!("Strata {}: {}", self.version, self.status));
        for notice in &self.configuration {
            document = document.note(Mark::Warning, notice.clone());
        }
        let Some(holds) = &self.holds else {
            return document.with(Block::Pairs(pairs)).note(
                Mark::Info,
                "nothing is stored yet; `strata init` sets a passphrase, or just start remembering",
            );
        };
        pairs.extend(holds.pairs());
        holds.notes(document.with(Block::Pairs(pairs)))
    }
}

impl Holds {
    fn pairs(&self) -> [(String, String); 6] {
        let layers: Vec<String> = self.by_layer.iter().map(|(l, n)| format!("{l}: {n}")).collect();
        let layers = if layers.is_empty() { "none".to_owned() } else { layers.join(", ") };
        [
            ("memories in force here", layers),
            ("episodes", self.episodes.to_string()),
            ("indexed files", self.documents.to_string()),
            ("open todos", self.open_todos.to_string()),
            ("waiting for review", self.pending_reviews.to_string()),
            ("audit lines", self.audit.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
    }

    /// What wants to be known beside the figures.
    fn notes(&self, mut document: Document) -> Document {
        if self.unfinished_move {
            document = document.note(Mark::Warning, CUT_OFF.join("; "));
        }
        if let Some(reason) = &self.read_only {
            document = document.note(Mark::Warning, format!("the store is read-only: {reason}"));
        }
        if self.index_behind > 0 {
            let behind = self.index_behind;
            let text = format!("changes not indexed yet: {behind}; the next search catches up");
            document = document.note(Mark::Info, text);
        }
        if !self.overdue.is_empty() {
            let text = format!("upkeep is overdue ({}); run `strata maintain`", self.overdue.join(", "));
            document = document.note(Mark::Info, text);
        }
        if !self.has_secret {
            let text =
                "no secret is set: rules and purges need one; a human runs `strata init` at a terminal";
            document = document.note(Mark::Info, text);
        }
        document
    }
}
