//! `graph_rca`: from a failure back to its causes, and on to what fixed it or its like.

mod causes;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::graph::depth;
use strata_store::{
    error::StoreError,
    index::SourceKind,
    ledger::{EntityRow, LedgerRead},
};

use self::causes::analyse;
use super::{
    explore::with_memories,
    naming::{self, Shown},
    walk::{self, Linked, MAX_ROWS, Steps, note_cut},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    recall::{
        item::Item,
        search::{self, Query, search},
    },
    render::{Block, Document, Mark, Render, counted},
};

/// See the module.
pub struct Rca;

/// The kinds of entity that have causes to look for.
const FAILURES: [&str; 2] = ["incident", "pattern"];
/// Most incidents and patterns to analyse.
const LIMIT: usize = 20;
/// Memories that a symptom is looked up in.
const SIMILAR: usize = 10;
/// Incidents taken from memories that resemble a symptom.
const BY_SYMPTOM: usize = 5;

/// What went wrong.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// An incident or pattern by label or id, or the symptom in words.
    pub query: String,
    /// How many steps to go back, 1 to 10. Default 3.
    #[schemars(range(min = 1, max = 10))]
    pub depth: Option<u32>,
}

/// What led to it and what helps.
#[derive(Debug, Serialize)]
pub struct Response {
    /// What was asked.
    pub query: String,
    /// One for each incident or pattern.
    pub root_causes: Vec<Analysis>,
}

/// One incident or pattern.
#[derive(Debug, Serialize)]
pub struct Analysis {
    /// The incident, or the pattern.
    pub incident: Shown,
    /// `label` when the query names it, `symptom` when memories like the query speak of it.
    pub found_by: &'static str,
    /// Causes, dependencies and references, nearest first; then effects; then fixes.
    pub timeline: Vec<Event>,
    /// Memories that mention it.
    pub memories: Vec<Linked>,
    /// Events and memories that were left out for length: those in the middle of a chain go first.
    #[serde(skip_serializing_if = "is_default")]
    pub more: usize,
    /// Entities whose relations were not all followed: each has more than 1 000 one way, or the answer had read 20 000.
    #[serde(skip_serializing_if = "is_default")]
    pub not_followed: usize,
}

/// Something on the way to the incident or from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// `cause`: led to it; `dependency`: a cause rests on it; `reference`: worth a look; `effect`: came of it; `fix`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it is called.
    pub entity: String,
    /// What it is.
    pub entity_type: String,
    /// How many steps away it is.
    pub level: u32,
    /// Its id.
    pub entity_id: String,
    /// Whether nothing is known to lie behind it: where the chain begins.
    pub is_root: bool,
    /// The steps from the incident to it: `<-caused- X` walks a relation backwards, `-fixed_by-> X` forwards.
    pub path: Vec<String>,
}

impl Operation for Rca {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "graph_rca",
        cli: &["graph", "rca"],
        positional: &["query"],
        title: "Root causes and fixes",
        about: "Walks from an incident or pattern back along `caused`, `led_to`, `depends_on` and `references` to its root \
                causes, and forward along `fixed_by` to what fixed it or an incident of the same cause, each with the path. \
                Give a label, an id, or the symptom in words: then memories like it are looked up for the incidents they \
                speak of. Link incidents with `relation_add`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        naming::needed("query", &request.query)?;
        let depth = depth(request.depth.unwrap_or(3));
        let (named, is_bare_name) = engine.read(call, |read| {
            let named = naming::matching(read, call, &request.query, &FAILURES, LIMIT)?;
            // A sentence that names a tool is a symptom; the bare name of a tool asks about the tool.
            let bare = !read.find_entities(call.scope, &request.query, &[], 1)?.is_empty();
            Ok((named, bare))
        })?;
        let mut chosen: Vec<(EntityRow, &'static str)> =
            named.into_iter().map(|entity| (entity, "label")).collect();
        if chosen.is_empty() && !is_bare_name {
            let found = by_symptom(engine, call, &request.query)?;
            chosen.extend(found.into_iter().map(|entity| (entity, "symptom")));
        }
        let now = engine.clock().now();
        let root_causes = engine.read(call, |read| {
            let mut room = walk::Room::new(chosen.len());
            let reader = Steps::new(read, call.scope);
            let analysis = |(entity, found_by): (EntityRow, &'static str)| -> Result<Analysis, StoreError> {
                let events = analyse(&reader, &entity, depth)?;
                let linked = walk::memories(read, entity.number, call.scope, now)?;
                let (timeline, memories, more) = room.share(|room| shortened(events, linked, room));
                let (incident, not_followed) = (Shown::from(&entity), reader.take_cut());
                Ok(Analysis { incident, found_by, timeline, memories, more, not_followed })
            };
            chosen.into_iter().map(analysis).collect()
        })?;
        Ok(Response { query: request.query, root_causes })
    }
}

/// What fits into `room`: memories and fixes first, then what a chain begins with, then the nearest. The order stays.
fn shortened(
    events: Vec<Event>,
    memories: Vec<Linked>,
    room: &mut usize,
) -> (Vec<Event>, Vec<Linked>, usize) {
    let (memories, unsaid) = walk::fit(memories, room);
    let mut ranked: Vec<(usize, Event)> = events.into_iter().enumerate().collect();
    ranked.sort_by_key(|(place, event)| (event.kind != "fix", !event.is_root, event.level, *place));
    let beyond = ranked.len().saturating_sub(MAX_ROWS);
    ranked.truncate(MAX_ROWS);
    let (mut kept, cut) = walk::fit(ranked, room);
    kept.sort_by_key(|(place, _)| *place);
    (kept.into_iter().map(|(_, event)| event).collect(), memories, unsaid + cut + beyond)
}

fn is_failure(entity: &EntityRow) -> bool {
    FAILURES.contains(&entity.kind.as_str())
}

/// The incidents and patterns that memories like the symptom speak of, those of the best memory first.
fn by_symptom(engine: &Engine, call: &Call<'_>, symptom: &str) -> Result<Vec<EntityRow>, Error> {
    let query = Query {
        floor: search::Floor::Task,
        sources: vec![SourceKind::Memory],
        ..Query::new(symptom, call.scope, SIMILAR)
    };
    let outcome = search(engine, call, &query)?;
    let memories = outcome.hits.iter().filter_map(|hit| match &hit.item {
        Item::Memory(memory) => Some(memory.number),
        _ => None,
    });
    let memories: Vec<i64> = memories.collect();
    engine.read(call, |read| spoken_of(read, call, &memories))
}

fn spoken_of(read: &LedgerRead<'_>, call: &Call<'_>, memories: &[i64]) -> Result<Vec<EntityRow>, StoreError> {
    let mut found: Vec<EntityRow> = Vec::new();
    for memory in memories {
        for entity in read.entities_mentioned_by(&[*memory], call.scope)? {
            let is_new = !found.iter().any(|known| known.number == entity.number);
            if is_failure(&entity) && is_new && found.len() < BY_SYMPTOM {
                found.push(entity);
            }
        }
    }
    Ok(found)
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut document = Document::new();
        if self.root_causes.is_empty() {
            let text = "No incident or pattern is known under that name or symptom. `entity_add` with kind incident \
                        adds one, `relation_add` links it.";
            return document.note(Mark::Info, text);
        }
        for analysis in &self.root_causes {
            document = document
                .with(Block::Heading(format!("{} ({})", analysis.incident.label, analysis.incident.kind)));
            if analysis.timeline.is_empty() {
                document = document
                    .note(Mark::Info, "Nothing is known to have led to it; `relation_add` links causes.");
            }
            let rows = analysis.timeline.iter().map(|e| {
                let root = if e.is_root { "root" } else { "" };
                vec![
                    e.kind.to_owned(),
                    e.level.to_string(),
                    e.entity.clone(),
                    e.entity_type.clone(),
                    root.to_owned(),
                    e.path.join(" "),
                ]
            });
            let columns = ["", "level", "entity", "type", "", "path"].map(str::to_owned).to_vec();
            document = document.with(Block::Table { columns, rows: rows.collect() });
            document = with_memories(document, &analysis.memories);
            document = note_cut(document, analysis.not_followed);
            if analysis.more > 0 {
                document = document
                    .note(Mark::Info, format!("{}; lower `depth`", counted(analysis.more, "more row")));
            }
        }
        document
    }
}
