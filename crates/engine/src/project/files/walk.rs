//! What lies in a project: every file that its rules let be read, with size and time, in no order.

use std::{
    io::ErrorKind,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use ignore::{DirEntry, WalkBuilder, WalkState};
use strata_core::{cancel::Cancel, time::Timestamp};
use strata_store::files::modified;

use super::{gate::Gate, kind::HUMAN_FILES};
use crate::project::ignores::{self, Closed};

/// Threads that walk.
const THREADS: usize = 4;

/// Problems that are told; of more, the first.
const TOLD: usize = 20;

/// A file as a walk saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Below the root, with `/`.
    pub(crate) path: String,
    /// Bytes.
    pub(crate) size: u64,
    /// When it was last changed.
    pub(crate) mtime: Timestamp,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// The files, sorted by path.
    pub(crate) files: Vec<Seen>,
    /// Folders that could not be looked into, below the root: what was known in them counts as there.
    pub(crate) closed: Vec<String>,
    /// What was wrong, for people.
    pub(crate) problems: Vec<String>,
    /// Whether there was nothing in the root at all, not even what is excluded: a drive that is not mounted looks so.
    pub(crate) is_void: bool,
}

/// Walks the project of a gate: `.gitignore` and `.strataignore` are obeyed, links are not followed.
pub(crate) fn walk(gate: &Gate, cancel: &Cancel) -> Walk {
    let root = gate.root();
    let found: Mutex<Walk> = Mutex::default();
    let closed = Closed::default();
    let entries = builder(gate, &closed).map_or(usize::MAX, |builder| look(builder, gate, cancel, &found));
    let mut walk = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    for folder in closed.folders().iter().filter_map(|folder| below(root, folder)) {
        walk.tell(&ignores::refusal(&folder));
        walk.closed.push(folder);
    }
    // Git leaves out what `.gitignore` names, and these files are a person's whatever it says.
    walk.files.retain(|file| !HUMAN_FILES.contains(&file.path.as_str()));
    for path in HUMAN_FILES {
        match human(root, path) {
            Ok(file) => walk.files.extend(file),
            Err(error) => {
                walk.closed.push(path.to_owned());
                walk.tell(&format!("{path}: {error}"));
            }
        }
    }
    walk.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    // The root is an entry, too.
    walk.is_void = entries <= 1 && std::fs::read_dir(root).is_ok_and(|mut all| all.next().is_none());
    walk
}

/// Looks at every entry, and tells how many there were.
fn look(mut builder: WalkBuilder, gate: &Gate, cancel: &Cancel, found: &Mutex<Walk>) -> usize {
    let entries = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    builder.threads(cores.min(THREADS)).build_parallel().run(|| {
        let mut own = Own { into: found, files: Vec::new() };
        let entries = &entries;
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            entries.fetch_add(1, Ordering::Relaxed);
            match entry {
                Ok(entry) => match seen(gate, &entry) {
                    Ok(file) => own.files.extend(file),
                    Err(error) => own.fail(gate.root(), &error),
                },
                Err(error) => own.fail(gate.root(), &error),
            }
            WalkState::Continue
        })
    });
    entries.into_inner()
}

fn builder(gate: &Gate, closed: &Closed) -> Option<WalkBuilder> {
    // The filter needs owners of its own: it outlives this function.
    let (root, folders) = (gate.root().to_path_buf(), gate.folders());
    let enters = move |path: &Path| below(&root, path).is_some_and(|folder| folders.enters(&folder));
    let mut builder = ignores::walk(gate.root(), closed, enters)?;
    builder.max_filesize(None).add_custom_ignore_filename(".strataignore");
    Some(builder)
}

impl Walk {
    fn tell(&mut self, problem: &str) {
        if self.problems.len() < TOLD {
            self.problems.push(crate::project::storable(problem));
        }
    }
}

/// What one thread has found; it is handed on when the thread is done.
struct Own<'w> {
    into: &'w Mutex<Walk>,
    files: Vec<Seen>,
}

impl Own<'_> {
    fn fail(&self, root: &Path, error: &ignore::Error) {
        let mut walk = self.into.lock().unwrap_or_else(PoisonError::into_inner);
        walk.closed.extend(path_of(error).and_then(|path| below(root, path)));
        walk.tell(&error.to_string());
    }
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        let mut walk = self.into.lock().unwrap_or_else(PoisonError::into_inner);
        walk.files.append(&mut self.files);
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

/// A file as it is now; an error where it is there and does not tell, which is not the same as being gone.
fn seen(gate: &Gate, entry: &DirEntry) -> Result<Option<Seen>, ignore::Error> {
    if !entry.file_type().is_some_and(|sort| sort.is_file()) {
        return Ok(None);
    }
    let Some(path) = below(gate.root(), entry.path()).filter(|path| gate.admits(path)) else {
        return Ok(None);
    };
    let metadata = match entry.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.io_error().is_some_and(is_gone) => return Ok(None),
        Err(error) => {
            return Err(ignore::Error::WithPath { path: entry.path().into(), err: Box::new(error) });
        }
    };
    let file = Seen { path, size: metadata.len(), mtime: modified(&metadata) };
    Ok((file.size <= gate.max_bytes()).then_some(file))
}

fn human(root: &Path, path: &str) -> Result<Option<Seen>, std::io::Error> {
    match std::fs::symlink_metadata(root.join(path)) {
        Ok(metadata) if metadata.is_file() => {
            Ok(Some(Seen { path: path.to_owned(), size: metadata.len(), mtime: modified(&metadata) }))
        }
        Ok(_) => Ok(None),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// A path below the root, with `/`. One that is not Unicode cannot be written down.
fn below(root: &Path, path: &Path) -> Option<String> {
    let rest = path.strip_prefix(root).ok()?.to_str()?;
    Some(if cfg!(windows) { rest.replace('\\', "/") } else { rest.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_does_not_tell_is_not_gone() {
        let root = tempfile::tempdir().expect("a directory");
        strata_store::files::write_atomic(&root.path().join("there.md"), b"text").expect("written");
        std::os::unix::fs::symlink("round", root.path().join("round")).expect("linked");
        assert!(human(root.path(), "there.md").expect("told").is_some());
        assert!(human(root.path(), "there.md/beyond").expect("told").is_none());
        assert!(human(root.path(), "none.md").expect("told").is_none());
        assert!(human(root.path(), "round/constraints.md").is_err());
    }
}
