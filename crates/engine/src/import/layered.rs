//! A home of layered-memory as it is found: which folders are namespaces, which databases and files lie beside them.
//! Nothing in it is ever written.

pub(super) mod beside;
pub(super) mod config;
pub(super) mod index;
pub(super) mod reviews;
pub(super) mod todos;

use std::path::{Path, PathBuf};

use strata_core::{
    knowledge::name::{Name, VaultPath},
    scope::SHARED,
};
use strata_store::vault::{Reading, Vault};

use crate::{engine::Engine, error::Error, operation::Call, paths};

/// Where an older home keeps its Markdown.
const KNOWLEDGE: &str = "knowledge";

/// A home of layered-memory.
#[derive(Debug)]
pub(super) struct OlderHome {
    /// Its folder.
    pub(super) root: PathBuf,
    /// Its Markdown, seen as one namespace.
    pub(super) whole: Vault,
    /// The name of the folder of all Markdown, below the root of `whole`.
    pub(super) folder: Name,
    /// Its Markdown, seen as a folder of namespaces.
    pub(super) parts: Vault,
    /// The folders in it that are namespaces.
    pub(super) namespaces: Vec<Name>,
}

impl OlderHome {
    /// Looks at a folder. Its folders are namespaces when `wanted` names them, or, without that, when one of them is
    /// the shared one: that program makes it as soon as an agent has a namespace.
    ///
    /// # Errors
    /// It is no home of layered-memory; a namespace that was named is not there.
    pub(super) fn open(
        engine: &Engine,
        call: &Call<'_>,
        root: PathBuf,
        wanted: Option<&[String]>,
    ) -> Result<Self, Error> {
        let inside = root.join(KNOWLEDGE);
        if !inside.is_dir() {
            let message = format!("holds no folder `{KNOWLEDGE}`");
            return Err(Error::argument(
                "path",
                message,
                "name the home of layered-memory, such as ~/.layered-memory",
            ));
        }
        // It may be a link: people keep such files in repositories.
        let inside = paths::reachable(engine, call, "path", &inside.to_string_lossy())?;
        let (above, name) = (inside.parent().unwrap_or(&inside), inside.file_name().unwrap_or_default());
        let name = name.to_string_lossy();
        let folder = Name::parse(&name).ok().filter(|parsed| parsed.as_str() == name);
        let folder = folder.ok_or_else(|| {
            let message = format!("`{KNOWLEDGE}` is a link to a folder whose name cannot be read");
            Error::argument("path", message, "give that folder a plain name")
        })?;
        let locks = engine.home().join("locks");
        let (whole, parts) = (Vault::new(above, &locks), Vault::new(&inside, &locks));
        let namespaces = namespaces(&parts, wanted)?;
        Ok(Self { root, whole, folder, parts, namespaces })
    }

    /// A file or folder of it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Whether a place below its Markdown belongs to a namespace.
    pub(super) fn is_of_namespace(&self, place: &str) -> bool {
        let first = place.split('/').next().unwrap_or_default();
        self.namespaces.iter().any(|name| name.as_str() == first)
    }
}

fn namespaces(parts: &Vault, wanted: Option<&[String]>) -> Result<Vec<Name>, Error> {
    let mut there = parts
        .namespaces()
        .map_err(|source| Error::File { path: parts.root().display().to_string(), source })?;
    // A link to a file is told of among the files.
    there.retain(|name| parts.root().join(name.as_str()).is_dir());
    let Some(wanted) = wanted else {
        let is_namespaced = there.iter().any(|name| name.as_str() == SHARED);
        return Ok(if is_namespaced { there } else { Vec::new() });
    };
    wanted
        .iter()
        .map(|name| {
            there.iter().find(|known| known.as_str() == name).cloned().ok_or_else(|| {
                let message = format!("names `{name}`, which is no folder of `{KNOWLEDGE}`");
                Error::argument("namespaces", message, "name folders, or leave it out")
            })
        })
        .collect()
}

/// Whether a file is there.
pub(super) fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// The text of a file of its knowledge: in the shared folder, or below all of them.
fn text_of(home: &OlderHome, shared: &Name, path: &VaultPath) -> Option<String> {
    let has_folder = home.namespaces.contains(shared);
    let in_shared = has_folder.then(|| home.parts.read(shared, path));
    let below_all = || home.whole.read(&home.folder, path);
    let read = |found| match found {
        Ok(Reading::Text(text)) => Some(text),
        _ => None,
    };
    in_shared.and_then(read).or_else(|| read(below_all()))
}
