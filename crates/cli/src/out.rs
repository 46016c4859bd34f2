//! The two streams: results on standard output, the rest on standard error.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use serde_json::json;
use strata_engine::{
    operation::Reply,
    render::{Document, Mark},
};

use crate::{
    arguments::{Colour, Global},
    draw::{self, Look},
    environment::{COLUMNS, Environment},
    failure::Failure,
};

/// The narrowest and widest that text is set, in columns.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=120;

/// How results are written.
pub(crate) struct Out {
    json: bool,
    quiet: bool,
    look: Look,
    error_colour: bool,
}

impl Out {
    /// As the user asked.
    pub(crate) fn new(global: &Global, environment: &Environment) -> Self {
        Self {
            json: global.json,
            quiet: global.quiet,
            look: Look { colour: global.colour_on_stdout(), width: width(environment) },
            error_colour: global.colour_on_stderr(),
        }
    }

    /// For failures before the user's wishes are known.
    pub(crate) fn plain() -> Self {
        Self { json: false, quiet: false, look: Look { colour: false, width: None }, error_colour: false }
    }

    /// For failures before the user's wishes are known, where a program reads.
    pub(crate) fn for_programs() -> Self {
        Self { json: true, ..Self::plain() }
    }

    /// Writes a reply.
    pub(crate) fn reply(&self, reply: &Reply) -> io::Result<()> {
        if self.json { self.json(&reply.json) } else { self.document(&reply.document) }
    }

    /// Writes a document.
    pub(crate) fn document(&self, document: &Document) -> io::Result<()> {
        self.text(&draw::document(document, self.look))
    }

    /// Writes JSON for programs.
    pub(crate) fn json(&self, value: &serde_json::Value) -> io::Result<()> {
        self.text(&format!("{value:#}"))
    }

    /// Writes text and a line break when it lacks one.
    pub(crate) fn text(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    }

    /// Writes one line.
    pub(crate) fn line(&self, text: &str) -> io::Result<()> {
        self.text(&format!("{text}\n"))
    }

    /// Whether results are JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Whether long work shows its progress.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Tells a person something beside the result. Programs that read JSON find it there, or nowhere.
    pub(crate) fn notice(&self, text: &str) {
        if !self.is_json() {
            // A notice that nobody can read is no failure.
            drop(writeln!(io::stderr(), "{} {text}", Mark::Info.sign()));
        }
    }

    /// Tells a failure on standard error and gives its exit code.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        if failure.reader_left {
            return ExitCode::SUCCESS;
        }
        let failure = &failure.clone().without_secrets();
        let text = if self.json { error_json(failure) } else { draw::failure(failure, self.error_colour) };
        // When standard error is gone too, the exit code has to do.
        writeln!(io::stderr().lock(), "{}", text.trim_end()).ok();
        ExitCode::from(failure.exit.unwrap_or_else(|| failure.kind.exit_code()))
    }
}

fn error_json(failure: &Failure) -> String {
    let cause = failure.causes.join(": ");
    json!({ "error": { "code": failure.kind.code(), "cause": cause, "next": failure.hint } }).to_string()
}

/// Columns to fit into; `None` when nothing says so, and lines stay as long as they are.
fn width(environment: &Environment) -> Option<usize> {
    let told = || environment.text(COLUMNS)?.trim().parse::<usize>().ok().filter(|w| *w > 0);
    terminal_width().or_else(told).map(|w| w.clamp(*WIDTHS.start(), *WIDTHS.end()))
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|w| *w > 0)
}

#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    io::stdout().is_terminal().then_some(80)
}

/// Whether a stream gets colour.
pub(crate) fn coloured(wish: Colour, environment: &Environment, terminal: bool) -> bool {
    use crate::environment::{CLICOLOR_FORCE, NO_COLOR};
    match wish {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if environment.raw(NO_COLOR).is_some() => false,
        Colour::Auto if environment.text(CLICOLOR_FORCE).is_some_and(|v| v != "0") => true,
        Colour::Auto => terminal && environment.text("TERM").is_none_or(|t| t != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_follows_the_wish_then_the_environment_then_the_terminal() {
        let plain = Environment::default();
        assert!(coloured(Colour::Auto, &plain, true));
        assert!(!coloured(Colour::Auto, &plain, false));
        assert!(!coloured(Colour::Auto, &Environment::from([("NO_COLOR", "1")]), true));
        assert!(coloured(Colour::Always, &Environment::from([("NO_COLOR", "1")]), false));
        assert!(coloured(Colour::Auto, &Environment::from([("CLICOLOR_FORCE", "1")]), false));
        assert!(!coloured(Colour::Auto, &Environment::from([("TERM", "dumb")]), true));
    }

    #[test]
    fn widths_are_kept_readable() {
        if terminal_width().is_none() {
            assert_eq!(width(&Environment::from([("COLUMNS", "10")])), Some(40));
            assert_eq!(width(&Environment::from([("COLUMNS", "9999")])), Some(120));
            assert_eq!(width(&Environment::from([("COLUMNS", "wide")])), None);
        }
    }

    #[test]
    fn errors_for_programs_are_one_json_object() {
        let failure = Failure::usage("a\"b", "do c");
        let value: serde_json::Value = serde_json::from_str(&error_json(&failure)).expect("JSON");
        assert_eq!(value["error"]["code"], "invalid");
    }
}
