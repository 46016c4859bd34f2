//! `knowledge_remember`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::memory::Layer;

use super::line;
use crate::{
    engine::Engine,
    error::Error,
    memory::{
        placed::RoutingOverride,
        remember::{LayerName, Remember, Request as RememberRequest},
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Render},
};

/// See the module.
pub struct KnowledgeRemember;

/// What to keep.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The fact, in words that stand on their own.
    pub fact: String,
    /// fact (default), decision, preference, pattern, insight or another kind.
    pub r#type: Option<String>,
    /// The layer; by default that of the kind.
    pub layer: Option<LayerName>,
    /// How sure you are, 0 to 1.
    pub confidence: Option<f64>,
    /// Days after which it leaves default recall; 1 or more.
    pub ttl_days: Option<u32>,
}

/// What was stored.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory's number.
    pub id: i64,
    /// The memory's whole id.
    pub memory_id: String,
    /// Who wrote it.
    pub who: String,
    /// Its kind.
    pub r#type: String,
    /// Its layer.
    pub layer: String,
    /// The layer's authority: 100 for P0 down to 20 for P6.
    pub authority: u8,
    /// When it was written.
    pub created_at: String,
}

impl Operation for KnowledgeRemember {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Compat,
        tool: "knowledge_remember",
        cli: &["compat", "remember"],
        positional: &["fact"],
        title: "Store a fact",
        about: "Stores one fact, as `remember` does, under the name and with the reply of p-layer's older server. For clients \
                that were set up for it; others use `remember`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let asked = RememberRequest {
            text: request.fact,
            kind: request.r#type,
            layer: request.layer,
            confidence: request.confidence,
            ttl_days: request.ttl_days,
            // Its clients know no todos: the reply is a memory's.
            routing_override: Some(RoutingOverride::ForceL1),
            ..RememberRequest::default()
        };
        let stored = Remember::run(engine, call, asked)?;
        let row = engine.ledger(call)?.read(&engine.control(call), |r| r.memory_by_number(stored.number))?;
        let row = row.ok_or_else(|| Error::Internal(format!("{} was stored and is not there", stored.id)))?;
        Ok(Response {
            id: row.number,
            memory_id: row.id,
            who: row.writer,
            r#type: row.kind.to_string(),
            layer: row.state.layer.to_string(),
            authority: authority(row.state.layer),
            created_at: row.created_at.to_rfc3339(),
        })
    }
}

/// p-layer's number for a layer. It says nothing that the layer does not; no rank is made of it.
const fn authority(layer: Layer) -> u8 {
    match layer {
        Layer::P0 => 100,
        Layer::P1 => 80,
        Layer::P2 => 60,
        Layer::P3 => 50,
        Layer::P4 => 40,
        Layer::P5 => 30,
        Layer::P6 => 20,
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        line(format!("saved #{} {} ({}, {})", self.id, self.memory_id, self.r#type, self.layer))
    }
}
