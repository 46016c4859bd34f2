//! Whom a server runs as: PostgreSQL refuses to run as root, so root's tests use another account.

use std::{
    error::Error,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    Outcome,
    shell::{output, run},
};

/// Numbers of an unprivileged user and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    id: u32,
    group: u32,
}

impl Account {
    /// Whom to become; nobody else when we are not root.
    pub(super) fn unprivileged() -> Result<Option<Self>, Box<dyn Error>> {
        if !is_root() {
            return Ok(None);
        }
        for name in ["postgres", "nobody"] {
            if let (Ok(id), Ok(group)) = (number(&["-u", name]), number(&["-g", name])) {
                return Ok(Some(Self { id, group }));
            }
        }
        Err("PostgreSQL does not run as root, and there is neither a user `postgres` nor `nobody`".into())
    }

    /// Makes a command run as this account.
    #[cfg(unix)]
    pub(super) fn dress(self, command: &mut Command) {
        use std::os::unix::process::CommandExt;
        command.uid(self.id).gid(self.group);
    }

    /// There is no root elsewhere.
    #[cfg(not(unix))]
    pub(super) fn dress(self, _: &mut Command) {}

    /// Gives a directory and what is in it to this account.
    pub(super) fn give(self, directory: &Path) -> Outcome {
        run(Command::new("chown").arg("-R").arg(format!("{}:{}", self.id, self.group)).arg(directory))
    }
}

/// Whether we are root.
pub(super) fn is_root() -> bool {
    number(&["-u"]).is_ok_and(|id| id == 0)
}

fn number(words: &[&str]) -> Result<u32, Box<dyn Error>> {
    let mut quiet = Command::new("sh");
    quiet.args(["-c", "exec id \"$@\" 2>/dev/null", "id"]).args(words).stdin(Stdio::null());
    Ok(output(&mut quiet)?.trim().parse()?)
}

/// Lets everyone read what lies below `at`, and run the programs in it.
#[cfg(unix)]
pub(super) fn open_to_all(at: &Path) -> Result<(), Box<dyn Error>> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::symlink_metadata(at)?;
    if metadata.is_symlink() {
        return Ok(());
    }
    let mode = metadata.permissions().mode();
    let runs = metadata.is_dir() || mode & 0o100 != 0;
    fs::set_permissions(at, fs::Permissions::from_mode(mode | if runs { 0o555 } else { 0o444 }))?;
    if metadata.is_dir() {
        for entry in fs::read_dir(at)? {
            open_to_all(&entry?.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn open_to_all(_: &Path) -> Result<(), Box<dyn Error>> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn programs_below_a_closed_directory_are_opened_but_data_is_not_made_a_program() {
        let directory = tempfile::tempdir().expect("a directory");
        let (program, data) = (directory.path().join("program"), directory.path().join("data"));
        for (path, mode) in [(&program, 0o700), (&data, 0o600)] {
            fs::File::create(path).expect("made");
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        }
        open_to_all(directory.path()).expect("opened");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&program), mode(&data), mode(directory.path())), (0o755, 0o644, 0o755));
    }
}
