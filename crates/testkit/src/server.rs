//! A PostgreSQL of one test's own, which it may stop, start, copy to a standby and make a primary.

use std::{
    fs,
    io::Write,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::store::{ask, required, say};

/// Where Debian puts one directory for each major version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Who owns the tests' databases, by name and password. No superuser.
const OWNER: &str = "strata_test";

/// What a server of a test need not do: survive the machine.
const OPTIONS: &str = "-c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off -c max_connections=60 \
                       -c shared_buffers=32MB -c wal_level=replica -c max_wal_senders=4 -c hot_standby=on";

/// Runs a server until a line of its own input names the signal that ends it, or the input ends because the test does.
const KEEPER: &str = r#"
    "$1/postgres" -D "$2" $3 >>"$2.log" 2>&1 &
    server=$!
    read -r signal
    kill -"${signal:-QUIT}" $server
    wait $server
"#;

/// How long a server may take to come up, to end, or to follow another.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Ends its sessions and writes everything down.
    Fast,
    /// Dies.
    AtOnce,
}

/// A server and its files, which go with this.
#[derive(Debug)]
pub struct OwnServer {
    directory: TempDir,
    programs: PathBuf,
    user: Option<(u32, u32)>,
    port: u16,
    keeper: Option<Child>,
}

impl OwnServer {
    /// Makes and starts one; none, with a notice, where PostgreSQL is not installed and not required.
    ///
    /// # Panics
    /// It is required and not there, or does not start.
    pub fn start_new() -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(!required(), "PostgreSQL is not installed, and the tests require it");
            say("left out: PostgreSQL is not installed; `cargo xtask test` installs it");
            return None;
        };
        let mut server = Self::empty(programs);
        let data = server.data();
        let mut initdb = server.command("initdb");
        initdb
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data);
        finish(&mut initdb);
        server.start();
        let owner = format!("CREATE ROLE {OWNER} LOGIN PASSWORD '{OWNER}' NOSUPERUSER NOBYPASSRLS");
        server.administer("postgres", &owner);
        server.administer("postgres", &format!("CREATE DATABASE strata OWNER {OWNER} TEMPLATE template0"));
        Some(server)
    }

    /// Makes and starts a standby that follows this one.
    ///
    /// # Panics
    /// It does not start.
    pub fn standby(&self) -> Self {
        let mut standby = Self::empty(self.programs.clone());
        let data = standby.data();
        let mut copy = standby.command("pg_basebackup");
        copy.args([
            "-R",
            "-h",
            "127.0.0.1",
            "-U",
            "postgres",
            "-X",
            "stream",
            "-c",
            "fast",
            "--no-sync",
            "-p",
        ]);
        copy.arg(self.port.to_string()).arg("-D").arg(&data);
        finish(&mut copy);
        standby.start();
        standby
    }

    /// The address of the database `strata` for its owner.
    pub fn url(&self) -> String {
        format!("postgres://{OWNER}:{OWNER}@127.0.0.1:{}/strata", self.port)
    }

    /// What the administrator is told by a query in a database: the first column of each row.
    ///
    /// # Panics
    /// The server refuses.
    pub fn administer(&self, database: &str, query: &str) -> Vec<String> {
        let url = format!("postgres://postgres@127.0.0.1:{}/{database}", self.port);
        ask(&url, query).unwrap_or_else(|error| panic!("{query}: {error:?}"))
    }

    /// Waits until this standby has done everything that `primary` has.
    ///
    /// # Panics
    /// It does not within a minute.
    pub fn follow(&self, primary: &Self) {
        let head = primary.administer("postgres", "SELECT pg_current_wal_lsn()::text").remove(0);
        self.until(&format!("SELECT pg_last_wal_replay_lsn() >= '{head}'::pg_lsn"));
    }

    /// Makes this standby a primary.
    ///
    /// # Panics
    /// It does not become one.
    pub fn promote(&self) {
        self.administer("postgres", "SELECT pg_promote(true, 60)");
        self.until("SELECT NOT pg_is_in_recovery()");
    }

    /// Starts it where it was, and waits until it takes connections.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(&mut self) {
        assert!(self.keeper.is_none(), "it runs already");
        let mut command = Command::new("sh");
        self.dress(&mut command);
        let options = format!("-p {} -k {} {OPTIONS}", self.port, self.directory.path().display());
        command.args(["-c", KEEPER, "keeper"]).arg(&self.programs).arg(self.data()).arg(options);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.keeper = Some(command.spawn().expect("a shell"));
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", self.port);
        let started = Instant::now();
        while ask(&url, "SELECT 1").is_err() {
            let log = || fs::read_to_string(self.directory.path().join("data.log")).unwrap_or_default();
            assert!(started.elapsed() < PATIENCE, "the server does not start: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Stops it; its files stay.
    ///
    /// # Panics
    /// It does not end.
    pub fn stop(&mut self, how: Stop) {
        let Some(mut keeper) = self.keeper.take() else { return };
        let signal: &[u8] = match how {
            Stop::Fast => b"INT\n",
            Stop::AtOnce => b"QUIT\n",
        };
        let mut input = keeper.stdin.take().expect("a piped input");
        input.write_all(signal).expect("the keeper reads");
        drop(input);
        keeper.wait().expect("the keeper ends");
    }

    fn empty(programs: PathBuf) -> Self {
        let directory = tempfile::Builder::new().prefix("strata-own-").tempdir().expect("a directory");
        let user = unprivileged();
        if let Some((id, group)) = user {
            give(directory.path(), id, group);
        }
        // Free a moment ago.
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|l| l.local_addr()).expect("a port").port();
        Self { directory, programs, user, port, keeper: None }
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        self.dress(&mut command);
        command
    }

    fn until(&self, query: &str) {
        let started = Instant::now();
        while self.administer("postgres", query) != ["t"] {
            assert!(started.elapsed() < PATIENCE, "never: {query}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes a command run as somebody whom PostgreSQL lets run it: not as root.
    fn dress(&self, command: &mut Command) {
        command.current_dir("/").env_remove("PGDATA").env_remove("PGOPTIONS");
        #[cfg(unix)]
        if let Some((id, group)) = self.user {
            use std::os::unix::process::CommandExt;
            command.uid(id).gid(group);
        }
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.stop(Stop::AtOnce);
    }
}

/// The programs of the newest PostgreSQL there is.
fn programs() -> Option<PathBuf> {
    let debian = fs::read_dir(DEBIAN).into_iter().flatten().flatten().map(|e| e.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let whole = |bin: &PathBuf| ["initdb", "postgres", "pg_basebackup"].iter().all(|p| bin.join(p).is_file());
    let mut found: Vec<PathBuf> = debian.filter(whole).collect();
    found.sort();
    found.pop().or_else(|| std::env::split_paths(&path).find(whole))
}

fn finish(command: &mut Command) {
    let done = command.output().expect("a program of the server's");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Whom root's servers run as; nobody else where we are not root.
fn unprivileged() -> Option<(u32, u32)> {
    let number = |words: &[&str]| -> Option<u32> {
        let output = Command::new("id").args(words).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    if number(&["-u"]) != Some(0) {
        return None;
    }
    ["postgres", "nobody"].into_iter().find_map(|name| Some((number(&["-u", name])?, number(&["-g", name])?)))
}

#[cfg(unix)]
fn give(directory: &Path, id: u32, group: u32) {
    std::os::unix::fs::chown(directory, Some(id), Some(group)).expect("root gives it away");
}

#[cfg(not(unix))]
fn give(_: &Path, _: u32, _: u32) {}
