//! Where a command acts: the home and the scope.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use jiff::tz::TimeZone;
use strata_core::{error::ErrorKind, scope::Scope};
use strata_engine::{
    error::Error,
    project::{self, Project},
    settings::{
        self, Config, Key, Settings, StoreAddress, keys::Key as Setting, project::VectorBackend, value::Sort,
    },
};
use strata_store::{Server, TlsOptions, files::canonical, ledger::LOCAL};

use crate::{
    arguments::Global,
    environment::{
        CLAUDE_PROJECT_DIR, Environment, LAYERED_MEMORY_NAMESPACE, MEMORY_ENGINE_PROJECT_ROOT,
        P_LAYER_PG_DSN, P0_ONTOLOGY, P0_PROPOSALS, PGSSLCERT, PGSSLKEY, PGSSLMODE, PGSSLROOTCERT,
        STRATA_HOME, STRATA_NAMESPACE, STRATA_PROJECT, STRATA_STORE, STRATA_TENANT,
    },
    failure::Failure,
    older::Older,
};

/// The directory under the user's own that holds the default store.
const DEFAULT_HOME: &str = ".strata";

/// The home: told, else from the environment, else `~/.strata`. Never chosen because a folder exists.
pub(crate) fn home(told: Option<&Path>, environment: &Environment) -> Result<PathBuf, Failure> {
    let chosen = told.map(Path::to_path_buf).or_else(|| environment.raw(STRATA_HOME).map(PathBuf::from));
    let home = match chosen {
        Some(path) => below_user_home(path, user_home()),
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

/// A leading `~` stands for the user's own directory: configurations of MCP clients reach us without a
/// shell that would have put it in.
pub(crate) fn below_user_home(path: PathBuf, user_home: Option<PathBuf>) -> PathBuf {
    match (path.strip_prefix("~"), user_home) {
        (Ok(rest), Some(user_home)) => user_home.join(rest),
        _ => path,
    }
}

/// The user's own directory.
pub(crate) fn user_home() -> Option<PathBuf> {
    etcetera::home_dir().ok().filter(|p| p.is_absolute())
}

/// The engine's settings for a home: its `config.toml`, what the project narrows and what the environment and older programs'
/// variables ask for, the user's time zone and the project's place. What of it makes no sense is logged.
pub(crate) fn settings(home: &Path, place: &Place, environment: &Environment) -> Result<Settings, Error> {
    older_namespace(environment)?;
    let mut config = settings::read_config(home)?;
    if let Some(root) = place.root() {
        config.narrow_by_project(&root, home);
    }
    config.apply_variables(|setting, name| variable(setting, name, environment));
    for notice in &config.notices {
        tracing::warn!("{notice}");
    }
    older_files_of_the_gate(&mut config, environment)?;
    let judge_key = judge_key(config.judge.key_env.as_deref(), environment)?;
    let mut settings = Settings {
        store: store(place, &config)?,
        tls: place.tls.clone(),
        zone: zone(config.timezone.as_deref())?,
        judge_key,
        words_only: place.words_only || is_words_only(&config),
        config,
        project_root: place.root(),
        ..Settings::for_home(home)
    };
    Older::new(environment).apply(&mut settings);
    Ok(settings)
}

/// Whether the settings want searches by words alone.
fn is_words_only(config: &Config) -> bool {
    config.semantic.is_words_only() || config.project.retrieval.vector_backend == VectorBackend::None
}

/// The files that the variables of p-layer name stand before those of the configuration.
fn older_files_of_the_gate(config: &mut Config, environment: &Environment) -> Result<(), Error> {
    let gate = &mut config.gate;
    for (name, setting) in [(P0_ONTOLOGY, &mut gate.ontology), (P0_PROPOSALS, &mut gate.proposals)] {
        let Some(path) = environment.raw(name) else { continue };
        let path = below_user_home(PathBuf::from(path), user_home());
        let unusable = |source| Error::File { path: path.display().to_string(), source };
        *setting = Some(std::path::absolute(&path).map_err(unusable)?);
    }
    Ok(())
}

/// The time zone that the configuration names, else the system's.
fn zone(name: Option<&str>) -> Result<TimeZone, Error> {
    let Some(name) = name else { return Ok(TimeZone::system()) };
    let hint = "use an IANA name such as Europe/Berlin in config.toml";
    TimeZone::get(name).map_err(|e| Error::argument("timezone", e.to_string(), hint))
}

/// A variable that stands for a setting; in a path a leading `~` is the user's own directory.
fn variable(setting: &Setting, name: &str, environment: &Environment) -> Option<String> {
    let text = environment.given(name)?;
    let is_path = setting.sort == Sort::Path && !text.trim().is_empty();
    Some(if is_path {
        below_user_home(PathBuf::from(text.trim()), user_home()).display().to_string()
    } else {
        text
    })
}

/// The namespace that layered-memory's variable names. A wrong one must not become the one that everybody sees.
fn older_namespace(environment: &Environment) -> Result<Option<String>, Error> {
    let Some(text) = environment.text(LAYERED_MEMORY_NAMESPACE) else { return Ok(None) };
    let name = text.trim().to_lowercase();
    let fits = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    if fits {
        return Ok(Some(name));
    }
    let hint = format!("use letters, digits, `-` and `_`, or name one with {STRATA_NAMESPACE}");
    Err(Error::argument(LAYERED_MEMORY_NAMESPACE, "is no namespace", hint))
}

/// The key in the variable that the configuration names. Without the variable the judge is asked without a key.
fn judge_key(variable: Option<&str>, environment: &Environment) -> Result<Option<Key>, Error> {
    let text = variable.and_then(|name| environment.text(name));
    text.map(|text| Key::new(text.trim()).map_err(|e| Error::parse("judge.key_env", &e))).transpose()
}

/// The same with the configuration left aside, because it cannot be read.
pub(crate) fn settings_without_config(home: &Path, place: &Place) -> Result<Settings, Error> {
    Ok(Settings {
        store: store(place, &Config::default())?,
        tls: place.tls.clone(),
        zone: jiff::tz::TimeZone::system(),
        project_root: place.root(),
        ..Settings::for_home(home)
    })
}

/// The server that holds the store, if one was named.
fn store(place: &Place, config: &Config) -> Result<Option<Server>, Error> {
    let address = place.store.as_ref().or(config.store.as_ref());
    let tenant = place.tenant.as_deref().or(config.tenant.as_deref());
    match (address, tenant) {
        (Some(address), tenant) => address.server(tenant, &place.tls).map(Some),
        (None, None | Some(LOCAL)) => Ok(None),
        (None, Some(_)) => Err(Error::argument(
            "tenant",
            "a store in the home has one tenant, `local`",
            "name the server with `--store URL`, or leave the tenant out",
        )),
    }
}

/// What decides the scope, kept so that a server can look again at every call.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    namespace: Option<String>,
    project: Told,
    words_only: bool,
    store: Option<StoreAddress>,
    tls: TlsOptions,
    tenant: Option<String>,
}

/// The project's top directory, as an option or memory-engine's variable names it; the option wins, and so does whatever
/// else names the project.
///
/// # Errors
/// It is no directory that can be one.
pub(crate) fn told_root(told: Option<&Path>, environment: &Environment) -> Result<Option<PathBuf>, Failure> {
    let by_variable = || {
        let path =
            environment.raw(MEMORY_ENGINE_PROJECT_ROOT).filter(|_| environment.raw(STRATA_PROJECT).is_none());
        path.map(PathBuf::from)
    };
    let Some(told) = told.map(Path::to_path_buf).or_else(by_variable) else { return Ok(None) };
    let path = below_user_home(told, user_home());
    let shown = path.display().to_string().replace(char::is_control, " ");
    match std::fs::metadata(&path) {
        Ok(found) if !found.is_dir() => {
            Err(Failure::root(format!("project root is not a directory: {shown}")))
        }
        Ok(_) => match canonical(&path) {
            Ok(root) if root.parent().is_some() => Ok(Some(root)),
            Ok(_) => Err(Failure::root("project root is the whole file system: /")),
            Err(_) => Err(Failure::root(format!("project root cannot be read: {shown}"))),
        },
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::root(format!("project root does not exist: {shown}")))
        }
        Err(e) => Err(Failure::root(format!("project root cannot be used: {shown}: {e}"))),
    }
}

/// How the project was told.
#[derive(Debug, Clone)]
enum Told {
    /// By its top directory.
    Root(PathBuf),
    /// By its key.
    Key(String),
    /// By a directory inside it, or by where the command runs.
    Directory(PathBuf),
    /// Not at all, and the working directory is gone.
    Nothing,
}

impl Place {
    /// From arguments, environment and working directory.
    pub(crate) fn new(global: &Global, environment: &Environment) -> Self {
        let told = global.project.clone().or_else(|| environment.raw(STRATA_PROJECT).cloned());
        let told = told.filter(|t| !t.is_empty() && global.project_root.is_none());
        let project = match told {
            _ if global.project_root.is_some() => {
                global.project_root.clone().map_or(Told::Nothing, Told::Root)
            }
            Some(told) if is_directory(&told) => Told::Directory(told.into()),
            Some(key) => Told::Key(key.to_string_lossy().into_owned()),
            None => {
                let client = environment.raw(CLAUDE_PROJECT_DIR).map(PathBuf::from);
                client.or_else(|| std::env::current_dir().ok()).map_or(Told::Nothing, Told::Directory)
            }
        };
        let namespace = global.namespace.clone().or_else(|| environment.text(STRATA_NAMESPACE));
        // A wrong one is refused where the settings are read.
        let namespace = namespace.or_else(|| older_namespace(environment).unwrap_or_default());
        let named = [STRATA_STORE, P_LAYER_PG_DSN].into_iter().find_map(|name| environment.text(name));
        Self {
            namespace,
            project,
            words_only: global.words_only,
            store: global.store.clone().or_else(|| named.map(StoreAddress::new)),
            tls: TlsOptions {
                mode: environment.text(PGSSLMODE),
                roots: environment.text(PGSSLROOTCERT),
                certificate: environment.text(PGSSLCERT),
                key: environment.text(PGSSLKEY),
            },
            tenant: global.tenant.clone().or_else(|| environment.text(STRATA_TENANT)),
        }
    }

    /// The scope now: the branch may have changed since the last look. The namespace is the told one, else that of the
    /// configuration in `home`.
    pub(crate) fn scope(&self, home: &Path) -> Scope {
        let configured = || settings::read_config(home).ok()?.namespace;
        let namespace = self.namespace.clone().or_else(configured);
        let named = |key| project::named_scope(namespace.as_deref(), key);
        match (&self.project, self.project()) {
            (Told::Key(key), _) => named(Some(key)),
            (_, Some(project)) => project.scope(&named(None).namespace),
            _ => named(None),
        }
    }

    /// The project's top directory, or the directory that was told. The file system's root and the
    /// user's own directory are too wide to count.
    pub(crate) fn root(&self) -> Option<PathBuf> {
        let directory = match &self.project {
            Told::Root(root) => return Some(root.clone()),
            Told::Directory(directory) => directory,
            Told::Key(_) | Told::Nothing => return None,
        };
        let narrow = directory.parent().is_some() && Some(directory) != user_home().as_ref();
        self.project().map(|p| p.root).or_else(|| narrow.then(|| directory.clone()))
    }

    fn project(&self) -> Option<Project> {
        match &self.project {
            Told::Root(root) => project::at(root),
            Told::Directory(directory) => project::resolve(directory, user_home().as_deref()),
            Told::Key(_) | Told::Nothing => None,
        }
    }
}

/// Whether a project was told as a directory: `.`, `..`, or anything with a separator. All else is a key,
/// so that a folder that happens to have the key's name changes nothing.
fn is_directory(told: &OsStr) -> bool {
    let text = told.to_string_lossy();
    matches!(&*text, "." | "..") || text.contains(std::path::is_separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_users_own_directory() {
        let below = |path: &str| below_user_home(path.into(), Some("/home/ana".into()));
        assert_eq!(below("~/.strata"), Path::new("/home/ana/.strata"));
        assert_eq!(below("~"), Path::new("/home/ana"));
        for path in ["/srv/~/x", "~other/x", "relative", "/abs"] {
            assert_eq!(below(path), Path::new(path));
        }
        assert_eq!(below_user_home("~/x".into(), None), Path::new("~/x"));
    }

    #[test]
    fn a_project_is_told_by_key_or_by_directory() {
        for directory in [".", "..", "./app", "/src/app", "app/"] {
            assert!(is_directory(OsStr::new(directory)), "{directory}");
        }
        assert!(!is_directory(OsStr::new("app-12ab34")));
    }
}
