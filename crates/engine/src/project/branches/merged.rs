//! `project_merged`: tells what became of a branch where git does not show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    archive,
    fold::{self, Folded, Target},
};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    project::storable,
    render::{Document, Mark, Render, counted},
};

/// See the module.
pub struct Merged;

/// Which branch, and what became of it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// The branch's name.
    pub branch: String,
    /// It was given up instead: its memories are archived and can be restored. Default false.
    pub abandoned: Option<bool>,
    /// Only tell what would be done. Default false.
    pub dry_run: Option<bool>,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The branch.
    pub branch: String,
    /// `folded`, `archived`, or what would have been done: `would fold`, `would archive`.
    pub outcome: &'static str,
    /// The memories, as they stand now.
    pub memories: Vec<String>,
    /// Memories that stayed: the mainline says otherwise about the same, or only a person may move them.
    #[serde(skip_serializing_if = "is_default")]
    pub left: Vec<String>,
}

impl Operation for Merged {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_merged",
        cli: &["project", "merged"],
        positional: &["branch"],
        title: "Tell that a branch was merged",
        about: "Tells that a branch was merged: its memories become those of the mainline, each as a new version that keeps its \
                history. Use it where git does not show the merge, as after a squash that changed more, or when a review asks. \
                With `abandoned` the branch was given up and its memories are archived. `project_branches` lists them.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let project = call.scope.project.as_deref().ok_or_else(no_project)?;
        let branch = storable(request.branch.trim());
        let rows = engine.read(call, |r| r.memories_of_branch(project, &branch))?;
        if rows.is_empty() {
            let hint = "`project_branches` lists the branches that memories stand on".to_owned();
            return Err(Error::NotFound { what: "memory on branch", id: branch, hint });
        }
        let abandoned = request.abandoned.unwrap_or(false);
        if request.dry_run.unwrap_or(false) {
            let outcome = if abandoned { "would archive" } else { "would fold" };
            let memories = rows.into_iter().map(|row| row.id).collect();
            return Ok(Response { branch, outcome, memories, left: Vec::new() });
        }
        let place = (project, branch.as_str());
        let (outcome, folded) = if abandoned {
            let moved = archive::archive_all(engine, call, place, "told so")?;
            ("archived", Folded { moved, left: Vec::new() })
        } else {
            let why = format!("branch `{branch}` was merged: told so");
            ("folded", fold::move_all(engine, call, place, &Target::Mainline, &why)?)
        };
        if folded.left.is_empty() {
            fold::answered(engine, call, place)?;
        }
        Ok(Response { branch, outcome, memories: folded.moved, left: folded.left })
    }
}

/// The call stands in no project.
pub(crate) fn no_project() -> Error {
    Error::argument(
        "project",
        "no project is known here",
        "start Strata inside a checkout, or pass --project",
    )
}

impl Render for Response {
    fn render(&self) -> Document {
        let what = counted(self.memories.len(), "memory");
        let document =
            Document::new().note(Mark::Good, format!("{} {what} of `{}`", self.outcome, self.branch));
        if self.left.is_empty() {
            return document;
        }
        let left = format!("left on the branch, for a person to decide: {}", self.left.join(", "));
        document.note(Mark::Warning, left)
    }
}
