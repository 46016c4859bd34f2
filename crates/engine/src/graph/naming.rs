//! Naming entities: by id, by label or by number; and what a free text names.

use std::collections::BTreeMap;

use serde::Serialize;
use strata_core::{
    graph::{label, mention},
    id::{Id, IdKind},
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{EntityRow, LedgerRead, MemoryRow},
};

use crate::{
    engine::Engine,
    error::Error,
    gate::MAX_BODY,
    memory::reference::{Reference, sees_scope},
    operation::Call,
};

/// Most entities that a query is answered for.
pub(super) const MAX_MATCHES: usize = 50;

/// An entity as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub label: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: String,
}

impl From<&EntityRow> for Shown {
    fn from(row: &EntityRow) -> Self {
        Self { id: row.id.clone(), label: row.label.clone(), kind: row.kind.clone() }
    }
}

/// Bytes of the longest text that names an entity, however it is spaced.
const LONGEST_NAME: usize = 8 << 10;

/// The one entity that an argument names: by whole id, by label (the nearest scope's), or by number. May be called
/// while others wait: a text that is too long for a name is not looked at.
pub(super) fn entity(
    read: &LedgerRead<'_>,
    call: &Call<'_>,
    text: &str,
) -> Result<Option<EntityRow>, StoreError> {
    if text.len() > LONGEST_NAME {
        return Ok(None);
    }
    if let Ok(id) = Id::parse(text)
        && id.kind() == IdKind::Entity
    {
        return Ok(read.entity(id.as_str())?.filter(|e| sees_scope(call, &e.scope)));
    }
    if let Some(found) = read.nearest_entity(call.scope, text)? {
        return Ok(Some(found));
    }
    let text = text.trim();
    let digits = text.strip_prefix('#').unwrap_or(text);
    match digits.parse::<i64>() {
        Ok(number) => Ok(read.entity_by_number(number)?.filter(|e| sees_scope(call, &e.scope))),
        Err(_) => Ok(None),
    }
}

/// The memory that an argument links, if it names one.
pub(super) fn memory(
    engine: &Engine,
    call: &Call<'_>,
    named: Option<&str>,
) -> Result<Option<MemoryRow>, Error> {
    let Some(named) = named else { return Ok(None) };
    let reference = Reference::exact("memory", named)?;
    let found = engine.ledger(call)?.read(&engine.control(call), |read| reference.find(read, call))?;
    found.existing().map(Some)
}

/// The error for a name that names nothing.
pub(super) fn unknown(name: &str) -> Error {
    Error::NotFound {
        what: "entity",
        id: name.to_owned(),
        hint: "`entity_list` shows labels and ids; `entity_add` adds one. Relation endpoints must exist"
            .into(),
    }
}

/// Refuses a blank query, and one that is no query.
pub(super) fn needed(field: &str, text: &str) -> Result<(), Error> {
    if text.len() > MAX_BODY {
        let hint = "send the name, or the sentence that says what went wrong";
        let message = format!("has {} bytes; at most {MAX_BODY} are looked up", text.len());
        return Err(Error::argument(field, message, hint));
    }
    if label::key(text).is_empty() {
        return Err(Error::argument(
            field,
            "must not be empty",
            "name an entity by label or id; `entity_list` shows them",
        ));
    }
    Ok(())
}

/// The entities that a query is about: the one with that id or number; else those whose label is, begins
/// with or holds the query; else those whose labels the query names. Only of these kinds; of all if there are none.
pub(super) fn matching(
    read: &LedgerRead<'_>,
    call: &Call<'_>,
    query: &str,
    kinds: &[&str],
    limit: usize,
) -> Result<Vec<EntityRow>, StoreError> {
    let is_wanted = |entity: &EntityRow| kinds.is_empty() || kinds.contains(&entity.kind.as_str());
    let is_id = Id::parse(query).is_ok_and(|id| id.kind() == IdKind::Entity);
    let is_number = query.trim().strip_prefix('#').is_some_and(|n| n.parse::<i64>().is_ok());
    if is_id || is_number {
        return Ok(entity(read, call, query)?.into_iter().filter(is_wanted).collect());
    }
    let found = read.find_entities(call.scope, query, kinds, limit)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let mut named = named_in(read, call.scope, query)?;
    named.retain(is_wanted);
    named.truncate(limit);
    Ok(named)
}

/// The entities whose labels stand in a text, in the order in which they do.
pub fn named_in(read: &LedgerRead<'_>, scope: &Scope, text: &str) -> Result<Vec<EntityRow>, StoreError> {
    let key = label::key(text);
    let rows = read.entities_named(scope, &key, &[])?;
    Ok(pick(&key, rows))
}

/// Those of the entities that the text with this key names; of one label the nearest scope's.
pub(super) fn pick(key: &str, rows: Vec<EntityRow>) -> Vec<EntityRow> {
    let mut by_label: BTreeMap<String, EntityRow> = BTreeMap::new();
    for row in rows {
        let key = label::key(&row.label);
        if by_label.get(&key).is_none_or(|old| row.scope.nearness() > old.scope.nearness()) {
            by_label.insert(key, row);
        }
    }
    let labels: Vec<&str> = by_label.keys().map(String::as_str).collect();
    let named: Vec<String> = mention::known(key, &labels).into_iter().map(str::to_owned).collect();
    named.iter().filter_map(|label| by_label.remove(label)).collect()
}
