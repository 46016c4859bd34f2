//! Which project and branch a directory belongs to, read from the repository's own files.
//!
//! All worktrees and clones of one repository are one project: the key comes from the `origin` remote
//! where there is one, else from the repository's path.

pub mod anchors;
pub mod branches;
pub mod files;
pub mod identity;
pub mod layout;
pub mod node;
pub mod reflection;
pub mod retrieve;

use std::path::{Path, PathBuf};

use strata_core::{
    redact::{clean_text, redact},
    scope::{SHARED, Scope},
};
use unicode_normalization::UnicodeNormalization;

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

/// The project around `directory`: the nearest ancestor that holds `.git` or `.strata`.
///
/// `None` when there is none, so that a client started in `/` or a bare home writes to the user level.
/// `user_home` is never a project by itself.
pub fn resolve(directory: &Path, user_home: Option<&Path>) -> Option<Project> {
    let directory = strata_store::files::canonical(directory).ok()?;
    let root = directory
        .ancestors()
        .filter(|d| d.parent().is_some() && Some(*d) != user_home)
        .find(|d| d.join(".git").exists() || d.join(".strata").is_dir())?;
    let git = git_directories(root);
    let identity = git.as_ref().and_then(|g| origin(&g.common)).unwrap_or_else(|| {
        git.as_ref().map_or(root, |g| repository_root(&g.common)).to_string_lossy().nfc().collect()
    });
    let main_root = git.as_ref().map_or(root, |g| repository_root(&g.common));
    let name = storable(&main_root.file_name()?.to_string_lossy());
    Some(Project {
        key: key(&name, &identity),
        name,
        root: root.to_owned(),
        branch: git.as_ref().and_then(|g| branch(&g.own)).map(|branch| storable(&branch)),
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
    let dot_git = root.join(".git");
    if dot_git.is_dir() {
        return Some(GitDirectories { own: dot_git.clone(), common: dot_git });
    }
    let pointer = read_small(&dot_git)?;
    let own = root.join(pointer.trim().strip_prefix("gitdir:")?.trim());
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
    let config = read_small(&common.join("config"))?;
    let mut in_origin = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_origin = line == "[remote \"origin\"]";
        } else if in_origin
            && let Some((name, url)) = line.split_once('=')
            && name.trim() == "url"
        {
            return Some(normal_url(url.trim()));
        }
    }
    None
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
    let size = std::fs::metadata(path).ok()?.len();
    (size < 1 << 20).then(|| std::fs::read_to_string(path).ok()).flatten()
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
        let tree = dir.path().join("feat");
        fs::create_dir_all(&tree).expect("fixture");
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).expect("fixture");
        let (a, b) = (resolve(&main, None).expect("main"), resolve(&tree, None).expect("worktree"));
        assert_eq!(a.key, b.key);
        assert_eq!((a.branch.as_deref(), b.branch.as_deref()), (Some("main"), Some("feature/x")));
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
