//! A memory of a project in the form that the project's tools send it in.
//!
//! What is empty, unknown or the usual is left out: nothing is sent as null.

use std::collections::HashMap;

use serde::Serialize;
use strata_core::memory::Kind;
use strata_store::{
    error::StoreError,
    ledger::{EvidenceRow, LedgerRead, MemoryRow},
};

use super::anchors::{self, AnchorView};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Call, is_default},
    recall::item::metadata,
    render::shortened,
};

/// Most steps up a tree that are followed; no tree is deeper.
pub const MAX_DEPTH: u32 = 10;

/// Characters of a title that a memory without one is given.
const TITLE: usize = 80;

/// One memory of a project's tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Node {
    /// Its id.
    pub id: String,
    /// The project's key; absent for what holds in every project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Its headline.
    pub title: String,
    /// Its text.
    pub summary: String,
    /// What it is, in the wire's words; see [`wire_kind`].
    pub kind: String,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The id of the memory above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// How many memories stand above it.
    pub depth: u32,
    /// `active`, `stale`, `needs_review`, `superseded`, `archived` and so on.
    pub status: String,
    /// Its layer of authority, `P0` to `P6`.
    pub layer: String,
    /// 0 to 1.
    pub confidence: f64,
    /// 0 to 1.
    pub importance: f64,
    /// The part of the project it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module_path: Option<String>,
    /// The branch it was learned on, unless that is a mainline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_name: Option<String>,
    /// How it follows branches: `current_branch`, `inherited_branch`, `mainline`, `global` or `historical`.
    pub branch_scope: String,
    /// The commit it was learned at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// The state of its source when it was learned, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_revision: Option<String>,
    /// Whether it has been marked as fit for the mainline.
    #[serde(skip_serializing_if = "is_default")]
    pub branch_promotion_eligible: bool,
    /// The file it stands in, where it is a passage of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_path: Option<String>,
    /// When it was written, RFC 3339.
    pub created_at: String,
    /// When its state last changed, RFC 3339.
    pub updated_at: String,
    /// The code that it is pinned to, and whether that has changed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<AnchorView>,
    /// What it rests on, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Its number; 0 for what is no memory.
    #[serde(skip)]
    pub number: i64,
}

/// One thing that a memory rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// What it shows.
    pub content: String,
    /// Where it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// What sort it is: `test`, `file`, `episode`, `url`, `review` and so on.
    pub kind: String,
    /// When it was added, RFC 3339.
    pub created_at: String,
}

impl From<&EvidenceRow> for Evidence {
    fn from(row: &EvidenceRow) -> Self {
        let (content, source) = match row.note.is_empty() {
            true => (super::anchors::shown(&row.reference), String::new()),
            false => (row.note.clone(), row.reference.clone()),
        };
        Self { content, source, kind: row.kind.clone(), created_at: row.at.to_rfc3339() }
    }
}

/// Memories as nodes, in the order given; `with_evidence` also says what each rests on.
///
/// # Errors
/// Those of the store.
pub fn nodes(r: &LedgerRead<'_>, rows: &[MemoryRow], with_evidence: bool) -> Result<Vec<Node>, StoreError> {
    let seqs: Vec<i64> = rows.iter().map(|row| row.state_seq).collect();
    let changed = r.instants(&seqs)?;
    let mut evidence = match with_evidence {
        true => r.evidence_of(&rows.iter().map(|row| row.number).collect::<Vec<_>>())?,
        false => HashMap::new(),
    };
    let mut above = Above::of(rows);
    rows.iter()
        .map(|row| {
            let updated_at = changed.get(&row.state_seq).copied().unwrap_or(row.created_at);
            Ok(Node {
                depth: above.depth(r, row)?,
                updated_at: updated_at.to_rfc3339(),
                evidence: evidence
                    .remove(&row.number)
                    .unwrap_or_default()
                    .iter()
                    .map(Evidence::from)
                    .collect(),
                ..Node::of(row)
            })
        })
        .collect()
}

/// Says of every node what became of the code that it is pinned to.
///
/// # Errors
/// Those of the store.
pub fn look_at_code<'n>(
    engine: &Engine,
    call: &Call<'_>,
    nodes: impl Iterator<Item = &'n mut Node>,
) -> Result<(), Error> {
    let nodes: Vec<&mut Node> = nodes.collect();
    let numbers: Vec<i64> = nodes.iter().map(|node| node.number).collect();
    let views = anchors::views_of(engine, call, &numbers)?;
    for node in nodes {
        node.code = views.get(&node.number).cloned().unwrap_or_default();
    }
    Ok(())
}

impl Node {
    /// The node as far as the memory itself tells: no depth, no evidence, changed when it was written.
    fn of(row: &MemoryRow) -> Self {
        let told = metadata(&row.metadata);
        Self {
            id: row.id.clone(),
            project_id: row.scope.project.clone(),
            title: title(row),
            summary: row.body.clone(),
            kind: wire_kind(&row.kind).to_owned(),
            tags: row.tags.clone(),
            parent_id: row.parent.clone(),
            depth: 0,
            status: row.state.status.to_string(),
            layer: row.state.layer.to_string(),
            confidence: row.state.confidence,
            importance: row.state.importance,
            module_path: row.module_path.clone(),
            branch_name: row.scope.branch.clone(),
            branch_scope: branch_scope(row).to_owned(),
            commit_sha: row.commit.clone(),
            source_revision: told.get("source_revision").cloned(),
            branch_promotion_eligible: told
                .get("branch_promotion_eligible")
                .is_some_and(|word| word == "true"),
            source_path: told.get("source_path").cloned(),
            created_at: row.created_at.to_rfc3339(),
            updated_at: row.created_at.to_rfc3339(),
            code: Vec::new(),
            evidence: Vec::new(),
            number: row.number,
        }
    }
}

/// The wire's word for a kind: an incident is sent as `debug`, every other under its own name.
pub fn wire_kind(kind: &Kind) -> &str {
    match kind.as_str() {
        "incident" => "debug",
        other => other,
    }
}

/// The kind that a word of the wire means.
///
/// # Errors
/// The word cannot be a kind.
pub fn kind_of_wire(word: &str) -> Result<Kind, strata_core::error::ParseError> {
    let word = word.trim();
    Kind::parse(if word.eq_ignore_ascii_case("debug") { "incident" } else { word })
}

/// How a memory follows branches: as it was stored, else by its place.
pub fn branch_scope(row: &MemoryRow) -> &str {
    match (row.branch_scope.as_str(), &row.scope.branch) {
        ("", Some(_)) => "current_branch",
        ("", None) => "global",
        (stored, _) => stored,
    }
}

/// The headline of a memory, or the first words of one that has none.
pub(crate) fn title(row: &MemoryRow) -> String {
    match row.title.trim() {
        "" => shortened(&row.body, TITLE),
        title => title.to_owned(),
    }
}

/// Which memory stands above which, as far as it has been looked up.
struct Above(HashMap<String, Option<String>>);

impl Above {
    fn of(rows: &[MemoryRow]) -> Self {
        Self(rows.iter().map(|row| (row.id.clone(), row.parent.clone())).collect())
    }

    /// How many memories stand above one; a parent that is not there any more ends the way, and so does a circle.
    fn depth(&mut self, r: &LedgerRead<'_>, row: &MemoryRow) -> Result<u32, StoreError> {
        let mut next = row.parent.clone();
        let mut depth = 0;
        while let Some(id) = next.filter(|_| depth < MAX_DEPTH) {
            depth += 1;
            next = match self.0.get(&id) {
                Some(known) => known.clone(),
                None => {
                    let parent = r.memory(&id)?.and_then(|row| row.parent);
                    self.0.insert(id, parent.clone());
                    parent
                }
            };
        }
        Ok(depth)
    }
}
