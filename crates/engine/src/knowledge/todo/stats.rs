//! `get_todo_stats`: how much is to be done.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::knowledge::todo::{Priority, Status};
use strata_store::ledger::TodoCount;

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Block, Document, Mark, Render, counted},
};

/// See the module.
pub struct Stats;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {}

/// The figures.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The figures.
    pub stats: Figures,
}

/// How many todos there are, deleted ones left out.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// By where they stand, in the order of the words.
    pub by_status: Vec<OfStatus>,
    /// Those that are open, by domain, the fullest first.
    pub by_domain: Vec<OfDomain>,
    /// Those that are open, by priority, the most pressing first.
    pub by_priority: Vec<OfPriority>,
    /// All of them.
    pub total: i64,
}

/// How many stand somewhere.
#[derive(Debug, Serialize)]
pub struct OfStatus {
    /// Where they stand.
    pub status: &'static str,
    /// How many.
    pub count: i64,
}

/// How many belong to a domain.
#[derive(Debug, Serialize)]
pub struct OfDomain {
    /// The domain.
    pub domain: String,
    /// How many.
    pub count: i64,
}

/// How many are so pressing.
#[derive(Debug, Serialize)]
pub struct OfPriority {
    /// How pressing.
    pub priority: &'static str,
    /// How many.
    pub count: i64,
}

impl Operation for Stats {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "get_todo_stats",
        cli: &["todo", "stats"],
        positional: &[],
        title: "Count todos",
        about: "Counts todos by status, and open ones by domain and priority.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let counts = engine.read(call, |r| r.todo_counts(Some(call.scope)))?;
        Ok(Response { success: true, stats: Figures::of(&counts) })
    }
}

impl Figures {
    fn of(counts: &[TodoCount]) -> Self {
        let open = || counts.iter().filter(|c| c.status.is_open());
        let sum = |of: &mut dyn Iterator<Item = &TodoCount>| of.map(|c| c.count).sum::<i64>();
        let status = |status: Status| OfStatus {
            status: status.as_str(),
            count: sum(&mut counts.iter().filter(|c| c.status == status)),
        };
        let priority = |priority: Priority| OfPriority {
            priority: priority.as_str(),
            count: sum(&mut open().filter(|c| c.priority == priority)),
        };
        let mut domains: BTreeMap<&str, i64> = BTreeMap::new();
        for count in open() {
            *domains.entry(&count.domain).or_default() += count.count;
        }
        let mut by_domain: Vec<OfDomain> = domains
            .into_iter()
            .map(|(domain, count)| OfDomain { domain: domain.to_owned(), count })
            .collect();
        by_domain.sort_by_key(|of| -of.count);
        Self {
            by_status: Status::ALL.into_iter().map(status).filter(|of| of.count > 0).collect(),
            by_domain,
            by_priority: Priority::ALL.into_iter().map(priority).filter(|of| of.count > 0).collect(),
            total: sum(&mut counts.iter()),
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let Figures { by_status, by_domain, by_priority, total } = &self.stats;
        let pairs = |title: &str, list: Vec<(String, i64)>| {
            let rows = list.into_iter().map(|(name, count)| vec![name, count.to_string()]).collect();
            Block::Table { columns: vec![title.to_owned(), "todos".to_owned()], rows }
        };
        let mut document = Document::new().note(Mark::Info, counted(*total, "todo"));
        for (title, list) in [
            (
                "status",
                by_status.iter().map(|of| (of.status.replace('_', " "), of.count)).collect::<Vec<_>>(),
            ),
            ("open, by priority", by_priority.iter().map(|of| (of.priority.to_owned(), of.count)).collect()),
            ("open, by domain", by_domain.iter().map(|of| (of.domain.clone(), of.count)).collect()),
        ] {
            if !list.is_empty() {
                document = document.with(pairs(title, list));
            }
        }
        document
    }
}
