//! The export file: JSON Lines, version 1.
//!
//! The first line is `{"type":"strata_export","version":1,"project":P,"namespace":N,"lines":L}`: what was
//! asked for (null is everything) and how many lines follow. Then, each sort by key or number, come
//! - `project`: a project's key and name;
//! - `memory`: everything about a memory, with its states, oldest first, its evidence, how it stands to others and, for a
//!   rule, what it had as priority, condition and switch. A state says since when it holds and what brought it;
//! - `episode`: a raw event;
//! - `review`: a question, waiting or decided;
//! - `snapshot`: a name for what was in force at a time; only in a whole export, because a part of one would
//!   show something else under the same name;
//! - `entity` and `relation`: the knowledge graph; a relation that was taken back has an end;
//! - `mention`: that a memory speaks of an entity;
//! - `todo`: what is to be done, with every version it had, oldest first;
//! - `l0_entry`: an entry of the index of knowledge that was written by hand;
//! - `vault_file`: a file of the vault with its generations, oldest first; `vault_change`: what the changelog says of one;
//! - `purged`: something that was erased for good.
//!
//! Times are microseconds since 1970 UTC; confidence and importance have six decimals. Nothing in the file
//! belongs to one home alone: no places in its audit, no salts, no keys. So a file that is loaded into an
//! empty home and exported again is the same, byte for byte.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_core::{
    memory::{Layer, Status, Tier},
    scope::Scope,
    time::Timestamp,
};
use strata_store::ledger::State;

use crate::error::Error;

/// The version that this binary writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// The audit action of what was loaded; its reason says what the state's own record was.
pub const LOAD: &str = "load";

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    StrataExport(Header),
    /// A project.
    Project(ProjectLine),
    /// A memory.
    Memory(Box<MemoryLine>),
    /// A raw event.
    Episode(Box<EpisodeLine>),
    /// A review.
    Review(Box<ReviewLine>),
    /// A snapshot.
    Snapshot(SnapshotLine),
    /// An entity of the graph.
    Entity(Box<EntityLine>),
    /// A relation between entities.
    Relation(Box<RelationLine>),
    /// A memory that speaks of an entity.
    Mention(MentionLine),
    /// A todo.
    Todo(Box<TodoLine>),
    /// An entry of the index of knowledge that was written by hand.
    L0Entry(L0EntryLine),
    /// A file of the vault.
    VaultFile(Box<VaultFileLine>),
    /// A change to the vault, as the changelog has it.
    VaultChange(Box<VaultChangeLine>),
    /// A tombstone.
    Purged(PurgedLine),
}

/// What the file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format's version.
    pub version: u32,
    /// The only project in it.
    pub project: Option<String>,
    /// The only namespace in it.
    pub namespace: Option<String>,
    /// How many lines follow.
    pub lines: usize,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectLine {
    /// Its key, as scopes carry it.
    pub key: String,
    /// What people call it.
    pub name: String,
    /// What else it is recognised by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

/// An entry of the index of knowledge that was written by hand; without a summary it says that a file has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct L0EntryLine {
    /// The namespace whose index it stands in.
    pub namespace: String,
    /// The file it points at.
    pub path: String,
    /// What it says.
    pub summary: String,
    /// Who wrote it.
    pub writer: String,
    /// When, in microseconds since 1970 UTC.
    pub at: i64,
}

/// Where something belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeFields {
    /// The namespace.
    pub namespace: String,
    /// The project.
    pub project: Option<String>,
    /// The branch.
    pub branch: Option<String>,
}

/// A memory; the fields are those of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::MemoryRow")]
pub struct MemoryLine {
    pub number: i64,
    pub id: String,
    pub kind: String,
    pub title: String,
    pub text: String,
    pub scope: ScopeFields,
    pub branch_scope: String,
    pub commit: Option<String>,
    pub module_path: Option<String>,
    pub parent: Option<String>,
    pub topic_key: Option<String>,
    pub tags: Vec<String>,
    pub writer: String,
    pub source: String,
    pub session: Option<String>,
    pub created_at: i64,
    pub valid_from: Option<i64>,
    pub valid_to: Option<i64>,
    pub supersedes: Option<String>,
    pub superseded_by: Option<String>,
    pub superseded_reason: Option<String>,
    pub metadata: Value,
    pub states: Vec<StateLine>,
    pub evidence: Vec<EvidenceLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distils: Vec<DistilsLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<MemoryRelationLine>,
}

/// How a memory stands to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRelationLine {
    /// A word of `strata_core::memory::Relation`.
    pub relation: String,
    /// The id of the other.
    pub target: String,
    /// When that was put down.
    pub at: i64,
}

/// A piece of raw material that a memory distils.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistilsLine {
    /// The id of an episode, or of a memory of P2.
    pub id: String,
    /// Whether words of it stand in the memory.
    pub quoted: bool,
}

/// A state of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::State")]
pub struct StateLine {
    /// Since when it holds.
    pub since: i64,
    /// What brought it, who and why, in words.
    pub by: String,
    pub status: String,
    pub tier: String,
    pub layer: String,
    pub confidence: f64,
    pub importance: f64,
    pub pinned: bool,
}

/// What a rule had beside its state, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::RuleAttributes")]
pub struct RuleLine {
    /// Since when it holds.
    pub since: i64,
    /// What brought it, who and why, in words.
    pub by: String,
    pub priority: i64,
    pub condition: Option<String>,
    pub enabled: bool,
}

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::EvidenceRow")]
pub struct EvidenceLine {
    pub kind: String,
    pub reference: String,
    pub note: String,
    pub at: i64,
}

/// A raw event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::EpisodeRow")]
pub struct EpisodeLine {
    pub number: i64,
    pub id: String,
    pub external_id: Option<String>,
    pub session: String,
    pub at: i64,
    pub speaker: String,
    pub role: String,
    pub text: String,
    pub metadata: Value,
    pub scope: ScopeFields,
    pub source: String,
    pub writer: String,
}

/// A review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::ReviewRow")]
pub struct ReviewLine {
    pub id: String,
    pub kind: String,
    pub status: String,
    pub target: String,
    pub proposal: String,
    pub reason: String,
    pub proposer: String,
    pub created_at: i64,
    pub decided_at: Option<i64>,
    pub decided_by: Option<String>,
    pub decision_note: Option<String>,
}

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotLine {
    /// Its name.
    pub name: String,
    /// The time that it shows.
    pub at: i64,
    /// What somebody said about it.
    pub label: String,
    /// Who took it.
    pub who: String,
    /// How many of its memories there still are.
    pub entries: i64,
}

/// An entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::EntityRow")]
pub struct EntityLine {
    pub number: i64,
    pub id: String,
    pub label: String,
    pub kind: String,
    pub properties: Value,
    pub scope: ScopeFields,
    pub origin: String,
    pub confidence: f64,
    pub writer: String,
    pub created_at: i64,
}

/// A relation; its ends are ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::RelationRow")]
pub struct RelationLine {
    pub id: String,
    pub source: String,
    pub relation: String,
    pub target: String,
    pub properties: Value,
    pub scope: ScopeFields,
    pub origin: String,
    pub confidence: f64,
    pub writer: String,
    pub created_at: i64,
    pub ended_at: Option<i64>,
    pub reason: String,
}

/// A mention; memory and entity are ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::Mention")]
pub struct MentionLine {
    pub memory: String,
    pub entity: String,
    pub origin: String,
    pub confidence: f64,
}

/// A todo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::TodoOrigin")]
pub struct TodoLine {
    pub number: i64,
    pub id: String,
    pub scope: ScopeFields,
    pub session: String,
    pub created_at: i64,
    /// Oldest first.
    pub versions: Vec<TodoVersionLine>,
}

/// What a todo said from one change to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::TodoVersion")]
pub struct TodoVersionLine {
    /// Since when it holds.
    pub since: i64,
    /// What brought it, who and why, in words.
    pub by: String,
    pub domain: String,
    pub title: String,
    pub content: String,
    pub blocked_by: Vec<String>,
    pub priority: String,
    pub status: String,
    pub notes: String,
    pub completed_at: Option<i64>,
    pub cancelled_at: Option<i64>,
    pub deleted_at: Option<i64>,
    pub updated_at: i64,
    pub writer: String,
}

/// A file of the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VaultFileLine {
    /// Its namespace.
    pub namespace: String,
    /// Where it lies there.
    pub path: String,
    /// The generation that holds.
    pub generation: i64,
    /// Every one, oldest first.
    pub generations: Vec<GenerationLine>,
}

/// A generation of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::GenerationRow")]
pub struct GenerationLine {
    pub generation: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub at: i64,
    pub origin: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    pub writer: String,
    pub size: usize,
    /// Whether it deleted the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Its text, if that is still kept.
    pub text: Option<String>,
}

/// A line of the changelog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::VaultChange")]
pub struct VaultChangeLine {
    pub id: String,
    pub at: i64,
    pub operation: String,
    pub namespace: String,
    pub domain: String,
    /// The file, if it is about one.
    pub path: Option<String>,
    pub section: Option<String>,
    pub agent_id: Option<String>,
    pub tool: String,
    pub summary: String,
    pub reason: String,
    pub source_ref: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
    pub metadata: Value,
}

/// A tombstone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named and documented in strata_store::ledger::Purged")]
pub struct PurgedLine {
    pub kind: String,
    pub number: i64,
    pub id: String,
    pub at: i64,
}

/// A file as read: the lines behind the header, with their numbers in the file.
#[derive(Debug)]
pub struct File {
    /// The header.
    pub header: Header,
    /// The other lines, in order.
    pub lines: Vec<(usize, Line)>,
}

impl Line {
    /// The line as it stands in the file, with its end.
    pub fn to_text(&self) -> Result<String, Error> {
        let text = serde_json::to_string(self).map_err(|e| Error::Internal(e.to_string()))?;
        Ok(text + "\n")
    }
}

impl From<&Scope> for ScopeFields {
    fn from(scope: &Scope) -> Self {
        Self {
            namespace: scope.namespace.clone(),
            project: scope.project.clone(),
            branch: scope.branch.clone(),
        }
    }
}

impl StateLine {
    /// The line of a state that holds `since` a time and was brought `by` something.
    pub fn new(state: &State, since: i64, by: String) -> Self {
        Self {
            since,
            by,
            status: state.status.to_string(),
            tier: state.tier.to_string(),
            layer: state.layer.to_string(),
            confidence: rounded(state.confidence),
            importance: rounded(state.importance),
            pinned: state.pinned,
        }
    }

    /// The state, when its words are known and its numbers lie between 0 and 1.
    pub fn state(&self) -> Result<State, Error> {
        let wrong = |e| Error::parse("states", &e);
        let unit = 0.0..=1.0;
        if !(unit.contains(&self.confidence) && unit.contains(&self.importance)) {
            let hint = "the file was changed by hand; export it again";
            return Err(Error::argument("states", "confidence and importance lie between 0 and 1", hint));
        }
        Ok(State {
            status: Status::parse(&self.status).map_err(wrong)?,
            tier: Tier::parse(&self.tier).map_err(wrong)?,
            layer: Layer::parse(&self.layer).map_err(wrong)?,
            confidence: self.confidence,
            importance: self.importance,
            pinned: self.pinned,
        })
    }
}

/// A share with the six decimals that the file has.
pub fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

/// The reason of a loaded state's audit row: since when it held where it came from, and by what.
pub fn record_of(since: i64, by: &str) -> String {
    let time = Timestamp(since)
        .to_jiff()
        .map_or_else(|| since.to_string(), |t| t.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string());
    format!("{time} {by}")
}

/// Reads what [`record_of`] wrote.
pub fn read_record(reason: &str) -> Option<(i64, String)> {
    let (time, by) = reason.split_once(' ')?;
    let since = match time.parse::<jiff::Timestamp>() {
        Ok(time) => time.as_microsecond(),
        Err(_) => time.parse().ok()?,
    };
    Some((since, by.to_owned()))
}

/// Whether a text begins as export files do.
pub fn is_export(start: &str) -> bool {
    start.starts_with("{\"type\":\"strata_export\"")
}

/// Reads a whole file; anything wrong in it is an error that names the line, and nothing is taken.
pub fn parse(text: &str) -> Result<File, Error> {
    let mut lines =
        text.lines().enumerate().map(|(n, line)| (n + 1, line)).filter(|(_, l)| !l.trim().is_empty());
    let first = lines.next().map(|(_, first)| serde_json::from_str::<Line>(first));
    let Some(Ok(Line::StrataExport(header))) = first else {
        let hint = "give a file that `strata export` wrote; conversations come in with `strata import`";
        return Err(Error::argument("path", "is not an export of Strata", hint));
    };
    if header.version == 0 || header.version > VERSION {
        let message = format!("has version {}; this Strata reads up to {VERSION}", header.version);
        return Err(Error::argument("path", message, "update Strata; nothing was loaded"));
    }
    let read = |(number, line): (usize, &str)| match serde_json::from_str::<Line>(line) {
        Ok(Line::StrataExport(_)) => Err(bad_line(number, "a second first line")),
        Ok(line) => Ok((number, line)),
        Err(error) => Err(bad_line(number, &error.to_string())),
    };
    let lines = lines.map(read).collect::<Result<Vec<_>, Error>>()?;
    if lines.len() != header.lines {
        let message = format!("has {} lines behind the first instead of {}", lines.len(), header.lines);
        return Err(Error::argument("path", message, "the file was cut off or changed; export it again"));
    }
    Ok(File { header, lines })
}

/// An error about one line of the file.
pub fn bad_line(number: usize, reason: &str) -> Error {
    Error::argument(
        "path",
        format!("line {number}: {reason}"),
        "nothing was loaded; correct the line or export again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back() {
        let line = StateLine::new(
            &State::active(Layer::P5),
            1_781_524_800_000_001,
            "forget by agent:a: gone: really".into(),
        );
        let record = record_of(line.since, &line.by);
        assert!(record.starts_with("2026-06-15T12:00:00.000001Z forget"), "{record}");
        assert_eq!(read_record(&record), Some((line.since, line.by.clone())));
        let far = StateLine { since: i64::MAX, ..line };
        assert_eq!(read_record(&record_of(far.since, &far.by)), Some((i64::MAX, far.by)));
    }

    #[test]
    fn files_that_are_not_whole_are_refused() {
        let header = |version, lines| {
            Line::StrataExport(Header { version, project: None, namespace: None, lines })
                .to_text()
                .expect("text")
        };
        let project = Line::Project(ProjectLine { key: "k".into(), name: "n".into(), aliases: Vec::new() })
            .to_text()
            .expect("text");
        assert!(is_export(&header(1, 0)));
        assert_eq!(parse(&(header(1, 1) + &project)).expect("whole").lines.len(), 1);
        let other = "{\"type\":\"other\"}\n".to_owned();
        for wrong in [
            String::new(),
            "{}".into(),
            header(1, 1),
            header(2, 0),
            header(1, 1) + &other,
            header(1, 1) + &header(1, 0),
            header(1, 0) + &project,
        ] {
            assert!(parse(&wrong).is_err(), "{wrong}");
        }
    }
}
