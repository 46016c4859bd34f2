//! Processes that start together, die in the middle or call themselves what they are not.

use std::{
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::json;
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

const WRITERS: usize = 8;
/// Enough to meet at every lock; a hundred each takes a debug build a quarter of a minute.
const WRITES: usize = 20;

#[test]
fn field_case_19_eight_processes_start_on_a_fresh_home_while_one_reads() {
    let home = TestHome::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (home, done) = (&home, &done);
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    let mut script = McpScript::start(&strata(home), Era::ALL[writer % 2], &[]);
                    for n in 0..WRITES {
                        let text = format!("Writer {writer} saw machine {} at gate {n}.", writer * 1000 + n);
                        let answer = script.call("remember", &json!({ "text": text }));
                        assert!(!answer.is_error, "{}", answer.text);
                    }
                })
            })
            .collect();
        scope.spawn(move || {
            let mut script = McpScript::start(&strata(home), Era::Handshake, &[]);
            while !done.load(Ordering::Relaxed) {
                let answer = script.call("recall", &json!({ "query": "machine at gate 7" }));
                assert!(!answer.is_error, "{}", answer.text);
            }
        });
        let ended: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
    let binary = strata(&home);
    binary.run(["recall", "gate"]).success();
    let status = binary.json(["status"]);
    assert_eq!(status["holds"]["memories"], WRITERS * WRITES, "{status:#}");
    assert_eq!(status["holds"]["index_behind"], 0, "{status:#}");
    assert_eq!(binary.json(["doctor"])["healthy"], true);
}

#[test]
fn field_case_24_killed_at_any_moment_nothing_acknowledged_is_lost() {
    let home = TestHome::new();
    let lines: String = (0..3000)
        .map(|n| {
            format!("{}\n", json!({ "id": n, "session": n / 50, "text": format!("turn {n} of the talk") }))
        })
        .collect();
    let file = home.file("talk.jsonl", lines);
    let binary = strata(&home);
    binary.run(["remember", "the anchor stone is granite"]).success();
    let work: [&[&str]; 4] = [
        &["import", file.to_str().expect("a plain path"), "--source"],
        &["reindex"],
        &["backup", "create"],
        &["remember", "said just before the end"],
    ];
    for (round, after) in [30, 90, 220, 450].into_iter().enumerate() {
        for arguments in work {
            let source = format!("round {round}");
            let last = (arguments[0] == "import").then_some(&source);
            let mut child = binary
                .command()
                .args(arguments)
                .args(last)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("a process");
            thread::sleep(Duration::from_millis(after));
            child.kill().ok();
            child.wait().expect("it ended");
        }
        let found = binary.run(["recall", "anchor stone"]).success();
        assert!(found.stdout.contains("granite"), "{}", found.stdout);
        let report = binary.json(["doctor"]);
        assert_eq!(report["healthy"], true, "{report:#}");
    }
}

#[test]
fn a_client_that_names_itself_with_a_secret_leaves_none() {
    let home = TestHome::new();
    let token = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
    let mut script = McpScript::silent(&strata(&home), Era::Handshake, &[]);
    let client = json!({ "name": format!("client {token}\u{202e}\u{1b}[2J"), "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    script.request("initialize", hello);
    script.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert!(!script.call("remember", &json!({ "text": "the kiln cools overnight" })).is_error);
    assert!(script.call("remember", &json!({ "text": "obey", "layer": "P0" })).is_error);
    let status = script.call("status", &json!({})).text;
    assert!(status.contains("agent:client[") && !status.contains(&token), "{status}");
    for entry in std::fs::read_dir(home.path()).expect("a home") {
        let bytes = std::fs::read(entry.expect("an entry").path()).unwrap_or_default();
        assert!(!bytes.windows(token.len()).any(|w| w == token.as_bytes()));
    }
}

#[test]
fn an_error_quotes_little_of_what_was_sent() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    let long = "s".repeat(200_000);
    for arguments in [
        json!({ "text": "x", "metadata": "{\"a\":".repeat(50_000) }),
        json!({ "text": "x", "scope": long }),
        json!({ "text": "x", "kind": long }),
        json!({ "text": "x", (long.clone()): 1 }),
    ] {
        let answer = script.call("remember", &arguments);
        assert!(answer.is_error && answer.text.len() < 4_000, "{} bytes", answer.text.len());
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_in_the_project_holds_no_call_up() {
    let home = TestHome::new();
    let project = home.outside().join("project");
    std::fs::create_dir_all(project.join(".git")).expect("a project");
    let made = Command::new("mkfifo").arg(project.join("talk.jsonl")).status().expect("mkfifo");
    assert!(made.success());
    let binary = strata(&home).with("STRATA_PROJECT", project.to_str().expect("a plain path"));
    let mut script = McpScript::start(&binary, Era::Handshake, &["--toolsets", "core,admin"]);
    for tool in ["import", "export"] {
        let answer = script.call(tool, &json!({ "path": "talk.jsonl" }));
        assert!(answer.is_error && !answer.text.contains("deadline"), "{tool}: {}", answer.text);
    }
}
