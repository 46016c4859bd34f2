//! What a directory shows of the project that it is.

use std::path::{Path, PathBuf};

use super::super::{Project, git_directories, is_local, normal_url, remotes, repository_root, storable};
use crate::vcs::Repository;

/// What stands before a first commit among a project's names.
pub(super) const COMMIT: &str = "commit:";
/// What stands before the hash of a remote's address.
pub(super) const REMOTE: &str = "remote:";
/// What stands before the path of a checkout.
pub(super) const PATH: &str = "path:";
/// Hexadecimal digits of a hash that tell remotes apart.
const HASHED: usize = 16;

/// What a directory shows. The first commit is looked for when it is asked for: a long history is slow to walk.
#[derive(Debug)]
pub(super) struct Prints {
    root: PathBuf,
    /// The place below a repository's top, where the project is not all of it.
    below: String,
    /// The path of the repository, or of the directory where there is none.
    pub(super) path: String,
    /// Hashes of the addresses of its remotes, `origin` first.
    pub(super) remotes: Vec<String>,
    has_repository: bool,
}

impl Prints {
    pub(super) fn of(project: &Project) -> Self {
        let root = project.root.as_path();
        let top = root.ancestors().find(|d| d.join(".git").exists());
        let git = top.and_then(git_directories);
        let below = top.and_then(|top| root.strip_prefix(top).ok()).filter(|_| git.is_some());
        let below = below.filter(|path| !path.as_os_str().is_empty());
        let below = below.map(|path| format!("//{}", path.to_string_lossy())).unwrap_or_default();
        let place = match &git {
            Some(git) if below.is_empty() => repository_root(&git.common),
            _ => root,
        };
        let addresses = git.as_ref().map(|git| remotes(&git.common)).unwrap_or_default();
        let hashed = |url: &str| {
            let hash = blake3::hash(normal_url(url).as_bytes()).to_hex();
            format!("{REMOTE}{}{below}", &hash[..HASHED])
        };
        Self {
            root: root.to_owned(),
            path: format!("{PATH}{}", storable(&place.to_string_lossy())),
            remotes: addresses.iter().filter(|(_, url)| !is_local(url)).map(|(_, url)| hashed(url)).collect(),
            has_repository: git.is_some(),
            below,
        }
    }

    /// The first commit of what is checked out; `None` before there is one, and where the clone does not reach back to it.
    pub(super) fn first_commit(&self) -> Option<String> {
        let first = Repository::open(&self.root).ok()?.first_commits().ok()?.into_iter().next()?;
        Some(format!("{COMMIT}{first}{}", self.below))
    }

    /// Whether one of these names is a commit that the repository has.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        if !self.has_repository || names.is_empty() {
            return false;
        }
        let Ok(repository) = Repository::open(&self.root) else { return false };
        let commit = |name: &str| name.strip_prefix(COMMIT)?.strip_suffix(&self.below).map(str::to_owned);
        names.iter().filter_map(|name| commit(name)).any(|commit| repository.has_commit(&commit))
    }

    /// Every name, with the key that older versions gave the directory.
    pub(super) fn names(&self, proposed: &str) -> Vec<String> {
        let mut names = vec![proposed.to_owned(), self.path.clone()];
        names.extend(self.remotes.iter().cloned());
        names.extend(self.first_commit());
        names
    }

    /// Whether the directory is in a repository.
    pub(super) const fn has_repository(&self) -> bool {
        self.has_repository
    }

    /// The top directory.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}
