//! The binary `strata`: arguments, settings, output, exit codes.
//!
//! Invariants, and what this crate deliberately does not know:
//! - it alone reads the environment, asks a person and ends the process;
//! - it knows no single operation: commands, flags and help are made from the table;
//! - results go to standard output, everything else to standard error.

mod arguments;
mod commands;
mod draw;
mod environment;
mod failure;
mod identity;
mod older;
mod operation;
mod out;
mod place;
mod secret;
mod values;
mod wording;

use std::process::ExitCode;

use clap::error::ErrorKind as UsageKind;
use tracing::Level;
use tracing_subscriber::{
    Layer as _, filter::filter_fn, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::{environment::Environment, failure::Failure, out::Out};

fn main() -> ExitCode {
    let environment = Environment::of_process();
    let matches = match arguments::command().try_get_matches_from(std::env::args_os()) {
        Ok(matches) => matches,
        Err(usage) => return report_usage(&usage, std::env::args_os().any(|a| a == "--json")),
    };
    let global = match arguments::Global::read(&matches, &environment) {
        Ok(global) => global,
        Err(failure) => return Out::plain().fail(&failure),
    };
    let out = Out::new(&global, &environment);
    start_logging(&global, &environment);
    for notice in global.notices() {
        out.notice(&notice);
    }
    for notice in older::Older::new(&environment).notices() {
        tracing::warn!("{notice}");
    }
    match commands::run(&matches, &global, &environment, &out) {
        Ok(code) => code,
        Err(failure) => out.fail(&failure),
    }
}

/// Help and version are results; everything else that the parser says is an error of usage.
fn report_usage(usage: &clap::Error, json: bool) -> ExitCode {
    let is_result = matches!(usage.kind(), UsageKind::DisplayHelp | UsageKind::DisplayVersion);
    // A group without a command shows what it has: to a person that is more than an error.
    let shows_help = usage.kind() == UsageKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !is_result && (json || !shows_help) {
        let out = if json { Out::for_programs() } else { Out::plain() };
        return out.fail(&Failure::of_usage(usage));
    }
    let printed = usage.print();
    match is_result {
        true => ExitCode::SUCCESS,
        // Nothing is left to tell the error to when standard error itself is gone.
        false => printed.map_or(ExitCode::from(2), |()| ExitCode::from(2)),
    }
}

/// Logs go to standard error only: standard output belongs to results and to the protocol.
fn start_logging(global: &arguments::Global, environment: &Environment) {
    let told = global.log_level.map(str::to_owned).or_else(|| environment.text(environment::RUST_LOG));
    let wanted = told.unwrap_or_else(|| {
        match global.verbose {
            // The protocol library logs every error that it also sends, and clients that left.
            0 => "warn,rmcp=off",
            1 => "info,rmcp=warn",
            2 => "debug,rmcp=info",
            _ => "trace",
        }
        .to_owned()
    });
    let filter = tracing_subscriber::EnvFilter::builder().parse_lossy(wanted);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(global.colour_on_stderr())
        .with_filter(filter_fn(|event| !quotes_messages(event.target(), *event.level())));
    tracing_subscriber::registry().with(filter).with(lines).init();
}

/// The protocol library writes whole messages into its finer logs, and so what the gate has not yet blacked
/// out. Clients keep what a server logs, so none of it is written, whatever level is asked for.
fn quotes_messages(target: &str, level: Level) -> bool {
    target.starts_with("rmcp") && level > Level::WARN
}
