//! Servers end when they are of no more use, and touch nothing before they are used.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

/// Far above the second or two it takes; only a server that stays is slower.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_server_ends_with_its_input() {
    let home = TestHome::new();
    for era in Era::ALL {
        let mut script = McpScript::start(&strata(&home), era, &[]);
        script.call("status", &json!({}));
        let ending = script.finish();
        assert!(ending.status.success(), "{ending:?}");
        assert!(ending.took < SOON, "{:?}", ending.took);
    }
    let ending = McpScript::silent(&strata(&home), Era::Handshake, &[]).finish();
    assert!(ending.status.success() && ending.lines.is_empty(), "{ending:?}");
}

#[test]
fn what_was_asked_before_the_end_of_input_is_answered() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    let id = script.begin("tools/call", json!({ "name": "status", "arguments": {} }));
    let ending = script.finish();
    assert!(
        ending.lines.iter().any(|l| l.contains(&format!("\"id\":{id},\"result\""))),
        "{:?}",
        ending.lines
    );
}

#[test]
fn a_last_line_without_its_break_is_answered() {
    let home = TestHome::new();
    let output =
        strata(&home).run_with_input(["serve"], br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).success();
    assert!(output.stdout.contains("\"id\":1,\"result\":{}"), "{}", output.stdout);
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_whose_parent_was_killed_ends_even_while_its_input_stays_open() {
    let home = TestHome::new();
    let mut parent = Command::new("sh")
        .args(["-c", "exec 3<&0; \"$0\" serve --home \"$1\" <&3 & echo $!; wait"])
        .arg(strata(&home).path())
        .arg(home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut still_open = parent.stdin.take().expect("a piped input");
    let mut output = BufReader::new(parent.stdout.take().expect("a piped output"));
    let mut line = String::new();
    output.read_line(&mut line).expect("the server's id");
    let server: u32 = line.trim().parse().expect("a process id");
    // The server has looked at its parent before it answers anything.
    still_open.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").expect("the server reads");
    output.read_line(&mut line).expect("an answer");
    assert!(is_running(server));
    parent.kill().expect("the parent can be killed");
    parent.wait().expect("the parent is gone");
    wait_until(|| !is_running(server), "the server follows its parent");
    drop(still_open);
}

#[cfg(target_os = "linux")]
fn wait_until(condition: impl Fn() -> bool, what: &str) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process exists and is not just waiting to be buried.
#[cfg(target_os = "linux")]
fn is_running(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
#[cfg(unix)]
fn a_client_that_stops_reading_ends_the_server() {
    let home = TestHome::new();
    let mut child = strata(&home)
        .command()
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a server");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("a piped input");
    let started = Instant::now();
    while child.try_wait().expect("waitable").is_none() {
        // Fails once the server is gone, which is what we wait for.
        input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").ok();
        assert!(started.elapsed() < SOON, "the server answers nobody");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A pipe in the place of each file: opening one without a writer would wait for ever, and leaves a
/// reader that can be seen.
#[test]
#[cfg(target_os = "linux")]
fn no_file_of_the_home_is_opened_before_a_call() {
    let home = TestHome::new();
    let files: Vec<_> = ["config.toml", "ledger.db"].iter().map(|f| home.path().join(f)).collect();
    std::fs::create_dir(home.path()).expect("a home");
    for file in &files {
        let made = Command::new("mkfifo").arg(file).status().expect("mkfifo");
        assert!(made.success());
    }
    for era in Era::ALL {
        let mut script = McpScript::start(&strata(&home), era, &[]);
        script.request("tools/list", json!({}));
        for file in &files {
            assert!(!has_reader(file), "{} was opened", file.display());
        }
        script.begin("tools/call", json!({ "name": "status", "arguments": {} }));
        wait_until(|| has_reader(&files[0]), "a call opens the configuration: the check can see it");
    }
}

#[cfg(target_os = "linux")]
fn has_reader(pipe: &Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    const O_NONBLOCK: i32 = 0o4000;
    std::fs::OpenOptions::new().write(true).custom_flags(O_NONBLOCK).open(pipe).is_ok()
}

#[test]
fn starting_and_listing_creates_nothing() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Stateless, &[]);
    script.request("tools/list", json!({}));
    script.call("status", &json!({}));
    script.finish();
    assert!(!home.path().exists(), "p_layer C1: status creates nothing");
}

#[test]
fn asking_a_home_that_is_not_there_finds_nothing_and_makes_nothing() {
    let home = TestHome::new();
    for asked in [
        ["recall", "the port"].as_slice(),
        &["context", "a task"],
        &["context"],
        &["rules", "list"],
        &["review", "list"],
        &["graph", "entities"],
        &["graph", "relations"],
        &["graph", "explore", "ferry"],
        &["graph", "trace", "ferry"],
        &["graph", "rca", "ferry"],
    ] {
        strata(&home).run(asked).success();
    }
    for refused in [["inspect", "#1"].as_slice(), &["govern", "stats"], &["snapshot", "list"]] {
        let output = strata(&home).run(refused).failure(7);
        assert!(output.stderr.contains("strata init"), "{}", output.stderr);
    }
    assert!(!home.path().exists(), "reads create nothing");
}
