//! Which project and branch a directory belongs to, read from the repository's own files.
//!
//! The key that is proposed here comes from the `origin` remote where there is one, else from the repository's path;
//! [`identity`] knows by what else a project is recognised, and so what key it goes by.

pub mod anchors;
pub mod branches;
pub mod files;
pub mod identity;
pub(crate) mod ignores;
pub mod layout;
pub mod learn;
pub mod node;
pub mod policy;
pub mod reflection;
pub mod retrieve;

use std::path::{Path, PathBuf};

use strata_core::{
    redact::{clean_text, redact},
    scope::{SHARED, Scope},
};
use unicode_normalization::UnicodeNormalization;

use crate::{engine::Engine, error::Error};

/// The one folder that Strata writes in a project by itself.
pub const FOLDER: &str = ".strata";

/// A project as found on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Stable key: the name and six hexadecimal digits of the identity's BLAKE3.
    pub key: String,
    /// The directory's name, for people.
    pub name: String,
    /// The top directory.
    pub root: PathBuf,
    /// The checked-out branch; `None` outside a repository or with a detached head.
    pub branch: Option<String>,
}

impl Project {
    /// The scope of this project as seen from `namespace`, on its current branch.
    pub fn scope(&self, namespace: &str) -> Scope {
        Scope {
            namespace: namespace.to_owned(),
            project: Some(self.key.clone()),
            branch: self.branch.clone(),
            ancestors: Vec::new(),
        }
    }
}

/// Files by which a project's top is known where there is neither a repository nor a folder of ours.
const MARKERS: [&str; 8] = [
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "setup.py",
    "setup.cfg",
    "CMakeLists.txt",
    "Makefile",
];

/// The project around `directory`: the nearest ancestor that holds `.git` or `.strata`, else the nearest with a file
/// that projects have at their top.
///
/// `None` when there is none, so that a client started in `/` or a bare home writes to the user level.
/// `user_home` is never a project by itself.
pub fn resolve(directory: &Path, user_home: Option<&Path>) -> Option<Project> {
    let directory = strata_store::files::canonical(directory).ok()?;
    let narrow = || directory.ancestors().filter(|d| d.parent().is_some() && Some(*d) != user_home);
    let ours = narrow().find(|d| d.join(".git").exists() || d.join(FOLDER).is_dir());
    let root = ours.or_else(|| narrow().find(|d| MARKERS.iter().any(|name| d.join(name).is_file())))?;
    at(root)
}

/// The project whose top directory is `root`, whatever it holds. Below a repository's top it is a project of its own.
///
/// `None` where there is no such directory, and for the file system's root.
pub fn at(root: &Path) -> Option<Project> {
    let root = strata_store::files::canonical(root).ok().filter(|root| root.is_dir())?;
    let top = root.ancestors().find(|d| d.join(".git").exists());
    let git = top.and_then(git_directories);
    let below = top.and_then(|top| root.strip_prefix(top).ok()).filter(|_| git.is_some());
    let below = below.unwrap_or(Path::new(""));
    let main_root = match &git {
        Some(git) if below.as_os_str().is_empty() => repository_root(&git.common),
        _ => root.as_path(),
    };
    let whole = git.as_ref().filter(|_| below.as_os_str().is_empty());
    let identity = whole.and_then(|git| origin(&git.common));
    let identity = identity.unwrap_or_else(|| main_root.to_string_lossy().nfc().collect());
    let name = storable(&main_root.file_name()?.to_string_lossy());
    Some(Project {
        key: key(&name, &identity),
        name,
        branch: git.as_ref().and_then(|g| branch(&g.own)).map(|branch| storable(&branch)),
        root,
    })
}

/// The top directory of the project that the engine works in.
///
/// # Errors
/// It works in none.
pub(crate) fn root_of(engine: &Engine) -> Result<PathBuf, Error> {
    let root = engine.settings().project_root.clone();
    root.ok_or_else(|| Error::Conflict {
        message: "there is no project here".into(),
        hint: "run it inside a project, or name its directory with --project-root DIR".into(),
    })
}

/// The scope for a caller that named its project by hand instead of by directory.
pub fn named_scope(namespace: Option<&str>, project: Option<&str>) -> Scope {
    Scope {
        namespace: storable(namespace.filter(|n| !n.is_empty()).unwrap_or(SHARED)),
        project: project.filter(|p| !p.is_empty()).map(storable),
        branch: None,
        ancestors: Vec::new(),
    }
}

/// A name as it is stored, and so as it is looked for: composed, so that what a file manager spells in parts is
/// the name that somebody typed; without control characters and secrets. A branch called after a token is a
/// place, so it cannot be refused; it must not be written down either.
pub fn storable(name: &str) -> String {
    let composed: String = name.nfc().collect();
    redact(&clean_text(&composed).text).text.into_owned()
}

/// A worktree's own git directory and the one it shares with its siblings.
struct GitDirectories {
    own: PathBuf,
    common: PathBuf,
}

fn git_directories(root: &Path) -> Option<GitDirectories> {
    // A folder that points at a repository which knows nothing of it must not take the place of that one's project.
    let own = crate::vcs::git_directory(root).ok()?;
    let common = match read_small(&own.join("commondir")) {
        Some(relative) => strata_store::files::canonical(&own.join(relative.trim())).ok()?,
        None => own.clone(),
    };
    Some(GitDirectories { own, common })
}

/// The main checkout of a common git directory, or the directory itself for a bare repository.
fn repository_root(common: &Path) -> &Path {
    if common.file_name().is_some_and(|n| n == ".git") { common.parent().unwrap_or(common) } else { common }
}

fn branch(git_directory: &Path) -> Option<String> {
    let head = read_small(&git_directory.join("HEAD"))?;
    head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// The `origin` URL, reduced to host and path so that ssh and https clones agree.
fn origin(common: &Path) -> Option<String> {
    remotes(common).into_iter().find(|(name, _)| name == "origin").map(|(_, url)| normal_url(&url))
}

/// The first URL of every remote by name, `origin` first. It may hold a password: nothing of it is shown or stored.
fn remotes(common: &Path) -> Vec<(String, String)> {
    let Some(config) = read_small(&common.join("config")) else { return Vec::new() };
    let mut found: Vec<(String, String)> = Vec::new();
    let mut section = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.strip_prefix("[remote \"").and_then(|rest| rest.strip_suffix("\"]"));
        } else if let (Some(name), Some((key, url))) = (section, line.split_once('='))
            && key.trim() == "url"
            && found.iter().all(|(known, _)| known != name)
        {
            found.push((name.to_owned(), url.trim().to_owned()));
        }
    }
    found.sort_by_key(|(name, _)| name != "origin");
    found
}

/// Whether a remote is a directory of this machine: another checkout, which says nothing of whose project it is.
fn is_local(url: &str) -> bool {
    if let Some((scheme, _)) = url.split_once("://") {
        return scheme.eq_ignore_ascii_case("file");
    }
    // `host:path` has a host of two letters and more before the first colon, and no separator there.
    url.split_once(':').is_none_or(|(host, _)| host.chars().count() < 2 || host.contains(['/', '\\']))
}

pub(crate) fn normal_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let rest = rest.trim_end_matches('/').trim_end_matches(".git");
    match rest.split_once([':', '/']) {
        Some((host, path)) => {
            let port_and_path = path.split_once('/').filter(|(p, _)| p.bytes().all(|b| b.is_ascii_digit()));
            format!("{}/{}", host.to_lowercase(), port_and_path.map_or(path, |(_, p)| p))
        }
        None => rest.to_owned(),
    }
}

fn key(name: &str, identity: &str) -> String {
    let slug: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let hash = blake3::hash(identity.as_bytes()).to_hex();
    format!("{}-{}", slug.trim_matches('-').to_lowercase(), &hash[..6])
}

fn read_small(path: &Path) -> Option<String> {
    // A link to a device has no size and no end, and a pipe never answers.
    let found = std::fs::metadata(path).ok()?;
    (found.is_file() && found.len() < 1 << 20).then(|| std::fs::read_to_string(path).ok()).flatten()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]
mod tests {
    use std::fs;

    use super::*;

    fn repository(at: &Path, remote: Option<&str>) {
        fs::create_dir_all(at.join(".git")).expect("fixture");
        fs::write(at.join(".git/HEAD"), "ref: refs/heads/main\n").expect("fixture");
        let config = remote.map(|r| format!("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = {r}\n"));
        fs::write(at.join(".git/config"), config.unwrap_or_default()).expect("fixture");
    }

    #[test]
    fn clones_by_any_protocol_are_one_project() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let urls = [
            "git@example.com:team/app.git",
            "https://user:pw@example.com/team/app",
            "ssh://git@example.com:22/team/app.git",
        ];
        let mut keys = Vec::new();
        for (n, url) in urls.iter().enumerate() {
            let at = dir.path().join(n.to_string()).join("app");
            repository(&at, Some(url));
            fs::create_dir_all(at.join("src/deep")).expect("fixture");
            keys.push(resolve(&at.join("src/deep"), None).expect("a project").key);
        }
        assert!(keys.iter().all(|k| *k == keys[0]), "{keys:?}");
    }

    #[test]
    fn a_worktree_shares_the_project_and_has_its_own_branch() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let main = dir.path().join("app");
        repository(&main, None);
        let own = main.join(".git/worktrees/feat");
        fs::create_dir_all(&own).expect("fixture");
        fs::write(own.join("HEAD"), "ref: refs/heads/feature/x\n").expect("fixture");
        fs::write(own.join("commondir"), "../..\n").expect("fixture");
        let back = dir.path().join("feat/.git");
        fs::write(own.join("gitdir"), format!("{}\n", back.display())).expect("fixture");
        let tree = dir.path().join("feat");
        fs::create_dir_all(&tree).expect("fixture");
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).expect("fixture");
        let (a, b) = (resolve(&main, None).expect("main"), resolve(&tree, None).expect("worktree"));
        assert_eq!(a.key, b.key);
        assert_eq!((a.branch.as_deref(), b.branch.as_deref()), (Some("main"), Some("feature/x")));
        // A folder that came from anywhere and points at the same directories is not known there.
        let stranger = dir.path().join("stranger");
        fs::create_dir_all(&stranger).expect("fixture");
        for target in [own, main.join(".git")] {
            fs::write(stranger.join(".git"), format!("gitdir: {}\n", target.display())).expect("fixture");
            let found = resolve(&stranger, None).expect("a project of its own");
            assert_ne!(found.key, a.key);
            assert_eq!((found.name.as_str(), found.branch), ("stranger", None));
        }
    }

    #[test]
    fn field_case_17_the_same_name_composed_or_decomposed_is_one_place() {
        let (composed, apart) = ("Caf\u{e9}", "Cafe\u{301}");
        assert_eq!(named_scope(Some(apart), Some(apart)), named_scope(Some(composed), Some(composed)));
        let dir = tempfile::tempdir().expect("temporary directory");
        let mut found = Vec::new();
        for (n, name) in [composed, apart].into_iter().enumerate() {
            let at = dir.path().join(n.to_string()).join(name);
            repository(&at, Some("git@example.com:team/app.git"));
            fs::write(at.join(".git/HEAD"), format!("ref: refs/heads/fix-{name}\n")).expect("fixture");
            found.push(Project { root: PathBuf::new(), ..resolve(&at, None).expect("a project") });
        }
        assert_eq!(found[0], found[1]);
    }

    #[test]
    fn a_name_with_a_secret_in_it_is_stored_without() {
        let token = format!("gh{}{}", "p_", "A1b2C3d4E5f6".repeat(3));
        let dir = tempfile::tempdir().expect("temporary directory");
        let at = dir.path().join(format!("app-{token}"));
        repository(&at, None);
        fs::write(at.join(".git/HEAD"), format!("ref: refs/heads/fix-{token}\n")).expect("fixture");
        let found = resolve(&at, None).expect("a project");
        let scope = named_scope(Some(&token), Some(&format!("web-{token}")));
        let shown = format!("{:?} {scope:?}", Project { root: PathBuf::new(), ..found.clone() });
        assert!(!shown.to_lowercase().contains(&token.to_lowercase()), "{shown}");
        assert_eq!(found.branch.as_deref(), Some("fix-[REDACTED_GH_TOKEN]"));
        assert_eq!(named_scope(None, Some("web")), Scope::project("web"));
    }

    #[test]
    fn the_users_home_and_the_root_are_no_projects() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let home = strata_store::files::canonical(dir.path()).expect("canonical");
        fs::create_dir_all(home.join(".strata")).expect("fixture");
        assert_eq!(resolve(&home, Some(&home)), None);
        assert_eq!(resolve(Path::new("/"), None), None);
    }
}
