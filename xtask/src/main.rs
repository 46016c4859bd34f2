//! Developer tasks: `cargo xtask TASK`.

mod conformance;
mod distill;
mod docs;
mod elsewhere;
mod foreign;
mod postgres;
mod quality;
mod shell;
mod test;
mod tidy;

use std::{error::Error, process::ExitCode};

use shell::say;

/// What every task returns: a fault in words is enough here.
type Outcome = Result<(), Box<dyn Error>>;

const USAGE: &str = "tasks:
  test [PACKAGE...]
                set up what the tests need, check style, run every test; ends with `N passed, N failed`
  postgres [pgvector]
                start a PostgreSQL server for tests, print its address and keep it until interrupted
  scale --binary PATH [--tenants N] [--passages N] [--processes N] [--minutes N] [--gigabytes N] [--server URL]
                measure many tenants on one PostgreSQL server, at a tenth and at the whole of their size
  tidy          check the rules of the house: directions, names, sizes, licences
  docs          make docs/reference from the product's own tables
  conformance   run the tests that are named after checks of the specs, and report per spec
  quality [--binary PATH]
                measure start-up, size, one-shot recall and parallel writers of the release binary
  distill [--model DIR]
                rebuild the static embedding model from all-MiniLM-L6-v2";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first().map(|(task, rest)| (task.as_str(), rest)) {
        Some(("test", packages)) => test::run(packages),
        Some(("postgres", rest)) => postgres::run(rest),
        Some(("scale", rest)) => postgres::scale::run(rest),
        Some(("tidy", _)) => tidy::run(),
        Some(("docs", _)) => docs::run(),
        Some(("conformance", _)) => conformance::run(),
        Some(("quality", rest)) => quality::run(rest),
        Some(("distill", rest)) => distill::run(rest).map_err(Into::into),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{error}"));
            ExitCode::FAILURE
        }
    }
}
