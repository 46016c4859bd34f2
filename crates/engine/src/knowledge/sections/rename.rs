//! `rename_section`: another heading over the same text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{changelog::Operation as Logged, digest::body_token},
    markdown::edit,
    policy::Action,
};

use super::{change_one, event, existing, heading, not_possible, position, synced};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct RenameSection;

const TOOL: &str = "rename_section";

/// Which section, and its heading from now on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file.
    pub domain: String,
    /// Its heading.
    pub section: String,
    /// The heading it gets.
    pub new_section: String,
    /// Which of several with this heading, from 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub ordinal: Option<u32>,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `renamed`, or `unchanged`.
    pub action: &'static str,
    /// The file.
    pub file: String,
    /// The heading before.
    pub old_section: String,
    /// The heading now.
    pub section: String,
    /// Whether the index of knowledge shows it.
    pub l0_synced: bool,
    /// Families of secrets that were blacked out before the heading was stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
}

impl Operation for RenameSection {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: TOOL,
        cli: &["knowledge", "rename-section"],
        positional: &["domain", "section", "new_section"],
        title: "Rename a section",
        about: "Gives a section another heading.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["ordinal"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let mut gate = Gate::default();
        let new = heading(&mut gate, "new_section", &request.new_section)?;
        let place = existing(engine, call, &request.domain)?;
        let mut old = String::new();
        let written = change_one(engine, call, &place, (TOOL, Action::Update), &mut |outline| {
            let at = position(outline.entries(), &request.section, request.ordinal)?;
            outline.entries()[at].heading.clone_into(&mut old);
            let others = outline.find(new.as_str(), None);
            if others.is_some_and(|other| other != at) {
                return Err(Error::Conflict {
                    message: format!("the file has a section `{}` already", new.as_str()),
                    hint: "merge the two with `inject_knowledge`, or choose another heading".into(),
                });
            }
            let edited = edit::rename(outline.text(), at, &new).map_err(|error| not_possible(&error))?;
            let token = body_token(outline.body(at));
            let summary = format!("`{old}` is now `{}`", new.as_str());
            let event = event(Logged::SectionRenamed, summary, new.as_str());
            Ok((edited, event.tokens(Some(token.clone()), Some(token)).with("old_section", old.clone())))
        })?;
        Ok(Response {
            success: true,
            action: if written.is_changed() { "renamed" } else { "unchanged" },
            file: place.path.to_string(),
            old_section: old,
            section: new.as_str().to_owned(),
            l0_synced: synced(engine, call, &[written]),
            redacted: gate.redacted,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = format!("{} `{}` to `{}` in {}", self.action, self.old_section, self.section, self.file);
        Document::new().note(Mark::Good, said).note_redacted(&self.redacted)
    }
}
