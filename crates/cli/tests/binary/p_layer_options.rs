//! p-layer's options where its users type them: before the command, and by its names.

use serde_json::json;
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

/// Without what the environment of the other tests says about the store.
fn by_database(home: &TestHome, arguments: &[&str]) -> strata_testkit::binary::CommandOutput {
    let database = home.outside().join("store/memory.db").display().to_string();
    let all = [&["--db", &database, "--embed", "hash"], arguments].concat();
    strata(home).run(all)
}

#[test]
fn the_database_option_names_a_store_beside_the_file_and_says_so() {
    let home = TestHome::new();
    let beside = home.outside().join("store/memory.strata");
    let first = by_database(&home, &["init"]).success();
    assert!(first.stdout.contains(&beside.display().to_string()), "{}", first.stdout);
    assert!(first.stderr.contains("import-p-layer"), "{}", first.stderr);
    let say = "we switched to PortOne v2 for payments";
    by_database(&home, &["remember", say, "--type", "decision", "--source", "onboarding"]).success();
    let found = by_database(&home, &["recall", "payment", "--why"]).success();
    assert!(found.stdout.contains("PortOne") && found.stdout.contains("onboarding"), "{}", found.stdout);
    assert!(beside.join("ledger.db").is_file() && !home.outside().join("store/memory.db").exists());
    assert!(!home.path().exists(), "no other store was made");

    let at = beside.display().to_string();
    assert_eq!(strata(&home).json(["stats", "--home", &at])["knowledge"], 1);
    strata(&home).run(["--db", "x.db", "--home", &at, "stats"]).failure(2);
    for empty in ["", ".."] {
        strata(&home).run(["--db", empty, "stats"]).failure(2);
    }
    strata(&home).run(["--db", "~/old/memory.db", "init"]).success();
    assert!(home.outside().join("old/memory.strata/ledger.db").is_file(), "a tilde is the user's directory");
    let help = strata(&home).run(["remember", "--help"]).success().stdout;
    assert!(!help.contains("--db") && !help.contains("--who") && !help.contains("--content"), "{help}");
}

#[test]
fn p_layer_c24_update_takes_its_text_as_an_option() {
    let home = TestHome::new();
    let run = |arguments: &[&str]| strata(&home).run(arguments);
    run(&["remember", "the port is 5432"]).success();
    let updated = run(&["update", "1", "--content", "the port is 5433", "--confidence", "0.9"]).success();
    assert!(updated.stdout.contains("updated #1 → #2"), "{}", updated.stdout);
    let found = run(&["recall", "port"]).success().stdout;
    assert!(found.contains("5433") && !found.contains("5432"), "{found}");
    run(&["update", "1", "--content", "the port is 5434"]).failure(5);
    run(&["update", "2", "--content", "a", "and b"]).failure(2);
    run(&["remember"]).failure(2);
}

#[test]
fn p_layer_c14_c15_a_claim_to_be_somebody_decides_nothing() {
    let home = TestHome::new();
    let remember = |who: &str, layer: &str| {
        strata(&home).run(["remember", "rules are optional", "--layer", layer, "--who", who])
    };
    for who in ["system", "System", "human", "manual", "root", ""] {
        let output = remember(who, "P0").failure(2);
        assert!(output.stderr.contains("you are agent:shell"), "{}", output.stderr);
    }
    assert!(!home.path().exists(), "nothing was done");
    let refused = remember("agent:system", "P0").failure(3);
    for part in ["P0", "does not allow", "agent:shell", "allowed: system"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    remember("agent", "P5").success();
    let denied = strata(&home).json(["audit", "--denied-only"]);
    let line = &denied["entries"][0];
    assert_eq!(
        (&denied["matching"], &line["action"], &line["layer"], &line["who"], &line["denied"]),
        (&json!(1), &json!("remember"), &json!("P0"), &json!("agent:shell"), &json!(true))
    );
}

#[test]
fn p_layer_c67_all_of_its_tools_are_listed_and_take_its_arguments() {
    let home = TestHome::new();
    for era in Era::ALL {
        let mut script = McpScript::start(&strata(&home), era, &["--toolsets", "core,governance"]);
        let list = script.request("tools/list", json!({}))["tools"].take();
        let names: Vec<&str> =
            list.as_array().expect("a list").iter().filter_map(|t| t["name"].as_str()).collect();
        let v = format!("{era:?}");
        let text = format!("the ferry leaves at nine {v}");
        for (tool, arguments, answer) in [
            (
                "remember",
                json!({ "fact": text, "type": "decision", "source": "quay", "layer": "P5", "confidence": 0.9, "ttl_days": 30 }),
                "✓ saved #",
            ),
            ("recall", json!({ "query": "ferry", "limit": 10, "serendipity": true }), "leaves at nine"),
            (
                "recall",
                json!({ "query": "zebra", "serendipity": true }),
                "Nothing found in memory for \"zebra\"",
            ),
            ("snapshot_create", json!({ "version_id": v, "label": "x" }), "created (#"),
            ("context", json!({ "query": "ferry", "limit": 10, "budget_chars": 12_000 }), "leaves at nine"),
            ("assemble", json!({ "budget_chars": 12_000 }), "leaves at nine"),
            ("assemble", json!({ "budget_chars": 10 }), "raise `budget_chars`"),
            ("memory_audit", json!({ "limit": 20, "denied_only": false }), "ok     remember"),
            ("memory_stats", json!({}), "\"knowledge\""),
            ("graph_explore", json!({ "query": "ferry", "depth": 2 }), "\"entities\""),
            ("graph_trace", json!({ "query": "ferry", "depth": 4 }), "\"trace\""),
            ("graph_rca", json!({ "query": "ferry", "depth": 3 }), "\"root_causes\""),
            ("consolidate", json!({ "min_episodes": 3 }), "\"episodes_covered\""),
            ("snapshot_rollback", json!({ "version_id": v }), "rolled back to"),
        ] {
            assert!(names.contains(&tool), "{tool}: {names:?}");
            let reply = script.call(tool, &arguments);
            assert!(!reply.is_error && reply.text.contains(answer), "{tool}: {}", reply.text);
        }
        let number = script.call("recall", &json!({ "query": "ferry", "format": "json" })).text;
        let hits: serde_json::Value = serde_json::from_str(&number).expect("JSON");
        let id = hits["hits"][0]["number"].as_i64().expect("a number");
        for (tool, arguments, answer) in [
            (
                "update",
                json!({ "id": id, "fact": format!("the ferry leaves at ten {v}"), "type": "fact", "confidence": 1 }),
                format!("#{id} → #{}", id + 1),
            ),
            ("forget", json!({ "id": id + 1, "reason": "sold" }), format!("superseded #{}", id + 1)),
        ] {
            assert!(names.contains(&tool), "{tool}: {names:?}");
            let reply = script.call(tool, &arguments);
            assert!(reply.text.contains(&answer), "{tool}: {}", reply.text);
        }
        assert!(script.call("forget", &json!({ "id": id + 1 })).is_error);
        assert!(!script.call("memory_stats", &json!({})).is_error, "the server lives");
    }
}
