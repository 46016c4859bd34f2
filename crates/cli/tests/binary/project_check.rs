//! `strata project check` as a build runs it, and a project without any network.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use strata_testkit::{binary::Binary, home::TestHome};

use crate::strata;

fn git(at: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=Ana", "-c", "user.email=ana@private.test"];
    let status =
        Command::new("git").args(identity).args(arguments).current_dir(at).status().expect("git runs");
    assert!(status.success(), "git {arguments:?}");
}

const CODE: &str = "/// Sends.\nfn send() -> bool {\n    true\n}\n";

/// A checkout with a memory that is pinned to a function and to lines.
fn pinned(home: &TestHome) -> PathBuf {
    home.file("app/src/send.rs", CODE);
    home.file("app/README.md", "# App\n\nAbout a queue of invoices.\n");
    let root = home.outside().join("app");
    git(&root, &["init", "-q", "-b", "main"]);
    commit(&root, "begin");
    let text = "Sending always succeeds in the simulator.";
    let pins = ["--evidence", "code:src/send.rs#send", "--evidence", "code:src/send.rs:2-4"];
    on(home, &root).run([&["remember", text][..], &pins].concat()).success();
    root
}

fn commit(root: &Path, message: &str) {
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", message]);
}

fn on<'h>(home: &'h TestHome, root: &Path) -> Binary<'h> {
    strata(home).with("STRATA_PROJECT", &root.to_string_lossy())
}

/// Runs the check, which must end with `code`, and gives what it says.
fn check(binary: &Binary<'_>, arguments: &[&str], code: i32) -> Value {
    let output = binary.run([&["--json", "project", "check"], arguments].concat()).failure(code);
    serde_json::from_str(&output.stdout).unwrap_or(Value::Null)
}

#[test]
fn a_check_ends_as_a_build_needs_it() {
    let home = TestHome::new();
    let root = pinned(&home);
    let binary = on(&home, &root);
    assert_eq!(check(&binary, &[], 0)["findings"], json!([]));
    home.file("app/src/send.rs", CODE.replace("true", "maybe()"));
    assert_eq!(check(&binary, &[], 1)["findings"][0]["state"], "drifted", "not committed yet");
    commit(&root, "change");
    let range = check(&binary, &["--diff", "HEAD~1..HEAD"], 1);
    assert_eq!(range["findings"].as_array().map(Vec::len), Some(2), "{range}");
    assert_eq!(check(&binary, &["--diff", "HEAD..HEAD"], 0)["findings"], json!([]), "that changed nothing");
    assert_eq!(check(&binary, &["--gone-only"], 0)["findings"], json!([]));
    git(&root, &["rm", "-q", "src/send.rs"]);
    commit(&root, "remove");
    assert_eq!(check(&binary, &["--gone-only"], 1)["findings"][0]["state"], "gone");
    check(&binary, &["--diff", "HEAD~1..HEAD"], 1);
    // What cannot be checked is no finding.
    check(&binary, &["--diff", "nothing..HEAD"], 2);
    check(&binary, &["--diff", "HEAD"], 2);
    let text = binary.run(["project", "check"]).failure(1).stdout;
    assert!(text.contains("src/send.rs#send") && text.contains("gone"), "{text}");
}

#[test]
fn a_report_is_what_readers_of_sarif_expect() {
    let home = TestHome::new();
    let root = pinned(&home);
    home.file("app/src/send.rs", CODE.replace("true", "maybe()"));
    let binary = on(&home, &root).with("PWD", &root.to_string_lossy());
    let path = root.join("check.sarif");
    check(&binary, &["--sarif", &path.to_string_lossy()], 1);
    let sarif: Value = serde_json::from_slice(&fs::read(&path).expect("written")).expect("JSON");
    assert!(sarif["$schema"].as_str().is_some_and(|schema| schema.contains("sarif-2.1.0")), "{sarif}");
    assert_eq!((&sarif["version"], sarif["runs"].as_array().map(Vec::len)), (&json!("2.1.0"), Some(1)));
    let run = &sarif["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!((&driver["name"], &driver["version"]), (&json!("strata"), &json!(env!("CARGO_PKG_VERSION"))));
    let rules: Vec<&Value> =
        driver["rules"].as_array().expect("rules").iter().map(|rule| &rule["id"]).collect();
    assert_eq!(rules, [&json!("drifted"), &json!("gone")]);
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 2, "{sarif}");
    for result in results {
        assert!(rules.contains(&&result["ruleId"]), "{result}");
        assert!(["error", "warning", "note", "none"].contains(&result["level"].as_str().expect("a level")));
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        let physical = &result["locations"][0]["physicalLocation"];
        assert_eq!(physical["artifactLocation"]["uri"], "src/send.rs");
        if let Some(region) = physical.get("region") {
            let start = region["startLine"].as_u64().expect("a line");
            // Where no end is told, the first line is the last, too.
            let end = region.get("endLine").map_or(start, |end| end.as_u64().expect("a line"));
            assert!(1 <= start && start <= end, "{region}");
        }
    }
    assert!(results.iter().any(|result| result["locations"][0]["physicalLocation"].get("region").is_some()));
    fs::remove_file(&path).expect("removed");
    home.file("app/src/send.rs", CODE);
    check(&binary, &["--sarif", &path.to_string_lossy()], 0);
    let clean: Value = serde_json::from_slice(&fs::read(&path).expect("written")).expect("JSON");
    assert_eq!(clean["runs"][0]["results"], json!([]), "a clean report is one too");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_engine_c78_a_project_is_read_asked_and_told_where_there_is_no_network() {
    use strata_testkit::mcp::{Era, McpScript};

    use crate::layered_network::{may_separate, tried, without_network};

    let home = TestHome::new();
    let root = pinned(&home);
    git(&root, &["remote", "add", "origin", "https://ana:hunter2hunter2@git.private.test/team/app.git"]);
    let is_apart = may_separate();
    let program = if is_apart { without_network(&home) } else { env!("CARGO_BIN_EXE_strata").into() };
    let binary = Binary::new(program, &home).with("STRATA_PROJECT", &root.to_string_lossy());
    let mut server = McpScript::start(&binary, Era::Handshake, &["--toolsets", "core,project"]);
    let mut ask = |tool: &str, arguments: Value| -> Value {
        let answer = server.call(tool, &arguments);
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        serde_json::from_str(&answer.text).expect("JSON")
    };
    let read = ask("refresh_project_knowledge", json!({}));
    assert_eq!(read["bootstrap_status"], "READY");
    let report = json!({
        "task": "Fix crash of the queue worker",
        "outcome": "The worker read the queue before it took the lock, so two of them took one batch of invoices.",
        "verification_status": "tests_passed",
        "changed_files": ["src/send.rs"],
    });
    assert_eq!(ask("reflect_and_write", report)["outcome"], "persisted");
    let pack = ask("retrieve_agent_context", json!({ "task": "the queue of invoices and its worker" }));
    assert_eq!(pack["incidents"].as_array().map(Vec::len), Some(1), "{pack}");
    assert!(pack["knowledge_chunks"].as_array().is_some_and(|found| !found.is_empty()), "{pack}");
    assert_eq!(pack["meta"]["semantic_status"], "used", "the model is in the binary: {pack}");
    assert_eq!(ask("memory_status", json!({}))["bootstrap_status"], "READY");
    assert!(!is_apart || !tried(&server.id().to_string()), "something tried to reach a network");
    assert!(server.finish().status.success());
}
