//! `delete_todo`: takes a todo out of every list. It stays in its history and can be restored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::policy::Action;

use super::{DELETE, LAYER, find, in_one, next, revise};
use crate::{
    authority,
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Delete;

/// Which todo.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The todo.
    pub todo_id: String,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// The todo.
    pub id: String,
    /// Whether it is deleted now.
    pub deleted: bool,
}

impl Operation for Delete {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: "delete_todo",
        cli: &["todo", "delete"],
        positional: &["todo_id"],
        title: "Delete a todo",
        about: "Takes a todo out of every list; what was done or given up is better updated.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "todo_id")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        mark(engine, call, &request.todo_id, (Action::Forget, DELETE))
    }
}

/// Marks a todo as deleted, or one that is as not deleted, as the action says.
pub(super) fn mark(
    engine: &Engine,
    call: &Call<'_>,
    id: &str,
    (action, name): (Action, &'static str),
) -> Result<Response, Error> {
    let deletes = action == Action::Forget;
    let read = engine.existing_ledger()?.read(&engine.control(call), |r| Ok(find(r, call, id, !deletes)))?;
    let id = read?.origin.id;
    let actor = authority::authorise_as(engine, call, action, name, LAYER, &id)?;
    in_one(engine, call, |w| {
        let seen = find(w, call, &id, !deletes)?;
        let mut version = next(engine, w, &actor, &seen);
        version.deleted_at = deletes.then(|| w.now());
        revise(w, call, &actor, (name, ""), (&seen, &version))
    })?;
    Ok(Response { success: true, id, deleted: deletes })
}

impl Render for Response {
    fn render(&self) -> Document {
        let id = &self.id;
        let text = if self.deleted {
            format!("deleted todo {id}; `strata todo restore {id}` brings it back")
        } else {
            format!("restored todo {id}")
        };
        Document::new().note(Mark::Good, text)
    }
}
