//! `inject_knowledge`: the main way in for durable knowledge, one section at a time.
//!
//! What the text does to the file is decided by [`strata_core::knowledge::inject`] under the file's lock.

mod batch;
mod beside;
mod nearby;
mod reply;
mod shorten;
mod write;

use schemars::JsonSchema;
use serde::Deserialize;

pub use batch::{BatchInjectKnowledge, Item, Response as BatchResponse};
pub use reply::Response;

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
};

/// See the module.
pub struct InjectKnowledge;

/// A text and where it goes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// File name without `.md`.
    pub domain: String,
    /// Its `##` heading.
    pub section: String,
    /// Markdown, at most 1 MiB.
    pub content: String,
    /// `upsert` (default), `append` or `merge`.
    pub mode: Option<String>,
    /// Noted in the file.
    pub agent_id: Option<String>,
    /// Answers a deferred write; needs `expected_hash`.
    #[serde(default)]
    pub fuse: bool,
    /// Token of what was seen.
    pub expected_hash: Option<String>,
    /// `none` or `force_l1`.
    pub routing_override: Option<String>,
}

impl Operation for InjectKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "inject_knowledge",
        cli: &["knowledge", "inject"],
        positional: &["domain", "section", "content"],
        title: "Write knowledge",
        about: "Writes a section of durable knowledge. Where it could lose text it answers `deferred_*` instead: send one text for both with `fuse` and the token.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["inject_knowledge_tool"];
    const IS_DAILY: bool = true;
    const EXPLAINED: &'static [&'static str] =
        &["domain", "section", "content", "mode", "fuse", "routing_override"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let asked = write::Asked {
            domain: &request.domain,
            section: &request.section,
            content: &request.content,
            mode: request.mode.as_deref(),
            agent_id: request.agent_id.as_deref(),
            fuse: request.fuse,
            expected_hash: request.expected_hash.as_deref(),
            routing_override: request.routing_override.as_deref(),
            tool: "inject_knowledge",
        };
        let mut done = write::write(engine, call, &asked)?;
        let synced = write::follow(engine, call, done.written.as_mut_slice())?;
        let is_indexed = done.written.iter().all(|written| written.unindexed.is_none());
        done.response.note_followers(&synced, true, is_indexed);
        Ok(done.response)
    }
}
