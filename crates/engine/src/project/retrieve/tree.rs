//! `memory_tree`: the memories of a project as an outline.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::memory::Status;
use strata_store::ledger::{LedgerRead, MemoryFilter, MemoryRow};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::{
        anchors::pins::Pins,
        node::{self, MAX_DEPTH, Node},
    },
    render::{Block, Document, Mark, Render, counted, neutral, one_line},
};

/// See the module.
pub struct MemoryTree;

/// Memories of an outline when the caller names no number.
const DEFAULT_LIMIT: u32 = 200;
/// Memories of a project that are looked through.
const READ: usize = 5000;

/// How much.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// At most this many memories, 1 to 1000. Default 200.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
}

/// The outline.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Each before what stands below it.
    pub nodes: Vec<Node>,
    /// The same as text, indented by what stands above.
    pub outline: String,
    /// Memories that it has no room for.
    pub left_out: usize,
}

impl Operation for MemoryTree {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "memory_tree",
        cli: &["project", "tree"],
        positional: &[],
        title: "The project's memories as a tree",
        about: "Shows the memories of the project as an outline: each below the one it belongs to, with kind and weight. For \
                people who want to see what is there; a task is served by `retrieve_agent_context`.",
        effect: Effect::Read,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[
        &["debug", "tree"],
        &["project", "debug", "tree"],
        &["memory", "debug", "tree"],
        &["memory", "tree"],
    ];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let rows = outline(engine, call)?;
        let left_out = rows.len().saturating_sub(limit);
        let shown = &rows[..rows.len().min(limit)];
        let bare: Vec<MemoryRow> = shown.iter().map(|(row, _)| row.clone()).collect();
        let code = Pins::of(engine, call, bare.iter())?;
        let mut nodes = engine.read(call, |r| node::nodes(r, &bare, false))?;
        for (node, row) in nodes.iter_mut().zip(&bare) {
            node.code = code.on(row).to_vec();
        }
        let outline = text(shown, &code);
        Ok(Response { nodes, outline, left_out })
    }
}

/// The memories of the caller's project that are in force, each before those below it, with how deep they stand.
///
/// # Errors
/// Those of the store.
pub(crate) fn outline(engine: &Engine, call: &Call<'_>) -> Result<Vec<(MemoryRow, u32)>, Error> {
    let rows = engine.read(call, |r| of_project(r, call))?;
    let known: HashMap<&str, usize> =
        rows.iter().enumerate().map(|(at, row)| (row.id.as_str(), at)).collect();
    let mut below: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        let parent = row.parent.as_deref().and_then(|id| known.get(id)).copied();
        below.entry(parent.filter(|parent| *parent != at)).or_default().push(at);
    }
    let mut laid = Vec::with_capacity(rows.len());
    let mut seen = vec![false; rows.len()];
    let mut waiting: Vec<(usize, u32)> =
        below.get(&None).into_iter().flatten().rev().map(|at| (*at, 0)).collect();
    // What stands in a circle has no beginning: it is laid out from its heaviest.
    waiting.splice(0..0, (0..rows.len()).rev().map(|at| (at, 0)));
    while let Some((at, depth)) = waiting.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        laid.push((rows[at].clone(), depth));
        if depth < MAX_DEPTH {
            waiting.extend(below.get(&Some(at)).into_iter().flatten().rev().map(|child| (*child, depth + 1)));
        }
    }
    Ok(laid)
}

/// The live memories of a project, weightiest first.
fn of_project(
    r: &LedgerRead<'_>,
    call: &Call<'_>,
) -> Result<Vec<MemoryRow>, strata_store::error::StoreError> {
    let filter = MemoryFilter {
        visible_from: Some(call.scope.clone()),
        statuses: vec![Status::Active, Status::Stale, Status::NeedsReview],
        limit: READ,
        ..MemoryFilter::default()
    };
    let mut rows = r.memories(&filter)?;
    rows.retain(|row| row.scope.project == call.scope.project);
    rows.sort_by(|a, b| b.state.importance.total_cmp(&a.state.importance).then(a.number.cmp(&b.number)));
    Ok(rows)
}

/// An outline as text, with what became of the code that memories are pinned to.
pub(crate) fn text(rows: &[(MemoryRow, u32)], code: &Pins) -> String {
    let line = |(row, depth): &(MemoryRow, u32)| {
        let title = neutral(&one_line(&node::title(row)));
        let mut marks = vec![format!("importance={:.2}", row.state.importance)];
        marks.extend((row.state.status != Status::Active).then(|| row.state.status.to_string()));
        marks.extend(code.in_words(row));
        let indent = "  ".repeat(*depth as usize);
        format!(
            "{indent}- [{}] {title} ({})",
            node::wire_kind(&row.kind),
            neutral(&one_line(&marks.join(", ")))
        )
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.nodes.is_empty() {
            return Document::new().note(Mark::Info, "The project has no memories yet.");
        }
        // Whoever looks at it goes on with one of them.
        let lines = self.outline.lines().zip(&self.nodes).map(|(line, node)| format!("{line}  {}", node.id));
        let text = lines.collect::<Vec<_>>().join("\n");
        let document = Document::new().with(Block::Stored(Box::new(Block::Code { language: "", text })));
        match self.left_out {
            0 => document,
            left => document.note(Mark::Info, format!("{} more; raise `limit`", counted(left, "memory"))),
        }
    }
}
