//! `serve`: the MCP server on standard input and output.

use std::{io::IsTerminal, sync::Arc, time::Duration};

use clap::{Arg, ArgAction, ArgMatches, Command};
use strata_core::error::ErrorKind;
use strata_engine::{engine::Engine, operation::Selection};
use strata_server::mcp::{self, Options};

use crate::{
    arguments::Global,
    environment::{Environment, STRATA_TOOLSETS},
    failure::Failure,
    place::{self, Place},
};

/// Hours without a message after which a server ends.
const DEFAULT_IDLE_HOURS: &str = "24";

pub(super) fn command() -> Command {
    let toolsets: Vec<_> = Selection::ALL.iter().map(|t| t.as_str()).collect();
    Command::new("serve")
        .about("Serve MCP on standard input and output")
        .long_about(
            "Serve MCP on standard input and output, for one client. Put `strata serve` into the client's \
             configuration; the client starts and ends it. Any number of servers may share one store.",
        )
        .arg(Arg::new("toolsets").long("toolsets").value_name("NAMES").value_delimiter(',').help(format!(
            "The tools to show: {} [env: {STRATA_TOOLSETS}] [default: core]",
            toolsets.join(", ")
        )))
        .arg(
            Arg::new("idle-hours")
                .long("idle-hours")
                .value_name("HOURS")
                .default_value(DEFAULT_IDLE_HOURS)
                .value_parser(clap::value_parser!(u32).range(..=8760))
                .help("End after this long without a message; 0 never ends"),
        )
        .arg(Arg::new("disable-auto-index").long("disable-auto-index").action(ArgAction::SetTrue).help(
            "Read the project's files only when asked, as `[runtime] auto_index_on_start = false` says",
        ))
        // memory-engine's: it is so in any case.
        .arg(Arg::new("privacy-mode").long("privacy-mode").action(ArgAction::SetTrue).hide(true))
}

pub(super) fn run(matches: &ArgMatches, global: &Global, environment: &Environment) -> Result<(), Failure> {
    let home = place::home(global.home.as_deref(), environment)?;
    let place = Place::new(global, environment);
    let idle_hours = matches.get_one::<u32>("idle-hours").copied().unwrap_or(0);
    let options = Options {
        toolsets: toolsets(matches, environment)?,
        idle: (idle_hours > 0).then(|| Duration::from_secs(u64::from(idle_hours) * 3600)),
        ..Options::default()
    };
    let (place_of_engine, environment) = (place.clone(), environment.clone());
    if std::io::stdin().is_terminal() {
        tracing::warn!(
            "waiting for an MCP client on standard input: `strata serve` belongs into a client's configuration"
        );
    }
    let home_of_scope = home.clone();
    let reads_unasked = !matches.get_flag("disable-auto-index");
    let engine = Arc::new(move || {
        let mut settings = place::settings(&home, &place_of_engine, &environment)?;
        settings.config.project.runtime.auto_index_on_start &= reads_unasked;
        Ok(Engine::new(settings))
    });
    let ended =
        mcp::serve_stdio(engine, Arc::new(move || place.scope(&home_of_scope)), &options).map_err(|e| {
            Failure::new(ErrorKind::Unavailable, format!("the server cannot start: {e}"), "try again")
        })?;
    tracing::info!(?ended, "the server ended");
    Ok(())
}

fn toolsets(matches: &ArgMatches, environment: &Environment) -> Result<Vec<Selection>, Failure> {
    let told: Vec<String> = match matches.get_many::<String>("toolsets") {
        Some(words) => words.cloned().collect(),
        None => {
            environment.text(STRATA_TOOLSETS).iter().flat_map(|t| t.split(',')).map(str::to_owned).collect()
        }
    };
    let mut toolsets = Vec::new();
    for word in told.iter().map(|w| w.trim()).filter(|w| !w.is_empty()) {
        let known = Selection::ALL.into_iter().find(|t| t.as_str() == word);
        toolsets.push(known.ok_or_else(|| {
            let all: Vec<_> = Selection::ALL.iter().map(|t| t.as_str()).collect();
            Failure::usage(format!("there is no toolset `{word}`"), format!("use some of {}", all.join(", ")))
        })?);
    }
    Ok(if toolsets.is_empty() { Options::default().toolsets } else { toolsets })
}
