//! What Strata keeps in a project: the folder, its settings, the files that people write.
//!
//! Nothing else in a project is written unless a person asks for it by a command of its own. The folder comes with a clone, so
//! nothing in it is followed out of it, and nothing that is there is written over.

pub mod human;
mod init;
pub mod trust;
mod trusting;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use strata_store::files::{canonical, write_atomic};

use super::{FOLDER, policy};
use crate::{
    engine::Engine,
    error::Error,
    operation::Call,
    settings::{CONFIG_FILE, keys::Key, project_keys::PROJECT_KEYS},
};

/// The settings of a project, as they hold: `engine.settings().config.project`.
pub use crate::settings::project::ProjectConfig;
pub use init::Init;
pub use trusting::Trust;

/// Rules that people wrote for the project.
pub const CONSTRAINTS: &str = "constraints.md";
/// How the team works.
pub const TEAM_RULES: &str = "team-rules.md";
/// What was decided.
pub const DECISIONS: &str = "decisions.md";
/// The files of the folder that people write, in the order in which they count.
pub const HUMAN_FILES: [&str; 3] = [CONSTRAINTS, TEAM_RULES, DECISIONS];
/// The folder in it for what is made anew.
pub const GENERATED: &str = "generated";
/// What git is told of the folder, so that what is made or private stays out of commits.
const IGNORED: &str = "# Made anew, or private. The other files of this folder are meant to be committed.\n.gitignore\ngenerated/\nhome/\n";

/// What was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    /// The files, from the project's top.
    pub files: Vec<String>,
}

/// The folder in the project at `root`.
pub fn folder(root: &Path) -> PathBuf {
    root.join(FOLDER)
}

/// Makes the folder, its settings with every line a comment, and the policy, as far as they are not there.
///
/// # Errors
/// A file that cannot be written; a folder that is a link.
pub fn ensure(engine: &Engine, root: &Path) -> Result<Made, Error> {
    let mut made = unseen(engine, root)?;
    let folder = folder(root);
    // A home that lies there has its own settings, which are the user's.
    if !is_home(engine, &folder) {
        made.write(&folder, CONFIG_FILE, &template())?;
    }
    Ok(made)
}

/// Makes the folder by itself where the settings allow it, with what git does not see: a checkout is as clean afterwards as it was.
/// Where that fails everything else goes on.
pub(crate) fn begin(engine: &Engine, call: &Call<'_>) {
    let settings = engine.settings();
    let Some(root) = settings.project_root.as_deref() else { return };
    if settings.config.project.runtime.auto_bootstrap && call.scope.project.is_some() {
        drop(unseen(engine, root));
    }
}

/// The folder and the policy.
fn unseen(engine: &Engine, root: &Path) -> Result<Made, Error> {
    let folder = folder(root);
    plain_directory(&folder)?;
    let mut made = Made::default();
    made.write(&folder, ".gitignore", IGNORED)?;
    if policy::generate::write_if_older(engine, root)? {
        made.files.push(shown(Path::new(GENERATED).join(policy::FILE).as_path()));
    }
    Ok(made)
}

impl Made {
    fn write(&mut self, folder: &Path, name: &str, text: &str) -> Result<(), Error> {
        let path = folder.join(name);
        if fs::symlink_metadata(&path).is_ok() {
            return Ok(());
        }
        write_atomic(&path, text.as_bytes())?;
        self.files.push(shown(Path::new(name)));
        Ok(())
    }
}

fn shown(inside: &Path) -> String {
    format!("{FOLDER}/{}", inside.display())
}

fn is_home(engine: &Engine, folder: &Path) -> bool {
    canonical(engine.home()).is_ok_and(|home| canonical(folder).is_ok_and(|folder| folder == home))
}

/// Makes a directory unless it is there. A link in its place would have us write elsewhere.
pub(super) fn plain_directory(path: &Path) -> Result<(), Error> {
    let explain = |source| Error::File { path: path.display().to_string(), source };
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Error::Conflict {
            message: format!("`{}` is no directory of its own", path.display()),
            hint: "remove what lies there; nothing was written".into(),
        }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => fs::create_dir(path).map_err(explain),
        Err(source) => Err(explain(source)),
    }
}

/// The settings with every line a comment, so that the file says what there is and sets nothing.
fn template() -> String {
    let config = crate::settings::Config::default();
    let mut text = String::from(
        "# Settings of this project. Every key is optional and has its default here. The file comes with a clone, so it narrows\n\
         # what the user's own `config.toml` allows, and sets the rest only after `strata project trust`.\n",
    );
    let keys = || PROJECT_KEYS.iter().filter(|key| !key.is_settled());
    let table_of = |key: &Key| key.name.rsplit_once('.').map_or("", |(table, _)| table);
    let mut tables: Vec<&str> = keys().map(table_of).collect();
    // A table is written once, though its settings may stand apart.
    let mut seen = BTreeSet::new();
    tables.retain(|table| seen.insert(*table));
    for table in tables {
        text.push_str(&format!("\n# [{table}]\n"));
        for key in keys().filter(|key| table_of(key) == table) {
            let name = key.name.rsplit_once('.').map_or(key.name, |(_, name)| name);
            let value = key.line_of(&config).unwrap_or_default();
            text.push_str(format!("# {name} = {value}").trim_end());
            text.push('\n');
        }
    }
    text
}
