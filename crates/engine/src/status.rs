//! `status`: what this memory is and how it is doing. Creates nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct Status;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {}

/// The state of the home.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Version of this binary.
    pub version: &'static str,
    /// The home directory.
    pub home: String,
    /// `ok` or `not_initialized`.
    pub status: &'static str,
    /// Who is asking, as the audit would record it.
    pub principal: String,
    /// Where the caller stands.
    pub scope: String,
}

impl Operation for Status {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Core,
        tool: "status",
        cli: &["status"],
        positional: &[],
        title: "Memory status",
        about: "Shows which memory this is, who you are to it, what it holds and whether it is healthy. \
                Use it when answers look wrong or empty. It changes nothing and is safe before `init`.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let status = if engine.ledger_path().is_file() { "ok" } else { "not_initialized" };
        Ok(Response {
            version: env!("CARGO_PKG_VERSION"),
            home: engine.home().display().to_string(),
            status,
            principal: call.principal.to_string(),
            scope: call.scope.to_string(),
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let mark = if self.status == "ok" { Mark::Good } else { Mark::Info };
        Document::new().note(mark, format!("Strata {}: {}", self.version, self.status)).with(Block::Pairs(
            vec![
                ("home".into(), self.home.clone()),
                ("you are".into(), self.principal.clone()),
                ("scope".into(), self.scope.clone()),
            ],
        ))
    }
}
