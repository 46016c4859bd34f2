//! Paths that a caller gives: clients behind a protocol stay inside the project and the home.

use std::path::{Path, PathBuf};

use strata_core::principal::{Face, PrincipalKind};
use strata_store::files::canonical;

use crate::{authority, engine::Engine, error::Error, operation::Call};

/// The real path of what the caller named, if it may reach there. Relative paths start at the project's
/// root.
///
/// # Errors
/// `File` when nothing is there; `Argument` (and a line in the audit) when it lies outside.
pub fn reachable(engine: &Engine, call: &Call<'_>, field: &str, given: &str) -> Result<PathBuf, Error> {
    let root = engine.settings().project_root.as_deref();
    let path = root.map_or_else(|| PathBuf::from(given), |root| root.join(given));
    let real = canonical(&path)?;
    // Whoever types commands can read the file anyway; a client behind a protocol cannot.
    if call.face == Face::Cli || matches!(call.principal.kind, PrincipalKind::Human | PrincipalKind::System) {
        return Ok(real);
    }
    let inside = |folder: &Path| canonical(folder).is_ok_and(|folder| real.starts_with(folder));
    if root.is_some_and(inside) || inside(engine.home()) {
        return Ok(real);
    }
    authority::record_refusal(
        engine,
        call,
        "read a path",
        None,
        "",
        "the path lies outside the project and the home",
    )?;
    Err(Error::argument(
        field,
        "lies outside the project and the home",
        "name a path inside the project, or ask a person to run the command",
    ))
}
