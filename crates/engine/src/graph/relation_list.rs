//! `relation_list`: what is related to what, and what was.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::ledger::{LedgerRead, RelationFilter, RelationRow};

use super::naming::{self, Shown};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct RelationList;

/// Relations shown when the caller names no limit.
const DEFAULT_LIMIT: u32 = 50;

/// Which relations.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only those of this entity, by label or id.
    pub entity: Option<String>,
    /// Only this type.
    pub relation: Option<String>,
    /// Also those that were taken back.
    pub ended: Option<bool>,
    /// Only numbers above this: the last one of the page before.
    pub after: Option<i64>,
    /// Most relations, 1 to 500. Default 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// The relations.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Oldest first.
    pub relations: Vec<Listed>,
    /// Whether there are more.
    pub has_more: bool,
}

/// A relation.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// Its place in the order of all relations.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// Where it starts.
    pub source: Shown,
    /// Its type.
    pub relation: String,
    /// Where it leads.
    pub target: Shown,
    /// What is known of it.
    pub properties: serde_json::Value,
    /// Where it holds.
    pub scope: String,
    /// `stated` or `inferred`.
    pub origin: &'static str,
    /// How sure that is.
    pub confidence: f64,
    /// Whether it holds.
    pub holds: bool,
    /// Why it was taken back.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Operation for RelationList {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "relation_list",
        cli: &["graph", "relations"],
        positional: &["entity"],
        title: "List relations",
        about: "Lists the relations of the knowledge graph that are seen from here, of one entity or of all, with their ids. \
                `ended` adds those that were taken back, with the reason.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("type", "relation"), ("rel", "relation")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        if !engine.is_initialised()? {
            return Ok(Response::default());
        }
        engine.existing_ledger()?.read(&engine.control(call), |read| Ok(list(read, call, &request)))?
    }
}

fn list(read: &LedgerRead<'_>, call: &Call<'_>, request: &Request) -> Result<Response, Error> {
    let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let touching = match &request.entity {
        None => None,
        Some(name) => Some(naming::entity(read, call, name)?.ok_or_else(|| naming::unknown(name))?.number),
    };
    let mut rows = read.relations(&RelationFilter {
        visible_from: Some(call.scope.clone()),
        touching,
        relation: request.relation.as_ref().map(|r| r.trim().to_lowercase()),
        ended: request.ended.unwrap_or(false),
        after: request.after.unwrap_or(0),
        limit: limit + 1,
    })?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let mut ends: HashMap<i64, Shown> = HashMap::new();
    for number in rows.iter().flat_map(|r| [r.source, r.target]) {
        if !ends.contains_key(&number)
            && let Some(entity) = read.entity_by_number(number)?
        {
            ends.insert(number, Shown::from(&entity));
        }
    }
    Ok(Response { relations: rows.into_iter().filter_map(|row| Listed::new(row, &ends)).collect(), has_more })
}

impl Listed {
    /// The relation, if both its ends are still there.
    fn new(row: RelationRow, ends: &HashMap<i64, Shown>) -> Option<Self> {
        Some(Self {
            source: ends.get(&row.source)?.clone(),
            target: ends.get(&row.target)?.clone(),
            holds: row.holds(),
            number: row.number,
            id: row.id,
            relation: row.relation,
            properties: serde_json::from_str(&row.properties).unwrap_or_default(),
            scope: row.scope.to_string(),
            origin: row.origin.as_str(),
            confidence: row.confidence,
            reason: row.reason,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.relations.is_empty() {
            return Document::new().note(Mark::Info, "Nothing found.");
        }
        let columns = ["source", "relation", "target", "", "id"].map(str::to_owned).to_vec();
        let rows = self.relations.iter().map(|r| {
            let standing = match (r.holds, r.reason.as_str()) {
                (true, _) => String::new(),
                (false, "") => "taken back".to_owned(),
                (false, reason) => format!("taken back: {reason}"),
            };
            vec![r.source.label.clone(), r.relation.clone(), r.target.label.clone(), standing, r.id.clone()]
        });
        let document = Document::new().with(Block::Table { columns, rows: rows.collect() });
        match self.relations.last().filter(|_| self.has_more) {
            Some(last) => document.note(Mark::Info, format!("there are more: send `after` {}", last.number)),
            None => document,
        }
    }
}
