//! Runs one operation of the table for whoever is at the command line.

use std::{process::ExitCode, time::Duration};

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};
use strata_core::{cancel::Cancel, error::ErrorKind, principal::Face, time::Timestamp};
use strata_engine::{
    engine::Engine,
    maintain::doctor::Doctor,
    operation::{Call, Entry, Operation},
    project::identity::resolve,
};
use strata_server::interrupt;

use crate::{
    arguments::Global,
    environment::Environment,
    failure::Failure,
    identity,
    out::Out,
    place::{self, Place},
    secret, values, wording,
};

/// Runs `entry` on what was typed, writes its reply and gives the exit code: 1 when the reply is that
/// something is wrong.
pub(crate) fn run(
    entry: &Entry,
    matches: &ArgMatches,
    global: &Global,
    environment: &Environment,
    out: &Out,
) -> Result<ExitCode, Failure> {
    let arguments = values::arguments(entry, matches, global)?;
    let home = place::home(global.home.as_deref(), environment)?;
    let place = Place::new(global, environment);
    let settings = match place::settings(&home, &place, environment) {
        // It names the fault among its findings and looks at the rest.
        Err(_) if entry.spec.tool == Doctor::SPEC.tool => place::settings_without_config(&home, &place)?,
        settings => settings?,
    };
    let engine = Engine::new(settings);
    let principal = identity::principal(environment);
    if let Some(claim) = &global.who {
        identity::check_claim(claim, &principal)?;
    }
    let scope = resolve(&engine, place.scope(&home));
    let cancel = Cancel::default();
    // Work that goes on until it is interrupted ends then with its result.
    if arguments["follow"] == true || arguments["follow"] == "true" {
        interrupt::withdraws(&cancel).map_err(|e| {
            let hint = "run it without --follow";
            Failure::new(ErrorKind::Unavailable, format!("cannot listen for Ctrl-C: {e}"), hint)
        })?;
    }
    let bar = Bar::new(out.shows_progress());
    let call = Call {
        principal: &principal,
        scope: &scope,
        face: Face::Cli,
        // A person waits as long as they like and stops it with Ctrl-C.
        deadline: Timestamp::MAX,
        cancel: &cancel,
        progress: &|done, total| bar.show(done, total),
        secret: None,
    };
    let reply = secret::run(entry, &engine, &call, &arguments, global.passphrase_file.as_deref());
    bar.clear();
    let words = wording::Words::new(entry, global.home.as_deref());
    let reply = reply.map(|r| words.of_reply(r)).map_err(|f| words.of_failure(f))?;
    out.reply(&reply)?;
    Ok(if reply.is_alarming { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A progress bar that appears with the first progress.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn new(wanted: bool) -> Self {
        Self(wanted.then(|| {
            let bar = ProgressBar::no_length();
            bar.set_style(style("{spinner} {pos} {elapsed}"));
            bar
        }))
    }

    fn show(&self, done: u64, total: u64) {
        let Some(bar) = &self.0 else { return };
        if total > 0 && bar.length() != Some(total) {
            bar.set_length(total);
            bar.set_style(style("{bar:30} {pos}/{len} {eta}"));
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        bar.set_position(done);
    }

    fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
