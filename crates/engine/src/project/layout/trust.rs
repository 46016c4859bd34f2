//! Which files of a project a person has read and lets count: hashes of their bytes, kept in the home.
//!
//! A file counts as it was when it was trusted, in whichever checkout it lies. Once changed it is what it was before: a
//! text that came with a clone.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use strata_store::{
    files::{self, FileLock, write_atomic},
    sql::Control,
};

use crate::error::Error;

/// The file in the home.
pub(crate) const FILE: &str = "trust.json";
/// A larger file is none of ours: 1 MiB.
pub(super) const MAX_FILE: u64 = 1 << 20;

/// What was trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// The files.
    files: Vec<TrustedFile>,
}

/// A file as it was when it was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedFile {
    /// The project's key.
    pub project: String,
    /// The file's name in the project's folder.
    pub name: String,
    /// The BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
    /// When, as RFC 3339.
    pub at: String,
}

impl Trusted {
    /// What the home says; nothing where it has no such file, or one that cannot be read.
    pub fn read(home: &Path) -> Self {
        let bytes = files::read_regular(&path(home), MAX_FILE).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// The same for who is about to write it: what cannot be read is not the same as nothing, and would be lost.
    fn read_whole(path: &Path) -> Result<Self, Error> {
        let unreadable = |why: &dyn std::fmt::Display| Error::Conflict {
            message: format!("`{FILE}` in the home cannot be read: {why}"),
            hint: "mend it, or move it away and trust the files again".into(),
        };
        if path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(Self::default());
        }
        let bytes = files::read_regular(path, MAX_FILE).map_err(|error| unreadable(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))
    }

    /// Whether the file `name` of a project's folder was trusted with these bytes.
    pub fn has(&self, name: &str, bytes: &[u8]) -> bool {
        self.has_hash(name, &hash(bytes))
    }

    /// The same by the hash of the bytes, in hexadecimal.
    pub(super) fn has_hash(&self, name: &str, hash: &str) -> bool {
        self.files.iter().any(|file| file.name == name && file.hash == hash)
    }

    /// What was trusted in a project.
    pub fn of<'a>(&'a self, project: &'a str) -> impl Iterator<Item = &'a TrustedFile> {
        self.files.iter().filter(move |file| file.project == project)
    }

    /// Changes what the home says, in turn with others who do.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn change(
        home: &Path,
        control: &Control,
        change: impl FnOnce(&mut Vec<TrustedFile>),
    ) -> Result<Self, Error> {
        let path = path(home);
        let _lock = FileLock::acquire(&home.join("locks"), &path, control)?;
        let mut trusted = Self::read_whole(&path)?;
        change(&mut trusted.files);
        trusted.files.sort_by(|a, b| (&a.project, &a.name, &a.at).cmp(&(&b.project, &b.name, &b.at)));
        let text = serde_json::to_string_pretty(&trusted).map_err(|e| Error::Internal(e.to_string()))?;
        write_atomic(&path, format!("{text}\n").as_bytes())?;
        Ok(trusted)
    }
}

/// The BLAKE3 of a file's bytes, in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn path(home: &Path) -> PathBuf {
    home.join(FILE)
}
