//! `entity_list`: what the graph knows of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::graph::{Origin, constraints::kind_word, label};
use strata_store::ledger::{EntityFilter, EntityRow};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct EntityList;

/// Entities shown when the caller names no limit.
const DEFAULT_LIMIT: u32 = 50;

/// Which entities.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// A label or a part of it; all when left out.
    pub query: Option<String>,
    /// Only this kind.
    pub kind: Option<String>,
    /// Only those of this origin.
    pub origin: Option<OriginName>,
    /// Only numbers above this: the last one of the page before.
    pub after: Option<i64>,
    /// Most entities, 1 to 500. Default 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// The origins by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OriginName {
    /// somebody said so
    Stated,
    /// noticed in a memory
    Inferred,
}

impl From<OriginName> for Origin {
    fn from(name: OriginName) -> Self {
        match name {
            OriginName::Stated => Self::Stated,
            OriginName::Inferred => Self::Inferred,
        }
    }
}

/// The entities.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Those found, oldest first.
    pub entities: Vec<Listed>,
    /// Whether there are more.
    pub has_more: bool,
}

/// An entity.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// Its number.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// What it is called.
    pub label: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is known of it.
    pub properties: serde_json::Value,
    /// Where it is known.
    pub scope: String,
    /// `stated` or `inferred`.
    pub origin: &'static str,
    /// How sure that is.
    pub confidence: f64,
}

impl Operation for EntityList {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "entity_list",
        cli: &["graph", "entities"],
        positional: &["query"],
        title: "List entities",
        about: "Lists the entities of the knowledge graph that are seen from here, by label, kind or origin. Use it to find a \
                label or id for the other graph tools.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("type", "kind"), ("label", "query")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let kind =
            request.kind.as_deref().map(kind_word).transpose().map_err(|e| Error::parse("kind", &e))?;
        let origin = request.origin.map(Origin::from);
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let filter = EntityFilter {
            visible_from: Some(call.scope.clone()),
            holding: request.query.filter(|query| !label::key(query).is_empty()),
            kind,
            origin,
            after: request.after.unwrap_or(0),
            limit: limit + 1,
        };
        let mut rows = engine.read(call, |read| read.entities(&filter))?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Ok(Response { entities: rows.into_iter().map(Listed::from).collect(), has_more })
    }
}

impl From<EntityRow> for Listed {
    fn from(row: EntityRow) -> Self {
        Self {
            number: row.number,
            id: row.id,
            label: row.label,
            kind: row.kind,
            properties: serde_json::from_str(&row.properties).unwrap_or_default(),
            scope: row.scope.to_string(),
            origin: row.origin.as_str(),
            confidence: row.confidence,
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.entities.is_empty() {
            return Document::new().note(Mark::Info, "Nothing found.");
        }
        let columns = ["", "label", "type", "origin", "scope", "id"].map(str::to_owned).to_vec();
        let rows = self.entities.iter().map(|e| {
            vec![
                format!("#{}", e.number),
                e.label.clone(),
                e.kind.clone(),
                e.origin.to_owned(),
                e.scope.clone(),
                e.id.clone(),
            ]
        });
        let document = Document::new().with(Block::Table { columns, rows: rows.collect() });
        match self.entities.last().filter(|_| self.has_more) {
            Some(last) => document.note(Mark::Info, format!("there are more: send `after` {}", last.number)),
            None => document,
        }
    }
}
