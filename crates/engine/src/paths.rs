//! Paths that a caller gives: clients behind a protocol stay inside the project and the home.

use std::path::{Path, PathBuf};

use strata_core::principal::{Face, PrincipalKind};
use strata_store::files::{canonical, confine, resolve};

use crate::{authority, engine::Engine, error::Error, operation::Call};

/// The real path of something that is there and that the caller named, if it may reach there. A relative path
/// starts where a command was typed, or for other callers at the project's root.
///
/// # Errors
/// `File` when nothing is there; `Outside` (and a line in the audit) when it lies outside.
pub fn reachable(engine: &Engine, call: &Call<'_>, field: &str, given: &str) -> Result<PathBuf, Error> {
    let named = from_start(engine, call, given);
    if let Err(source) = std::fs::symlink_metadata(&named) {
        return Err(Error::File { path: named.display().to_string(), source });
    }
    confined(engine, call, field, "read a path", canonical(&named)?)
}

/// The same for a file that need not be there yet.
///
/// # Errors
/// `Outside` (and a line in the audit) when it lies outside.
pub fn writable(engine: &Engine, call: &Call<'_>, field: &str, given: &str) -> Result<PathBuf, Error> {
    let path = resolve(&from_start(engine, call, given))?;
    confined(engine, call, field, "write a file", path)
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
    // Whoever types commands can read and write the file anyway; a client behind a protocol cannot.
    let is_person = matches!(call.principal.kind, PrincipalKind::Human | PrincipalKind::System);
    if is_person || call.face == Face::Cli {
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
