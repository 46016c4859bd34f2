//! `retention_restore`: brings back a memory that was put away.

use crate::memory::{
    forget::{Request, Response},
    restore::Restore,
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
};

/// See the module.
pub struct RetentionRestore;

impl Operation for RetentionRestore {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Admin,
        tool: "retention_restore",
        cli: &["project", "retention", "restore"],
        positional: &["id"],
        title: "Bring back what was put away",
        about: "Brings an archived memory back into force. The sum that was made of it stays.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "retention", "restore"]];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        Restore::run(engine, call, request)
    }
}
