//! `review_list`: what waits for a decision.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::{
    error::StoreError,
    ledger::{MemoryRow, ReviewFilter, ReviewRow, ReviewStatus},
};

use super::{AMENDMENT, CONFLICT, amendment::Amendment};
use crate::{
    engine::Engine,
    error::Error,
    memory::reference::reader,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Record, Render, Trust, shortened},
};

/// See the module.
pub struct List;

/// Reviews shown when the caller names no limit.
const DEFAULT_LIMIT: u32 = 20;
/// Characters of a text that are shown; `review_show` shows the whole.
const EXCERPT: usize = 200;

/// Which reviews.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// How they stand; pending by default.
    pub status: Option<StatusName>,
    /// Only this kind: candidate, amendment, conflict.
    pub kind: Option<String>,
    /// At most this many, 1 to 200. Default 20.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

/// How a review stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusName {
    /// waiting
    Pending,
    /// in force
    Approved,
    /// turned down
    Rejected,
    /// overtaken by something else
    Withdrawn,
    /// all of them
    All,
}

/// The queue, longest waiting first.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The reviews.
    pub reviews: Vec<Item>,
    /// How many more there are.
    pub more: usize,
    /// How many of each kind, shown or not.
    pub kinds: BTreeMap<String, usize>,
}

/// One review in short.
#[derive(Debug, Serialize)]
pub struct Item {
    /// Its id.
    pub id: String,
    /// candidate, amendment, conflict, ...
    pub kind: String,
    /// How it stands.
    pub status: &'static str,
    /// The memory it is about.
    pub target: String,
    /// Its number.
    pub number: Option<i64>,
    /// Its layer.
    pub layer: Option<String>,
    /// What is proposed, in short.
    pub text: String,
    /// Why.
    pub reason: String,
    /// Who proposed it.
    pub proposer: String,
    /// The day it was proposed.
    pub date: String,
}

impl Operation for List {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "review_list",
        cli: &["review", "list"],
        positional: &[],
        title: "List what waits for review",
        about: "Lists what waits for a person's decision, longest first: candidates for rules and insights, amendments of what \
                is in force, conflicts between memories. `review_show` shows one with both sides.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let filter = ReviewFilter {
            status: match request.status {
                None | Some(StatusName::Pending) => Some(ReviewStatus::Pending),
                Some(StatusName::Approved) => Some(ReviewStatus::Approved),
                Some(StatusName::Rejected) => Some(ReviewStatus::Rejected),
                Some(StatusName::Withdrawn) => Some(ReviewStatus::Withdrawn),
                Some(StatusName::All) => None,
            },
            kind: request.kind,
            target: None,
            visible_from: reader(call).cloned(),
            limit: request.limit.unwrap_or(DEFAULT_LIMIT) as usize,
        };
        let zone = &engine.settings().zone;
        engine.read(call, |r| {
            let kinds: BTreeMap<String, usize> = r.review_counts(&filter)?.into_iter().collect();
            let page = r.reviews(&filter)?.into_iter();
            let reviews = page
                .map(|review| Ok(Item::new(r.memory(&review.target)?.as_ref(), review, zone)))
                .collect::<Result<Vec<_>, StoreError>>()?;
            Ok(Response { more: kinds.values().sum::<usize>() - reviews.len(), kinds, reviews })
        })
    }
}

impl Item {
    fn new(memory: Option<&MemoryRow>, review: ReviewRow, zone: &jiff::tz::TimeZone) -> Self {
        Self {
            text: shortened(&proposed(&review, memory), EXCERPT),
            id: review.id,
            kind: review.kind,
            status: review.status.as_str(),
            target: review.target,
            number: memory.map(|memory| memory.number),
            layer: memory.map(|memory| memory.state.layer.to_string()),
            reason: review.reason,
            proposer: review.proposer,
            date: review.created_at.to_date(zone),
        }
    }

    fn record(&self) -> Record {
        let mut attributes = vec![format!("{} of {}", self.kind, self.target)];
        attributes.extend(self.layer.clone());
        if self.status != ReviewStatus::Pending.as_str() {
            attributes.push(self.status.to_owned());
        }
        attributes.extend([format!("by {}", self.proposer), self.date.clone()]);
        if !self.reason.is_empty() {
            attributes.push(format!("because: {}", shortened(&self.reason, EXCERPT)));
        }
        Record { id: self.id.clone(), attributes, title: None, text: self.text.clone() }
    }
}

/// What would stand, in words.
pub(crate) fn proposed(review: &ReviewRow, memory: Option<&MemoryRow>) -> String {
    let body = || memory.map(|memory| memory.body.clone()).unwrap_or_default();
    match review.kind.as_str() {
        AMENDMENT => Amendment::read(&review.proposal).map_or_else(body, |amendment| {
            let priority = amendment.priority.map(|n| format!("priority {n}"));
            let condition = amendment.condition.map(|text| format!("when: {text}"));
            amendment.text.into_iter().chain(priority).chain(condition).collect::<Vec<_>>().join("; ")
        }),
        CONFLICT => serde_json::from_str::<super::Conflict>(&review.proposal)
            .map_or_else(|_| body(), |c| format!("{}: {} ({})", c.subject, c.values.join(" / "), c.axis)),
        _ => body(),
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.reviews.is_empty() {
            return Document::new().note(Mark::Info, "Nothing waits for review.");
        }
        let records = self.reviews.iter().map(Item::record).collect();
        let document = Document::new().with(Block::Records { trust: Trust::Data, records });
        document.note_more(self.more).note(Mark::Info, "`review show ID` shows both sides")
    }
}
