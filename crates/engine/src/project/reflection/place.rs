//! Where what is written in a project belongs: its branch and its commit.

use strata_core::scope::Scope;

use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    operation::Call,
    project::storable,
    settings::project::FeatureScope,
    vcs::{MAINLINES, Repository},
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
    let repository = engine.settings().project_root.as_deref().and_then(|root| Repository::open(root).ok());
    let head = repository.as_ref().and_then(|repository| repository.head().ok());
    let mainline = repository.as_ref().and_then(|repository| repository.mainline().ok());
    let is_mainline = |name: &str| match &mainline {
        Some(mainline) => mainline.is(name),
        None => MAINLINES.contains(&name),
    };
    let (out, at) = match head {
        Some(head) => (head.branch, head.commit),
        None => (call.scope.branch.clone(), None),
    };
    let (branch, branch_scope) = match branch.or(out) {
        None => (None, "global"),
        Some(name) if is_mainline(&name) => (None, "mainline"),
        Some(_) if writes_to_all(engine) => (None, "global"),
        Some(name) => (Some(name), "current_branch"),
    };
    let scope = Scope { branch, ..call.scope.place() };
    Ok(Standing { scope, branch_scope, commit: commit.or(at) })
}

/// Whether what is learned on a branch is the whole project's at once.
fn writes_to_all(engine: &Engine) -> bool {
    engine.settings().config.project.memory.branch_scope_on_feature_work == FeatureScope::Global
}
