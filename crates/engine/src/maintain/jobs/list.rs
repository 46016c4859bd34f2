//! `jobs list`: long work, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::JobView;
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct List;

/// Jobs shown when the caller names no limit.
const USUAL: u32 = 20;

/// Which jobs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// Only this sort: import, index, reindex, ...
    pub kind: Option<String>,
    /// At most this many, 1 to 500. Default 20.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// The jobs.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Newest first.
    pub jobs: Vec<JobView>,
}

impl Operation for List {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "jobs_list",
        cli: &["jobs", "list"],
        positional: &[],
        title: "List jobs",
        about: "Lists long work (imports, indexing, rebuilding), newest first: what runs, how far it is, what came of it. \
                Use it to see whether something is still at work before starting it again.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let limit = request.limit.unwrap_or(USUAL) as usize;
        let ledger = engine.existing_ledger()?;
        let rows = ledger.read(&engine.control(call), |r| r.jobs(request.kind.as_deref(), limit))?;
        let now = engine.clock().now();
        Ok(Response { jobs: rows.into_iter().map(|row| JobView::new(row, now)).collect() })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.jobs.is_empty() {
            return Document::new().note(Mark::Info, "no jobs");
        }
        let row = |j: &JobView| {
            let outcome = j.result.clone().unwrap_or_else(|| j.message.clone());
            vec![
                j.id.clone(),
                j.kind.clone(),
                j.state.to_owned(),
                j.progress(),
                j.created_at.clone(),
                outcome,
            ]
        };
        let columns = ["id", "what", "state", "progress", "queued", "outcome"].map(str::to_owned).to_vec();
        Document::new().with(Block::Table { columns, rows: self.jobs.iter().map(row).collect() })
    }
}
