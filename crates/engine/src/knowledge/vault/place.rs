//! Where a domain lies: in the caller's namespace, else in the shared one, at the top or in a folder.

use strata_core::{
    knowledge::name::{Name, NameError, VaultPath},
    redact::redact,
    scope::SHARED,
};

use super::{FileHead, FileState, Seen, look};
use crate::{engine::Engine, error::Error, operation::Call};

/// A place in the vault.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The namespace.
    pub namespace: Name,
    /// Where it lies below the namespace.
    pub path: VaultPath,
    /// Whether a file was there when it was looked for.
    pub exists: bool,
}

impl Place {
    /// A place that nobody has looked at.
    pub fn new(namespace: Name, path: VaultPath) -> Self {
        Self { namespace, path, exists: false }
    }

    /// The domain: the file's name without `.md`.
    pub fn domain(&self) -> &str {
        self.path.domain()
    }

    /// What a caller is told who needs a file here, where there is none.
    pub(crate) fn no_file(&self) -> Error {
        Error::NotFound {
            what: "file of knowledge",
            id: self.path.to_string(),
            hint: "`list_memory_stats` and `strata knowledge stats` list the files".into(),
        }
    }

    /// The target of its audit rows.
    pub(super) fn target(&self) -> String {
        format!("vault:{}/{}", self.namespace, self.path)
    }
}

/// The namespace that the caller's new files go into.
///
/// # Errors
/// An argument error when the namespace cannot be a folder, or when its folder would be that of another namespace on a
/// system that does not tell letter case apart.
pub fn own_namespace(engine: &Engine, call: &Call<'_>) -> Result<Name, Error> {
    let own = exact(call)?;
    match other_spelling(engine, &own) {
        None => Ok(own),
        Some(other) => Err(Error::argument(
            "namespace",
            format!("`{own}` differs from the namespace `{other}` in letter case only"),
            format!("write `{other}`, or choose another name"),
        )),
    }
}

/// The caller's namespace as it stands: a name that had to be mended first would be somebody else's folder.
fn exact(call: &Call<'_>) -> Result<Name, Error> {
    Name::exactly(&call.scope.namespace).map_err(|error| unusable("namespace", &error))
}

/// The namespace with whose folder that of `own` would be one where letter case makes no difference.
fn other_spelling(engine: &Engine, own: &Name) -> Option<String> {
    if own.as_str() == SHARED {
        return None;
    }
    if own.as_str().to_lowercase() == SHARED {
        return Some(SHARED.to_owned());
    }
    engine.vault().disk()?.other_spelling(own).map(|other| other.to_string())
}

/// The namespaces that the caller sees, their own first.
///
/// # Errors
/// As for [`own_namespace`].
pub fn namespaces(engine: &Engine, call: &Call<'_>) -> Result<Vec<Name>, Error> {
    let own = own_namespace(engine, call)?;
    let shared = Name::parse(SHARED).map_err(|error| unusable("namespace", &error))?;
    Ok(if own == shared { vec![own] } else { vec![own, shared] })
}

/// Where the file lies that `name` means: a domain, with or without `.md`, or a path with `/`. A name that is the same
/// to a person counts (`My Note` finds `my-note.md`); a bare domain is also found in a folder. One that cannot be read is
/// found, too, so that whoever opens it is told why. When there is none it is the place for a new file: the caller's
/// namespace.
///
/// # Errors
/// `field` cannot be a file's name, names several files in folders, or would make a file whose name holds a secret.
pub fn locate(engine: &Engine, call: &Call<'_>, field: &str, name: &str) -> Result<Place, Error> {
    locate_among(&look::look_around(engine, call)?, call, field, name)
}

/// The same among what was seen of the namespaces.
///
/// # Errors
/// As for [`locate`].
pub(crate) fn locate_among(
    seen: &[(Name, Seen)],
    call: &Call<'_>,
    field: &str,
    name: &str,
) -> Result<Place, Error> {
    let (wanted, is_bare) = wanted(name).map_err(|error| unusable(field, &error))?;
    let mut gone = None;
    for (namespace, seen) in seen {
        if let Some(place) = unreadable(namespace, seen, &wanted)? {
            return Ok(place);
        }
        if let Some(found) = named(&seen.files, &wanted, is_bare, field)? {
            return Ok(found.place());
        }
        let same = |file: &&FileHead| file.state == FileState::Gone && file.path == wanted;
        gone = gone.or_else(|| seen.files.iter().find(same).map(FileHead::place));
    }
    // A file that was deleted in the caller's own namespace goes on where it ended.
    let own = exact(call)?;
    if let Some(place) = gone.filter(|place| place.namespace == own) {
        return Ok(place);
    }
    if is_secret(&wanted) {
        return Err(Error::argument(field, "holds a secret", "give the file another name"));
    }
    Ok(Place::new(own, wanted))
}

/// Whether a path must not be written down anywhere.
pub(crate) fn is_secret(path: &VaultPath) -> bool {
    redact(&path.to_string()).is_redacted()
}

/// What lies where `wanted` would, or under a name that is the same to a person, and cannot be read.
///
/// # Errors
/// Its name is not written as those of the vault's files: whoever asks for it cannot be given it, nor make another one.
pub(crate) fn unreadable(namespace: &Name, seen: &Seen, wanted: &VaultPath) -> Result<Option<Place>, Error> {
    // A file that could be read once is among the files.
    let is_known =
        |path: &VaultPath| seen.files.iter().any(|f| f.path == *path && f.state != FileState::Gone);
    if is_known(wanted) {
        return Ok(None);
    }
    let key = wanted.key();
    for problem in &seen.problems {
        let Some(path) = path_of(&problem.place).filter(|path| path.key() == key) else {
            continue;
        };
        if is_known(&path) {
            continue;
        }
        if path.to_string() != problem.place {
            return Err(Error::Conflict {
                message: format!("`{}` cannot be used: {}", problem.place, problem.reason),
                hint: format!("rename the file to `{path}`; everything else works"),
            });
        }
        return Ok(Some(Place { namespace: namespace.clone(), path, exists: true }));
    }
    Ok(None)
}

/// The path that a place in a namespace's folder would have, its ending in small letters.
fn path_of(place: &str) -> Option<VaultPath> {
    let (stem, end) = place.rsplit_once('.')?;
    VaultPath::parse(&format!("{stem}.{}", end.to_ascii_lowercase())).ok()
}

/// Where the file lies that `name` means and that must be there.
///
/// # Errors
/// As for [`locate`]; `NotFound`.
pub(crate) fn locate_existing(
    engine: &Engine,
    call: &Call<'_>,
    field: &str,
    name: &str,
) -> Result<Place, Error> {
    let place = locate(engine, call, field, name)?;
    if place.exists { Ok(place) } else { Err(place.no_file()) }
}

/// The file among `files` that is there and is meant.
fn named<'f>(
    files: &'f [FileHead],
    wanted: &VaultPath,
    is_bare: bool,
    field: &str,
) -> Result<Option<&'f FileHead>, Error> {
    let there = || files.iter().filter(|file| file.state != FileState::Gone);
    let key = wanted.key();
    let exact = there().find(|file| file.path == *wanted);
    if let Some(found) = exact.or_else(|| there().find(|file| file.path.key() == key)) {
        return Ok(Some(found));
    }
    let deeper: Vec<&FileHead> =
        there().filter(|file| is_bare && file.path.key().rsplit('/').next() == Some(key.as_str())).collect();
    if deeper.len() > 1 {
        let places: Vec<String> = deeper.iter().map(|file| format!("`{}`", file.path)).collect();
        let message = format!("names {} files: {}", deeper.len(), places.join(", "));
        return Err(Error::argument(field, message, "give the path of the one that is meant"));
    }
    Ok(deeper.first().copied())
}

fn wanted(name: &str) -> Result<(VaultPath, bool), NameError> {
    let name = name.trim();
    if !name.contains('/') {
        return Ok((VaultPath::of_domain(Name::domain(name)?), true));
    }
    match VaultPath::parse(name) {
        Err(NameError::NotMarkdown) => Ok((VaultPath::parse(&format!("{name}.md"))?, false)),
        parsed => Ok((parsed?, false)),
    }
}

fn unusable(field: &str, error: &NameError) -> Error {
    Error::argument(field, format!("cannot be a file's name: {error}"), "use letters, digits, `-` and `_`")
}
