//! `jobs cancel`: withdraws a job. Its worker stops at its next step; what it finished stays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::principal::{Principal, PrincipalKind};
use strata_store::ledger::NewAudit;

use super::{job_id, missing};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Cancel;

/// Which job.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The job's id, from `jobs list`.
    pub id: String,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The job.
    pub id: String,
    /// Whether it was still open; an ended one stays as it ended.
    pub cancelled: bool,
    /// Where it stands.
    pub state: &'static str,
}

impl Operation for Cancel {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "jobs_cancel",
        cli: &["jobs", "cancel"],
        positional: &["id"],
        title: "Cancel a job",
        about: "Withdraws a job that has not ended. Its worker stops at its next step; what it has stored until then stays, \
                and starting the same work again goes on from there.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let id = job_id(&request.id)?;
        let ledger = engine.existing_ledger()?;
        let control = engine.control(call);
        let job = ledger.read(&control, |r| r.job(&id))?.ok_or_else(|| missing(&id))?;
        if !may_cancel(call.principal, job.lease_owner.as_deref()) {
            let reason = "only its worker and people withdraw a job";
            authority::record_refusal(engine, call, "cancel", None, &id, reason)?;
            let hint = "ask whoever started it, or a person, to run `strata jobs cancel`".to_owned();
            return Err(Error::Conflict { message: format!("job {id} is somebody else's: {reason}"), hint });
        }
        let row = NewAudit::new(call.principal, call.face, "cancel", &id);
        let outcome = ledger.write(&control, engine.clock().now(), |w| {
            let cancelled = w.cancel_job(&id)?;
            if cancelled {
                w.record(&row)?;
            }
            Ok(w.job(&id)?.map(|job| (cancelled, job.state)))
        })?;
        let (cancelled, state) = outcome.ok_or_else(|| missing(&id))?;
        Ok(Response { id, cancelled, state: state.as_str() })
    }
}

/// Whether `principal` may withdraw a job that `owner` works on: people may, others only their own.
fn may_cancel(principal: &Principal, owner: Option<&str>) -> bool {
    let own = owner.is_some_and(|o| o.split('#').next() == Some(principal.to_string().as_str()));
    own || matches!(principal.kind, PrincipalKind::Human | PrincipalKind::System)
}

impl Render for Response {
    fn render(&self) -> Document {
        let document = Document::new();
        if self.cancelled {
            return document
                .note(Mark::Good, format!("cancelled {}; its worker stops at its next step", self.id));
        }
        document.note(Mark::Info, format!("{} had ended before: {}", self.id, self.state))
    }
}
