//! `policy_generate`: writes the policy into the project's folder.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FILE, FOR_PEOPLE, VERSION,
    block::{Block, PAGE, find},
    clients::{self, Change},
    text,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::{
        identity::at_command_line,
        layout::{GENERATED, folder, plain_directory},
        root_of,
    },
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Generate;

/// Nothing to say.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// The file.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Where it is.
    pub path: String,
    /// The version of its wording.
    pub policy_version: &'static str,
}

impl Operation for Generate {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "policy_generate",
        cli: &["project", "policy", "generate"],
        positional: &[],
        title: "Write the policy for agents",
        about: "Writes what agents are asked to do with the project's memory to `.strata/generated/AGENT_MEMORY_POLICY.md`. Only the \
                block between its markers is made anew. No file of a client is touched: that is `strata project policy install`.",
        effect: Effect::Files,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] =
        &[&["policy", "generate"], &["memory", "policy", "generate"]];

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        at_command_line(engine, call, Self::SPEC.tool, FOR_PEOPLE)?;
        let root = root_of(engine)?;
        let path = path(&root)?;
        clients::edit(engine, call, &path, |file| Change::To(block(engine).put_before(file)))?;
        Ok(Response { path: path.display().to_string(), policy_version: VERSION })
    }
}

/// Writes it unless one of this version is there; tells whether it did.
pub(in crate::project) fn write_if_older(engine: &Engine, root: &Path) -> Result<bool, Error> {
    let path = path(root)?;
    let file = clients::read(&path)?;
    let held = file.as_deref().and_then(|file| find(PAGE, file)).and_then(|found| found.version);
    if held == Some(VERSION) {
        return Ok(false);
    }
    strata_store::files::write_atomic(&path, block(engine).put_before(file.as_deref()).as_bytes())?;
    Ok(true)
}

/// The file's path; its folders are made.
pub(super) fn path(root: &Path) -> Result<std::path::PathBuf, Error> {
    let folder = folder(root);
    plain_directory(&folder)?;
    let folder = folder.join(GENERATED);
    plain_directory(&folder)?;
    Ok(folder.join(FILE))
}

/// The page as a block.
pub(super) fn block(engine: &Engine) -> Block {
    Block {
        markers: PAGE,
        told: told(engine),
        body: text::page(&engine.settings().config.project.runtime),
        head: "",
    }
}

/// What a block says of itself.
pub(super) fn told(engine: &Engine) -> String {
    format!("policy_version: {VERSION} | generated: {} | server: strata", engine.clock().now().to_rfc3339())
}

impl Render for Response {
    fn render(&self) -> Document {
        Document::new().note(Mark::Good, format!("The policy {} is in {}.", self.policy_version, self.path))
    }
}
