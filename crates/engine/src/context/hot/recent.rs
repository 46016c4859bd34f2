//! The pages that were shown lately, by whatever process of this home: so that any of them can tell what changed since.
//!
//! Each is a small file below `hot-pages` in the home, named after who saw it and its revision. They are derived and may
//! go at any time: then the whole page is shown again. A purge removes them all, because they repeat texts.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use strata_core::{
    scope::Scope,
    time::{HOUR, Timestamp},
};
use strata_store::files;

use super::Page;
use crate::error::Error;

/// The folder in the home.
const FOLDER: &str = "hot-pages";
/// Pages that are kept; those shown longest ago go first.
const MOST: usize = 128;
/// A larger file is none of these: 1 MiB.
const MAX_FILE: u64 = 1 << 20;

/// A page as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    lines: Vec<String>,
}

/// Keeps what a reader standing in `scope` was shown at `now`. Where that is not possible the whole page will be shown.
pub(super) fn keep(home: &Path, scope: &Scope, page: &Page, now: Timestamp) {
    let path = place(home, scope, &page.revision);
    if !home.is_dir() {
        return;
    }
    if path.is_file() {
        return shown(&path, now);
    }
    let kept = Kept { lines: page.lines.clone() };
    let Ok(text) = serde_json::to_vec(&kept) else { return };
    let folder = home.join(FOLDER);
    let written = files::make_private_directory(&folder).and_then(|()| files::write_derived(&path, &text));
    if written.is_ok() {
        shown(&path, now);
        thin(&folder, now);
    }
}

/// Notes when a page was shown last.
fn shown(path: &Path, now: Timestamp) {
    let since = Duration::from_micros(now.0.max(0).unsigned_abs());
    if let Ok(file) = fs::File::options().append(true).open(path) {
        drop(file.set_modified(UNIX_EPOCH + since));
    }
}

/// The page with this revision, if a reader there was shown it lately.
pub(super) fn find(home: &Path, scope: &Scope, revision: &str) -> Option<Page> {
    let bytes = files::read_regular(&place(home, scope, revision), MAX_FILE).ok()?;
    let kept: Kept = serde_json::from_slice(&bytes).ok()?;
    let page = Page::of(kept.lines);
    // Nothing else is believed of a file that anybody may have changed.
    (page.revision == revision).then_some(page)
}

/// Removes all of them: a text that is purged may stand in one.
///
/// # Errors
/// The folder cannot be removed.
pub(crate) fn forget(home: &Path) -> Result<(), Error> {
    let folder = home.join(FOLDER);
    match fs::remove_dir_all(&folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { path: folder.display().to_string(), source })
        }
        _ => Ok(()),
    }
}

fn place(home: &Path, scope: &Scope, revision: &str) -> PathBuf {
    let mut hasher = blake3::Hasher::new();
    let (project, branch) = (scope.project.as_deref(), scope.branch.as_deref());
    for part in [Some(scope.namespace.as_str()), project, branch, Some(revision)] {
        let length = part.map_or(u64::MAX, |part| part.len() as u64);
        hasher.update(&length.to_le_bytes()).update(part.unwrap_or_default().as_bytes());
    }
    home.join(FOLDER).join(format!("{}.json", &hasher.finalize().to_hex()[..32]))
}

/// Removes those that were shown longest ago, and what writers left that died.
fn thin(folder: &Path, now: Timestamp) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let mut pages: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .filter(|(_, path)| is_page(path))
        .collect();
    pages.sort_unstable();
    let old = pages.len().saturating_sub(MOST);
    let left = files::abandoned(folder, false, Some(Timestamp(now.0.saturating_sub(HOUR))));
    for path in pages.into_iter().take(old).map(|(_, path)| path).chain(left) {
        // Another process may have done it.
        drop(fs::remove_file(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_pages_are_kept_and_only_for_those_who_saw_them() {
        let home = tempfile::tempdir().expect("a folder");
        let page = |n: usize| Page::of(vec![format!("- line {n}")]);
        let user = Scope::user();
        for n in 0..MOST + 3 {
            keep(home.path(), &user, &page(n), Timestamp(n as i64 * 1_000_000));
        }
        let count = || fs::read_dir(home.path().join(FOLDER)).expect("a folder").count();
        assert_eq!(count(), MOST);
        let last = page(MOST + 2);
        assert_eq!(find(home.path(), &user, &last.revision), Some(last.clone()));
        assert_eq!(find(home.path(), &Scope::project("web"), &last.revision), None);
        assert_eq!(find(home.path(), &user, "nonsense"), None);
        let path = place(home.path(), &user, &last.revision);
        files::write_derived(&path, b"{\"lines\":[\"forged\"]}").expect("written");
        assert_eq!(find(home.path(), &user, &last.revision), None);
        forget(home.path()).expect("removed");
        forget(home.path()).expect("none");
        assert_eq!(find(home.path(), &user, &page(9).revision), None);
        keep(&home.path().join("nowhere"), &user, &page(1), Timestamp(0));
        assert!(!home.path().join("nowhere").exists());
    }
}
