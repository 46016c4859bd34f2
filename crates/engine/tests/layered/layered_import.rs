//! The vault out of a folder and into one, and a home of layered-memory on its way in.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::maintain_support::{Session, become_owner, home};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind, scope::Scope};
use strata_store::files::write_atomic;
use strata_testkit::older::OlderStore;

fn owner(seed: u64) -> Session {
    let mut s = home(seed);
    become_owner(&mut s);
    s
}

fn put(root: &Path, place: &str, text: impl AsRef<[u8]>) {
    let path = root.join(place);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    write_atomic(&path, text.as_ref()).expect("written");
}

fn read(root: &Path, place: &str) -> String {
    fs::read_to_string(root.join(place)).expect(place)
}

/// Every file below a folder with its bytes; links by their names alone.
fn bytes(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_symlink() {
            found.insert(path, Vec::new());
        } else if path.is_dir() {
            found.extend(bytes(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).expect("bytes"));
        }
    }
    found
}

fn reasons(report: &Value) -> BTreeMap<String, String> {
    let rows = report["problems"].as_array().into_iter().flatten();
    rows.map(|row| {
        let text = |key: &str| row[key].as_str().expect("a text").to_owned();
        (text("file"), text("reason"))
    })
    .collect()
}

fn knowledge(s: &Session, name: &str) -> String {
    s.ok("get_knowledge_file", json!({ "filename": name }))["content"].as_str().expect("a text").to_owned()
}

const PROXY: &str = "# proxy\n\n## Ports\n\nThe proxy listens on port 8443.\n";

#[test]
fn an_exported_vault_comes_back_byte_for_byte_and_only_once() {
    let (from, to) = (owner(1), owner(2));
    for (name, text) in [("infra/proxy.md", PROXY), ("노트.md", "# 노트\r\n\r\n## 포트\r\n\r\n8443\r\n")]
    {
        from.ok("create_knowledge_file", json!({ "filename": name, "content": text }));
    }
    let dir = from.home.path().join("work/out");
    let plan = from.ok("vault_export", json!({ "dir": dir, "dry_run": true }));
    assert_eq!((&plan["written"], dir.exists()), (&json!(2), false));
    let first = from.ok("vault_export", json!({ "dir": dir }));
    assert_eq!((&first["written"], &first["left_out"]), (&json!(2), &json!(0)), "{first}");
    assert_eq!(read(&dir, "shared/infra/proxy.md"), PROXY);
    let again = from.ok("vault_export", json!({ "dir": dir }));
    assert_eq!((&again["written"], &again["unchanged"]), (&json!(0), &json!(2)));

    let before = bytes(&dir);
    let look = to.ok("vault_import", json!({ "dir": dir, "dry_run": true }));
    assert_eq!((&look["added"], &look["dry_run"]), (&json!(2), &json!(true)), "{look}");
    assert_eq!(to.fails("get_knowledge_file", json!({ "filename": "proxy.md" })), ErrorKind::NotFound);
    let come = to.ok("vault_import", json!({ "dir": dir }));
    assert_eq!((&come["added"], &come["left_out"]), (&json!(2), &json!(0)), "{come}");
    assert_eq!(knowledge(&to, "infra/proxy.md"), PROXY);
    let again = to.ok("vault_import", json!({ "dir": dir }));
    assert_eq!((&again["added"], &again["known"]), (&json!(0), &json!(2)), "{again}");
    assert_eq!(bytes(&dir), before, "an import writes nothing where it reads");
    let out = to.home.path().join("work/again");
    to.ok("vault_export", json!({ "dir": out }));
    for (path, bytes) in before {
        let place = path.strip_prefix(&dir).expect("below it");
        assert_eq!(fs::read(out.join(place)).expect("there too"), bytes, "{}", place.display());
    }
}

#[test]
fn an_export_replaces_what_differs_only_when_told() {
    let s = owner(3);
    s.ok("create_knowledge_file", json!({ "filename": "a.md", "content": "## A\n\none\n" }));
    s.ok("create_knowledge_file", json!({ "filename": "b.md", "content": "## B\n\none\n" }));
    let dir = s.home.path().join("work/out");
    put(&dir, "shared/b.md", "somebody's own\n");
    assert_eq!(s.fails("vault_export", json!({ "dir": dir })), ErrorKind::Conflict);
    assert!(!dir.join("shared/a.md").exists(), "nothing is written when something is in the way");
    let told = s.ok("vault_export", json!({ "dir": dir, "overwrite": true }));
    assert_eq!((&told["written"], &told["replaced"]), (&json!(1), &json!(1)));
    assert_eq!(read(&dir, "shared/b.md"), "## B\n\none\n");
}

#[test]
fn an_import_says_what_stays_out_and_why() {
    let s = owner(4);
    let dir = s.home.path().join("work/in");
    put(&dir, "shared/good.md", "## Good\n\nThe pool has 20 connections.\n");
    put(&dir, "shared/latin.md", b"## Caf\xe9\n\nno UTF-8\n");
    put(&dir, "shared/big.md", vec![b'a'; (5 << 20) + 1]);
    put(&dir, "shared/CON.md", "## Con\n\na device\n");
    put(&dir, "shared/here.md", "## Here\n\nthere\n");
    put(&dir, "shared/gone.md", "## Gone\n\nthere\n");
    put(&dir, "stray.md", "## Stray\n\nin no namespace\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(dir.join("stray.md"), dir.join("shared/link.md")).expect("a link");
    for name in ["here.md", "gone.md"] {
        s.ok("create_knowledge_file", json!({ "filename": name, "content": "## Here\n\nhere\n" }));
    }
    s.ok("delete_knowledge_file", json!({ "filename": "gone.md" }));
    let report = s.ok("vault_import", json!({ "dir": dir }));
    let reasons = reasons(&report);
    assert_eq!(report["added"], 1, "{report}");
    for (file, said) in [
        ("shared/latin.md", "UTF-8"),
        ("shared/big.md", "larger"),
        ("shared/here.md", "something else"),
        ("shared/gone.md", "deleted here"),
        ("stray.md", "no namespace"),
    ] {
        assert!(reasons.get(file).is_some_and(|reason| reason.contains(said)), "{file}: {reasons:?}");
    }
    assert!(reasons.contains_key("shared/CON.md"), "{reasons:?}");
    assert_eq!(cfg!(unix), reasons.contains_key("shared/link.md"), "{reasons:?}");
    assert_eq!(knowledge(&s, "here.md"), "## Here\n\nhere\n");
    let told = s.ok("vault_import", json!({ "dir": dir, "overwrite": true }));
    assert_eq!(
        (&told["added"], &told["replaced"], &told["known"]),
        (&json!(1), &json!(1), &json!(1)),
        "{told}"
    );
    assert_eq!(knowledge(&s, "here.md"), "## Here\n\nthere\n");
    assert_eq!(knowledge(&s, "gone.md"), "## Gone\n\nthere\n");
}

/// A home as that program leaves it after an agent got a namespace.
fn older_home(root: &Path) {
    put(root, "knowledge/shared/infra/proxy.md", PROXY);
    put(root, "knowledge/pool.md", "---\nid: e1\ndomain: pool\n---\n\nThe pool has 20 connections.\n");
    put(root, "knowledge/shared/mail.md", "# mail\n\n## Relay\n\nMail goes through the relay.\n");
    put(root, "knowledge/claude/private.md", "# private\n\n## Tone\n\nShort answers.\n");
    put(root, "knowledge/shared/infra/proxy.md.lock", "");
    put(
        root,
        "L0.md",
        "[L0] proxy: proxy — port, listens → knowledge/infra/proxy.md\n\
         [L0] pool: ask before resizing → knowledge/pool.md\n[L0] lost: lost → knowledge/lost.md\n",
    );
    put(root, "data/memory_changelog.jsonl", "{\"event_id\":\"1\"}\n{\"event_id\":\"2\"}\nbroken\n");
    put(root, "config.yaml", "routing:\n  enabled: false\nagent_memory:\n  adapter: hermes\n");
    older_todos(root);
    older_reviews(root);
}

fn older_reviews(root: &Path) {
    let reviews = OlderStore::bare(root.join("data/review_queue.db"));
    reviews.run(
        "CREATE TABLE review_queue (id TEXT PRIMARY KEY, entry_json TEXT, submitted_at TEXT, status TEXT)",
    );
    let entry = |domain: &str, content: &str| {
        json!({ "domain": domain, "section": "Size", "type": "pitfall", "content": content, "confidence": 0.7,
                "tags": ["db"], "source": { "type": "session", "extracted_by": "miner" } })
        .to_string()
    };
    let unsaid = entry("pool", " ");
    for (id, entry, status) in [
        ("r1", entry("pool", "The pool has 20 connections."), "pending"),
        ("r2", entry("proxy", "A proxy without a timeout hangs."), "pending"),
        ("r3", unsaid, "pending"),
        ("r4", "{broken".to_owned(), "pending"),
        ("r5", entry("proxy", "Said and done."), "approved"),
    ] {
        let at = "2026-01-07T09:00:00Z";
        reviews.put_texts(
            "review_queue",
            &[("id", id), ("entry_json", &entry), ("submitted_at", at), ("status", status)],
        );
    }
    reviews.close();
}

fn older_todos(root: &Path) {
    let todos = OlderStore::bare(root.join("data/todos.db"));
    todos.run(
        "CREATE TABLE todos (id TEXT PRIMARY KEY, domain TEXT NOT NULL, title TEXT DEFAULT '', content TEXT NOT NULL,
             blocked_by TEXT DEFAULT '[]', priority TEXT DEFAULT 'medium', status TEXT DEFAULT 'pending',
             source_session_id TEXT, notes TEXT, created_at TEXT, updated_at TEXT, completed_at TEXT, cancelled_at TEXT)",
    );
    todos.put_texts(
        "todos",
        &[
            ("id", "gov-0123456789abcdef"),
            ("domain", "infra"),
            ("content", "Renew the certificate"),
            ("status", "completed"),
            ("created_at", "2026-01-05T09:00:00Z"),
            ("updated_at", "2026-02-01T10:00:00Z"),
            ("completed_at", "2026-02-01T10:00:00Z"),
        ],
    );
    todos.put_texts(
        "todos",
        &[
            ("id", "todo-older"),
            ("domain", "infra"),
            ("content", "Move the proxy"),
            ("priority", "high"),
            ("blocked_by", "[\"gov-0123456789abcdef\", \"nowhere\"]"),
            ("created_at", "2026-01-06T09:00:00Z"),
            ("updated_at", "2026-01-06T09:00:00Z"),
        ],
    );
    todos.put_texts("todos", &[("id", "empty"), ("domain", "infra"), ("content", " ")]);
    todos.close();
}

fn all_todos(s: &Session) -> Vec<Value> {
    s.ok("list_todos", json!({}))["todos"].as_array().expect("todos").clone()
}

#[test]
fn a_layered_memory_home_comes_in_whole_and_only_once() {
    let mut s = owner(5);
    let root = s.home.path().join("work/older");
    older_home(&root);
    let before = bytes(&root);
    let look = s.ok("import_layered_memory", json!({ "path": root, "dry_run": true }));
    let come = s.ok("import_layered_memory", json!({ "path": root }));
    for key in ["files", "index", "todos", "reviews", "not_taken_over", "config_lines"] {
        assert_eq!(look[key], come[key], "a dry run foretells `{key}`");
    }
    assert_eq!(come["namespaces"], json!(["claude", "shared"]), "what is no namespace's is shared");
    assert_eq!((&come["files"]["added"], &come["files"]["left_out"]), (&json!(4), &json!(0)), "{come}");
    assert_eq!(knowledge(&s, "infra/proxy.md"), PROXY);
    assert!(knowledge(&s, "pool.md").starts_with("---\nid: e1\n"), "what stands before a text stays");
    assert_eq!(s.fails("get_knowledge_file", json!({ "filename": "private.md" })), ErrorKind::NotFound);
    let history = s.ok("get_knowledge_history", json!({ "filename": "mail.md" }));
    assert!(history.to_string().contains("import"), "{history}");

    let again = s.ok("import_layered_memory", json!({ "path": root }));
    let files = &again["files"];
    assert_eq!(
        (&files["added"], &files["known"], &files["left_out"]),
        (&json!(0), &json!(4), &json!(0)),
        "{again}"
    );
    assert_eq!((&again["index"]["added"], &again["index"]["known"]), (&json!(0), &json!(1)), "{again}");
    assert_eq!(bytes(&root), before, "the older home stays as it was");
    s.scope = Scope { namespace: "claude".into(), ..Scope::user() };
    assert!(knowledge(&s, "private.md").contains("Short answers."));
    assert!(knowledge(&s, "mail.md").contains("relay"), "the shared ones are seen as well");
}

#[test]
fn todos_come_in_with_their_dates_and_states() {
    let s = owner(6);
    let root = s.home.path().join("work/older");
    older_home(&root);
    let come = s.ok("import_layered_memory", json!({ "path": root }));
    let report = &come["todos"];
    assert_eq!((&report["added"], &report["left_out"]), (&json!(2), &json!(1)), "{report}");
    assert!(report["problems"][0].as_str().is_some_and(|row| row.contains("empty")), "{report}");
    assert!(report["adjustments"].to_string().contains("nowhere"), "{report}");
    let todos = all_todos(&s);
    let done = todos.iter().find(|todo| todo["id"] == "gov-0123456789abcdef").expect("under its own id");
    assert_eq!(done["status"], "completed");
    assert!(done["completed_at"].as_str().is_some_and(|at| at.starts_with("2026-02-01T10:00")), "{done}");
    let open = todos.iter().find(|todo| todo["content"] == "Move the proxy").expect("the other");
    assert_eq!(open["blocked_by"], json!(["gov-0123456789abcdef"]));
    assert_eq!(open["priority"], "high");
    assert!(open["notes"].as_str().is_some_and(|notes| notes.contains("todo-older")), "{open}");

    s.ok("update_todo", json!({ "todo_id": open["id"], "status": "completed" }));
    let again = s.ok("import_layered_memory", json!({ "path": root }));
    assert_eq!((&again["todos"]["added"], &again["todos"]["known"]), (&json!(0), &json!(2)), "{again}");
    assert_eq!(all_todos(&s).len(), 2);
    assert!(all_todos(&s).iter().all(|todo| todo["status"] == "completed"), "what was done here holds");
}

#[test]
fn reviews_that_wait_there_wait_here_until_a_person_decides() {
    let s = owner(9);
    let root = s.home.path().join("work/older");
    older_home(&root);
    let look = s.ok("import_layered_memory", json!({ "path": root, "dry_run": true }));
    assert_eq!((&look["reviews"]["added"], &look["reviews"]["rejected"]), (&json!(2), &json!(2)), "{look}");
    assert_eq!(s.ok("get_pending_reviews", json!({}))["pending_count"], 0, "a look asks nobody");
    let come = s.ok("import_layered_memory", json!({ "path": root }));
    assert_eq!(look["reviews"], come["reviews"]);
    assert!(s.text("import_layered_memory", json!({ "path": root })).contains("review_queue #r4"));

    let waiting = s.ok("get_pending_reviews", json!({}));
    assert_eq!(waiting["pending_count"], 2, "{waiting}");
    let item = |domain: &str| {
        let items = waiting["items"].as_array().expect("items");
        items.iter().find(|item| item["domain"] == domain).expect(domain).clone()
    };
    let (pool, proxy) = (item("pool"), item("proxy"));
    assert_eq!((&pool["section"], &pool["type"]), (&json!("Size"), &json!("pitfall")), "{pool}");
    assert!(pool["submitted_at"].as_str().is_some_and(|at| at.starts_with("2026-01-07T09:00")), "{pool}");
    let shown = s.ok("review_show", json!({ "id": pool["id"] }));
    assert_eq!(shown["proposer"], "tool:miner");
    assert!(shown["reason"].as_str().is_some_and(|why| why.contains("pool.md")), "{shown}");
    assert!(!s.text("recall", json!({ "query": "proxy timeout hangs" })).contains("without a timeout"));

    s.ok("approve_knowledge", json!({ "entry_id": proxy["id"] }));
    s.ok("reject_knowledge", json!({ "entry_id": pool["id"] }));
    assert!(s.text("recall", json!({ "query": "proxy timeout hangs" })).contains("without a timeout"));
    let again = s.ok("import_layered_memory", json!({ "path": root }));
    assert_eq!((&again["reviews"]["added"], &again["reviews"]["known"]), (&json!(0), &json!(2)), "{again}");
    assert_eq!(s.ok("get_pending_reviews", json!({}))["pending_count"], 0, "what was decided stays decided");
    s.ok("purge", json!({ "id": proxy["target"] }));
    let purged = s.ok("import_layered_memory", json!({ "path": root }));
    assert_eq!(purged["reviews"]["purged"], 1, "{purged}");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn what_cannot_be_taken_over_is_told() {
    let s = owner(7);
    let root = s.home.path().join("work/older");
    older_home(&root);
    let come = s.ok("import_layered_memory", json!({ "path": root }));
    let losses: BTreeMap<&str, u64> = come["not_taken_over"]
        .as_array()
        .expect("losses")
        .iter()
        .map(|loss| (loss["what"].as_str().expect("a name"), loss["count"].as_u64().expect("a count")))
        .collect();
    assert_eq!(losses, BTreeMap::from([("lines of the changelog", 3), ("reviews", 1)]));
    assert_eq!(come["config_lines"], json!(["routing.enabled = false"]));
    assert_eq!(come["config_without_twin"], json!(["agent_memory.adapter"]));
    let index = &come["index"];
    assert_eq!((&index["added"], &index["derived"]), (&json!(1), &json!(1)), "{index}");
    assert_eq!(index["left_out"][0]["file"], "lost.md");
    let shown = s.text("get_l0_index", json!({}));
    assert!(shown.contains("ask before resizing"), "{shown}");
    let text = s.text("import_layered_memory", json!({ "path": root }));
    assert!(text.contains("routing.enabled = false") && text.contains("lines of the changelog"), "{text}");
}

#[test]
fn a_home_without_namespaces_is_shared_with_its_folders() {
    let s = owner(8);
    let root = s.home.path().join("work/older");
    put(&root, "knowledge/infra/proxy.md", PROXY);
    put(&root, "knowledge/pool.md", "## Pool\n\n20 connections\n");
    let come = s.ok("import_layered_memory", json!({ "path": root }));
    assert_eq!((&come["files"]["added"], &come["namespaces"]), (&json!(2), &json!([])), "{come}");
    assert_eq!(knowledge(&s, "infra/proxy.md"), PROXY);
    let named = s.ok("import_layered_memory", json!({ "path": root, "namespaces": ["infra"] }));
    assert_eq!((&named["files"]["added"], &named["files"]["known"]), (&json!(1), &json!(1)), "{named}");
    let unknown = json!({ "path": root, "namespaces": ["nobody"] });
    assert_eq!(s.fails("import_layered_memory", unknown), ErrorKind::Invalid);
    assert_eq!(s.fails("import_layered_memory", json!({})), ErrorKind::Invalid);
    let no_home = json!({ "path": root.join("knowledge") });
    assert_eq!(s.fails("import_layered_memory", no_home), ErrorKind::Invalid);
}

#[test]
fn a_dry_run_into_a_home_that_was_never_used_foretells_it_all() {
    let mut s = home(10);
    s.set_kind(PrincipalKind::Human);
    let root = s.home.path().join("work/older");
    older_home(&root);
    #[cfg(unix)]
    std::os::unix::fs::symlink(root.join("config.yaml"), root.join("knowledge/link.md")).expect("a link");
    let look = s.ok("import_layered_memory", json!({ "path": root, "dry_run": true }));
    assert_eq!(look["reviews"]["added"], 2, "{look}");
    let come = s.ok("import_layered_memory", json!({ "path": root }));
    for key in ["namespaces", "files", "todos", "reviews"] {
        assert_eq!(look[key], come[key], "a dry run foretells `{key}`");
    }
    assert_eq!(come["namespaces"], json!(["claude", "shared"]), "a link to a file is no namespace");
    let text = s.text("import_layered_memory", json!({ "path": root }));
    assert!(text.contains("namespaces: claude, shared"), "{text}");
}

#[test]
fn todos_that_wait_for_each_other_come_in_without_the_circle() {
    let s = owner(11);
    let root = s.home.path().join("work/older");
    older_home(&root);
    let todos = OlderStore::bare(root.join("data/todos.db"));
    for (id, waits_for) in [("t1", "[\"t3\"]"), ("t2", "[\"t1\"]"), ("t3", "[\"t2\"]")] {
        let row = [("id", id), ("domain", "ring"), ("content", id), ("blocked_by", waits_for)];
        todos.put_texts("todos", &row);
    }
    todos.close();
    let come = s.ok("import_layered_memory", json!({ "path": root }));
    assert!(come["todos"]["adjustments"].to_string().contains("waits for it already"), "{come}");
    let ring = s.ok("list_todos", json!({ "domain": "ring" }))["todos"].as_array().expect("todos").clone();
    let waiting = ring.iter().filter(|todo| todo["blocked_by"] != json!([])).count();
    assert_eq!((ring.len(), waiting), (3, 2), "{ring:?}");
}
