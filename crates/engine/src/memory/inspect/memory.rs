//! A memory with all that is known of it.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde::Serialize;
use strata_core::chain::LinkedEntry;
use strata_store::ledger::{EvidenceRow, History, LedgerRead, MemoryRow, RawKind, UsageRow};

use super::{super::reference::Reference, budget, stamp};
use crate::{
    error::Error,
    operation::Call,
    project::reflection::tree,
    recall::item::metadata,
    render::{Block, Document, Record, Trust, neutral},
    rules,
};

/// A memory with everything known about it.
#[derive(Debug, Serialize)]
pub struct MemoryView {
    /// Its id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Its kind.
    pub kind: String,
    /// Its headline.
    pub title: Option<String>,
    /// Its text.
    pub text: String,
    /// Its layer.
    pub layer: String,
    /// Of a rule: its place in its layer; the lower number goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Of a rule: when it applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Of a rule: whether it is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Where it stands in its life.
    pub status: String,
    /// hot or cold.
    pub tier: String,
    /// 0 to 1.
    pub confidence: f64,
    /// 0 to 1.
    pub importance: f64,
    /// Whether it stands on the hot page.
    pub pinned: bool,
    /// Where it holds.
    pub scope: String,
    /// What it is about.
    pub topic_key: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who wrote it.
    pub writer: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// The session it comes from.
    pub session: Option<String>,
    /// When it was written.
    pub created_at: String,
    /// From when it is true.
    pub valid_from: Option<String>,
    /// Until when it is true.
    pub valid_to: Option<String>,
    /// The memory it replaced.
    pub supersedes: Option<String>,
    /// The memory that replaced it.
    pub superseded_by: Option<String>,
    /// Why.
    pub superseded_reason: Option<String>,
    /// Further facts.
    pub metadata: BTreeMap<String, String>,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// The raw material that it distils, in order of time: episodes, then memories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distils: Vec<String>,
    /// What the memories below it in its project's tree say: made of them whenever it is asked for, no part of the text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub consolidated: String,
    /// Times it was recalled and inspected.
    pub uses: [i64; 2],
    /// Its versions, oldest first, itself included.
    pub history: Vec<Version>,
    /// What is on record about it, oldest first.
    pub audit: Vec<AuditLine>,
    /// What was left out for `budget_tokens`, with how many there are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One version of a memory.
#[derive(Debug, Serialize)]
pub struct Version {
    /// Its id.
    pub id: String,
    /// Its number.
    pub number: i64,
    /// Where it stands.
    pub status: String,
    /// When it was written.
    pub created_at: String,
    /// Its text.
    pub text: String,
}

/// One line of the audit.
#[derive(Debug, Serialize)]
pub struct AuditLine {
    /// Its place in the order of all changes.
    pub seq: i64,
    /// When.
    pub at: String,
    /// Who.
    pub principal: String,
    /// For whom, when for somebody else.
    pub on_behalf_of: Option<String>,
    /// The way in.
    pub face: String,
    /// What.
    pub action: String,
    /// In which layer.
    pub layer: Option<String>,
    /// `done` or `refused`.
    pub outcome: &'static str,
    /// Why.
    pub reason: String,
}

pub(super) fn memory(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
    reference: &Reference,
    zone: &TimeZone,
) -> Result<MemoryView, Error> {
    let row = reference.find(r, call)?.existing()?;
    let history = r.history(row.number)?;
    let evidence = r.evidence(row.number)?;
    let usage = r.usage(row.number)?;
    let rule = match rules::is_rule(&row.kind) {
        true => Some(r.rule(row.number)?.map(|held| held.attributes).unwrap_or_default()),
        false => None,
    };
    let distilled = distils(r, row.number)?;
    let consolidated = tree::consolidated(r, call, &row, &history)?;
    let mut view = MemoryView::new(row, &history, &evidence, usage, zone);
    if let Some(rule) = rule {
        (view.priority, view.condition, view.enabled) =
            (Some(rule.priority), rule.condition, Some(rule.enabled));
    }
    (view.distils, view.consolidated) = (distilled, consolidated);
    Ok(view)
}

/// What a digest was made of.
fn distils(r: &LedgerRead<'_>, number: i64) -> Result<Vec<String>, Error> {
    let mut ids: Vec<String> = r.digest_episodes(number)?.into_iter().map(|e| e.id).collect();
    for link in r.digest_links(number)?.into_iter().filter(|link| link.kind == RawKind::Memory) {
        ids.extend(r.memory_by_number(link.source)?.map(|memory| memory.id));
    }
    Ok(ids)
}

impl MemoryView {
    fn new(
        row: MemoryRow,
        history: &History,
        evidence: &[EvidenceRow],
        usage: UsageRow,
        zone: &TimeZone,
    ) -> Self {
        let optional = |text: String| (!text.is_empty()).then_some(text);
        Self {
            id: row.id,
            number: row.number,
            kind: row.kind.to_string(),
            title: optional(row.title),
            text: row.body,
            layer: row.state.layer.to_string(),
            priority: None,
            condition: None,
            enabled: None,
            status: row.state.status.to_string(),
            tier: row.state.tier.to_string(),
            confidence: row.state.confidence,
            importance: row.state.importance,
            pinned: row.state.pinned,
            scope: row.scope.to_string(),
            topic_key: row.topic_key,
            tags: row.tags,
            writer: row.writer,
            source: optional(row.source),
            session: row.session,
            created_at: stamp(row.created_at, zone),
            valid_from: row.valid_from.map(|t| stamp(t, zone)),
            valid_to: row.valid_to.map(|t| stamp(t, zone)),
            supersedes: row.supersedes,
            superseded_by: row.superseded_by,
            superseded_reason: row.superseded_reason,
            metadata: metadata(&row.metadata),
            evidence: evidence.iter().map(told).collect(),
            distils: Vec::new(),
            consolidated: String::new(),
            uses: [usage.recalled, usage.inspected],
            history: history.line.iter().map(|m| Version::new(m, zone)).collect(),
            audit: history.audit.iter().map(|e| AuditLine::new(e, zone)).collect(),
            left_out: Vec::new(),
        }
    }

    fn pairs(&self) -> Vec<(String, String)> {
        let mut pairs = vec![
            ("layer".to_owned(), format!("{} {}", self.layer, self.kind)),
            (
                "status".to_owned(),
                format!("{}, {}{}", self.status, self.tier, if self.pinned { ", pinned" } else { "" }),
            ),
            ("confidence".to_owned(), format!("{:.2}, importance {:.2}", self.confidence, self.importance)),
            ("scope".to_owned(), self.scope.clone()),
            ("written".to_owned(), format!("{} by {}", self.created_at, self.writer)),
        ];
        let optional = [
            ("about", &self.topic_key),
            ("source", &self.source),
            ("session", &self.session),
            ("valid from", &self.valid_from),
            ("valid to", &self.valid_to),
            ("replaces", &self.supersedes),
            ("replaced by", &self.superseded_by),
            ("because", &self.superseded_reason),
        ];
        pairs.extend(optional.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v.clone()?))));
        if let Some(priority) = self.priority {
            let off = if self.enabled == Some(false) { ", disabled" } else { "" };
            pairs.push(("priority".to_owned(), format!("{priority}{off}")));
        }
        pairs.extend(self.condition.iter().map(|condition| ("applies when".to_owned(), condition.clone())));
        if !self.tags.is_empty() {
            pairs.push(("tags".to_owned(), self.tags.join(", ")));
        }
        pairs.extend(self.evidence.iter().map(|e| ("evidence".to_owned(), e.clone())));
        pairs.extend(self.metadata.iter().map(|(k, v)| (k.clone(), v.clone())));
        if !self.distils.is_empty() {
            pairs.push((format!("distils {}", self.distils.len()), self.distils.join(" ")));
        }
        if !self.consolidated.is_empty() {
            pairs.push(("below it".to_owned(), self.consolidated.replace('\n', " ")));
        }
        pairs
    }

    pub(super) fn render(&self) -> Document {
        let in_force = self.status == "active" && self.enabled != Some(false);
        let trust = if in_force && matches!(self.layer.as_str(), "P0" | "P1") {
            Trust::Approved
        } else {
            Trust::Data
        };
        let record = Record {
            id: self.id.clone(),
            attributes: vec![format!("#{}", self.number)],
            title: self.title.clone(),
            text: self.text.clone(),
        };
        let mut document = Document::new()
            .with(Block::Records { trust, records: vec![record] })
            .with(Block::Pairs(self.neutral_pairs()));
        if self.history.len() > 1 {
            let versions = self.history.iter().map(|v| Record {
                id: v.id.clone(),
                attributes: vec![format!("#{}", v.number), v.status.clone(), v.created_at.clone()],
                title: None,
                text: v.text.clone(),
            });
            document = document
                .with(Block::Heading("History".into()))
                .with(Block::Records { trust: Trust::Data, records: versions.collect() });
        }
        if !self.audit.is_empty() {
            document = document.with(Block::Heading("On record".into())).with(audit_table(&self.audit));
        }
        budget::tell(document, &self.left_out)
    }

    fn neutral_pairs(&self) -> Vec<(String, String)> {
        self.pairs().into_iter().map(|(k, v)| (neutral(&k), neutral(&v))).collect()
    }
}

impl Version {
    fn new(row: &MemoryRow, zone: &TimeZone) -> Self {
        Self {
            id: row.id.clone(),
            number: row.number,
            status: row.state.status.to_string(),
            created_at: stamp(row.created_at, zone),
            text: row.body.clone(),
        }
    }
}

impl AuditLine {
    /// Shows an audit entry with times in `zone`.
    pub fn new(linked: &LinkedEntry, zone: &TimeZone) -> Self {
        let entry = &linked.entry;
        Self {
            seq: entry.seq,
            at: stamp(entry.at, zone),
            principal: entry.principal.clone(),
            on_behalf_of: entry.on_behalf_of.clone(),
            face: entry.face.clone(),
            action: entry.action.clone(),
            layer: entry.layer.clone(),
            outcome: entry.outcome.as_str(),
            reason: entry.reason.clone(),
        }
    }
}

/// Audit lines as a table.
pub fn audit_table(lines: &[AuditLine]) -> Block {
    let columns = ["seq", "when", "who", "what", "layer", "outcome", "why"].map(str::to_owned).to_vec();
    let row = |l: &AuditLine| {
        let who = match &l.on_behalf_of {
            Some(other) => format!("{} for {other}", l.principal),
            None => l.principal.clone(),
        };
        let layer = l.layer.clone().unwrap_or_default();
        vec![
            l.seq.to_string(),
            l.at.clone(),
            who,
            l.action.clone(),
            layer,
            l.outcome.to_owned(),
            l.reason.clone(),
        ]
    };
    Block::Table { columns, rows: lines.iter().map(row).collect() }
}

/// A piece of evidence: where it is and, where that was kept, what it shows.
fn told(evidence: &EvidenceRow) -> String {
    if evidence.note.is_empty() {
        return evidence.reference.clone();
    }
    format!("{} ({})", evidence.note, evidence.reference)
}
