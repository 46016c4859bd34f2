//! The one way to a file of a project: what may be read of it, and how.

mod names;
mod text;

use std::{
    fmt,
    io::{self, Read},
    path::{Path, PathBuf},
};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use strata_core::{redact::redact, time::Timestamp};
use strata_store::{
    files::{modified, resolve},
    folder::Folder,
};

use super::kind::is_human;
use crate::{
    error::Error,
    project::ignores::{self, Above},
};

/// Files larger than this are never read, whatever a project asks for: 64 MiB.
pub const LARGEST: u64 = 64 << 20;

/// What a project lets be read, beside what nobody may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Only what one of these patterns matches; empty is everything.
    pub include: Vec<String>,
    /// Nothing that one of these patterns matches.
    pub exclude: Vec<String>,
    /// The most bytes of a file.
    pub max_bytes: u64,
}

impl Default for Rules {
    /// Everything up to 5 MiB.
    fn default() -> Self {
        Self { include: Vec::new(), exclude: Vec::new(), max_bytes: 5 << 20 }
    }
}

/// Decides which files of a project are read, and reads them: every read of a project's files goes through it.
///
/// A file is reached from the root without following any link, is regular, of a size that is allowed, text by what it
/// holds, and not excluded by its name. What is handed on has no secrets and no control characters; its lines are
/// the file's lines.
#[derive(Debug)]
pub struct Gate {
    folder: Folder,
    include: Option<Gitignore>,
    exclude: Gitignore,
    max_bytes: u64,
}

/// Why a file is not read.
#[derive(Debug)]
pub enum Refusal {
    /// It lies outside the project, or a link leads out.
    Outside,
    /// Its name says that it is not for reading: credentials, generated or foreign files, what the project excludes.
    Excluded,
    /// Nothing is there, or a folder.
    Missing,
    /// A link, a device, a pipe.
    NotRegular,
    /// Larger than is allowed, in bytes.
    TooLarge(u64),
    /// What it holds is no text.
    Binary,
    /// The system does not let it be read.
    Unreadable(io::Error),
}

impl Refusal {
    /// The reason as one word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Outside => "outside_root",
            Self::Excluded => "excluded_by_rules",
            Self::Missing => "not_a_file",
            Self::NotRegular => "unsafe_symlink",
            Self::TooLarge(_) => "file_too_large",
            Self::Binary => "binary_file",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => f.write_str("escapes project root"),
            Self::Excluded => f.write_str("is excluded from reading"),
            Self::Missing => f.write_str("is no file"),
            Self::NotRegular => f.write_str("is a link or no regular file"),
            Self::TooLarge(limit) => write!(f, "is larger than {limit} bytes"),
            Self::Binary => f.write_str("is no text"),
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
        }
    }
}

/// A file as it may be shown and stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// Its text without secrets and control characters, with the file's lines.
    pub text: String,
    /// BLAKE3 of its bytes.
    pub hash: [u8; 32],
    /// Bytes.
    pub size: u64,
    /// When it was last changed.
    pub mtime: Timestamp,
    /// How many secrets were taken out.
    pub secrets: usize,
}

impl Gate {
    /// The gate of the project at `root`.
    ///
    /// # Errors
    /// There is no folder at `root`; a pattern of the rules cannot be read.
    pub fn new(root: &Path, rules: &Rules) -> Result<Self, Error> {
        let folder = Folder::open(root)?;
        let include = patterns(folder.path(), "include", &rules.include)?;
        let exclude = patterns(folder.path(), "exclude", &rules.exclude)?;
        Ok(Self {
            include: (!rules.include.is_empty()).then_some(include),
            exclude,
            max_bytes: rules.max_bytes.min(LARGEST),
            folder,
        })
    }

    /// The project's root, with links resolved.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The most bytes of a file.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Whether the name of a file below the root (with `/`) lets it be read.
    pub fn admits(&self, path: &str) -> bool {
        let lower = path.to_lowercase();
        if is_human(&lower) {
            return true;
        }
        if names::is_excluded(&lower) || redact(path).is_redacted() || path.chars().any(char::is_control) {
            return false;
        }
        let matches = |of: &Gitignore| of.matched_path_or_any_parents(path, false).is_ignore();
        !matches(&self.exclude) && self.include.as_ref().is_none_or(matches)
    }

    /// Which folders a walk looks into.
    pub(super) fn folders(&self) -> Folders {
        Folders { exclude: self.exclude.clone() }
    }

    /// The path below the root (with `/`) of what somebody named: relative to the root, or absolute.
    ///
    /// # Errors
    /// `Outside`, whether or not something is there; `Excluded`; `Missing`.
    pub fn resolve(&self, named: &str) -> Result<String, Refusal> {
        if named.contains('\0') {
            return Err(Refusal::Outside);
        }
        let given = self.root().join(named);
        let inside = below(self.root(), &given);
        if inside.as_deref().is_some_and(|path| !path.is_empty() && !self.admits(path)) {
            return Err(Refusal::Excluded);
        }
        // A path that goes back up is followed as the system would, and must end inside.
        let real = resolve(&given)
            .map_err(|_| if inside.is_some() { Refusal::Missing } else { Refusal::Outside })?;
        let path = below(self.root(), &real).ok_or(Refusal::Outside)?;
        if path.is_empty() {
            return Err(Refusal::Missing);
        }
        if !self.admits(&path) || self.is_ignored(&path) {
            return Err(Refusal::Excluded);
        }
        Ok(path)
    }

    /// Reads a file below the root.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn read(&self, path: &str) -> Result<FileText, Refusal> {
        let (bytes, mtime) = self.bytes(path)?;
        let (hash, size) = (*blake3::hash(&bytes).as_bytes(), bytes.len() as u64);
        let decoded = text::decode(&bytes).ok_or(Refusal::Binary)?;
        let (text, secrets) = text::clean(decoded);
        Ok(FileText { text, hash, size, mtime, secrets })
    }

    /// What a file of these bytes is read as, wherever they come from: an older version is held against it. `None` for what
    /// is no text.
    pub(crate) fn text_of(bytes: &[u8]) -> Option<String> {
        text::decode(bytes).map(|text| text::clean(text).0)
    }

    /// What changes with a file: BLAKE3 of its bytes, its size, and when it was changed.
    pub(super) fn look(&self, path: &str) -> Result<([u8; 32], u64, Timestamp), Refusal> {
        let (bytes, mtime) = self.bytes(path)?;
        if text::is_binary(&bytes) {
            return Err(Refusal::Binary);
        }
        Ok((*blake3::hash(&bytes).as_bytes(), bytes.len() as u64, mtime))
    }

    fn bytes(&self, path: &str) -> Result<(Vec<u8>, Timestamp), Refusal> {
        if !self.admits(path) {
            return Err(Refusal::Excluded);
        }
        let mut file = self.folder.open_file(path).map_err(|error| match refused(error) {
            Refusal::NotRegular if self.is_folder(path) => Refusal::Missing,
            refusal => refusal,
        })?;
        let metadata = file.metadata().map_err(Refusal::Unreadable)?;
        if metadata.len() > self.max_bytes {
            return Err(Refusal::TooLarge(self.max_bytes));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
        let limit = self.max_bytes.saturating_add(1);
        file.by_ref().take(limit).read_to_end(&mut bytes).map_err(Refusal::Unreadable)?;
        if bytes.len() as u64 > self.max_bytes {
            return Err(Refusal::TooLarge(self.max_bytes));
        }
        Ok((bytes, modified(&metadata)))
    }

    fn is_folder(&self, path: &str) -> bool {
        std::fs::symlink_metadata(self.root().join(path)).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Whether a `.gitignore` or `.strataignore` between the root and the file leaves it out, as the walk does.
    fn is_ignored(&self, path: &str) -> bool {
        if is_human(&path.to_lowercase()) {
            return false;
        }
        let full = self.root().join(path);
        for folder in full.ancestors().skip(1).take_while(|folder| folder.starts_with(self.root())) {
            if !ignores::are_plain(folder) {
                return true;
            }
            for name in ignores::NAMES.iter().filter(|name| folder.join(name).is_file()) {
                let (rules, _) = Gitignore::new(folder.join(name));
                let matched = rules.matched_path_or_any_parents(&full, false);
                if !matched.is_none() {
                    return matched.is_ignore();
                }
            }
        }
        let mut parts = full.ancestors().take_while(|part| *part != self.root());
        Above::of(self.root()).is_none_or(|above| parts.any(|part| above.ignores(part, part != full)))
    }
}

/// Which folders of a project are looked into.
pub(super) struct Folders {
    exclude: Gitignore,
}

impl Folders {
    /// Whether anything below a folder may be read.
    pub(super) fn enters(&self, folder: &str) -> bool {
        let is_excluded = || self.exclude.matched_path_or_any_parents(folder, true).is_ignore();
        !names::is_excluded_folder(&folder.to_lowercase()) && !is_excluded()
    }
}

fn refused(error: io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
            Refusal::Missing
        }
        io::ErrorKind::InvalidInput => Refusal::NotRegular,
        _ => Refusal::Unreadable(error),
    }
}

/// `path` as one below `root`, with `/`, by its names alone; `None` when it is outside or goes back up.
fn below(root: &Path, path: &Path) -> Option<String> {
    let rest = path.strip_prefix(root).ok()?;
    let mut names = Vec::new();
    for component in rest.components() {
        match component {
            std::path::Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            std::path::Component::CurDir => {}
            _ => return None,
        }
    }
    Some(names.join("/"))
}

fn patterns(root: &Path, field: &str, lines: &[String]) -> Result<Gitignore, Error> {
    let mut builder = GitignoreBuilder::new(root);
    let unread = |message: String| {
        Error::argument(
            &format!("knowledge.{field}"),
            message,
            "use patterns as .gitignore has them, such as docs/private.md",
        )
    };
    builder.case_insensitive(true).map_err(|error| unread(error.to_string()))?;
    for line in lines {
        builder.add_line(None, line).map_err(|error| unread(format!("`{line}` cannot be read: {error}")))?;
    }
    builder.build().map_err(|error| unread(error.to_string()))
}

/// The folder of a project whose sources have this root.
pub(super) fn path_of_root(root: &str) -> Option<PathBuf> {
    root.strip_prefix(super::ROOT).map(PathBuf::from)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]
mod tests;
