//! `relation_add`: relates one entity to another.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    graph::{
        Origin,
        constraints::{Constraints, End, Misfit},
    },
    id::{Id, IdKind},
    memory::Layer,
    policy::Action,
    principal::Principal,
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{EntityRow, LedgerWrite, MemoryRow, Mention, NewAudit, NewRelation, RelationRow},
};

use super::{
    entity_add::{party, state, text_of},
    naming::{self, Shown},
};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::{draft::placed, remember::ScopeName},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render, shortened},
    request::unit,
};

/// See the module.
pub struct RelationAdd;

/// What to relate.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The entity it starts from, by label or id.
    pub source: String,
    /// depends_on, fixed_by, caused, led_to, implements, contradicts, cites, references, relates_to, subtype_of, belongs_to or one of your configuration.
    pub relation: String,
    /// The entity it leads to, by label or id.
    pub target: String,
    /// Facts about the relation, as names and texts; they are added to those it has.
    #[serde(default)]
    pub properties: BTreeMap<String, String>,
    /// A memory that speaks of both, by id or #number.
    pub memory: Option<String>,
    /// How sure you are, 0 to 1. Default 1.
    pub confidence: Option<f64>,
    /// Where it holds; the project by default, where one is known.
    pub scope: Option<ScopeName>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Response {
    /// The relation's id.
    pub id: String,
    /// Where it starts.
    pub source: Shown,
    /// Its type.
    pub relation: String,
    /// Where it leads.
    pub target: Shown,
    /// `added`, `updated`, or `unchanged`.
    pub status: &'static str,
    /// The memory that was linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for RelationAdd {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "relation_add",
        cli: &["graph", "relate"],
        positional: &["source", "relation", "target"],
        title: "Relate two entities",
        about: "Says how one entity is related to another: incident `fixed_by` pattern or decision; pattern or decision \
                `caused` incident; anything `depends_on` tool, script or skill; `led_to`, `implements`, `contradicts`, \
                `cites`; `references`, `relates_to`, `subtype_of`, `belongs_to` join anything. Both entities must exist: \
                `entity_add`. The same relation again is the same one. `relation_remove` takes it back.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("type", "relation"), ("rel", "relation"), ("from", "source"), ("to", "target")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut gate = Gate::default();
        let memory = naming::memory(engine, call, request.memory.as_deref())?;
        let actor = authority::authorise(engine, call, Action::Remember, Layer::P5, "")?;
        let relating = Relating {
            call,
            actor: &actor,
            id: Id::from_bits(IdKind::Relation, engine.ids().bits()),
            relation: request.relation.trim().to_lowercase(),
            properties: gate.map("properties", &request.properties)?,
            confidence: unit("confidence", request.confidence)?.unwrap_or(1.0),
            scope: placed(call.scope, request.scope)?,
            memory: memory.as_ref(),
            constraints: engine.settings().config.graph.constraints()?,
            request: &request,
        };
        let ledger = engine.ledger(call)?;
        let added = ledger.write(&engine.control(call), engine.clock().now(), |w| relating.store(w))??;
        Ok(Response { redacted: gate.redacted, ..added })
    }
}

/// One addition inside its transaction.
struct Relating<'a> {
    call: &'a Call<'a>,
    actor: &'a Principal,
    id: Id,
    relation: String,
    properties: BTreeMap<String, String>,
    confidence: f64,
    scope: Scope,
    memory: Option<&'a MemoryRow>,
    constraints: Constraints,
    request: &'a Request,
}

impl Relating<'_> {
    fn store(&self, w: &LedgerWrite<'_>) -> Result<Result<Response, Error>, StoreError> {
        let Some(source) = naming::entity(w, self.call, &self.request.source)? else {
            return Ok(Err(naming::unknown(&self.request.source)));
        };
        let Some(target) = naming::entity(w, self.call, &self.request.target)? else {
            return Ok(Err(naming::unknown(&self.request.target)));
        };
        if let Err(misfit) = self.constraints.check(&self.relation, party(&source), party(&target)) {
            return Ok(Err(refusal(&misfit)));
        }
        let known = w.relations_between(source.number, &self.relation, target.number)?;
        let known = known.into_iter().find(|r| r.scope == self.scope);
        let json = self.merged(known.as_ref());
        let status = match &known {
            None => "added",
            Some(k) if k.properties == json && self.is_as_sure(k) && self.memory.is_none() => "unchanged",
            Some(_) => "updated",
        };
        let id = known.as_ref().map_or(self.id.as_str(), |k| &k.id).to_owned();
        if status != "unchanged" {
            self.write(w, (&source, &target), known.is_some(), &id, json)?;
        }
        Ok(Ok(Response {
            id,
            source: Shown::from(&source),
            relation: self.relation.clone(),
            target: Shown::from(&target),
            status,
            memory: self.memory.map(|m| m.id.clone()),
            redacted: Vec::new(),
        }))
    }

    /// The relation's properties with those that are added, as JSON.
    fn merged(&self, known: Option<&RelationRow>) -> String {
        let mut properties: BTreeMap<String, String> =
            known.and_then(|k| serde_json::from_str(&k.properties).ok()).unwrap_or_default();
        properties.extend(self.properties.clone());
        text_of(&properties)
    }

    fn is_as_sure(&self, known: &RelationRow) -> bool {
        (known.confidence - self.confidence).abs() < f64::EPSILON
    }

    fn write(
        &self,
        w: &LedgerWrite<'_>,
        (source, target): (&EntityRow, &EntityRow),
        is_known: bool,
        id: &str,
        json: String,
    ) -> Result<(), StoreError> {
        let row = NewAudit {
            layer: Some(Layer::P5),
            ..NewAudit::new(self.actor, self.call.face, "relation_add", id)
        };
        let seq = w.record(&row)?;
        if is_known {
            w.describe_relation(id, &json, self.confidence)?;
        } else {
            let new = NewRelation {
                id: self.id.clone(),
                source: source.number,
                relation: self.relation.clone(),
                target: target.number,
                properties: json,
                scope: self.scope.clone(),
                origin: Origin::Stated,
                confidence: self.confidence,
                writer: self.actor.to_string(),
                created_at: w.now(),
            };
            w.insert_relation(&new, seq)?;
        }
        // Somebody who relates a thing says that it exists.
        state(w, source, seq)?;
        state(w, target, seq)?;
        if let Some(memory) = self.memory {
            link(w, memory.number, &[source.number, target.number])?;
        }
        authority::seal(w, self.call, self.actor)
    }
}

fn link(w: &LedgerWrite<'_>, memory: i64, entities: &[i64]) -> Result<(), StoreError> {
    entities.iter().try_for_each(|entity| {
        w.add_mention(&Mention { memory, entity: *entity, origin: Origin::Stated, confidence: 1.0 })
    })
}

/// Characters of a misfit that are told: it repeats what the caller sent.
const SHOWN: usize = 400;

fn refusal(misfit: &Misfit) -> Error {
    let field = match misfit {
        Misfit::Unknown { .. } => "relation",
        Misfit::Kind { end: End::Source, .. } => "source",
        Misfit::Kind { .. } => "target",
    };
    Error::argument(field, shortened(&misfit.to_string(), SHOWN), misfit.hint())
}

impl Render for Response {
    fn render(&self) -> Document {
        let first = format!(
            "{} {}: {} {} {}",
            self.status, self.id, self.source.label, self.relation, self.target.label
        );
        let mut document = Document::new().note(Mark::Good, first);
        if let Some(memory) = &self.memory {
            document = document.note(Mark::Info, format!("linked to {memory}"));
        }
        document.note_redacted(&self.redacted)
    }
}
