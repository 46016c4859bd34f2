//! What each command does: the hand-written ones here, all others from the table.

mod completions;
mod config;
mod reference;
mod serve;
mod tour;

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use strata_engine::registry;

use crate::{arguments::Global, environment::Environment, failure::Failure, operation, out::Out};

/// The commands that are no operations.
pub(crate) fn hand_written() -> Vec<Command> {
    vec![serve::command(), tour::command(), config::command(), completions::command(), reference::command()]
}

/// Runs the command that was typed.
pub(crate) fn run(
    matches: &ArgMatches,
    global: &Global,
    environment: &Environment,
    out: &Out,
) -> Result<ExitCode, Failure> {
    let (path, matches) = path(matches);
    match path.as_slice() {
        ["serve"] => serve::run(matches, global, environment)?,
        ["tour"] => tour::run(matches, out)?,
        ["config", what] => config::run(what, global, environment, out)?,
        ["completions"] => completions::run(matches, out)?,
        ["reference"] => reference::run(matches, out)?,
        path => {
            let entry = registry::find_command(path).ok_or_else(|| {
                Failure::usage(format!("there is no command `{}`", path.join(" ")), "run `strata help`")
            })?;
            return operation::run(entry, matches, global, environment, out);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The names of the command and its arguments.
fn path(mut matches: &ArgMatches) -> (Vec<&str>, &ArgMatches) {
    let mut path = Vec::new();
    while let Some((name, inner)) = matches.subcommand() {
        path.push(name);
        matches = inner;
    }
    (path, matches)
}
