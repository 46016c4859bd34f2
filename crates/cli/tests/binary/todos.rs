//! Todos over the wire and at a terminal.

use std::{collections::HashSet, process::Stdio};

use serde_json::{Value, json};
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

/// What a tool answers, as the one JSON text that clients of the toolset read.
fn answer(script: &mut McpScript, tool: &str, arguments: &Value) -> Value {
    let answer = script.call(tool, arguments);
    assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
    serde_json::from_str(&answer.text).expect("JSON")
}

#[test]
fn layered_60_the_life_of_a_todo_over_mcp() {
    let home = TestHome::new();
    for era in [Era::Handshake, Era::Stateless] {
        let mut script = McpScript::start(&strata(&home), era, &["--toolsets", "layered"]);
        let mut call = |tool: &str, arguments: Value| answer(&mut script, tool, &arguments);
        let added = call("add_todo", json!({ "domain": "基础设施", "content": "续签证书" }));
        assert_eq!(added["success"], true);
        let id = added["id"].as_str().expect("an id").to_owned();
        let listed =
            call("list_todos", json!({ "status": "pending", "domain": "", "priority": "", "limit": 50 }));
        assert_eq!((&listed["count"], &listed["todos"][0]["title"]), (&json!(1), &json!("续签证书")));
        let mut stamps = |status: &str| {
            let moved = call("update_todo", json!({ "todo_id": id, "status": status, "notes": "" }));
            assert_eq!((&moved["success"], &moved["id"]), (&json!(true), &json!(id)));
            let all = call("list_todos", json!({}));
            let todo =
                all["todos"].as_array().and_then(|todos| todos.iter().find(|t| t["id"] == id.as_str()));
            let todo = todo.expect("listed").clone();
            (todo["completed_at"].is_string(), todo["cancelled_at"].is_string())
        };
        assert_eq!(stamps("completed"), (true, false));
        assert_eq!(stamps("cancelled"), (false, true));
        assert_eq!(stamps("pending"), (false, false));
        for (tool, wrong) in [
            ("update_todo", json!({ "todo_id": id, "status": "done" })),
            ("update_todo", json!({ "todo_id": "todo_0000000000", "status": "completed" })),
            ("update_todo", json!({ "todo_id": id, "blocked_by": "notjson" })),
            ("update_todo", json!({ "todo_id": id })),
            ("add_todo", json!({ "domain": "d", "content": "c", "priority": "urgent" })),
            ("list_todos", json!({ "status": "finished" })),
        ] {
            let said = call(tool, wrong.clone());
            assert_eq!(said["success"], false, "{tool} {wrong}: {said}");
            assert!(said["error"].is_string() && said["hint"].is_string(), "{said}");
        }
        let stats = call("get_todo_stats", json!({}))["stats"].clone();
        assert_eq!(stats["by_status"], json!([{ "status": "pending", "count": 1 }]));
        assert_eq!((&stats["by_domain"][0]["domain"], &stats["total"]), (&json!("基础设施"), &json!(1)));
        assert_eq!(call("delete_todo", json!({ "todo_id": id }))["success"], true);
        assert_eq!(call("delete_todo", json!({ "todo_id": id }))["success"], false);
        assert!(script.call("add_todo", &json!({ "domain": "d" })).is_error, "what is missing is a fault");
    }
}

#[test]
fn todos_at_a_terminal() {
    let home = TestHome::new();
    let run = |arguments: &[&str]| strata(&home).run(arguments).success().stdout;
    run(&["todo", "add", "renew", "the", "certificate", "--domain", "infra", "--priority", "blocker"]);
    run(&["todo", "add", "会議室の予約を直す"]);
    let listed = strata(&home).json(["todo", "list", "open"]);
    assert_eq!(listed["todos"][0]["content"], "renew the certificate");
    let id = listed["todos"][0]["id"].as_str().expect("an id").to_owned();
    let second = listed["todos"][1]["id"].as_str().expect("an id").to_owned();
    run(&["todo", "update", &second, "--blocked-by", &id]);
    let shown = run(&["todo", "list"]);
    for part in ["renew the certificate", "blocker", "会議室の予約を直す", &format!("after {id}")] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let moved = run(&["todo", "update", "#1", "completed"]);
    assert!(moved.contains(&id) && moved.contains("completed"), "{moved}");
    assert!(run(&["todo", "stats"]).contains("completed"));
    assert!(run(&["status"]).contains("open todos"));
    run(&["todo", "delete", &second]);
    assert!(!run(&["todo", "list"]).contains("会議室"));
    assert!(run(&["todo", "list", "deleted"]).contains("会議室"));
    run(&["todo", "restore", &second]);
    assert!(run(&["inspect", &second]).contains("deleted"));
    let wrong = strata(&home).run(["todo", "update", &id, "done"]).failure(2);
    assert!(wrong.stderr.contains("pending, in_progress, completed, cancelled"), "{}", wrong.stderr);
    strata(&home).run(["todo", "delete", "todo_0000000000"]).failure(4);
}

#[test]
fn eight_processes_add_todos_at_once() {
    let home = TestHome::new();
    let binary = strata(&home);
    for round in 0..3 {
        let children: Vec<_> = (0..8)
            .map(|n| {
                let content = format!("round {round} process {n}");
                let mut command = binary.command();
                command.args(["todo", "add", &content, "--json"]);
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().expect("ended");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let listed = binary.json(["todo", "list", "--limit", "100"]);
    let todos = listed["todos"].as_array().expect("todos");
    let of = |key: &str| todos.iter().map(|todo| todo[key].to_string()).collect::<HashSet<_>>().len();
    assert_eq!((of("id"), of("number"), of("content")), (24, 24, 24));
    assert_eq!(binary.json(["doctor"])["healthy"], true);
}
