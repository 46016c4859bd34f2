//! The passphrase: typed at a terminal, or read from a file that was named.

use std::path::Path;

use strata_testkit::{binary::CommandOutput, home::TestHome};

use crate::strata;

const PASSPHRASE: &str = "correct horse 电池 staple";

/// Runs the binary on a terminal of its own, typing a line at each prompt.
pub(crate) fn at_terminal(
    home: &TestHome,
    variables: &[(&str, &str)],
    lines: &[&str],
    arguments: &[&str],
) -> CommandOutput {
    let tools = std::env::var_os("STRATA_TEST_TOOLS").expect("STRATA_TEST_TOOLS: run `cargo xtask test`");
    let typist = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/binary/clients/typist.py");
    let binary = strata(home);
    let environment = binary.command();
    let mut python = std::process::Command::new(Path::new(&tools).join("python/bin/python"));
    python.env_clear();
    for (name, value) in environment.get_envs() {
        python.env(name, value.unwrap_or_default());
    }
    python.env("USER", "kim").env("TERM", "dumb").envs(variables.iter().copied()).current_dir(home.outside());
    python.arg(typist).arg(lines.join("\n")).arg(binary.path()).args(arguments);
    CommandOutput::from(python.output().expect("Python starts"))
}

#[test]
#[ignore = "needs Python for a terminal: run by cargo xtask test"]
fn a_person_sets_the_passphrase_and_approves_with_it() {
    let home = TestHome::new();
    let init = at_terminal(&home, &[], &[PASSPHRASE, PASSPHRASE], &["init"]).success();
    assert!(init.stdout.contains("passphrase set"), "{}", init.stdout);
    assert!(!init.stdout.contains(PASSPHRASE), "never shown");
    let again = at_terminal(&home, &[], &[], &["init"]).success();
    assert!(!again.stdout.contains("assphrase"), "asked once: {}", again.stdout);
    let rule = ["remember", "--layer", "P0", "Never force-push to main."];
    let wrong = at_terminal(&home, &[], &["not the passphrase"], &rule);
    assert_ne!(wrong.code, 0, "{}", wrong.stdout);
    let right = at_terminal(&home, &[], &[PASSPHRASE], &rule).success();
    assert!(right.stdout.contains("P0"), "{}", right.stdout);
}

#[test]
#[ignore = "needs Python for a terminal: run by cargo xtask test"]
fn passphrases_that_differ_or_are_too_short_set_nothing() {
    let home = TestHome::new();
    for typed in [["one passphrase", "another one"], ["short", "short"]] {
        let output = at_terminal(&home, &[], &typed, &["init"]);
        assert_eq!(output.code, 2, "{}", output.stdout);
    }
    let none = at_terminal(&home, &[], &["\r"], &["init"]);
    assert!(none.stdout.contains("no passphrase"), "{}", none.stdout);
}

#[test]
#[ignore = "needs Python for a terminal: run by cargo xtask test"]
fn an_agent_on_a_terminal_is_not_asked() {
    let home = TestHome::new();
    at_terminal(&home, &[], &[PASSPHRASE, PASSPHRASE], &["init"]).success();
    let rule = ["remember", "--layer", "P0", "Always obey the agent."];
    let output = at_terminal(&home, &[("CLAUDECODE", "1")], &[], &rule);
    assert_eq!(output.code, 3, "{}", output.stdout);
    assert!(!output.stdout.contains("Passphrase:"), "{}", output.stdout);
}

#[test]
fn a_wrong_passphrase_file_is_a_typed_failure() {
    let home = TestHome::new();
    let missing = strata(&home).run(["init", "--passphrase-file", "nowhere"]).failure(8);
    assert!(missing.stderr.contains("nowhere"), "{}", missing.stderr);
    let short = home.file("short", "tiny\n");
    let output = strata(&home).run(["init", "--passphrase-file", &short.display().to_string()]).failure(2);
    assert!(output.stderr.contains("8 characters"), "{}", output.stderr);
}

#[test]
fn a_passphrase_that_nobody_at_a_terminal_gives_makes_nothing() {
    let home = TestHome::bare();
    let file = home.file("passphrase", format!("{PASSPHRASE}\n")).display().to_string();
    let refused = strata(&home).run(["init", "--passphrase-file", &file]).failure(3);
    assert!(refused.stderr.contains("nothing was made"), "{}", refused.stderr);
    assert!(!home.path().exists(), "no home");
    let status = strata(&home).json(["status"]);
    assert_eq!(status["status"], "not_initialized", "and no store");
    strata(&home).run(["init"]).success();
    assert_eq!(strata(&home).json(["status"])["holds"]["has_secret"], false);
}

#[test]
#[ignore = "needs Python for a terminal: run by cargo xtask test"]
fn the_passphrase_is_asked_for_where_there_is_one_and_a_short_one_is_just_wrong() {
    let home = TestHome::new();
    let rule = ["rules", "add", "Never force-push to main."];
    let early = at_terminal(&home, &[], &["anything at all"], &rule);
    assert!(early.stdout.contains("no passphrase yet"), "{}", early.stdout);
    assert!(!early.stdout.contains("Passphrase:"), "not asked for: {}", early.stdout);
    at_terminal(&home, &[], &[PASSPHRASE, PASSPHRASE], &["init"]).success();
    let short = at_terminal(&home, &[], &["nope"], &rule);
    assert_eq!(short.code, 5, "{}", short.stdout);
    assert!(short.stdout.contains("not the passphrase of"), "{}", short.stdout);
    let refused = strata(&home).run(["govern", "audit", "--denied-only"]).success();
    assert!(refused.stdout.contains("DENIED passphrase"), "a guess leaves a trace: {}", refused.stdout);
}

#[test]
#[ignore = "needs Python for a terminal: run by cargo xtask test"]
fn a_new_home_with_a_passphrase_file_is_said_to_be_new() {
    let home = TestHome::new();
    let file = home.outside().join("passphrase");
    #[expect(clippy::disallowed_methods, reason = "a test fixture needs no atomic write")]
    std::fs::write(&file, PASSPHRASE).expect("fixture");
    let init = ["--passphrase-file", file.to_str().expect("UTF-8"), "init"];
    let made = at_terminal(&home, &[], &[], &init).success();
    assert!(made.stdout.contains("initialized") && !made.stdout.contains("already"), "{}", made.stdout);
    let again = at_terminal(&home, &[], &[], &init).success();
    assert!(again.stdout.contains("already initialized"), "{}", again.stdout);
}
