//! `export`: writes what a home holds into one file that another home can load.

mod graph;
mod todos;
mod vault;

use std::{
    collections::HashSet,
    io::Read,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_core::{memory::Status, principal::PrincipalKind, scope::Scope};
use strata_store::{
    error::StoreError,
    files::Scratch,
    ledger::{
        AuditFilter, EpisodeFilter, LedgerRead, MemoryFilter, MemoryRow, PurgedKind, RawKind, ReviewFilter,
        ReviewRow, RuleAttributes,
    },
};

use super::transfer::{
    DistilsLine, EpisodeLine, EvidenceLine, Header, L0EntryLine, LOAD, Line, MemoryLine, MemoryRelationLine,
    ProjectLine, PurgedLine, ReviewLine, RuleLine, SnapshotLine, StateLine, VERSION, is_export, read_record,
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault::look_everywhere,
    memory::reference::sees_scope,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct Export;

/// Episodes read at a time.
const PAGE: usize = 1_000;

/// Where to, and what.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file to write, e.g. strata.jsonl. An earlier export there is replaced; any other file is left alone.
    pub path: String,
    /// Only this project, by key or name.
    pub project: Option<String>,
    /// Only this namespace.
    pub namespace: Option<String>,
}

/// What was written.
#[derive(Debug, Serialize, Default)]
pub struct Response {
    /// The file.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Memories of every status.
    pub memories: usize,
    /// Raw events.
    pub episodes: usize,
    /// Reviews.
    pub reviews: usize,
    /// Snapshots.
    pub snapshots: usize,
    /// Entities of the graph.
    pub entities: usize,
    /// Relations, those that were taken back too.
    pub relations: usize,
    /// Todos, deleted ones too.
    pub todos: usize,
    /// Entries of the index of knowledge that were written by hand.
    pub l0_entries: usize,
    /// Files of the vault, deleted ones too.
    pub vault_files: usize,
    /// Tombstones.
    pub purged: usize,
}

impl Operation for Export {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "export",
        cli: &["export"],
        positional: &["path"],
        title: "Export to a file",
        about: "Writes all memories with their history and evidence, raw events, reviews, the graph and todos to one JSON Lines file, in an \
                order that never changes, so that two exports compare line by line. Use it to move to another machine or to \
                read everything elsewhere; `strata load FILE` is the way back. For safety copies `backup create` is better: \
                it keeps the audit too.",
        effect: Effect::Files,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let path = target(engine, call, &request.path)?;
        let ledger = engine.existing_ledger()?;
        look_everywhere(engine, call)?;
        let mut content = Content::of(Scratch::for_file(&path)?);
        let header = ledger.read(&engine.control(call), |r| Ok(content.collect(r, call, &request)))??;
        let bytes = content.lines.put_in_place(&Line::StrataExport(header).to_text()?)?;
        Ok(Response { path: path.display().to_string(), bytes, ..content.counts })
    }
}

/// The file to write, if the caller may write there and nothing else would be lost.
fn target(engine: &Engine, call: &Call<'_>, given: &str) -> Result<PathBuf, Error> {
    if given.trim().is_empty() || given == "-" {
        return Err(Error::argument("path", "must name a file", "give a path such as strata.jsonl"));
    }
    let path = paths::writable(engine, call, "path", given)?;
    refuse_other_file("path", &path, is_export)?;
    Ok(path)
}

/// Fails when something is at `path` that is not, by its beginning, an earlier file of the same sort.
pub(crate) fn refuse_other_file(
    field: &str,
    path: &Path,
    is_ours: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    let failed = |source| Error::File { path: path.display().to_string(), source };
    let mut start = Vec::new();
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        // Opening a pipe would wait for somebody at its other end.
        return Err(Error::argument(field, "names a pipe or a device", "give a path such as strata.jsonl"));
    }
    match std::fs::File::open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(failed(e)),
        Ok(file) => file.take(64).read_to_end(&mut start).map_err(failed)?,
    };
    if start.is_empty() || is_ours(&String::from_utf8_lossy(&start)) {
        return Ok(());
    }
    Err(Error::argument(
        field,
        "names a file that is not an export",
        "choose another name; nothing was written",
    ))
}

/// The lines in the making. They go to disk one by one: a home may be larger than memory.
struct Content {
    lines: Scratch,
    count: usize,
    counts: Response,
}

impl Content {
    fn of(lines: Scratch) -> Self {
        Self { lines, count: 0, counts: Response::default() }
    }

    /// Writes every line and gives the header, which counts them.
    fn collect(&mut self, r: &LedgerRead<'_>, call: &Call<'_>, request: &Request) -> Result<Header, Error> {
        let project = match &request.project {
            Some(name) => Some(r.project_key(name)?.unwrap_or_else(|| name.clone())),
            None => None,
        };
        let namespace = request.namespace.clone();
        let chosen = |scope: &Scope| {
            sees_scope(call, scope)
                && (project.is_none() || scope.project == project)
                && namespace.as_ref().is_none_or(|n| *n == scope.namespace)
        };
        let aliases = r.project_aliases()?;
        for row in r.projects()?.into_iter().filter(|p| project.as_ref().is_none_or(|key| *key == p.key)) {
            let own = aliases.iter().filter(|(_, key)| *key == row.key).map(|(alias, _)| alias.clone());
            self.add(&Line::Project(ProjectLine { aliases: own.collect(), key: row.key, name: row.name }))?;
        }
        let everything = project.is_none() && namespace.is_none();
        let mut exported = HashSet::new();
        for number in 1..=last_memory(r)? {
            self.step(call, number)?;
            let Some(row) = r.memory_by_number(number)?.filter(|m| chosen(&m.scope)) else { continue };
            exported.insert(row.id.clone());
            self.counts.memories += 1;
            self.add(&Line::Memory(Box::new(memory_line(r, row)?)))?;
        }
        self.episodes(r, call, chosen)?;
        let reviews =
            r.reviews(&ReviewFilter { status: None, limit: usize::MAX, ..ReviewFilter::default() })?;
        let sees_all = matches!(call.principal.kind, PrincipalKind::Human | PrincipalKind::System);
        let whole = everything && sees_all;
        for row in reviews.into_iter().filter(|v| whole || concerns_only(v, &exported)) {
            self.counts.reviews += 1;
            self.add(&Line::Review(Box::new(review_line(row))))?;
        }
        if everything && sees_all {
            self.snapshots(r)?;
        }
        let mut graph = graph::Graph::default();
        graph.collect(r, &chosen, &exported, |line| self.add(line))?;
        (self.counts.entities, self.counts.relations) = (graph.entities, graph.relations);
        self.counts.todos = todos::collect(r, &chosen, |line| self.add(line))?;
        self.l0_entries(r, chosen)?;
        self.counts.vault_files = vault::collect(r, &chosen, |line| self.add(line))?;
        let mut purged = if everything { r.purged()? } else { Vec::new() };
        purged.sort_by_key(|p| (kind_order(p.kind), p.number));
        for row in purged {
            self.counts.purged += 1;
            let kind = row.kind.as_str().to_owned();
            self.add(&Line::Purged(PurgedLine { kind, number: row.number, id: row.id, at: row.at.0 }))?;
        }
        Ok(Header { version: VERSION, project, namespace, lines: self.count })
    }

    fn episodes(
        &mut self,
        r: &LedgerRead<'_>,
        call: &Call<'_>,
        chosen: impl Fn(&Scope) -> bool,
    ) -> Result<(), Error> {
        let mut after = 0;
        loop {
            self.step(call, after)?;
            let page = r.episodes(&EpisodeFilter { after, limit: PAGE, ..EpisodeFilter::default() })?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.number;
            for row in page.into_iter().filter(|e| chosen(&e.scope)) {
                self.counts.episodes += 1;
                let line = EpisodeLine {
                    number: row.number,
                    id: row.id,
                    external_id: row.external_id,
                    session: row.session,
                    at: row.at.0,
                    speaker: row.speaker,
                    role: row.role,
                    text: row.text,
                    metadata: json(&row.metadata),
                    scope: (&row.scope).into(),
                    source: row.source,
                    writer: row.writer,
                };
                self.add(&Line::Episode(Box::new(line)))?;
            }
        }
    }

    fn l0_entries(&mut self, r: &LedgerRead<'_>, chosen: impl Fn(&Scope) -> bool) -> Result<(), Error> {
        for row in r.all_l0_entries()? {
            if chosen(&Scope { namespace: row.namespace.clone(), ..Scope::user() }) {
                self.counts.l0_entries += 1;
                self.add(&Line::L0Entry(L0EntryLine {
                    namespace: row.namespace,
                    path: row.path,
                    summary: row.summary,
                    writer: row.writer,
                    at: row.at.0,
                }))?;
            }
        }
        Ok(())
    }

    fn snapshots(&mut self, r: &LedgerRead<'_>) -> Result<(), Error> {
        let mut rows = r.snapshots()?;
        rows.reverse();
        for row in rows {
            self.counts.snapshots += 1;
            let entries = row.live - r.snapshot_losses(&row.name)?;
            let line = SnapshotLine { name: row.name, at: row.at.0, label: row.label, who: row.who, entries };
            self.add(&Line::Snapshot(line))?;
        }
        Ok(())
    }

    fn step(&self, call: &Call<'_>, number: i64) -> Result<(), Error> {
        if call.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if number % 1_000 == 0 {
            (call.progress)(self.count as u64, 0);
        }
        Ok(())
    }

    fn add(&mut self, line: &Line) -> Result<(), Error> {
        self.lines.add(&line.to_text()?)?;
        self.count += 1;
        Ok(())
    }
}

fn last_memory(r: &LedgerRead<'_>) -> Result<i64, StoreError> {
    let filter = MemoryFilter { statuses: Status::ALL.to_vec(), limit: 1, ..MemoryFilter::default() };
    Ok(r.memories(&filter)?.first().map_or(0, |m| m.number))
}

fn memory_line(r: &LedgerRead<'_>, row: MemoryRow) -> Result<MemoryLine, StoreError> {
    let mut states = Vec::new();
    for held in r.states(row.number)? {
        let (since, by) = origin(r, held.from_seq)?;
        states.push(StateLine::new(&held.state, since, by));
    }
    let mut rules = Vec::new();
    for held in r.rule_history(row.number)? {
        let (since, by) = origin(r, held.from_seq)?;
        let RuleAttributes { priority, condition, enabled } = held.attributes;
        rules.push(RuleLine { since, by, priority, condition, enabled });
    }
    let evidence = r.evidence(row.number)?.into_iter();
    let distils = distils(r, row.number)?;
    let relations = relations(r, row.number)?;
    Ok(MemoryLine {
        relations,
        distils,
        rules,
        number: row.number,
        id: row.id,
        kind: row.kind.to_string(),
        title: row.title,
        text: row.body,
        scope: (&row.scope).into(),
        branch_scope: row.branch_scope,
        commit: row.commit,
        module_path: row.module_path,
        parent: row.parent,
        topic_key: row.topic_key,
        tags: row.tags,
        writer: row.writer,
        source: row.source,
        session: row.session,
        created_at: row.created_at.0,
        valid_from: row.valid_from.map(|t| t.0),
        valid_to: row.valid_to.map(|t| t.0),
        supersedes: row.supersedes,
        superseded_by: row.superseded_by,
        superseded_reason: row.superseded_reason,
        metadata: json(&row.metadata),
        states,
        evidence: evidence
            .map(|e| EvidenceLine { kind: e.kind, reference: e.reference, note: e.note, at: e.at.0 })
            .collect(),
    })
}

/// What a digest was made of, by id.
fn distils(r: &LedgerRead<'_>, number: i64) -> Result<Vec<DistilsLine>, StoreError> {
    let mut lines = Vec::new();
    for link in r.digest_links(number)? {
        let id = match link.kind {
            RawKind::Episode => r.episode_by_number(link.source)?.map(|episode| episode.id),
            RawKind::Memory => r.memory_by_number(link.source)?.map(|memory| memory.id),
        };
        lines.extend(id.map(|id| DistilsLine { id, quoted: link.quoted }));
    }
    // Numbers may be others where it is loaded, ids are not.
    lines.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    Ok(lines)
}

/// How a memory stands to others, by relation and id.
fn relations(r: &LedgerRead<'_>, number: i64) -> Result<Vec<MemoryRelationLine>, StoreError> {
    let mut lines = Vec::new();
    for known in r.memory_relations(number)?.into_iter().filter(|known| known.source == number) {
        let target = r.memory_by_number(known.target)?.map(|memory| memory.id);
        let relation = known.relation.to_string();
        lines.extend(target.map(|target| MemoryRelationLine { relation, target, at: known.at.0 }));
    }
    // Numbers may be others where it is loaded, ids are not.
    lines.sort_unstable_by(|a, b| (&a.relation, &a.target).cmp(&(&b.relation, &b.target)));
    Ok(lines)
}

/// Since when a state holds and what brought it; for one that was loaded, what its first home had on record.
fn origin(r: &LedgerRead<'_>, seq: i64) -> Result<(i64, String), StoreError> {
    let filter = AuditFilter { before: Some(seq.saturating_add(1)), limit: 1, ..AuditFilter::default() };
    let Some(linked) = r.audit(&filter)?.into_iter().next().filter(|l| l.entry.seq == seq) else {
        return Ok((0, "not on record".to_owned()));
    };
    let entry = linked.entry;
    if entry.action == LOAD
        && let Some(known) = read_record(&entry.reason)
    {
        return Ok(known);
    }
    let mut by = format!("{} by {}", entry.action, entry.principal);
    if let Some(other) = &entry.on_behalf_of {
        by.push_str(&format!(" for {other}"));
    }
    if !entry.reason.is_empty() {
        by.push_str(&format!(": {}", entry.reason));
    }
    Ok((entry.at.0, by))
}

/// Whether a review repeats words of exported memories only: a conflict has those of two.
fn concerns_only(review: &ReviewRow, exported: &HashSet<String>) -> bool {
    let proposal: serde_json::Value = serde_json::from_str(&review.proposal).unwrap_or_default();
    let other = proposal["a"].as_str().filter(|_| review.kind == crate::review::CONFLICT);
    exported.contains(&review.target) && other.is_none_or(|id| exported.contains(id))
}

fn review_line(row: ReviewRow) -> ReviewLine {
    ReviewLine {
        id: row.id,
        kind: row.kind,
        status: row.status.as_str().to_owned(),
        target: row.target,
        proposal: row.proposal,
        reason: row.reason,
        proposer: row.proposer,
        created_at: row.created_at.0,
        decided_at: row.decided_at.map(|t| t.0),
        decided_by: row.decided_by,
        decision_note: row.decision_note,
    }
}

/// Tombstones stand in the order of the lines of what they stand for.
const fn kind_order(kind: PurgedKind) -> u8 {
    match kind {
        PurgedKind::Memory => 0,
        PurgedKind::Episode => 1,
        PurgedKind::Entity => 2,
        PurgedKind::Todo => 3,
        PurgedKind::VaultText => 4,
    }
}

/// Stored JSON as a value; what is not JSON stays a text.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = format!(
            "exported {}, {}, {}, {}, {}, {}, {} and {} to {} ({} bytes)",
            counted(self.memories, "memory"),
            counted(self.episodes, "episode"),
            counted(self.reviews, "review"),
            counted(self.entities, "entity"),
            counted(self.relations, "relation"),
            counted(self.todos, "todo"),
            counted(self.vault_files, "vault file"),
            counted(self.purged, "tombstone"),
            self.path,
            self.bytes
        );
        Document::new()
            .note(Mark::Good, text)
            .note(Mark::Info, "`strata load FILE` brings it into another store")
    }
}
