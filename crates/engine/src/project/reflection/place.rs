//! Where what is written in a project belongs: its branch and its commit.

use strata_core::scope::Scope;

use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::Call,
    project::{
        branches::{self, Git},
        storable,
    },
    vcs::{Fault, MAINLINES},
};

/// The place of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Where it holds: the project or, on a branch that is no mainline, that branch of it.
    pub scope: Scope,
    /// How it follows branches.
    pub branch_scope: &'static str,
    /// The commit it is written at.
    pub commit: Option<String>,
}

impl Standing {
    /// Where whoever reads what is written there stands: on the caller's own branch it sees those that it descends from.
    pub fn reader(&self, call: &Call<'_>) -> Scope {
        let own = self.scope.branch.is_some() && self.scope.branch == call.scope.branch;
        let ancestors = if own { call.scope.ancestors.clone() } else { Vec::new() };
        Scope { ancestors, ..self.scope.clone() }
    }
}

/// The place of a write by this caller. `branch` and `commit` win over what is checked out, and that over where the
/// caller stands: the branch may have been changed since.
///
/// # Errors
/// `Argument` when no project is known, or the names are too long.
pub fn standing(
    engine: &Engine,
    call: &Call<'_>,
    branch: Option<&str>,
    commit: Option<&str>,
) -> Result<Standing, Error> {
    if call.scope.project.is_none() {
        return Err(Error::argument(
            "project",
            "is not known here",
            "start Strata inside a repository, or pass --project",
        ));
    }
    let mut gate = Gate::default();
    let branch = gate.field("current_branch", branch)?.map(|name| storable(&name));
    let commit = gate.field("head_commit", commit)?;
    let git = Git::of(engine, call);
    let here = git.as_ref().map(|git| git.as_ref().map_err(|fault| *fault).and_then(Git::here));
    // What stands on a branch that nobody can follow would never come to the mainline.
    let is_unreadable = matches!(here, Some(Err(Fault::Elsewhere | Fault::Broken(_))));
    let (git, here) = (git.and_then(Result::ok), here.and_then(Result::ok));
    let is_mainline = |name: &str| match &git {
        Some(git) => git.mainline.is(name),
        None => MAINLINES.contains(&name),
    };
    let is_on_mainline = here.as_ref().is_some_and(|here| here.branch.is_none());
    let (out, at) = match here {
        Some(here) => (here.branch, here.commit),
        None => (call.scope.branch.clone().filter(|_| !is_unreadable), None),
    };
    let (branch, branch_scope) = match branch.or(out) {
        None if is_on_mainline => (None, branches::MAINLINE),
        None => (None, branches::GLOBAL),
        Some(name) if is_mainline(&name) => (None, branches::MAINLINE),
        Some(_) if branches::writes_to_all(engine) => (None, branches::GLOBAL),
        Some(name) => (Some(name), branches::CURRENT_BRANCH),
    };
    if let (Some(git), Some(branch)) = (&git, &branch) {
        branches::note(engine, call, git, branch);
    }
    let scope = Scope { branch, ..call.scope.place() };
    Ok(Standing { scope, branch_scope, commit: commit.or(at) })
}
