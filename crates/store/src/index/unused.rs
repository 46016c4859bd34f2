//! Index files of other formats and analysers, which another binary may still be using.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{Control, database::Beside, error::StoreError, files::explain_io};

use super::{Index, beside};

/// How long an index of another version is kept after its last use.
pub const KEEP_UNUSED: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// How the schemas of indexes begin on a server.
pub(super) const SCHEMAS: &str = "strata_index";

/// What became of the tenant's rows in indexes of other versions on a server.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ErasedBeside {
    /// The schemas that had rows of the tenant.
    pub emptied: usize,
    /// Statements that the server's owner is left to run.
    pub left: Vec<String>,
}

impl Index {
    /// The indexes of other versions on the server; none for a file.
    pub fn beside(&self, control: &Control) -> Result<Vec<Beside>, StoreError> {
        self.database.on_server().map_or_else(|| Ok(Vec::new()), |store| store.beside(control, SCHEMAS))
    }

    /// Removes an index of another version from the server: as a whole where this role owns it, else what it holds of
    /// the tenant. Who still needs it makes it again.
    pub fn remove_beside(&self, control: &Control, other: &Beside) -> Result<(), StoreError> {
        match self.database.on_server() {
            Some(store) if other.owned => store.drop_beside(control, &other.namespace),
            Some(store) => store.empty_beside(control, &other.namespace),
            None => Ok(()),
        }
    }

    /// Removes what indexes of other versions hold of the tenant on the server, down to the bytes where that can be.
    pub fn erase_beside(&self, control: &Control) -> Result<ErasedBeside, StoreError> {
        let mut erased = ErasedBeside::default();
        let Some(store) = self.database.on_server() else { return Ok(erased) };
        for other in self.beside(control)? {
            if !other.reachable {
                erased.left.push(format!("DROP SCHEMA {} CASCADE;", other.namespace));
            } else if other.holds {
                store.empty_beside(control, &other.namespace)?;
                erased.left.append(&mut store.rewrite_beside(control, &other.namespace)?);
                erased.emptied += 1;
            }
        }
        Ok(erased)
    }

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
        let own = format!("index-{}.3.db", super::super::FORMAT);
        let names = [
            own.as_str(),
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
        assert_eq!(left, [own.as_str(), "index-notes.md", "ledger.db"]);
        assert!(Index::new(&home.path().join("absent"), 1, FaultPlan::none()).remove_unused(now).is_ok());
    }
}
