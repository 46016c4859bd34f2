//! More calls at once than a process has connections, and more processes than the server has places: each call is answered,
//! in time or by a failure that says what to do, and afterwards everything is as it was.

use std::{thread, time::Duration};

use serde_json::{Value, json};
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::{
    server_faults::{KEPT, assert_nothing_leaks, database, number, with_a_memory},
    strata,
};

/// Calls sent at once by one client: far more than a process has connections or threads.
const CALLS: usize = 40;

/// Begins many calls without waiting for an answer, every third a write.
fn begin(script: &mut McpScript, round: &str) {
    for n in 0..CALLS {
        let (tool, arguments) = match n % 3 {
            0 => ("remember", json!({ "text": format!("the {round} bell number {n} is bronze") })),
            1 => ("recall", json!({ "query": "anchor stone" })),
            _ => ("status", json!({})),
        };
        script.begin("tools/call", json!({ "name": tool, "arguments": arguments }));
    }
}

/// The answers to all of them: how many succeeded. Each of the others is told as busy or as late, with what to do.
fn answers(script: &mut McpScript) -> usize {
    let mut succeeded = 0;
    for _ in 0..CALLS {
        let answer: Value = script.read();
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().expect("a text in every answer");
        if result["isError"] == true {
            let is_typed = ["error: busy", "error: deadline"].iter().any(|code| text.contains(code));
            assert!(is_typed && text.contains("next: "), "{text}");
        } else {
            succeeded += 1;
        }
    }
    succeeded
}

/// Our connections that are open.
fn open(home: &TestHome) -> usize {
    let of_ours = "FROM pg_stat_activity WHERE datname = current_database() AND usename = 'strata_test'";
    number(home, &format!("SELECT count(*) {of_ours}"))
}

/// Waits until no more connections are open than there were.
fn until(home: &TestHome, before: usize) {
    for _ in 0..100 {
        if open(home) <= before {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert!(open(home) <= before, "{} connections are left, {before} were before", open(home));
}

/// Locks the memories for so many seconds.
fn shut(home: &TestHome, mode: &str, seconds: u32) {
    database(home).administer(&format!(
        "BEGIN; LOCK TABLE strata_ledger.memories IN {mode} MODE; SELECT pg_sleep({seconds}); COMMIT"
    ));
}

#[test]
fn more_calls_than_connections_are_all_answered_and_leave_nothing() {
    let Some(home) = with_a_memory() else { return };
    let before = open(&home);
    let mut script = McpScript::start(&strata(&home), Era::Stateless, &[]);
    begin(&mut script, "first");
    assert_eq!(answers(&mut script), CALLS, "nothing stands in the way");

    // Nobody can read or write, for less than anybody's patience: all wait, and all succeed.
    thread::scope(|scope| {
        scope.spawn(|| shut(&home, "ACCESS EXCLUSIVE", 2));
        thread::sleep(Duration::from_millis(300));
        begin(&mut script, "second");
        assert_eq!(answers(&mut script), CALLS);
    });
    // Nobody can write, for longer than that: those that cannot be served in time are told so.
    thread::scope(|scope| {
        scope.spawn(|| shut(&home, "EXCLUSIVE", 14));
        thread::sleep(Duration::from_millis(300));
        begin(&mut script, "third");
        thread::sleep(Duration::from_secs(5));
        assert!(open(&home) <= before + KEPT, "waiting takes no further connections: {}", open(&home));
        assert!(answers(&mut script) < CALLS, "14 s are beyond the patience of a write");
    });
    begin(&mut script, "fourth");
    assert_eq!(answers(&mut script), CALLS, "afterwards everything works");
    assert_nothing_leaks(&home);
    assert!(script.finish().status.success());
    until(&home, before);
    assert_eq!(strata(&home).json(["doctor", "--full"])["healthy"], true);
}

#[test]
fn more_processes_than_places_are_served_in_turn_or_told() {
    let Some(home) = with_a_memory() else { return };
    let name = database(&home).name().to_owned();
    let limit = |n: i32| {
        database(&home).administer_outside(&format!("ALTER DATABASE {name} CONNECTION LIMIT {n}"));
    };
    // Fewer places than two processes take.
    limit(6);
    thread::scope(|scope| {
        for client in 0..4 {
            let home = &home;
            scope.spawn(move || {
                let mut script = McpScript::start(&strata(home), Era::ALL[client % 2], &[]);
                begin(&mut script, &format!("client {client}"));
                answers(&mut script);
            });
        }
    });
    limit(-1);
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    begin(&mut script, "last");
    assert_eq!(answers(&mut script), CALLS);
    assert_nothing_leaks(&home);
    assert!(script.finish().status.success());
    until(&home, 0);
    assert_eq!(strata(&home).json(["doctor", "--full"])["healthy"], true);
}
