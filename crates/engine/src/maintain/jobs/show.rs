//! `jobs show`: one job.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{JobView, job_id, missing};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
};

/// See the module.
pub struct Show;

/// Which job.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The job's id, from `jobs list`.
    pub id: String,
}

impl Operation for Show {
    type Request = Request;
    type Response = JobView;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "jobs_show",
        cli: &["jobs", "show"],
        positional: &["id"],
        title: "Show a job",
        about: "Shows one job: how far it is, who works on it, its last sign of life and what came of it.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<JobView, Error> {
        let id = job_id(&request.id)?;
        let row = engine.existing_ledger()?.read(&engine.control(call), |r| r.job(&id))?;
        Ok(JobView::new(row.ok_or_else(|| missing(&id))?, engine.clock().now()))
    }
}
