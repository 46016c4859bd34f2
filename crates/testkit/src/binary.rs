//! The real binary, run as users and clients run it.

use std::{
    ffi::OsStr,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use crate::home::TestHome;

/// The binary with a home, in an environment of its own: nothing of the developer's leaks in.
#[derive(Debug)]
pub struct Binary<'h> {
    path: PathBuf,
    home: &'h TestHome,
    variables: Vec<(String, String)>,
}

/// What a command did.
#[derive(Debug)]
pub struct CommandOutput {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl<'h> Binary<'h> {
    /// The binary at `path` (in the binary's own tests `env!("CARGO_BIN_EXE_strata")`) on `home`.
    pub fn new(path: impl Into<PathBuf>, home: &'h TestHome) -> Self {
        Self { path: path.into(), home, variables: Vec::new() }
    }

    /// The same with an environment variable set.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its home.
    pub const fn home(&self) -> &'h TestHome {
        self.home
    }

    /// A command that is ready to be changed and started.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.outside())
            .env("STRATA_HOME", self.home.path())
            .env("TZ", "UTC")
            .envs(self.home.database().map(|database| ("STRATA_STORE", database.url())))
            .envs(self.variables.iter().map(|(k, v)| (k, v)))
            .current_dir(self.home.outside());
        command
    }

    /// Runs it with arguments and nothing on standard input.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> CommandOutput {
        self.run_with_input(arguments, b"")
    }

    /// Runs it with arguments and standard input.
    ///
    /// # Panics
    /// The binary cannot be started.
    pub fn run_with_input<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> CommandOutput {
        let mut child = self
            .command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{} starts: {e}", self.path.display()));
        let mut stdin = child.stdin.take().expect("a piped input");
        std::thread::scope(|scope| {
            // A command that does not read its input closes it early; that is its right.
            scope.spawn(move || stdin.write_all(input).ok());
            CommandOutput::from(child.wait_with_output().expect("the command ends"))
        })
    }

    /// Runs it, expects success and gives the JSON it wrote.
    ///
    /// # Panics
    /// It fails, or writes something else.
    pub fn json<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Value {
        let mut with_json = vec![OsStr::new("--json").to_owned()];
        with_json.extend(arguments.into_iter().map(|a| a.as_ref().to_owned()));
        let output = self.run(with_json).success();
        serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("JSON ({e}): {}", output.stdout))
    }
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl CommandOutput {
    /// Itself, when it succeeded.
    ///
    /// # Panics
    /// It failed.
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.code, 0, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Itself, when it failed with `code`.
    ///
    /// # Panics
    /// It did not.
    #[track_caller]
    pub fn failure(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }
}
