//! p-layer's snapshots, audit and figures through the real binary: its commands, its tools, its words.

use serde_json::{Value, json};
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

#[test]
fn p_layer_c26_c30_c31_snapshots_on_the_command_line() {
    let home = TestHome::new();
    let run = |arguments: &[&str]| strata(&home).run(arguments);
    run(&["remember", "the mill grinds rye"]).success();
    let created = run(&["snapshot", "create", "v1", "--label", "before"]).success();
    assert!(created.stdout.contains("snapshot 'v1' created (#"), "{}", created.stdout);
    run(&["remember", "the mill grinds spelt"]).success();
    let listed = run(&["snapshot", "list"]).success();
    assert!(listed.stdout.contains("v1") && listed.stdout.contains("before"), "{}", listed.stdout);
    let compared = run(&["snapshot", "compare", "v1"]).success();
    assert!(compared.stdout.contains("1 added, 0 gone, 0 changed"), "{}", compared.stdout);
    run(&["snapshot", "show", "v1"]).success();
    // C31, C30: nothing changes.
    run(&["snapshot", "create", "v1"]).failure(5);
    let nope = run(&["snapshot", "rollback", "nope"]).failure(4);
    assert!(nope.stderr.contains("nope") && nope.stderr.contains("snapshot list"), "{}", nope.stderr);
    assert_eq!(strata(&home).json(["govern", "stats"])["active"], 2);
    let back = run(&["snapshot", "rollback", "v1"]).success();
    assert!(back.stdout.contains("rolled back to 'v1': 1 entry(ies) superseded"), "{}", back.stdout);
    assert_eq!(strata(&home).json(["stats"])["active"], 1);
    let undo = strata(&home).json(["snapshot", "list"])["snapshots"][0]["version_id"].clone();
    run(&["snapshot", "rollback", undo.as_str().expect("a name")]).success();
    assert_eq!(strata(&home).json(["stats"])["active"], 2);
}

#[test]
fn the_older_commands_for_audit_figures_and_packs_still_work() {
    let home = TestHome::new();
    strata(&home).run(["remember", "the mill grinds rye"]).success();
    strata(&home).run(["remember", "rules are optional", "--kind", "rule"]).failure(3);
    for path in [&["audit"][..], &["govern", "audit"]] {
        let output = strata(&home).run([path, &["--limit", "5"]].concat()).success();
        let line = output.stdout.lines().find(|l| l.contains("remember")).expect("a line").to_owned();
        assert!(line.starts_with("DENIED remember         "), "{line}");
        assert!(output.stdout.contains("ok     remember         #1 P5 "), "{}", output.stdout);
        let denied = strata(&home).json([path, &["--denied-only"]].concat());
        assert_eq!(denied["matching"], 1, "{denied}");
    }
    let file = home.outside().join("work/audit.jsonl");
    home.file("work/keep", "");
    strata(&home).run(["audit", "--output", &file.display().to_string()]).success();
    assert_eq!(std::fs::read_to_string(&file).expect("written").lines().count(), 3);
    for path in [&["assemble"][..], &["govern", "assemble"]] {
        let pack = strata(&home).run([path, &["--budget-chars", "2000"]].concat()).success();
        assert!(pack.stdout.contains("the mill grinds rye"), "{}", pack.stdout);
    }
    let chain = strata(&home).json(["govern", "chain", "#1"]);
    assert_eq!(chain["versions"][0]["number"], 1);
}

#[test]
fn p_layer_c21_c67_the_governance_tools_answer_in_the_words_of_the_seed() {
    let home = TestHome::new();
    for era in Era::ALL {
        let name = |n: u32| format!("{era:?}-{n}");
        let mut script = McpScript::start(&strata(&home), era, &["--toolsets", "core,governance"]);
        script.call("remember", &json!({ "fact": format!("the pier has nine lamps {}", name(0)) }));
        let created = script.call("snapshot_create", &json!({ "version_id": name(1), "label": "x" }));
        assert!(created.text.contains(&format!("✓ snapshot '{}' created (#", name(1))), "{}", created.text);
        script.call("remember", &json!({ "fact": format!("the pier has ten lamps {}", name(2)) }));
        let back = script.call("snapshot_rollback", &json!({ "version_id": name(1) }));
        assert!(back.text.contains("1 entry(ies) superseded"), "{}", back.text);
        let stats = script.call("memory_stats", &json!({}));
        let figures: Value = serde_json::from_str(&stats.text).expect("indented JSON");
        assert!(stats.text.contains("\n  \"active\"") && figures["snapshots"].is_u64(), "{}", stats.text);
        let audit = script.call("memory_audit", &json!({ "limit": 3 })).text;
        let lines: Vec<&str> = audit.lines().filter(|l| l.starts_with("ok ")).collect();
        let actions: Vec<&str> = lines.iter().filter_map(|l| l.split_whitespace().nth(1)).collect();
        assert_eq!(actions, ["rollback", "snapshot", "remember"], "newest first, once each: {audit}");
        assert!(lines.iter().all(|l| l.contains("agent:") && l.contains("[20")), "{audit}");
        assert!(script.call("assemble", &json!({})).text.contains("nine lamps"));
        let nope = script.call("snapshot_rollback", &json!({ "version_id": "nope" }));
        assert!(nope.is_error && nope.text.contains("nope"), "{}", nope.text);
        assert!(!script.call("snapshot_list", &json!({})).is_error, "the server lives");
    }
}

#[test]
fn the_older_servers_tools_keep_their_names_and_reply_in_json() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &["--toolsets", "compat"]);
    let mut json_of = |tool: &str, arguments: Value| -> Value {
        let answer = script.call(tool, &arguments);
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        serde_json::from_str(&answer.text).unwrap_or_else(|e| panic!("{tool}: {e}: {}", answer.text))
    };
    assert_eq!(json_of("knowledge_remember", json!({ "fact": "the lift holds six" }))["id"], 1);
    assert_eq!(json_of("knowledge_recall", json!({ "query": "lift" }))[0]["content"], "the lift holds six");
    assert_eq!(json_of("knowledge_snapshot-create", json!({ "version_id": "v1" }))["created"], true);
    assert_eq!(json_of("knowledge_update", json!({ "id": 1, "fact": "the lift holds eight" }))["new_id"], 2);
    assert_eq!(json_of("knowledge_snapshot-rollback", json!({ "version_id": "v1" }))["rolled_back"], 1);
    assert_eq!(json_of("knowledge_forget", json!({ "id": 1 }))["superseded"], true);
    assert_eq!(json_of("knowledge_memory-stats", json!({}))["active"], 0);
}
