//! `move_section`: a section to another place in its file, or to another file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{changelog::Operation as Logged, digest::body_token},
    markdown::{Outline, edit, edit::Place as Spot},
    policy::Action,
};

use super::{change_one, event, existing, not_possible, position, synced};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault::{self, Change, Edited, Place, Written},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct MoveSection;

const TOOL: &str = "move_section";

/// Which section, and where to.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The file.
    pub domain: String,
    /// Its heading.
    pub section: String,
    /// The file it goes to; made when there is none. Default: its own.
    pub to_domain: Option<String>,
    /// The heading it goes before. Default: the end.
    pub before: Option<String>,
    /// Which of several with this heading, from 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub ordinal: Option<u32>,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// `moved`, or `unchanged`.
    pub action: &'static str,
    /// The file it was in.
    pub from_file: String,
    /// The file it is in.
    pub file: String,
    /// The heading.
    pub section: String,
    /// Whether the index of knowledge shows it.
    pub l0_synced: bool,
}

impl Operation for MoveSection {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: TOOL,
        cli: &["knowledge", "move-section"],
        positional: &["domain", "section", "to_domain"],
        title: "Move a section",
        about: "Moves a section to another place or file.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const EXPLAINED: &'static [&'static str] = &["to_domain", "ordinal"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let from = existing(engine, call, &request.domain)?;
        let into = match &request.to_domain {
            Some(domain) => vault::locate(engine, call, "to_domain", domain)?,
            None => from.clone(),
        };
        let is_same = (&from.namespace, &from.path) == (&into.namespace, &into.path);
        let (heading, written) = if is_same {
            within(engine, call, &from, &request)?
        } else {
            between(engine, call, &[from.clone(), into.clone()], &request)?
        };
        Ok(Response {
            success: true,
            action: if written.iter().any(Written::is_changed) { "moved" } else { "unchanged" },
            from_file: from.path.to_string(),
            file: into.path.to_string(),
            section: heading,
            l0_synced: synced(engine, call, &written),
        })
    }
}

/// Where a section goes in a file.
fn spot(outline: &Outline<'_>, before: Option<&str>) -> Result<Spot, Error> {
    match before {
        Some(heading) => Ok(Spot::Before(position(outline.entries(), heading, None)?)),
        None => Ok(Spot::Last),
    }
}

fn within(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    request: &Request,
) -> Result<(String, Vec<Written>), Error> {
    let mut heading = String::new();
    let written = change_one(engine, call, place, (TOOL, Action::Update), &mut |outline| {
        let at = position(outline.entries(), &request.section, request.ordinal)?;
        let spot = spot(outline, request.before.as_deref())?;
        outline.entries()[at].heading.clone_into(&mut heading);
        let edited = edit::move_within(outline.text(), at, spot).map_err(|error| not_possible(&error))?;
        let token = body_token(outline.body(at));
        let event =
            event(Logged::SectionUpdated, format!("`{heading}` stands elsewhere in its file"), &heading);
        Ok((edited, event.tokens(Some(token.clone()), Some(token))))
    })?;
    Ok((heading, vec![written]))
}

fn between(
    engine: &Engine,
    call: &Call<'_>,
    places: &[Place; 2],
    request: &Request,
) -> Result<(String, Vec<Written>), Error> {
    let mut moved = String::new();
    let [from, into] = places;
    let names = (from.path.to_string(), into.path.to_string());
    let written = vault::edit_all(engine, call, places, &Change::new(TOOL), &mut |texts| {
        let source = texts.first().copied().flatten().ok_or_else(|| from.no_file())?;
        let target = texts.get(1).copied().flatten();
        let new_file = format!("# {}\n", into.domain());
        let outline = Outline::parse(source);
        let at = position(outline.entries(), &request.section, request.ordinal)?;
        outline.entries()[at].heading.clone_into(&mut moved);
        let there = Outline::parse(target.unwrap_or(&new_file));
        if there.find(&moved, None).is_some() {
            return Err(Error::Conflict {
                message: format!("{} has a section `{moved}` already", names.1),
                hint: "merge the two with `inject_knowledge`, or rename one first".into(),
            });
        }
        let spot = spot(&there, request.before.as_deref())?;
        let (rest, added) =
            edit::move_between(source, at, there.text(), spot).map_err(|error| not_possible(&error))?;
        let token = body_token(outline.body(at));
        let left = event(Logged::SectionDeleted, format!("`{moved}` went to {}", names.1), &moved)
            .tokens(Some(token.clone()), None)
            .with("file", names.0.clone());
        let made = if target.is_some() { Logged::SectionCreated } else { Logged::DomainCreated };
        let came = event(made, format!("`{moved}` came from {}", names.0), &moved)
            .tokens(None, Some(token))
            .with("file", names.1.clone());
        Ok(vec![Edited::Write(rest, left), Edited::Write(added, came)])
    })?;
    Ok((moved, written))
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = if self.action == "unchanged" {
            format!("`{}` stands there already", self.section)
        } else {
            format!("moved `{}` from {} to {}", self.section, self.from_file, self.file)
        };
        Document::new().note(Mark::Good, said)
    }
}
