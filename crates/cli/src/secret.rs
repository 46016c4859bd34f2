//! The human's passphrase: read from a file that was named, or asked for when an operation needs it.
//!
//! Never an argument and never an environment variable: both can be seen by other programs.

use std::{
    fs::File,
    io::{BufRead, BufReader, IsTerminal, Read},
    path::Path,
};

use strata_core::{
    error::ErrorKind,
    principal::PrincipalKind,
    signing::{DerivationParams, SecretKey, SigningError},
};
use strata_engine::{
    authority,
    engine::Engine,
    error::Error,
    maintain::init,
    operation::{Call, Entry, Reply},
};

use crate::failure::Failure;

/// The most bytes of a passphrase file that are read.
const MAX_FILE: u64 = 64 * 1024;

/// Runs an operation, with the secret where it is needed and can be had.
pub(crate) fn run(
    entry: &Entry,
    engine: &Engine,
    call: &Call<'_>,
    arguments: &serde_json::Value,
    file: Option<&Path>,
) -> Result<Reply, Failure> {
    let run = |secret: Option<&SecretKey>| (entry.run)(engine, &Call { secret, ..*call }, arguments.clone());
    let other = (entry.confirmed_by)(engine, arguments.clone())?;
    let (keeper, prompt) = match &other {
        Some(other) => (other, format!("Passphrase of {}: ", other.place())),
        None => (engine, "Passphrase: ".to_owned()),
    };
    if let Some(file) = file {
        let secret = derive(keeper, call, &first_line(file)?)?;
        return Ok(run(Some(&secret))?);
    }
    let person = call.principal.kind == PrincipalKind::Human && std::io::stdin().is_terminal();
    let passphrase = match run(None) {
        // Nobody is asked for what does not exist yet.
        Err(Error::ApprovalRequired { .. }) if person && !authority::has_passphrase(keeper, call)? => {
            return Err(authority::no_passphrase(keeper).into());
        }
        Err(Error::ApprovalRequired { .. }) if person => Some(ask(&prompt)?),
        Ok(reply) if person && lacks_secret(&reply) => ask_new()?,
        outcome => return Ok(outcome?),
    };
    match passphrase {
        Some(passphrase) => Ok(run(Some(&derive(keeper, call, &passphrase)?))?),
        None => Ok(run(None)?),
    }
}

/// Whether the operation sets up a home that has no passphrase yet.
fn lacks_secret(reply: &Reply) -> bool {
    reply.json["has_secret"] == false
}

fn derive(engine: &Engine, call: &Call<'_>, passphrase: &str) -> Result<SecretKey, Failure> {
    let salt = init::salt(engine, call)?;
    match SecretKey::derive(passphrase, &salt, DerivationParams::RECOMMENDED) {
        // What a passphrase must be like is said when one is chosen; here it is the wrong one.
        Err(SigningError::TooShort | SigningError::TooLong) if authority::has_passphrase(engine, call)? => {
            Err(authority::wrong_passphrase(engine, call)?.into())
        }
        derived => derived.map_err(unusable),
    }
}

fn unusable(error: SigningError) -> Failure {
    Failure::new(error.kind(), error.to_string(), error.hint())
}

fn ask(prompt: &str) -> Result<String, Failure> {
    rpassword::prompt_password(prompt).map_err(|e| {
        let hint = "run the command at a terminal, or name a file with --passphrase-file";
        Failure::new(ErrorKind::ApprovalRequired, format!("cannot ask for the passphrase: {e}"), hint)
    })
}

/// A new passphrase, typed twice; `None` when the person wants none.
fn ask_new() -> Result<Option<String>, Failure> {
    let first = ask("New passphrase, to protect rules and purges (empty for none): ")?;
    if first.is_empty() {
        return Ok(None);
    }
    if ask("The same again: ")? != first {
        return Err(Failure::usage("the two passphrases differ", "run the command again"));
    }
    Ok(Some(first))
}

fn first_line(file: &Path) -> Result<String, Failure> {
    let read = || -> std::io::Result<String> {
        let mut line = String::new();
        BufReader::new(File::open(file)?.take(MAX_FILE)).read_line(&mut line)?;
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    };
    read().map_err(|e| {
        let cause = format!("cannot read the passphrase from `{}`: {e}", file.display());
        Failure::new(
            ErrorKind::Unavailable,
            cause,
            "name a readable UTF-8 file with the passphrase in its first line",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_its_first_line() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let file = dir.path().join("passphrase");
        #[expect(clippy::disallowed_methods, reason = "a test fixture needs no atomic write")]
        std::fs::write(&file, "correct horse 电池\r\nsecond line\n").expect("fixture");
        assert_eq!(first_line(&file).expect("readable"), "correct horse 电池");
        assert_eq!(first_line(&dir.path().join("none")).expect_err("missing").kind, ErrorKind::Unavailable);
    }
}
