//! Memories on branches: what a reader sees, and how those of a merged branch become the project's.
//!
//! A memory that is learned on a branch stands on it until the branch ends up on the mainline. A reader sees what stands
//! on the own branch, on those that it descends from, and in the whole project. Both follow from the repository as it is
//! now: it is looked at again whenever it, or the memory, has changed.

mod archive;
mod fold;
mod judge;
pub mod list;
pub mod merged;
pub mod promote;

pub(crate) use fold::{BRANCH, close_if_left_by_all, merged_at};
pub(crate) use merged::no_project;

use std::{
    borrow::Cow,
    collections::HashSet,
    path::Path,
    sync::{Mutex, PoisonError},
};

use strata_core::{memory::Layer, scope::Scope};
use strata_store::ledger::BranchSeen;

use crate::{
    engine::Engine,
    error::Error,
    memory::{
        draft::{Placing, placed},
        remember::ScopeName,
    },
    operation::Call,
    settings::project::FeatureScope,
    vcs::{self, Fault, Mainline, Range, Repository},
};

/// Commits between the mainline and a branch that are looked at for the branches it descends from.
const MAX_OWN: usize = 5_000;

/// What the name of a commit begins with that is checked out without a branch, as a place that memories stand on.
const DETACHED: &str = "detached-";

/// How a memory follows branches: it stands on the branch that it was learned on.
pub const CURRENT_BRANCH: &str = "current_branch";
/// The same: it holds on the mainline, and so on every branch that has it.
pub const MAINLINE: &str = "mainline";
/// The same: it holds in the whole project, whatever is checked out.
pub const GLOBAL: &str = "global";

/// What a look at the repository found, kept until it or the memory changes.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Option<(Key, Scope)>>);

/// What an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    stamp: [u8; 32],
    seq: i64,
    asked: Scope,
}

/// What is checked out, as memories see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Here {
    /// The branch that memories stand on; `None` on the mainline.
    pub branch: Option<String>,
    /// The commit.
    pub commit: Option<String>,
}

/// A repository and its mainline.
pub(crate) struct Git {
    pub(crate) repository: Repository,
    pub(crate) mainline: Mainline,
}

impl Git {
    /// The repository around a project.
    pub(crate) fn open(root: &Path) -> Result<Self, Fault> {
        let repository = Repository::open(root)?;
        let mainline = repository.mainline()?;
        Ok(Self { repository, mainline })
    }

    /// That of the caller's project; `None` where the call is not about the project that was opened.
    pub(crate) fn of(engine: &Engine, call: &Call<'_>) -> Option<Result<Self, Fault>> {
        call.scope.project.as_ref()?;
        engine.settings().project_root.as_deref().map(Self::open)
    }

    /// What is checked out. A commit that is checked out alone stands for the one branch that ends there; if there is
    /// none, or several, it is a place of its own, unless it is on the mainline.
    pub(crate) fn here(&self) -> Result<Here, Fault> {
        let head = self.repository.head()?;
        let branch = match (head.branch, &head.commit) {
            (Some(branch), _) => Some(branch).filter(|branch| !self.mainline.is(branch)),
            (None, Some(commit)) if !self.has(commit) => Some(self.place_of(commit)?),
            (None, _) => None,
        };
        Ok(Here { branch, commit: head.commit })
    }

    fn place_of(&self, commit: &str) -> Result<String, Fault> {
        let ending = self.repository.branches()?.into_iter().filter(|b| b.tip == commit);
        let mut names = ending.map(|branch| branch.name).filter(|name| !self.mainline.is(name));
        match (names.next(), names.next()) {
            (Some(name), None) => Ok(name),
            _ => Ok(format!("{DETACHED}{}", commit.get(..12).unwrap_or(commit))),
        }
    }

    /// Whether the mainline has a commit.
    pub(crate) fn has(&self, commit: &str) -> bool {
        let tips = self.mainline.tips.iter();
        tips.into_iter().any(|tip| self.repository.is_ancestor(commit, tip).unwrap_or(false))
    }

    /// A branch's latest commit; that of a detached place is in its name.
    pub(crate) fn tip(&self, branch: &str) -> Result<Option<String>, Fault> {
        match branch.strip_prefix(DETACHED) {
            Some(commit) => Ok(self.repository.resolve(commit).ok()),
            None => self.repository.branch_tip(branch),
        }
    }
}

/// Where the caller stands, with the branches that are part of what is checked out. Branches that were merged since the
/// last look are folded into the mainline first. What the repository does not tell changes nothing.
pub(crate) fn standing<'c>(engine: &Engine, call: &Call<'c>) -> Cow<'c, Scope> {
    look(engine, call).map_or(Cow::Borrowed(call.scope), Cow::Owned)
}

fn look(engine: &Engine, call: &Call<'_>) -> Option<Scope> {
    let project = call.scope.project.as_deref()?;
    let root = engine.settings().project_root.as_deref()?;
    if !call.scope.ancestors.is_empty() || !engine.is_initialised().ok()? {
        return None;
    }
    let stamp = vcs::stamp(root)?;
    let ledger = engine.existing_ledger().ok()?;
    let seq = || ledger.read(&engine.control(call), |r| Ok(r.head()?.seq)).ok();
    let key = Key { stamp, seq: seq()?, asked: call.scope.clone() };
    let kept = engine.branches().0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some((_, scope)) = kept.filter(|(of, _)| *of == key) {
        return Some(scope);
    }
    let stored = || ledger.read(&engine.control(call), |r| r.branches_of(project)).ok();
    let mut is_whole = true;
    let scope = match stored()? {
        none if none.is_empty() => call.scope.clone(),
        branches => {
            let git = Git::open(root).ok()?;
            is_whole = fold::follow(engine, call, &git, project, &branches);
            seen(&git, call.scope, &stored()?, Reach::of(engine)).ok()?
        }
    };
    if is_whole {
        let key = Key { seq: seq()?, ..key };
        *engine.branches().0.lock().unwrap_or_else(PoisonError::into_inner) = Some((key, scope.clone()));
    }
    Some(scope)
}

/// How far a reader sees beyond the own branch and the mainline.
#[derive(Clone, Copy)]
struct Reach {
    /// To the branches that its own was made from.
    ancestors: bool,
    /// To those that are gone from the repository.
    gone: bool,
}

impl Reach {
    fn of(engine: &Engine) -> Self {
        let settings = &engine.settings().config.project.retrieval;
        Self {
            ancestors: settings.include_ancestor_branch_memory,
            gone: settings.include_historical_branch_memory_by_default,
        }
    }
}

/// What a reader at what is checked out sees of the `stored` branches.
fn seen(git: &Git, standing: &Scope, stored: &[String], reach: Reach) -> Result<Scope, Fault> {
    let here = git.here()?;
    let mut scope = standing.place();
    if here.branch.is_some() {
        scope.branch.clone_from(&here.branch);
    }
    let others: Vec<&String> = stored.iter().filter(|name| Some(*name) != scope.branch.as_ref()).collect();
    let (lines, others): (Vec<&String>, Vec<&String>) = others.into_iter().partition(|b| git.mainline.is(b));
    scope.ancestors.extend(lines.into_iter().cloned());
    let commit = here.commit.filter(|_| here.branch.is_some() && reach.ancestors);
    if others.is_empty() || (commit.is_none() && !reach.gone) {
        return Ok(scope);
    }
    let own = match &commit {
        Some(commit) => git.repository.commit_ids(Range {
            after: &git.mainline.tips,
            up_to: std::slice::from_ref(commit),
            limit: MAX_OWN,
            first_parents: false,
        })?,
        None => HashSet::new(),
    };
    for name in others {
        let is_seen = match git.tip(name)? {
            Some(tip) => own.contains(&tip),
            None => reach.gone,
        };
        if is_seen {
            scope.ancestors.push(name.clone());
        }
    }
    Ok(scope)
}

/// Where something that is learned here goes, and how it follows branches: to the branch that is checked out, unless
/// that is the mainline or `wanted` says otherwise. What is noted of the branch lets a later look tell whether it was merged.
///
/// # Errors
/// `wanted` names what is not there.
pub(crate) fn place(
    engine: &Engine,
    call: &Call<'_>,
    wanted: Option<ScopeName>,
) -> Result<(Scope, Placing), Error> {
    let scope = placed(call.scope, wanted);
    let here = match Git::of(engine, call) {
        Some(Ok(git)) if wanted != Some(ScopeName::User) => git.here().ok().map(|here| (git, here)),
        _ => None,
    };
    let Some((git, here)) = here else { return Ok((scope?, Placing::default())) };
    let placing = |branch_scope: &str| Placing {
        branch_scope: branch_scope.to_owned(),
        commit: here.commit.clone(),
        ..Placing::default()
    };
    match (&here.branch, wanted) {
        (None, _) => Ok((call.scope.whole_project(), placing(MAINLINE))),
        (Some(_), Some(ScopeName::Project)) => Ok((scope?, placing(GLOBAL))),
        (Some(_), None) if writes_to_all(engine) => Ok((call.scope.whole_project(), placing(GLOBAL))),
        (Some(branch), _) => {
            note(engine, call, &git, branch);
            Ok((
                Scope { branch: Some(branch.clone()), ..call.scope.whole_project() },
                placing(CURRENT_BRANCH),
            ))
        }
    }
}

/// Whether the configuration gives what is learned on a branch to the whole project at once.
pub(crate) fn writes_to_all(engine: &Engine) -> bool {
    engine.settings().config.project.memory.branch_scope_on_feature_work == FeatureScope::Global
}

/// Whether what is learned in a layer stands on the branch that it was learned on: rules and identity are of no branch.
pub(crate) const fn follows_branches(layer: Layer) -> bool {
    !matches!(layer, Layer::P0 | Layer::P1)
}

/// Notes where a branch is that something is about to stand on. A failure costs a later look its surety, no more.
pub(crate) fn note(engine: &Engine, call: &Call<'_>, git: &Git, branch: &str) {
    let Some(project) = call.scope.project.as_deref() else { return };
    let noted = || -> Result<(), Error> {
        let ledger = engine.ledger(call)?;
        let control = engine.control(call);
        let (stored, seen) =
            ledger.read(&control, |r| Ok((r.branches_of(project)?, r.branch_seen(project, branch)?)))?;
        // A name that nothing stands on any more is free for another branch.
        let before = seen.filter(|_| stored.iter().any(|name| name == branch)).unwrap_or_default();
        let head = git.repository.head()?.commit;
        let now = observed(git, &before, git.tip(branch)?.or(head));
        if now != before {
            ledger.write(&control, engine.clock().now(), |w| w.note_branch(project, branch, &now))?;
        }
        Ok(())
    };
    drop(noted());
}

/// What is known of a branch once its latest commit has been seen.
fn observed(git: &Git, before: &BranchSeen, tip: Option<String>) -> BranchSeen {
    let Some(tip) = tip else { return before.clone() };
    let own_tip = if git.has(&tip) { before.own_tip.clone() } else { tip.clone() };
    BranchSeen { tip, own_tip, ..before.clone() }
}
