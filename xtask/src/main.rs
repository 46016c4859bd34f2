//! Developer tasks: `cargo xtask TASK`.

mod distill;

use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "tasks:
  distill [--model DIR]   rebuild the static embedding model from all-MiniLM-L6-v2
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((task, rest)) if task == "distill" => distill::run(rest).map_err(Into::into),
        _ => Err(Box::<dyn std::error::Error>::from(USAGE)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to tell it to when standard error is closed.
            let _closed = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
