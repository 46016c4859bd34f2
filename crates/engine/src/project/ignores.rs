//! Files of patterns, `.gitignore` and its like: which of them are read, and which hold in a project that they lie above.
//!
//! They come with a clone, and whoever walks opens them before anybody looks at them: a pipe by such a name never answers, and a link to
//! a device never ends. So a folder is entered only when its own are plain files.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ignore::{
    WalkBuilder,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::vcs;

/// Their names; in one folder the first that says something of a file wins.
pub(crate) const NAMES: [&str; 3] = [".strataignore", ".ignore", ".gitignore"];
/// A larger one is taken for something else: 256 KiB.
const LARGEST: u64 = 256 << 10;

/// Whether a file of patterns can be read, or is not there.
fn is_plain(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |found| found.is_file() && found.len() <= LARGEST)
}

/// Whether all those of a folder can be read.
pub(crate) fn are_plain(folder: &Path) -> bool {
    NAMES.iter().all(|name| is_plain(&folder.join(name)))
}

/// What is told of a folder where one cannot.
pub(crate) fn refusal(folder: &str) -> String {
    let folder = if folder.is_empty() { "the project" } else { folder };
    format!(
        "{folder} is left out: its .gitignore, .ignore or .strataignore is no file of at most {} KiB",
        LARGEST >> 10
    )
}

/// Folders that a walk did not enter because of their files of patterns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Closed(Arc<Mutex<Vec<PathBuf>>>);

impl Closed {
    fn push(&self, folder: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(folder.to_owned());
    }

    /// They, in no order.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A walk of a folder and of those in it that `enters` admits. It obeys the patterns of its folders, of those between it and
/// the top of its repository, and of the repository; it follows no link. `None` when the folder's own patterns cannot be read.
pub(crate) fn walk(
    root: &Path,
    closed: &Closed,
    enters: impl Fn(&Path) -> bool + Send + Sync + 'static,
) -> Option<WalkBuilder> {
    let above = Above::of(root).filter(|_| are_plain(root));
    let Some(above) = above else {
        closed.push(root);
        return None;
    };
    let mut builder = WalkBuilder::new(root);
    // What lies above is read here, and only as far up as git would.
    builder.hidden(false).require_git(false).follow_links(false).parents(false).git_exclude(false);
    let closed = closed.clone();
    builder.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|sort| sort.is_dir());
        if entry.depth() == 0 {
            return true;
        }
        if above.ignores(entry.path(), is_folder) || (is_folder && !enters(entry.path())) {
            return false;
        }
        let is_closed = is_folder && !are_plain(entry.path());
        if is_closed {
            closed.push(entry.path());
        }
        !is_closed
    });
    Some(builder)
}

/// The patterns that hold in a folder from above, nearest first.
#[derive(Debug)]
pub(crate) struct Above(Vec<Gitignore>);

impl Above {
    /// `None` when one cannot be read.
    pub(crate) fn of(root: &Path) -> Option<Self> {
        let mut all = Vec::new();
        let Some(top) = root.ancestors().find(|d| d.join(".git").symlink_metadata().is_ok()) else {
            return Some(Self(all));
        };
        let above = root.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
        let of_folders = above.map(|folder| (folder, folder.join(".gitignore")));
        let of_repository = vcs::exclude_file(top).map(|file| (top, file));
        for (folder, file) in of_folders.chain(of_repository) {
            if !is_plain(&file) {
                return None;
            }
            let mut builder = GitignoreBuilder::new(folder);
            // A line that is no pattern is passed over, as git does.
            drop(builder.add(&file));
            all.extend(builder.build().ok().filter(|patterns| !patterns.is_empty()));
        }
        Some(Self(all))
    }

    /// Whether they leave out a file or folder, whatever they say of those that it is in.
    pub(crate) fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        let mut said = self.0.iter().map(|patterns| patterns.matched(path, is_folder));
        said.find(|said| !said.is_none()).is_some_and(|said| said.is_ignore())
    }
}
