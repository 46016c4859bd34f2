//! The reply of `retrieve_agent_context`, in the wire's words.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{meta::Meta, trace::TraceEntry};
use crate::{
    project::{anchors::AnchorView, node::Node},
    render::{Block, Document, Mark, Record, Render, Trust, counted},
};

/// What was found, or that nothing was looked for.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Response {
    /// The task.
    pub task: String,
    /// Set where the user wanted no memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<bool>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// What was found.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub pack: Option<Box<Pack>>,
    /// How it was looked for.
    pub meta: Meta,
    /// Numbers of the memories that are in it, with how often each is.
    #[serde(skip)]
    pub(super) used: Vec<(i64, i64)>,
}

/// Memories and passages for a task.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Pack {
    /// What must hold: approved rules first.
    pub constraints: Vec<Node>,
    /// How the whole is built.
    pub architecture: Vec<Node>,
    /// What parts of it do.
    pub modules: Vec<Node>,
    /// What was decided.
    pub decisions: Vec<Node>,
    /// What went wrong before.
    pub incidents: Vec<Node>,
    /// How things are done.
    pub procedures: Vec<Node>,
    /// Anything else that is remembered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Node>,
    /// Passages of files.
    pub knowledge_chunks: Vec<KnowledgeSection>,
    /// Found passages as statements, lines and summaries.
    pub multigranular_chunks: Vec<Unit>,
    /// What the memories rest on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence_refs: Vec<EvidenceRef>,
    /// How the choice came about: what is returned, then what is not; short, an example for each reason.
    pub retrieval_trace: Vec<TraceEntry>,
    /// How many things were weighed and left out, by reason; a full trace has them all.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub trace_excluded: BTreeMap<String, usize>,
    /// Tokens of this reply, at four characters each.
    pub total_token_estimate: u64,
    /// Most that it may have.
    pub token_budget: u32,
    /// Tokens of the memories.
    pub memory_tokens: u64,
    /// Tokens of the passages at every size.
    pub knowledge_tokens: u64,
    /// How many memories.
    pub memory_results_count: usize,
    /// How many passages.
    pub knowledge_results_count: usize,
    /// How many statements, lines and summaries.
    pub multigranular_results_count: usize,
    /// Whether it is an answer of before, which still holds.
    pub cache_hit: bool,
    /// What the task was read as.
    pub task_intent: &'static str,
}

/// A passage of a file.
#[derive(Debug, Clone, Default, Serialize)]
pub struct KnowledgeSection {
    /// Names it for `inspect_knowledge`.
    pub chunk_id: String,
    /// The file, and what encloses the passage.
    pub title: String,
    /// What sort of file it is.
    pub source_type: &'static str,
    /// The file, below the project's root.
    pub source_path: String,
    /// What encloses it, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heading_path: Vec<String>,
    /// The first line, from 1; 0 where it is not known.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// Its beginning.
    pub content: String,
    /// Comparable within this reply only.
    pub score: f64,
    /// Tokens of the content.
    pub token_count: u64,
    /// Whether the file has changed since.
    #[serde(skip_serializing_if = "crate::operation::is_default")]
    pub is_stale: bool,
}

/// A found passage at another size.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Unit {
    /// Names the passage for `inspect_knowledge`.
    pub result_id: String,
    /// `proposition`, `paragraph` or `summary`.
    pub result_type: &'static str,
    /// How much it stands for: `proposition`, `paragraph`, `module` or `document`.
    pub granularity: &'static str,
    /// Of a statement: its sort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposition_type: Option<&'static str>,
    /// Its text.
    pub content: String,
    /// Comparable within this list only.
    pub score: f64,
    /// What the score is the sum of.
    pub score_breakdown: super::trace::Breakdown,
    /// The file.
    pub source_path: String,
    /// The first line, from 1.
    pub source_start_line: u32,
    /// The last line.
    pub source_end_line: u32,
    /// Whether the file has changed since.
    #[serde(skip_serializing_if = "crate::operation::is_default")]
    pub is_stale: bool,
    /// The passage that it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Why it was chosen, with a full trace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub selection_reason: String,
}

/// What a memory rests on.
#[derive(Debug, Clone, Serialize)]
pub struct EvidenceRef {
    /// The memory.
    pub memory_id: String,
    /// What it shows.
    pub content: String,
    /// Where it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// What sort it is.
    pub kind: String,
}

impl Response {
    pub(super) fn skipped(task: String, meta: Meta) -> Self {
        let reason = Some("isolated_task or do_not_use_memory flag set");
        Self { task, skipped: Some(true), reason, pack: None, meta, used: Vec::new() }
    }

    /// The same, told as an answer of before.
    pub(super) fn given_again(mut self) -> Self {
        if let Some(pack) = &mut self.pack {
            pack.cache_hit = true;
        }
        self
    }
}

impl Pack {
    /// The lists of memories with their headings, in order of authority.
    pub(super) fn memories(&self) -> [(&'static str, &[Node]); 7] {
        [
            ("Constraints", &self.constraints),
            ("Architecture", &self.architecture),
            ("Modules", &self.modules),
            ("Decisions", &self.decisions),
            ("Incidents", &self.incidents),
            ("Procedures", &self.procedures),
            ("Facts", &self.facts),
        ]
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let Some(pack) = &self.pack else {
            return Document::new()
                .note(Mark::Info, "Nothing was looked for: the user wants no memory here.");
        };
        let mut document = Document::new();
        for (heading, nodes) in pack.memories() {
            document = with_records(document, heading, nodes.iter().map(node_record).collect());
        }
        document =
            with_records(document, "Files", pack.knowledge_chunks.iter().map(passage_record).collect());
        document =
            with_records(document, "In short", pack.multigranular_chunks.iter().map(unit_record).collect());
        let is_empty = document.blocks.is_empty();
        if is_empty {
            document = document.note(Mark::Info, "Nothing that is stored matters for this task.");
        }
        for warning in &self.meta.warnings {
            document = document.note(Mark::Warning, warning.clone());
        }
        let told = format!(
            "{} and {} in {} of {} tokens; read as {}; {}.",
            counted(pack.memory_results_count, "memory"),
            counted(pack.knowledge_results_count, "passage"),
            pack.total_token_estimate,
            pack.token_budget,
            pack.task_intent,
            self.meta.retrieval_mode,
        );
        document.note(Mark::Info, told)
    }
}

fn with_records(document: Document, heading: &str, records: Vec<Record>) -> Document {
    if records.is_empty() {
        return document;
    }
    document.with(Block::Heading(heading.to_owned())).with(Block::Records { trust: Trust::Data, records })
}

/// A memory as a record.
pub(super) fn node_record(node: &Node) -> Record {
    let mut attributes =
        vec![format!("{} {}", node.layer, node.kind), format!("confidence {:.2}", node.confidence)];
    attributes.extend((node.status != "active").then(|| node.status.clone()));
    attributes.extend(node.branch_name.clone().map(|branch| format!("branch {branch}")));
    attributes.extend(node.module_path.clone());
    attributes.extend(node.code.iter().map(AnchorView::in_words));
    Record { id: node.id.clone(), attributes, title: Some(node.title.clone()), text: node.summary.clone() }
}

fn passage_record(passage: &KnowledgeSection) -> Record {
    let place = match passage.start_line {
        0 => passage.source_path.clone(),
        _ => format!("{}:{}-{}", passage.source_path, passage.start_line, passage.end_line),
    };
    let mut attributes = vec![place, passage.source_type.to_owned()];
    attributes.extend(passage.is_stale.then(|| "changed since".to_owned()));
    let title = (!passage.heading_path.is_empty()).then(|| passage.heading_path.join(" > "));
    Record { id: passage.chunk_id.clone(), attributes, title, text: passage.content.clone() }
}

fn unit_record(unit: &Unit) -> Record {
    let place = format!("{}:{}", unit.source_path, unit.source_start_line);
    let attributes = vec![unit.proposition_type.unwrap_or(unit.result_type).to_owned(), place];
    Record { id: unit.result_id.clone(), attributes, title: None, text: unit.content.clone() }
}
