//! The graph of an older store on its way into this one: through the gate, beside what is here, and in.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;
use strata_core::{
    graph::{
        Origin as Said,
        constraints::{Constraints, Party, kind_word},
        label::{self, MAX_LABEL},
    },
    id::{Id, IdKind},
    memory::Layer,
    principal::{Face, Principal},
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{
        EntityChange, EntityRow, LedgerRead, LedgerWrite, Mention, NewAudit, NewEntity, NewRelation, Seq,
    },
};

use super::{
    graph::{Graph, ImportedEntity, ImportedRelation},
    incoming::{Findings, RowKey},
    prepare::{Origin, Prepared},
};
use crate::{error::Error, gate::Gate};

/// What a thing is whose store does not say it in one word.
const CONCEPT: &str = "concept";

/// What became of the graph of an older store.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct GraphOutcome {
    /// Entities stored now, or of which more is known now.
    pub(super) entities: usize,
    /// Relations stored now.
    pub(super) relations: usize,
}

/// A graph behind the gate, each label once.
#[derive(Debug)]
pub(super) struct PreparedGraph {
    entities: Vec<PreparedEntity>,
    relations: Vec<PreparedRelation>,
    constraints: Constraints,
    /// Entities that the gate did not take.
    pub(super) entities_refused: usize,
    /// Relations without one of their ends.
    pub(super) dangling: usize,
}

#[derive(Debug)]
struct PreparedEntity {
    key: RowKey,
    id: Id,
    label: String,
    kind: String,
    properties: BTreeMap<String, String>,
    /// The memory that speaks of it, by the id that its row has here.
    memory: Option<Id>,
    created_at: Timestamp,
}

#[derive(Debug)]
struct PreparedRelation {
    key: RowKey,
    id: Id,
    source: usize,
    target: usize,
    relation: String,
    properties: String,
    created_at: Timestamp,
}

/// What has to be done about a graph.
#[derive(Debug, Default)]
pub(super) struct GraphPlan {
    steps: Vec<Step>,
    /// Links that are missing: place of the entity, number of the memory.
    links: Vec<(usize, i64)>,
    /// Places of relations to be stored.
    relations: Vec<usize>,
    /// Entities that were purged here, and stay out.
    pub(super) purged: usize,
    /// Relations that are left out, by row, and why.
    pub(super) refused: Vec<(String, String)>,
}

#[derive(Debug)]
enum Step {
    Add,
    /// It is here, and becomes this: kind and properties.
    Change(EntityRow, String, String),
    Keep(EntityRow),
    Purged,
}

impl GraphPlan {
    /// How many things have to be written.
    pub(super) fn work(&self) -> usize {
        self.outcome().entities + self.links.len() + self.relations.len()
    }

    /// Notes the relations that are left out beside the other rows.
    pub(super) fn report(&self, findings: &mut Findings) {
        self.refused.iter().for_each(|(row, why)| findings.reject(row, why));
    }

    /// What comes of it.
    pub(super) fn outcome(&self) -> GraphOutcome {
        let written = |step: &&Step| matches!(step, Step::Add | Step::Change(..));
        GraphOutcome { entities: self.steps.iter().filter(written).count(), relations: self.relations.len() }
    }
}

impl PreparedGraph {
    /// Lets a graph through the gate. What does not pass is noted beside the other rows.
    pub(super) fn new(
        origin: &Origin,
        constraints: Constraints,
        graph: &Graph,
        prepared: &mut Prepared,
    ) -> Self {
        let knowledge = &graph.knowledge;
        let mut passed = Self {
            entities: Vec::new(),
            relations: Vec::new(),
            constraints,
            entities_refused: 0,
            dangling: graph.dangling,
        };
        let mut places: Vec<Option<usize>> = Vec::new();
        let mut labels: HashMap<String, usize> = HashMap::new();
        for row in &graph.entities {
            let entity =
                behind(prepared, |gate, adjust| entity(gate, adjust, origin, row, knowledge), &row.key);
            let Some(entity) = entity else {
                passed.entities_refused += 1;
                places.push(None);
                continue;
            };
            // A scope has one entity of a label, in whatever case or width it is written.
            let place = *labels.entry(label::key(&entity.label)).or_insert(passed.entities.len());
            places.push(Some(place));
            match passed.entities.get_mut(place) {
                Some(known) => known.merge(entity),
                None => passed.entities.push(entity),
            }
        }
        for row in &graph.relations {
            let (Some(source), Some(target)) = (places[row.source], places[row.target]) else {
                passed.dangling += 1;
                prepared.findings.reject(&row.key, "an entity that it joins was left out");
                continue;
            };
            match behind(prepared, |gate, _| relation(gate, origin, row, (source, target)), &row.key) {
                Some(relation) => passed.relations.push(relation),
                None => passed.dangling += 1,
            }
        }
        passed
    }

    /// Compares the graph with what the ledger holds of it.
    pub(super) fn plan(&self, r: &LedgerRead<'_>, origin: &Origin) -> Result<GraphPlan, StoreError> {
        let mut plan = GraphPlan::default();
        for (place, entity) in self.entities.iter().enumerate() {
            let step = entity.step(r, origin)?;
            if matches!(step, Step::Purged) {
                plan.purged += 1;
            } else {
                let known =
                    if let Step::Change(row, ..) | Step::Keep(row) = &step { Some(row.number) } else { None };
                let memories = entity.missing_links(r, known)?;
                plan.links.extend(memories.into_iter().map(|memory| (place, memory)));
            }
            plan.steps.push(step);
        }
        let mut seen = HashSet::new();
        for (place, relation) in self.relations.iter().enumerate() {
            if let Err(why) = self.fits(relation, &plan.steps) {
                plan.refused.push((relation.key.to_string(), why));
            } else if seen.insert((relation.source, relation.relation.as_str(), relation.target))
                && !self.is_known(r, origin, relation, &plan.steps)?
            {
                plan.relations.push(place);
            }
        }
        Ok(plan)
    }

    /// Whether the constraints of the graph allow a relation.
    fn fits(&self, relation: &PreparedRelation, steps: &[Step]) -> Result<(), String> {
        let party = |place: usize| -> Result<Party<'_>, String> {
            let label = self.entities[place].label.as_str();
            match &steps[place] {
                Step::Add => Ok(Party { label, kind: &self.entities[place].kind }),
                Step::Change(_, kind, _) => Ok(Party { label, kind }),
                Step::Keep(row) => Ok(Party { label, kind: &row.kind }),
                Step::Purged => Err(format!("{} was purged here", self.entities[place].key)),
            }
        };
        let (source, target) = (party(relation.source)?, party(relation.target)?);
        self.constraints.check(&relation.relation, source, target).map_err(|misfit| misfit.to_string())
    }

    /// Whether a relation is here, or was and has been taken back.
    fn is_known(
        &self,
        r: &LedgerRead<'_>,
        origin: &Origin,
        relation: &PreparedRelation,
        steps: &[Step],
    ) -> Result<bool, StoreError> {
        if r.relation(relation.id.as_str())?.is_some() {
            return Ok(true);
        }
        let number = |place: usize| match &steps[place] {
            Step::Change(row, ..) | Step::Keep(row) => Some(row.number),
            Step::Add | Step::Purged => None,
        };
        let (Some(source), Some(target)) = (number(relation.source), number(relation.target)) else {
            return Ok(false);
        };
        let held = r.relations_between(source, &relation.relation, target)?;
        Ok(held.iter().any(|known| known.scope == origin.scope))
    }

    /// Stores what is missing, in a transaction that is going on. The memories are in.
    pub(super) fn store(
        &self,
        w: &LedgerWrite<'_>,
        origin: &Origin,
        (actor, face): (&Principal, Face),
    ) -> Result<GraphOutcome, StoreError> {
        let plan = self.plan(w, origin)?;
        if plan.work() == 0 {
            return Ok(GraphOutcome::default());
        }
        let outcome = plan.outcome();
        let target = format!("graph:{}+{}", outcome.entities, outcome.relations);
        let row = NewAudit {
            layer: Some(Layer::P5),
            reason: &origin.source,
            ..NewAudit::new(actor, face, "import", &target)
        };
        let seq = w.record(&row)?;
        let mut numbers = Vec::with_capacity(plan.steps.len());
        for (entity, step) in self.entities.iter().zip(&plan.steps) {
            numbers.push(entity.write(w, step, (origin, actor), seq)?);
        }
        for (place, memory) in &plan.links {
            let Some(entity) = numbers[*place] else { continue };
            w.add_mention(&Mention { memory: *memory, entity, origin: Said::Stated, confidence: 1.0 })?;
        }
        for place in &plan.relations {
            let relation = &self.relations[*place];
            let (Some(source), Some(target)) = (numbers[relation.source], numbers[relation.target]) else {
                continue;
            };
            w.insert_relation(&relation.as_new((source, target), origin, actor), seq)?;
        }
        Ok(outcome)
    }
}

impl PreparedEntity {
    /// Adds what another row of the same label says.
    fn merge(&mut self, other: Self) {
        for (key, value) in other.properties {
            self.properties.entry(key).or_insert(value);
        }
        self.memory = self.memory.take().or(other.memory);
    }

    fn step(&self, r: &LedgerRead<'_>, origin: &Origin) -> Result<Step, StoreError> {
        let Some(known) = r.entity_of(&origin.scope, &self.label)? else {
            // Under another label it is still the row that was imported.
            if let Some(renamed) = r.entity(self.id.as_str())? {
                return Ok(Step::Keep(renamed));
            }
            return Ok(if r.is_purged(self.id.as_str())? { Step::Purged } else { Step::Add });
        };
        let held: BTreeMap<String, String> = serde_json::from_str(&known.properties).unwrap_or_default();
        let mut properties = self.properties.clone();
        properties.extend(held.clone());
        // What somebody stated here stays as they did; what was only noticed takes the word of the store.
        let is_stated = known.origin == Said::Stated;
        if is_stated && properties == held {
            return Ok(Step::Keep(known));
        }
        let kind = if is_stated { known.kind.clone() } else { self.kind.clone() };
        Ok(Step::Change(known, kind, as_json(&properties)))
    }

    /// The memories that speak of the entity and are not linked to it: the one its store names, and the version
    /// of it that is in force.
    fn missing_links(&self, r: &LedgerRead<'_>, known: Option<i64>) -> Result<Vec<i64>, StoreError> {
        let mut missing = Vec::new();
        let mut next = self.memory.as_ref().map(|id| id.as_str().to_owned());
        let mut first = true;
        while let Some(memory) = next.take().map(|id| r.memory(&id)).transpose()?.flatten() {
            if first || memory.state.status.is_live() {
                let links = r.mentions_of(memory.number)?;
                let linked = links.iter().any(|m| Some(m.entity) == known && m.origin == Said::Stated);
                missing.extend((!linked).then_some(memory.number));
            }
            first = false;
            next = memory.superseded_by;
        }
        Ok(missing)
    }

    /// Does a step; returns the number of the entity, if it is here.
    fn write(
        &self,
        w: &LedgerWrite<'_>,
        step: &Step,
        (origin, actor): (&Origin, &Principal),
        seq: Seq,
    ) -> Result<Option<i64>, StoreError> {
        match step {
            Step::Purged => Ok(None),
            Step::Keep(row) => Ok(Some(row.number)),
            Step::Change(row, kind, properties) => {
                let stated = row.origin == Said::Stated;
                let change = EntityChange {
                    label: if stated { &row.label } else { &self.label },
                    kind,
                    properties,
                    origin: Said::Stated,
                    confidence: if stated { row.confidence } else { 1.0 },
                };
                w.change_entity(row.number, &change, seq)?;
                Ok(Some(row.number))
            }
            Step::Add => {
                let new = NewEntity {
                    id: self.id.clone(),
                    label: self.label.clone(),
                    kind: self.kind.clone(),
                    properties: as_json(&self.properties),
                    scope: origin.scope.clone(),
                    origin: Said::Stated,
                    confidence: 1.0,
                    writer: actor.to_string(),
                    created_at: self.created_at,
                };
                w.insert_entity(&new, seq).map(Some)
            }
        }
    }
}

impl PreparedRelation {
    fn as_new(&self, (source, target): (i64, i64), origin: &Origin, actor: &Principal) -> NewRelation {
        NewRelation {
            id: self.id.clone(),
            source,
            relation: self.relation.clone(),
            target,
            properties: self.properties.clone(),
            scope: origin.scope.clone(),
            origin: Said::Stated,
            confidence: 1.0,
            writer: actor.to_string(),
            created_at: self.created_at,
        }
    }
}

/// Lets one row through the gate; notes what was blacked out and changed, and why a row is left out.
fn behind<T>(
    prepared: &mut Prepared,
    pass: impl FnOnce(&mut Gate, &mut Vec<String>) -> Result<T, Error>,
    key: &RowKey,
) -> Option<T> {
    let (mut gate, mut adjusted) = (Gate::default(), Vec::new());
    let passed = pass(&mut gate, &mut adjusted);
    let passed = prepared.take((passed.map_err(|error| (key.clone(), error)), gate.redacted))?;
    adjusted.into_iter().for_each(|what| prepared.findings.adjust(key, what));
    Some(passed)
}

fn entity(
    gate: &mut Gate,
    adjusted: &mut Vec<String>,
    origin: &Origin,
    row: &ImportedEntity,
    knowledge: &HashMap<i64, RowKey>,
) -> Result<PreparedEntity, Error> {
    let label = gate.field("label", Some(&row.label))?.unwrap_or_default();
    if label::key(&label).is_empty() || label.chars().count() > MAX_LABEL {
        let message = format!("is empty or has more than {MAX_LABEL} characters");
        return Err(Error::argument("label", message, "name the thing in its store"));
    }
    let kind = kind_word(&row.kind).unwrap_or_else(|_| {
        adjusted.push(format!("its type is not one word; it became {CONCEPT}"));
        CONCEPT.to_owned()
    });
    let memory = row.knowledge.and_then(|id| {
        let found = knowledge.get(&id);
        if found.is_none() {
            adjusted.push(format!("knowledge #{id}, to which it belongs, is not there"));
        }
        found.map(|key| key.id(IdKind::Memory, &origin.source, &origin.scope, ""))
    });
    Ok(PreparedEntity {
        id: row.key.id(IdKind::Entity, &origin.source, &origin.scope, ""),
        key: row.key.clone(),
        label,
        kind,
        properties: gate.map("properties", &as_texts(&row.properties))?,
        memory,
        created_at: row.created_at.unwrap_or(origin.now),
    })
}

fn relation(
    gate: &mut Gate,
    origin: &Origin,
    row: &ImportedRelation,
    (source, target): (usize, usize),
) -> Result<PreparedRelation, Error> {
    Ok(PreparedRelation {
        id: row.key.id(IdKind::Relation, &origin.source, &origin.scope, ""),
        key: row.key.clone(),
        source,
        target,
        relation: row.kind.trim().to_lowercase(),
        properties: as_json(&gate.map("properties", &as_texts(&row.properties))?),
        created_at: row.created_at.unwrap_or(origin.now),
    })
}

/// The properties of a store, each as a text.
fn as_texts(properties: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let entries = properties.as_object().into_iter().flatten();
    entries.map(|(key, value)| (key.clone(), text(value))).collect()
}

fn as_json(properties: &BTreeMap<String, String>) -> String {
    serde_json::to_string(properties).unwrap_or_else(|_| "{}".into())
}
