//! The knowledge graph of an export on its way in.

use std::collections::HashMap;

use strata_core::{
    graph::{
        Origin,
        constraints::{kind_word, relation_word},
        label::{self, MAX_LABEL},
    },
    id::{Id, IdKind},
    memory::Layer,
    scope::Scope,
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{Mention, NewAudit, NewEntity, NewRelation, PurgedKind, Seq},
};

use super::{
    incoming::{metadata, scope, whole_id, writer},
    loading::Loading,
};
use crate::{
    error::Error,
    gate::Gate,
    maintain::transfer::{EntityLine, LOAD, MentionLine, RelationLine},
};

/// The graph's part of a file, through the gate.
#[derive(Default)]
pub(super) struct IncomingGraph {
    entities: Vec<(i64, NewEntity)>,
    relations: Vec<IncomingRelation>,
    mentions: Vec<IncomingMention>,
}

struct IncomingRelation {
    new: NewRelation,
    source: String,
    target: String,
    ended: Option<(Timestamp, String)>,
}

struct IncomingMention {
    memory: String,
    entity: String,
    origin: Origin,
    confidence: f64,
}

impl IncomingGraph {
    pub(super) fn entity(&mut self, gate: &mut Gate, line: &EntityLine) -> Result<(), Error> {
        let label = gate.field("label", Some(&line.label))?.unwrap_or_default();
        if label::key(&label).is_empty() || label.chars().count() > MAX_LABEL {
            let message = format!("must have 1 to {MAX_LABEL} characters");
            return Err(Error::argument("label", message, "export the file again"));
        }
        let new = NewEntity {
            id: id_of(&line.id, IdKind::Entity)?,
            label,
            kind: kind_word(&line.kind).map_err(|e| Error::parse("kind", &e))?,
            properties: metadata(gate, &line.properties)?,
            scope: scope(gate, &line.scope)?,
            origin: origin(&line.origin)?,
            confidence: share(line.confidence)?,
            writer: writer(gate, &line.writer)?,
            created_at: Timestamp(line.created_at),
        };
        self.entities.push((line.number, new));
        Ok(())
    }

    pub(super) fn relation(&mut self, gate: &mut Gate, line: &RelationLine) -> Result<(), Error> {
        let reason = gate.field("reason", Some(&line.reason))?.unwrap_or_default();
        let new = NewRelation {
            id: id_of(&line.id, IdKind::Relation)?,
            source: 0,
            relation: relation_word(&line.relation).map_err(|e| Error::parse("relation", &e))?,
            target: 0,
            properties: metadata(gate, &line.properties)?,
            scope: scope(gate, &line.scope)?,
            origin: origin(&line.origin)?,
            confidence: share(line.confidence)?,
            writer: writer(gate, &line.writer)?,
            created_at: Timestamp(line.created_at),
        };
        self.relations.push(IncomingRelation {
            new,
            source: id_of(&line.source, IdKind::Entity)?.to_string(),
            target: id_of(&line.target, IdKind::Entity)?.to_string(),
            ended: line.ended_at.map(|at| (Timestamp(at), reason)),
        });
        Ok(())
    }

    pub(super) fn mention(&mut self, line: &MentionLine) -> Result<(), Error> {
        self.mentions.push(IncomingMention {
            memory: id_of(&line.memory, IdKind::Memory)?.to_string(),
            entity: id_of(&line.entity, IdKind::Entity)?.to_string(),
            origin: origin(&line.origin)?,
            confidence: share(line.confidence)?,
        });
        Ok(())
    }

    /// Where its things belong.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.entities.iter().map(|(_, e)| &e.scope).chain(self.relations.iter().map(|r| &r.new.scope))
    }

    /// Puts everything in one writer's name.
    pub(super) fn write_as(&mut self, name: &str) {
        self.entities.iter_mut().for_each(|(_, e)| name.clone_into(&mut e.writer));
        self.relations.iter_mut().for_each(|r| name.clone_into(&mut r.new.writer));
    }

    /// Whether there is nothing in it that somebody has to be allowed to write.
    pub(super) fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.relations.is_empty()
    }
}

fn id_of(text: &str, kind: IdKind) -> Result<Id, Error> {
    let id = whole_id(text)?;
    if id.kind() == kind {
        return Ok(id);
    }
    let message = format!("`{id}` does not begin with {}", kind.prefix());
    Err(Error::argument("id", message, "export the file again"))
}

fn origin(word: &str) -> Result<Origin, Error> {
    Origin::parse(word).map_err(|e| Error::parse("origin", &e))
}

fn share(number: f64) -> Result<f64, Error> {
    if (0.0..=1.0).contains(&number) {
        return Ok(number);
    }
    Err(Error::argument("confidence", "must lie between 0 and 1", "export the file again"))
}

impl Loading<'_> {
    /// Stores what is not here yet of the graph. An entity whose label its scope has already is that one.
    pub(super) fn graph(&mut self, graph: &IncomingGraph) -> Result<(), StoreError> {
        if graph.is_empty() && graph.mentions.is_empty() {
            return Ok(());
        }
        let mut seq = None;
        let mut numbers = HashMap::new();
        let mut keyed = Vec::with_capacity(graph.entities.len());
        for (wanted, new) in &graph.entities {
            keyed.push((self.is_taken(PurgedKind::Entity, *wanted)?, *wanted, new));
        }
        keyed.sort_by_key(|(taken, ..)| *taken);
        for (_, wanted, new) in keyed {
            let known = match self.w.entity(new.id.as_str())? {
                Some(known) => Some(known),
                None => self.w.entity_of(&new.scope, &new.label)?,
            };
            if let Some(known) = &known {
                numbers.insert(new.id.to_string(), known.number);
            }
            if !self.is_wanted(new.id.as_str(), known.is_some())? {
                continue;
            }
            let number = self.number(PurgedKind::Entity, wanted)?;
            self.w.load_entity(number, new, self.graph_seq(&mut seq)?)?;
            numbers.insert(new.id.to_string(), number);
            self.loaded.entities += 1;
        }
        self.relations(&graph.relations, &numbers, &mut seq)?;
        self.mentions(&graph.mentions, &numbers)
    }

    fn relations(
        &mut self,
        relations: &[IncomingRelation],
        numbers: &HashMap<String, i64>,
        seq: &mut Option<Seq>,
    ) -> Result<(), StoreError> {
        for relation in relations {
            // An end that was purged here takes its relations along.
            let (Some(source), Some(target)) = (numbers.get(&relation.source), numbers.get(&relation.target))
            else {
                self.loaded.refused_purged += 1;
                continue;
            };
            let new = NewRelation { source: *source, target: *target, ..relation.new.clone() };
            let holds_here = self.w.relations_between(new.source, &new.relation, new.target)?;
            let is_twin = relation.ended.is_none() && holds_here.iter().any(|known| known.scope == new.scope);
            if is_twin || self.w.relation(new.id.as_str())?.is_some() {
                self.loaded.known += 1;
                continue;
            }
            let ended = relation.ended.as_ref().map(|(at, why)| (*at, why.as_str()));
            self.w.load_relation(&new, ended, self.graph_seq(seq)?)?;
            self.loaded.relations += 1;
        }
        Ok(())
    }

    fn mentions(
        &self,
        mentions: &[IncomingMention],
        numbers: &HashMap<String, i64>,
    ) -> Result<(), StoreError> {
        for mention in mentions {
            let memory = self.w.memory(&mention.memory)?;
            if let (Some(memory), Some(entity)) = (memory, numbers.get(&mention.entity)) {
                self.w.add_mention(&Mention {
                    memory: memory.number,
                    entity: *entity,
                    origin: mention.origin,
                    confidence: mention.confidence,
                })?;
            }
        }
        Ok(())
    }

    /// One audit row stands for the graph that came in.
    fn graph_seq(&self, seq: &mut Option<Seq>) -> Result<Seq, StoreError> {
        if let Some(seq) = seq {
            return Ok(*seq);
        }
        let row = NewAudit {
            layer: Some(Layer::P5),
            ..NewAudit::new(&self.actors.owner, self.call.face, LOAD, "graph")
        };
        Ok(*seq.insert(self.w.record(&row)?))
    }
}
