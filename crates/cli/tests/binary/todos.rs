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
fn layered_02_the_vault_has_resources_and_prompts_of_its_own() {
    let home = TestHome::new();
    for era in Era::ALL {
        let mut script = McpScript::start(&strata(&home), era, &["--toolsets", "layered"]);
        let listed = |script: &mut McpScript, method: &str, list: &str, key: &str| -> Vec<String> {
            let reply = script.request(method, json!({}));
            let all = reply[list].as_array().expect("a list").clone();
            all.iter().map(|one| one[key].as_str().expect("a text").to_owned()).collect()
        };
        let resources = listed(&mut script, "resources/list", "resources", "uri");
        for uri in ["memory://status", "knowledge://files"] {
            assert!(resources.iter().any(|listed| listed == uri), "{resources:?}");
        }
        let templates = listed(&mut script, "resources/templates/list", "resourceTemplates", "uriTemplate");
        assert_eq!(templates, ["knowledge://{domain}"]);
        let prompts = listed(&mut script, "prompts/list", "prompts", "name");
        for name in [
            "knowledge_compression_prompt",
            "cognitive_decision_prompt",
            "memory_rules_prompt",
            "todo_management_prompt",
        ] {
            assert!(prompts.iter().any(|listed| listed == name), "{prompts:?}");
            let got = script.request("prompts/get", json!({ "name": name }));
            assert!(
                got["messages"][0]["content"]["text"].as_str().is_some_and(|text| text.len() > 300),
                "{got}"
            );
        }
        let read = |script: &mut McpScript, uri: &str| -> Value {
            let reply = script.request("resources/read", json!({ "uri": uri }));
            let text = reply["contents"][0]["text"].as_str().expect("a text");
            serde_json::from_str(text).unwrap_or_else(|_| text.into())
        };
        let empty = read(&mut script, "knowledge://files");
        assert_eq!((&empty["total_files"], &empty["files"]), (&json!(0), &json!([])));
        assert!(
            script.exchange("resources/read", json!({ "uri": "knowledge://nowhere" }))["error"].is_object()
        );
    }
    let mut core = McpScript::start(&strata(&home), Era::Handshake, &[]);
    assert!(!core.request("resources/list", json!({})).to_string().contains("knowledge://"));
    assert!(!core.request("prompts/list", json!({})).to_string().contains("todo_management_prompt"));
}

#[test]
fn a_file_of_the_vault_is_a_document() {
    let home = TestHome::new();
    strata(&home).run(["init"]).success();
    home.file("home/vault/knowledge/shared/infra/代理.md", "# 代理设置\n\n## 端口\n\n8080\n");
    home.file("home/vault/knowledge/shared/bad.md", [0xff, 0xfe, b'x']);
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &["--toolsets", "layered"]);
    let mut read = |uri: &str| {
        let reply = script.request("resources/read", json!({ "uri": uri }));
        let contents = reply["contents"][0].clone();
        (
            contents["mimeType"].as_str().expect("a type").to_owned(),
            contents["text"].as_str().expect("a text").to_owned(),
        )
    };
    let (mime, status) = read("memory://status");
    let status: Value = serde_json::from_str(&status).expect("JSON");
    assert_eq!((mime.as_str(), &status["status"]), ("application/json", &json!("healthy")));
    let files = status["l1_knowledge"]["files"].as_array().expect("files");
    assert!(
        files.iter().any(|file| file["file"] == "infra/代理.md" && file["size_bytes"] == 32),
        "{status:#}"
    );
    for key in ["home", "l0_index", "sessions", "holds"] {
        assert!(!status[key].is_null(), "{key}: {status:#}");
    }
    let files: Value = serde_json::from_str(&read("knowledge://files").1).expect("JSON");
    let of = |name: &str| {
        let all = files["files"].as_array().expect("files");
        all.iter().find(|file| file["file"] == name).cloned().unwrap_or_default()
    };
    assert_eq!(of("infra/代理.md")["title_hint"], "代理设置", "{files:#}");
    assert!(of("bad.md")["error"].is_string(), "{files:#}");
    for uri in ["knowledge://代理", "knowledge://%E4%BB%A3%E7%90%86", "knowledge://infra/代理.md"] {
        assert_eq!(
            read(uri),
            ("text/markdown".to_owned(), "# 代理设置\n\n## 端口\n\n8080\n".to_owned()),
            "{uri}"
        );
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
