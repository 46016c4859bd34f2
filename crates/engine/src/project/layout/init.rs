//! `project_init`: the folder in a project, made by hand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::{identity::at_command_line, layout, root_of},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Init;

/// Nothing to say.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// What there is now.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The project's top directory.
    pub root: String,
    /// Its key, where it is known by one.
    pub project: Option<String>,
    /// The files that were made.
    pub made: Vec<String>,
}

impl Operation for Init {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_init",
        cli: &["project", "init"],
        positional: &[],
        title: "Make a project's folder",
        about: "Makes `.strata/` in the project at hand: `config.toml` with every line a comment, `.gitignore`, and the generated \
                policy. What is there already stays as it is. A server with toolset `project` does the same at its first call.",
        effect: Effect::Files,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        at_command_line(
            engine,
            call,
            Self::SPEC.tool,
            "what lies in a project's folder is for a person to say",
        )?;
        let root = root_of(engine)?;
        let made = layout::ensure(engine, &root)?;
        Ok(Response {
            root: root.display().to_string(),
            project: call.scope.project.clone(),
            made: made.files,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = match self.made.as_slice() {
            [] => format!("Everything is there already in {}.", self.root),
            made => format!("Made in {}: {}.", self.root, made.join(", ")),
        };
        Document::new().note(Mark::Good, said)
    }
}
