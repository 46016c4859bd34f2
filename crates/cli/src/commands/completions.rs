//! `completions`: scripts that let a shell complete commands and options.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use crate::{arguments, failure::Failure, out::Out};

pub(super) fn command() -> Command {
    Command::new("completions")
        .about("Print a shell's completion script")
        .after_help("Example: strata completions bash > ~/.local/share/bash-completion/completions/strata")
        .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)))
}

pub(super) fn run(matches: &ArgMatches, out: &Out) -> Result<(), Failure> {
    let Some(shell) = matches.get_one::<Shell>("shell") else {
        return Err(Failure::usage("no shell is named", "name one, e.g. `strata completions bash`"));
    };
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut arguments::command(), "strata", &mut script);
    Ok(out.text(&String::from_utf8_lossy(&script))?)
}
