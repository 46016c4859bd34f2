//! `restore_knowledge`: a file holds an earlier text again, deleted ones too. What it held becomes history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{changelog::Operation as Logged, digest::body_token},
    policy::Action,
};

use super::known;
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        l0,
        vault::{self, Change, Edited, Event, Origin},
    },
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct RestoreKnowledge;

const TOOL: &str = "restore_knowledge";

/// Which file and version.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file.
    pub filename: String,
    /// The version, as `get_knowledge_history` lists it.
    pub generation: i64,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `restored`, or `unchanged`.
    pub action: &'static str,
    /// The file.
    pub file: String,
    /// The version whose text it holds.
    pub restored_from: i64,
    /// Its version now.
    pub generation: i64,
    /// Bytes.
    pub size_bytes: u64,
    /// Whether the index of knowledge shows it.
    pub l0_synced: bool,
}

impl Operation for RestoreKnowledge {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: TOOL,
        cli: &["knowledge", "restore"],
        positional: &["filename", "generation"],
        title: "Restore a version of a file",
        about: "Brings back an earlier version of a knowledge file.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["generation"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = known(engine, call, &request.filename)?;
        let text = vault::generation_text(engine, call, &place, request.generation)?;
        let file = place.path.to_string();
        let change = Change { action: Action::Restore, origin: Origin::Restore, ..Change::new(TOOL) };
        let written = vault::edit(engine, call, &place, &change, &mut |before| {
            let operation = if before.is_some() { Logged::DomainUpdated } else { Logged::DomainCreated };
            let event =
                Event::new(operation, format!("version {} of {file} holds again", request.generation))
                    .tokens(before.map(body_token), Some(body_token(&text)))
                    .with("file", file.clone())
                    .with("restored_from", request.generation)
                    .with("before_bytes", before.map_or(0, str::len))
                    .with("after_bytes", text.len());
            Ok(Edited::Write(text.clone(), event))
        })?;
        let head = written.after.clone();
        Ok(Response {
            success: true,
            action: if written.is_changed() { "restored" } else { "unchanged" },
            restored_from: request.generation,
            generation: head.as_ref().map_or(0, |head| head.generation),
            size_bytes: head.map_or(0, |head| head.size),
            l0_synced: l0::sync_after(engine, call, &written).l0_synced,
            file,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = match self.action {
            "unchanged" => format!("{} holds that text already", self.file),
            _ => format!(
                "{} holds version {} again, as version {}",
                self.file, self.restored_from, self.generation
            ),
        };
        Document::new().note(Mark::Good, said)
    }
}
