//! Entities and relations of an older store, with the ends of relations resolved.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use strata_core::time::Timestamp;

use super::incoming::{Findings, RowKey};

/// A thing that an older store knows by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ImportedEntity {
    /// Its id in its store.
    pub(super) foreign_id: i64,
    /// Its row.
    pub(super) key: RowKey,
    /// Its name; one entity has it.
    pub(super) label: String,
    /// What it is: `tool`, `incident`, ...
    pub(super) kind: String,
    /// A JSON object.
    pub(super) properties: Value,
    /// The row of `knowledge` it belongs to.
    pub(super) knowledge: Option<i64>,
    /// Since when it is known.
    pub(super) created_at: Option<Timestamp>,
}

/// A link between two entities, by their places in [`Graph::entities`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ImportedRelation {
    /// Its row.
    pub(super) key: RowKey,
    pub(super) source: usize,
    pub(super) target: usize,
    /// What links them: `caused`, `depends_on`, ...
    pub(super) kind: String,
    /// A JSON object.
    pub(super) properties: Value,
    /// Since when it is known.
    pub(super) created_at: Option<Timestamp>,
}

/// The entities of a store, each label once, and the relations between them.
#[derive(Debug, Default, Clone)]
pub(super) struct Graph {
    pub(super) entities: Vec<ImportedEntity>,
    pub(super) relations: Vec<ImportedRelation>,
    /// The rows of `knowledge` that entities may belong to.
    pub(super) knowledge: HashMap<i64, RowKey>,
    /// Relations left out because one of their ends is not there.
    pub(super) dangling: usize,
    places: HashMap<i64, usize>,
    labels: HashMap<String, usize>,
    known: HashSet<(usize, usize, String)>,
}

impl Graph {
    /// Adds an entity. Another row of the same label is the same entity: what it adds is merged into the first.
    pub(super) fn entity(&mut self, entity: ImportedEntity) {
        if let Some(&place) = self.labels.get(&entity.label) {
            self.places.insert(entity.foreign_id, place);
            let known = &mut self.entities[place];
            if let (Some(into), Value::Object(from)) = (known.properties.as_object_mut(), entity.properties) {
                for (key, value) in from {
                    into.entry(key).or_insert(value);
                }
            }
            known.knowledge = known.knowledge.or(entity.knowledge);
            return;
        }
        let place = self.entities.len();
        self.places.insert(entity.foreign_id, place);
        self.labels.insert(entity.label.clone(), place);
        self.entities.push(entity);
    }

    /// Adds a relation between the rows with these ids, unless an end is missing or it is there already.
    pub(super) fn relation(
        &mut self,
        ends: (i64, i64),
        kind: String,
        rest: (Value, Option<Timestamp>),
        key: RowKey,
        findings: &mut Findings,
    ) {
        let (Some(&source), Some(&target)) = (self.places.get(&ends.0), self.places.get(&ends.1)) else {
            self.dangling += 1;
            findings.reject(key, format!("entity #{} or #{} is not there", ends.0, ends.1));
            return;
        };
        if self.known.insert((source, target, kind.clone())) {
            let (properties, created_at) = rest;
            self.relations.push(ImportedRelation { key, source, target, kind, properties, created_at });
        }
    }
}

/// A JSON object that a store keeps as text; anything else is an empty one, and said.
pub(super) fn properties(text: Option<&str>, row: impl std::fmt::Display, findings: &mut Findings) -> Value {
    let empty = || Value::Object(serde_json::Map::new());
    let Some(text) = text else { return empty() };
    match serde_json::from_str::<Value>(text) {
        Ok(object @ Value::Object(_)) => object,
        _ => {
            findings.adjust(row, "its properties are no JSON object; they are left out");
            empty()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(table: &'static str, id: i64) -> RowKey {
        RowKey { table, id: id.to_string(), created: String::new() }
    }

    fn entity(id: i64, label: &str, properties: Value) -> ImportedEntity {
        ImportedEntity {
            foreign_id: id,
            key: key("entities", id),
            label: label.into(),
            kind: "tool".into(),
            properties,
            knowledge: None,
            created_at: None,
        }
    }

    #[test]
    fn rows_of_one_label_are_one_entity_and_relations_find_it() {
        let (mut graph, mut findings) = (Graph::default(), Findings::default());
        graph.entity(entity(1, "nginx", json!({ "port": 80 })));
        graph.entity(entity(2, "게이트웨이", json!({})));
        graph.entity(entity(9, "nginx", json!({ "port": 81, "owner": "kim" })));
        let rest = || (json!({}), None);
        for (row, ends) in [(1, (9, 2)), (2, (1, 2)), (3, (2, 77))] {
            graph.relation(ends, "depends_on".into(), rest(), key("relations", row), &mut findings);
        }
        assert_eq!(graph.entities.len(), 2);
        assert_eq!(graph.entities[0].properties, json!({ "port": 80, "owner": "kim" }));
        let ends: Vec<_> = graph.relations.iter().map(|r| (r.source, r.target)).collect();
        assert_eq!(ends, [(0, 1)], "no self-loop, no wrong end, nothing twice");
        assert_eq!((graph.dangling, findings.rejected.len()), (1, 1));
    }

    #[test]
    fn bad_json_is_an_empty_object_and_said() {
        let mut findings = Findings::default();
        assert_eq!(properties(Some("{oops"), "entities #1", &mut findings), json!({}));
        assert_eq!(properties(Some("[1]"), "entities #2", &mut findings), json!({}));
        assert_eq!(properties(None, "entities #3", &mut findings), json!({}));
        assert_eq!(findings.adjusted.len(), 2);
    }
}
