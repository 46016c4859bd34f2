//! `policy_remove`: takes the policy out of a client's file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::ledger::NewAudit;

use super::{
    FOR_PEOPLE,
    clients::{self, Change, Client},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::{identity::at_command_line, root_of},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Uninstall;

/// Which client.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The client.
    pub client: Client,
}

/// What became of its file.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The client.
    pub client: &'static str,
    /// Its file.
    pub path: String,
    /// Whether the file was changed.
    pub changed: bool,
}

impl Operation for Uninstall {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "policy_remove",
        cli: &["project", "policy", "remove"],
        positional: &["client"],
        title: "Take the policy out of a client's file",
        about: "Takes the block that `strata project policy install` put into a client's file out again and leaves the file as it was; a \
                file that was made for it goes.",
        effect: Effect::Write,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] =
        &[&["policy", "remove"], &["memory", "policy", "remove"]];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        at_command_line(engine, call, Self::SPEC.tool, FOR_PEOPLE)?;
        let (client, root) = (request.client, root_of(engine)?);
        let path = client.path(&root);
        let block = client.block(engine, &root);
        let ledger = engine.ledger(call)?;
        let changed =
            clients::edit(engine, call, &path, |file| match file.and_then(|file| block.take_out(file)) {
                None => Change::Nothing,
                Some(None) => Change::Away,
                Some(Some(rest)) => Change::To(rest),
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
            true => format!("The policy is out of {}.", self.path),
            false => format!("There is no policy in {}.", self.path),
        };
        Document::new().note(Mark::Good, said)
    }
}
