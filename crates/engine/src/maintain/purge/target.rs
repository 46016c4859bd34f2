//! The thing to be erased: finding it, and every text that belongs to it.

use std::collections::BTreeMap;

use strata_core::{
    id::{Id, IdKind},
    knowledge::todo::TodoId,
    memory::Layer,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, PurgedKind, RelationFilter},
};

use crate::{engine::Engine, error::Error, memory::reference::Reference, operation::Call};

/// What is to be erased.
pub(super) struct Target {
    pub(super) id: String,
    pub(super) kind: PurgedKind,
    pub(super) number: i64,
    pub(super) layer: Layer,
    pub(super) hash: Option<[u8; 32]>,
    pub(super) texts: Vec<String>,
    /// How many of the texts, from the first on, are what it says; the others only belong to it.
    pub(super) bodies: usize,
    pub(super) other_versions: Vec<String>,
    /// Whether its purge was begun before: only files may still hold it.
    pub(super) already: bool,
}

impl Target {
    /// What it says.
    pub(super) fn bodies(&self) -> &[String] {
        self.texts.get(..self.bodies).unwrap_or_default()
    }
}

/// A whole id, and what it is the id of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) kind: PurgedKind,
    pub(super) id: String,
}

impl Named {
    /// Reads a whole id.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(id) = TodoId::parse(text) {
            return Some(Self { kind: PurgedKind::Todo, id: id.to_string() });
        }
        let id = Id::parse(text).ok()?;
        let kind = match id.kind() {
            IdKind::Memory => PurgedKind::Memory,
            IdKind::Episode => PurgedKind::Episode,
            IdKind::Entity => PurgedKind::Entity,
            _ => return None,
        };
        Some(Self { kind, id: id.to_string() })
    }
}

/// The whole id that an argument names.
pub(super) fn target_id(engine: &Engine, call: &Call<'_>, text: &str) -> Result<Named, Error> {
    let hint = "a purge needs the whole id, such as mem_0123456789, ep_0123456789, ent_0123456789, todo_0123456789 or #12";
    let wrong = || Error::argument("id", "is not the whole id of a memory, event, entity or todo", hint);
    if let Ok(Reference::Number(number)) = Reference::read("id", text) {
        let ledger = engine.existing_ledger()?;
        let id = ledger.read(&engine.control(call), |r| {
            let earlier =
                r.purged()?.into_iter().find(|p| p.kind == PurgedKind::Memory && p.number == number);
            Ok(r.memory_by_number(number)?.map(|m| m.id).or(earlier.map(|p| p.id)))
        })?;
        let missing = || Error::NotFound {
            what: "memory",
            id: format!("#{number}"),
            hint: "`strata recall` and `strata inspect` show ids".into(),
        };
        return Named::parse(&id.ok_or_else(missing)?).ok_or_else(wrong);
    }
    Named::parse(text).ok_or_else(wrong)
}

/// The thing with this id, or what is left of its purge.
pub(super) fn find(engine: &Engine, call: &Call<'_>, named: &Named) -> Result<Target, Error> {
    let ledger = engine.existing_ledger()?;
    let id = named.id.as_str();
    let found = ledger.read(&engine.control(call), |r| match named.kind {
        PurgedKind::Memory => memory(r, id),
        PurgedKind::Entity => entity(r, id),
        PurgedKind::Episode => episode(r, id),
        PurgedKind::Todo => todo(r, id),
        // Texts of the vault are named by their place; an id stands for one that is gone.
        PurgedKind::VaultText => tombstone(r, PurgedKind::VaultText, id),
    })?;
    let hint =
        "`strata recall`, `strata inspect`, `strata graph entities` and `strata todo list` show whole ids";
    found.ok_or_else(|| Error::NotFound { what: named.kind.as_str(), id: id.to_owned(), hint: hint.into() })
}

fn todo(r: &LedgerRead<'_>, id: &str) -> Result<Option<Target>, StoreError> {
    let Some(row) = r.todo(id)? else { return tombstone(r, PurgedKind::Todo, id) };
    let hash = row.version.digest(&row.origin);
    let (mut texts, mut beside) = (Vec::new(), vec![row.origin.session]);
    for held in r.todo_history(row.number)? {
        let version = held.version;
        texts.extend([version.content, version.title, version.notes]);
        beside.push(version.domain);
    }
    let bodies = texts.len();
    texts.extend(beside);
    Ok(Some(Target {
        id: row.origin.id,
        kind: PurgedKind::Todo,
        number: row.number,
        layer: crate::knowledge::todo::LAYER,
        hash: Some(hash),
        texts,
        bodies,
        other_versions: Vec::new(),
        already: false,
    }))
}

fn memory(r: &LedgerRead<'_>, id: &str) -> Result<Option<Target>, StoreError> {
    let Some(row) = r.memory(id)? else { return tombstone(r, PurgedKind::Memory, id) };
    let line = r.history(row.number)?.line;
    let mut texts = vec![row.body, row.title];
    texts.extend(r.rule_history(row.number)?.into_iter().filter_map(|rule| rule.attributes.condition));
    for evidence in r.evidence(row.number)? {
        texts.extend([evidence.reference, evidence.note]);
    }
    Ok(Some(Target {
        id: row.id,
        kind: PurgedKind::Memory,
        number: row.number,
        layer: row.state.layer,
        hash: Some(row.content_hash),
        texts,
        bodies: 1,
        other_versions: line.into_iter().map(|m| m.id).filter(|other| other != id).collect(),
        already: false,
    }))
}

fn episode(r: &LedgerRead<'_>, id: &str) -> Result<Option<Target>, StoreError> {
    let Some(row) = r.episode(id)? else { return tombstone(r, PurgedKind::Episode, id) };
    Ok(Some(Target {
        id: row.id,
        kind: PurgedKind::Episode,
        number: row.number,
        layer: Layer::P2,
        hash: None,
        texts: vec![row.text],
        bodies: 1,
        other_versions: Vec::new(),
        already: false,
    }))
}

fn entity(r: &LedgerRead<'_>, id: &str) -> Result<Option<Target>, StoreError> {
    let Some(row) = r.entity(id)? else { return tombstone(r, PurgedKind::Entity, id) };
    let mut texts = vec![row.label];
    let mut described = vec![row.properties];
    let touching = RelationFilter {
        touching: Some(row.number),
        ended: true,
        limit: usize::MAX,
        ..RelationFilter::default()
    };
    for relation in r.relations(&touching)? {
        texts.push(relation.reason);
        described.push(relation.properties);
    }
    texts.extend(described.iter().flat_map(|json| property_texts(json)));
    Ok(Some(Target {
        id: row.id,
        kind: PurgedKind::Entity,
        number: row.number,
        layer: Layer::P5,
        hash: None,
        texts,
        // A name is said wherever its thing is spoken of.
        bodies: 0,
        other_versions: Vec::new(),
        already: false,
    }))
}

/// The texts in a JSON object of properties.
pub(super) fn property_texts(json: &str) -> Vec<String> {
    let properties: BTreeMap<String, String> = serde_json::from_str(json).unwrap_or_default();
    properties.into_values().collect()
}

/// Something whose purge was begun: what is left of it can still be removed.
pub(super) fn tombstone(
    r: &LedgerRead<'_>,
    kind: PurgedKind,
    id: &str,
) -> Result<Option<Target>, StoreError> {
    let stone = r.purged()?.into_iter().find(|p| p.kind == kind && p.id == id);
    Ok(stone.map(|p| Target {
        id: p.id,
        kind,
        number: p.number,
        layer: Layer::P5,
        hash: None,
        texts: Vec::new(),
        bodies: 0,
        other_versions: Vec::new(),
        already: true,
    }))
}
