//! `batch_inject_knowledge`: several sections in one call, each with its own answer.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    beside,
    reply::Response as One,
    shorten,
    write::{self, Asked, Done},
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault::Written,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
    request,
};

/// See the module.
pub struct BatchInjectKnowledge;

/// The most items of one call.
const MOST_ITEMS: usize = 100;

/// The texts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Objects with `domain`, `section`, `content`, and as needed `mode`, `fuse`, `expected_hash`; at most 100.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub items: Vec<Value>,
    /// As for inject_knowledge.
    pub mode: Option<String>,
    /// Noted in the files.
    pub agent_id: Option<String>,
    /// `none` or `force_l1`.
    pub routing_override: Option<String>,
}

/// One text.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Item {
    /// The file.
    pub domain: String,
    /// The heading; the domain when absent.
    pub section: Option<String>,
    /// The text.
    pub content: String,
    /// Wins over the call's.
    pub mode: Option<String>,
    /// Answers a deferred write.
    pub fuse: bool,
    /// The token.
    pub expected_hash: Option<String>,
}

/// What became of them.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Whether none failed.
    pub success: bool,
    /// Items.
    pub total: usize,
    /// Those that did not fail; deferred ones count.
    pub success_count: usize,
    /// Those that failed.
    pub error_count: usize,
    /// Whether the index of the vault shows what was written.
    pub l0_synced: bool,
    /// One for each item, in order: as inject_knowledge answers.
    pub results: Vec<Value>,
    /// The results were shortened to fit into the reply.
    #[serde(skip_serializing_if = "crate::operation::is_default")]
    pub is_shortened: bool,
    /// The same, for people.
    #[serde(skip)]
    pub outcomes: Vec<Outcome>,
}

/// What became of one.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Its position, from 0.
    pub index: usize,
    /// Why it failed.
    pub error: Option<String>,
    /// What to do then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The answer as inject_knowledge gives it.
    #[serde(flatten)]
    pub answer: Answer,
}

/// The answer, or what was asked for when there is none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// As inject_knowledge gives it.
    Given(Box<One>),
    /// It failed.
    Failed {
        /// Always false.
        success: bool,
        /// As it was sent.
        domain: Option<String>,
        /// As it was sent.
        section: Option<String>,
        /// Always null.
        action: Option<String>,
        /// Always false.
        l0_synced: bool,
    },
}

impl Operation for BatchInjectKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "batch_inject_knowledge",
        cli: &["knowledge", "inject-many"],
        positional: &["items"],
        title: "Write several sections",
        about: "inject_knowledge for several sections; each has its own answer, and one that fails stops no other.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["batch_inject_knowledge_tool"];
    const EXPLAINED: &'static [&'static str] = &["items", "routing_override"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let total = request.items.len();
        if total > MOST_ITEMS {
            let message = format!("has {total} entries; at most {MOST_ITEMS} are taken");
            return Err(Error::argument("items", message, "send several calls"));
        }
        let mut written: Vec<Written> = Vec::new();
        let (mut results, mut changed) = (Vec::new(), HashSet::new());
        for (index, item) in request.items.iter().enumerate() {
            (call.progress)(index as u64, total as u64);
            let outcome = match one(engine, call, &request, item) {
                Ok(Done { response, written: made }) => {
                    changed.extend(made.as_ref().filter(|made| made.is_changed()).map(|_| index));
                    written.extend(made);
                    Outcome { index, error: None, hint: None, answer: Answer::Given(Box::new(response)) }
                }
                Err(error) => Outcome::failed(index, item, &error),
            };
            results.push(outcome);
        }
        let synced = write::follow(engine, call, &mut written)?;
        let l0_synced = synced.l0_synced;
        let is_indexed = written.iter().all(|written| written.unindexed.is_none());
        for outcome in &mut results {
            outcome.conclude(&synced, is_indexed || !changed.contains(&outcome.index));
        }
        let error_count = results.iter().filter(|outcome| outcome.error.is_some()).count();
        let success_count = total - error_count;
        let (told, is_shortened) = shorten::fitted(&results)?;
        Ok(Response {
            success: error_count == 0,
            total,
            success_count,
            error_count,
            l0_synced,
            results: told,
            is_shortened,
            outcomes: results,
        })
    }
}

fn one(engine: &Engine, call: &Call<'_>, request: &Request, item: &Value) -> Result<Done, Error> {
    let hint = "send an object with domain, section and content";
    let item = read(item);
    if !item.is_object() {
        return Err(Error::argument("items", "has an entry that is no object", hint));
    }
    let item: Item = serde_json::from_value(item)
        .map_err(|error| Error::argument("items", format!("cannot be read: {error}"), hint))?;
    let asked = Asked {
        domain: &item.domain,
        section: item.section.as_deref().unwrap_or(&item.domain),
        content: &item.content,
        mode: item.mode.as_deref().or(request.mode.as_deref()),
        agent_id: request.agent_id.as_deref(),
        fuse: item.fuse,
        expected_hash: item.expected_hash.as_deref(),
        routing_override: request.routing_override.as_deref(),
        tool: "batch_inject_knowledge",
    };
    write::write(engine, call, &asked)
}

/// An item, which may be sent as text, with its `fuse` as the boolean that was meant.
fn read(item: &Value) -> Value {
    let mut read = match item {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| item.clone()),
        other => other.clone(),
    };
    if let Some(fuse) = read.get_mut("fuse") {
        *fuse = request::boolean(fuse.take());
    }
    read
}

impl Outcome {
    fn failed(index: usize, item: &Value, error: &Error) -> Self {
        let read = read(item);
        let sent = |key: &str| read[key].as_str().map(str::to_owned);
        let (domain, section) = (sent("domain"), sent("section"));
        let answer = Answer::Failed { success: false, domain, section, action: None, l0_synced: false };
        Self { index, error: Some(error.to_string()), hint: Some(error.hint()), answer }
    }

    /// Tells what became of the index, and counts a refusal among the failures.
    fn conclude(&mut self, synced: &beside::Synced, is_indexed: bool) {
        let Answer::Given(one) = &mut self.answer else { return };
        one.note_followers(synced, false, is_indexed);
        if let Some(error) = one.refusal() {
            self.error = Some(error);
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let mark = if self.success { Mark::Good } else { Mark::Bad };
        let document =
            Document::new().note(mark, format!("{} of {} went in or wait", self.success_count, self.total));
        self.outcomes.iter().fold(document, |document, outcome| match (&outcome.error, &outcome.answer) {
            (Some(error), _) => document.note(Mark::Bad, format!("{}: {error}", outcome.index)),
            (None, Answer::Given(one)) => one.render().blocks.into_iter().fold(document, Document::with),
            (None, Answer::Failed { .. }) => document,
        })
    }

    fn is_alarming(&self) -> bool {
        !self.success
    }
}
