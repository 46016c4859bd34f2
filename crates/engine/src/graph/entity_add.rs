//! `entity_add`: names a thing, says what it is, and links a memory to it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    graph::{
        Origin,
        constraints::{Constraints, Party, kind_word},
        label::{self, MAX_LABEL},
    },
    id::{Id, IdKind},
    memory::Layer,
    policy::Action,
    principal::Principal,
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{
        EntityChange, EntityRow, LedgerRead, LedgerWrite, MemoryRow, Mention, NewAudit, NewEntity,
        RelationFilter, Seq,
    },
};

use super::naming;
use crate::{
    authority,
    engine::Engine,
    error::Error,
    gate::Gate,
    memory::{draft::placed, remember::ScopeName},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render},
    request::unit,
};

/// See the module.
pub struct EntityAdd;

/// What to name.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// What it is called. The same label again, in any case or width, is the same entity.
    pub label: String,
    /// tool, script, skill, incident, pattern, decision, preference, paper, concept (default) or a word of your own.
    pub kind: Option<String>,
    /// Facts about it, as names and texts; they are added to those it has.
    #[serde(default)]
    pub properties: BTreeMap<String, String>,
    /// A memory that speaks of it, by id or #number.
    pub memory: Option<String>,
    /// How sure you are, 0 to 1. Default 1.
    pub confidence: Option<f64>,
    /// Where it is known; the project by default, where one is.
    pub scope: Option<ScopeName>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Response {
    /// The entity's id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// What it is called.
    pub label: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is known of it.
    pub properties: BTreeMap<String, String>,
    /// `added`, `updated`, or `unchanged`.
    pub status: &'static str,
    /// The memory that was linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for EntityAdd {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "entity_add",
        cli: &["graph", "entity"],
        positional: &["label"],
        title: "Add or describe an entity",
        about: "Adds an entity to the knowledge graph, or says more of one: its kind, its properties, a memory that speaks of \
                it. The same label returns the same id. What was only noticed in a text counts as stated afterwards. A \
                change of kind is refused while relations would break by it. Relate entities with `relation_add`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("type", "kind"), ("name", "label")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut gate = Gate::default();
        let wanted = Wanted::read(call, &mut gate, &request)?;
        let memory = naming::memory(engine, call, request.memory.as_deref())?;
        let constraints = engine.settings().config.graph.constraints()?;
        let actor = authority::authorise(engine, call, Action::Remember, Layer::P5, "")?;
        let adding = Adding {
            call,
            new: wanted.as_new(engine, &actor.to_string()),
            actor: &actor,
            wanted: &wanted,
            memory: memory.as_ref(),
            constraints: &constraints,
        };
        let ledger = engine.ledger(call)?;
        let added = ledger.write(&engine.control(call), engine.clock().now(), |w| adding.store(w))??;
        Ok(Response { redacted: gate.redacted, ..added })
    }
}

/// One addition inside its transaction.
struct Adding<'a> {
    call: &'a Call<'a>,
    actor: &'a Principal,
    new: NewEntity,
    wanted: &'a Wanted,
    memory: Option<&'a MemoryRow>,
    constraints: &'a Constraints,
}

impl Adding<'_> {
    fn store(&self, w: &LedgerWrite<'_>) -> Result<Result<Response, Error>, StoreError> {
        let known = w.entity_of(&self.wanted.scope, &self.wanted.label)?;
        let change = Change::between(known.as_ref(), self.wanted);
        if let Some(error) = broken(w, known.as_ref(), &change.kind, self.constraints)? {
            return Ok(Err(error));
        }
        let status = change.status(known.as_ref(), self.is_linked(w, known.as_ref())?);
        let (id, number) = match known {
            Some(known) if status == "unchanged" => (known.id, known.number),
            known => self.write(w, known.as_ref(), &change)?,
        };
        Ok(Ok(Response {
            id,
            number,
            label: change.label,
            kind: change.kind,
            properties: change.properties,
            status,
            memory: self.memory.map(|m| m.id.clone()),
            redacted: Vec::new(),
        }))
    }

    /// Whether the memory that is to be linked is so already; true when there is none.
    fn is_linked(&self, w: &LedgerWrite<'_>, known: Option<&EntityRow>) -> Result<bool, StoreError> {
        let (Some(memory), Some(entity)) = (self.memory, known) else { return Ok(self.memory.is_none()) };
        let links = w.mentions_of(memory.number)?;
        Ok(links.iter().any(|m| m.entity == entity.number && m.origin == Origin::Stated))
    }

    fn write(
        &self,
        w: &LedgerWrite<'_>,
        known: Option<&EntityRow>,
        change: &Change,
    ) -> Result<(String, i64), StoreError> {
        let id = known.map_or(self.new.id.as_str(), |k| &k.id);
        let row = NewAudit {
            layer: Some(Layer::P5),
            ..NewAudit::new(self.actor, self.call.face, "entity_add", id)
        };
        let seq = w.record(&row)?;
        let number = match known {
            Some(known) => {
                w.change_entity(known.number, &change.as_row(), seq)?;
                known.number
            }
            None => w.insert_entity(&NewEntity { kind: change.kind.clone(), ..self.new.clone() }, seq)?,
        };
        if let Some(memory) = self.memory {
            let link =
                Mention { memory: memory.number, entity: number, origin: Origin::Stated, confidence: 1.0 };
            w.add_mention(&link)?;
        }
        authority::seal(w, self.call, self.actor)?;
        Ok((id.to_owned(), number))
    }
}

/// A checked request.
struct Wanted {
    label: String,
    kind: Option<String>,
    properties: BTreeMap<String, String>,
    confidence: f64,
    scope: Scope,
}

impl Wanted {
    fn read(call: &Call<'_>, gate: &mut Gate, request: &Request) -> Result<Self, Error> {
        let label = gate.field("label", Some(&request.label))?.unwrap_or_default();
        if label::key(&label).is_empty() {
            let hint = "send the name that texts use for it";
            return Err(Error::argument("label", "must not be empty", hint));
        }
        if label.chars().count() > MAX_LABEL {
            let message = format!("has more than {MAX_LABEL} characters");
            return Err(Error::argument("label", message, "send a name, and the rest as properties"));
        }
        let kind = request.kind.as_deref().map(kind_word).transpose();
        Ok(Self {
            label,
            kind: kind.map_err(|e| Error::parse("kind", &e))?,
            properties: gate.map("properties", &request.properties)?,
            confidence: unit("confidence", request.confidence)?.unwrap_or(1.0),
            scope: placed(call.scope, request.scope)?,
        })
    }

    fn as_new(&self, engine: &Engine, writer: &str) -> NewEntity {
        NewEntity {
            id: Id::from_bits(IdKind::Entity, engine.ids().bits()),
            label: self.label.clone(),
            kind: self.kind.clone().unwrap_or_else(|| "concept".into()),
            properties: text_of(&self.properties),
            scope: self.scope.clone(),
            origin: Origin::Stated,
            confidence: self.confidence,
            writer: writer.to_owned(),
            created_at: engine.clock().now(),
        }
    }
}

/// What an entity will be.
struct Change {
    label: String,
    kind: String,
    properties: BTreeMap<String, String>,
    json: String,
    confidence: f64,
}

impl Change {
    fn between(known: Option<&EntityRow>, wanted: &Wanted) -> Self {
        let mut properties: BTreeMap<String, String> =
            known.and_then(|k| serde_json::from_str(&k.properties).ok()).unwrap_or_default();
        properties.extend(wanted.properties.clone());
        let kind = wanted.kind.clone().or_else(|| known.map(|k| k.kind.clone()));
        // The first spelling that somebody stated stays.
        let label = known.filter(|k| k.origin == Origin::Stated).map_or(&wanted.label, |k| &k.label);
        Self {
            label: label.clone(),
            kind: kind.unwrap_or_else(|| "concept".into()),
            json: text_of(&properties),
            properties,
            confidence: wanted.confidence,
        }
    }

    fn status(&self, known: Option<&EntityRow>, is_linked: bool) -> &'static str {
        match known {
            None => "added",
            Some(k)
                if is_linked
                    && k.origin == Origin::Stated
                    && k.kind == self.kind
                    && k.properties == self.json
                    && (k.confidence - self.confidence).abs() < f64::EPSILON =>
            {
                "unchanged"
            }
            Some(_) => "updated",
        }
    }

    fn as_row(&self) -> EntityChange<'_> {
        EntityChange {
            label: &self.label,
            kind: &self.kind,
            properties: &self.json,
            origin: Origin::Stated,
            confidence: self.confidence,
        }
    }
}

pub(super) fn text_of(properties: &BTreeMap<String, String>) -> String {
    serde_json::to_string(properties).unwrap_or_else(|_| "{}".into())
}

/// Relations named in one refusal.
const NAMED: usize = 5;

/// The relations that hold and would not be allowed if the entity were of another kind, as an error.
fn broken(
    read: &LedgerRead<'_>,
    known: Option<&EntityRow>,
    kind: &str,
    constraints: &Constraints,
) -> Result<Option<Error>, StoreError> {
    let Some(entity) = known.filter(|known| known.kind != kind) else { return Ok(None) };
    let filter =
        RelationFilter { touching: Some(entity.number), limit: usize::MAX, ..RelationFilter::default() };
    let mut broken = Vec::new();
    for relation in read.relations(&filter)? {
        let end = |number: i64| -> Result<Option<EntityRow>, StoreError> {
            let row = read.entity_by_number(number)?;
            let changed = |row: EntityRow| {
                if row.number == entity.number { EntityRow { kind: kind.to_owned(), ..row } } else { row }
            };
            Ok(row.map(changed))
        };
        let (Some(source), Some(target)) = (end(relation.source)?, end(relation.target)?) else { continue };
        let allowed = constraints.check(&relation.relation, party(&source), party(&target));
        if constraints.rule(&relation.relation).is_some() && allowed.is_err() {
            broken.push(format!("{} ({} {} {})", relation.id, source.label, relation.relation, target.label));
        }
    }
    if broken.is_empty() {
        return Ok(None);
    }
    let more = broken.len().saturating_sub(NAMED);
    broken.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Ok(Some(Error::Conflict {
        message: format!(
            "as {kind}, {} could not keep these relations: {}{more}",
            entity.label,
            broken.join(", ")
        ),
        hint: "take them back with `relation_remove` first, or keep the kind".into(),
    }))
}

pub(super) fn party(entity: &EntityRow) -> Party<'_> {
    Party { label: &entity.label, kind: &entity.kind }
}

/// Makes an entity that was noticed one that is stated.
pub(super) fn state(w: &LedgerWrite<'_>, entity: &EntityRow, seq: Seq) -> Result<(), StoreError> {
    if entity.origin == Origin::Stated {
        return Ok(());
    }
    let change = EntityChange {
        label: &entity.label,
        kind: &entity.kind,
        properties: &entity.properties,
        origin: Origin::Stated,
        confidence: 1.0,
    };
    w.change_entity(entity.number, &change, seq)
}

impl Render for Response {
    fn render(&self) -> Document {
        let first = format!("{} #{} {} {} ({})", self.status, self.number, self.id, self.label, self.kind);
        let mut document = Document::new().note(Mark::Good, first);
        if let Some(memory) = &self.memory {
            document = document.note(Mark::Info, format!("linked to {memory}"));
        }
        document.note_redacted(&self.redacted)
    }
}
