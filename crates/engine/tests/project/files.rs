//! A project's files in the index.

#![expect(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]

use std::{fs, path::Path, time::Instant};

use serde_json::{Value, json};
use strata_core::{cancel::Cancel, error::ErrorKind, id::Id, principal::Face, scope::Scope, time::Timestamp};
use strata_engine::{
    documents,
    engine::Engine,
    operation::Call,
    project::files::{Chunk, SourceType, chunk, follow, revision},
};

use crate::{repository::Checkout, support::Session};

const RETRY: &str = "\"\"\"Retrying calls.\"\"\"\n\n\nclass RetryPolicy:\n    \"\"\"How often a call is repeated.\"\"\"\n\n    \
                     def delay(self, attempt):\n        \"\"\"Waits exponentially longer, with jitter.\"\"\"\n        return 2 ** attempt\n";

/// A caller in a project with a readme, a decision and a module.
fn session(checkout: &Checkout) -> Session {
    configured(checkout, |_| {})
}

fn configured(checkout: &Checkout, change: impl FnOnce(&mut strata_engine::settings::Settings)) -> Session {
    let root = checkout.root().to_owned();
    let mut session = Session::with_settings(|settings| {
        settings.project_root = Some(root);
        change(settings);
    });
    session.scope = Scope::project("app");
    session
}

fn project() -> Checkout {
    let checkout = Checkout::new();
    checkout.write("README.md", "# App\n\nA scheduler of marmalade orders.\n");
    checkout.write("docs/adr/001-retry.md", "# Retry\n\nCalls are repeated with quokka backoff.\n");
    checkout.write("src/retry.py", RETRY);
    checkout
}

/// Everything below a folder as text.
fn bytes_of(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all += &bytes_of(&path),
            false => all += &String::from_utf8_lossy(&fs::read(&path).expect("a file")),
        }
    }
    all
}

#[test]
fn a_look_that_was_broken_off_is_not_taken_for_the_whole() {
    let checkout = project();
    let session = configured(&checkout, |settings| {
        settings.config.project.runtime.auto_incremental_sync = false;
    });
    let cancel = Cancel::default();
    with_call(&session, |call| {
        let stops = |_: u64, _: u64| cancel.cancel();
        let call = Call { cancel: &cancel, progress: &stops, ..*call };
        assert!(follow::refresh(&session.engine, &call).is_err());
    });
    let seen_by = |engine: &Engine| {
        let run = |tool: &str, arguments: Value| {
            let mut entries = strata_engine::registry::OPERATIONS.iter();
            let entry = entries.find(|entry| entry.spec.tool == tool).expect("a tool");
            with_call(&session, |call| (entry.run)(engine, call, arguments)).expect("an answer").json
        };
        let status = run("memory_status", json!({}));
        let found = run("retrieve_agent_context", json!({ "task": "Where is marmalade ordered?" }));
        assert_eq!(status["bootstrap_status"], found["meta"]["bootstrap_status"], "{found:#}");
        status
    };
    let status = seen_by(&session.reopened());
    assert_eq!(status["bootstrap_status"], "UNINITIALIZED", "{status:#}");
    assert!(status["knowledge_documents"].as_u64().is_some_and(|count| count < 3), "{status:#}");
    // Over MCP a tool is named, at the command line the command.
    assert_eq!(status["suggestions"][0], "`refresh_project_knowledge` reads the project's files now");
    refresh(&session);
    let status = seen_by(&session.reopened());
    assert_eq!((&status["bootstrap_status"], &status["knowledge_documents"]), (&json!("READY"), &json!(3)));
}

fn refresh(session: &Session) -> Value {
    session.ok("refresh_project_knowledge", json!({}))
}

fn changes(session: &Session) -> [u64; 4] {
    let reply = refresh(session);
    ["new", "changed", "deleted", "unchanged"].map(|name| reply["changes"][name].as_u64().expect("a number"))
}

/// The files in which a question finds something.
fn found(session: &Session, question: &str) -> Vec<String> {
    chunks_of(session, &session.engine, question).into_iter().map(|chunk| chunk.source_path).collect()
}

fn with_call<T>(session: &Session, job: impl FnOnce(&Call<'_>) -> T) -> T {
    crate::support::with_call(session, job)
}

fn chunks_of(session: &Session, engine: &Engine, question: &str) -> Vec<Chunk> {
    let entry = strata_engine::registry::OPERATIONS.iter().find(|e| e.spec.tool == "recall").expect("recall");
    with_call(session, |call| {
        let reply =
            (entry.run)(engine, call, json!({ "query": question, "limit": 20 })).expect("an answer").json;
        let ids =
            reply["hits"].as_array().expect("hits").iter().map(|hit| hit["id"].as_str().expect("an id"));
        let ids: Vec<Id> = ids.map(|id| Id::parse(id).expect("an id")).collect();
        let parts = ids.iter().map(documents::parse_id);
        parts.filter_map(|(source, part)| chunk(engine, call, source, part).expect("the store")).collect()
    })
}

#[test]
fn memory_engine_c14_c15_c16_c17_c19_a_look_finds_what_changed_and_nothing_else() {
    let checkout = project();
    let session = session(&checkout);
    assert_eq!(changes(&session), [3, 0, 0, 0]);
    assert_eq!(changes(&session), [0, 0, 0, 3]);
    let before = with_call(&session, |call| revision(&session.engine, call)).expect("a revision");
    assert_eq!(found(&session, "quokka"), ["docs/adr/001-retry.md"]);

    checkout.write("docs/adr/001-retry.md", "# Retry\n\nCalls are repeated with wallaby backoff.\n");
    assert_eq!(changes(&session), [0, 1, 0, 2]);
    assert_eq!(found(&session, "wallaby"), ["docs/adr/001-retry.md"]);
    assert!(!found(&session, "quokka backoff").is_empty());
    let texts = chunks_of(&session, &session.engine, "quokka");
    assert!(texts.iter().all(|chunk| !chunk.text.contains("quokka")), "{texts:?}");
    let after = with_call(&session, |call| revision(&session.engine, call)).expect("a revision");
    assert!(after > before);

    let readme = checkout.root().join("README.md");
    let file = fs::File::options().write(true).open(&readme).expect("a file");
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000)).expect("a time");
    assert_eq!(changes(&session), [0, 0, 0, 3]);

    fs::remove_file(readme).expect("removed");
    assert_eq!(changes(&session), [0, 0, 1, 2]);
    assert_eq!(found(&session, "marmalade"), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn patterns_that_cannot_be_read_close_a_folder_and_those_above_a_project_hold() {
    let checkout = project();
    checkout.write(".gitignore", "drafts.md\n");
    checkout.write(".git/info/exclude", "own.md\n");
    for name in ["drafts.md", "own.md", "kept.md"] {
        checkout.write(&format!("docs/{name}"), "# A note on narwhals\n");
    }
    let inner = Session::with_settings(|settings| {
        settings.project_root = Some(checkout.root().join("docs"));
    });
    let inner = Session { scope: Scope::project("docs"), ..inner };
    refresh(&inner);
    assert_eq!(found(&inner, "narwhals"), ["kept.md"]);
    let shown = |path: &str| inner.ok("inspect_knowledge", json!({ "path": path }));
    assert!(shown("drafts.md")["error"].is_string() && shown("own.md")["error"].is_string());
    assert!(shown("kept.md")["error"].is_null());

    // A link to a device has no end. What was known in the folder stays until it can be looked into again.
    let patterns = checkout.root().join("docs/adr/.gitignore");
    std::os::unix::fs::symlink("/dev/zero", &patterns).expect("a link");
    checkout.write("docs/adr/002-more.md", "# More on narwhals\n");
    let reply = refresh(&inner);
    assert_eq!(reply["changes"]["deleted"], 0, "{reply}");
    assert!(inner.ok("memory_status", json!({}))["warnings"].to_string().contains("is left out"));
    assert!(!found(&inner, "quokka").is_empty());
    assert!(shown("adr/002-more.md")["error"].is_string());
    fs::remove_file(patterns).expect("removed");
    assert_eq!(refresh(&inner)["changes"]["new"], 1);
}

#[test]
fn a_chunk_says_where_it_stands_and_when_it_is_stale() {
    let checkout = project();
    let session = session(&checkout);
    refresh(&session);
    let chunks = chunks_of(&session, &session.engine, "exponentially longer with jitter");
    let chunk = chunks.first().expect("a chunk");
    assert_eq!((chunk.source_path.as_str(), chunk.source_type), ("src/retry.py", SourceType::CodeFile));
    assert_eq!((chunk.language.as_deref(), chunk.module_path.as_str()), (Some("python"), "retry"));
    assert!(chunk.symbols.iter().any(|name| name == "RetryPolicy"), "{chunk:?}");
    assert!(!chunk.is_stale);
    let lines: Vec<_> = RETRY.lines().collect();
    let expected = lines[chunk.start_line as usize - 1..chunk.end_line as usize].join("\n");
    assert_eq!(chunk.text, expected);

    checkout.write("src/retry.py", "# nothing here\n");
    let stale = chunks_of(&session, &session.engine, "exponentially longer with jitter");
    assert!(stale.iter().any(|chunk| chunk.is_stale && chunk.text.contains("jitter")), "{stale:?}");
}

#[test]
fn memory_engine_c20_c21_a_question_sees_what_was_written_before_it() {
    let checkout = project();
    let session = session(&checkout);
    let attend = |engine: &Engine| with_call(&session, |call| follow::attend(engine, call)).expect("looked");
    attend(&session.engine);
    assert_eq!(found(&session, "quokka"), ["docs/adr/001-retry.md"]);
    checkout.write("src/retry.py", "def pangolin():\n    return 1\n");
    checkout
        .write(".strata/constraints.md", "# Constraints\n\n- Never exit terminal states of an armadillo.\n");
    checkout.write(".strata/home/secret.md", "numbat\n");
    let engine = session.reopened();
    attend(&engine);
    let of = |question| chunks_of(&session, &engine, question);
    assert_eq!(
        of("pangolin").first().map(|chunk| chunk.source_path.clone()).as_deref(),
        Some("src/retry.py")
    );
    let rule = of("armadillo").into_iter().next().expect("the rule");
    assert_eq!(
        (rule.source_path.as_str(), rule.source_type),
        (".strata/constraints.md", SourceType::ManualNote)
    );
    assert!(of("numbat").iter().all(|chunk| chunk.source_path != ".strata/home/secret.md"));
    let pack = session.ok("retrieve_agent_context", json!({ "task": "Move an armadillo to another state" }));
    assert_eq!(pack["constraints"][0]["source_path"], ".strata/constraints.md", "{pack}");
    let uri = "memory://project/current/constraints";
    let resource = strata_engine::resources::RESOURCES.iter().find(|one| one.uri == uri).expect("listed");
    let told = with_call(&session, |call| (resource.read)(&session.engine, call)).expect("text");
    assert!(told.contains("Never exit terminal states of an armadillo."), "{told}");
}

#[test]
fn memory_engine_c22_c24_c72_what_is_text_is_read_and_nothing_else() {
    let checkout = project();
    for path in [".env", "secrets/a.md", "x.pem", "x.key", "node_modules/a.js", "Secrets/b.md", ".ENV.dev"] {
        checkout.write(path, "kookaburra\n");
    }
    checkout.write("ignored.txt", "kookaburra\n");
    checkout.write(".gitignore", "ignored.txt\n");
    fs::write(checkout.root().join("a.dat"), b"\x89PNG\0\0kookaburra").expect("a file");
    fs::write(checkout.root().join("large.txt"), "kookaburra word\n".repeat(400_000)).expect("a file");
    fs::write(checkout.beside("outside.md"), "kookaburra\n").expect("a file");
    #[cfg(unix)]
    for name in ["ARCHITECTURE.md", "CLAUDE.md"] {
        std::os::unix::fs::symlink(checkout.beside("outside.md"), checkout.root().join(name))
            .expect("a link");
    }
    let kinds = ["py", "ts", "js", "go", "rs", "rb", "sql", "sh", "java", "toml", "yaml"];
    for ending in kinds {
        checkout.write(&format!("all/x.{ending}"), "bandicoot = 1\n");
    }
    let session = session(&checkout);
    refresh(&session);
    assert_eq!(found(&session, "kookaburra"), Vec::<String>::new());
    let mut read = found(&session, "bandicoot");
    read.sort();
    read.dedup();
    let mut expected = kinds.map(|ending| format!("all/x.{ending}"));
    expected.sort();
    assert_eq!(read, expected);
    #[cfg(unix)]
    assert_eq!(fs::read_to_string(checkout.beside("outside.md")).expect("a file"), "kookaburra\n");
}

#[test]
fn memory_engine_c23_the_settings_say_what_is_read() {
    let checkout = project();
    checkout.write("docs/private.md", "echidna\n");
    fs::write(checkout.root().join("two.txt"), "echidna word\n".repeat(170_000)).expect("a file");
    let session = configured(&checkout, |settings| {
        let files = &mut settings.config.project.files;
        files.exclude.push("docs/private.md".to_owned());
        files.max_file_size_mb = 1;
    });
    assert_eq!(changes(&session), [3, 0, 0, 0]);
    assert_eq!(found(&session, "echidna"), Vec::<String>::new());
    let reply = session.ok("inspect_knowledge", json!({ "path": "two.txt" }));
    assert!(reply["error"].as_str().is_some_and(|e| e.contains("larger than 1048576 bytes")), "{reply}");
    checkout.write("grows.txt", "numbat\n");
    refresh(&session);
    assert_eq!(found(&session, "numbat"), ["grows.txt"]);
    checkout.write("grows.txt", &"numbat word\n".repeat(100_000));
    refresh(&session);
    assert_eq!(found(&session, "numbat"), Vec::<String>::new(), "it has become too large");
}

#[test]
fn memory_engine_c18_there_is_no_cap_on_files() {
    let checkout = project();
    for n in 0..520 {
        checkout.write(&format!("many/f{n:04}.txt"), &format!("file number {n} says token{n}x\n"));
    }
    let session = session(&checkout);
    assert_eq!(changes(&session), [523, 0, 0, 0]);
    assert_eq!(found(&session, "token519x").first().map(String::as_str), Some("many/f0519.txt"));
    for n in 0..5 {
        checkout.write(&format!("aaa/g{n}.txt"), "in front\n");
    }
    assert_eq!(changes(&session), [5, 0, 0, 523]);
}

#[test]
fn memory_engine_c25_c26_c27_files_are_cut_by_what_they_are() {
    let checkout = project();
    let marked = "Intro with a wombat.\n\n```sh\n# comment in a fence\nls\n```\n\n## Two\n\nsecond\n\n### Three\n\nthird\n\n### Four\n\nfourth dugong\n";
    checkout.write("guide.md", marked);
    checkout.write("long.md", &format!("# Long\n\n{}\n", "capybara ".repeat(4_000)));
    let log: String = (0..60)
        .map(|n| if n == 10 || n == 50 { format!("ERROR tapir {n}\n") } else { format!("INFO line {n}\n") })
        .collect();
    checkout.write("run.log", &log);
    let diff = "diff --git a/one.py b/one.py\n--- a/one.py\n+++ b/one.py\n@@ -1,2 +1,2 @@\n-ocelot\n+margay\n same\n@@ -9,2 +9,2 @@\n-serval\n+caracal\n same\n\
                diff --git a/two.py b/two.py\n--- a/two.py\n+++ b/two.py\n@@ -1,1 +1,1 @@\n-kodkod\n+oncilla\n";
    checkout.write("fix.patch", diff);
    checkout.write("long.py", &format!("def gibbon():\n{}", "    jackal = 1\n".repeat(5_000)));
    checkout.write("long.log", &"2026-11-30 INFO meerkat went by\n".repeat(5_000));
    let report = "test_a.py::test_ermine PASSED [ 33%]\ntest_a.py::test_weasel FAILED [ 66%]\ntest_a.py::test_marten PASSED [100%]\n";
    checkout.write("reports/pytest.txt", &format!("==== test session starts ====\n{report}"));
    let session = session(&checkout);
    refresh(&session);
    let one = |question: &str, path: &str| {
        let chunks = chunks_of(&session, &session.engine, question);
        chunks
            .into_iter()
            .find(|chunk| chunk.source_path == path)
            .unwrap_or_else(|| panic!("{question} in {path}"))
    };
    let intro = one("wombat", "guide.md");
    assert!(intro.text.contains("# comment in a fence") && intro.start_line == 1, "{intro:?}");
    assert_eq!(one("dugong", "guide.md").heading_path, ["Two", "Four"]);
    assert_eq!(one("third", "guide.md").heading_path, ["Two", "Three"]);
    for (word, path, most) in
        [("capybara", "long.md", 1_200), ("jackal", "long.py", 1_000), ("meerkat", "long.log", 600)]
    {
        let chunks = chunks_of(&session, &session.engine, word);
        let of_file: Vec<&Chunk> = chunks.iter().filter(|chunk| chunk.source_path == path).collect();
        assert!(!of_file.is_empty(), "{path}");
        for chunk in of_file {
            assert!(chunk.text.len() <= 4 * most, "{path}: {}", chunk.text.len());
        }
    }
    let results = ["ermine", "weasel", "marten"].map(|name| one(name, "reports/pytest.txt"));
    assert!(results.iter().all(|chunk| chunk.source_type == SourceType::TestReport), "{results:?}");
    assert!(results.windows(2).all(|pair| pair[0].chunk_id != pair[1].chunk_id), "{results:?}");
    let (first, second) = (one("tapir 10", "run.log"), one("tapir 50", "run.log"));
    assert_eq!(first.source_type, SourceType::RuntimeLog);
    assert!(first.end_line < second.start_line || second.end_line < first.start_line);
    let hunk = one("oncilla", "fix.patch");
    assert_eq!(
        (hunk.source_type, hunk.heading_path.first().map(String::as_str)),
        (SourceType::GitDiff, Some("two.py"))
    );
    assert_eq!(hunk.module_path, "two", "of the file that it changes");
    assert_ne!(one("margay", "fix.patch").chunk_id, one("caracal", "fix.patch").chunk_id);
}

#[test]
fn memory_engine_c59_secrets_of_files_are_stored_and_shown_nowhere() {
    let checkout = project();
    let secrets = [
        ["gh", "p_", &"A1b2C3d4E5f6".repeat(3)].concat(),
        ["AK", "IA", "IOSFODNN7EXAMPLE"].concat().replace("EXAMPLE", "QZXCVBN"),
        ["xox", "b-", "123456789012-abcdefghijklmnop"].concat(),
    ];
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let text = format!(
        "# Notes on numbat\n\ntoken {}\n\n{}\n\n{}\n\ncommit {commit}\n\npassword: {}\n",
        secrets[0], secrets[1], secrets[2], "hunter2hunter2"
    );
    checkout.write("notes.md", &text);
    checkout.write("src/config.py", &format!("# numbat\nTOKEN = \"{}\"\n", secrets[0]));
    let session = session(&checkout);
    refresh(&session);
    let shown = format!("{:?}", chunks_of(&session, &session.engine, "numbat"))
        + &session.ok("inspect_knowledge", json!({ "path": "notes.md" })).to_string()
        + &bytes_of(session.home.path());
    assert!(shown.contains(commit));
    for secret in secrets.iter().map(String::as_str).chain(["hunter2hunter2"]) {
        assert!(!shown.contains(secret), "{secret}");
    }
}

#[test]
fn memory_engine_c60_a_line_as_long_as_a_file_is_no_trouble() {
    let checkout = project();
    fs::write(checkout.root().join("bundle.js"), "x".repeat(5 << 20)).expect("a file");
    let session = session(&checkout);
    let began = Instant::now();
    assert_eq!(changes(&session), [4, 0, 0, 0]);
    let most = if cfg!(debug_assertions) { 60 } else { 2 };
    assert!(began.elapsed().as_secs() < most, "{:?}", began.elapsed());
}

#[test]
fn memory_engine_c70_c71_c73_only_what_may_be_read_is_shown() {
    let checkout = project();
    for path in [".env", "secrets/a.md", ".strata/home/ledger.db"] {
        checkout.write(path, "KEY=kookaburra\n");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", checkout.root().join("escape.txt")).expect("a link");
    let session = session(&checkout);
    refresh(&session);
    let show = |path: &str| session.ok("inspect_knowledge", json!({ "path": path }));
    let mut outside = vec!["../x", "/etc/passwd", "src/../../x"];
    outside.extend(cfg!(unix).then_some("escape.txt"));
    for path in outside {
        let reply = show(path);
        assert_eq!(reply["boundary_violation"], true, "{path}: {reply}");
        assert!(
            reply.get("content").is_none()
                && reply["error"].as_str().expect("a reason").contains("escapes project root")
        );
    }
    // Refused before any tool sees it, like every name with this character.
    assert_eq!(session.fails("inspect_knowledge", json!({ "path": "a\0b" })), ErrorKind::Invalid);
    for path in [".env", "secrets/a.md", ".strata/home/ledger.db"] {
        let reply = show(path);
        assert!(reply.get("content").is_none(), "{reply}");
        assert!(reply["error"].as_str().expect("a reason").contains("excluded"), "{reply}");
    }
    assert_eq!(show("none.md")["error"], "File not found: none.md");
    assert_eq!(show("src")["error"], "File not found: src", "a folder is no file");
    let lines =
        session.ok("inspect_knowledge", json!({ "path": "src/retry.py", "start_line": 3, "end_line": 4 }));
    let expected = RETRY.lines().skip(2).take(2).collect::<Vec<_>>().join("\n");
    assert_eq!(lines["content"], Value::from(expected));
    assert_eq!(
        (&lines["path"], &lines["start_line"], &lines["end_line"]),
        (&json!("src/retry.py"), &json!(3), &json!(4))
    );
    assert!(lines["token_estimate"].as_u64().expect("a number") > 0);
    assert_eq!(session.ok("inspect_knowledge", json!({}))["error"], "Provide chunk_id or path");
    let missing = session.ok("inspect_knowledge", json!({ "chunk_id": "nothing" }));
    assert_eq!(missing["error"], "Chunk 'nothing' not found");
    assert_eq!(
        session.fails("inspect_knowledge", json!({ "path": "README.md", "start_line": 4, "end_line": 2 })),
        ErrorKind::Invalid
    );
    let id = chunks_of(&session, &session.engine, "quokka")[0].chunk_id.clone();
    let view = session.ok("inspect_knowledge", json!({ "chunk_id": id }));
    assert_eq!((&view["source_type"], &view["index_status"]), (&json!("adr"), &json!("indexed")));
    assert!(view["content"].as_str().expect("text").contains("quokka"));
}

#[test]
fn memory_engine_c10_a_second_bootstrap_adds_nothing() {
    let checkout = project();
    checkout.commit("extra.md", "more\n");
    let session = session(&checkout);
    let first = session.ok("bootstrap_project", json!({}));
    assert_eq!((&first["already_initialized"], &first["indexed_documents"]), (&json!(false), &json!(4)));
    let second = session.ok("bootstrap_project", json!({}));
    assert_eq!(second["already_initialized"], true);
    assert_eq!(
        (&second["indexed_documents"], &second["indexed_chunks"]),
        (&first["indexed_documents"], &first["indexed_chunks"])
    );
    let status = session.ok("memory_status", json!({}));
    assert_eq!((&status["bootstrap_status"], &status["knowledge_documents"]), (&json!("READY"), &json!(4)));
    assert_eq!((&status["index_behind_head"], &status["current_branch"]), (&json!(false), &json!("main")));
    checkout.commit("later.md", "later\n");
    assert_eq!(session.ok("memory_status", json!({}))["index_behind_head"], true);
    refresh(&session);
    assert_eq!(session.ok("memory_status", json!({}))["index_behind_head"], false);
    assert_eq!(session.ok("reset_project", json!({ "confirm": true }))["files"], 5);
    assert_eq!(session.ok("memory_status", json!({}))["knowledge_documents"], 0);
    assert_eq!(changes(&session), [5, 0, 0, 0]);
}

#[test]
fn a_moved_project_takes_its_files_with_it_and_a_void_one_loses_none() {
    let checkout = project();
    let first = session(&checkout);
    refresh(&first);
    let moved = checkout.beside("renamed");
    fs::rename(checkout.root(), &moved).expect("renamed");
    let looked = |root: &Path| {
        let mut settings = first.engine.settings().clone();
        settings.project_root = Some(root.to_owned());
        let engine = Engine::new(settings);
        let call = Call {
            principal: &first.principal,
            scope: &first.scope,
            face: Face::Library,
            deadline: Timestamp::MAX,
            cancel: &Cancel::default(),
            progress: &|_, _| {},
            secret: None,
        };
        follow::refresh(&engine, &call).expect("looked")
    };
    let changes = looked(&moved);
    assert_eq!((changes.new, changes.deleted), (3, 3));
    for entry in fs::read_dir(&moved).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.expect("removed");
    }
    assert_eq!(looked(&moved).deleted, 0, "an empty folder looks like a drive that is not mounted");
}
