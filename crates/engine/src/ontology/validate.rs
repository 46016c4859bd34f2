//! `gate validate`: whether every line of the ontology is an entry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{desk::Desk, entry};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct Validate;

/// Nothing to say.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// What was found.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Whether every line is an entry.
    pub ok: bool,
    /// What is wrong, each with its line.
    pub errors: Vec<String>,
    /// Lines that are not blank.
    pub count: usize,
}

impl Operation for Validate {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "gate_validate",
        cli: &["gate", "validate"],
        positional: &[],
        title: "Check the ontology",
        about: "Reads the ontology's file and lists every line that is not an entry, with its number: broken JSON, missing \
                fields, types that do not exist, ids that occur twice. Use it before and after a change by hand. It changes \
                nothing.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _: Request) -> Result<Response, Error> {
        let desk = Desk::new(engine, call);
        let Some(text) = desk.read_ontology()? else {
            let missing = format!("ontology file missing: {}", desk.ontology.display());
            return Ok(Response { ok: false, errors: vec![missing], count: 0 });
        };
        let reading = entry::read(&text);
        Ok(Response { ok: reading.errors.is_empty(), errors: reading.errors, count: reading.count })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let head = match self.ok {
            true => {
                Document::new().note(Mark::Good, format!("{}, all well formed", counted(self.count, "entry")))
            }
            // No file is no entries, not bad ones.
            false if self.count == 0 => Document::new(),
            false => Document::new()
                .note(Mark::Bad, format!("{}, not all well formed", counted(self.count, "entry"))),
        };
        let document =
            self.errors.iter().fold(head, |document, error| document.note(Mark::Bad, error.clone()));
        match self.ok || self.count > 0 {
            true => document,
            false => document.note(Mark::Info, "the first proposal that is applied makes it: `gate_propose`"),
        }
    }

    fn is_alarming(&self) -> bool {
        !self.ok
    }
}
