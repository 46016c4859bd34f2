//! Index files of other formats and analysers, which another binary may still be using.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{error::StoreError, files::explain_io};

use super::{Index, beside};

/// How long an index of another version is kept after its last use.
pub const KEEP_UNUSED: Duration = Duration::from_secs(14 * 24 * 60 * 60);

impl Index {
    /// Removes the indexes of other versions beside this one, and files that were set aside, that nobody
    /// has written to since [`KEEP_UNUSED`] before `now`. Returns what was removed.
    pub fn remove_unused(&self, now: SystemTime) -> Result<Vec<PathBuf>, StoreError> {
        let Some(directory) = self.file_path().and_then(Path::parent) else { return Ok(Vec::new()) };
        let mut removed = Vec::new();
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(removed),
            Err(error) => return Err(explain_io("list", directory, &error)),
        };
        for entry in entries {
            let path = entry.map_err(|error| explain_io("list", directory, &error))?.path();
            if path != self.path() && is_index(&path) && last_use(&path).is_some_and(|used| is_old(used, now))
            {
                for file in [beside(&path, "-wal"), beside(&path, "-shm"), path.clone()] {
                    remove(&file)?;
                }
                removed.push(path);
            }
        }
        removed.sort();
        Ok(removed)
    }
}

/// Whether the name is `index-<format>.<analyser>.db` or `.damaged-<n>`.
fn is_index(path: &Path) -> bool {
    let parts = path.file_name().and_then(|name| name.to_str()?.strip_prefix("index-"));
    let mut parts = parts.unwrap_or_default().split('.');
    let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    let (format, analyser, ending) =
        (number(parts.next()), number(parts.next()), parts.next().unwrap_or_default());
    format
        && analyser
        && parts.next().is_none()
        && (ending == "db" || ending.starts_with("damaged-"))
        && !ending.ends_with("-wal")
        && !ending.ends_with("-shm")
}

/// The later of the last writes to the file and to its log.
fn last_use(path: &Path) -> Option<SystemTime> {
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    modified(path).max(modified(&beside(path, "-wal")))
}

fn is_old(used: SystemTime, now: SystemTime) -> bool {
    now.duration_since(used).is_ok_and(|age| age >= KEEP_UNUSED)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(explain_io("remove", path, &error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::FaultPlan;

    #[test]
    fn only_old_indexes_of_others_go() {
        let home = tempfile::tempdir().expect("a home");
        let index = Index::new(home.path(), 3, FaultPlan::none());
        let names = [
            "index-3.3.db",
            "index-2.2.db",
            "index-2.2.db-wal",
            "index-1.1.damaged-1",
            "ledger.db",
            "index-notes.md",
        ];
        for name in names {
            crate::files::write_atomic(&home.path().join(name), b"x").expect("writes");
        }
        let now =
            fs::metadata(home.path().join("ledger.db")).and_then(|file| file.modified()).expect("a time");
        assert!(index.remove_unused(now).expect("looks").is_empty());
        let removed = index.remove_unused(now + KEEP_UNUSED + Duration::from_secs(60)).expect("removes");
        assert_eq!(removed, [home.path().join("index-1.1.damaged-1"), home.path().join("index-2.2.db")]);
        let mut left: Vec<_> = fs::read_dir(home.path())
            .expect("lists")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["index-3.3.db", "index-notes.md", "ledger.db"]);
        assert!(Index::new(&home.path().join("absent"), 1, FaultPlan::none()).remove_unused(now).is_ok());
    }
}
