//! Homes that vanish with the test.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A directory of its own for one test: a home that does not exist yet, and room for files beside it.
#[derive(Debug)]
pub struct TestHome(TempDir);

impl TestHome {
    /// A fresh one.
    ///
    /// # Panics
    /// The machine refuses a temporary directory.
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary directory"))
    }

    /// The home. Nothing creates it but Strata.
    pub fn path(&self) -> PathBuf {
        self.0.path().join("home")
    }

    /// The directory around it: the user's own directory and the working directory of commands.
    pub fn outside(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file beside the home and gives its path.
    ///
    /// # Panics
    /// The file cannot be written.
    #[expect(clippy::disallowed_methods, reason = "a fixture needs no atomic write")]
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a directory for the fixture");
        }
        std::fs::write(&path, content).expect("a fixture");
        path
    }
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}
