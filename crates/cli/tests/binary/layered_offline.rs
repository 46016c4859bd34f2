//! Knowledge on a machine that reaches nothing.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use strata_testkit::home::TestHome;

use crate::strata;

/// The binary in a network of its own in which there is nothing, where the system makes one; else as it is.
fn cut_off(home: &TestHome) -> Command {
    let plain = strata(home).command();
    let namespace = ["--user", "--map-root-user", "--net"];
    let made = Command::new("unshare").args(namespace).arg("true").output();
    if !made.is_ok_and(|output| output.status.success()) {
        return plain;
    }
    let mut command = Command::new("unshare");
    command.args(namespace).arg(plain.get_program()).current_dir(home.outside()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

#[test]
fn layered_66_without_a_network_every_call_is_prompt_and_meaning_is_there() {
    let home = TestHome::bare();
    let run = |arguments: &[&str]| {
        let begun = Instant::now();
        let output = cut_off(&home).args(arguments).arg("--json").output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let failed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}{failed}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{arguments:?} took {:?}", begun.elapsed());
        said
    };
    let said =
        run(&["knowledge", "inject", "infra", "Pool", "The connection pool holds at most 20 connections."]);
    assert!(said.contains("\"vector_sync_ok\": true"), "{said}");
    for mode in ["keyword", "fuzzy", "bm25", "hybrid", "semantic"] {
        let said = run(&["knowledge", "recall", "connection pool", "--search-mode", mode]);
        assert!(said.contains("infra.md"), "{mode}: {said}");
    }
    let near = run(&["knowledge", "semantic", "how many connections are there"]);
    assert!(near.contains("at most 20"), "{near}");
    for look in ["audit", "validate", "plan", "reconcile", "reindex"] {
        run(&["knowledge", look]);
    }
    let fetched = std::fs::read_dir(home.path()).expect("a home").flatten().map(|entry| entry.file_name());
    assert!(!fetched.into_iter().any(|name| name.to_string_lossy().contains("model")), "nothing was fetched");
}
