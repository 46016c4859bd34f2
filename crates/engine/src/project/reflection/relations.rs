//! `memory_relations`: how a memory stands to others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::ledger::MemoryRow;

use crate::{
    engine::Engine,
    error::Error,
    memory::{reference::sees_scope, status},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render, shortened},
};

/// See the module.
pub struct MemoryRelations;

/// Which memory.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The memory, by its whole id or #number.
    pub node: String,
}

/// Its relations.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory.
    pub id: String,
    /// By source, relation and target.
    pub relations: Vec<Related>,
}

/// One relation.
#[derive(Debug, Serialize)]
pub struct Related {
    /// The memory that it is said of.
    pub source_id: String,
    /// How it stands to the other.
    pub relation_type: &'static str,
    /// The other.
    pub target_id: String,
    /// The title, or the first words, of whichever of the two was not asked about.
    pub peer: String,
    /// Where that one stands in its life.
    pub peer_status: &'static str,
    /// When it was put down, RFC 3339.
    pub created_at: String,
}

/// Characters of a title.
const TITLE: usize = 80;

impl Operation for MemoryRelations {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "memory_relations",
        cli: &["project", "relations"],
        positional: &["node"],
        title: "How a memory stands to others",
        about: "Lists what a memory supersedes, contradicts, rests on, sums up or is related to, in both directions.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "relations"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let memory = status::find(engine, call, "node", &request.node)?;
        let found = engine.read(call, |r| {
            let relations = r.memory_relations(memory.number)?;
            let peers: Vec<i64> = relations
                .iter()
                .map(|x| if x.source == memory.number { x.target } else { x.source })
                .collect();
            let mut rows = Vec::new();
            for (relation, peer) in relations.into_iter().zip(peers) {
                rows.extend(r.memory_by_number(peer)?.map(|row| (relation, row)));
            }
            Ok(rows)
        })?;
        let visible = found.into_iter().filter(|(_, peer)| sees_scope(call, &peer.scope));
        let relations = visible
            .map(|(relation, peer)| {
                let from = relation.source == memory.number;
                let (source, target) = if from { (&memory, &peer) } else { (&peer, &memory) };
                Related {
                    source_id: source.id.clone(),
                    relation_type: relation.relation.as_str(),
                    target_id: target.id.clone(),
                    peer: title(&peer),
                    peer_status: peer.state.status.as_str(),
                    created_at: relation.at.to_rfc3339(),
                }
            })
            .collect();
        Ok(Response { id: memory.id, relations })
    }
}

fn title(row: &MemoryRow) -> String {
    if row.title.is_empty() { shortened(&row.body, TITLE) } else { row.title.clone() }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.relations.is_empty() {
            return Document::new().note(Mark::Info, format!("{} has no relations", self.id));
        }
        let columns = ["source", "relation", "target", "other", "status"];
        let row = |r: &Related| {
            vec![
                r.source_id.clone(),
                r.relation_type.to_owned(),
                r.target_id.clone(),
                r.peer.clone(),
                r.peer_status.to_owned(),
            ]
        };
        Document::new().with_stored_table(&columns, self.relations.iter().map(row).collect())
    }
}
