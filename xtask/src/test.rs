//! `test`: everything that must hold before a change is accepted, in one command.

use std::{env, error::Error, path::PathBuf, process::Command, time::Instant};

use crate::{
    Outcome,
    elsewhere::Again,
    foreign,
    postgres::Servers,
    shell::{cargo, exists, run as run_command, say, watch},
    tidy,
};

/// How many tests passed and failed; a check that is no test counts as one when it fails.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    passed: usize,
    failed: usize,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Figures that are read by people and fail on nothing: they take minutes where the code is not optimised.
pub(crate) const FIGURES: [&str; 3] = ["layered_figures::", "project_figures::", "figures::ten_thousand"];

/// The package whose tests run on every server.
const STORE: &str = "strata-store";

/// Checks `packages`, or everything when none is named.
pub(crate) fn run(packages: &[String]) -> Outcome {
    let chosen = Chosen(packages);
    let mut total = Count::default();
    step(&mut total, "style", || check(&mut cargo(["fmt", "--all", "--check"])));
    step(&mut total, "the rules of the house", || tidy::run().map(|()| Count::default()));
    step(&mut total, "lints", || {
        check(chosen.cargo(&["clippy"]).args(["--all-targets", "--quiet", "--", "-D", "warnings"]))
    });
    let mut set_up = None;
    step(&mut total, "tools and servers", || {
        set_up = Some(SetUp::make()?);
        Ok(Count::default())
    });
    if let Some(set_up) = &set_up {
        step(&mut total, "tests", || all_tests(&chosen, set_up));
        step(&mut total, "tests of memory on postgres", || tests_on("postgres", packages, set_up));
        // What an extension of the server could change lies in the store alone.
        if packages.is_empty() || packages.iter().any(|package| package == STORE) {
            let store = [STORE.to_owned()];
            step(&mut total, "tests of the store on pgvector", || tests_on("pgvector", &store, set_up));
        }
    }
    drop(set_up);
    if packages.is_empty() {
        // Refused by cargo for a package that is only a binary.
        step(&mut total, "examples in the documentation", || {
            libtest(chosen.cargo(&["test"]).args(["--doc", "--no-fail-fast", "--quiet"]))
        });
    }
    step(&mut total, "documentation", || {
        check(chosen.cargo(&["doc"]).args(["--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
    });
    say(&format!("{} passed, {} failed", total.passed, total.failed));
    if total.failed == 0 { Ok(()) } else { Err("not everything holds".into()) }
}

/// The packages to look at; none is all.
struct Chosen<'a>(&'a [String]);

impl Chosen<'_> {
    /// A cargo command over them.
    fn cargo(&self, words: &[&str]) -> Command {
        let mut command = cargo(words);
        if self.0.is_empty() {
            command.arg("--workspace");
        }
        command.args(self.0.iter().flat_map(|package| ["--package", package]));
        command
    }
}

/// Runs one step. A fault of the step itself counts as a failure, so that nothing is skipped in silence.
fn step(total: &mut Count, name: &str, work: impl FnOnce() -> Result<Count, Box<dyn Error>>) {
    let started = Instant::now();
    say(&format!("== {name}"));
    match work() {
        Ok(count) => *total += count,
        Err(error) => {
            say(&format!("error: {name}: {error}"));
            total.failed += 1;
        }
    }
    say(&format!("   {:.0} s", started.elapsed().as_secs_f64()));
}

fn check(command: &mut Command) -> Result<Count, Box<dyn Error>> {
    run_command(command)?;
    Ok(Count::default())
}

/// What the tests need beside the product.
struct SetUp {
    tools: PathBuf,
    servers: Servers,
}

impl SetUp {
    fn make() -> Result<Self, Box<dyn Error>> {
        let tools = foreign::install()?;
        let servers = Servers::start(&tools)?;
        Ok(Self { tools, servers })
    }

    /// Tells a run of the tests about it.
    fn tell<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("STRATA_TEST_TOOLS", &self.tools).envs(self.servers.variables())
    }
}

fn has_nextest() -> bool {
    exists(&env::var("CARGO").unwrap_or_else(|_| "cargo".into()), "nextest")
}

/// Every test but [`FIGURES`], those that need the foreign clients and the servers too.
fn all_tests(chosen: &Chosen<'_>, set_up: &SetUp) -> Result<Count, Box<dyn Error>> {
    if has_nextest() {
        let mut command = chosen.cargo(&["nextest", "run"]);
        command.args(["--run-ignored", "all", "-E", &format!("not test(/^({})/)", FIGURES.join("|"))]);
        nextest_run(set_up.tell(&mut command))
    } else {
        let mut command = chosen.cargo(&["test"]);
        command.args(["--no-fail-fast", "--lib", "--bins", "--tests", "--", "--include-ignored"]);
        command.args(FIGURES.into_iter().flat_map(|figures| ["--skip", figures]));
        libtest(set_up.tell(&mut command))
    }
}

/// The tests of memory with their homes' memory on a server.
fn tests_on(store: &str, packages: &[String], set_up: &SetUp) -> Result<Count, Box<dyn Error>> {
    let again = Again::read(packages)?;
    let mut count = Count::default();
    if again.is_empty() {
        return Ok(count);
    }
    again.tell();
    if has_nextest() {
        let mut command = cargo(["nextest", "run", "--workspace", "-E", &again.expression()]);
        return nextest_run(on_store(set_up.tell(&mut command), store));
    }
    for mut command in again.runs(|| cargo::<&str>([])) {
        count += libtest(on_store(set_up.tell(&mut command), store))?;
    }
    Ok(count)
}

/// Repetitions that look for rare moments of files are few on a server, where each takes longer.
fn on_store<'c>(command: &'c mut Command, store: &str) -> &'c mut Command {
    command.env("STRATA_TEST_STORE", store).env("STORE_TEST_STARTS", "2")
}

/// Nextest reports on standard error; its summary is the only thing we need of it.
fn nextest_run(command: &mut Command) -> Result<Count, Box<dyn Error>> {
    let mut count = Count::default();
    command.args(["--no-fail-fast", "--status-level", "fail", "--final-status-level", "fail"]);
    let joined = join_streams(command);
    let succeeded = watch(joined, |line| {
        if let Some(summary) = nextest_summary(line) {
            count = summary;
        }
    })?;
    finished(count, succeeded)
}

/// The same command with standard error joined into standard output.
fn join_streams(command: &mut Command) -> &mut Command {
    let mut joined = Command::new("sh");
    joined.args(["-c", "exec \"$0\" \"$@\" 2>&1"]).arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        joined.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            joined.env(name, value);
        }
    }
    *command = joined;
    command
}

fn libtest(command: &mut Command) -> Result<Count, Box<dyn Error>> {
    let mut count = Count::default();
    let succeeded = watch(command, |line| {
        if let Some(one) = libtest_summary(line) {
            count += one;
        }
    })?;
    finished(count, succeeded)
}

/// A run that failed without a failing test did not even build.
fn finished(count: Count, succeeded: bool) -> Result<Count, Box<dyn Error>> {
    if succeeded || count.failed > 0 { Ok(count) } else { Err("the tests did not run".into()) }
}

/// `Summary [ 1.0s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 3 skipped`.
fn nextest_summary(line: &str) -> Option<Count> {
    let (_, results) = line.trim_start().strip_prefix("Summary")?.split_once("run:")?;
    let number = |word: &str| -> usize {
        let part = results.split(',').find(|p| p.contains(word));
        part.and_then(|p| p.split_whitespace().next()).and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    let failed = ["failed", "timed out", "exec failed"].iter().map(|w| number(w)).sum();
    Some(Count { passed: number("passed"), failed })
}

/// `test result: ok. 5 passed; 0 failed; ...`.
fn libtest_summary(line: &str) -> Option<Count> {
    let (_, results) = line.trim_start().strip_prefix("test result:")?.split_once(". ")?;
    let number = |word: &str| -> usize {
        let part = results.split(';').find(|p| p.contains(word));
        part.and_then(|p| p.split_whitespace().next()).and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    Some(Count { passed: number("passed"), failed: number("failed") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_both_runners_are_understood() {
        let line =
            "     Summary [   4.1s] 40 tests run: 38 passed (2 slow), 1 failed, 1 timed out, 3 skipped";
        assert_eq!(nextest_summary(line), Some(Count { passed: 38, failed: 2 }));
        assert_eq!(nextest_summary("  PASS [0.1s] x"), None);
        let line = "test result: FAILED. 18 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(libtest_summary(line), Some(Count { passed: 18, failed: 2 }));
        assert_eq!(libtest_summary("test a::b ... ok"), None);
    }

    #[test]
    fn a_run_without_results_is_a_failure() {
        assert!(finished(Count::default(), false).is_err());
        assert!(finished(Count { passed: 1, failed: 1 }, false).is_ok());
    }
}
