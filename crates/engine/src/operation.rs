//! One use case, defined once, offered on every face.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    principal::{Face, Principal},
    scope::Scope,
    signing::SecretKey,
    time::Timestamp,
};

use crate::{
    engine::Engine,
    error::Error,
    project::branches,
    render::{Document, Mark, Render},
    request::{self, Asked, OutOfRange},
    schema,
};

/// A named group of operations that an MCP client is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Toolset {
    /// The default of every client: at most eight tools.
    Core,
    /// Rules, audit, snapshots, review, graph, consolidation, gate: p-layer's tools and what it lacked.
    Governance,
    /// The tools of p-layer's older server, under their old names.
    Compat,
    /// The vault, its index, routes, todos: layered-memory's tools and the verbs it lacked.
    Layered,
    /// A project's code, decisions and incidents by branch: memory-engine's tools.
    Project,
    /// Maintenance: for people and schedules, shown to a client only on request.
    Admin,
}

impl Toolset {
    /// Every toolset, in documentation order.
    pub const ALL: [Self; 6] =
        [Self::Core, Self::Governance, Self::Compat, Self::Layered, Self::Project, Self::Admin];

    /// The word used in `--toolsets`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Governance => "governance",
            Self::Compat => "compat",
            Self::Layered => "layered",
            Self::Project => "project",
            Self::Admin => "admin",
        }
    }

    /// Whether clients are shown no more of its tools than they need to call them: it is large, and every word of
    /// a list is paid for in every session. The reference pages have the rest.
    pub const fn is_listed_tersely(self) -> bool {
        matches!(self, Self::Layered)
    }

    /// Whether clients of this toolset read failures as answers: `{"success": false, "error": ...}`, as
    /// layered-memory's did.
    pub const fn answers_failures(self) -> bool {
        matches!(self, Self::Layered)
    }
}

/// What of the table a client asks to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// A whole toolset.
    Whole(Toolset),
    /// The operations of a toolset that an agent needs every day.
    Daily(Toolset),
}

impl Selection {
    /// Everything that can be asked for, in documentation order.
    pub const ALL: [Self; 7] = [
        Self::Whole(Toolset::Core),
        Self::Whole(Toolset::Governance),
        Self::Whole(Toolset::Compat),
        Self::Whole(Toolset::Layered),
        Self::Daily(Toolset::Layered),
        Self::Whole(Toolset::Project),
        Self::Whole(Toolset::Admin),
    ];

    /// The word used in `--toolsets`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whole(toolset) => toolset.as_str(),
            Self::Daily(Toolset::Core) => "core-daily",
            Self::Daily(Toolset::Governance) => "governance-daily",
            Self::Daily(Toolset::Compat) => "compat-daily",
            Self::Daily(Toolset::Layered) => "layered-daily",
            Self::Daily(Toolset::Project) => "project-daily",
            Self::Daily(Toolset::Admin) => "admin-daily",
        }
    }

    /// The toolset that it is, or is a part of.
    pub const fn toolset(self) -> Toolset {
        match self {
            Self::Whole(toolset) | Self::Daily(toolset) => toolset,
        }
    }

    /// Whether an operation is in it.
    pub fn has(self, entry: &Entry) -> bool {
        match self {
            Self::Whole(toolset) => entry.spec.toolset == toolset,
            Self::Daily(toolset) => entry.spec.toolset == toolset && entry.is_daily,
        }
    }
}

/// What an operation changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Read,
    /// Nothing in the store; it writes files beside it, or where the caller wants them.
    Files,
    /// The store: adds or supersedes; nothing is lost.
    Write,
    /// The store: may erase for good.
    Destroy,
}

/// What a protocol client gets when it does not ask for a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// The response laid out as Markdown.
    Markdown,
    /// The response as indented JSON: what a seed's tool of that name returns.
    Json,
    /// The response as JSON without line breaks, where every character counts.
    CompactJson,
}

/// Who is meant to call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Agents and people.
    Everyone,
    /// People at a terminal; not offered over MCP.
    People,
}

/// What an operation is called and what it is for.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The group it is shown in.
    pub toolset: Toolset,
    /// Wire name: `[a-z_]`, at most 24 characters; in [`Toolset::Compat`] hyphens and 27, in [`Toolset::Layered`]
    /// digits and 31, in [`Toolset::Project`] 25.
    pub tool: &'static str,
    /// Command path on the command line, e.g. `["backup", "create"]`.
    pub cli: &'static [&'static str],
    /// Request fields taken by position on the command line, in order. The last may be a list.
    pub positional: &'static [&'static str],
    /// A few words, for menus.
    pub title: &'static str,
    /// What it does, when to use it and when not; at most 900 characters.
    pub about: &'static str,
    /// What it changes.
    pub effect: Effect,
    /// Who is meant to call it.
    pub audience: Audience,
}

/// The circumstances of one call. Made by the face, never by the caller's arguments.
pub struct Call<'a> {
    /// Who acts, decided by the way in.
    pub principal: &'a Principal,
    /// Where the caller stands.
    pub scope: &'a Scope,
    /// The way in.
    pub face: Face,
    /// When the caller stops waiting.
    pub deadline: Timestamp,
    /// Withdraws the call.
    pub cancel: &'a Cancel,
    /// Told (done, total) during long work; total 0 is unknown.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
    /// The human's secret, when the way in unlocked it.
    pub secret: Option<&'a SecretKey>,
}

/// One use case: a request, a response and the function between them.
pub trait Operation {
    /// What the caller sends.
    type Request: DeserializeOwned + JsonSchema + 'static;
    /// What the caller gets.
    type Response: Serialize + Render;
    /// Name and description.
    const SPEC: Spec;
    /// Older names of arguments, accepted but not shown: (alias, name).
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
    /// Older command paths, accepted but not shown.
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[];
    /// Older wire names, accepted but not listed.
    const OLDER_TOOLS: &'static [&'static str] = &[];
    /// Whether it is in the daily part of its toolset.
    const IS_DAILY: bool = false;
    /// The arguments that a client is told about where tools are [listed tersely](Toolset::is_listed_tersely): those whose
    /// names do not say what to send.
    const EXPLAINED: &'static [&'static str] = &[];
    /// The form of the reply when a protocol client names none.
    const TEXT_FORM: TextForm = TextForm::Markdown;

    /// The store whose passphrase confirms it, where that is not the one that the call is made on.
    ///
    /// # Errors
    /// What is wrong with the request.
    fn confirmed_by(_engine: &Engine, _request: &Self::Request) -> Result<Option<Engine>, Error> {
        Ok(None)
    }

    /// Does it.
    fn run(engine: &Engine, call: &Call<'_>, request: Self::Request) -> Result<Self::Response, Error>;
}

/// A response in the two forms that faces need.
#[derive(Debug)]
pub struct Reply {
    /// For programs.
    pub json: Value,
    /// For people and models.
    pub document: Document,
    /// Whether the answer is that something is wrong.
    pub is_alarming: bool,
}

/// An operation without its types: what the table holds.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name and description.
    pub spec: Spec,
    /// Older names of arguments, accepted but not shown: (alias, name).
    pub aliases: &'static [(&'static str, &'static str)],
    /// Older command paths, accepted but not shown.
    pub older_commands: &'static [&'static [&'static str]],
    /// Older wire names, accepted but not listed.
    pub older_tools: &'static [&'static str],
    /// Whether it is in the daily part of its toolset.
    pub is_daily: bool,
    /// The arguments that a client is told about where tools are [listed tersely](Toolset::is_listed_tersely).
    pub explained: &'static [&'static str],
    /// The form of the reply when a protocol client names none.
    pub text_form: TextForm,
    /// The request's schema, reduced to what every client accepts.
    pub request_schema: fn() -> Value,
    /// The store whose passphrase confirms it, where that is not the one that the call is made on.
    pub confirmed_by: fn(&Engine, Value) -> Result<Option<Engine>, Error>,
    /// Runs the operation on leniently read JSON arguments.
    pub run: fn(&Engine, &Call<'_>, Value) -> Result<Reply, Error>,
}

/// The table entry of an operation.
pub const fn entry<O: Operation>() -> Entry {
    Entry {
        spec: O::SPEC,
        aliases: O::ALIASES,
        older_commands: O::OLDER_COMMANDS,
        older_tools: O::OLDER_TOOLS,
        is_daily: O::IS_DAILY,
        explained: O::EXPLAINED,
        text_form: O::TEXT_FORM,
        request_schema: schema::portable_of::<O::Request>,
        confirmed_by: confirmed_by::<O>,
        run: run_json::<O>,
    }
}

/// For fields of a response that are left out when they say nothing.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn confirmed_by<O: Operation>(engine: &Engine, arguments: Value) -> Result<Option<Engine>, Error> {
    O::confirmed_by(engine, &request::read_asked::<O::Request>(arguments, O::ALIASES)?.request)
}

fn run_json<O: Operation>(engine: &Engine, call: &Call<'_>, arguments: Value) -> Result<Reply, Error> {
    let Asked { request, out_of_range } = request::read_asked::<O::Request>(arguments, O::ALIASES)
        .map_err(|error| Error::Unread(Box::new(error)))?;
    let standing = branches::standing(engine, call);
    let call = &Call { scope: &standing, ..*call };
    let response = O::run(engine, call, request)?;
    let mut json = serde_json::to_value(&response).map_err(|e| Error::Internal(e.to_string()))?;
    // A reply that is a bare list tells it in its document alone.
    if let (Value::Object(reply), false) = (&mut json, out_of_range.is_empty()) {
        reply.insert("out_of_range".into(), json!(out_of_range));
    }
    let note = |document: Document, out: &OutOfRange| document.note(Mark::Info, out.sentence());
    let document = out_of_range.iter().fold(response.render(), note);
    Ok(Reply { json, document, is_alarming: response.is_alarming() })
}
