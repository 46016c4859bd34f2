//! Repositories made with the real git.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// A checkout in a directory of its own.
pub(crate) struct Checkout {
    directory: TempDir,
    root: PathBuf,
    clock: std::cell::Cell<u32>,
}

impl Checkout {
    /// An empty repository on the branch `main`.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let root = strata_store::files::canonical(directory.path()).expect("canonical").join("app");
        fs::create_dir(&root).expect("the project");
        let it = Self { directory, root, clock: std::cell::Cell::new(0) };
        it.git(&["init", "-q", "-b", "main"]);
        it
    }

    /// One commit on `main`.
    pub(crate) fn begun() -> Self {
        let it = Self::new();
        it.commit("README.md", "# App\n");
        it
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A place beside the checkout.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.root.with_file_name(name)
    }

    /// The directory that holds the checkout and what is beside it.
    pub(crate) fn all(&self) -> &Path {
        self.directory.path()
    }

    /// Runs git in the checkout and gives what it says.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.root, arguments)
    }

    /// The same in another directory.
    pub(crate) fn git_in(&self, directory: &Path, arguments: &[&str]) -> String {
        let seconds = self.clock.get();
        self.clock.set(seconds + 1);
        let date = format!("2026-03-01T10:{:02}:{:02}Z", seconds / 60, seconds % 60);
        let out = Command::new("git")
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a path"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_EDITOR", "true")
            .envs([("GIT_AUTHOR_NAME", "Ana Writer"), ("GIT_AUTHOR_EMAIL", "ana@private.test")])
            .envs([("GIT_COMMITTER_NAME", "Ana Writer"), ("GIT_COMMITTER_EMAIL", "ana@private.test")])
            .envs([("GIT_AUTHOR_DATE", date.as_str()), ("GIT_COMMITTER_DATE", date.as_str())])
            .output()
            .expect("git runs");
        assert!(out.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("UTF-8").trim().to_owned()
    }

    #[expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]
    pub(crate) fn write(&self, path: &str, text: &str) {
        let at = self.root.join(path);
        fs::create_dir_all(at.parent().expect("a parent")).expect("folders");
        fs::write(at, text).expect("a file");
    }

    /// Writes a file and commits it; gives the commit.
    pub(crate) fn commit(&self, path: &str, text: &str) -> String {
        self.write(path, text);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", &format!("write {path}")]);
        self.git(&["rev-parse", "HEAD"])
    }
}
