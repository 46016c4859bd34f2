//! What a drewgent `knowledge.db` holds.

use std::collections::BTreeMap;

use serde_json::json;
use strata_core::memory::{Kind, Layer};
use strata_store::{error::StoreError, foreign::ForeignReader};

use super::{
    incoming::{Ending, Incoming, IncomingEpisode, IncomingMemory},
    p_layer::{dated, each, entities, key, relations},
};

/// The kinds that drewgent knows; what else stands there is a fact.
const KINDS: [&str; 4] = ["fact", "decision", "preference", "pattern"];
/// The tables of which one at least makes a database drewgent's.
const TABLES: [&str; 4] = ["knowledge", "entities", "relations", "sessions"];

/// A database as read.
#[derive(Debug, Default)]
pub(super) struct DrewgentDatabase {
    pub(super) incoming: Incoming,
    /// The highest id of its knowledge, `after` at least.
    pub(super) last: i64,
}

/// Reads a database; of its knowledge only rows with ids above `after`. Any table may be missing, but not all.
pub(super) fn read(reader: &ForeignReader<'_>, after: Option<i64>) -> Result<DrewgentDatabase, StoreError> {
    if !TABLES.iter().any(|table| reader.has(table)) {
        let path = reader.path().display();
        let tables = TABLES.join(", ");
        return Err(StoreError::Invalid(format!(
            "`{path}` is no drewgent database: it has none of {tables}"
        )));
    }
    let mut database = DrewgentDatabase { last: after.unwrap_or(0), ..DrewgentDatabase::default() };
    knowledge(reader, after, &mut database)?;
    sessions(reader, &mut database.incoming)?;
    entities(reader, &mut database.incoming)?;
    relations(reader, &mut database.incoming)?;
    Ok(database)
}

fn knowledge(
    reader: &ForeignReader<'_>,
    after: Option<i64>,
    database: &mut DrewgentDatabase,
) -> Result<(), StoreError> {
    const NAMES: &[&str] = &["id", "type", "content", "source", "created_at"];
    let DrewgentDatabase { incoming, last } = database;
    let Incoming { memories, findings, .. } = incoming;
    each(reader, ("knowledge", NAMES, after), findings, |fields, findings| {
        *last = (*last).max(fields.id().unwrap_or(0));
        let key = key(fields, "knowledge")?;
        let word = fields.text("type")?.unwrap_or_default().trim().to_lowercase();
        let word = if KINDS.contains(&word.as_str()) { word } else { "fact".to_owned() };
        memories.push(IncomingMemory {
            detail: None,
            number: None,
            kind: Kind::parse(&word).map_err(|e| e.to_string())?,
            title: None,
            text: fields.needed("content")?,
            layer: Layer::P5,
            who: Some("system:drewgent".into()),
            confidence: 1.0,
            created_at: dated(fields, &key, findings),
            valid_to: None,
            session: None,
            origin: fields.text("source")?,
            metadata: BTreeMap::new(),
            rule: None,
            ending: Ending::InForce,
            key,
        });
        Ok(())
    })
}

fn sessions(reader: &ForeignReader<'_>, found: &mut Incoming) -> Result<(), StoreError> {
    const NAMES: &[&str] = &["id", "title", "created_at", "message_count"];
    let Incoming { episodes, findings, .. } = found;
    each(reader, ("sessions", NAMES, None), findings, |fields, findings| {
        let key = key(fields, "sessions")?;
        let payload = json!({
            "title": fields.text("title")?,
            "message_count": fields.integer("message_count")?.unwrap_or(0),
        });
        episodes.push(IncomingEpisode {
            text: payload.to_string(),
            session: Some(key.id.clone()),
            at: dated(fields, &key, findings),
            metadata: BTreeMap::from([("kind".to_owned(), "session".to_owned())]),
            key,
        });
        Ok(())
    })
}
