//! A server that lives as long as its handle, and no longer than this process.

use std::{
    error::Error,
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};

use tempfile::TempDir;

use super::programs::Programs;
use crate::{Outcome, shell::run};

/// Makes a cluster, starts it, says so, and waits for the end of its own input: that comes when the handle is
/// dropped and also when this process dies, however it dies. Then the server and its files go.
/// Arguments: programs, directory, options for initdb, options for the server.
const KEEPER: &str = r#"
    "$1/initdb" -D "$2/data" -U postgres -A trust -E UTF8 $3 --no-sync >"$2/log" 2>&1 || exit 1
    "$1/pg_ctl" -D "$2/data" -l "$2/log" -o "$4" -w -t 60 start >/dev/null 2>&1 || exit 1
    echo ready
    while read -r line; do :; done
    "$1/pg_ctl" -D "$2/data" -m immediate -w stop >/dev/null 2>&1
    rm -rf "$2"
"#;

/// What a server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is thrown away with what it holds.
    Tests,
    /// It is measured: as durable as a server that somebody relies on.
    Figures,
}

impl Purpose {
    const fn options(self) -> &'static str {
        match self {
            Self::Tests => FOR_TESTS,
            Self::Figures => FOR_FIGURES,
        }
    }
}

/// What a small server would be set to; the rest is as it comes.
const FOR_FIGURES: &str = "-c listen_addresses=127.0.0.1 -c max_connections=100 -c shared_buffers=1GB -c max_wal_size=2GB \
     -c log_min_messages=fatal -c log_checkpoints=off";

/// What a server of a test need not do (survive), and what it must (many clients at once).
const FOR_TESTS: &str = "-c listen_addresses=127.0.0.1 -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
     -c wal_level=minimal -c max_wal_senders=0 \
     -c max_connections=1000 -c shared_buffers=128MB -c max_wal_size=4GB -c log_min_messages=fatal -c log_checkpoints=off";

/// Tries to find a port that nobody takes before the server does.
const ATTEMPTS: u32 = 3;

/// A server on its way up.
pub(super) struct Starting {
    programs: Programs,
    purpose: Purpose,
    attempt: u32,
    server: Server,
}

/// A running server. It is stopped, and its files are removed, when this is dropped.
pub(super) struct Server {
    directory: TempDir,
    port: u16,
    version: String,
    keeper: Child,
    /// Whose end ends the server.
    life: Option<ChildStdin>,
}

impl Server {
    /// Starts one, without waiting for it.
    pub(super) fn start(programs: &Programs, purpose: Purpose) -> Result<Starting, Box<dyn Error>> {
        Starting::attempt(programs.clone(), purpose, 1)
    }

    /// How an administrator connects to it.
    pub(super) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Name and version.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Keeps it until the keeper ends, which happens when somebody stops it from outside.
    pub(super) fn wait(mut self) -> Outcome {
        // `Child::wait` closes the child's input only where the child still owns it.
        let status = self.keeper.wait()?;
        Err(format!("the server's keeper ended ({status})").into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.life.take());
        self.keeper.wait().ok();
    }
}

impl Starting {
    fn attempt(programs: Programs, purpose: Purpose, attempt: u32) -> Result<Self, Box<dyn Error>> {
        let directory = tempfile::Builder::new().prefix("strata-pg-").tempdir()?;
        let mut own = programs.clone();
        if !programs.reachable() {
            own.bin = copy_of(&programs, directory.path())?;
        }
        if let Some(user) = programs.user {
            user.give(directory.path())?;
        }
        // Free a moment ago; when somebody else takes it the start fails and another is tried.
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let mut command = Command::new("sh");
        own.dress(&mut command);
        command
            .args(["-c", KEEPER, "keeper"])
            .arg(&own.bin)
            .arg(directory.path())
            .arg(locale(own.major, attempt))
            .arg(format!("-p {port} -k {} {}", directory.path().display(), purpose.options()))
            .env_remove("PGDATA")
            .env_remove("PGOPTIONS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        apart(&mut command);
        let mut keeper = command.spawn()?;
        let life = keeper.stdin.take();
        let version = format!("PostgreSQL {}", own.major);
        Ok(Self { programs, purpose, attempt, server: Server { directory, port, version, keeper, life } })
    }

    /// Waits until it takes connections.
    pub(super) fn ready(mut self) -> Result<Server, Box<dyn Error>> {
        let stdout = self.server.keeper.stdout.take().ok_or("no pipe to the server's keeper")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        if line.trim() == "ready" {
            return Ok(self.server);
        }
        if self.attempt < ATTEMPTS {
            let Self { programs, purpose, attempt, server } = self;
            drop(server);
            return Self::attempt(programs, purpose, attempt + 1)?.ready();
        }
        let log = fs::read_to_string(self.server.directory.path().join("log")).unwrap_or_default();
        let last = log.lines().rev().take(8).collect::<Vec<_>>();
        let last = last.into_iter().rev().collect::<Vec<_>>().join("\n");
        Err(format!("the server of {} did not start:\n{last}", self.programs.bin.display()).into())
    }
}

/// A language's order of letters where the server has one at hand, so that queries which rely on the order of
/// bytes without saying so are found out. Further attempts do without, since some are built so.
const fn locale(major: u32, attempt: u32) -> &'static str {
    if major >= 15 && attempt == 1 {
        "--locale=C.UTF-8 --locale-provider=icu --icu-locale=en-US"
    } else {
        "--locale=C"
    }
}

/// A copy of the programs where the server's user can read it.
fn copy_of(programs: &Programs, directory: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let copy = directory.join("programs");
    run(Command::new("cp").arg("-RL").arg(&programs.whole).arg(&copy))?;
    Ok(copy.join(programs.bin.strip_prefix(&programs.whole)?))
}

/// An interrupt from the terminal is for us; the keeper goes by the end of its input.
#[cfg(unix)]
fn apart(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn apart(_: &mut Command) {}
