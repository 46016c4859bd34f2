//! Why a command failed, as people are told and as scripts see it.

use std::io;

use clap::error::ErrorKind as UsageKind;
use strata_core::{error::ErrorKind, redact::redact};
use strata_engine::error::Error;

/// A failed command.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// Decides the exit code.
    pub(crate) kind: ErrorKind,
    /// What went wrong, then why, from the outside in.
    pub(crate) causes: Vec<String>,
    /// What to do next.
    pub(crate) hint: String,
    /// Whoever read our output has left: not a failure that anybody needs to hear of.
    pub(crate) reader_left: bool,
    /// The exit code, where it is not that of the kind.
    pub(crate) exit: Option<u8>,
}

impl Failure {
    /// A failure with one cause.
    pub(crate) fn new(kind: ErrorKind, cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, causes: vec![cause.into()], hint: hint.into(), reader_left: false, exit: None }
    }

    /// What the parser of the command line says: what is wrong, then what it would take.
    pub(crate) fn of_usage(usage: &clap::Error) -> Self {
        let text = usage.render().to_string();
        let (cause, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let hints: Vec<String> = rest
            .split("\n\n")
            .map(one_line)
            .filter(|part| part.starts_with("Usage:") || part.starts_with("tip:"))
            .map(|part| part.strip_prefix("tip: ").unwrap_or(&part).replace("Usage: ", "usage: "))
            .collect();
        let cause = match usage.kind() {
            // The text is the help, which begins with what the command is for.
            UsageKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                "a command or argument is missing".to_owned()
            }
            _ => one_line(cause.strip_prefix("error: ").unwrap_or(cause)),
        };
        let hint =
            if hints.is_empty() { "`--help` shows how it is used".to_owned() } else { hints.join("; ") };
        Self::usage(cause, hint)
    }

    /// A project's directory that cannot be one: one line and exit code 1, as memory-engine's clients know it.
    pub(crate) fn root(cause: impl Into<String>) -> Self {
        Self { exit: Some(1), ..Self::usage(cause, "") }
    }

    /// The same without the secrets of what it quotes: an agent's client keeps what a command said.
    pub(crate) fn without_secrets(self) -> Self {
        let clean = |text: String| redact(&text).text.into_owned();
        Self { causes: self.causes.into_iter().map(clean).collect(), ..self }
    }

    /// A wrong argument.
    pub(crate) fn usage(cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, cause, hint)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let mut causes = vec![error.to_string()];
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            let text = cause.to_string();
            // Wrappers often repeat their source; say each thing once.
            if !causes.iter().any(|c| c.contains(&text)) {
                causes.push(text);
            }
            source = cause.source();
        }
        Self { kind: error.kind(), causes, hint: error.hint(), reader_left: false, exit: None }
    }
}

impl From<io::Error> for Failure {
    /// A failure to write output.
    fn from(error: io::Error) -> Self {
        let reader_left = error.kind() == io::ErrorKind::BrokenPipe;
        let hint = "check where the output goes: the disk may be full";
        Self {
            reader_left,
            ..Self::new(ErrorKind::Unavailable, format!("cannot write output: {error}"), hint)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_usage_says_what_is_wrong_and_what_is_near() {
        let said = |line: &[&str]| {
            let usage = crate::arguments::command().try_get_matches_from(line).expect_err("wrong");
            let Failure { kind, causes, hint, .. } = Failure::of_usage(&usage);
            assert_eq!(kind, ErrorKind::Invalid);
            (causes.concat(), hint)
        };
        let (cause, hint) = said(&["strata", "recall", "x", "--lmit", "3"]);
        assert_eq!(cause, "unexpected argument '--lmit' found");
        assert!(hint.starts_with("a similar argument exists: '--limit'; usage: strata recall"), "{hint}");
        let (cause, hint) = said(&["strata", "export"]);
        assert!(
            cause.ends_with("were not provided: <PATH>") && hint == "usage: strata export <PATH>",
            "{cause} {hint}"
        );
        assert!(said(&["strata", "--color", "pink", "status"]).1.contains("--help"));
    }
}
