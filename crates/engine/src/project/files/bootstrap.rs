//! `bootstrap_project`: makes a project known and reads its files, once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    follow::{self, Changes, Place},
    kind::precedence,
    progress::Progress,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    project::storable,
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct BootstrapProject;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// What there is now.
#[derive(Debug, Serialize)]
pub struct Response {
    /// `READY`, or `DEGRADED` when something could not be read.
    pub bootstrap_status: &'static str,
    /// The project's folder.
    pub project_root: String,
    /// Its name.
    pub project_name: String,
    /// Whether its files were known before.
    pub already_initialized: bool,
    /// Files in the index.
    pub indexed_documents: u64,
    /// Their parts in the index.
    pub indexed_chunks: u64,
    /// Files that describe the project as a whole, below its folder.
    pub seed_files_found: Vec<String>,
    /// What differed from what was on record.
    pub changes: Changes,
    /// What could not be read, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Operation for BootstrapProject {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "bootstrap_project",
        cli: &["project", "bootstrap"],
        positional: &[],
        title: "Make a project known",
        about: "Reads everything in a project that may be read, what describes it first. A server does so by itself; use this to have it \
                done before one starts. Done again it reads only what changed.",
        effect: Effect::Write,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] =
        &[&["debug", "bootstrap"], &["project", "debug", "bootstrap"], &["memory", "debug", "bootstrap"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let place = Place::required(engine, call)?;
        let already_initialized = Progress::of(engine, call)?.documents > 0;
        let changes = follow::refresh(engine, call)?;
        let progress = Progress::of(engine, call)?;
        let project = call.scope.project.as_deref();
        let rows = engine.read(call, |r| r.sources_of(&call.scope.namespace, project, &place.root))?;
        let seeds = rows.iter().filter(|row| {
            row.state == strata_store::ledger::SourceState::Present && precedence(&row.path).is_some()
        });
        Ok(Response {
            bootstrap_status: if progress.warnings.is_empty() { "READY" } else { "DEGRADED" },
            project_root: storable(&place.gate.root().to_string_lossy()),
            project_name: name(engine, &place),
            already_initialized,
            indexed_documents: progress.documents,
            indexed_chunks: progress.chunks,
            seed_files_found: seeds.map(|row| row.path.clone()).collect(),
            changes,
            warnings: progress.warnings,
        })
    }
}

/// What people call the project.
pub(crate) fn name(engine: &Engine, place: &Place) -> String {
    let configured = engine.settings().config.project.name.clone();
    let folder = || place.gate.root().file_name().map(|name| storable(&name.to_string_lossy()));
    configured.or_else(folder).unwrap_or_default()
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = format!(
            "{} is known: {}, of which {} new and {} changed",
            self.project_name,
            counted(usize::try_from(self.indexed_documents).unwrap_or(usize::MAX), "file"),
            self.changes.new,
            self.changes.changed
        );
        let document = Document::new().note(Mark::Good, text);
        self.warnings.iter().fold(document, |document, warning| document.note(Mark::Warning, warning.clone()))
    }
}
