//! `reset_project`: takes a project's files out of the index.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{memory::Layer, policy::Action};
use strata_store::ledger::SourceState;

use super::{follow::Place, state::Phase};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    maintain::{index_files::forget, reindex::index_everything},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct ResetProject;

/// Whether it is meant.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Do it; without it the answer only says what would go. Default false.
    pub confirm: Option<bool>,
}

/// What went.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Files that left the index, or would.
    pub files: usize,
    /// Whether they did.
    pub done: bool,
}

impl Operation for ResetProject {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "reset_project",
        cli: &["project", "reset"],
        positional: &[],
        title: "Forget a project's files",
        about: "Takes the text of every file of the project out of the index, so that the next look reads all of them anew. The files \
                stay as they are, and so do memories: `strata forget` and `strata purge` are for those. Without `confirm` it only says what would go.",
        effect: Effect::Write,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[
        &["debug", "reset-project"],
        &["project", "debug", "reset-project"],
        &["memory", "debug", "reset-project"],
    ];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = Place::required(engine, call)?;
        let _pass = engine.files().pass();
        let project = call.scope.project.as_deref();
        let rows = engine.read(call, |r| r.sources_of(&call.scope.namespace, project, &place.root))?;
        let known: Vec<i64> =
            rows.iter().filter(|row| row.state != SourceState::Gone).map(|row| row.number).collect();
        let files = known.len();
        if !request.confirm.unwrap_or(false) {
            return Ok(Response { files, done: false });
        }
        authority::authorise(engine, call, Action::Forget, Layer::P5, "")?;
        forget(engine, call, known)?;
        let (ledger, control) = (engine.ledger(call)?, engine.control(call));
        ledger.write(&control, engine.clock().now(), |w| w.remove_setting(&place.setting()))?;
        index_everything(engine, call, &mut |_, _| Ok(control.check()?))?;
        engine.files().set(|now| (now.phase, now.looked) = (Phase::Unstarted, None));
        Ok(Response { files, done: true })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let text = match self.done {
            true => format!("{} left the index; the next look reads them anew", counted(self.files, "file")),
            false => format!("{} would leave the index; `--confirm` does it", counted(self.files, "file")),
        };
        Document::new().note(if self.done { Mark::Good } else { Mark::Info }, text)
    }
}
