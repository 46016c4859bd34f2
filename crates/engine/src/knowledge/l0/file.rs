//! The index as a file.

use std::path::{Path, PathBuf};

use strata_core::{
    knowledge::{l0::foreign_line, name::Name},
    scope::SHARED,
    time::Timestamp,
};
use strata_store::files::{self, FileLock};

use crate::{engine::Engine, error::Error, operation::Call, paths};

/// A larger file is no index.
const MAX_FILE: u64 = 1 << 20;
/// Its name where the configuration has no other.
const NAME: &str = "L0";

/// Where the index of a namespace lies, and what is there.
#[derive(Debug)]
pub(super) struct IndexFile {
    pub(super) path: PathBuf,
    /// `None` when there is no file.
    pub(super) text: Option<String>,
}

impl IndexFile {
    /// The file of a namespace's index; `None` where it is no file.
    pub(super) fn read(engine: &Engine, namespace: &Name) -> Result<Option<Self>, Error> {
        let Some(path) = place(engine, namespace) else { return Ok(None) };
        paths::rendering(engine, "knowledge.l0.file", &path)?;
        if !path.exists() {
            return Ok(Some(Self { path, text: None }));
        }
        let bytes = files::read_regular(&path, MAX_FILE)?;
        let text = String::from_utf8(bytes).map_err(|_| Error::Conflict {
            message: format!("{} is not UTF-8", path.display()),
            hint: "remove it: the index is written anew".into(),
        })?;
        if let Some(line) = foreign_line(&text) {
            return Err(Error::Conflict {
                message: format!("line {line} of {} belongs to no index of knowledge", path.display()),
                hint: "keep that text elsewhere and remove the file: the index is written anew".into(),
            });
        }
        Ok(Some(Self { path, text: Some(text) }))
    }

    /// Replaces it in one step. It is not forced to the disk: whatever is lost is made anew.
    pub(super) fn replace(&self, text: &str) -> Result<(), Error> {
        files::make_private_directory(folder(&self.path))?;
        Ok(files::write_derived(&self.path, text.as_bytes())?)
    }
}

/// When the file was last saved.
pub(super) fn modified(path: &Path) -> Timestamp {
    std::fs::metadata(path).map_or(Timestamp(0), |metadata| files::modified(&metadata))
}

/// Keeps other processes from writing the index of a namespace meanwhile; `None` where it is no file.
pub(super) fn lock(engine: &Engine, call: &Call<'_>, namespace: &Name) -> Result<Option<FileLock>, Error> {
    let Some(path) = place(engine, namespace) else { return Ok(None) };
    paths::rendering(engine, "knowledge.l0.file", &path)?;
    files::make_private_directory(folder(&path))?;
    Ok(Some(FileLock::acquire(&engine.home().join("locks"), &path, &engine.control(call))?))
}

/// The namespaces whose index is a file already.
pub(super) fn namespaces(engine: &Engine) -> Vec<Name> {
    let Some(shared) = shared_place(engine) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(folder(&shared)) else { return Vec::new() };
    let stem = shared.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let found = entries.flatten().filter_map(|entry| {
        let name = entry.file_name();
        let path = Path::new(&name);
        let own_stem = path.file_stem()?.to_str()?;
        let namespace = match own_stem.strip_prefix(&stem)? {
            "" => SHARED,
            rest => rest.strip_prefix('-')?,
        };
        (path.extension() == shared.extension()).then(|| Name::parse(namespace).ok()).flatten()
    });
    found.collect()
}

pub(super) fn place(engine: &Engine, namespace: &Name) -> Option<PathBuf> {
    let shared = shared_place(engine)?;
    if namespace.as_str() == SHARED {
        return Some(shared);
    }
    let stem = shared.file_stem()?.to_str()?;
    let name = match shared.extension().and_then(|end| end.to_str()) {
        Some(end) => format!("{stem}-{namespace}.{end}"),
        None => format!("{stem}-{namespace}"),
    };
    Some(shared.with_file_name(name))
}

fn shared_place(engine: &Engine) -> Option<PathBuf> {
    match &engine.settings().config.knowledge.l0.file {
        Some(path) => Some(engine.home().join(path)),
        None if engine.settings().store.is_none() => {
            Some(engine.home().join("vault").join(NAME).with_extension("md"))
        }
        None => None,
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
