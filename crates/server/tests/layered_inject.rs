//! Writing knowledge as a client of the older program does it, over the real protocol.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use strata_core::scope::Scope;
use strata_engine::{
    engine::Engine,
    operation::{Selection, Toolset},
    settings::Settings,
};
use strata_server::mcp::{EngineSource, Options, serve};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

/// Far above anything this test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// The results of these calls, in order.
fn results(calls: &[(&str, Value)]) -> Vec<Value> {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().to_path_buf();
    let engine: EngineSource = Arc::new(move || Ok(Engine::new(Settings::for_home(&path))));
    let options = Options {
        toolsets: vec![Selection::Whole(Toolset::Layered)],
        call_timeout: PATIENCE,
        ..Options::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let (ours, theirs) = duplex(1 << 20);
        let (reader, writer) = split(theirs);
        let (output, mut input) = split(ours);
        let mut output = BufReader::new(output).lines();
        let client = async move {
            let mut answers = Vec::new();
            for (id, (name, arguments)) in calls.iter().enumerate() {
                let params = json!({ "name": name, "arguments": arguments });
                let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
                input.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
                let line = tokio::time::timeout(PATIENCE, output.next_line()).await.expect("in time");
                let answer: Value =
                    serde_json::from_str(&line.expect("readable").expect("open")).expect("JSON");
                assert_eq!(answer["id"], json!(id), "{answer:#}");
                answers.push(answer["result"].clone());
            }
            answers
        };
        let scope = Arc::new(Scope::user);
        let (_, answers) = tokio::join!(serve(engine, scope, &options, reader, writer), client);
        answers
    })
}

/// The document in a result's text.
fn told(result: &Value) -> Value {
    serde_json::from_str(result["content"][0]["text"].as_str().expect("a text")).expect("JSON")
}

#[test]
fn both_names_are_callable_and_failures_are_answers() {
    let item = |content: &str| json!({ "domain": "infra", "section": "Database", "content": content });
    let pool = "PostgreSQL 15 on prod-db:5432, connection pool: 20 max";
    let wrong_mode = json!({ "domain": "infra", "section": "Database", "content": pool, "mode": "replace" });
    let no_token = json!({ "domain": "infra", "section": "Database", "content": "x", "fuse": true });
    let results = results(&[
        ("inject_knowledge", item(pool)),
        ("inject_knowledge_tool", item(&pool.replace("20", "40"))),
        ("batch_inject_knowledge_tool", json!({ "items": [item("It keeps every backup for thirty days.")] })),
        ("inject_knowledge", wrong_mode),
        ("inject_knowledge", no_token),
        ("inject_knowledge", json!({ "domain": "infra", "content": pool })),
        ("inject_knowledge", json!({ "domain": "infra", "section": ["a"], "content": pool })),
    ]);
    for result in &results[..5] {
        assert_ne!(result["isError"], true, "{result:#}");
    }
    let actions: Vec<Value> = results[..2].iter().map(|result| told(result)["action"].clone()).collect();
    assert_eq!(actions, ["created", "replaced"]);
    let batch = told(&results[2]);
    assert_eq!(
        (&batch["success"], &batch["results"][0]["action"]),
        (&json!(true), &json!("appended")),
        "{batch:#}"
    );
    let failed = told(&results[3]);
    assert_eq!((&failed["success"], failed.get("action")), (&json!(false), None));
    assert!(failed["error"].as_str().is_some_and(|error| error.contains("replace")), "{failed:#}");
    assert!(failed["hint"].is_string() && failed["kind"].is_string());
    let conflict = told(&results[4]);
    assert_eq!((&conflict["success"], &conflict["action"]), (&json!(false), &json!("fuse_conflict")));
    for result in &results[5..] {
        assert_eq!(result["isError"], true, "the arguments were not read: {result:#}");
    }
}
