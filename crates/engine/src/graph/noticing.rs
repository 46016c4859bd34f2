//! Noticing what a memory mentions, as it is written: known labels, and names that look like names.

use std::collections::BTreeSet;

use strata_core::{
    graph::{Origin, label, mention},
    id::{Id, IdKind},
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{Ledger, LedgerWrite, Mention, NewEntity, Seq},
    sql::Control,
};

use super::naming;
use crate::{engine::Engine, error::Error};

/// Most entities that one memory is linked to by itself.
const MAX_LINKS: usize = 32;
/// Most entities that one memory brings in.
const MAX_NEW: usize = 12;
/// How sure it is that a text that holds a known label means that entity.
const KNOWN: f64 = 0.95;

/// What a text mentions.
#[derive(Debug, Default)]
pub(crate) struct Noticed {
    /// Numbers of entities that were there before.
    known: Vec<i64>,
    /// Entities that the text brings in.
    new: Vec<NewEntity>,
}

/// Looks for what a text that will be stored in `scope` mentions. Nothing is written.
pub(crate) fn look(
    engine: &Engine,
    ledger: &Ledger,
    control: &Control,
    (title, body): (&str, &str),
    scope: &Scope,
    writer: &str,
) -> Result<Noticed, Error> {
    let text = format!("{title}\n{}", mention::beginning(body));
    let key = label::key(&text);
    let names = mention::notice(&text);
    let their_keys: Vec<String> = names.iter().map(|name| label::key(&name.label)).collect();
    let candidates = ledger.read(control, |read| read.entities_named(scope, &key, &their_keys))?;
    let mut seen: BTreeSet<String> = candidates.iter().map(|e| label::key(&e.label)).collect();
    let known = naming::pick(&key, candidates).into_iter().map(|entity| entity.number).take(MAX_LINKS);
    let known: Vec<i64> = known.collect();
    let mut new = Vec::new();
    for name in names {
        let room = new.len() < MAX_NEW && known.len() + new.len() < MAX_LINKS;
        if room && name.confidence >= mention::CONFIDENT && seen.insert(label::key(&name.label)) {
            new.push(NewEntity {
                id: Id::from_bits(IdKind::Entity, engine.ids().bits()),
                label: name.label,
                kind: name.kind.to_owned(),
                properties: "{}".to_owned(),
                scope: scope.clone(),
                origin: Origin::Inferred,
                confidence: name.confidence,
                writer: writer.to_owned(),
                created_at: engine.clock().now(),
            });
        }
    }
    Ok(Noticed { known, new })
}

/// Links a memory that was just stored to what was noticed in it.
pub(crate) fn link(w: &LedgerWrite<'_>, noticed: &Noticed, memory: i64, seq: Seq) -> Result<(), StoreError> {
    let mention = |entity, confidence| Mention { memory, entity, origin: Origin::Inferred, confidence };
    for entity in &noticed.known {
        // It may have been purged since it was looked up.
        if w.entity_by_number(*entity)?.is_some() {
            w.add_mention(&mention(*entity, KNOWN))?;
        }
    }
    for new in &noticed.new {
        // Somebody may have named it since.
        let number = match w.nearest_entity(&new.scope, &new.label)? {
            Some(entity) => entity.number,
            None => w.insert_entity(new, seq)?,
        };
        w.add_mention(&mention(number, new.confidence))?;
    }
    Ok(())
}
