//! `policy_status`: where the policy stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FILE,
    block::{PAGE, find},
    clients::{self, Client},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::{
        layout::{GENERATED, folder},
        root_of,
    },
    render::{Block, Document, Render},
};

/// See the module.
pub struct Status;

/// Nothing to say.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// Where it stands.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The generated file.
    pub policy: Page,
    /// Claude Code's file.
    pub claude_code: Installed,
    /// Cursor's file.
    pub cursor: Installed,
    /// The file that Codex and many others read.
    pub agents_md: Installed,
}

/// The generated file.
#[derive(Debug, Serialize)]
pub struct Page {
    /// Whether it is there.
    pub exists: bool,
    /// Where it is.
    pub path: String,
    /// Whether the block is in it.
    pub has_markers: bool,
    /// The version that the block names.
    pub policy_version: Option<String>,
}

/// A client's file.
#[derive(Debug, Serialize)]
pub struct Installed {
    /// Where it is.
    pub path: String,
    /// Whether the block is in it.
    pub installed: bool,
    /// Whether the block says what it would say now: not where it is of another version or was edited.
    pub is_current: bool,
}

impl Operation for Status {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "policy_status",
        cli: &["project", "policy", "status"],
        positional: &[],
        title: "Show where the policy stands",
        about: "Tells whether the policy for agents was generated, in which version, and in which clients' files it stands.",
        effect: Effect::Read,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] =
        &[&["policy", "status"], &["memory", "policy", "status"]];

    fn run(engine: &Engine, _call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let root = root_of(engine)?;
        let path = folder(&root).join(GENERATED).join(FILE);
        // What cannot be read is not ours.
        let file = clients::read(&path).unwrap_or_default();
        let found = file.as_deref().and_then(|file| find(PAGE, file));
        let installed = |client: Client| {
            let path = client.path(&root);
            let file = clients::read(&path).unwrap_or_default();
            let block = client.block(engine, &root);
            let is = |of: &dyn Fn(&str) -> bool| file.as_deref().is_some_and(of);
            Installed {
                path: path.display().to_string(),
                installed: is(&|file| find(block.markers, file).is_some()),
                is_current: is(&|file| block.stands_in(file)),
            }
        };
        Ok(Response {
            policy: Page {
                exists: file.is_some(),
                path: path.display().to_string(),
                has_markers: found.is_some(),
                policy_version: found.and_then(|found| found.version).map(str::to_owned),
            },
            claude_code: installed(Client::ClaudeCode),
            cursor: installed(Client::Cursor),
            agents_md: installed(Client::AgentsMd),
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = |file: &Installed| {
            let words = match (file.installed, file.is_current) {
                (false, _) => "not installed",
                (true, true) => "installed",
                (true, false) => "installed, but older or edited: install it once more",
            };
            (file.path.clone(), words.to_owned())
        };
        let version = self.policy.policy_version.as_deref().unwrap_or("not generated");
        Document::new().with(Block::Pairs(vec![
            (self.policy.path.clone(), version.to_owned()),
            said(&self.claude_code),
            said(&self.cursor),
            said(&self.agents_md),
        ]))
    }
}
