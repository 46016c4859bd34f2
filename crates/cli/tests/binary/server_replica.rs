//! A real standby of a real server, and a server that is really stopped, started and killed below a serving process.

use serde_json::json;
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
    server::{OwnServer, Stop},
    store::TestStore,
};

use crate::strata;

const FACTS: [&str; 3] = ["the anchor stone is granite", "가마는 밤새 식는다", "the lintel is slate"];

/// A home of files alone: the address of the memory is given by each test.
fn home() -> TestHome {
    TestHome::on(TestStore::Sqlite)
}

#[test]
fn a_standby_is_read_says_why_it_takes_no_writes_and_takes_them_once_it_is_the_primary() {
    let Some(primary) = OwnServer::start_new() else { return };
    let (one, two) = (home(), home());
    let writer = strata(&one).with("STRATA_STORE", &primary.url());
    for fact in FACTS {
        writer.run(["remember", fact]).success();
    }
    writer.run(["recall", "anchor"]).success();
    let standby = primary.standby();
    standby.follow(&primary);

    let reader = strata(&two).with("STRATA_STORE", &standby.url());
    assert!(reader.run(["recall", "anchor stone"]).success().stdout.contains("granite"));
    assert!(reader.run(["recall", "가마"]).success().stdout.contains("밤새"));
    let status = reader.json(["status"]);
    assert_eq!(
        (&status["status"], &status["holds"]["memories"]),
        (&json!("read_only"), &json!(3)),
        "{status:#}"
    );
    assert!(status["holds"]["read_only"].as_str().is_some_and(|why| why.contains("replica")), "{status:#}");
    for command in [&["context", "anchor"][..], &["govern", "stats"], &["govern", "audit"], &["jobs", "list"]]
    {
        reader.run(command).success();
    }
    let report = reader.json(["doctor"]);
    assert_eq!(report["healthy"], true, "{report:#}");
    assert!(report.to_string().contains("can only be read"), "{report:#}");
    for command in [
        &["remember", "not here"][..],
        &["import", "nothing.jsonl"],
        &["reindex"],
        &["maintain", "--force", "--task", "consolidate"],
        &["snapshot", "create", "a"],
    ] {
        let refused = reader.run(command);
        assert_ne!(refused.code, 0, "{command:?}");
        if command[0] != "import" {
            let told = format!("{}{}", refused.stdout, refused.stderr);
            assert!(told.contains("read-only") && told.contains("replica"), "{command:?}: {told}");
        }
    }

    let mut session = McpScript::start(&reader, Era::Handshake, &[]);
    assert!(session.call("recall", &json!({ "query": "lintel" })).text.contains("slate"));
    let refused = session.call("remember", &json!({ "text": "not here" }));
    let told = ["error: unavailable", "read-only", "replica", "next: "];
    assert!(refused.is_error && told.iter().all(|word| refused.text.contains(word)), "{}", refused.text);
    // What the primary is told is found here, although the index here cannot follow.
    writer.run(["remember", "the sill is oak"]).success();
    standby.follow(&primary);
    assert!(session.call("recall", &json!({ "query": "sill" })).text.contains("oak"));

    drop(primary);
    standby.promote();
    let stored = session.call("remember", &json!({ "text": "the threshold is elm" }));
    assert!(!stored.is_error, "without a restart: {}", stored.text);
    assert!(session.call("recall", &json!({ "query": "threshold" })).text.contains("elm"));
    assert!(session.finish().status.success());
    let count = standby.administer("strata", "SELECT count(*)::text FROM strata_ledger.memories");
    assert_eq!(count, ["5"], "nothing that was refused was kept");
    assert_eq!(reader.json(["doctor", "--full"])["healthy"], true);
}

#[test]
fn a_server_that_is_stopped_and_started_is_told_and_then_used_again() {
    let Some(mut server) = OwnServer::start_new() else { return };
    let home = home();
    let binary = strata(&home).with("STRATA_STORE", &server.url());
    let mut session = McpScript::start(&binary, Era::Stateless, &[]);
    let mut acknowledged = Vec::new();
    for (round, how) in [Stop::Fast, Stop::AtOnce, Stop::Fast].into_iter().enumerate() {
        for n in 0..3 {
            let text = format!("round {round} has step {n} acknowledged");
            let stored = session.call("remember", &json!({ "text": text }));
            assert!(!stored.is_error, "{}", stored.text);
            acknowledged.push(text);
        }
        // In the middle of a write, and of a read.
        let text = format!("round {round} is cut short");
        let writing =
            session.begin("tools/call", json!({ "name": "remember", "arguments": { "text": text } }));
        session.begin("tools/call", json!({ "name": "recall", "arguments": { "query": "step" } }));
        server.stop(how);
        for answer in [session.read(), session.read()] {
            let result = &answer["result"];
            let told = result["content"][0]["text"].as_str().expect("a text");
            if result["isError"] != true {
                acknowledged.extend((answer["id"] == writing).then(|| text.clone()));
                continue;
            }
            assert!(told.contains("error: unavailable") && told.contains("next: "), "{told}");
            assert!(!told.contains("strata_test:"), "no password: {told}");
        }
        for (tool, arguments) in [
            ("remember", json!({ "text": "to nobody" })),
            ("recall", json!({ "query": "step" })),
            ("status", json!({})),
        ] {
            let refused = session.call(tool, &arguments);
            let is_typed = refused.text.contains("error: unavailable") && refused.text.contains("next: ");
            assert!(refused.is_error && is_typed, "{tool}: {}", refused.text);
        }
        let output = binary.run(["--json", "recall", "step"]);
        assert!(output.code != 0 && output.stderr.contains("unavailable"), "{}", output.stderr);
        server.start();
        let found = session.call("recall", &json!({ "query": format!("round {round} step 2") }));
        assert!(
            !found.is_error && found.text.contains(&format!("round {round} has step 2")),
            "{}",
            found.text
        );
    }
    let stored = session.call("remember", &json!({ "text": "the end" }));
    assert!(!stored.is_error, "{}", stored.text);
    let kept = server.administer("strata", "SELECT body FROM strata_ledger.memories");
    for text in &acknowledged {
        assert!(kept.contains(text), "{text} was acknowledged: {kept:?}");
    }
    assert!(!kept.iter().any(|text| text == "to nobody"));
    assert!(session.finish().status.success());
    let left = server.administer(
        "strata",
        "SELECT count(*)::text FROM pg_stat_activity WHERE datname = 'strata' AND usename = 'strata_test'",
    );
    assert_eq!(left, ["0"], "no connection outlives the process");
    assert_eq!(binary.json(["doctor", "--full"])["healthy"], true);
}
