//! What became of a branch, as its repository shows it.

use strata_store::ledger::BranchSeen;

use super::Git;
use crate::vcs::{Commit, Fault, Range};

/// Commits of the mainline that are compared with those of a branch.
const MAX_COMPARED: usize = 500;
/// Commits of a branch that are compared one by one.
const MAX_PICKED: usize = 50;

/// What became of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes on, or nothing tells that it does not.
    Open,
    /// It is on the mainline, for this reason.
    Merged(String),
    /// It has another name now.
    Renamed(String),
    /// It may be on the mainline, for this reason.
    Unsure(String),
    /// It was deleted, and its commits are on no branch.
    Abandoned,
}

/// Judges a branch by where it is `now` and what was `seen` of it.
pub(super) fn judge(git: &Git, branch: &str, seen: &BranchSeen, now: Option<&str>) -> Result<Fate, Fault> {
    let known = [now, Some(seen.tip.as_str()), Some(seen.own_tip.as_str())];
    let here = |tip: &&str| !tip.is_empty() && git.repository.has_commit(tip);
    let Some(tip) = known.into_iter().flatten().find(here) else { return Ok(Fate::Open) };
    if now.is_none()
        && let Some(name) = git.repository.renamed_to(branch)?
    {
        return Ok(Fate::Renamed(name));
    }
    if git.has(tip) { on_mainline(git, branch, seen, now, tip) } else { beside(git, seen, now, tip) }
}

/// The branch ends at a commit that the mainline has: it was merged, or has no commit of its own yet, or was set back.
fn on_mainline(
    git: &Git,
    branch: &str,
    seen: &BranchSeen,
    now: Option<&str>,
    tip: &str,
) -> Result<Fate, Fault> {
    let merged = || Ok(Fate::Merged("its commits are on the mainline".to_owned()));
    if !seen.own_tip.is_empty() {
        if git.has(&seen.own_tip) {
            return merged();
        }
        let own = git.repository.has_commit(&seen.own_tip);
        if own && let Some(fate) = copied(git, &seen.own_tip, now.is_some())? {
            return Ok(fate);
        }
        return Ok(Fate::Unsure(
            "it ends on the mainline, but without the commits that were seen on it".to_owned(),
        ));
    }
    let all = Range { after: &[], up_to: &git.mainline.tips, limit: 20 * MAX_COMPARED, first_parents: false };
    if git.repository.was_merged_by_commit(tip, all)? {
        return merged();
    }
    match git.repository.own_commits(branch)? {
        Some(made) if made.iter().any(|commit| git.has(commit)) => merged(),
        Some(_) => Ok(Fate::Open),
        None if now.is_some() && (seen.tip.is_empty() || seen.tip == tip) => Ok(Fate::Open),
        None => Ok(Fate::Unsure(
            "it ends on the mainline, and nothing shows whether it had commits of its own".to_owned(),
        )),
    }
}

/// The branch has commits that the mainline does not have under their names.
fn beside(git: &Git, seen: &BranchSeen, now: Option<&str>, tip: &str) -> Result<Fate, Fault> {
    if let Some(fate) = copied(git, tip, now.is_some())? {
        return Ok(fate);
    }
    if now.is_some() {
        return Ok(Fate::Open);
    }
    let mut elsewhere = git.repository.branches()?.into_iter();
    let goes_on = elsewhere.any(|other| git.repository.is_ancestor(tip, &other.tip).unwrap_or(false));
    Ok(if goes_on || seen.tip.is_empty() { Fate::Open } else { Fate::Abandoned })
}

/// Whether the mainline has copies of a branch's commits: all in one, or each of them. Some of them, on a branch that is
/// gone, leave it unsure.
fn copied(git: &Git, tip: &str, still_there: bool) -> Result<Option<Fate>, Fault> {
    let repository = &git.repository;
    let mut most = 0;
    for line in &git.mainline.tips {
        let Some(base) = repository.merge_base(tip, line)? else { continue };
        let after = [base.clone()];
        let range = |up_to| Range { after: &after, up_to, limit: MAX_COMPARED, first_parents: false };
        let theirs = repository.commits(range(std::slice::from_ref(line)))?;
        if theirs.is_empty() {
            continue;
        }
        let patches = repository.patches(&theirs)?;
        if let Some(by) = patches.same(Some(&base), tip)? {
            return Ok(Some(Fate::Merged(format!("commit {} changes the same", short(by)))));
        }
        let up_to = [tip.to_owned()];
        let ours: Vec<Commit> = repository.commits(range(&up_to))?;
        let ours: Vec<&Commit> = ours.iter().filter(|commit| commit.parents.len() < 2).collect();
        if ours.len() > MAX_PICKED {
            continue;
        }
        let mut found = 0;
        for commit in &ours {
            let parent = commit.parents.first().map(String::as_str);
            found += usize::from(patches.same(parent, &commit.id)?.is_some());
        }
        if found == ours.len() && found > 0 {
            return Ok(Some(Fate::Merged("each of its commits has a copy on the mainline".to_owned())));
        }
        most = most.max(found);
    }
    let partly =
        || Fate::Unsure(format!("{most} of its commits have a copy on the mainline, others have none"));
    Ok((most > 0 && !still_there).then(partly))
}

/// A commit as people write it.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}
