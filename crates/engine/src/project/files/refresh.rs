//! `refresh_project_knowledge`: looks at a project's files now and indexes what changed.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::follow::{self, Changes};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct RefreshProjectKnowledge;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Response {
    /// `READY`: everything that was seen is indexed.
    pub bootstrap_status: &'static str,
    /// What differed from what was on record.
    pub changes: Changes,
    /// Files that were read into the index.
    pub ingested: usize,
    /// Files that left it.
    pub stale_removed: usize,
    /// Milliseconds it took.
    pub took_ms: u64,
    /// What could not be read, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Operation for RefreshProjectKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "refresh_project_knowledge",
        cli: &["project", "index"],
        positional: &[],
        title: "Index the project's files",
        about: "Looks at the project's files now: new and changed ones are indexed, those that are gone leave the index. Changes are \
                noticed without it; use it before a question that depends on files written a moment ago, or when `memory_status` \
                shows that something could not be read. A look that finds nothing new costs next to nothing.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] =
        &[&["debug", "index"], &["project", "debug", "index"], &["memory", "debug", "index"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let began = Instant::now();
        let changes = follow::refresh(engine, call)?;
        Ok(Response {
            bootstrap_status: "READY",
            ingested: changes.ingested(),
            stale_removed: changes.deleted,
            took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            warnings: engine.files().now().problems,
            changes,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let Changes { new, changed, deleted, unchanged } = self.changes;
        let text = format!(
            "{}: {new} new, {changed} changed, {deleted} gone, {unchanged} unchanged; {} ms",
            counted(new + changed + unchanged, "file"),
            self.took_ms
        );
        let document = Document::new().note(Mark::Good, text);
        self.warnings.iter().fold(document, |document, warning| document.note(Mark::Warning, warning.clone()))
    }
}
