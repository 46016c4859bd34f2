//! Where a domain lies: in the caller's namespace, else in the shared one, at the top or in a folder.

use strata_core::{
    knowledge::name::{Name, NameError, VaultPath},
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

    /// The target of its audit rows.
    pub(super) fn target(&self) -> String {
        format!("vault:{}/{}", self.namespace, self.path)
    }
}

/// The namespace that the caller's new files go into.
///
/// # Errors
/// An argument error when the namespace cannot be a folder.
pub fn own_namespace(call: &Call<'_>) -> Result<Name, Error> {
    Name::parse(&call.scope.namespace).map_err(|error| unusable("namespace", &error))
}

/// The namespaces that the caller sees, their own first.
///
/// # Errors
/// As for [`own_namespace`].
pub fn namespaces(call: &Call<'_>) -> Result<Vec<Name>, Error> {
    let own = own_namespace(call)?;
    let shared = Name::parse(SHARED).map_err(|error| unusable("namespace", &error))?;
    Ok(if own == shared { vec![own] } else { vec![own, shared] })
}

/// Where the file lies that `name` means: a domain, with or without `.md`, or a path with `/`. A name that is the same
/// to a person counts (`My Note` finds `my-note.md`); a bare domain is also found in a folder. When there is none it is
/// the place for a new file: the caller's namespace.
///
/// # Errors
/// `field` cannot be a file's name, or names several files in folders.
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
    for (_, seen) in seen {
        if let Some(found) = named(&seen.files, &wanted, is_bare, field)? {
            return Ok(found.place());
        }
        let same = |file: &&FileHead| file.state == FileState::Gone && file.path == wanted;
        gone = gone.or_else(|| seen.files.iter().find(same).map(FileHead::place));
    }
    // A file that was deleted in the caller's own namespace goes on where it ended.
    let own = own_namespace(call)?;
    Ok(gone.filter(|place| place.namespace == own).unwrap_or_else(|| Place::new(own, wanted)))
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
