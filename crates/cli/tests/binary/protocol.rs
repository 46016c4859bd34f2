//! What every client may rely on, in both eras of the protocol.

use serde_json::{Value, json};
use strata_engine::{operation::Toolset, schema::lint};
use strata_testkit::{
    home::TestHome,
    mcp::{CLIENT, Era, McpScript, message_of},
};

use crate::strata;

const ALL_TOOLSETS: &[&str] = &["--toolsets", "core,governance,compat,layered,project,admin"];

#[test]
fn p_layer_c67_a_round_trip_works_in_both_eras() {
    for era in Era::ALL {
        let home = TestHome::new();
        let mut script = McpScript::start(&strata(&home), era, &[]);
        let tools = script.request("tools/list", json!({}));
        assert!(tools["tools"].as_array().expect("a list").iter().any(|t| t["name"] == "status"), "{tools}");
        let answer = script.call("status", &json!({}));
        assert!(
            !answer.is_error && answer.text.contains(&format!("agent:{CLIENT}")),
            "{era:?}: {}",
            answer.text
        );
        assert!(script.finish().status.success());
    }
}

#[test]
fn every_version_with_a_handshake_is_answered_and_unknown_ones_too() {
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let home = TestHome::new();
        let mut script = McpScript::silent(&strata(&home), Era::Handshake, &[]);
        let hello = json!({
            "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" },
        });
        let result = script.request("initialize", hello);
        assert_eq!(result["protocolVersion"], answered, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "strata");
    }
}

#[test]
fn discovery_offers_both_eras_with_the_same_instructions() {
    let home = TestHome::new();
    let mut modern = McpScript::silent(&strata(&home), Era::Stateless, &[]);
    let discovered = modern.request("server/discover", json!({}));
    let versions = discovered["supportedVersions"].as_array().expect("versions");
    for version in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        assert!(versions.iter().any(|v| v == version), "{discovered}");
    }
    let mut legacy = McpScript::silent(&strata(&home), Era::Handshake, &[]);
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" },
    });
    let initialized = legacy.request("initialize", hello);
    assert_eq!(initialized["instructions"], discovered["instructions"]);
    let instructions = discovered["instructions"].as_str().expect("instructions");
    assert!(instructions.chars().count() <= 1500 && instructions.contains("`context`"));
}

#[test]
fn every_listed_tool_is_portable_and_the_list_never_changes() {
    let home = TestHome::new();
    let mut lists = Vec::new();
    for era in Era::ALL {
        let mut script = McpScript::start(&strata(&home), era, ALL_TOOLSETS);
        let list = script.request("tools/list", json!({}))["tools"].take();
        for tool in list.as_array().expect("a list") {
            assert_eq!(lint(&tool["inputSchema"]), Vec::<String>::new(), "{tool}");
            assert!(tool.get("outputSchema").is_none(), "{tool}");
            let length = |key: &str| tool[key].as_str().map_or(0, |t| t.chars().count());
            // The names of the older servers are as they are; of all clients' prefixes none makes 31 too long.
            let longest = 31;
            assert!(length("name") <= longest && (1..=900).contains(&length("description")), "{tool}");
            assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
        }
        lists.push(list.to_string());
        lists.push(script.request("tools/list", json!({}))["tools"].to_string());
    }
    assert!(lists.iter().all(|l| *l == lists[0]), "the list depends on when and how it is asked for");
}

#[test]
fn all_toolsets_are_all() {
    let names: Vec<_> = Toolset::ALL.iter().map(|t| t.as_str()).collect();
    assert_eq!(ALL_TOOLSETS[1], names.join(","), "what holds of every tool is asked of every tool");
}

#[test]
fn the_core_toolset_is_small() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    let list = script.request("tools/list", json!({}));
    assert!(list["tools"].as_array().expect("a list").len() <= 8);
}

#[test]
fn replies_are_markdown_or_json_as_asked() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Stateless, &[]);
    assert!(script.call("status", &json!({ "format": "markdown" })).text.contains("- home: "));
    let json = script.call("status", &json!({ "format": "json" })).text;
    let value: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["home"], home.path().display().to_string());
    let wrong = script.call("status", &json!({ "format": "xml" }));
    assert!(wrong.is_error && wrong.text.contains("markdown, json"), "{}", wrong.text);
}

#[test]
fn a_model_can_act_on_errors() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    let answer = script.call("status", &json!({ "colour": 1 }));
    assert!(answer.is_error);
    assert!(answer.text.starts_with("error: invalid\ncause: `colour`"), "{}", answer.text);
    assert!(answer.text.contains("\nnext: "), "{}", answer.text);
    let unknown = script.exchange("tools/call", json!({ "name": "no_such_tool", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().expect("a message").contains("status"));
    let hidden = script.exchange("tools/call", json!({ "name": "memory_stats", "arguments": {} }));
    let message = hidden["error"]["message"].as_str().expect("a message");
    assert!(message.contains("--toolsets core,governance"), "{message}");
    let method = script.exchange("tools/everything", json!({}));
    assert_eq!(method["error"]["code"], -32601, "{method}");
    let shape = script.exchange("tools/call", json!({ "arguments": {} }));
    assert_eq!(shape["error"]["code"], -32602, "{shape}");
    assert!(!script.call("status", &json!({})).is_error, "the server lives");
}

#[test]
fn a_broken_configuration_fails_calls_not_the_list() {
    let home = TestHome::new();
    home.file("home/config.toml", "[recall]\nlimt = 3\n");
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    script.request("tools/list", json!({}));
    let answer = script.call("status", &json!({}));
    assert!(answer.is_error && answer.text.contains("limt"), "{}", answer.text);
    home.file("home/config.toml", "");
    assert!(!script.call("status", &json!({})).is_error, "mended while the server runs");
}

/// Every tool of every toolset is called, rightly where that is known and wrongly otherwise, as are resources
/// and prompts: whatever is logged on the way stays out of the messages.
#[test]
fn nothing_but_messages_is_written_to_standard_output() {
    for era in Era::ALL {
        let home = TestHome::new();
        let binary = strata(&home).with("RUST_LOG", "trace");
        let mut script = McpScript::start(&binary, era, ALL_TOOLSETS);
        let list = script.request("tools/list", json!({}))["tools"].take();
        let stored = script.call("remember", &json!({ "text": "nginx fell over because of a full disk 🦀" }));
        assert!(!stored.is_error, "{}", stored.text);
        let names: Vec<&str> =
            list.as_array().expect("a list").iter().filter_map(|t| t["name"].as_str()).collect();
        assert!(names.len() > 30, "{names:?}");
        for name in names {
            for arguments in [json!({}), json!({ "query": "disk", "id": 1, "text": "a", "format": "json" })] {
                let reply = script.exchange("tools/call", json!({ "name": name, "arguments": arguments }));
                assert!(reply["result"]["content"].is_array(), "{name}: {reply}");
            }
        }
        script.call("recall", &json!({ "query": "disk", "explain": true }));
        script.request("resources/read", json!({ "uri": "memory://hot" }));
        script.request("prompts/list", json!({}));
        script.exchange("tools/call", json!({ "name": "nope" }));
        script.send_line(b"not json");
        script.read();
        let ending = script.finish();
        assert!(!ending.stderr.is_empty(), "the log went somewhere");
        for line in &ending.lines {
            message_of(line);
        }
    }
}

#[test]
fn a_quiet_server_logs_nothing() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    script.call("status", &json!({}));
    script.exchange("tools/call", json!({ "name": "nope" }));
    assert_eq!(script.finish().stderr, "", "some clients show any of it as an error");
}

#[test]
fn resources_can_be_listed_and_read() {
    for era in Era::ALL {
        let home = TestHome::new();
        let mut script = McpScript::start(&strata(&home), era, &[]);
        let list = script.request("resources/list", json!({}));
        for resource in list["resources"].as_array().expect("a list") {
            let read = script.request("resources/read", json!({ "uri": resource["uri"] }));
            let contents = &read["contents"][0];
            assert_eq!((&contents["uri"], &contents["mimeType"]), (&resource["uri"], &resource["mimeType"]));
            assert!(contents["text"].is_string(), "{read}");
        }
        for uri in ["memory://status", "memory://hot"] {
            assert!(list.to_string().contains(uri), "{list}");
        }
        let unknown = script.exchange("resources/read", json!({ "uri": "memory://nope" }));
        assert!(
            unknown["error"]["message"].as_str().is_some_and(|m| m.contains("memory://nope")),
            "{unknown}"
        );
    }
}

#[test]
fn prompts_can_be_listed_and_filled_in() {
    for era in Era::ALL {
        let home = TestHome::new();
        let mut script = McpScript::start(&strata(&home), era, &[]);
        let list = script.request("prompts/list", json!({}));
        for prompt in list["prompts"].as_array().expect("a list") {
            let blanks = prompt["arguments"].as_array().expect("arguments").iter();
            let arguments: serde_json::Map<String, Value> = blanks
                .map(|a| (a["name"].as_str().expect("a name").to_owned(), "端口 5432".into()))
                .collect();
            let got =
                script.request("prompts/get", json!({ "name": prompt["name"], "arguments": arguments }));
            let text = got["messages"][0]["content"]["text"].as_str().expect("a text");
            assert!(text.contains("端口 5432"), "{text}");
        }
        let missing = script.exchange("prompts/get", json!({ "name": "start_task" }));
        assert_eq!(missing["error"]["code"], -32602, "{missing}");
        assert!(missing["error"]["message"].as_str().is_some_and(|m| m.contains("task")), "{missing}");
        let unknown = script.exchange("prompts/get", json!({ "name": "nope" }));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
}

#[test]
fn what_is_written_is_there_when_the_next_call_reads() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Handshake, &[]);
    let mut ids = Vec::new();
    for n in 0..20 {
        let text = format!("The service called zebra{n} listens on port {}.", 7000 + n);
        script.begin("tools/call", json!({ "name": "remember", "arguments": { "text": text } }));
        let ask = json!({ "name": "recall", "arguments": { "query": format!("zebra{n} port") } });
        ids.push((script.begin("tools/call", ask), 7000 + n));
    }
    let mut open = ids.clone();
    while !open.is_empty() {
        let reply = script.read();
        assert_eq!(reply["result"]["isError"], false, "{reply}");
        if let Some(at) = open.iter().position(|(id, _)| reply["id"] == *id) {
            let (_, port) = open.swap_remove(at);
            assert!(reply.to_string().contains(&port.to_string()), "{reply}");
        }
    }
}

#[test]
fn people_only_operations_are_not_offered() {
    let home = TestHome::new();
    let mut script = McpScript::start(&strata(&home), Era::Handshake, ALL_TOOLSETS);
    let list = script.request("tools/list", json!({})).to_string();
    for entry in strata_engine::registry::OPERATIONS {
        let shown = list.contains(&format!("\"name\":\"{}\"", entry.spec.tool));
        let for_people = entry.spec.audience == strata_engine::operation::Audience::People;
        assert_eq!(shown, !for_people, "{}", entry.spec.tool);
        if for_people {
            let answer = script.exchange("tools/call", json!({ "name": entry.spec.tool, "arguments": {} }));
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
    }
    assert!(!home.path().exists(), "listing and refused calls create nothing");
}

#[test]
fn the_project_follows_the_directory_the_server_is_told() {
    let home = TestHome::new();
    home.file("app/.git/HEAD", "ref: refs/heads/feature/x\n");
    let binary = strata(&home).with("CLAUDE_PROJECT_DIR", &home.outside().join("app").display().to_string());
    let mut script = McpScript::start(&binary, Era::Handshake, &[]);
    let status = script.call("status", &json!({ "format": "json" })).text;
    assert!(status.contains("\"shared/app-") && status.contains("@feature/x\""), "{status}");
    home.file("app/.git/HEAD", "ref: refs/heads/other\n");
    let status = script.call("status", &json!({ "format": "json" })).text;
    assert!(status.contains("@other\""), "a change of branch is noticed: {status}");
    let mut told =
        McpScript::start(&binary, Era::Handshake, &["--project", "by-name", "--namespace", "codex"]);
    let status = told.call("status", &json!({ "format": "json" })).text;
    assert!(status.contains("\"codex/by-name\""), "{status}");
}
