//! What goes wrong between a serving process and its database: every call is answered, by a failure with a next action
//! where it must fail, and nothing is left behind on the server.

use std::{thread, time::Duration};

use serde_json::json;
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
    store::{TestDatabase, TestStore},
};

use crate::strata;

/// Connections that one process may keep: five and one for its lock, for ledger and index each.
pub(crate) const KEPT: usize = 12;

/// A home whose memory lies on the server, with one memory in it; nothing where there is no server.
pub(crate) fn with_a_memory() -> Option<TestHome> {
    if !TestStore::Postgres.is_there() {
        return None;
    }
    let home = TestHome::on(TestStore::Postgres);
    strata(&home).run(["remember", "the anchor stone is granite"]).success();
    Some(home)
}

pub(crate) fn database(home: &TestHome) -> &TestDatabase {
    home.database().expect("on a server")
}

pub(crate) fn number(home: &TestHome, query: &str) -> usize {
    database(home).ask(query).pop().and_then(|n| n.parse().ok()).expect("a number")
}

/// Ends every connection of Strata's, as a server does that is stopped.
fn cut_off(home: &TestHome) {
    database(home).ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND usename = 'strata_test'",
    );
}

/// Nobody of ours waits or holds anything, and no more connections are open than are kept.
pub(crate) fn assert_nothing_leaks(home: &TestHome) {
    let of_ours = "FROM pg_stat_activity WHERE datname = current_database() AND usename = 'strata_test'";
    for _ in 0..100 {
        let busy = number(home, &format!("SELECT count(*) {of_ours} AND state <> 'idle'"));
        let locks = number(
            home,
            "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
             WHERE d.datname = current_database() AND l.locktype = 'advisory'",
        );
        let open = number(home, &format!("SELECT count(*) {of_ours}"));
        if busy == 0 && locks == 0 && open <= KEPT {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    let left = database(home).ask(&format!("SELECT query {of_ours}"));
    assert!(left.is_empty(), "something is left: {left:?}");
}

#[test]
fn a_server_that_is_restarted_fails_the_call_in_flight_and_no_other() {
    let Some(home) = with_a_memory() else { return };
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    assert!(script.call("recall", &json!({ "query": "anchor" })).text.contains("granite"));
    // While nothing is in flight nobody notices.
    cut_off(&home);
    assert!(script.call("recall", &json!({ "query": "anchor" })).text.contains("granite"));
    cut_off(&home);
    let stored = script.call("remember", &json!({ "text": "the lintel is slate" }));
    assert!(!stored.is_error, "{}", stored.text);
    // In the middle of a write.
    thread::scope(|scope| {
        scope.spawn(|| {
            database(&home).administer(
                "BEGIN; LOCK TABLE strata_ledger.memories IN EXCLUSIVE MODE; SELECT pg_sleep(2); COMMIT",
            );
        });
        thread::sleep(Duration::from_millis(500));
        let arguments = json!({ "text": "cut short" });
        let id = script.begin("tools/call", json!({ "name": "remember", "arguments": arguments }));
        thread::sleep(Duration::from_millis(700));
        cut_off(&home);
        let answer = script.read();
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains("connection"), "{text}");
        assert!(!text.contains("postgres://strata_test:"), "no password: {text}");
    });
    assert_eq!(number(&home, "SELECT count(*) FROM strata_ledger.memories WHERE body = 'cut short'"), 0);
    let next = script.call("remember", &json!({ "text": "the sill is oak" }));
    assert!(!next.is_error, "{}", next.text);
    assert_nothing_leaks(&home);
    assert_eq!(strata(&home).json(["doctor"])["healthy"], true);
}

#[test]
fn a_server_without_a_place_is_busy_and_says_what_to_do() {
    let Some(home) = with_a_memory() else { return };
    let mut script = McpScript::start(&strata(&home), Era::Stateless, &[]);
    let limit = |n: i32| {
        database(&home)
            .administer_outside(&format!("ALTER DATABASE {} CONNECTION LIMIT {n}", database(&home).name()));
    };
    limit(0);
    cut_off(&home);
    let refused = script.call("remember", &json!({ "text": "no place for this" }));
    assert!(refused.is_error && refused.text.contains("no connection left"), "{}", refused.text);
    let output = strata(&home).run(["--json", "remember", "no place for this"]);
    assert_ne!(output.code, 0);
    let told = format!("{}{}", output.stdout, output.stderr);
    assert!(told.contains("busy") && told.contains("max_connections"), "{told}");
    limit(-1);
    let next = script.call("remember", &json!({ "text": "there is a place again" }));
    assert!(!next.is_error, "{}", next.text);
    assert_nothing_leaks(&home);
}

#[test]
fn a_server_that_takes_no_writes_is_read_and_says_why() {
    let Some(home) = with_a_memory() else { return };
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    assert!(!script.call("recall", &json!({ "query": "anchor" })).is_error);
    let set = |value: &str| {
        let name = database(&home).name();
        database(&home).administer_outside(&format!(
            "ALTER DATABASE {name} SET default_transaction_read_only = {value}"
        ));
        cut_off(&home);
    };
    set("on");
    let refused = script.call("remember", &json!({ "text": "not now" }));
    assert!(refused.is_error && refused.text.contains("read-only"), "{}", refused.text);
    assert!(script.call("recall", &json!({ "query": "anchor" })).text.contains("granite"));
    let output = strata(&home).run(["remember", "not now"]);
    assert!(output.code != 0 && output.stderr.contains("read-only"), "{}", output.stderr);
    assert!(strata(&home).run(["recall", "anchor"]).success().stdout.contains("granite"));
    set("off");
    let next = script.call("remember", &json!({ "text": "writes are back" }));
    assert!(!next.is_error, "{}", next.text);
    assert_nothing_leaks(&home);
}

#[test]
fn field_case_63_a_misconfigured_model_is_refused_each_time_and_keeps_no_lock() {
    let Some(home) = with_a_memory() else { return };
    home.file("home/config.toml", "[semantic]\nmodel = \"no-such-model\"\n");
    let mut script = McpScript::start(&strata(&home), Era::Stateless, &[]);
    for n in 0..20 {
        for (tool, arguments) in
            [("remember", json!({ "text": format!("attempt number {n}") })), ("status", json!({}))]
        {
            let refused = script.call(tool, &arguments);
            assert!(refused.is_error, "{n}: {}", refused.text);
            let told = ["semantic.model", "no model `no-such-model`", "write `static` or `off`"];
            assert!(told.iter().all(|words| refused.text.contains(words)), "{n}: {}", refused.text);
        }
    }
    let output = strata(&home).run(["remember", "attempt at a terminal"]);
    assert_eq!(output.code, 2, "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("semantic.model") && output.stderr.contains("hint:"), "{}", output.stderr);
    assert_nothing_leaks(&home);
    // No restart is needed.
    home.file("home/config.toml", "");
    let answer = script.call("remember", &json!({ "text": "the model is right again" }));
    assert!(!answer.is_error, "{}", answer.text);
    assert!(script.call("recall", &json!({ "query": "anchor" })).text.contains("granite"));
    assert_eq!(number(&home, "SELECT count(*) FROM strata_ledger.memories WHERE body LIKE 'attempt%'"), 0);
    assert_eq!(number(&home, "SELECT count(*) FROM strata_ledger.memories"), 2);
    assert!(!script.finish().stderr.contains("panicked"));
    assert_nothing_leaks(&home);
}
