//! `inspect`: one memory, episode or document section whole.

mod budget;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    chain::LinkedEntry,
    id::{Id, IdKind, PartialId},
    redact::redact,
    scope::Scope,
    time::Timestamp,
};
use strata_store::ledger::{
    EpisodeRow, EvidenceRow, History, LedgerRead, MemoryRow, RawKind, SourceRow, SourceState, UsageRow,
};

use super::reference::Reference;
use crate::{
    documents,
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    recall::item::metadata,
    render::{Block, Document, Mark, Record, Render, Trust},
    rules,
};

/// See the module.
pub struct Inspect;

/// Which one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The id from `recall` (its first six characters after the underscore are enough), or #number.
    pub id: String,
    /// Most tokens of the reply, estimated, at least 50. What does not fit is left out in whole parts and named; the text itself always stays. Default: everything.
    #[schemars(range(min = 50))]
    pub budget_tokens: Option<u32>,
}

/// The thing, whole.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Response {
    /// A memory.
    Memory(Box<MemoryView>),
    /// A raw event with its neighbours.
    Episode(Box<EpisodeView>),
    /// A section of an indexed file.
    Document(Box<DocumentView>),
}

/// A section of an indexed file, as the file has it now.
#[derive(Debug, Serialize)]
pub struct DocumentView {
    /// The id it was asked by.
    pub id: String,
    /// The file, absolute.
    pub path: String,
    /// The headings above it.
    pub heading: String,
    /// Its text.
    pub text: String,
    /// When the file was last changed.
    pub modified: String,
}

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

/// A raw event with its neighbours.
#[derive(Debug, Serialize)]
pub struct EpisodeView {
    /// Its id.
    pub id: String,
    /// Its layer, always P2.
    pub layer: &'static str,
    /// The session it belongs to.
    pub session: String,
    /// Who spoke.
    pub speaker: String,
    /// user, assistant, tool, ...
    pub role: String,
    /// When.
    pub at: String,
    /// What was said.
    pub text: String,
    /// Where it came from.
    pub source: String,
    /// The id it had there.
    pub external_id: Option<String>,
    /// Further facts.
    pub metadata: BTreeMap<String, String>,
    /// The digests that were made of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
    /// The turns around it, itself included, in order.
    pub around: Vec<Turn>,
    /// What was left out for `budget_tokens`, with how many there are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One turn near an event.
#[derive(Debug, Serialize)]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// Who spoke.
    pub speaker: String,
    /// What was said.
    pub text: String,
}

/// Turns shown on either side of an event.
const AROUND: usize = 2;

impl Operation for Inspect {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Core,
        tool: "inspect",
        cli: &["inspect"],
        positional: &["id"],
        title: "Inspect one memory",
        about: "Shows one memory whole: text, state, where it comes from, evidence, all its versions and what the audit says \
                about it. Also shows a conversation turn (ep_...) with the turns around it, and a section of an indexed file (doc_...). Use it after `recall` when the \
                short record is not enough, and before `update` or `forget`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let zone = &engine.settings().zone;
        let ledger = engine.existing_ledger()?;
        let control = engine.control(call);
        if let Ok(partial) = PartialId::parse(&request.id)
            && partial.kind == IdKind::Episode
        {
            let mut view = ledger.read(&control, |r| Ok(episode(r, call, &partial, zone)))??;
            budget::fit(&mut view, request.budget_tokens);
            return Ok(Response::Episode(Box::new(view)));
        }
        if let Ok(id) = Id::parse(&request.id)
            && id.kind() == IdKind::Document
        {
            let row = ledger.read(&control, |r| r.source(documents::parse_id(&id).0))?;
            let view = document(row, call, &id, zone)?;
            return Ok(Response::Document(Box::new(view)));
        }
        let reference = Reference::read("id", &request.id)?;
        let mut view = ledger.read(&control, |r| Ok(memory(r, call, &reference, zone)))??;
        for (known, waiting) in view.uses.iter_mut().zip(engine.uses().of(view.number)) {
            *known += waiting;
        }
        engine.note_usage(call, &[], &[(view.number, 1)]);
        budget::fit(&mut view, request.budget_tokens);
        Ok(Response::Memory(Box::new(view)))
    }
}

fn memory(
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
    let mut view = MemoryView::new(row, &history, &evidence, usage, zone);
    if let Some(rule) = rule {
        (view.priority, view.condition, view.enabled) =
            (Some(rule.priority), rule.condition, Some(rule.enabled));
    }
    view.distils = distilled;
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

fn episode(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
    id: &PartialId,
    zone: &TimeZone,
) -> Result<EpisodeView, Error> {
    let hint = "use an id from `recall`";
    let missing = || Error::NotFound { what: "episode", id: id.text.clone(), hint: hint.into() };
    let row = match r.episode_by_prefix(id, super::reference::reader(call)) {
        Err(strata_store::error::StoreError::NotFound { .. }) => return Err(missing()),
        row => row?,
    };
    if !super::reference::sees_scope(call, &row.scope) {
        return Err(missing());
    }
    let around = r.session_neighbours(&row, AROUND, AROUND)?;
    let digests = r.digests_of(RawKind::Episode, row.number)?;
    let digests = digests.into_iter().map(|(memory, _)| memory.id).collect();
    Ok(EpisodeView { digests, ..EpisodeView::new(row, around, zone) })
}

fn document(
    row: Option<SourceRow>,
    call: &Call<'_>,
    id: &Id,
    zone: &TimeZone,
) -> Result<DocumentView, Error> {
    let hint = "its file has changed since; call `recall` again, or run `strata index`";
    let missing = || Error::NotFound { what: "document section", id: id.to_string(), hint: hint.into() };
    let (_, part) = documents::parse_id(id);
    let row = row.filter(|row| row.state == SourceState::Present).ok_or_else(missing)?;
    let scope = Scope { namespace: row.namespace.clone(), project: row.project.clone(), branch: None };
    if !super::reference::sees_scope(call, &scope) {
        return Err(missing());
    }
    let path = std::path::Path::new(&row.root).join(&row.path);
    let sections = documents::read_sections(&path)?;
    let section = documents::section_of_part(&sections, part).ok_or_else(missing)?;
    Ok(DocumentView {
        id: id.to_string(),
        path: redact(&path.display().to_string()).text.into_owned(),
        heading: section.title.clone(),
        text: section.body.clone(),
        modified: stamp(row.mtime, zone),
    })
}

impl DocumentView {
    fn render(&self) -> Document {
        let record = Record {
            id: self.id.clone(),
            attributes: vec![crate::render::neutral(&self.path), format!("changed {}", self.modified)],
            title: Some(self.heading.clone()).filter(|h| !h.is_empty()),
            text: self.text.clone(),
        };
        Document::new().with(Block::Records { trust: Trust::Data, records: vec![record] })
    }
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
            evidence: evidence.iter().map(|e| e.reference.clone()).collect(),
            distils: Vec::new(),
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
        pairs
    }

    fn render(&self) -> Document {
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
        let neutral = |text: String| crate::render::neutral(&text);
        self.pairs().into_iter().map(|(k, v)| (neutral(k), neutral(v))).collect()
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

impl EpisodeView {
    fn new(row: EpisodeRow, around: Vec<EpisodeRow>, zone: &TimeZone) -> Self {
        Self {
            around: around.into_iter().map(|e| Turn { id: e.id, speaker: e.speaker, text: e.text }).collect(),
            id: row.id,
            layer: "P2",
            session: row.session,
            speaker: row.speaker,
            role: row.role,
            at: stamp(row.at, zone),
            text: row.text,
            source: row.source,
            external_id: row.external_id,
            metadata: metadata(&row.metadata),
            digests: Vec::new(),
            left_out: Vec::new(),
        }
    }

    fn render(&self) -> Document {
        let turns = self.around.iter().map(|turn| Record {
            id: turn.id.clone(),
            attributes: vec![turn.speaker.clone()],
            title: None,
            text: turn.text.clone(),
        });
        let mut pairs = vec![
            ("episode".into(), self.id.clone()),
            ("session".into(), crate::render::neutral(&self.session)),
            ("when".into(), self.at.clone()),
        ];
        if !self.digests.is_empty() {
            pairs.push(("distilled into".into(), self.digests.join(" ")));
        }
        let document = Document::new()
            .with(Block::Pairs(pairs))
            .with(Block::Records { trust: Trust::Data, records: turns.collect() });
        budget::tell(document, &self.left_out)
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let document = match self {
            Self::Memory(view) => view.render(),
            Self::Episode(view) => view.render(),
            Self::Document(view) => view.render(),
        };
        match self {
            Self::Memory(view) if view.superseded_by.is_some() => {
                document.note(Mark::Warning, "this version was replaced; see `replaced by`")
            }
            _ => document,
        }
    }
}

/// A point in time to the second in the user's zone.
fn stamp(at: Timestamp, zone: &TimeZone) -> String {
    at.to_jiff().map_or_else(
        || at.to_rfc3339(),
        |t| t.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%:z").to_string(),
    )
}
