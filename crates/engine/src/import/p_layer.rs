//! What a p-layer database holds, in any of its four schemas.

use std::collections::{BTreeMap, HashMap};

use strata_core::{
    memory::{Kind, Layer},
    time::{DAY, Timestamp},
};
use strata_store::{
    error::StoreError,
    foreign::{Cell, ForeignReader},
    ledger::{DEFAULT_PRIORITY, RuleAttributes},
};

use super::{
    cells::{Fields, Undated},
    distilled::CONSOLIDATED,
    graph::{ImportedEntity, properties},
    incoming::{Ending, Findings, Incoming, IncomingEpisode, IncomingMemory, RowKey},
};

/// The newest schema that is known.
const NEWEST: i64 = 4;
/// What p-layer itself recorded of its four migrations.
const KNOWN_CHECKSUMS: [&str; 4] = [
    "c3806956bc157f8b30b32bd82be9bccf61f8f19242c04a8c89341f2c1d0b7f37",
    "29649eae31e40a3003fa1701702e5efd3d2e19248d33a627229ff31c15fb1137",
    "eac36be428aacd921d6ce2bf2205caa4779ed4bbfff3b71c40be552b21d177ab",
    "2376d1b291f72d0963a3999cb3c9e22a97e72cc8e79b04795db668aad7b115a1",
];
/// The table that makes a database one of p-layer's.
const KNOWLEDGE: &str = "knowledge";
/// The longest time to live in days: a century.
const MAX_TTL: f64 = 36_525.0;

/// A database as read.
#[derive(Debug, Default)]
pub(super) struct PLayerDatabase {
    /// Its schema: the highest migration that it says was applied; 0 when it does not say.
    pub(super) schema: i64,
    /// What is odd about it as a whole.
    pub(super) warnings: Vec<String>,
    /// Its rows.
    pub(super) incoming: Incoming,
    /// Snapshots it holds. They name sets of rows as of then, and are not taken over.
    pub(super) snapshots: u64,
    /// Rows of its audit log and the BLAKE3 of them, which the audit of the import keeps.
    pub(super) audit: (usize, [u8; 32]),
}

/// A rule as its store has it, beyond its text and layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenAttributes {
    /// Lower goes first.
    pub(super) priority: i64,
    /// When it applies.
    pub(super) condition: Option<String>,
    /// What it applies to.
    pub(super) scope: Option<String>,
    /// Whether it is in force.
    pub(super) enabled: bool,
}

impl WrittenAttributes {
    /// The attributes as rules have them here. A rule that applies to one thing only applies under that
    /// condition, so the scope goes in front of the condition: `deploy: before a release`.
    pub(super) fn kept(&self) -> RuleAttributes {
        let condition = match (&self.scope, &self.condition) {
            (Some(scope), Some(condition)) => Some(format!("{scope}: {condition}")),
            (scope, condition) => scope.clone().or_else(|| condition.clone()),
        };
        RuleAttributes { priority: self.priority, condition, enabled: self.enabled }
    }
}

/// Reads a whole database.
///
/// # Errors
/// `Newer` above schema 4; `Invalid` when it is not p-layer's.
pub(super) fn read(reader: &ForeignReader<'_>) -> Result<PLayerDatabase, StoreError> {
    let mut database = PLayerDatabase::default();
    migrations(reader, &mut database)?;
    if !reader.has(KNOWLEDGE) {
        let path = reader.path().display();
        return Err(StoreError::Invalid(format!(
            "`{path}` is no p-layer database: it has no table `knowledge`"
        )));
    }
    let found = &mut database.incoming;
    knowledge(reader, found)?;
    episodes(reader, found)?;
    rules(reader, found)?;
    entities(reader, found)?;
    relations(reader, found)?;
    database.snapshots = reader.count("snapshots")?;
    database.audit = audit(reader)?;
    Ok(database)
}

/// A table, the columns that are wanted of it, and the id above which rows are.
pub(super) type Wanted = (&'static str, &'static [&'static str], Option<i64>);

/// Runs `judge` on every row of a table as it is read, and notes by number those that it does not take.
pub(super) fn each(
    reader: &ForeignReader<'_>,
    (table, names, after): Wanted,
    findings: &mut Findings,
    mut judge: impl FnMut(&Fields<'_>, &mut Findings) -> Result<(), String>,
) -> Result<(), StoreError> {
    reader.for_each(table, names, after, |row| {
        let fields = Fields { names, row };
        if let Err(why) = judge(&fields, findings) {
            match fields.text("id") {
                Ok(Some(id)) => findings.reject(format_args!("{table} #{id}"), why),
                _ => findings.reject(format_args!("{table}, row {}", row.place), why),
            }
        }
        Ok(())
    })
}

fn migrations(reader: &ForeignReader<'_>, database: &mut PLayerDatabase) -> Result<(), StoreError> {
    const NAMES: &[&str] = &["version", "name", "checksum"];
    if !reader.has("schema_migrations") {
        database.warnings.push("it does not say which schema it has; it is read by its columns".into());
        return Ok(());
    }
    for row in reader.rows("schema_migrations", NAMES, None)? {
        let fields = Fields { names: NAMES, row: &row };
        let Ok(Some(version)) = fields.integer("version") else {
            database.warnings.push(format!("migration {} has no version", row.place));
            continue;
        };
        database.schema = database.schema.max(version);
        let known = usize::try_from(version - 1).ok().and_then(|v| KNOWN_CHECKSUMS.get(v));
        let checksum = fields.text("checksum").ok().flatten().unwrap_or_default();
        if known.is_some_and(|known| *known != checksum) {
            database.warnings.push(format!(
                "migration {version} was not applied as p-layer published it; rows are read by their columns"
            ));
        }
    }
    if database.schema > NEWEST {
        let (found, known) = (database.schema, NEWEST);
        return Err(StoreError::Newer { schema: "p-layer database", found, known, action: "read" });
    }
    Ok(())
}

/// The date of a row; one that cannot be read is said.
pub(super) fn dated(fields: &Fields<'_>, key: &RowKey, findings: &mut Findings) -> Option<Timestamp> {
    match fields.date("created_at") {
        Ok(at) => Some(at),
        Err(Undated(why)) => {
            findings.adjust(key, why);
            None
        }
    }
}

/// The key of a row.
pub(super) fn key(fields: &Fields<'_>, table: &'static str) -> Result<RowKey, String> {
    Ok(RowKey { table, id: fields.needed("id")?, created: fields.date_as_written("created_at") })
}

fn knowledge(reader: &ForeignReader<'_>, found: &mut Incoming) -> Result<(), StoreError> {
    const NAMES: &[&str] = &[
        "id",
        "type",
        "content",
        "source",
        "session_id",
        "created_at",
        "layer",
        "who",
        "confidence",
        "ttl_days",
        "superseded_by",
        "superseded_reason",
    ];
    let memories = &mut found.memories;
    each(reader, (KNOWLEDGE, NAMES, None), &mut found.findings, |fields, findings| {
        let key = key(fields, KNOWLEDGE)?;
        let kind = Kind::parse(&fields.needed("type")?).map_err(|e| e.to_string())?;
        let layer = layer_of(fields, Layer::P5)?;
        let created_at = dated(fields, &key, findings);
        memories.push(IncomingMemory {
            detail: None,
            number: Some(fields.id()?),
            kind,
            title: None,
            text: fields.needed("content")?,
            layer,
            who: Some(fields.text("who")?.unwrap_or_else(|| "system".into())),
            confidence: unit(fields, ("confidence", 1.0), &key, findings),
            created_at,
            valid_to: expiry(fields, &key, created_at, findings),
            session: fields.text("session_id")?,
            origin: fields.text("source")?,
            metadata: BTreeMap::new(),
            rule: None,
            ending: ending(fields, fields.id()?)?,
            key,
        });
        Ok(())
    })
}

fn layer_of(fields: &Fields<'_>, default: Layer) -> Result<Layer, String> {
    let word = fields.text("layer")?;
    word.map_or(Ok(default), |word| Layer::parse(&word).map_err(|e| e.to_string()))
}

/// A share from 0 to 1, by its name and what it is where it is absent. A row is not lost over one that is none: it is brought into the range, which is told.
pub(super) fn unit(fields: &Fields<'_>, of: (&str, f64), key: &RowKey, findings: &mut Findings) -> f64 {
    let (name, default) = of;
    match fields.real(name) {
        Ok(Some(value)) if (0.0..=1.0).contains(&value) => value,
        Ok(None) => default,
        Ok(Some(value)) => {
            let clamped = if value.is_nan() { default } else { value.clamp(0.0, 1.0) };
            findings.adjust(key, format_args!("{name} {value} became {clamped}"));
            clamped
        }
        Err(why) => {
            findings.adjust(key, format_args!("{why}; {name} became {default}"));
            default
        }
    }
}

/// When a time to live ends. Zero and less never meant anything.
fn expiry(
    fields: &Fields<'_>,
    key: &RowKey,
    created_at: Option<Timestamp>,
    findings: &mut Findings,
) -> Option<Timestamp> {
    let days = match fields.real("ttl_days") {
        Ok(None) => return None,
        Ok(Some(0.0)) => return None,
        Ok(Some(days)) if days > 0.0 && days <= MAX_TTL => days,
        Ok(Some(days)) => {
            findings.adjust(key, format_args!("a time to live of {days} days was left out"));
            return None;
        }
        Err(why) => {
            findings.adjust(key, format_args!("{why}; it does not expire"));
            return None;
        }
    };
    let Some(from) = created_at else {
        findings.adjust(key, "without a date its time to live has no end; it does not expire");
        return None;
    };
    Some(Timestamp(from.0.saturating_add((days * DAY as f64) as i64)))
}

fn ending(fields: &Fields<'_>, id: i64) -> Result<Ending, String> {
    let reason = fields.text("superseded_reason")?.unwrap_or_default();
    Ok(match fields.integer("superseded_by")? {
        None => Ending::InForce,
        Some(by) if by == id => Ending::Forgotten(reason),
        Some(by) => Ending::Replaced(by, reason),
    })
}

fn episodes(reader: &ForeignReader<'_>, found: &mut Incoming) -> Result<(), StoreError> {
    const NAMES: &[&str] = &["id", "session_id", "kind", "payload", "created_at", "consolidated_at"];
    let episodes = &mut found.episodes;
    each(reader, ("episodes", NAMES, None), &mut found.findings, |fields, findings| {
        let key = key(fields, "episodes")?;
        let mut metadata = BTreeMap::from([("kind".to_owned(), fields.needed("kind")?)]);
        metadata.extend(fields.text(CONSOLIDATED)?.map(|at| (CONSOLIDATED.to_owned(), at)));
        episodes.push(IncomingEpisode {
            text: fields.needed("payload")?,
            session: fields.text("session_id")?,
            at: dated(fields, &key, findings),
            metadata,
            key,
        });
        Ok(())
    })
}

fn rules(reader: &ForeignReader<'_>, found: &mut Incoming) -> Result<(), StoreError> {
    const NAMES: &[&str] =
        &["id", "priority", "layer", "scope", "condition", "text", "source", "enabled", "created_at"];
    let memories = &mut found.memories;
    each(reader, ("rules", NAMES, None), &mut found.findings, |fields, findings| {
        let key = key(fields, "rules")?;
        let mut priority = fields.integer("priority")?.unwrap_or(DEFAULT_PRIORITY);
        if priority < 0 {
            findings.adjust(&key, format_args!("priority {priority} became 0"));
            priority = 0;
        }
        let attributes = WrittenAttributes {
            priority,
            condition: fields.text("condition")?,
            scope: fields.text("scope")?,
            enabled: fields.integer("enabled")? != Some(0),
        };
        memories.push(IncomingMemory {
            detail: None,
            number: None,
            kind: Kind::parse("rule").map_err(|e| e.to_string())?,
            title: None,
            text: fields.needed("text")?,
            layer: layer_of(fields, Layer::P0)?,
            who: Some("system".into()),
            confidence: 1.0,
            created_at: dated(fields, &key, findings),
            valid_to: None,
            session: None,
            origin: fields.text("source")?,
            metadata: BTreeMap::new(),
            rule: Some(attributes.kept()),
            ending: Ending::InForce,
            key,
        });
        Ok(())
    })
}

/// Reads entities; also those of stores with fewer columns.
pub(super) fn entities(reader: &ForeignReader<'_>, found: &mut Incoming) -> Result<(), StoreError> {
    const NAMES: &[&str] = &["id", "label", "type", "properties", "knowledge_id", "created_at"];
    let graph = &mut found.graph;
    graph.knowledge = knowledge_keys(reader)?;
    each(reader, ("entities", NAMES, None), &mut found.findings, |fields, findings| {
        let id = fields.id()?;
        let row = format!("entities #{id}");
        graph.entity(ImportedEntity {
            foreign_id: id,
            key: key(fields, "entities")?,
            label: fields.needed("label")?,
            kind: fields.text("type")?.unwrap_or_else(|| "concept".into()),
            properties: properties(fields.text("properties")?.as_deref(), row, findings),
            knowledge: fields.integer("knowledge_id")?,
            created_at: fields.date("created_at").ok(),
        });
        Ok(())
    })
}

/// The rows of `knowledge` by their ids, all of them: entities may belong to rows that were read long ago.
fn knowledge_keys(reader: &ForeignReader<'_>) -> Result<HashMap<i64, RowKey>, StoreError> {
    const NAMES: &[&str] = &["id", "created_at"];
    let mut keys = HashMap::new();
    reader.for_each(KNOWLEDGE, NAMES, None, |row| {
        let fields = Fields { names: NAMES, row };
        keys.extend(fields.id().ok().zip(key(&fields, KNOWLEDGE).ok()));
        Ok(())
    })?;
    Ok(keys)
}

/// Reads relations, once the entities are known.
pub(super) fn relations(reader: &ForeignReader<'_>, found: &mut Incoming) -> Result<(), StoreError> {
    const NAMES: &[&str] = &["id", "source_id", "target_id", "type", "properties", "created_at"];
    let graph = &mut found.graph;
    each(reader, ("relations", NAMES, None), &mut found.findings, |fields, findings| {
        let row = format!("relations #{}", fields.id()?);
        let end = |name: &str| fields.integer(name)?.ok_or_else(|| format!("`{name}` is empty"));
        let rest = (
            properties(fields.text("properties")?.as_deref(), &row, findings),
            fields.date("created_at").ok(),
        );
        let ends = (end("source_id")?, end("target_id")?);
        let key = key(fields, "relations")?;
        graph.relation(ends, fields.needed("type")?, rest, key, findings);
        Ok(())
    })
}

/// How many rows the audit log has, and a hash over them in order.
fn audit(reader: &ForeignReader<'_>) -> Result<(usize, [u8; 32]), StoreError> {
    const NAMES: &[&str] =
        &["id", "action", "knowledge_id", "layer", "who", "detail", "denied", "created_at"];
    let (mut rows, mut hasher) = (0, blake3::Hasher::new());
    reader.for_each("audit_log", NAMES, None, |row| {
        let line: Vec<serde_json::Value> = row.cells.iter().map(cell_as_json).collect();
        hasher.update(serde_json::Value::from(line).to_string().as_bytes()).update(b"\n");
        rows += 1;
        Ok(())
    })?;
    Ok((rows, *hasher.finalize().as_bytes()))
}

fn cell_as_json(cell: &Cell) -> serde_json::Value {
    match cell {
        Cell::Integer(n) => (*n).into(),
        Cell::Real(n) => (*n).into(),
        Cell::Text(text) => text.as_str().into(),
        Cell::Bytes(n) | Cell::TooLong(n) => serde_json::json!({ "bytes": n }),
        Cell::Null | Cell::NotUtf8 => serde_json::Value::Null,
    }
}
