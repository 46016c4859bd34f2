//! Where a project is, and that nothing is written but where it belongs: the binary as users and clients start it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use strata_testkit::{
    binary::Binary,
    home::TestHome,
    mcp::{Era, McpScript},
    older::{Cell, OlderStore},
};

use crate::strata;

fn git(at: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=Ana", "-c", "user.email=ana@private.test"];
    let status =
        Command::new("git").args(identity).args(arguments).current_dir(at).status().expect("git runs");
    assert!(status.success(), "git {arguments:?}");
}

/// A project with one commit, beside the home.
fn project(home: &TestHome, name: &str) -> PathBuf {
    home.file(&format!("{name}/README.md"), "# App\n");
    let root = home.outside().join(name);
    git(&root, &["init", "-q", "-b", "main"]);
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "begin"]);
    strata_store::files::canonical(&root).expect("canonical")
}

/// Every file below a folder but those of `.git`, with its bytes.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            match entry.is_dir() {
                true if entry.ends_with(".git") => {}
                true => folders.push(entry),
                false => drop(found.insert(entry.clone(), fs::read(&entry).expect("a file"))),
            }
        }
    }
    found
}

fn root_of(binary: &Binary<'_>, arguments: &[&str]) -> String {
    binary.json([arguments, &["project", "policy", "status"]].concat())["policy"]["path"]
        .as_str()
        .expect("a path")
        .trim_end_matches("/.strata/generated/AGENT_MEMORY_POLICY.md")
        .to_owned()
}

#[test]
fn memory_engine_c03_c04_the_root_is_told_or_found_by_its_marks() {
    let home = TestHome::new();
    let root = project(&home, "app");
    let shown = root.display().to_string();
    assert_eq!(root_of(&strata(&home), &["--project-root", &shown]), shown);
    let by_variable = strata(&home).with("MEMORY_ENGINE_PROJECT_ROOT", &shown);
    assert_eq!(root_of(&by_variable, &[]), shown);
    let mut server = McpScript::start(&by_variable, Era::Handshake, &["--toolsets", "project"]);
    let status = server.call("memory_status", &json!({})).text;
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    assert_eq!(status["project_root"], shown.as_str());
    server.finish();
    let other = project(&home, "other").display().to_string();
    assert_eq!(root_of(&by_variable, &["--project-root", &other]), other, "the option wins");
    assert_eq!(root_of(&by_variable, &["--project", &other]), other);
    by_variable.run(["--project", &other, "--project-root", &other, "status"]).failure(2);
    for mark in ["pyproject.toml", "package.json", "go.mod", "Makefile"] {
        let place = format!("by-{mark}");
        home.file(&format!("{place}/{mark}"), "");
        home.file(&format!("{place}/a/b/c.txt"), "");
        let deep = home.outside().join(&place).join("a/b").display().to_string();
        let found = strata_store::files::canonical(&home.outside().join(&place)).expect("canonical");
        assert_eq!(root_of(&strata(&home), &["--project", &deep]), found.display().to_string());
    }
    home.file("app/web/package.json", "{}");
    let part = root.join("web").display().to_string();
    assert_eq!(
        root_of(&strata(&home), &["--project", &part]),
        shown,
        "a repository comes before a mark in it"
    );
    assert_eq!(root_of(&strata(&home), &["--project-root", &part]), part, "unless it is told");
}

#[test]
fn memory_engine_c05_a_root_that_is_none_ends_with_one_line() {
    let home = TestHome::new();
    home.file("letter.txt", "");
    let file = home.outside().join("letter.txt").display().to_string();
    for (root, why) in [
        ("/nope/nowhere", "does not exist"),
        (file.as_str(), "is not a directory"),
        ("/", "whole file system"),
    ] {
        for command in [&["serve"][..], &["status"]] {
            let failed = strata(&home).run([&["--project-root", root], command].concat()).failure(1);
            assert_eq!(failed.stdout, "");
            assert_eq!(failed.stderr.lines().count(), 1, "{}", failed.stderr);
            assert!(failed.stderr.contains(why) && failed.stderr.contains(root), "{}", failed.stderr);
        }
    }
    let root = project(&home, "app").display().to_string();
    for level in ["WARNING", "debug", "Error"] {
        strata(&home).run(["--project-root", &root, "--log-level", level, "status"]).success();
    }
    strata(&home).run(["--log-level", "loud", "status"]).failure(2);
}

#[test]
fn memory_engine_c07_c63_a_session_writes_in_its_own_folder_alone_and_notices_a_checkout() {
    let home = TestHome::new();
    let root = project(&home, "app");
    home.file("app/CLAUDE.md", "# Ours\n");
    let before = snapshot(&root);
    let shown = root.display().to_string();
    let mut server = McpScript::start(
        &strata(&home),
        Era::Handshake,
        &["--project-root", &shown, "--toolsets", "core,project"],
    );
    let stored = server.call("remember", &json!({ "text": "The quokka queue drains at night." }));
    assert!(!stored.is_error, "{}", stored.text);
    server.call("recall", &json!({ "query": "quokka" }));
    let report = json!({
        "task": "Fix the quokka queue",
        "outcome": "The queue drained twice at night because the clock was read before the lock was taken; now it locks first.",
        "verification_status": "tests_passed", "changed_files": ["src/queue.py"], "test_summary": "3 passed",
    });
    for (tool, arguments) in [
        ("retrieve_agent_context", json!({ "task": "Drain the quokka queue" })),
        ("seed_project_context", json!({ "description": "A queue of quokkas." })),
        ("reflect_and_write", report),
        ("refresh_project_knowledge", json!({})),
        ("memory_status", json!({})),
        ("inspect_knowledge", json!({ "path": "README.md" })),
        ("project_learn", json!({})),
        ("project_check", json!({})),
    ] {
        let answer = server.call(tool, &arguments);
        assert!(!answer.is_error, "{tool}: {}", answer.text);
    }
    server.request("resources/read", json!({ "uri": "memory://project/current/agent-policy" }));
    git(&root, &["checkout", "-q", "-b", "feature/x"]);
    for (tool, place) in
        [("memory_status", "/current_branch"), ("retrieve_agent_context", "/meta/current_branch")]
    {
        let asked = if tool == "memory_status" { json!({}) } else { json!({ "task": "Drain the queue" }) };
        let answer: serde_json::Value = serde_json::from_str(&server.call(tool, &asked).text).expect("JSON");
        assert_eq!(answer.pointer(place), Some(&json!("feature/x")), "{tool}: {answer}");
    }
    server.finish();
    strata(&home).run(["--project-root", &shown, "project", "init"]).success();
    let mut after = snapshot(&root);
    after.retain(|path, _| !path.starts_with(root.join(".strata")));
    assert_eq!(after, before);
}

#[test]
fn memory_engine_c06_c10_the_first_start_makes_the_folder_and_the_next_finds_everything() {
    let home = TestHome::new();
    let root = project(&home, "app");
    let shown = root.display().to_string();
    let began = |server: &mut McpScript| {
        let started = std::time::Instant::now();
        loop {
            let status: serde_json::Value =
                serde_json::from_str(&server.call("memory_status", &json!({})).text).expect("JSON");
            if status["bootstrap_status"] == "READY" && status["knowledge_documents"].as_u64() > Some(0) {
                return status;
            }
            assert!(started.elapsed().as_secs() < 60, "{status:#}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    let start = || {
        McpScript::start(&strata(&home), Era::Handshake, &["--project-root", &shown, "--toolsets", "project"])
    };
    let mut server = start();
    let first = began(&mut server);
    assert_eq!(first["project_root"], json!(shown), "{first:#}");
    server.finish();
    let policy =
        fs::read_to_string(root.join(".strata/generated/AGENT_MEMORY_POLICY.md")).expect("the policy");
    assert!(policy.contains("retrieve_agent_context"), "{policy}");
    let status = Command::new("git").args(["status", "--porcelain", "-uall"]).current_dir(&root).output();
    assert_eq!(status.expect("git runs").stdout, b"", "a checkout stays clean");
    let before = snapshot(&root);
    let mut server = start();
    let second = began(&mut server);
    assert_eq!(second["knowledge_documents"], first["knowledge_documents"], "{second:#}");
    server.finish();
    assert_eq!(snapshot(&root), before, "and the second start writes nothing");
}

#[test]
fn who_keeps_the_home_in_the_project_has_everything_there() {
    let home = TestHome::bare();
    if home.server().is_some() {
        return;
    }
    let root = project(&home, "app");
    let everything = || snapshot(home.outside());
    let before = everything();
    let shown = root.display().to_string();
    let inside = root.join(".strata/home").display().to_string();
    let run = |arguments: &[&str]| {
        strata(&home).run([&["--home", &inside, "--project-root", &shown], arguments].concat()).success()
    };
    run(&["remember", "The quokka queue drains at night."]);
    run(&["project", "init"]);
    assert!(run(&["recall", "quokka"]).stdout.contains("night"));
    let new: Vec<PathBuf> = everything().into_keys().filter(|path| !before.contains_key(path)).collect();
    assert!(!new.is_empty() && new.iter().all(|path| path.starts_with(root.join(".strata"))), "{new:#?}");
    let status = Command::new("git").args(["status", "--porcelain", "-uall"]).current_dir(&root).output();
    let status = String::from_utf8(status.expect("git runs").stdout).expect("UTF-8");
    assert!(!status.contains("home"), "git is told of none of it: {status}");
}

#[test]
fn a_folder_of_memory_engine_is_taken_over_once() {
    let home = TestHome::new();
    let root = project(&home, "app");
    let shown = root.display().to_string();
    home.file("app/.memory-engine/constraints.md", "# Rules\n\n- Never push to main.\n");
    home.file("app/.memory-engine/decisions.md", "# Decisions\n");
    home.file(
        "app/.memory-engine/config.yaml",
        "project:\n  name: app\n  root_path: auto\nruntime:\n  auto_bootstrap: true\nprivacy:\n  redact_secrets: true\n\
         memory_retention:\n  stale_archive_days: 90\n  compaction:\n    enabled: false\nknowledge:\n  include:\n  - README.md\n  \
         - docs/**\n  exclude:\n  - docs/private.md\n  max_file_size_mb: 1\nruntime:\n  watcher_debounce_ms: soon\nlab:\n  x: 1\n",
    );
    older_database(&root.join(".memory-engine/memory.db"));
    let import = |more: &[&str]| {
        strata(&home).json([&["--project-root", &shown, "import", "memory-engine"], more].concat())
    };
    let before = snapshot(&root);
    let told = import(&["--dry-run"]);
    assert_eq!((&told["memories"], &told["dry_run"]), (&json!(3), &json!(true)), "{told:#}");
    assert_eq!(snapshot(&root), before, "a look writes nothing");
    let done = import(&[]);
    assert_eq!(done["memories"], 3, "{done:#}");
    assert_eq!(done["files"].as_array().map(Vec::len), Some(2), "{done:#}");
    assert_eq!(done["rejected"], 1, "{done:#}");
    for (told, relations) in [(&told, 1), (&done, 1)] {
        let counts = (&told["relations"], &told["candidates"]);
        assert_eq!(counts, (&json!(relations), &json!(1)), "{told:#}");
    }
    let adjusted = [&done["adjustments"], &done["candidate_rows"]["adjustments"]].map(Value::to_string);
    assert!(adjusted[0].contains("memory_nodes #n3: importance 1.7 became 1"), "{done:#}");
    assert!(adjusted[1].contains("memory_candidates #c1: importance -3 became 0"), "{done:#}");
    let lost = done["not_taken_over"].to_string();
    for reason in ["is not in the database", "type is not known", "decided candidates"] {
        assert!(lost.contains(reason), "{reason}: {lost}");
    }
    let lines = done["config_lines"].to_string();
    for line in [
        "project.name",
        "memory_retention.stale_archive_days = 90",
        "compaction.enabled = false",
        "docs/private.md",
        "max_file_size_mb = 1",
    ] {
        assert!(lines.contains(line), "{line}: {lines}");
    }
    assert!(!lines.contains("auto_bootstrap") && !lines.contains("redact_secrets"), "{lines}");
    assert_eq!(done["config_without_twin"], json!(["runtime.watcher_debounce_ms", "lab.x"]), "{done:#}");
    assert!(done["not_taken_over"].to_string().contains("indexed anew"), "{done:#}");
    let config = fs::read_to_string(root.join(".strata/config.toml")).expect("settings");
    assert!(config.contains("[memory_retention.compaction]\nenabled = false"), "{config}");
    let shows = strata(&home).json(["--project-root", &shown, "config", "show"]);
    assert_eq!(shows["knowledge.max_file_size_mb"], "1", "{shows:#}");

    let found = |word: &str| strata(&home).json(["--project-root", &shown, "recall", word])["hits"].clone();
    let hit = &found("terminal")[0];
    assert_eq!((&hit["kind"], &hit["title"]), (&json!("constraint"), &json!("Terminal states")), "{hit:#}");
    let incident = strata(&home).json(["--project-root", &shown, "inspect", "1"]);
    assert!(incident.to_string().contains("47 passed"), "{incident:#}");
    let all = format!("{}{incident}", found("retry loop"));
    assert!(all.contains("incident") && !all.contains("hunter2hunter2"), "{all}");
    let waiting = strata(&home).json(["--project-root", &shown, "review", "list"]);
    assert!(waiting.to_string().contains("guard of terminal states"), "{waiting:#}");
    let related = strata(&home).json(["--project-root", &shown, "project", "relations", "#1"]);
    assert!(related.to_string().contains("supports"), "{related:#}");
    let again = import(&[]);
    let counts = ["relations", "candidates", "candidates_known"].map(|name| again[name].clone());
    assert_eq!(counts, [json!(0), json!(0), json!(1)], "{again:#}");
    assert_eq!((&again["memories"], &again["known"]), (&json!(0), &json!(3)), "{again:#}");
    assert!(again["files"].to_string().contains("known"), "{again:#}");
    home.file("app/.strata/decisions.md", "# Other\n");
    let kept = import(&[]);
    assert!(kept["files"].to_string().contains("stays"), "{kept:#}");
    strata(&home).run(["--project-root", &shown, "import", "memory-engine", "nowhere"]).failure(8);
}

/// What memory-engine keeps of a project, in short.
fn older_database(path: &Path) {
    let old = OlderStore::bare(path);
    old.run("CREATE TABLE projects (id TEXT PRIMARY KEY, name TEXT)");
    old.run(
        "CREATE TABLE memory_nodes (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, title TEXT, summary TEXT, kind TEXT, depth INTEGER, \
         tags TEXT, created_at TEXT, updated_at TEXT, status TEXT, confidence REAL, importance REAL, module_path TEXT, branch_name TEXT, \
         commit_sha TEXT, branch_scope TEXT, archived_reason TEXT)",
    );
    old.run("CREATE TABLE evidence (id TEXT PRIMARY KEY, memory_node_id TEXT, content TEXT, source TEXT, created_at TEXT)");
    old.run("CREATE TABLE knowledge_documents (document_id TEXT PRIMARY KEY)");
    old.put_texts("knowledge_documents", &[("document_id", "d1")]);
    old.put_texts("projects", &[("id", "p"), ("name", "app")]);
    for (id, parent, title, summary, kind, status) in [
        (
            "n1",
            "",
            "Retry loop",
            "The retry loop re-entered a terminal task; password: hunter2hunter2",
            "debug",
            "active",
        ),
        ("n2", "n1", "Terminal states", "Terminal states are never left again.", "constraint", "active"),
        ("n3", "", "Old way", "Jobs were polled every second.", "module", "archived"),
        ("n4", "", "Empty", "", "module", "active"),
    ] {
        let texts: Vec<(&str, Cell)> = [
            ("id", id),
            ("project_id", "p"),
            ("parent_id", parent),
            ("title", title),
            ("summary", summary),
            ("kind", kind),
            ("tags", "[\"retry\"]"),
            ("created_at", "2026-01-02T03:04:05"),
            ("status", status),
            ("branch_scope", "global"),
        ]
        .map(|(name, text)| (name, Cell::Text(text.into())))
        .into_iter()
        .chain([
            ("confidence", Cell::Real(0.75)),
            ("importance", Cell::Real(if id == "n3" { 1.7 } else { 0.92 })),
        ])
        .collect();
        old.put("memory_nodes", &texts);
    }
    let evidence = [
        ("id", "e1"),
        ("memory_node_id", "n1"),
        ("content", "47 passed"),
        ("source", "pytest"),
        ("created_at", "2026-01-02T03:04:05"),
    ];
    old.put_texts("evidence", &evidence);
    older_candidates(&old);
    old.close();
}

/// What it knows beside its memories.
fn older_candidates(old: &OlderStore) {
    old.run("CREATE TABLE memory_relations (id TEXT PRIMARY KEY, source_id TEXT, target_id TEXT, relation_type TEXT, created_at TEXT)");
    for (id, source, target, relation) in
        [("r1", "n1", "n2", "supports"), ("r2", "n1", "n9", "supports"), ("r3", "n1", "n2", "adores")]
    {
        let texts = [("id", id), ("source_id", source), ("target_id", target), ("relation_type", relation)];
        old.put_texts("memory_relations", &texts);
    }
    old.run(
        "CREATE TABLE memory_candidates (id TEXT PRIMARY KEY, title TEXT, summary TEXT, proposed_kind TEXT, proposed_tags TEXT, \
         proposed_parent_id TEXT, evidence_content TEXT, evidence_source TEXT, status TEXT, created_at TEXT, \
         importance TEXT)",
    );
    for (id, status) in [("c1", "needs_review"), ("c2", "promoted")] {
        old.put_texts(
            "memory_candidates",
            &[
                ("id", id),
                ("title", "Guard"),
                ("summary", "Retries pass the guard of terminal states first."),
                ("proposed_kind", "procedure"),
                ("proposed_parent_id", "n1"),
                ("evidence_content", "12 passed"),
                ("evidence_source", "pytest"),
                ("status", status),
                ("created_at", "2026-01-03T03:04:05"),
                ("importance", "-3"),
            ],
        );
    }
}
