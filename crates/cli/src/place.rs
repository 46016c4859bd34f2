//! Where a command acts: the home and the scope.

use std::path::{Path, PathBuf};

use strata_core::{
    error::ErrorKind,
    scope::{SHARED, Scope},
};
use strata_engine::{
    error::Error,
    settings::{self, Settings},
};

use crate::{
    arguments::Global,
    environment::{CLAUDE_PROJECT_DIR, Environment, STRATA_HOME, STRATA_NAMESPACE, STRATA_PROJECT},
    failure::Failure,
};

/// The directory under the user's own that holds the default store.
const DEFAULT_HOME: &str = ".strata";

/// The home: told, else from the environment, else `~/.strata`. Never chosen because a folder exists.
pub(crate) fn home(told: Option<&Path>, environment: &Environment) -> Result<PathBuf, Failure> {
    let chosen = told.map(Path::to_path_buf).or_else(|| environment.raw(STRATA_HOME).map(PathBuf::from));
    let home = match chosen {
        Some(path) => path,
        None => user_home()
            .ok_or_else(|| {
                Failure::new(
                    ErrorKind::Unavailable,
                    "the user has no home directory",
                    "name a store with --home DIR",
                )
            })?
            .join(DEFAULT_HOME),
    };
    std::path::absolute(&home).map_err(|e| {
        Failure::usage(
            format!("`{}` is not a directory name: {e}", home.display()),
            "name a directory with --home DIR",
        )
    })
}

/// The user's own directory.
pub(crate) fn user_home() -> Option<PathBuf> {
    etcetera::home_dir().ok().filter(|p| p.is_absolute())
}

/// The engine's settings for a home: its `config.toml` and the user's time zone.
pub(crate) fn settings(home: &Path) -> Result<Settings, Error> {
    let config = settings::read_config(home)?;
    let zone = match &config.timezone {
        Some(name) => jiff::tz::TimeZone::get(name).map_err(|e| {
            Error::argument(
                "timezone",
                e.to_string(),
                "use an IANA name such as Europe/Berlin in config.toml",
            )
        })?,
        None => jiff::tz::TimeZone::system(),
    };
    Ok(Settings { zone, config, ..Settings::for_home(home) })
}

/// What decides the scope, kept so that a server can look again at every call.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    namespace: String,
    /// A project's key or a directory inside it, as told.
    told: Option<PathBuf>,
    /// Where to look for a project when none is told.
    directory: Option<PathBuf>,
}

impl Place {
    /// From arguments, environment and working directory.
    pub(crate) fn new(global: &Global, environment: &Environment) -> Self {
        let told = global.project.clone().or_else(|| environment.raw(STRATA_PROJECT).cloned());
        let client = environment.raw(CLAUDE_PROJECT_DIR).map(PathBuf::from);
        let namespace = global.namespace.clone().or_else(|| environment.text(STRATA_NAMESPACE));
        Self {
            namespace: namespace.unwrap_or_else(|| SHARED.to_owned()),
            told: told.map(PathBuf::from).filter(|p| !p.as_os_str().is_empty()),
            directory: client.or_else(|| std::env::current_dir().ok()),
        }
    }

    /// The scope now.
    pub(crate) fn scope(&self) -> Scope {
        let project = self.told.as_ref().map(|key| key.to_string_lossy().into_owned());
        Scope { namespace: self.namespace.clone(), project, branch: None }
    }
}
