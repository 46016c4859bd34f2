//! `restore_todo`: brings a deleted todo back as it was.

use strata_core::policy::Action;

use super::{
    RESTORE,
    delete::{Request, Response, mark},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
};

/// See the module.
pub struct Restore;

impl Operation for Restore {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "restore_todo",
        cli: &["todo", "restore"],
        positional: &["todo_id"],
        title: "Restore a todo",
        about: "Brings a deleted todo back as it was. `strata todo list deleted` shows what there is. Deleted todos stay \
                restorable until somebody purges them.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "todo_id")];

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        mark(engine, call, &request.todo_id, (Action::Restore, RESTORE))
    }
}
