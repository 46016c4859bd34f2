//! Which of the known projects a directory is.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::{
    super::key,
    prints::{COMMIT, Prints, REMOTE},
};

/// What the store knows.
#[derive(Debug, Default, Hash)]
pub(super) struct Known {
    /// The keys of projects.
    pub(super) projects: BTreeSet<String>,
    /// Other names, as (alias, key).
    pub(super) aliases: Vec<(String, String)>,
}

impl Known {
    /// The key of the project that a name belongs to.
    pub(super) fn key_of(&self, name: &str) -> Option<String> {
        if self.projects.contains(name) {
            return Some(name.to_owned());
        }
        self.aliases.iter().find(|(alias, _)| alias == name).map(|(_, key)| key.clone())
    }

    /// Tells whether it has changed since.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The names of a project that begin with `sort`.
    fn names(&self, key: &str, sort: &str) -> Vec<&str> {
        let of_sort = |(alias, of): &&(String, String)| of == key && alias.starts_with(sort);
        self.aliases.iter().filter(of_sort).map(|(alias, _)| alias.as_str()).collect()
    }

    fn has_commits(&self) -> bool {
        self.aliases.iter().any(|(alias, _)| alias.starts_with(COMMIT))
    }
}

/// The key that a directory goes by: of the project that it is known to be, else the one it proposes.
///
/// A remote decides before a path, because a directory may be emptied and filled with something else; that is also why
/// a path counts only where the history is the known one. The same first commit under other remotes is a fork: a project
/// of its own, until somebody merges them.
///
/// `is_used` tells whether something is stored under the key that it proposes.
pub(super) fn choose(
    known: &Known,
    prints: &Prints,
    proposed: &str,
    is_used: impl FnOnce() -> bool,
) -> String {
    if let Some(key) = prints.remotes.iter().find_map(|remote| known.key_of(remote)) {
        return key;
    }
    if let Some(key) = known.key_of(&prints.path).filter(|key| continues(known, prints, key)) {
        return key;
    }
    let earlier = known.key_of(proposed);
    let is_taken = earlier.as_ref().is_some_and(|key| !continues(known, prints, key));
    match earlier {
        Some(key) if !is_taken => return key,
        None if is_used() => return proposed.to_owned(),
        _ => {}
    }
    if let Some(key) = by_commit(known, prints) {
        return key;
    }
    if is_taken { of_its_own(prints, proposed) } else { proposed.to_owned() }
}

/// Whether what is in the directory now can be the project `key`: it has one of its first commits, or none is known.
fn continues(known: &Known, prints: &Prints, key: &str) -> bool {
    let commits = known.names(key, COMMIT);
    commits.is_empty() || prints.has_any(&commits)
}

fn by_commit(known: &Known, prints: &Prints) -> Option<String> {
    if !prints.has_repository() || !known.has_commits() {
        return None;
    }
    let key = known.key_of(&prints.first_commit()?)?;
    let is_fork = !prints.remotes.is_empty() && !known.names(&key, REMOTE).is_empty();
    (!is_fork).then_some(key)
}

/// A key for a project in a place where another one was.
fn of_its_own(prints: &Prints, proposed: &str) -> String {
    let identity = prints.first_commit().unwrap_or_else(|| format!("{}\n{proposed}", prints.path));
    let name = prints.root().file_name().unwrap_or_default().to_string_lossy();
    key(&name, &identity)
}
