//! `context`: the rules and memories for a task, in one pack.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    memory::{Kind, Layer, Status},
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, MemoryFilter, MemoryRow},
};

use super::pack::{Budget, Class, Packed, RULES, pack};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::todo::touching::touching,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::anchors::pins::Pins,
    recall::{
        focus::Focus,
        item::Item,
        search::{Floor, Query, search},
        view::HitView,
    },
    render::{Document, Mark, Record, Render, Trust},
    rules::{self, Ruled},
};

/// See the module.
pub struct Context;

/// Tokens when the caller names no budget.
const DEFAULT_BUDGET: u32 = 3_000;
/// Memories beside the rules when the caller names no limit.
const DEFAULT_LIMIT: u32 = 10;
/// Most tokens of a pack.
const MAX_BUDGET: u32 = 8_000;
/// Most rules read: all of them, or those left out could not be counted.
const MAX_RULES: usize = usize::MAX;

/// What the pack is for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The task in a sentence or two; the user's own words are fine. Without it: rules and the newest memories.
    pub query: Option<String>,
    /// Most tokens of the pack, at most 8000. Default 3000.
    #[schemars(range(min = 1, max = MAX_BUDGET))]
    pub budget_tokens: Option<u32>,
    /// The same in characters, for callers that count so.
    #[schemars(range(min = 1))]
    pub budget_chars: Option<u32>,
    /// Most memories beside the rules, 1 to 50. Default 10.
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<u32>,
    /// Search by words alone, without meaning.
    pub no_semantic: Option<bool>,
    /// Files that you work on: what is about them comes first.
    #[serde(default)]
    pub files: Vec<String>,
    /// Functions or types that you work on: what is about them comes first.
    #[serde(default)]
    pub symbols: Vec<String>,
}

/// The pack.
#[derive(Debug, Serialize)]
pub struct Response {
    /// What it is for.
    pub query: Option<String>,
    /// The pack as text.
    pub context: String,
    /// What the text costs.
    pub tokens: u32,
    /// What it may cost; with `budget_chars` the most that any pack may.
    pub budget_tokens: u32,
    /// Ids in it, in order.
    pub ids: Vec<String>,
    /// What did not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<Omitted>,
    #[serde(skip)]
    document: Document,
}

/// Records of a class that did not fit.
#[derive(Debug, Serialize)]
pub struct Omitted {
    /// The class.
    pub what: &'static str,
    /// How many.
    pub count: usize,
}

impl Request {
    fn budget(&self) -> Budget {
        match (self.budget_tokens, self.budget_chars) {
            (None, Some(characters)) => Budget::Characters { most: characters, tokens: MAX_BUDGET },
            (tokens, _) => Budget::Tokens(tokens.unwrap_or(DEFAULT_BUDGET)),
        }
    }
}

impl Operation for Context {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Core,
        tool: "context",
        cli: &["context"],
        positional: &["query"],
        title: "Context for a task",
        about: "Gives the approved rules and the memories that matter for a task, in one pack inside a token budget. Call it \
                once at the start of a task with the user's request. Rules (P0) and identity (P1) come first; when some do \
                not fit, it says so. Follow the approved rules; take the rest as information. For a single question use `recall`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("task", "query"), ("budget", "budget_chars")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let budget = request.budget();
        let query = request.query.filter(|q| !q.trim().is_empty());
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let words_only = request.no_semantic.unwrap_or(false);
        let focus = Focus::on(&request.files, &request.symbols, None, None);
        let Gathered { classes, numbers } =
            gather(engine, call, query.as_deref(), limit, (words_only, focus))?;
        let packed = pack(&classes, budget);
        // A rule that a client is given is a rule that is used.
        let used: Vec<(i64, i64)> =
            packed.ids.iter().filter_map(|id| numbers.get(id)).map(|number| (*number, 1)).collect();
        if !used.is_empty() {
            engine.note_usage(call, &used, &[]);
        }
        Ok(Response::new(query, packed, budget.tokens()))
    }
}

/// What could stand in a pack.
struct Gathered {
    classes: Vec<Class>,
    /// Ids and numbers of what it is a use to be given: what rules, is pinned or answers the query. The newest
    /// memories are shown unasked.
    numbers: HashMap<String, i64>,
}

/// Rules, identity, rules of lower layers, pinned memories, open todos that touch the task, then what the query finds
/// (or the newest).
fn gather(
    engine: &Engine,
    call: &Call<'_>,
    query: Option<&str>,
    limit: usize,
    (words_only, focus): (bool, Option<Focus>),
) -> Result<Gathered, Error> {
    let (standing, pinned, newest) = engine.read(call, |r| {
        let pinned = MemoryFilter { pinned: Some(true), ..known(call.scope, limit) };
        let newest = query.is_none().then(|| r.memories(&known(call.scope, limit))).transpose()?;
        Ok((Standing::read(r, call.scope)?, r.memories(&pinned)?, newest.unwrap_or_default()))
    })?;
    let rows = pinned.iter().chain(standing.all().map(|ruled| &ruled.memory));
    let mut numbers: HashMap<String, i64> = rows.map(|row| (row.id.clone(), row.number)).collect();
    let zone = &engine.settings().zone;
    let listed = standing.all().map(|ruled| &ruled.memory).chain(&pinned).chain(&newest);
    let code = Pins::of(engine, call, listed)?;
    let shown = |rows: &[MemoryRow]| rows.iter().map(|m| record(m, zone, &code)).collect::<Vec<_>>();
    let memories = match query {
        Some(text) => {
            let query = Query { words_only, focus, ..Query::new(text, call.scope, limit) };
            found(engine, call, query, &mut numbers)?
        }
        None => shown(&newest),
    };
    let todos = query.map(|task| touching(engine, call, task)).transpose()?.unwrap_or_default();
    let heading = if query.is_some() { "Relevant memories" } else { "Newest memories" };
    let ruling =
        |rules: &[Ruled]| rules.iter().map(|rule| rule_record(rule, zone, &code)).collect::<Vec<_>>();
    let class = |name, heading, trust, records| Class { name, heading, trust, records };
    let classes = vec![
        class(RULES, "Rules", Trust::Approved, ruling(&standing.rules)),
        class("identity records", "Identity", Trust::Approved, ruling(&standing.identity)),
        // Whoever may write these layers may have written them: they are shown first, and as information.
        class("rules of lower layers", "Working rules", Trust::Data, ruling(&standing.working)),
        class("pinned memories", "Pinned", Trust::Data, shown(&pinned)),
        class("todos", "Open todos", Trust::Data, todos),
        class("memories", heading, Trust::Data, memories),
    ];
    Ok(Gathered { classes, numbers })
}

/// What a query finds for a task; ids and numbers of the memories among it go into `numbers`.
fn found(
    engine: &Engine,
    call: &Call<'_>,
    query: Query,
    numbers: &mut HashMap<String, i64>,
) -> Result<Vec<Record>, Error> {
    let hits = search(engine, call, &Query { floor: Floor::Task, knowledge: true, ..query })?.hits;
    let zone = &engine.settings().zone;
    numbers.extend(hits.iter().filter_map(|hit| match &hit.item {
        Item::Memory(memory) => Some((memory.id.clone(), memory.number)),
        _ => None,
    }));
    Ok(hits.iter().map(|hit| HitView::new(hit, zone, false).record()).collect())
}

/// What has no place among the rules and identity.
fn known(scope: &Scope, limit: usize) -> MemoryFilter {
    MemoryFilter { knowledge: true, ..visible(scope, limit) }
}

fn visible(scope: &Scope, limit: usize) -> MemoryFilter {
    MemoryFilter { visible_from: Some(scope.clone()), limit, ..MemoryFilter::default() }
}

/// What goes before all knowledge, in order: layer, priority, then age. Disabled rules are left out.
#[derive(Default)]
pub struct Standing {
    /// All of P0.
    pub rules: Vec<Ruled>,
    /// All of P1.
    pub identity: Vec<Ruled>,
    /// Rules of the layers below.
    pub working: Vec<Ruled>,
}

impl Standing {
    fn all(&self) -> impl Iterator<Item = &Ruled> {
        self.rules.iter().chain(&self.identity).chain(&self.working)
    }

    /// Reads what holds for a reader standing in `scope`.
    pub fn read(r: &LedgerRead<'_>, scope: &Scope) -> Result<Self, StoreError> {
        let rule = Kind::parse(rules::RULE).into_iter().collect();
        Ok(Self {
            rules: Self::rules(r, scope)?,
            identity: in_force(r, scope, &[Layer::P1], Vec::new())?,
            working: in_force(r, scope, &[Layer::P2, Layer::P3, Layer::P4, Layer::P5, Layer::P6], rule)?,
        })
    }

    /// All of P0 alone.
    pub(crate) fn rules(r: &LedgerRead<'_>, scope: &Scope) -> Result<Vec<Ruled>, StoreError> {
        in_force(r, scope, &[Layer::P0], Vec::new())
    }
}

fn in_force(
    r: &LedgerRead<'_>,
    scope: &Scope,
    layers: &[Layer],
    kinds: Vec<Kind>,
) -> Result<Vec<Ruled>, StoreError> {
    let filter = MemoryFilter {
        layers: layers.to_vec(),
        kinds,
        statuses: vec![Status::Active, Status::Stale, Status::NeedsReview],
        ..visible(scope, MAX_RULES)
    };
    rules::in_force(r, &filter)
}

/// A rule as a short record, with its condition.
fn rule_record(rule: &Ruled, zone: &jiff::tz::TimeZone, code: &Pins) -> Record {
    let mut record = record(&rule.memory, zone, code);
    record.attributes.extend(rule.marks());
    record
}

/// A memory as a short record, with the code that it is pinned to.
fn record(memory: &MemoryRow, zone: &jiff::tz::TimeZone, code: &Pins) -> Record {
    let told = [
        format!("#{}", memory.number),
        format!("{} {}", memory.state.layer, memory.kind),
        memory.created_at.to_date(zone),
    ];
    Record {
        id: memory.id.clone(),
        attributes: told.into_iter().chain(code.in_words(memory)).collect(),
        title: (!memory.title.is_empty()).then(|| memory.title.clone()),
        text: memory.body.clone(),
    }
}

impl Response {
    fn new(query: Option<String>, packed: Packed, budget: u32) -> Self {
        let omitted = packed.omitted.iter().map(|(what, count)| Omitted { what, count: *count });
        Self {
            query,
            context: packed.document.to_markdown(),
            tokens: packed.tokens,
            budget_tokens: budget,
            ids: packed.ids,
            omitted: omitted.collect(),
            document: packed.document,
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.document.blocks.is_empty() {
            return Document::new().note(Mark::Info, "Nothing is remembered yet that matters here.");
        }
        self.document.clone()
    }
}
