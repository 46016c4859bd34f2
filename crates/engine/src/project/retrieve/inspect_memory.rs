//! `inspect_memory`: one memory with what stands below it, what it is related to and what it rests on.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Status, time::Timestamp};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, MemoryRow},
};

use super::shape::node_record;
use crate::{
    engine::Engine,
    error::Error,
    memory::reference::{Reference, sees_scope},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::{
        anchors::{self, Freshness},
        node::{self, Evidence, Node},
        reflection::tree,
    },
    render::{Block, Document, Mark, Record, Render, Trust, counted, rounded},
};

/// See the module.
pub struct InspectMemory;

/// The deepest look.
const DEEPEST: u32 = 5;
/// Memories below one that are shown.
const CHILDREN: usize = 200;
/// Microseconds in which freshness is halved: 180 days.
const HALF_LIFE: f64 = 180.0 * 86_400_000_000.0;

/// Which one, and how far around it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The id from `retrieve_agent_context`, its beginning, or #number.
    pub memory_id: String,
    /// How many levels below it are shown, 1 to 5. Default 1.
    pub inspection_depth: Option<i64>,
    /// Also show what it rests on.
    pub include_evidence: Option<bool>,
    /// Accepted for older clients; it changes nothing.
    pub current_task: Option<String>,
}

/// The memory and what stands around it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory.
    pub memory: Node,
    /// What stands below it, each before what stands below that, oldest first.
    pub children: Vec<Node>,
    /// What those directly below it say: made of them whenever it is asked for, no part of its summary.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub consolidated: String,
    /// Memories that it is related to.
    pub related_memories: Vec<Node>,
    /// What it rests on.
    pub evidence_refs: Vec<Evidence>,
    /// Related memories that do not hold any more, or are disputed.
    pub conflicts: Vec<Node>,
    /// What was looked at.
    pub inspection_trace: Vec<String>,
    /// How far it is to be relied on.
    pub confidence_assessment: Assessment,
}

/// How far a memory is to be relied on.
#[derive(Debug, Serialize)]
pub struct Assessment {
    /// 0 to 1.
    pub confidence: f64,
    /// Where it stands in its life.
    pub status: String,
    /// 1 for new; half after 180 days without a change, and less where the code behind it has changed.
    pub freshness: f64,
}

impl Operation for InspectMemory {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "inspect_memory",
        cli: &["project", "inspect"],
        positional: &["memory_id"],
        title: "Inspect a memory of the project",
        about: "Shows one memory of the project whole, with the memories below it in the tree, those it is related to, those \
                that dispute or replace it, and what it rests on. Use it when an entry of `retrieve_agent_context` matters \
                and is not enough by itself.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("depth", "inspection_depth"), ("evidence", "include_evidence")];
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[
        &["debug", "inspect"],
        &["project", "debug", "inspect"],
        &["memory", "debug", "inspect"],
        &["memory", "inspect"],
    ];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let depth = match request.inspection_depth.unwrap_or(1) {
            depth @ 1..=5 => u32::try_from(depth).unwrap_or(1),
            other => {
                let message = format!("is {other}; it goes from 1 to {DEEPEST}");
                return Err(Error::argument("inspection_depth", message, "send a number from 1 to 5"));
            }
        };
        let reference = Reference::read("memory_id", &request.memory_id)?;
        let ledger = engine.existing_ledger()?;
        let now = engine.clock().now();
        let with_evidence = request.include_evidence.unwrap_or(false);
        let (mut response, number) = ledger.read(&engine.control(call), |r| {
            let row = match reference.find(r, call)?.existing() {
                Ok(row) => row,
                Err(error) => return Ok(Err(error)),
            };
            let view = Response::read(r, call, &row, (depth, with_evidence), now)?;
            Ok(Ok((view, row.number)))
        })??;
        response.look_at_code(engine, call)?;
        engine.note_usage(call, &[], &[(number, 1)]);
        Ok(response)
    }
}

impl Response {
    /// Says of every memory what became of the code that it is pinned to.
    fn look_at_code(&mut self, engine: &Engine, call: &Call<'_>) -> Result<(), Error> {
        let around = self.children.iter_mut().chain(&mut self.related_memories).chain(&mut self.conflicts);
        node::look_at_code(engine, call, std::iter::once(&mut self.memory).chain(around))?;
        let moved = self.memory.code.iter().filter(|view| view.state != Freshness::Fresh);
        self.inspection_trace.extend(moved.map(|view| format!("warning: {}", view.in_words())));
        let share = anchors::worst(&self.memory.code).share();
        let assessment = &mut self.confidence_assessment;
        assessment.freshness = rounded(assessment.freshness * share, 3);
        Ok(())
    }

    fn read(
        r: &LedgerRead<'_>,
        call: &Call<'_>,
        row: &MemoryRow,
        (depth, with_evidence): (u32, bool),
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let changed = r.instants(&[row.state_seq])?.remove(&row.state_seq).unwrap_or(row.created_at);
        let age = now.0.saturating_sub(changed.0).max(0) as f64;
        let below = below(r, call, row, depth)?;
        let related = related(r, call, row)?;
        let mut memory = node::nodes(r, std::slice::from_ref(row), with_evidence)?;
        let Some(memory) = memory.pop() else {
            return Err(StoreError::Internal("a memory that was read gives no node".into()));
        };
        let evidence_refs = memory.evidence.clone();
        let related_memories = node::nodes(r, &related, false)?;
        let is_disputed = |row: &&MemoryRow| {
            matches!(row.state.status, Status::Stale | Status::Superseded | Status::NeedsReview)
        };
        let disputed: Vec<MemoryRow> = related.iter().filter(is_disputed).cloned().collect();
        let mut trace = vec![
            format!("read {} ({}, {})", memory.id, memory.kind, memory.status),
            format!("{} below it within depth {depth}", counted(below.len(), "memory")),
            format!("{} beside it", counted(related.len(), "memory")),
        ];
        trace.extend(with_evidence.then(|| format!("evidence: {}", evidence_refs.len())));
        if !row.state.status.is_live() || row.state.status == Status::Stale {
            let by =
                row.superseded_by.as_deref().map_or_else(String::new, |id| format!("; {id} replaces it"));
            trace.push(format!("warning: this memory is {}{by}", row.state.status));
        }
        Ok(Self {
            children: node::nodes(r, &below, false)?,
            consolidated: tree::consolidated(r, call, row, &r.history(row.number)?)?,
            related_memories,
            evidence_refs,
            conflicts: node::nodes(r, &disputed, false)?,
            inspection_trace: trace,
            confidence_assessment: Assessment {
                confidence: row.state.confidence,
                status: row.state.status.to_string(),
                freshness: rounded((-age / HALF_LIFE).exp2(), 3),
            },
            memory,
        })
    }
}

/// The memories below one, each before those below it.
fn below(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
    row: &MemoryRow,
    depth: u32,
) -> Result<Vec<MemoryRow>, StoreError> {
    let mut levels: Vec<Vec<MemoryRow>> = Vec::new();
    let mut parents = vec![row.id.clone()];
    let mut count = 0;
    for _ in 0..depth {
        let ids: Vec<&str> = parents.iter().map(String::as_str).collect();
        let mut level = r.children(&row.scope, &ids)?;
        level.retain(|child| sees_scope(call, &child.scope) && child.state.status != Status::Trashed);
        level.truncate(CHILDREN - count);
        count += level.len();
        parents = level.iter().map(|child| child.id.clone()).collect();
        let is_last = level.is_empty();
        levels.push(level);
        if is_last {
            break;
        }
    }
    let mut flat = Vec::with_capacity(count);
    lay_out(&row.id, &levels, &mut flat);
    Ok(flat)
}

/// Puts the children of `parent` in order, each before its own. It goes as deep as there are levels.
fn lay_out(parent: &str, levels: &[Vec<MemoryRow>], flat: &mut Vec<MemoryRow>) {
    let Some((level, deeper)) = levels.split_first() else { return };
    for child in level.iter().filter(|child| child.parent.as_deref() == Some(parent)) {
        flat.push(child.clone());
        lay_out(&child.id, deeper, flat);
    }
}

/// The memories that one replaced or that replaced it, and those that it has a relation with, whichever way.
fn related(r: &LedgerRead<'_>, call: &Call<'_>, row: &MemoryRow) -> Result<Vec<MemoryRow>, StoreError> {
    let mut found: Vec<MemoryRow> = Vec::new();
    let versions = row.supersedes.iter().chain(&row.superseded_by).cloned();
    for id in versions.chain(r.predecessors(&row.id)?) {
        found.extend(r.memory(&id)?);
    }
    let relations = r.memory_relations(row.number)?;
    let ends: Vec<i64> = relations.iter().flat_map(|of| [of.source, of.target]).collect();
    found.extend(r.memories_by_numbers(&ends)?);
    let mut seen = HashSet::from([row.number]);
    found.retain(|other| seen.insert(other.number) && sees_scope(call, &other.scope));
    Ok(found)
}

impl Render for Response {
    fn render(&self) -> Document {
        let records = |nodes: &[Node]| nodes.iter().map(node_record).collect::<Vec<_>>();
        let mut document = Document::new()
            .with(Block::Records { trust: Trust::Data, records: vec![node_record(&self.memory)] });
        let lists = [
            ("Below it", &self.children),
            ("Related", &self.related_memories),
            ("Disputed", &self.conflicts),
        ];
        for (heading, nodes) in lists.into_iter().filter(|(_, nodes)| !nodes.is_empty()) {
            document = document
                .with(Block::Heading(heading.to_owned()))
                .with(Block::Records { trust: Trust::Data, records: records(nodes) });
        }
        if !self.evidence_refs.is_empty() {
            let evidence = self.evidence_refs.iter().map(|one| Record {
                id: one.kind.clone(),
                attributes: vec![one.created_at.clone()],
                title: Some(one.source.clone()).filter(|source| !source.is_empty()),
                text: one.content.clone(),
            });
            document = document
                .with(Block::Heading("Evidence".to_owned()))
                .with(Block::Records { trust: Trust::Data, records: evidence.collect() });
        }
        let warnings = self.inspection_trace.iter().filter(|line| line.starts_with("warning: "));
        warnings.fold(document, |document, line| {
            document.note(Mark::Warning, line["warning: ".len()..].to_owned())
        })
    }
}
