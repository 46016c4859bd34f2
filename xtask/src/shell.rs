//! Other programs, and words to whoever watches.

use std::{
    env,
    error::Error,
    ffi::OsStr,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Writes a line. There is nobody to tell when that fails.
pub(crate) fn say(line: &str) {
    writeln!(io::stdout().lock(), "{line}").ok();
}

/// Cargo with arguments, in the repository.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end, its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command.status().map_err(|e| format!("{}: {e}", name(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed ({status})", name(command)).into()) }
}

/// Runs a command and gives what it wrote.
pub(crate) fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("{}: {e}", name(command)))?;
    if !output.status.success() {
        return Err(format!("{} failed ({})", name(command), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command, repeats its standard output as it comes and shows each line to `see`. Gives
/// whether it succeeded.
pub(crate) fn watch(command: &mut Command, mut see: impl FnMut(&str)) -> Result<bool, Box<dyn Error>> {
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|e| format!("{}: {e}", name(command)))?;
    let stdout = child.stdout.take().ok_or("no pipe to the command")?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        say(&line);
        see(&line);
    }
    Ok(child.wait()?.success())
}

/// Whether a program can be started.
pub(crate) fn exists(program: &str, argument: &str) -> bool {
    let quiet = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|s| s.success())
}

fn name(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
