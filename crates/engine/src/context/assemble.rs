//! `assemble`: the rules and the newest memories, in one pack.

use schemars::JsonSchema;
use serde::Deserialize;

use super::operation::{Context, Request as ContextRequest, Response};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
};

/// See the module.
pub struct Assemble;

/// Characters when the caller names no budget.
const DEFAULT_BUDGET: u32 = 12_000;
/// How many of the newest memories take part.
const NEWEST: u32 = 50;

/// How much.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Most characters of the pack. Default 12000; never more than 8000 tokens.
    #[schemars(range(min = 1))]
    pub budget_chars: Option<u32>,
}

impl Operation for Assemble {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "assemble",
        cli: &["govern", "assemble"],
        positional: &[],
        title: "Rules and newest memories",
        about: "Gives the approved rules and identity, then the 50 newest memories, in one pack of at most so many characters. \
                Records are never cut, and rules that do not fit are counted. Use it to begin a session without a task; with \
                a task in hand `context` chooses better.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const ALIASES: &'static [(&'static str, &'static str)] = &[("budget", "budget_chars")];
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["assemble"]];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let budget_chars = Some(request.budget_chars.unwrap_or(DEFAULT_BUDGET));
        let asked = ContextRequest { budget_chars, limit: Some(NEWEST), ..ContextRequest::default() };
        Context::run(engine, call, asked)
    }
}
