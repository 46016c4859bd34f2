//! drewgent databases on their way in, once and as long as they are written; rules and incidents as Markdown.

#![allow(clippy::panic, reason = "a session that cannot go on fails its test")]

use std::{
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use crate::maintain_support::{Session, become_owner, home};
use serde_json::{Value, json};
use strata_core::{
    cancel::Cancel,
    error::ErrorKind,
    principal::{Face, PrincipalKind},
    time::Timestamp,
};
use strata_engine::{operation::Call, registry::OPERATIONS};
use strata_store::{
    files::write_atomic,
    ledger::{EpisodeFilter, EpisodeRow, MemoryFilter, MemoryRow},
    sql::Control,
};
use strata_testkit::{older::OlderStore, store::TestStore};

fn filled(s: &Session) -> OlderStore {
    OlderStore::drewgent_in_use(s.home.path().join("work/knowledge.db"))
}

fn import(s: &Session, store: &OlderStore) -> Value {
    s.ok("import_drewgent", json!({ "path": store.path() }))
}

fn memories(s: &Session) -> Vec<MemoryRow> {
    let all = MemoryFilter { limit: 10_000, ..MemoryFilter::default() };
    let ledger = s.engine.existing_ledger().expect("a home");
    ledger.read(&Control::default(), |r| r.memories(&all)).expect("read")
}

fn episodes(s: &Session) -> Vec<EpisodeRow> {
    let all = EpisodeFilter { limit: 10_000, ..EpisodeFilter::default() };
    let ledger = s.engine.existing_ledger().expect("a home");
    ledger.read(&Control::default(), |r| r.episodes(&all)).expect("read")
}

#[test]
fn p_layer_c62_a_drewgent_database_comes_in_with_its_dates_and_only_once() {
    let s = home(21);
    let store = filled(&s);
    let first = import(&s, &store);
    for key in [
        "knowledge_imported",
        "entities_imported",
        "relations_imported",
        "relations_skipped",
        "sessions_imported",
        "reembedded",
    ] {
        assert!(first[key].is_u64(), "{key}: {first:#}");
    }
    assert_eq!(
        (&first["knowledge_imported"], &first["sessions_imported"]),
        (&json!(3), &json!(2)),
        "{first:#}"
    );
    assert_eq!(first["reembedded"], 3);
    let graph = |reply: &Value| {
        ["entities_imported", "relations_imported", "relations_skipped"].map(|key| reply[key].as_u64())
    };
    assert_eq!(
        graph(&first),
        [Some(2), Some(1), Some(1)],
        "a label is one entity, a link has no end: {first:#}"
    );
    let problems = first["problems"].to_string();
    assert!(problems.contains("knowledge #3") && problems.contains("relations #3"), "{first:#}");
    assert!(first["adjustments"].to_string().contains("entities #2"), "bad JSON is said: {first:#}");
    let second = import(&s, &store);
    assert_eq!((&second["knowledge_imported"], &second["sessions_imported"]), (&json!(0), &json!(0)));
    assert_eq!(graph(&second), [Some(0), Some(0), Some(1)], "{second:#}");
    let held = s.ok("relation_list", json!({}));
    let relations = held["relations"].as_array().map_or(0, Vec::len);
    assert_eq!(relations, 1, "{held:#}");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
    let all = memories(&s);
    assert_eq!(all.len(), 3);
    let of = |text: &str| all.iter().find(|m| m.body.contains(text)).expect("it came in");
    assert_eq!(of("화요일").created_at.to_rfc3339(), "2025-11-02T10:00:00Z");
    assert_eq!((of("磁盘").kind.as_str(), of("磁盘").state.layer.as_str()), ("fact", "P5"));
    let sessions = episodes(&s);
    assert_eq!(sessions[0].at.to_rfc3339(), "2025-11-01T09:00:00Z");
    let payload: Value = serde_json::from_str(&sessions[0].text).expect("JSON");
    assert_eq!(payload, json!({ "title": "배포 회의", "message_count": 12 }));
}

#[test]
fn a_graph_comes_in_by_label_with_its_memories_and_within_the_constraints() {
    let s = home(28);
    s.ok(
        "entity_add",
        json!({ "label": "NGINX", "kind": "script", "properties": { "port": "8080" }, "scope": "user" }),
    );
    let store = filled(&s);
    for (id, label, kind, knowledge) in [
        ("10", "503 storm", "incident", "4"),
        ("11", "backoff", "pattern", "4"),
        ("12", "", "tool", "1"),
        ("13", "lost", "tool", "99"),
    ] {
        let row = [("id", id), ("label", label), ("type", kind), ("knowledge_id", knowledge)];
        store.put_texts("entities", &row);
    }
    for (id, source, target, kind) in [
        ("10", "10", "11", "fixed_by"),
        ("11", "10", "1", "fixed_by"),
        ("12", "11", "12", "led_to"),
        ("13", "10", "11", "befriends"),
    ] {
        let row = [("id", id), ("source_id", source), ("target_id", target), ("type", kind)];
        store.put_texts("relations", &row);
    }
    let first = import(&s, &store);
    assert_eq!(
        (&first["relations_imported"], &first["relations_skipped"]),
        (&json!(2), &json!(4)),
        "{first:#}"
    );
    let problems = first["problems"].to_string();
    for row in ["entities #12", "relations #3", "relations #11", "relations #12", "relations #13"] {
        assert!(problems.contains(row), "{row}: {first:#}");
    }
    assert!(first["adjustments"].to_string().contains("entities #13: knowledge #99"), "{first:#}");
    let entities = s.ok("entity_list", json!({}));
    let of = |label: &str| {
        let all = entities["entities"].as_array().expect("a list");
        all.iter().find(|e| e["label"] == label).unwrap_or_else(|| panic!("{label}: {entities:#}")).clone()
    };
    let ours = of("NGINX");
    assert_eq!(
        (&ours["type"], &ours["properties"]["port"]),
        (&json!("script"), &json!("8080")),
        "ours stays"
    );
    assert_eq!(of("503 storm")["origin"], "stated");
    let seen = s.ok("graph_explore", json!({ "query": "503 storm" })).to_string();
    assert!(seen.contains("retry with backoff"), "{seen}");
    let fixed = s.ok("relation_list", json!({ "entity": "503 storm" }));
    let id = fixed["relations"][0]["id"].clone();
    s.ok("relation_remove", json!({ "id": id, "reason": "it did not help" }));
    let second = import(&s, &store);
    assert_eq!(
        (&second["entities_imported"], &second["relations_imported"]),
        (&json!(0), &json!(0)),
        "what was taken back stays so: {second:#}"
    );
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn tables_that_are_missing_are_no_obstacle() {
    let s = home(22);
    let store = filled(&s);
    store.run("DROP TABLE sessions; DROP TABLE entities; DROP TABLE relations; ALTER TABLE knowledge DROP COLUMN source");
    let reply = import(&s, &store);
    assert_eq!(
        (&reply["knowledge_imported"], &reply["sessions_imported"]),
        (&json!(3), &json!(0)),
        "{reply:#}"
    );
    store.run("DROP TABLE knowledge");
    assert_eq!(s.fails("import_drewgent", json!({ "path": store.path() })), ErrorKind::Invalid);
    let nowhere = s.engine.home().join("nowhere.db");
    assert_eq!(s.fails("import_drewgent", json!({ "path": nowhere })), ErrorKind::Unavailable);
}

/// Follows a file on a thread of its own while `work` writes to it, then withdraws the call.
fn following(s: &Session, path: PathBuf, work: impl FnOnce()) -> Value {
    let cancel = Cancel::default();
    let entry = OPERATIONS.iter().find(|e| e.spec.tool == "import_drewgent").expect("the tool");
    thread::scope(|scope| {
        let flag = cancel.clone();
        let follower = scope.spawn(move || {
            let call = Call {
                principal: &s.principal,
                scope: &s.scope,
                face: Face::Cli,
                deadline: Timestamp::MAX,
                cancel: &flag,
                progress: &|_, _| {},
                secret: None,
            };
            let arguments = json!({ "path": path, "follow": true, "interval": 0.1 });
            (entry.run)(&s.engine, &call, arguments).map(|reply| reply.json)
        });
        work();
        cancel.cancel();
        follower.join().expect("no panic").expect("it ends well")
    })
}

/// Waits until so many memories are in force.
fn until(s: &Session, count: usize) {
    let started = Instant::now();
    while !s.engine.is_initialised().expect("looked at") || memories(s).len() != count {
        assert!(started.elapsed() < Duration::from_secs(60), "{} memories", memories(s).len());
        thread::sleep(Duration::from_millis(20));
    }
}

fn say(store: &OlderStore, text: &str) {
    store.put_texts(
        "knowledge",
        &[("type", "fact"), ("content", text), ("created_at", "2025-12-01T00:00:00Z")],
    );
}

#[test]
fn following_keeps_up_with_a_writer_that_locks_and_replaces_its_file() {
    let s = home(23);
    let store = filled(&s);
    let path = store.path().to_path_buf();
    let reply = following(&s, path.clone(), || {
        until(&s, 3);
        say(&store, "written while followed");
        until(&s, 4);
        store.run("BEGIN EXCLUSIVE");
        say(&store, "written under a lock");
        // Long enough for the next look at the file, which a server keeps waiting longer.
        thread::sleep(Duration::from_millis(TestStore::times(400, 1_500)));
        store.run("COMMIT");
        until(&s, 5);
        let other = OlderStore::drewgent(s.home.path().join("work/new.db"));
        say(&other, "in the file that took its place");
        let other = other.close();
        std::fs::remove_file(&path).expect("gone for a moment");
        thread::sleep(Duration::from_millis(300));
        std::fs::rename(other, &path).expect("replaced");
        until(&s, 6);
    });
    assert_eq!(reply["knowledge_imported"], 6, "{reply:#}");
    assert!(reply["waits"].as_u64().is_some_and(|waits| waits >= 1), "{reply:#}");
    let again = following(&s, path, || thread::sleep(Duration::from_millis(300)));
    assert_eq!(
        (&again["knowledge_imported"], &again["passes"]),
        (&json!(0), &json!(0)),
        "the cursor was kept"
    );
}

#[test]
fn p_layer_c63_rules_and_incidents_come_in_once() {
    let mut s = home(24);
    become_owner(&mut s);
    let rules = s.home.path().join("work/rules.md");
    write_atomic_in(
        &rules,
        "# House\n\n## [P0] Never force-push\npriority: 1\n\nIt rewrites history.\n\n## [P1] 차분하게 답한다\n\n## [P8] beyond\n\n## [P5] Prefer small commits\n",
    );
    let secret = s.secret.take();
    let error = s.reply("import_rules", json!({ "path": rules })).expect_err("no secret");
    assert_eq!(error.kind(), ErrorKind::ApprovalRequired);
    assert!(error.to_string().contains("2 rows"), "{error}");
    assert!(memories(&s).is_empty(), "nothing half done");
    s.secret = secret;
    let first = s.ok("import_rules", json!({ "path": rules }));
    assert_eq!((&first["imported"], &first["rejected"]), (&json!(3), &json!(1)), "{first:#}");
    assert!(first["problems"][0].as_str().is_some_and(|p| p.starts_with("line 10: ")), "{first:#}");
    s.secret = None;
    assert_eq!(s.ok("import_rules", json!({ "path": rules }))["imported"], 0);
    let all = memories(&s);
    let rule = all.iter().find(|m| m.title == "Never force-push").expect("the rule");
    assert_eq!(
        (rule.state.layer.as_str(), rule.body.as_str()),
        ("P0", "Never force-push\n\nIt rewrites history.")
    );

    let folder = s.home.path().join("work/incidents");
    write_atomic_in(&folder.join("1-a.md"), "# 503 after the deploy\n\nThe certificate had expired.\n");
    write_atomic_in(&folder.join("a.md"), "# 디스크가 가득 찼다\n");
    write_atomic_in(&folder.join("notes.txt"), "not an incident");
    let first = s.ok("import_incidents", json!({ "path": folder }));
    assert_eq!(first["imported"], 2, "{first:#}");
    assert_eq!(s.ok("import_incidents", json!({ "path": folder }))["imported"], 0);
    assert_eq!(s.ok("import_incidents", json!({ "path": folder.join("missing") }))["imported"], 0);
    let kept = episodes(&s);
    let metadata: Value = serde_json::from_str(&kept[0].metadata).expect("JSON");
    assert_eq!(
        (&metadata["kind"], &metadata["file"], &metadata["version"]),
        (&json!("incident"), &json!("1-a.md"), &json!("1"))
    );
    assert!(!s.recall("certificate expired 503").is_empty());
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[expect(clippy::disallowed_methods, reason = "a fixture needs no atomic write")]
fn write_atomic_in(path: &std::path::Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, text).expect("a fixture");
}

#[test]
fn a_changed_rule_takes_the_place_of_the_old_one_and_a_forgotten_one_stays_out() {
    let s = home(25).of_kind(PrincipalKind::Human);
    let path = s.home.path().join("rules.md");
    write_atomic(&path, b"## [P5] Prefer small commits\npriority: 50\n\n## [P4] Write tests first\n\n## [P5] Prefer small commits\n").expect("a file");
    let first = s.ok("import_rules", json!({ "path": path }));
    assert_eq!((&first["imported"], &first["rejected"]), (&json!(2), &json!(1)), "said twice: {first:#}");
    let tests = memories(&s).into_iter().find(|m| m.body.contains("tests")).expect("the rule");
    s.ok("forget", json!({ "id": tests.id }));
    write_atomic(&path, b"## [P4] Prefer small commits\npriority: 7\n\n## [P4] Write tests first\n")
        .expect("a file");
    let second = s.ok("import_rules", json!({ "path": path }));
    assert_eq!((&second["imported"], &second["updated"]), (&json!(0), &json!(1)), "{second:#}");
    let all = memories(&s);
    assert_eq!(all.len(), 1);
    let kept = s.ok("rules_list", json!({}));
    assert_eq!((all[0].state.layer.as_str(), &kept["rules"][0]["priority"]), ("P4", &json!(7)), "{kept:#}");
    let third = s.ok("import_rules", json!({ "path": path }));
    assert_eq!((&third["imported"], &third["updated"], &third["known"]), (&json!(0), &json!(0), &json!(2)));
    s.ok("rules_disable", json!({ "id": all[0].id }));
    assert_eq!(s.ok("import_rules", json!({ "path": path }))["updated"], 0, "a file switches nothing on");
    write_atomic(&path, b"## [P4] Prefer small commits\npriority: 8\nscope: git\n").expect("a file");
    assert_eq!(s.ok("import_rules", json!({ "path": path }))["updated"], 1);
    let kept = s.ok("rules_list", json!({ "all": true }));
    let kept = &kept["rules"][0];
    assert_eq!(
        (&kept["priority"], &kept["condition"], &kept["enabled"]),
        (&json!(8), &json!("git"), &json!(false)),
        "{kept:#}"
    );
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_file_of_rules_without_a_rule_says_what_one_looks_like() {
    let s = home(27);
    let path = s.home.path().join("rules.md");
    write_atomic(&path, b"# Rules\n- Deploy on green builds only\n").expect("a file");
    let told = s.text("import_rules", json!({ "path": path }));
    assert!(told.contains("no `##` heading") && told.contains("imported 0"), "{told}");
}

#[test]
fn a_rule_of_p0_from_an_agent_is_refused_whole() {
    let s = home(26);
    let path = s.home.path().join("rules.md");
    write_atomic(&path, b"## Obey the agent\n\n## [P5] Prefer small commits\n").expect("a file");
    assert_eq!(s.fails("import_rules", json!({ "path": path })), ErrorKind::Refused);
    assert!(memories(&s).is_empty());
}

#[test]
fn a_changed_incident_is_a_new_version_and_a_strange_encoding_is_reported() {
    let s = home(27);
    let folder = s.home.path().join("incidents");
    write_atomic_in(&folder.join("a.md"), "disk full\n");
    write_atomic_in(&folder.join("b.md"), b"\xff\xfed\x00i\x00");
    write_atomic_in(&folder.join("c.md"), "");
    let first = s.ok("import_incidents", json!({ "path": folder }));
    assert_eq!((&first["imported"], &first["rejected"]), (&json!(1), &json!(2)), "{first:#}");
    assert!(first["problems"].to_string().contains("`b.md`: it is not UTF-8"), "{first:#}");
    write_atomic_in(&folder.join("a.md"), "disk full, again\n");
    assert_eq!(s.ok("import_incidents", json!({ "path": folder }))["imported"], 1);
    let versions: Vec<Value> = episodes(&s)
        .iter()
        .map(|e| serde_json::from_str::<Value>(&e.metadata).expect("JSON")["version"].clone())
        .collect();
    assert_eq!(versions, ["1", "2"]);
}
