//! Recall and whole files of knowledge, over MCP and on the command line.

use serde_json::{Value, json};
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

fn asked(script: &mut McpScript, tool: &str, arguments: &Value) -> Value {
    let answer = script.call(tool, arguments);
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    serde_json::from_str(&answer.text).expect("an answer in JSON")
}

#[test]
fn layered_27_29_30_31_33_39_a_client_writes_reads_and_recalls_files() {
    for era in Era::ALL {
        let home = TestHome::new();
        let mut script = McpScript::start(&strata(&home), era, &["--toolsets", "layered"]);
        let none = asked(&mut script, "recall_knowledge", &json!({ "keyword": "pool" }));
        assert_eq!((&none["success"], &none["keyword"]), (&json!(false), &json!("pool")));
        let text = "# 数据库\n\n## 连接池\n\n连接池上限二十 (pool: 20)。\n\n## Other\n\nNothing.\n";
        let file = json!({ "filename": "infra/数据库.md", "content": text });
        let made = asked(&mut script, "create_knowledge_file", &file);
        assert_eq!((&made["action"], &made["l0_synced"]), (&json!("created"), &json!(true)), "{made}");
        let again = asked(&mut script, "create_knowledge_file", &file);
        assert_eq!((&again["success"], &again["kind"]), (&json!(false), &json!("conflict")), "{again}");
        for (keyword, mode) in [("连接池", "keyword"), ("连接池", "bm25"), ("连接池上限", "hybrid")]
        {
            let found =
                asked(&mut script, "recall_knowledge", &json!({ "keyword": keyword, "search_mode": mode }));
            let hit = &found["results"][0];
            assert_eq!(hit["file"], "infra/数据库.md", "{mode}: {found}");
            assert_eq!(hit["sections"].as_array().map(Vec::len), Some(1), "{mode}: {found}");
            assert!(hit["sections"][0]["content"].as_str().is_some_and(|text| text.contains("pool: 20")));
        }
        let scored = asked(&mut script, "recall_knowledge", &json!({ "keyword": "连接池" }));
        assert_eq!(scored["results"][0]["score"], 4.0, "one heading and two places");
        let read = asked(&mut script, "get_knowledge_file", &json!({ "filename": "infra/数据库.md" }));
        assert_eq!(read["content"], text);
        let mode = script.call("recall_knowledge", &json!({ "keyword": "x", "search_mode": "vector" }));
        assert!(
            mode.is_error && mode.text.contains("keyword, fuzzy, bm25, hybrid, semantic"),
            "{}",
            mode.text
        );
        let long = json!({ "filename": "long.md", "content": "## A\n\nneedle \"quoted\"\n".repeat(6_000) });
        asked(&mut script, "create_knowledge_file", &long);
        let page = asked(&mut script, "get_knowledge_file", &json!({ "filename": "long.md" }));
        assert_eq!(page["truncated"], true);
        asked(&mut script, "recall_knowledge", &json!({ "keyword": "needle", "top_n": 50 }));
        assert_eq!(
            asked(&mut script, "delete_knowledge_file", &json!({ "filename": "long.md" }))["action"],
            "deleted"
        );
        // The older name is answered, too.
        assert_eq!(asked(&mut script, "reindex_vector_store_tool", &json!({}))["files"], 1);
        assert!(script.finish().status.success());
    }
}

#[test]
fn knowledge_on_the_command_line() {
    let home = TestHome::new();
    let run = |arguments: &[&str]| strata(&home).run(arguments);
    run(&["knowledge", "recall", "pool"]).failure(1);
    let text = "# db\n\n## Pool\n\nThe connection pool holds 20 connections.\n";
    run(&["knowledge", "create", "infra/db.md", text]).success();
    let found = run(&["knowledge", "recall", "connection", "pool"]).success();
    assert!(found.stdout.contains("infra/db.md") && found.stdout.contains("holds 20"), "{}", found.stdout);
    let nothing = run(&["knowledge", "recall", "zeppelin"]).success();
    assert!(nothing.stdout.contains("Nothing found in 1 file."), "{}", nothing.stdout);
    let near = run(&["knowledge", "semantic", "how", "large", "is", "the", "pool"]).success();
    assert!(near.stdout.contains("holds 20"), "{}", near.stdout);
    let shown = run(&["knowledge", "get", "infra/db.md"]).success();
    assert!(shown.stdout.contains("holds 20 connections"), "{}", shown.stdout);
    assert_eq!(strata(&home).json(["knowledge", "get", "db.md"])["content"], text);
    let updated = run(&["knowledge", "update", "infra/db.md", "## Pool\n\nIt holds 40.\n"]).success();
    assert!(updated.stdout.contains("infra/db.md@1"), "{}", updated.stdout);
    assert_eq!(strata(&home).json(["knowledge", "stats"])["l1_knowledge"]["total_files"], 1);
    assert_eq!(strata(&home).json(["knowledge", "figures"])["v2_stats"]["vector_store"]["total_entries"], 1);
    run(&["knowledge", "reindex"]).success();
    run(&["knowledge", "delete", "infra/db.md"]).success();
    run(&["knowledge", "get", "infra/db.md"]).failure(4);
    run(&["knowledge", "get", "../x.md"]).failure(2);
}

/// The tools of layered-memory that are about knowledge, todos, routes and reviews.
const TOOLS: [&str; 36] = [
    "add_todo",
    "apply_safe_knowledge_cleanup",
    "approve_knowledge",
    "audit_rot",
    "batch_inject_knowledge",
    "classify_memory_item",
    "create_knowledge_file",
    "delete_knowledge_file",
    "delete_todo",
    "get_access_stats",
    "get_domain_timeline",
    "get_knowledge_by_id",
    "get_knowledge_file",
    "get_l0_index",
    "get_memory_changelog",
    "get_memory_changelog_stats",
    "get_memory_surface_capabilities",
    "get_memory_v2_stats",
    "get_pending_reviews",
    "get_todo_stats",
    "inject_knowledge",
    "list_memory_stats",
    "list_todos",
    "manage_l0_entry",
    "plan_knowledge_cleanup",
    "prune_access_log",
    "recall_knowledge",
    "reconcile_knowledge",
    "reindex_vector_store",
    "reject_knowledge",
    "search_semantic",
    "sync_l0_index",
    "update_knowledge_file",
    "update_todo",
    "validate_knowledge",
    "get_knowledge_history",
];

#[test]
fn layered_01_03_every_tool_is_there_under_both_names_and_a_bad_call_harms_nothing() {
    for era in Era::ALL {
        let home = TestHome::new();
        let mut script = McpScript::start(&strata(&home), era, &["--toolsets", "layered"]);
        let list = script.request("tools/list", json!({}));
        let listed: Vec<_> =
            list["tools"].as_array().expect("a list").iter().map(|t| t["name"].clone()).collect();
        for tool in TOOLS {
            assert!(listed.contains(&json!(tool)), "{tool}");
        }
        let missing = script.call("inject_knowledge", &json!({ "domain": "infra" }));
        assert!(missing.is_error && missing.text.contains("\"success\":false"), "{}", missing.text);
        let section = json!({ "domain": "infra", "section": "Port", "content": "5432" });
        for (name, action) in [("inject_knowledge", "created"), ("inject_knowledge_tool", "skipped")] {
            assert_eq!(asked(&mut script, name, &section)["action"], action, "{name}");
        }
        for older in [
            "audit_rot_tool",
            "sync_l0_index_tool",
            "plan_knowledge_cleanup_tool",
            "reconcile_knowledge_tool",
        ] {
            asked(&mut script, older, &json!({}));
        }
        let unknown = script.exchange("tools/call", json!({ "name": "no_such_tool", "arguments": {} }));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        assert_eq!(asked(&mut script, "list_memory_stats", &json!({}))["success"], true);
        assert!(script.finish().status.success());
    }
}
