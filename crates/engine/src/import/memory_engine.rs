//! What a `memory.db` of memory-engine holds.

use std::collections::{BTreeMap, HashMap};

use strata_core::{
    memory::{Kind, Layer, Relation},
    time::Timestamp,
};
use strata_store::{error::StoreError, foreign::ForeignReader};

use super::{
    cells::{Fields, point_in_time},
    incoming::{Detail, Ending, Findings, Ground, Incoming, IncomingMemory, RowKey},
    p_layer::{dated, each, key, unit},
};

/// The table that makes a database memory-engine's.
const NODES: &str = "memory_nodes";
/// Where its candidates wait, and where it says how memories stand to each other.
const CANDIDATES: &str = "memory_candidates";
const RELATIONS: &str = "memory_relations";
/// What is read of both.
const NODE_FIELDS: &[&str] = &[
    "id",
    "parent_id",
    "title",
    "summary",
    "kind",
    "tags",
    "created_at",
    "status",
    "confidence",
    "importance",
    "module_path",
    "branch_name",
    "commit_sha",
    "branch_scope",
    "archived_reason",
];
const CANDIDATE_FIELDS: &[&str] = &[
    "id",
    "title",
    "summary",
    "proposed_kind",
    "proposed_tags",
    "proposed_module_path",
    "proposed_parent_id",
    "confidence",
    "importance",
    "evidence_content",
    "evidence_source",
    "status",
    "created_at",
    "branch_name",
    "commit_sha",
    "branch_scope",
];
/// Tables that are not taken over, what they hold, and why.
const LEFT: [(&str, &str, &str); 7] = [
    ("knowledge_documents", "documents", "the files are indexed anew"),
    ("knowledge_chunks", "chunks", "the files are indexed anew"),
    ("knowledge_paragraphs", "paragraphs", "they are made when they are asked for"),
    ("knowledge_propositions", "propositions", "they are made when they are asked for"),
    ("knowledge_chunk_summaries", "summaries", "they are made when they are asked for"),
    ("knowledge_links", "links of knowledge", "nothing ever wrote one"),
    ("knowledge_index_jobs", "jobs", "they are done"),
];

/// A database as read.
#[derive(Debug, Default)]
pub(super) struct MemoryEngineDatabase {
    pub(super) incoming: Incoming,
    /// What waits for a decision.
    pub(super) candidates: Incoming,
    /// How its memories stand to each other.
    pub(super) relations: Vec<IncomingRelation>,
    /// What is not taken over: what, how much, why.
    pub(super) left: Vec<(&'static str, u64, &'static str)>,
    /// The names of its projects.
    pub(super) projects: Vec<String>,
}

/// How a memory stands to another.
#[derive(Debug)]
pub(super) struct IncomingRelation {
    pub(super) source: RowKey,
    pub(super) relation: Relation,
    pub(super) target: RowKey,
    pub(super) at: Option<Timestamp>,
}

/// Reads a database. All but its memories may be missing.
pub(super) fn read(reader: &ForeignReader<'_>) -> Result<MemoryEngineDatabase, StoreError> {
    if !reader.has(NODES) {
        let path = reader.path().display();
        return Err(StoreError::Invalid(format!(
            "`{path}` is no database of memory-engine: it has no {NODES}"
        )));
    }
    let mut database = MemoryEngineDatabase::default();
    for (table, what, why) in LEFT {
        let count = reader.count(table)?;
        if count > 0 {
            database.left.push((what, count, why));
        }
    }
    each(reader, ("projects", &["id", "name"], None), &mut database.incoming.findings, |fields, _| {
        database.projects.extend(fields.text("name")?);
        Ok(())
    })?;
    let evidence = evidence(reader, &mut database.incoming)?;
    nodes(reader, evidence, &mut database.incoming)?;
    candidates(reader, &mut database)?;
    let keys: HashMap<String, RowKey> =
        database.incoming.memories.iter().map(|row| (row.key.id.clone(), row.key.clone())).collect();
    parents(&keys, &mut database.incoming);
    parents(&keys, &mut database.candidates);
    relations(reader, &keys, &mut database)?;
    Ok(database)
}

/// What memories rest on, by the id of the memory.
fn evidence(
    reader: &ForeignReader<'_>,
    found: &mut Incoming,
) -> Result<HashMap<String, Vec<Ground>>, StoreError> {
    const NAMES: &[&str] = &["id", "memory_node_id", "content", "source", "created_at"];
    let mut evidence: HashMap<String, Vec<Ground>> = HashMap::new();
    each(reader, ("evidence", NAMES, None), &mut found.findings, |fields, _| {
        let ground = Ground {
            text: fields.needed("content")?,
            source: fields.text("source")?.unwrap_or_default(),
            at: fields.text("created_at")?.as_deref().and_then(point_in_time),
        };
        evidence.entry(fields.needed("memory_node_id")?).or_default().push(ground);
        Ok(())
    })?;
    Ok(evidence)
}

fn nodes(
    reader: &ForeignReader<'_>,
    mut evidence: HashMap<String, Vec<Ground>>,
    found: &mut Incoming,
) -> Result<(), StoreError> {
    let Incoming { memories, findings, .. } = found;
    each(reader, (NODES, NODE_FIELDS, None), findings, |fields, findings| {
        memories.push(node(fields, findings, &mut evidence)?);
        Ok(())
    })
}

fn node(
    fields: &Fields<'_>,
    findings: &mut Findings,
    evidence: &mut HashMap<String, Vec<Ground>>,
) -> Result<IncomingMemory, String> {
    let key = key(fields, NODES)?;
    let kind = kind(&fields.text("kind")?.unwrap_or_default())?;
    let (ending, is_stale) = ending(fields)?;
    let detail = Detail {
        importance: unit(fields, ("importance", 0.5), &key, findings),
        tags: tags(&fields.text("tags")?.unwrap_or_default())?,
        branch: fields.text("branch_name")?,
        branch_scope: fields.text("branch_scope")?.unwrap_or_default(),
        commit: fields.text("commit_sha")?,
        module_path: fields.text("module_path")?,
        parent: None,
        parent_row: fields.text("parent_id")?,
        grounds: evidence.remove(&key.id).unwrap_or_default(),
        is_stale,
    };
    Ok(IncomingMemory {
        title: fields.text("title")?,
        text: fields.needed("summary")?,
        confidence: unit(fields, ("confidence", 1.0), &key, findings),
        created_at: dated(fields, &key, findings),
        ending,
        ..incoming(key, kind, detail)
    })
}

/// What waits for a decision; what was decided is counted.
fn candidates(reader: &ForeignReader<'_>, database: &mut MemoryEngineDatabase) -> Result<(), StoreError> {
    let mut decided = 0;
    let Incoming { memories, findings, .. } = &mut database.candidates;
    each(reader, (CANDIDATES, CANDIDATE_FIELDS, None), findings, |fields, findings| {
        let status = fields.text("status")?.unwrap_or_default();
        if !matches!(status.trim(), "" | "pending" | "needs_review") {
            decided += 1;
            return Ok(());
        }
        memories.push(candidate(fields, findings)?);
        Ok(())
    })?;
    if decided > 0 {
        database.left.push(("decided candidates", decided, "what was kept of them is among the memories"));
    }
    Ok(())
}

fn candidate(fields: &Fields<'_>, findings: &mut Findings) -> Result<IncomingMemory, String> {
    let key = key(fields, CANDIDATES)?;
    let kind = kind(&fields.text("proposed_kind")?.unwrap_or_default())?;
    let ground = fields.text("evidence_content")?.map(|text| {
        let source = fields.text("evidence_source").ok().flatten().unwrap_or_default();
        Ground { text, source, at: fields.date("created_at").ok() }
    });
    let detail = Detail {
        importance: unit(fields, ("importance", 0.5), &key, findings),
        tags: tags(&fields.text("proposed_tags")?.unwrap_or_default())?,
        branch: fields.text("branch_name")?,
        branch_scope: fields.text("branch_scope")?.unwrap_or_default(),
        commit: fields.text("commit_sha")?,
        module_path: fields.text("proposed_module_path")?,
        parent: None,
        parent_row: fields.text("proposed_parent_id")?,
        grounds: ground.into_iter().collect(),
        is_stale: false,
    };
    Ok(IncomingMemory {
        title: fields.text("title")?,
        text: fields.needed("summary")?,
        confidence: unit(fields, ("confidence", 0.8), &key, findings),
        created_at: dated(fields, &key, findings),
        ..incoming(key, kind, detail)
    })
}

/// How the memories stand to each other, by the keys of both.
fn relations(
    reader: &ForeignReader<'_>,
    keys: &HashMap<String, RowKey>,
    database: &mut MemoryEngineDatabase,
) -> Result<(), StoreError> {
    const NAMES: &[&str] = &["id", "source_id", "target_id", "relation_type", "created_at"];
    let (mut dangling, mut unknown) = (0, 0);
    let MemoryEngineDatabase { incoming, relations, left, .. } = database;
    each(reader, (RELATIONS, NAMES, None), &mut incoming.findings, |fields, _| {
        let end = |name| Ok::<_, String>(keys.get(fields.needed(name)?.trim()).cloned());
        let (Some(source), Some(target)) = (end("source_id")?, end("target_id")?) else {
            dangling += 1;
            return Ok(());
        };
        match Relation::parse(&fields.needed("relation_type")?) {
            Ok(relation) if source != target => {
                let at = fields.text("created_at")?.as_deref().and_then(point_in_time);
                relations.push(IncomingRelation { source, relation, target, at });
            }
            Ok(_) | Err(_) => unknown += 1,
        }
        Ok(())
    })?;
    for (count, why) in [
        (dangling, "one of the two memories is not in the database"),
        (unknown, "their type is not known here, or both ends are one memory"),
    ] {
        if count > 0 {
            left.push(("relations of memories", count, why));
        }
    }
    Ok(())
}

/// A memory of the project's tree with nothing but its place.
fn incoming(key: RowKey, kind: Kind, detail: Detail) -> IncomingMemory {
    IncomingMemory {
        number: None,
        layer: if kind.as_str() == "incident" { Layer::P6 } else { Layer::P5 },
        kind,
        title: None,
        text: String::new(),
        who: Some("agent:memory-engine".into()),
        confidence: 1.0,
        created_at: None,
        valid_to: None,
        session: None,
        origin: None,
        metadata: BTreeMap::new(),
        rule: None,
        ending: Ending::InForce,
        detail: Some(Box::new(detail)),
        key,
    }
}

/// Gives every memory the key of the one above it.
fn parents(keys: &HashMap<String, RowKey>, found: &mut Incoming) {
    for row in &mut found.memories {
        if let Some(detail) = &mut row.detail {
            detail.parent = detail.parent_row.as_ref().and_then(|id| keys.get(id)).cloned();
        }
    }
}

fn kind(word: &str) -> Result<Kind, String> {
    let word = if word.trim() == "debug" { "incident" } else { word };
    Kind::parse(word).map_err(|e| e.to_string())
}

/// How a memory ended, and whether it was doubted.
fn ending(fields: &Fields<'_>) -> Result<(Ending, bool), String> {
    let status = fields.text("status")?.unwrap_or_default();
    let why = || fields.text("archived_reason").ok().flatten();
    Ok(match status.trim() {
        "superseded" => (Ending::Archived("it was superseded in memory-engine".into()), false),
        "archived" => {
            (Ending::Archived(why().unwrap_or_else(|| "it was archived in memory-engine".into())), false)
        }
        "stale" | "needs_review" => (Ending::InForce, true),
        _ => (Ending::InForce, false),
    })
}

fn tags(text: &str) -> Result<Vec<String>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_str(text).map_err(|_| "`tags` is no list of texts".to_owned())
}
