//! `promote_to_mainline`: one memory of a branch is made the project's by hand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fold::{self, Target};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    memory::{forget::find, update::must_stand},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};
use strata_core::{memory::Relation, policy::Action};
use strata_store::ledger::{MemoryRelation, MemoryRow, NewAudit};

/// See the module.
pub struct PromoteToMainline;

/// Which memory.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The memory, by its whole id or #number.
    pub id: String,
    /// Send true to do it. Without it nothing changes, and the reply says what would, unless the configuration asks for no confirmation.
    pub confirm: Option<bool>,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// `promoted`, or `needs_confirmation`.
    pub status: &'static str,
    /// The id that stands for it now.
    pub id: String,
    /// The id it has, or had, on the branch.
    pub previous: String,
    /// The branch.
    pub branch: String,
}

impl Operation for PromoteToMainline {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "promote_to_mainline",
        cli: &["project", "promote-to-mainline"],
        positional: &["id"],
        title: "Make a branch's memory the project's",
        about: "Makes one memory of a branch hold on the mainline, and so in the whole project, before the branch is merged. \
                Without `confirm` it only tells what would change. Use it for what is true whatever becomes of the branch; \
                what depends on its code comes along by itself when it is merged.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let row = find(engine, call, &request.id)?;
        must_stand(&row)?;
        let Some(branch) = row.scope.branch.clone() else {
            return Err(Error::Conflict {
                message: format!("memory {} stands on no branch", row.id),
                hint: "it holds in the whole project already".into(),
            });
        };
        let asks = engine.settings().config.project.memory.mainline_promotion_requires_confirmation;
        if asks && !request.confirm.unwrap_or(false) {
            let (id, previous) = (row.id.clone(), row.id);
            return Ok(Response { status: "needs_confirmation", id, previous, branch });
        }
        authority::authorise(engine, call, Action::Update, row.state.layer, &row.id)?;
        let why = format!("promoted from branch `{branch}` by hand");
        let id = fold::move_one(engine, call, &row, &Target::Mainline, &why)?;
        relate(engine, call, &row, &id)?;
        Ok(Response { status: "promoted", id, previous: row.id, branch })
    }
}

/// Puts down that the memory of the branch is that of the mainline now.
fn relate(engine: &Engine, call: &Call<'_>, row: &MemoryRow, id: &str) -> Result<(), Error> {
    let at = engine.clock().now();
    engine.ledger(call)?.write(&engine.control(call), at, |w| {
        let Some(target) = w.memory(id)?.map(|memory| memory.number) else { return Ok(()) };
        let relation = Relation::PromotedToMainline;
        let audit = NewAudit {
            layer: Some(row.state.layer),
            reason: relation.as_str(),
            ..NewAudit::new(call.principal, call.face, "relate", &row.id)
        };
        let seq = w.record(&audit)?;
        w.relate_memories(&[MemoryRelation { source: row.number, relation, target, at }], seq)
    })?;
    Ok(())
}

impl Render for Response {
    fn render(&self) -> Document {
        match self.status {
            "promoted" => Document::new().note(
                Mark::Good,
                format!("{} of `{}` holds on the mainline as {}", self.previous, self.branch, self.id),
            ),
            _ => Document::new().note(
                Mark::Warning,
                format!(
                    "nothing changed: `confirm` makes {} of `{}` hold on the mainline",
                    self.id, self.branch
                ),
            ),
        }
    }
}
