//! `remember`: stores one memory, word for word.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    draft::Draft,
    placed::{self, RoutingOverride},
    similar::{Contradicts, Similar},
    write::{self, Stored},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Remember;

/// What to keep.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The fact, decision or lesson in one or a few sentences that stand on their own, with the reason. Kept word for word.
    pub text: String,
    /// fact (default), decision, preference, pattern, insight, procedure, skill, architecture, module, incident, fix, constraint, rule, identity, integration, note or a word of your own.
    pub kind: Option<String>,
    /// A short headline.
    pub title: Option<String>,
    /// P0 rules to P6 incidents. Default: P4 for skills and procedures, P6 for incidents and fixes, P0 for rules, P1 for identity, else P5.
    pub layer: Option<LayerName>,
    /// A stable name for what this is about, e.g. `db.port`. A newer memory with the same name replaces the older one.
    pub topic_key: Option<String>,
    /// Id of the memory that this one corrects or replaces.
    pub supersedes: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How sure you are, 0 to 1. Default 0.8 for agents, 1 for people.
    pub confidence: Option<f64>,
    /// How much it matters, 0 to 1. Default 0.5.
    pub importance: Option<f64>,
    /// Where it comes from: a file, a URL, a person.
    pub source: Option<String>,
    /// The session it comes from.
    pub session: Option<String>,
    /// What it rests on: test output, file and line, a turn, a URL. One entry each. `code:PATH`, `code:PATH:10-20` or `code:PATH#SYMBOL` pins it to code of the project: hits then say when that code has changed.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// From when it is true, e.g. 2026-03-31.
    pub valid_from: Option<String>,
    /// Until when it is true; a day counts whole.
    pub valid_to: Option<String>,
    /// Days after which it leaves default recall; 1 or more.
    pub ttl_days: Option<u32>,
    /// Where it holds. Default: the branch that is checked out, until it is merged; the project on its main branch; the user level outside of one.
    pub scope: Option<ScopeName>,
    /// Keep it on the hot page.
    pub pinned: Option<bool>,
    /// Further facts about it, as names and texts.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// force_l1 stores a memory where the configuration would make a todo of it, or decline it as passing.
    pub routing_override: Option<RoutingOverride>,
}

/// The layers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the layers' meaning is documented once, in strata_core")]
pub enum LayerName {
    #[serde(alias = "p0")]
    P0,
    #[serde(alias = "p1")]
    P1,
    #[serde(alias = "p2")]
    P2,
    #[serde(alias = "p3")]
    P3,
    #[serde(alias = "p4")]
    P4,
    #[serde(alias = "p5")]
    P5,
    #[serde(alias = "p6")]
    P6,
}

impl From<LayerName> for strata_core::memory::Layer {
    fn from(name: LayerName) -> Self {
        match name {
            LayerName::P0 => Self::P0,
            LayerName::P1 => Self::P1,
            LayerName::P2 => Self::P2,
            LayerName::P3 => Self::P3,
            LayerName::P4 => Self::P4,
            LayerName::P5 => Self::P5,
            LayerName::P6 => Self::P6,
        }
    }
}

/// How far a memory reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeName {
    /// everywhere this user works
    User,
    /// the whole project
    Project,
    /// the current branch of the project
    Branch,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The memory's id.
    pub id: String,
    /// The memory's number, shown as `#n`.
    pub number: i64,
    /// `saved`, `unchanged` when the same text was already there, or `todo` when a todo was made of it.
    pub status: &'static str,
    /// Its kind.
    pub kind: String,
    /// Its layer.
    pub layer: String,
    /// Where it holds.
    pub scope: String,
    /// The memory it replaced, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded: Option<String>,
    /// A stored memory that says nearly the same, or the opposite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar: Option<Similar>,
    /// A stored memory that cannot hold together with this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<Contradicts>,
    /// Families of secrets that were blacked out before storing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
    /// Where the text might belong better; advice only, unless it is a todo now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// Whether it is a todo and no memory.
    #[serde(skip)]
    pub is_todo: bool,
}

impl Operation for Remember {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Core,
        tool: "remember",
        cli: &["remember"],
        positional: &["text"],
        title: "Store a memory",
        about: "Stores one memory, word for word: a decision with its reason, a fact, a preference, a lesson, an incident and \
                its fix. Use it when something will matter in a later session. One fact per call. To correct something, \
                pass `supersedes` or the same `topic_key`; the old value then no longer shows. The same text twice is \
                stored once. Not for passing state, secrets (they are blacked out) or whole files (use `strata index`). \
                Rules and identity (P0, P1) are proposed with `reflect`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("fact", "text"), ("content", "text"), ("type", "kind")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let draft = Draft::from_request(engine, call, &request)?;
        if let Some(placed) = placed::elsewhere(engine, call, &request, &draft)? {
            return Ok(placed);
        }
        let stored = write::store(engine, call, &draft)?;
        Ok(Response::new(&draft, stored))
    }
}

impl Response {
    fn new(draft: &Draft, stored: Stored) -> Self {
        Self {
            id: stored.id,
            number: stored.number,
            status: if stored.new { "saved" } else { "unchanged" },
            kind: stored.kind.to_string(),
            layer: stored.layer.to_string(),
            scope: draft.scope.to_string(),
            superseded: stored.superseded,
            similar: stored.similar,
            contradicts: stored.contradicts,
            redacted: draft.redacted.clone(),
            route: draft.route.clone(),
            is_todo: false,
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let what = format!("#{} {} ({}, {}, {})", self.number, self.id, self.kind, self.layer, self.scope);
        let first = match self.status {
            "unchanged" => format!("already stored as {what}"),
            _ => format!("saved {what}"),
        };
        let mut document = Document::new().note(Mark::Good, first);
        if self.is_todo {
            let route = self.route.as_deref().unwrap_or_default();
            let text = format!(
                "it is a todo now, and no memory ({route}); `routing_override` force_l1 stores a memory"
            );
            return document.note(Mark::Info, text).note_redacted(&self.redacted);
        }
        if let Some(old) = &self.superseded {
            document = document.note(Mark::Info, format!("superseded {old}; its history is kept"));
        }
        if let Some(contradicts) = &self.contradicts {
            document = document.note(Mark::Warning, contradicts.sentence());
        }
        let is_named = |id: &String| self.contradicts.as_ref().is_some_and(|c| c.id == *id);
        if let Some(similar) = self.similar.as_ref().filter(|s| !is_named(&s.id)) {
            document = document.note(Mark::Warning, similar.sentence());
        }
        document = document.note_redacted(&self.redacted);
        if let Some(route) = &self.route {
            document = document.note(Mark::Info, format!("this might belong elsewhere ({route})"));
        }
        document
    }
}
