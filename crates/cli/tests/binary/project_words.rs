//! What a client that is shown the project's tools alone is told: nothing that it cannot do, and in one shape.

use serde_json::{Map, Value, json};
use strata_engine::registry;
use strata_testkit::{
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

/// A server for a small project in `home`, with a memory to speak of and what tells of it.
fn server(home: &TestHome) -> McpScript {
    home.file("app/README.md", "# App\n\nA queue of invoices. The gateway takes them one by one.\n");
    home.file("app/src/send.rs", "fn send() -> bool {\n    true\n}\n");
    let root = home.outside().join("app").display().to_string();
    let arguments = ["--project-root", root.as_str(), "--toolsets", "project"];
    McpScript::start(&strata(home), Era::Handshake, &arguments)
}

/// The tools as they are listed.
fn listed(server: &mut McpScript) -> Vec<Value> {
    server.request("tools/list", json!({}))["tools"].as_array().expect("tools").clone()
}

fn name_of(tool: &Value) -> &str {
    tool["name"].as_str().expect("a name")
}

fn arguments_of(tool: &Value) -> Vec<String> {
    let properties = tool["inputSchema"]["properties"].as_object().expect("properties");
    properties.keys().filter(|name| *name != "format").cloned().collect()
}

/// `text` as the argument `name` of a tool takes it; what takes no text gets what it takes.
fn filled(tool: &Value, name: &str, text: &str) -> Value {
    let property = &tool["inputSchema"]["properties"][name];
    let is = |word: &str| {
        let of = &property["type"];
        of == word || of.as_array().is_some_and(|any| any.contains(&word.into()))
    };
    match () {
        () if is("array") => json!([text]),
        () if is("boolean") => json!(false),
        () if is("integer") || is("number") => json!(1),
        () => json!(text),
    }
}

/// Calls of a tool: with nothing, with `text` for everything, and for each argument alone beside those that it needs.
fn calls(tool: &Value, text: &str) -> Vec<Value> {
    let names = arguments_of(tool);
    let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
    let of = |wanted: &dyn Fn(&str) -> bool| {
        let chosen = names.iter().filter(|name| wanted(name));
        Value::Object(chosen.map(|name| (name.clone(), filled(tool, name, text))).collect::<Map<_, _>>())
    };
    let alone = |name: &String| of(&|other| other == name || required.iter().any(|r| r == other));
    [json!({}), of(&|_| true)].into_iter().chain(names.iter().map(alone)).collect()
}

/// Everything that a text says: its own words, and the strings of its JSON.
fn sentences(text: &str) -> Vec<String> {
    fn strings(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
            Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    match serde_json::from_str(text) {
        Ok(value) => strings(&value, &mut found),
        Err(_) => found.extend(text.lines().map(str::to_owned)),
    }
    found
}

/// What stands in back-ticks and can neither be called nor typed.
fn out_of_reach(sentence: &str, called: &Value, tools: &[Value]) -> Vec<String> {
    let is_command = |typed: &str| {
        let words: Vec<&str> = typed.split(' ').collect();
        words[0] == "serve" || (1..=words.len()).any(|end| registry::find_command(&words[..end]).is_some())
    };
    let is_known = |word: &str| tools.iter().any(|tool| name_of(tool) == word);
    let arguments = arguments_of(called);
    let within = sentence.split('`').skip(1).step_by(2);
    within
        .filter(|word| match word.strip_prefix("strata ") {
            Some(typed) => !is_command(typed),
            None => {
                registry::typed(word).is_some() && !is_known(word) && !arguments.iter().any(|a| a == word)
            }
        })
        .map(str::to_owned)
        .collect()
}

/// What a client comes upon when it does things in an order that does not go: (tool, arguments).
fn out_of_order(server: &mut McpScript) -> Vec<(&'static str, Value)> {
    let mut made = |title: &str, kind: &str| {
        let node = json!({ "title": title, "summary": format!("{title}: the queue waits."), "kind": kind });
        let reply: Value = serde_json::from_str(&server.call("add_memory_node", &node).text).expect("JSON");
        reply["id"].as_str().expect("an id").to_owned()
    };
    let (memory, stale) = (made("Waiting", "decision"), made("Gone", "debug"));
    let rule = made("Never post twice", "constraint");
    let report = json!({
        "task": "Fix the queue", "outcome": "The queue lost invoices because two workers took one batch; a lock holds it now.",
        "verification_status": "tests_passed", "changed_files": ["src/send.rs"],
        "discovered_constraints": ["Every worker must hold the lock while it takes a batch"],
    });
    let reported: Value =
        serde_json::from_str(&server.call("reflect_and_write", &report).text).expect("JSON");
    let mut all = vec![
        ("project_pin", json!({ "id": memory, "code": ["nowhere.rs"] })),
        ("project_pin", json!({ "id": memory, "code": ["src/send.rs#nothing"] })),
        ("project_pin", json!({ "id": "mem_0000000000", "code": ["src/send.rs"] })),
        ("mark_stale", json!({ "node": stale, "reason": "the code went" })),
        ("mark_stale", json!({ "node": stale, "reason": "once more" })),
        ("project_pin", json!({ "id": stale, "code": ["src/send.rs#send"] })),
        ("promote_memory", json!({ "node": memory })),
        ("promote_memory", json!({ "node": rule })),
        ("promote_to_mainline", json!({ "id": memory })),
        ("project_check", json!({ "diff": "a..b" })),
        ("project_check", json!({ "sarif": "/nope/nowhere.sarif" })),
        ("inspect_knowledge", json!({ "path": "src/send.rs", "start_line": 9 })),
        ("project_check", json!({ "format": "markdown" })),
        ("memory_status", json!({ "format": "markdown" })),
    ];
    for kept in reported["candidates"].as_array().into_iter().flatten() {
        all.push(("promote_memory", json!({ "node": kept["id"] })));
        all.push(("mark_stale", json!({ "node": kept["id"], "reason": "no" })));
    }
    all
}

#[test]
fn a_client_of_the_projects_tools_is_told_only_what_it_can_do() {
    let home = TestHome::new();
    let mut server = server(&home);
    let tools = listed(&mut server);
    let mut asked: Vec<(&Value, Value)> = Vec::new();
    for (name, arguments) in out_of_order(&mut server) {
        asked.push((tools.iter().find(|tool| name_of(tool) == name).expect(name), arguments));
    }
    for tool in &tools {
        asked.extend(calls(tool, "mem_nothing").into_iter().map(|arguments| (tool, arguments)));
    }
    let (mut failures, mut wrong) = (0, Vec::new());
    for (tool, arguments) in &asked {
        let answer = server.call(name_of(tool), arguments);
        failures += usize::from(answer.is_error);
        let in_json =
            serde_json::from_str::<Value>(&answer.text).is_ok_and(|v| v["error"]["next"].is_string());
        if answer.is_error && !in_json && arguments["format"] != "markdown" {
            wrong.push(format!("{} {arguments}: no JSON: {}", name_of(tool), answer.text));
        }
        for sentence in sentences(&answer.text) {
            let words = out_of_reach(&sentence, tool, &tools);
            wrong.extend(words.iter().map(|word| format!("{} {arguments}: `{word}`", name_of(tool))));
        }
    }
    for tool in &tools {
        let told = sentences(&tool.to_string());
        let words = told.iter().flat_map(|sentence| out_of_reach(sentence, tool, &tools));
        wrong.extend(words.map(|word| format!("{} is listed with `{word}`", name_of(tool))));
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(failures > 20, "only {failures} of {} failed", asked.len());
    server.finish();
}
