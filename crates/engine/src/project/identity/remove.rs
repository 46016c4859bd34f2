//! `project_remove`: a project that is not known any more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::ledger::NewAudit;

use super::{FOR_PEOPLE, key_of, people_only};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::storable,
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Remove;

/// Which project.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The project, by its key or a name it has.
    pub of: String,
}

/// What became of it.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Its key.
    pub project: String,
    /// What is still stored under the key, by table.
    pub kept: Vec<Kept>,
}

/// What is still stored.
#[derive(Debug, Default, Serialize)]
pub struct Kept {
    /// Of what.
    pub what: &'static str,
    /// How much.
    pub count: u64,
}

impl Operation for Remove {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_remove",
        cli: &["project", "remove"],
        positional: &["of"],
        title: "Forget a project's names",
        about: "Forgets that a project is known and what it was recognised by. What is stored in it stays, under its key: \
                `strata --project KEY` reaches it, `strata forget` and `strata purge` are for its texts. A checkout that is used \
                again is noted again.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        people_only(engine, call, Self::SPEC.tool, FOR_PEOPLE)?;
        let ledger = engine.existing_ledger()?;
        let known = ledger.read(&engine.control(call), |r| r.project_key(&storable(&request.of)))?;
        let project = key_of(known, Some(&request.of))?;
        let holdings = ledger.write(&engine.control(call), engine.clock().now(), |w| {
            w.record(&NewAudit::new(call.principal, call.face, Self::SPEC.tool, &project))?;
            w.forget_project(&project)?;
            w.project_holdings(&project)
        })?;
        let kept = holdings.into_iter().filter(|(_, count)| *count > 0);
        Ok(Response { project, kept: kept.map(|(what, count)| Kept { what, count }).collect() })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let kept: Vec<String> =
            self.kept.iter().map(|kept| format!("{} {}", kept.count, kept.what)).collect();
        let document =
            Document::new().note(Mark::Good, format!("The project {} is not known any more.", self.project));
        if kept.is_empty() {
            return document;
        }
        let said = format!(
            "Still stored under that key, any status: {}. `--project {}` reaches it.",
            kept.join(", "),
            self.project
        );
        document.note(Mark::Info, said)
    }
}
