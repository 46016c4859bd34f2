//! A project's files, followed by a server while it answers.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use strata_testkit::{
    binary::Binary,
    home::TestHome,
    mcp::{Era, McpScript},
};

use crate::strata;

/// How long anything may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A project of so many files beside a home.
#[expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]
fn project(home: &TestHome, files: usize) -> PathBuf {
    let root = home.outside().join("app");
    fs::create_dir_all(root.join(".strata")).expect("a folder");
    fs::create_dir_all(root.join("src")).expect("a folder");
    fs::write(root.join("README.md"), "# App\n\nAbout a quokka.\n").expect("a file");
    for n in 0..files {
        let text = format!("def function_{n}():\n    \"\"\"Says token{n}x.\"\"\"\n    return {n}\n");
        fs::write(root.join(format!("src/m{n:03}.py")), text).expect("a file");
    }
    root
}

fn on<'h>(home: &'h TestHome, root: &Path) -> Binary<'h> {
    strata(home).with("STRATA_PROJECT", &root.to_string_lossy())
}

fn serve(binary: &Binary<'_>) -> McpScript {
    McpScript::start(binary, Era::Handshake, &["--toolsets", "core,project"])
}

fn ask(server: &mut McpScript, tool: &str, arguments: &Value) -> Value {
    let answer = server.call(tool, arguments);
    assert!(!answer.is_error, "{}", answer.text);
    serde_json::from_str(&answer.text).expect("the answer is JSON")
}

/// Asks for the status until it is what it should be.
fn until(server: &mut McpScript, wanted: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let status = ask(server, "memory_status", &json!({}));
        if wanted(&status) {
            return status;
        }
        assert!(began.elapsed() < PATIENCE, "{status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The tools that clients of memory-engine know: what each must be given, and what else it may.
const TOOLS: [(&str, &[&str], &[&str]); 7] = [
    (
        "retrieve_agent_context",
        &["task"],
        &[
            "current_files",
            "current_symbols",
            "token_budget",
            "current_branch",
            "head_commit",
            "task_intent",
            "preferred_layers",
            "proposition_types",
        ],
    ),
    ("inspect_memory", &["memory_id"], &["inspection_depth", "include_evidence", "current_task"]),
    ("inspect_knowledge", &[], &["chunk_id", "path", "start_line", "end_line", "include_content"]),
    (
        "reflect_and_write",
        &["outcome", "task"],
        &[
            "verification_status",
            "changed_files",
            "task_summary",
            "test_summary",
            "current_branch",
            "head_commit",
            "task_intent",
        ],
    ),
    ("memory_status", &[], &[]),
    ("refresh_project_knowledge", &[], &[]),
    (
        "seed_project_context",
        &[],
        &["description", "constraints", "decisions", "tech_stack", "conventions", "skip_auto_extract"],
    ),
];

#[test]
fn memory_engine_c01_a_fresh_server_lists_the_tools_that_clients_know() {
    let home = TestHome::new();
    let root = project(&home, 1);
    let arguments = ["--project-root", &root.to_string_lossy(), "--toolsets", "project"];
    let mut server = McpScript::start(&strata(&home), Era::Handshake, &arguments);
    let listed = server.request("tools/list", json!({}));
    for (name, required, others) in TOOLS {
        let tools = listed["tools"].as_array().expect("tools");
        let tool = tools.iter().find(|tool| tool["name"] == name).expect(name);
        let schema = &tool["inputSchema"];
        let mut wanted: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        wanted.sort_unstable();
        assert_eq!(wanted, required, "{name}");
        for parameter in required.iter().chain(others) {
            assert!(schema["properties"][parameter].is_object(), "{name} {parameter}: {schema}");
        }
    }
    // How soon it answers is measured by `cargo xtask quality`.
    assert_eq!(
        ask(&mut server, "memory_status", &json!({}))["project_root"],
        root.to_string_lossy().as_ref()
    );
    assert!(server.finish().status.success());
}

#[test]
fn memory_engine_c12_c13_c29_servers_read_the_files_by_themselves_and_answer_meanwhile() {
    let home = TestHome::new();
    let root = project(&home, 120);
    let binary = on(&home, &root);
    let (mut one, mut two) = (serve(&binary), serve(&binary));
    let began = Instant::now();
    one.request("ping", json!({}));
    let ping = began.elapsed();
    assert!(ping < Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 50 }), "{ping:?}");
    let ready =
        |status: &Value| status["bootstrap_status"] == "READY" && status["knowledge_documents"] == 121;
    until(&mut one, ready);
    for server in [&mut one, &mut two] {
        let reply = ask(server, "refresh_project_knowledge", &json!({}));
        assert_eq!(reply["changes"], json!({ "new": 0, "changed": 0, "deleted": 0, "unchanged": 121 }));
    }
    let status = until(&mut two, ready);
    assert!(status["knowledge_chunks"].as_u64().expect("a number") >= 121, "{status}");
    assert!(one.finish().status.success());
    assert!(two.finish().status.success());
}

#[test]
fn memory_engine_c28_what_a_killed_process_began_is_completed() {
    let home = TestHome::new();
    let root = project(&home, 60);
    let binary = on(&home, &root);
    for wait in [150, 400] {
        let mut command = binary.command();
        command.args(["project", "index"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().expect("killed");
        child.wait().expect("it ended");
    }
    let done = binary.json(["project", "index"]);
    assert_eq!(done["bootstrap_status"], "READY");
    let again = binary.json(["project", "index"]);
    assert_eq!(again["changes"], json!({ "new": 0, "changed": 0, "deleted": 0, "unchanged": 61 }));
    let status = binary.json(["project", "status"]);
    assert_eq!((&status["knowledge_documents"], &status["knowledge_chunks"]), (&json!(61), &json!(61)));
}

#[test]
fn memory_engine_c13_c20_the_first_question_of_a_small_project_finds_all_of_it() {
    let home = TestHome::new();
    let root = project(&home, 3);
    let binary = on(&home, &root);
    let mut text = String::new();
    for round in 0..4 {
        // Every start has something to read, and the question does not wait until the server is done with it.
        home.file(&format!("app/src/m{round:03}.py"), format!("def wombat_{round}():\n    return {round}\n"));
        let mut server = serve(&binary);
        let reply = ask(
            &mut server,
            "retrieve_agent_context",
            &json!({ "task": format!("What is wombat_{round}?") }),
        );
        text += &format!("{}\n", reply["knowledge_chunks"]);
        assert!(text.contains(&format!("src/m{round:03}.py")), "{reply}");
        assert!(server.finish().status.success());
    }
}

#[test]
fn memory_engine_c75_the_older_commands_work_on_the_project() {
    let home = TestHome::new();
    let root = project(&home, 2);
    let binary = on(&home, &root);
    assert_eq!(binary.json(["debug", "bootstrap"])["indexed_documents"], 3);
    assert_eq!(binary.json(["debug", "index"])["changes"]["unchanged"], 3);
    let status = binary.json(["debug", "status"]);
    assert_eq!((&status["bootstrap_status"], &status["knowledge_documents"]), (&json!("READY"), &json!(3)));
    assert_eq!(binary.json(["project", "debug", "status"]), status);
    for path in ["bootstrap", "index", "reset-project", "recall", "inspect", "route", "tree"] {
        let help = binary.run(["project", "debug", path, "--help"]).success().stdout;
        assert_eq!(help.lines().next(), binary.run(["debug", path, "--help"]).stdout.lines().next());
    }
    let help = binary.run(["project", "--help"]).success().stdout;
    assert!(!help.lines().any(|line| line.trim_start().starts_with("debug")), "{help}");
    let node =
        binary.json(["memory", "add", "--title", "Quokka", "--summary", "The quokka waits for the queue."]);
    let id = node["id"].as_str().expect("an id");
    let task = "How does the quokka wait for the queue?";
    for path in [&["debug"][..], &["memory", "debug"], &["project", "debug"]] {
        let under = |words: &[&'static str]| -> Vec<String> {
            path.iter().chain(words).map(|word| (*word).to_owned()).collect()
        };
        assert_eq!(binary.json(under(&["status"]))["knowledge_documents"], 3, "{path:?}");
        assert_eq!(binary.json(under(&["bootstrap"]))["already_initialized"], true, "{path:?}");
        assert_eq!(binary.json(under(&["index"]))["ingested"], 0, "{path:?}");
        for words in
            [&["recall", task][..], &["recall", "--task", task, "--files", "src/m000.py", "--budget", "900"]]
        {
            let found = binary.json(under(words));
            assert_eq!(found["modules"][0]["id"], id, "{path:?}: {found}");
        }
        let mut inspect = under(&["inspect", "--no-evidence"]);
        inspect.insert(inspect.len() - 1, id.to_owned());
        assert_eq!(binary.json(inspect)["memory"]["title"], "Quokka", "{path:?}");
        assert_eq!(
            binary.json(under(&["route", "--task", "Fix the crash"]))["task_intent"],
            "bug_fix",
            "{path:?}"
        );
        assert!(binary.run(under(&["tree"])).success().stdout.contains("[module] Quokka"), "{path:?}");
        // Nothing is done before it is confirmed.
        assert_eq!(binary.json(under(&["reset-project"]))["files"], 3, "{path:?}");
    }
    for command in [
        &["memory", "init"][..],
        &["memory", "project", "list"],
        &["memory", "policy", "generate"],
        &["memory", "policy", "install", "--client", "cursor"],
        &["memory", "policy", "status"],
        &["memory", "policy", "remove", "--client", "cursor"],
        &["memory", "semantic", "status"],
        &["memory", "semantic", "reindex"],
        &["memory", "semantic", "doctor"],
        &["memory", "evidence", "add", id, "--content", "Seen in the log.", "--source", "log"],
        &["memory", "relations", id],
        &["memory", "retention", "status"],
        &["memory", "retention", "run", "--no-dry-run"],
        &["memory", "stale", id, "--reason", "The queue is gone."],
    ] {
        binary.run(command.iter().copied()).success();
    }
    // memory-engine had the project in this place; it is no description of it.
    binary.run(["memory", "seed", "app"]).failure(2);
    assert_eq!(binary.json(["debug", "reset-project", "--confirm"])["files"], 3);
    assert_eq!(binary.json(["debug", "status"])["knowledge_documents"], 0);
    let shown = binary.json(["project", "show", "README.md"]);
    assert!(shown["content"].as_str().expect("text").contains("quokka"));
}
