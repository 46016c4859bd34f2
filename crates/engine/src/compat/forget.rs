//! `knowledge_forget`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::line;
use crate::{
    engine::Engine,
    error::Error,
    memory::forget::{Forget, Request as ForgetRequest, find, is_out_of_use},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct KnowledgeForget;

/// Which fact, and why.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The fact, by its number or whole id.
    pub id: String,
    /// Why it goes; kept in its history.
    pub reason: Option<String>,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// False when there is no such fact, or it is out of use already.
    pub superseded: bool,
    /// What was asked for; its number where it is one.
    pub id: serde_json::Value,
}

impl Operation for KnowledgeForget {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Compat,
        tool: "knowledge_forget",
        cli: &["compat", "forget"],
        positional: &["id"],
        title: "Forget a fact",
        about: "Takes a fact out of use, as `forget` does, under the name and with the reply of p-layer's older server: \
                `superseded` is false when there was nothing to forget. For clients that were set up for it; others use \
                `forget`.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let asked = request.id.trim().trim_start_matches('#').to_owned();
        let id = asked.parse::<i64>().map_or_else(|_| asked.clone().into(), Into::into);
        let named = request.id.clone();
        match Forget::run(engine, call, ForgetRequest { id: request.id, reason: request.reason }) {
            Ok(done) => Ok(Response { superseded: true, id: done.number.into() }),
            Err(Error::NotFound { .. }) => Ok(Response { superseded: false, id }),
            // Not every conflict says so: a wrong passphrase is one too.
            Err(Error::Conflict { .. }) if find(engine, call, &named).is_ok_and(|m| is_out_of_use(&m)) => {
                Ok(Response { superseded: false, id })
            }
            Err(other) => Err(other),
        }
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.superseded {
            return line(format!("superseded #{}", self.id));
        }
        Document::new().note(Mark::Info, format!("entry #{} not found or already superseded", self.id))
    }
}
