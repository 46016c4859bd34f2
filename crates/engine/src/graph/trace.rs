//! `graph_trace`: everything that leads to an entity and everything it leads to, relation by relation.

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
    explore::{with_memories, with_rows},
    naming,
    walk::{self, Linked, Row, Steps, note_cut},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Render, counted},
};

/// See the module.
pub struct Trace;

/// Most entities to trace.
const LIMIT: usize = 20;

/// What to trace.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// A label or a part of it, an entity's id, or a sentence that names entities.
    pub query: String,
    /// How many steps to go each way, 1 to 10. Default 4.
    #[schemars(range(min = 1, max = 10))]
    pub depth: Option<u32>,
}

/// The traces.
#[derive(Debug, Serialize)]
pub struct Response {
    /// What was asked.
    pub query: String,
    /// One for each entity that matches.
    pub trace: Vec<Traced>,
}

/// An entity between what leads to it and what it leads to.
#[derive(Debug, Serialize)]
pub struct Traced {
    /// What it is called.
    pub entity: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Relations followed backwards, each once.
    pub inbound: Vec<Row>,
    /// Relations followed forwards, each once.
    pub outbound: Vec<Row>,
    /// Memories that mention it.
    pub memories: Vec<Linked>,
    /// Rows that were left out for length.
    #[serde(skip_serializing_if = "is_default")]
    pub more: usize,
    /// Entities whose relations were not all followed: each has more than 1 000 one way, or the answer had read 20 000.
    #[serde(skip_serializing_if = "is_default")]
    pub not_followed: usize,
}

impl Operation for Trace {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "graph_trace",
        cli: &["graph", "trace"],
        positional: &["query"],
        title: "Where something comes from and leads",
        about: "Follows every relation of an entity backwards (`inbound`) and forwards (`outbound`), each relation once, with \
                the number of steps. Use it to see how something came about and what hangs on it. `graph_explore` is \
                shorter and adds what is mentioned together.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        naming::needed("query", &request.query)?;
        let depth = depth(request.depth.unwrap_or(4));
        let now = engine.clock().now();
        let traces = engine.read(call, |read| {
            let found = naming::matching(read, call, &request.query, &[], LIMIT)?;
            let mut room = walk::Room::new(found.len());
            let reader = Steps::new(read, call.scope);
            let traced = |entity| room.share(|room| trace(read, &reader, entity, depth, now, room));
            found.into_iter().map(traced).collect()
        })?;
        Ok(Response { query: request.query, trace: traces })
    }
}

/// The trace of one entity, as much of it as fits into `room`, nearest relations first.
fn trace(
    read: &LedgerRead<'_>,
    reader: &Steps<'_, '_>,
    entity: EntityRow,
    depth: u32,
    now: Timestamp,
    room: &mut usize,
) -> Result<Traced, StoreError> {
    let follow = |direction| walk::walk(reader, entity.number, direction, depth, &[]);
    let (back, before) = walk::rows(&follow(Direction::In)?, |step| step.edge.number);
    let (out, after) = walk::rows(&follow(Direction::Out)?, |step| step.edge.number);
    let (memories, unsaid) = walk::fit(walk::memories(read, entity.number, reader.scope(), now)?, room);
    let (inbound, outbound, cut) = walk::fit_both(back, out, room);
    Ok(Traced {
        memories,
        entity: entity.label,
        kind: entity.kind,
        id: entity.id,
        inbound,
        outbound,
        more: before + after + unsaid + cut,
        not_followed: reader.take_cut(),
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut document = Document::new();
        if self.trace.is_empty() {
            return document.note(Mark::Info, "Nothing found. `entity_list` shows what the graph knows.");
        }
        for traced in &self.trace {
            document = document.with(Block::Heading(format!("{} ({})", traced.entity, traced.kind)));
            document = with_rows(document, "What leads to it:", &traced.inbound);
            document = with_rows(document, "What it leads to:", &traced.outbound);
            document = with_memories(document, &traced.memories);
            document = note_cut(document, traced.not_followed);
            if traced.more > 0 {
                document =
                    document.note(Mark::Info, format!("{}; lower `depth`", counted(traced.more, "more row")));
            }
        }
        document
    }
}
