//! `project_alias`: a further name for a project, or one less.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::ledger::NewAudit;

use super::{FOR_PEOPLE, key_of, people_only, prints};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    project::{self, storable},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct Alias;

/// The longest name, in characters.
const MAX_NAME: usize = 128;

/// The name.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// The name: a word for `--project`, or the directory of a checkout that was not recognised.
    pub name: String,
    /// The project, by its key or a name it has. The one at hand by default.
    pub of: Option<String>,
    /// Take the name away instead.
    #[serde(default)]
    pub remove: bool,
}

/// What the name is now.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The name, as it is kept.
    pub name: String,
    /// The project's key.
    pub project: String,
    /// Whether it names the project now.
    pub holds: bool,
    /// Whether anything changed.
    pub changed: bool,
}

impl Operation for Alias {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_alias",
        cli: &["project", "alias"],
        positional: &["name", "of"],
        title: "Name a project",
        about: "Gives a project a further name, by which `--project` finds it, or says that the directory of a checkout is that \
                project. With `remove` the name is taken away. No memory changes.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        people_only(engine, call, Self::SPEC.tool, FOR_PEOPLE)?;
        let name = name(&request.name)?;
        let ledger = engine.ledger(call)?;
        let (held, project) = ledger.read(&engine.control(call), |r| {
            let project = match &request.of {
                Some(of) => r.project_key(&storable(of))?,
                None => call.scope.project.clone(),
            };
            Ok((r.project_key(&name)?, project))
        })?;
        if request.remove {
            return remove(engine, call, name, held);
        }
        let project = key_of(project, request.of.as_deref())?;
        if held.as_ref() == Some(&name) && name != project {
            return Err(Error::Conflict {
                message: format!("`{name}` is a project of its own"),
                hint: format!("`strata project merge {name} {project}` makes one of both"),
            });
        }
        let changed = held.as_ref() != Some(&project);
        if changed {
            ledger.write(&engine.control(call), engine.clock().now(), |w| {
                let row = NewAudit {
                    reason: &name,
                    ..NewAudit::new(call.principal, call.face, Self::SPEC.tool, &project)
                };
                w.record(&row)?;
                w.alias_project(&name, &project)
            })?;
        }
        Ok(Response { name, project, holds: true, changed })
    }
}

fn remove(engine: &Engine, call: &Call<'_>, name: String, held: Option<String>) -> Result<Response, Error> {
    let Some(project) = held.filter(|project| *project != name) else {
        let hint = "`strata project list` shows every name; a key is no name that can be taken away";
        return Err(Error::NotFound { what: "further name of a project", id: name, hint: hint.into() });
    };
    engine.ledger(call)?.write(&engine.control(call), engine.clock().now(), |w| {
        w.record(&NewAudit {
            reason: &name,
            ..NewAudit::new(call.principal, call.face, "project_unalias", &project)
        })?;
        w.drop_project_alias(&name)
    })?;
    Ok(Response { name, project, holds: false, changed: true })
}

/// The name as it is kept: a directory is what its path is, all else a word.
fn name(given: &str) -> Result<String, Error> {
    let mut gate = Gate::default();
    let given = gate.field("name", Some(given))?.unwrap_or_default();
    let is_directory = matches!(given.as_str(), "." | "..") || given.contains(std::path::is_separator);
    if is_directory {
        let found = project::at(given.as_ref());
        let found = found
            .ok_or_else(|| Error::argument("name", "there is no such directory", "name one that is there"))?;
        return Ok(prints::Prints::of(&found).path);
    }
    let is_made = [prints::COMMIT, prints::REMOTE, prints::PATH].iter().any(|sort| given.starts_with(sort));
    if given.is_empty()
        || given.chars().count() > MAX_NAME
        || (!is_made && given.contains(char::is_whitespace))
    {
        return Err(Error::argument(
            "name",
            "is no name of a project",
            "write one word of at most 128 characters, or a directory",
        ));
    }
    Ok(storable(&given))
}

impl Render for Response {
    fn render(&self) -> Document {
        let said = match (self.holds, self.changed) {
            (true, true) => format!("`{}` names the project {}.", self.name, self.project),
            (true, false) => format!("`{}` names the project {} already.", self.name, self.project),
            (false, _) => format!("`{}` no longer names the project {}.", self.name, self.project),
        };
        Document::new().note(Mark::Good, said)
    }
}
