//! Other people's clients, as published. `cargo xtask test` installs them and runs these.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use strata_testkit::{binary::CommandOutput, home::TestHome};

use crate::strata;

/// Where `cargo xtask test` installed the clients.
fn tools() -> PathBuf {
    std::env::var_os("STRATA_TEST_TOOLS")
        .map(PathBuf::from)
        .expect("STRATA_TEST_TOOLS: run `cargo xtask test`")
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/binary/clients").join(name)
}

#[track_caller]
fn check(home: &TestHome, command: &mut Command, mode: &str) -> Value {
    let output =
        command.arg(strata(home).path()).arg(home.path()).arg(mode).output().expect("the client starts");
    let output = CommandOutput::from(output).success();
    let seen: Value = serde_json::from_str(output.stdout.trim()).expect("the client reports in JSON");
    assert!(seen["tools"].as_array().expect("tools").iter().any(|t| t == "status"), "{seen}");
    assert_eq!(seen["failed"], false, "{seen}");
    assert!(seen["text"].as_str().expect("text").contains("agent:"), "{seen}");
    assert!(seen["instructions"].as_str().is_some_and(|i| i.contains("`context`")), "{seen}");
    seen
}

#[test]
#[ignore = "needs the Python client: run by cargo xtask test"]
fn the_python_client_works_in_both_eras() {
    let home = TestHome::new();
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let mut python = Command::new(tools().join("python/bin/python"));
        let seen = check(&home, python.arg(script("python_client.py")), mode);
        assert_eq!(seen["protocol"], version);
    }
}

#[test]
#[ignore = "needs the TypeScript clients: run by cargo xtask test"]
fn the_typescript_clients_work() {
    let home = TestHome::new();
    for package in ["sdk", "client"] {
        // Modules are looked up from the script's own place, so it has to lie beside them.
        let beside = tools().join("node").join(format!("check-{package}.mjs"));
        std::fs::copy(script("typescript_client.mjs"), &beside).expect("the script is copied");
        check(&home, Command::new("node").arg(beside), package);
    }
}
