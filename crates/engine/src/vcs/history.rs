//! Commits and how they descend from each other.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, OnceLock},
};

use gix::{ObjectId, bstr::ByteSlice, revision::walk::Sorting, traverse::commit::simple::CommitTimeOrder};
use strata_core::time::Timestamp;

use super::{Fault, Repository, guarded, id};

/// Commits that a look for the first ones passes at most.
const MAX_HISTORY: usize = 2_000_000;
/// Answers kept about first commits.
const MAX_REMEMBERED: usize = 64;

/// A commit. It does not say who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id, in hexadecimal.
    pub id: String,
    /// Those before it, the one it was made on first.
    pub parents: Vec<String>,
    /// When it was made.
    pub at: Timestamp,
    /// The whole message. It was written by whoever made the commit.
    pub message: String,
}

/// Which commits are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Range<'a> {
    /// Not these, nor what is before them.
    pub after: &'a [String],
    /// These and what is before them.
    pub up_to: &'a [String],
    /// At most so many, the latest first.
    pub limit: usize,
    /// Whether only the first parent of a merge is followed.
    pub first_parents: bool,
}

impl Repository {
    /// The first commits of what is checked out, the oldest first: the same in every clone and worktree. Empty before
    /// the first commit, and where the clone does not reach back to it.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn first_commits(&self) -> Result<Vec<String>, Fault> {
        static KNOWN: OnceLock<Mutex<HashMap<ObjectId, Vec<String>>>> = OnceLock::new();
        let known = KNOWN.get_or_init(Mutex::default);
        guarded("its history", || {
            let Some(head) = self.repo.head()?.id() else { return Ok(Vec::new()) };
            let head = head.detach();
            if let Some(found) = known.lock().ok().and_then(|known| known.get(&head).cloned()) {
                return Ok(found);
            }
            if self.repo.is_shallow()? {
                return Ok(Vec::new());
            }
            let mut roots = Vec::new();
            for commit in self.repo.rev_walk([head]).all()?.take(MAX_HISTORY) {
                let commit = commit?;
                if commit.parent_ids.is_empty() {
                    let made = commit.object()?.time().map_or(0, |time| time.seconds);
                    roots.push((made, commit.id.to_string()));
                }
            }
            roots.sort();
            let roots: Vec<String> = roots.into_iter().map(|(_, id)| id).collect();
            if let Ok(mut known) = known.lock() {
                if known.len() >= MAX_REMEMBERED {
                    known.clear();
                }
                known.insert(head, roots.clone());
            }
            Ok(roots)
        })
    }

    /// The commit that a name stands for: a branch, a tag, `HEAD~2`, the beginning of an id.
    ///
    /// # Errors
    /// It names none, or several.
    pub fn resolve(&self, name: &str) -> Result<String, Fault> {
        guarded("a name of a commit", || {
            let object = self.repo.rev_parse_single(name.as_bytes().as_bstr())?.object()?;
            Ok(object.peel_to_commit()?.id.to_string())
        })
    }

    /// Whether a commit is here.
    pub fn has_commit(&self, commit: &str) -> bool {
        guarded("a commit", || Ok(self.repo.find_commit(id(commit)?).is_ok())).unwrap_or(false)
    }

    /// Whether `older` is `newer` or before it.
    ///
    /// # Errors
    /// One of them is not here.
    pub fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, Fault> {
        if older == newer {
            return Ok(self.has_commit(older));
        }
        Ok(self.merge_base(older, newer)?.as_deref() == Some(older))
    }

    /// The latest commit that is before both; `None` where they share no history.
    ///
    /// # Errors
    /// One of them is not here.
    pub fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>, Fault> {
        guarded("the history of two commits", || {
            let (one, other) = (self.repo.find_commit(id(one)?)?.id, self.repo.find_commit(id(other)?)?.id);
            Ok(self.repo.merge_base(one, other)?.map(|id| id.to_string()))
        })
    }

    /// Commits, the latest first.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn commits(&self, range: Range<'_>) -> Result<Vec<Commit>, Fault> {
        guarded("its history", || {
            let mut found = Vec::new();
            for step in self.walk(range)?.take(range.limit) {
                let step = step?;
                let commit = step.object()?;
                let seconds = commit.time().map_or(0, |time| time.seconds);
                found.push(Commit {
                    id: step.id.to_string(),
                    parents: step.parent_ids.iter().map(ToString::to_string).collect(),
                    at: Timestamp(seconds.saturating_mul(1_000_000)),
                    message: commit.message_raw().map(|m| m.to_str_lossy().into_owned()).unwrap_or_default(),
                });
            }
            Ok(found)
        })
    }

    /// The ids of commits alone.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn commit_ids(&self, range: Range<'_>) -> Result<HashSet<String>, Fault> {
        guarded("its history", || {
            self.walk(range)?.take(range.limit).map(|step| Ok(step?.id.to_string())).collect()
        })
    }

    /// Whether a commit of `range` merged `tip` in: has it for a parent that is not its first.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn was_merged_by_commit(&self, tip: &str, range: Range<'_>) -> Result<bool, Fault> {
        guarded("its history", || {
            let tip = id(tip)?;
            for step in self.walk(range)?.take(range.limit) {
                if step?.parent_ids.iter().skip(1).any(|parent| *parent == tip) {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    fn walk(&self, range: Range<'_>) -> gix::Result<gix::revision::Walk<'_>> {
        let ids = |texts: &[String]| texts.iter().map(|text| id(text)).collect::<gix::Result<Vec<_>>>();
        let mut walk = self.repo.rev_walk(ids(range.up_to)?);
        walk = walk.sorting(Sorting::ByCommitTime(CommitTimeOrder::NewestFirst));
        if range.first_parents {
            walk = walk.first_parent_only();
        }
        walk.with_hidden(ids(range.after)?).all()
    }
}
