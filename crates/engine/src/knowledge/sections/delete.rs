//! `delete_section`: a section goes; the file's history keeps its text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{changelog::Operation as Logged, digest::body_token},
    markdown::edit,
    policy::Action,
};

use super::{change_one, event, existing, not_possible, position, still_holds, synced};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct DeleteSection;

const TOOL: &str = "delete_section";

/// Which section.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file.
    pub domain: String,
    /// Its heading.
    pub section: String,
    /// Which of several with this heading, from 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub ordinal: Option<u32>,
    /// The `hash` it had when it was read.
    pub expected_hash: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `section_deleted`.
    pub action: &'static str,
    /// The file.
    pub file: String,
    /// The heading.
    pub section: String,
    /// Bytes of the text that is gone.
    pub deleted_bytes: usize,
    /// The generation that still has it.
    pub backup: String,
    /// Whether the index of knowledge shows it.
    pub l0_synced: bool,
}

impl Operation for DeleteSection {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: TOOL,
        cli: &["knowledge", "delete-section"],
        positional: &["domain", "section"],
        title: "Delete a section",
        about: "Deletes a section. The file's history keeps the text.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["ordinal", "expected_hash"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let place = existing(engine, call, &request.domain)?;
        let reason = request.reason.as_deref().unwrap_or_default();
        let (mut heading, mut bytes) = (String::new(), 0);
        let written = change_one(engine, call, &place, (TOOL, Action::Forget), &mut |outline| {
            let at = position(outline.entries(), &request.section, request.ordinal)?;
            let body = outline.body(at);
            still_holds(body, request.expected_hash.as_deref())?;
            outline.entries()[at].heading.clone_into(&mut heading);
            bytes = body.len();
            let edited = edit::delete(outline.text(), at).map_err(|error| not_possible(&error))?;
            let event = event(Logged::SectionDeleted, format!("`{heading}` was deleted"), &heading);
            Ok((edited, event.because(reason).tokens(Some(body_token(body)), None)))
        })?;
        let file = place.path.to_string();
        let generation = written.before.as_ref().map_or(0, |before| before.generation);
        Ok(Response {
            success: true,
            action: "section_deleted",
            section: heading,
            deleted_bytes: bytes,
            backup: format!("{file}@{generation}"),
            l0_synced: synced(engine, call, &[written]),
            file,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = format!("deleted `{}` from {}; {} has it", self.section, self.file, self.backup);
        Document::new().note(Mark::Good, said)
    }
}
