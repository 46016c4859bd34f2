//! `policy_install`: puts the policy into a client's file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::ledger::NewAudit;

use super::{
    FOR_PEOPLE,
    clients::{self, Change, Client},
    generate,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::{identity::at_command_line, layout::plain_directory, root_of},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Install;

/// Which client.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The client.
    pub client: Client,
}

/// Where it stands now.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The client.
    pub client: &'static str,
    /// Its file.
    pub path: String,
    /// Whether the file was changed.
    pub changed: bool,
}

impl Operation for Install {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "policy_install",
        cli: &["project", "policy", "install"],
        positional: &["client"],
        title: "Put the policy into a client's file",
        about: "Puts what agents are asked to do into the file that a client reads: `CLAUDE.md` for `claude-code`, \
                `.cursor/rules/agent-memory-policy.mdc` for `cursor`, `AGENTS.md` for `agents-md`, which Codex and many others read. \
                It stands there as one block between markers; all else in the file stays as it is, and `strata project policy \
                remove` leaves it as it was. Once more puts right what is older or was edited in the block.",
        effect: Effect::Write,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] =
        &[&["policy", "install"], &["memory", "policy", "install"]];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        at_command_line(engine, call, Self::SPEC.tool, FOR_PEOPLE)?;
        let (client, root) = (request.client, root_of(engine)?);
        generate::write_if_older(engine, &root)?;
        for folder in client.place().0 {
            plain_directory(&root.join(folder))?;
        }
        let path = client.path(&root);
        let block = client.block(engine, &root);
        let ledger = engine.ledger(call)?;
        let changed = clients::edit(engine, call, &path, |file| {
            // The time in the block is no reason to write it anew.
            match file.is_some_and(|file| block.stands_in(file)) {
                true => Change::Nothing,
                false => Change::To(block.put_into(file)),
            }
        })?;
        if changed {
            ledger.write(&engine.control(call), engine.clock().now(), |w| {
                w.record(&NewAudit::new(call.principal, call.face, Self::SPEC.tool, client.as_str()))
            })?;
        }
        Ok(Response { client: client.as_str(), path: path.display().to_string(), changed })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = match self.changed {
            true => format!("The policy stands in {}.", self.path),
            false => format!("The policy stands in {} already.", self.path),
        };
        Document::new().note(Mark::Good, said)
    }
}
