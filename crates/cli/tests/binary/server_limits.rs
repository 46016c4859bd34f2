//! More calls at once than a process has connections, and more processes than the server has places: each call is answered,
//! in time or by a failure that says what to do, and afterwards everything is as it was.

use std::{
    thread,
    time::{Duration, Instant},
};

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

/// Runs `work` while the database has so many places for all of ours.
fn with_places(home: &TestHome, places: usize, work: impl FnOnce()) {
    let name = database(home).name().to_owned();
    let limit =
        |n: &str| database(home).administer_outside(&format!("ALTER DATABASE {name} CONNECTION LIMIT {n}"));
    limit(&places.to_string());
    work();
    limit("-1");
}

#[test]
fn two_connections_are_enough_for_everything_and_one_for_memories() {
    let Some(home) = with_a_memory() else { return };
    let lines = (0..600).map(|n| format!("{{\"id\": {n}, \"text\": \"turn {n} about the kiln\"}}\n"));
    let file = home.file("talk.jsonl", lines.collect::<String>()).display().to_string();
    let binary = strata(&home);
    let export = home.outside().join("export.jsonl").display().to_string();
    with_places(&home, 2, || {
        for arguments in [
            &["import", &file][..],
            &["remember", "the lintel is slate"],
            &["recall", "anchor"],
            &["status"],
            &["reindex"],
            &["maintain", "--force"],
            &["export", &export],
            &["backup", "create"],
            &["snapshot", "create", "before"],
            &["doctor", "--full"],
        ] {
            let started = Instant::now();
            let output = binary.run(arguments);
            assert_eq!(output.code, 0, "{arguments:?}: {}{}", output.stdout, output.stderr);
            assert!(started.elapsed() < Duration::from_secs(60), "{arguments:?}: {:?}", started.elapsed());
        }
        assert!(binary.run(["recall", "slate"]).success().stdout.contains("slate"));
        // A search has little time to index, and spends it on connecting; upkeep has more.
        binary.run(["maintain", "--task", "index", "--force"]).success();
        assert_eq!(binary.json(["status"])["holds"]["index_behind"], 0, "the index is complete");
    });
    with_places(&home, 1, || {
        let started = Instant::now();
        binary.run(["remember", "the sill is oak"]).success();
        let found = binary.run(["recall", "sill"]).success();
        assert!(found.stdout.contains("the sill is oak"), "{}", found.stdout);
        binary.run(["status"]).success();
        assert!(started.elapsed() < Duration::from_secs(9), "nothing is waited for in vain");
    });
}

#[test]
fn a_table_that_somebody_keeps_to_himself_makes_every_call_busy_in_ten_seconds() {
    let Some(home) = with_a_memory() else { return };
    thread::scope(|scope| {
        scope.spawn(|| shut(&home, "ACCESS EXCLUSIVE", 20));
        thread::sleep(Duration::from_millis(500));
        let calls: [&[&str]; 4] =
            [&["recall", "anchor"], &["status"], &["doctor"], &["remember", "the lintel is slate"]];
        let calls = calls.map(|arguments| {
            let home = &home;
            scope.spawn(move || {
                let started = Instant::now();
                let output = strata(home).run(arguments);
                (arguments[0], started.elapsed(), output.code, output.stdout + &output.stderr)
            })
        });
        for call in calls {
            let (name, took, code, told) = call.join().expect("it ends");
            assert!(took > Duration::from_secs(9) && took < Duration::from_secs(15), "{name}: {took:?}");
            assert!(code != 0 && told.contains("busy") && told.contains("try again"), "{name}: {told}");
        }
    });
    assert!(strata(&home).run(["recall", "anchor"]).success().stdout.contains("granite"));
}
