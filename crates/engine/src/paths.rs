//! Paths that a caller gives: clients behind a protocol stay inside the project and the home.

use std::path::{Path, PathBuf};

use strata_core::principal::{Face, PrincipalKind};
use strata_store::files::{canonical, confine, resolve};

use crate::{authority, engine::Engine, error::Error, operation::Call, project::layout};

/// Files and folders of the home that are the store's, a person's or the gate's, never a report's.
const KEPT: [&str; 13] = [
    "config.toml",
    layout::trust::FILE,
    "purged.jsonl",
    "changelog.jsonl",
    "ontology.jsonl",
    "proposals",
    "vault",
    "hot",
    "hot-pages",
    "global-deep",
    "backups",
    "locks",
    "models",
];
/// How the names of its databases begin, with what lies beside them.
const KEPT_BEGINNINGS: [&str; 2] = ["ledger.db", "index-"];
/// Of these, what nobody behind a protocol reads: its bytes hold what every project told, and no scope.
const PRIVATE: [&str; 5] = ["config.toml", "purged.jsonl", "backups", "locks", "models"];

/// The real path of something that is there and that the caller named, if it may reach there. A relative path
/// starts where a command was typed, or for other callers at the project's root.
///
/// # Errors
/// `File` when nothing is there; `Outside` (and a line in the audit) when it lies outside; an argument error (and a
/// line in the audit) for the home's databases, backups and settings.
pub fn reachable(engine: &Engine, call: &Call<'_>, field: &str, given: &str) -> Result<PathBuf, Error> {
    let named = from_start(engine, call, given);
    // Whether something is there is told only of places that the caller may reach.
    let path = confined(engine, call, field, "read a path", resolve(&named)?)?;
    if !is_trusted(call) && is_private(engine, &path)? {
        let reason = "the file is the home's own";
        authority::record_refusal(engine, call, "read a path", None, "", reason)?;
        let hint = "what is stored is read with `recall` and `inspect`";
        return Err(Error::argument(field, "names a file that the home keeps for itself", hint));
    }
    if let Err(source) = std::fs::symlink_metadata(&path) {
        return Err(Error::File { path: named.display().to_string(), source });
    }
    Ok(canonical(&path)?)
}

/// The same for a file or folder that need not be there yet.
///
/// # Errors
/// `Outside` (and a line in the audit) when it lies outside; an argument error when the home keeps something of its
/// own there: a report in the place of `config.toml` would keep every command from starting.
pub fn writable(engine: &Engine, call: &Call<'_>, field: &str, given: &str) -> Result<PathBuf, Error> {
    let path = resolve(&from_start(engine, call, given))?;
    let path = confined(engine, call, field, "write a file", path)?;
    if is_kept(engine, &path)? {
        let hint = "choose another name or folder; nothing was written";
        return Err(Error::argument(field, "names a place where the home keeps its own files", hint));
    }
    Ok(path)
}

/// Whether a setting may have the file at `path` rendered anew with every change: not one of the home's own.
///
/// # Errors
/// An argument error that names the setting.
pub(crate) fn rendering(engine: &Engine, setting: &str, path: &Path) -> Result<(), Error> {
    let (path, home) = (resolve(path)?, resolve(engine.home())?);
    let is_usual =
        path == home.join("changelog.jsonl") || path.parent() == Some(home.join("vault").as_path());
    if !is_usual && is_kept(engine, &path)? {
        let message = "names a place where the home keeps its own files";
        return Err(Error::argument(setting, message, "name another file in config.toml"));
    }
    Ok(())
}

/// Whether the home keeps something of its own at `path`, now or later.
fn is_kept(engine: &Engine, path: &Path) -> Result<bool, Error> {
    let gate = &engine.settings().config.gate;
    for told in gate.ontology.iter().chain(&gate.proposals) {
        if path.starts_with(resolve(&engine.home().join(told))?) {
            return Ok(true);
        }
    }
    let Ok(inside) = path.strip_prefix(resolve(engine.home())?) else { return Ok(false) };
    let mut parts = inside.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase());
    let Some(first) = parts.next() else { return Ok(false) };
    let is_wiki = first == "vault" && parts.next().is_some_and(|second| second == "wiki");
    let begins = |word: &&str| first.starts_with(*word);
    Ok(!is_wiki && (KEPT.contains(&first.as_str()) || KEPT_BEGINNINGS.iter().any(begins)))
}

/// Whether `path` is a file of the home whose bytes belong to no single project.
fn is_private(engine: &Engine, path: &Path) -> Result<bool, Error> {
    if let Some(key) = &engine.settings().config.judge.key_file
        && *path == resolve(&engine.home().join(key))?
    {
        return Ok(true);
    }
    let Ok(inside) = path.strip_prefix(resolve(engine.home())?) else { return Ok(false) };
    let first = inside.components().next().map(|part| part.as_os_str().to_string_lossy().to_lowercase());
    Ok(first.is_some_and(|first| {
        PRIVATE.contains(&first.as_str()) || KEPT_BEGINNINGS.iter().any(|word| first.starts_with(*word))
    }))
}

/// Whoever types commands can read and write any file anyway; a client behind a protocol cannot.
fn is_trusted(call: &Call<'_>) -> bool {
    let is_person = matches!(call.principal.kind, PrincipalKind::Human | PrincipalKind::System);
    is_person || call.face == Face::Cli
}

fn from_start(engine: &Engine, call: &Call<'_>, given: &str) -> PathBuf {
    let root = engine.settings().project_root.as_deref().filter(|_| call.face != Face::Cli);
    root.map_or_else(|| PathBuf::from(given), |root| root.join(given))
}

fn confined(
    engine: &Engine,
    call: &Call<'_>,
    field: &str,
    action: &str,
    path: PathBuf,
) -> Result<PathBuf, Error> {
    if is_trusted(call) {
        return Ok(path);
    }
    let root = engine.settings().project_root.as_deref();
    let inside: Vec<&Path> = root.into_iter().chain([engine.home()]).collect();
    if confine(&path, &inside)?.is_some() {
        return Ok(path);
    }
    let reason = "the path lies outside the project and the home";
    authority::record_refusal(engine, call, action, None, "", reason)?;
    Err(Error::Outside { field: field.to_owned(), principal: call.principal.to_string() })
}
