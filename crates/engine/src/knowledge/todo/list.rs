//! `list_todos`: what is to be done here, the most pressing first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::{
    name::Name,
    todo::{Priority, Status},
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, TodoFilter},
};

use super::{priority, unknown, view::TodoView};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::room::{LIST, has_room, keep_sendable},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Render, Trust},
};

/// See the module.
pub struct List;

/// Todos shown when the caller names no limit.
const DEFAULT_LIMIT: u32 = 50;
/// Characters of its texts that each todo keeps where not all of them have room.
const LEAST: usize = 1000;
/// What is neither done nor given up, as a filter.
const OPEN: &str = "open";
/// What was deleted, as a filter.
const DELETED: &str = "deleted";

/// Which todos.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// pending, in_progress, completed, cancelled, open, deleted. Default: all but deleted.
    pub status: Option<String>,
    /// Any by default.
    pub domain: Option<String>,
    /// blocker, high, medium, low, waiting.
    pub priority: Option<String>,
    /// Default 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Todos to pass over.
    pub offset: Option<u32>,
}

/// The todos.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// How many are listed.
    pub count: usize,
    /// Open ones first; then by priority, the newest first.
    pub todos: Vec<TodoView>,
    /// How many more there are behind them.
    #[serde(skip_serializing_if = "crate::operation::is_default")]
    pub more: usize,
    /// The `offset` of the next ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

impl Operation for List {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "list_todos",
        cli: &["todo", "list"],
        positional: &["status"],
        title: "List todos",
        about: "Lists todos: open before closed, then by priority, newest first.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["status", "priority"];
    const TEXT_FORM: TextForm = TextForm::Json;
    const IS_DAILY: bool = true;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut filter = filter(call, &request)?;
        let named = request.domain.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let (rows, all) = engine.read(call, |r| {
            if let Some(name) = named {
                filter.domains = spellings(r, &filter, name)?;
                if filter.domains.is_empty() {
                    return Ok((Vec::new(), 0));
                }
            }
            Ok((r.todos(&filter)?, r.todo_count(&filter)?))
        })?;
        let mut todos: Vec<TodoView> = rows.into_iter().map(TodoView::from).collect();
        if !has_room(call, &todos) {
            let share = LIST / todos.len();
            todos.iter_mut().for_each(|todo| todo.shorten(share.max(LEAST)));
            keep_sendable(call, &mut todos);
        }
        let next = filter.offset + todos.len();
        let more = usize::try_from(all).unwrap_or(usize::MAX).saturating_sub(next);
        let next_offset = (more > 0 && !todos.is_empty()).then_some(next);
        Ok(Response { success: true, count: todos.len(), todos, more, next_offset })
    }
}

fn filter(call: &Call<'_>, request: &Request) -> Result<TodoFilter, Error> {
    let word = request.status.as_deref().map(str::trim).filter(|word| !word.is_empty());
    let statuses = match word {
        None | Some(DELETED) => Vec::new(),
        Some(OPEN) => Status::ALL.into_iter().filter(|status| status.is_open()).collect(),
        Some(word) => vec![Status::parse(word).ok_or_else(|| unknown("status", word, &words()))?],
    };
    let priority: Option<Priority> = request.priority.as_deref().map(priority).transpose()?;
    Ok(TodoFilter {
        visible_from: Some(call.scope.clone()),
        statuses,
        domains: Vec::new(),
        priority,
        deleted: word == Some(DELETED),
        limit: request.limit.unwrap_or(DEFAULT_LIMIT) as usize,
        offset: request.offset.unwrap_or(0) as usize,
    })
}

/// What `status` may be.
fn words() -> Vec<&'static str> {
    Status::ALL.into_iter().map(Status::as_str).chain([OPEN, DELETED]).collect()
}

/// How the domain that somebody named is written where it occurs: `My Notes` is `my-notes`.
fn spellings(r: &LedgerRead<'_>, filter: &TodoFilter, name: &str) -> Result<Vec<String>, StoreError> {
    let key = |name: &str| Name::domain(name).map_or_else(|_| name.to_owned(), |name| name.key());
    let wanted = key(name);
    let all = r.todo_domains(filter)?;
    Ok(all.into_iter().filter(|domain| key(domain) == wanted).collect())
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.todos.is_empty() {
            return Document::new()
                .note(Mark::Info, "Nothing is to be done here. `todo add TEXT` adds something.");
        }
        let records = self.todos.iter().map(TodoView::record).collect();
        Document::new().with(Block::Records { trust: Trust::Data, records }).note_more(self.more)
    }
}
