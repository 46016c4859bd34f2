//! `project_branches`: the branches that memories stand on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Git, judge::short};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct List;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {}

/// The branches.
#[derive(Debug, Serialize)]
pub struct Response {
    /// The branch that memories go to now; absent on the mainline and outside a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// The commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Those that memories stand on, by name.
    pub branches: Vec<OfBranch>,
}

/// A branch.
#[derive(Debug, Serialize)]
pub struct OfBranch {
    /// Its name.
    pub branch: String,
    /// How many memories stand on it.
    pub memories: usize,
    /// `here`, `visible` from here, `apart`, or `gone` from the repository.
    pub standing: &'static str,
    /// Its latest commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// Whether a review asks what became of it.
    #[serde(skip_serializing_if = "is_default")]
    pub is_asked_about: bool,
}

impl Operation for List {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_branches",
        cli: &["project", "branches"],
        positional: &[],
        title: "List branches with memories",
        about: "Lists the branches of this project that memories stand on: how many, and whether they are seen from here. \
                Memories of a branch come to the mainline by themselves once git shows that it was merged; `project_merged` \
                tells where git does not show it.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let git = Git::of(engine, call).transpose()?;
        let here = git.as_ref().map(Git::here).transpose()?;
        let project = call.scope.project.as_deref().unwrap_or_default();
        let found = engine.read(call, |r| {
            let mut found = Vec::new();
            for branch in r.branches_of(project)? {
                let seen = r.branch_seen(project, &branch)?.unwrap_or_default();
                found.push((r.memories_of_branch(project, &branch)?.len(), branch, !seen.review.is_empty()));
            }
            Ok(found)
        })?;
        let mut branches = Vec::new();
        for (memories, branch, is_asked_about) in found {
            let tip = git.as_ref().map(|git| git.tip(&branch)).transpose()?.flatten();
            let standing = match &tip {
                _ if call.scope.branch.as_ref() == Some(&branch) => "here",
                _ if call.scope.ancestors.contains(&branch) => "visible",
                Some(_) => "apart",
                None => "gone",
            };
            let tip = tip.map(|tip| short(&tip).to_owned());
            branches.push(OfBranch { branch, memories, standing, tip, is_asked_about });
        }
        let commit = here.as_ref().and_then(|here| here.commit.as_deref());
        Ok(Response {
            commit: commit.map(|commit| short(commit).to_owned()),
            current: here.and_then(|here| here.branch),
            branches,
        })
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.branches.is_empty() {
            return Document::new().note(Mark::Info, "No memory stands on a branch.");
        }
        let columns =
            ["branch", "memories", "standing", "latest commit", "question"].map(str::to_owned).to_vec();
        let row = |b: &OfBranch| {
            let asked = if b.is_asked_about { "in the review queue" } else { "" };
            let tip = b.tip.clone().unwrap_or_default();
            vec![b.branch.clone(), b.memories.to_string(), b.standing.to_owned(), tip, asked.to_owned()]
        };
        Document::new().with(Block::Table { columns, rows: self.branches.iter().map(row).collect() })
    }
}
