//! `project_branches`: the branches that memories stand on, and those whose memories were archived.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_store::ledger::ArchivedOnBranch;

use super::{Git, archive::ABANDONED, judge::short};
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset, is_default},
    project::reflection::retention::run::ARCHIVE,
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
    /// Those that memories stand on, or stood on when they were archived, by name.
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
    /// How many of its memories were archived because it was given up, or with time.
    #[serde(skip_serializing_if = "is_default")]
    pub archived: usize,
    /// Their ids, the latest first, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub archived_ids: Vec<String>,
    /// Why the latest of them was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived_because: Option<String>,
}

/// Ids of archived memories that are told of a branch.
const LISTED: usize = 20;
/// Those of them that people are shown.
const SHOWN: usize = 5;

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
                tells where git does not show it. Those of a branch that was deleted are archived: how many, and their ids, \
                by which a person restores them.",
        effect: Effect::Read,
        audience: Audience::Everyone,
    };
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let git = Git::of(engine, call).transpose()?;
        let here = git.as_ref().map(Git::here).transpose()?;
        let project = call.scope.project.as_deref().unwrap_or_default();
        let branches = stored(engine, call, project)?
            .into_values()
            .map(|branch| branch.standing(call, git.as_ref()))
            .collect::<Result<_, _>>()?;
        let commit = here.as_ref().and_then(|here| here.commit.as_deref());
        Ok(Response {
            commit: commit.map(|commit| short(commit).to_owned()),
            current: here.and_then(|here| here.branch),
            branches,
        })
    }
}

/// The branches by name, as far as the ledger knows them.
fn stored(engine: &Engine, call: &Call<'_>, project: &str) -> Result<BTreeMap<String, OfBranch>, Error> {
    engine.read(call, |r| {
        let mut found: BTreeMap<String, OfBranch> = BTreeMap::new();
        for branch in r.branches_of(project)? {
            let asked = r.branch_seen(project, &branch)?.is_some_and(|seen| !seen.review.is_empty());
            let known = found.entry(branch.clone()).or_insert_with(|| OfBranch::new(&branch));
            known.memories = r.memories_of_branch(project, &branch)?.len();
            known.is_asked_about = asked;
        }
        for archived in r.archived_on_branches(project, [ABANDONED, ARCHIVE])? {
            let branch = archived.branch.clone();
            found.entry(branch).or_insert_with(|| OfBranch::new(&archived.branch)).add(archived);
        }
        Ok(found)
    })
}

impl OfBranch {
    fn new(branch: &str) -> Self {
        Self {
            branch: branch.to_owned(),
            memories: 0,
            standing: "gone",
            tip: None,
            is_asked_about: false,
            archived: 0,
            archived_ids: Vec::new(),
            archived_because: None,
        }
    }

    fn add(&mut self, archived: ArchivedOnBranch) {
        self.archived += 1;
        if self.archived_ids.len() < LISTED {
            self.archived_ids.push(archived.id);
        }
        self.archived_because.get_or_insert(archived.reason);
    }

    /// The same with where it is now.
    fn standing(self, call: &Call<'_>, git: Option<&Git>) -> Result<Self, Error> {
        let tip = git.map(|git| git.tip(&self.branch)).transpose()?.flatten();
        let standing = match &tip {
            _ if call.scope.branch.as_ref() == Some(&self.branch) => "here",
            _ if call.scope.ancestors.contains(&self.branch) => "visible",
            Some(_) => "apart",
            None => "gone",
        };
        Ok(Self { standing, tip: tip.map(|tip| short(&tip).to_owned()), ..self })
    }

    /// What people do to have archived memories again.
    fn way_back(&self) -> Option<String> {
        let shown = &self.archived_ids[..self.archived_ids.len().min(SHOWN)];
        let first = shown.first()?;
        let more = match self.archived - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "archived on `{}`: {}{more} ({}). `strata restore {first}` brings one back to the branch; `strata project \
             promote-to-mainline {first} --confirm` then makes it the project's",
            self.branch,
            shown.join(", "),
            self.archived_because.as_deref().unwrap_or_default(),
        ))
    }
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.branches.is_empty() {
            return Document::new().note(Mark::Info, "No memory stands on a branch.");
        }
        let columns = ["branch", "memories", "archived", "standing", "latest commit", "question"];
        let row = |b: &OfBranch| {
            let asked = if b.is_asked_about { "in the review queue" } else { "" };
            let (memories, archived) = (b.memories.to_string(), b.archived.to_string());
            let tip = b.tip.clone().unwrap_or_default();
            vec![b.branch.clone(), memories, archived, b.standing.to_owned(), tip, asked.to_owned()]
        };
        let columns = columns.map(str::to_owned).to_vec();
        let table = Block::Table { columns, rows: self.branches.iter().map(row).collect() };
        let ways_back = self.branches.iter().filter_map(OfBranch::way_back);
        ways_back.fold(Document::new().with(table), |document, way| document.note(Mark::Info, way))
    }
}
