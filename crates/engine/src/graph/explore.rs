//! `graph_explore`: what is related to something.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    graph::{Direction, depth},
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{EntityRow, LedgerRead},
};

use super::{
    naming::{self, MAX_MATCHES},
    walk::{self, Linked, Row, Steps, Together, note_cut},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Render, counted},
};

/// See the module.
pub struct Explore;

/// Entities answered for when the caller names no limit.
const DEFAULT_LIMIT: u32 = 20;

/// Around what to look.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// A label or a part of it, an entity's id, or a sentence that names entities.
    pub query: String,
    /// How many steps to go, 1 to 10. Default 2.
    #[schemars(range(min = 1, max = 10))]
    pub depth: Option<u32>,
    /// Most entities to answer for, 1 to 50. Default 20.
    #[schemars(range(min = 1, max = MAX_MATCHES))]
    pub limit: Option<u32>,
}

/// What is around it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// What was asked.
    pub query: String,
    /// The entities that match, exact labels first.
    pub entities: Vec<Explored>,
}

/// An entity and what is around it.
#[derive(Debug, Serialize)]
pub struct Explored {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub label: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether somebody stated it or it was noticed in a memory.
    pub origin: &'static str,
    /// What its relations lead to.
    pub neighbors: Vec<Row>,
    /// What is related to it: relations followed backwards.
    pub inbound: Vec<Row>,
    /// What memories mention together with it.
    pub mentioned_with: Vec<Together>,
    /// Memories that mention it, those that somebody linked first.
    pub memories: Vec<Linked>,
    /// Rows that were left out for length.
    #[serde(skip_serializing_if = "is_default")]
    pub more: usize,
    /// Entities whose relations were not all followed: each has more than 1 000 one way, or the answer had read 20 000.
    #[serde(skip_serializing_if = "is_default")]
    pub not_followed: usize,
}

impl Operation for Explore {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "graph_explore",
        cli: &["graph", "explore"],
        positional: &["query"],
        title: "What is related to something",
        about: "Shows what the knowledge graph has around an entity: what its relations lead to and what leads to it, step \
                by step, what memories mention together with it (`mentioned_with`, with counts), and the memories that \
                speak of it. Nobody needs to have linked anything: names are noticed when a memory is written. For the \
                cause of an incident call `graph_rca`; to search texts call `recall`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        naming::needed("query", &request.query)?;
        let depth = depth(request.depth.unwrap_or(2));
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let now = engine.clock().now();
        let entities = engine.read(call, |read| {
            let found = naming::matching(read, call, &request.query, &[], limit)?;
            let mut room = walk::Room::new(found.len());
            let reader = Steps::new(read, call.scope);
            let explored = |entity| room.share(|room| explore(read, &reader, entity, depth, now, room));
            found.into_iter().map(explored).collect()
        })?;
        Ok(Response { query: request.query, entities })
    }
}

/// What is around one entity, as much as fits into `room`: first the memories, then the names, then relations.
fn explore(
    read: &LedgerRead<'_>,
    reader: &Steps<'_, '_>,
    entity: EntityRow,
    depth: u32,
    now: Timestamp,
    room: &mut usize,
) -> Result<Explored, StoreError> {
    let same = |step: &walk::Step| (step.edge.relation.clone(), step.edge.far);
    let follow = |direction| walk::walk(reader, entity.number, direction, depth, &[]);
    let (out, left_out) = walk::rows(&follow(Direction::Out)?, same);
    let (back, left_back) = walk::rows(&follow(Direction::In)?, same);
    let (memories, unsaid) = walk::fit(walk::memories(read, entity.number, reader.scope(), now)?, room);
    let (mentioned_with, unnamed) =
        walk::fit(walk::together(read, entity.number, reader.scope(), now)?, room);
    let (neighbors, inbound, cut) = walk::fit_both(out, back, room);
    Ok(Explored {
        neighbors,
        inbound,
        mentioned_with,
        memories,
        more: left_out + left_back + unsaid + unnamed + cut,
        not_followed: reader.take_cut(),
        id: entity.id,
        label: entity.label,
        kind: entity.kind,
        origin: entity.origin.as_str(),
    })
}

/// Rows of a walk as a table.
pub(super) fn table(rows: &[Row]) -> Block {
    Block::Table {
        columns: ["level", "relation", "entity", "type", "id"].map(str::to_owned).to_vec(),
        rows: rows
            .iter()
            .map(|r| {
                vec![
                    r.level.to_string(),
                    r.relation.clone(),
                    r.label.clone(),
                    r.entity_type.clone(),
                    r.entity_id.clone(),
                ]
            })
            .collect(),
    }
}

/// Adds rows under a heading of our own, if there are any.
pub(super) fn with_rows(document: Document, heading: &str, rows: &[Row]) -> Document {
    if rows.is_empty() { document } else { document.text(heading).with(table(rows)) }
}

/// Adds the memories that speak of an entity.
pub(super) fn with_memories(document: Document, memories: &[Linked]) -> Document {
    if memories.is_empty() {
        return document;
    }
    let rows = memories
        .iter()
        .map(|m| {
            vec![format!("#{}", m.number), m.layer.clone(), m.link.to_owned(), m.text.clone(), m.id.clone()]
        })
        .collect();
    let columns = ["memory", "layer", "link", "text", "id"].map(str::to_owned).to_vec();
    document.text("Memories that speak of it:").with(Block::Table { columns, rows })
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut document = Document::new();
        if self.entities.is_empty() {
            return document.note(Mark::Info, "Nothing found. `entity_list` shows what the graph knows.");
        }
        for entity in &self.entities {
            document = document.with(Block::Heading(format!("{} ({})", entity.label, entity.kind)));
            document = with_rows(document, "Its relations lead to:", &entity.neighbors);
            document = with_rows(document, "What leads to it:", &entity.inbound);
            if !entity.mentioned_with.is_empty() {
                let rows = entity.mentioned_with.iter();
                let rows =
                    rows.map(|t| vec![t.count.to_string(), t.entity.label.clone(), t.entity.kind.clone()]);
                let columns = ["memories", "mentioned_with", "type"].map(str::to_owned).to_vec();
                document = document.with(Block::Table { columns, rows: rows.collect() });
            }
            document = with_memories(document, &entity.memories);
            document = note_cut(document, entity.not_followed);
            if entity.more > 0 {
                document =
                    document.note(Mark::Info, format!("{}; lower `depth`", counted(entity.more, "more row")));
            }
        }
        document
    }
}
