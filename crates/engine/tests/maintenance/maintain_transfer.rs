//! Out of a home and into another: nothing is lost, nothing comes twice, nobody gets in what they may not write.

use crate::maintain_support::{Session, acting, become_owner, home, support::ids, tell};
use proptest::prelude::*;
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind, scope::Scope};
use strata_store::sql::Control;
use strata_testkit::store::TestStore;

/// A home with something of everything.
fn furnished(seed: u64) -> Session {
    let mut s = home(seed);
    s.set_kind(PrincipalKind::System);
    for layer in ["P0", "P1", "P2", "P3", "P4", "P5", "P6"] {
        s.ok(
            "remember",
            json!({ "text": format!("what stands in {layer} at first"), "layer": layer, "kind": "note" }),
        );
    }
    let full = json!({
        "text": "The deploy key rotates every 90 days.\n\nSecond paragraph: “quoted”, 設備, \u{1f980}.", "kind": "fact",
        "title": "Key rotation", "tags": ["deploy", "鍵"], "topic_key": "deploy/key", "importance": 0.7,
        "evidence": ["src/deploy.rs:12", "https://example.org/a?b=c#d"], "source": "runbook",
    });
    let first = s.ok("remember", full)["id"].as_str().expect("an id").to_owned();
    s.ok("update", json!({ "id": first, "text": "The deploy key rotates every 60 days." }));
    s.scope = Scope::project("atlas");
    let forgotten = s.remember("atlas builds on Tuesdays");
    s.ok("forget", json!({ "id": forgotten, "reason": "it never did" }));
    s.ok("restore", json!({ "id": forgotten }));
    s.ok("forget", json!({ "id": s.remember("atlas uses port 5433"), "reason": "wrong" }));
    s.scope = Scope::user();
    s.set_kind(PrincipalKind::Agent);
    let key = s
        .ok("add_todo", json!({ "content": "轮换部署密钥", "domain": "infra", "notes": "两个人在场" }))["id"]
        .clone();
    let waits = json!({ "content": "tell the harbour", "blocked_by": [key], "priority": "waiting", "source_session_id": "talk" });
    let waits = s.ok("add_todo", waits)["id"].clone();
    s.ok("update_todo", json!({ "todo_id": key, "status": "completed", "title": "Rotate the key" }));
    s.ok("update_todo", json!({ "todo_id": waits, "status": "cancelled" }));
    s.ok("delete_todo", json!({ "todo_id": waits }));
    s.ok(
        "reflect",
        json!({ "text": "always review migrations twice", "layer": "P0", "reason": "two incidents" }),
    );
    for n in 0..5 {
        tell(&s, "talk", &format!("turn {n}: the harbour lights were counted"));
    }
    assert_eq!(s.ok("consolidate", json!({}))["digests"], 1);
    s
}

fn export(s: &Session, name: &str) -> Result<String, ErrorKind> {
    let path = s.home.path().join(name);
    match s.reply("export", json!({ "path": path.to_string_lossy() })) {
        Ok(_) => Ok(std::fs::read_to_string(path).expect("written")),
        Err(e) => Err(e.kind()),
    }
}

fn put(s: &Session, text: &str) -> String {
    let path = s.home.path().join("given.jsonl");
    strata_store::files::write_atomic(&path, text.as_bytes()).expect("written");
    path.to_string_lossy().into_owned()
}

fn load(s: &Session, text: &str) -> Value {
    s.ok("load", json!({ "path": put(s, text) }))
}

#[test]
fn export_load_export_is_byte_equal() {
    let mut s = furnished(7);
    // Snapshots of earlier times, and one that a purge takes something out of.
    s.ok("snapshot_create", json!({ "version_id": "v1", "label": "第一" }));
    s.remember("what came after the first snapshot");
    s.ok("snapshot_create", json!({ "version_id": "v2" }));
    s.ok("snapshot_create", json!({ "version_id": "v3" }));
    // A gap in the numbers, and a tombstone that says why.
    become_owner(&mut s);
    let gone = acting(&mut s, PrincipalKind::Agent, |s| s.remember("to be purged without a trace"));
    s.ok("snapshot_create", json!({ "version_id": "v4" }));
    s.ok("purge", json!({ "id": gone }));
    acting(&mut s, PrincipalKind::Agent, |s| s.remember("the one behind the gap"));
    let first = export(&s, "a.jsonl").expect("exported");
    assert_eq!(export(&s, "b.jsonl").expect("exported"), first, "an export does not change what is exported");
    assert!(first.starts_with(
        "{\"type\":\"strata_export\",\"version\":1,\"project\":null,\"namespace\":null,\"lines\":"
    ));

    let fresh = home(99).of_kind(PrincipalKind::System);
    let epoch = |s: &Session| {
        s.engine.existing_ledger().expect("made").read(&Control::default(), |r| r.epoch()).expect("read")
    };
    let reply = load(&fresh, &first);
    assert_eq!(
        (reply["was_empty"].as_bool(), reply["purged"].as_u64(), reply["known"].as_u64()),
        (Some(true), Some(1), Some(0))
    );
    assert_eq!((reply["renumbered"].as_u64(), reply["set_aside"].as_u64()), (Some(0), Some(0)));
    assert_eq!(export(&fresh, "c.jsonl").expect("exported"), first);
    assert_ne!(epoch(&fresh), epoch(&s));

    let again = load(&fresh, &first);
    assert_eq!(
        (again["memories"].as_u64(), again["episodes"].as_u64(), again["reviews"].as_u64()),
        (Some(0), Some(0), Some(0))
    );
    assert_eq!(again["was_empty"], false);
    assert_eq!(export(&fresh, "c.jsonl").expect("exported"), first, "nothing comes twice");

    // A second move keeps what the first home had on record.
    let third = home(5).of_kind(PrincipalKind::System);
    load(&third, &first);
    assert_eq!(export(&third, "d.jsonl").expect("exported"), first);
    assert_eq!(third.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn what_was_loaded_is_found_and_has_its_history() {
    let s = furnished(7);
    let text = acting_export(&s);
    let fresh = home(99).of_kind(PrincipalKind::System);
    load(&fresh, &text);
    let mut there = s;
    there.set_kind(PrincipalKind::System);
    for query in [
        "how often does the deploy key rotate",
        "harbour lights",
        "設備",
        "what stands in P5",
        "review migrations",
    ] {
        let asked = json!({ "query": query });
        assert_eq!(ids(&fresh.ok("recall", asked.clone())), ids(&there.ok("recall", asked)), "{query}");
    }
    let id = fresh.recall("deploy key rotates")[0].clone();
    let view = fresh.ok("inspect", json!({ "id": id }));
    assert_eq!(view["history"].as_array().map(Vec::len), Some(2), "both versions came along");
    let line = view["audit"][0]["reason"].as_str().expect("a reason");
    assert!(line.contains(" by system:test"), "{line}");
}

fn acting_export(s: &Session) -> String {
    let system = Session {
        engine: s.reopened(),
        principal: strata_core::principal::Principal::new(PrincipalKind::System, "test"),
        scope: Scope::user(),
        secret: None,
        home: strata_testkit::home::TestHome::new().existing(),
    };
    let path = system.home.path().join("x.jsonl");
    system.ok("export", json!({ "path": path.to_string_lossy() }));
    std::fs::read_to_string(path).expect("written")
}

#[test]
fn rules_come_in_only_by_approval_and_all_or_nothing() {
    let text = acting_export(&furnished(7));
    let mut fresh = home(99);
    let path = put(&fresh, &text);
    assert_eq!(fresh.fails("load", json!({ "path": path })), ErrorKind::Refused);
    fresh.set_kind(PrincipalKind::Human);
    assert_eq!(fresh.fails("load", json!({ "path": path })), ErrorKind::ApprovalRequired);
    let status = fresh.ok("status", json!({}));
    assert_eq!(
        (status["holds"]["memories"].as_i64(), status["holds"]["episodes"].as_i64()),
        (Some(0), Some(0))
    );
    assert!(status["holds"]["audit"].as_i64() >= Some(2), "both refusals are on record");
    become_owner(&mut fresh);
    fresh.ok("load", json!({ "path": path }));
    assert_eq!(
        export(&fresh, "out.jsonl").expect("exported"),
        text,
        "also when the home had a passphrase first"
    );
    let report = fresh.ok("doctor", json!({}));
    assert_eq!(report["healthy"], true, "{report}");
}

#[test]
fn what_holds_in_a_home_goes_on_holding() {
    let other = home(7);
    for (text, topic) in
        [("the port is 5432", Some("port")), ("lunch is at noon", None), ("only the other knows this", None)]
    {
        other.ok("remember", json!({ "text": text, "topic_key": topic }));
    }
    let text = export(&other, "a.jsonl").expect("exported");
    let here = home(1234);
    let port = here.ok("remember", json!({ "text": "the port is 6543", "topic_key": "port" }))["id"].clone();
    let lunch = here.remember("lunch is at noon");
    let reply = load(&here, &text);
    assert_eq!(reply["memories"], 3, "{reply}");
    assert_eq!(
        (reply["set_aside"].as_u64(), reply["renumbered"].as_u64()),
        (Some(2), Some(2)),
        "a number that is free is kept: {reply}"
    );
    assert_eq!(json!(here.recall("which port")[0]), port);
    assert_eq!(here.recall("when is lunch"), [lunch]);
    assert_eq!(here.recall("only the other knows this").len(), 1);
    let report = here.ok("doctor", json!({}));
    assert_eq!(report["healthy"], true, "{report}");
    let again = load(&here, &text);
    assert_eq!((again["memories"].as_u64(), again["known"].as_u64()), (Some(0), Some(3)));
}

#[test]
fn what_was_purged_here_stays_out() {
    let mut s = home(7);
    become_owner(&mut s);
    let id = acting(&mut s, PrincipalKind::Agent, |s| s.remember("never to be seen again, quoth the raven"));
    let text = export(&s, "a.jsonl").expect("exported");
    std::fs::remove_file(s.home.path().join("a.jsonl")).expect("removed");
    s.ok("purge", json!({ "id": id }));
    let reply = load(&s, &text);
    assert_eq!((reply["memories"].as_u64(), reply["refused_purged"].as_u64()), (Some(0), Some(1)));
    assert!(s.recall("quoth the raven").is_empty());
}

#[test]
fn an_agent_loads_in_its_own_name_and_scope_only() {
    let mut other = home(7);
    other.ok("remember", json!({ "text": "the tide turns at noon" }));
    other.ok("reflect", json!({ "text": "ask before merging", "layer": "P0", "reason": "r" }));
    other.set_kind(PrincipalKind::System);
    let text = export(&other, "a.jsonl").expect("exported").replace("agent:test", "human:ana");
    let text = text.replace("\"status\":\"pending\"", "\"status\":\"approved\"");
    let fresh = home(99);
    let reply = load(&fresh, &text);
    assert_eq!((reply["memories"].as_u64(), reply["reviews"].as_u64()), (Some(2), Some(1)), "{reply}");
    let id = fresh.recall("when does the tide turn")[0].clone();
    assert_eq!(fresh.ok("inspect", json!({ "id": id }))["writer"], "agent:test");
    assert_eq!(fresh.ok("status", json!({}))["holds"]["pending_reviews"], 1);
    assert!(fresh.recall("ask before merging").is_empty(), "a candidate is in no search");

    let foreign = text.replace("\"project\":null,\"branch\"", "\"project\":\"atlas\",\"branch\"");
    let fresh = home(99);
    assert_eq!(fresh.fails("load", json!({ "path": put(&fresh, &foreign) })), ErrorKind::Invalid);
    assert_eq!(fresh.ok("status", json!({}))["holds"]["memories"], 0);
}

#[test]
fn damaged_files_are_refused_whole() {
    let text = acting_export(&furnished(7));
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines[..lines.len() - 1].join("\n");
    let half = &text[..text.len() - 30];
    let newer = text.replacen("\"version\":1", "\"version\":2", 1);
    let unknown = text.replacen("\"status\":\"active\"", "\"status\":\"asleep\"", 1);
    let sure = text.replacen("\"confidence\":", "\"confidence\":7", 1);
    let nobody = text.replacen("\"id\":\"mem_", "\"id\":\"../", 1);
    for (what, wrong) in [
        ("cut", cut.as_str()),
        ("half", half),
        ("newer", newer.as_str()),
        ("unknown word", unknown.as_str()),
        ("number", sure.as_str()),
        ("id", nobody.as_str()),
        ("other", "{\"id\":1,\"text\":\"hello\"}\n"),
        ("empty", ""),
        ("not text", "\u{0}\u{1}"),
    ] {
        let fresh = home(99).of_kind(PrincipalKind::System);
        assert_eq!(fresh.fails("load", json!({ "path": put(&fresh, wrong) })), ErrorKind::Invalid, "{what}");
        let status = fresh.ok("status", json!({}));
        assert!(matches!(status["holds"]["memories"].as_i64(), None | Some(0)), "{what}: {status}");
    }
}

#[test]
fn secrets_in_a_file_are_blacked_out_on_the_way_in() {
    let other = home(7);
    other.remember("the weather was fine");
    let text = export(&other, "a.jsonl").expect("exported");
    let key = format!("AKIA{}", "IOSFODNN7ZQXWVTA");
    let planted = text.replacen("the weather was fine", &format!("the key is {key}"), 1);
    let fresh = home(99);
    let reply = load(&fresh, &planted);
    assert!(!reply["redacted"].as_array().expect("named").is_empty());
    std::fs::remove_file(fresh.home.path().join("given.jsonl")).expect("removed");
    assert!(crate::maintain_support::holding(fresh.home.path(), &key).is_empty());
}

#[test]
fn no_field_of_a_file_comes_in_past_the_gate() {
    let other = furnished(7);
    let text = export(&other, "a.jsonl").expect("exported");
    let key = format!("AKIA{}", "IOSFODNN7ZQXWVTA");
    let fields = ["source", "writer", "proposer"];
    let planted = text.lines().enumerate().map(|(n, line)| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        for field in fields.iter().filter(|_| n > 0) {
            if let Some(value) = line.get_mut(*field) {
                *value = json!(format!("token {key}"));
            }
        }
        format!("{line}\n")
    });
    let mut fresh = home(99);
    become_owner(&mut fresh);
    load(&fresh, &planted.collect::<String>());
    std::fs::remove_file(fresh.home.path().join("given.jsonl")).expect("removed");
    assert!(crate::maintain_support::holding(fresh.home.path(), &key).is_empty());
}

#[test]
fn the_name_of_an_import_goes_through_the_gate() {
    let s = home(7);
    let path = put(&s, "{\"text\": \"the gulls were loud\"}\n");
    let key = format!("AKIA{}", "IOSFODNN7ZQXWVTA");
    let reply = s.ok("import", json!({ "path": path, "source": format!("notes {key}") }));
    assert!(!reply["redacted"].as_array().expect("named").is_empty(), "{reply}");
    assert!(crate::maintain_support::holding(s.home.path(), &key).is_empty());
}

#[test]
fn filters_and_sight_limit_an_export() {
    let s = furnished(7);
    let path = s.home.path().join("part.jsonl").to_string_lossy().into_owned();
    let reply = s.reply("export", json!({ "path": path, "project": "atlas" })).expect("exported").json;
    assert_eq!(reply["memories"], 0, "an agent at the user level does not see the project: {reply}");
    let mut s = s;
    s.set_kind(PrincipalKind::System);
    let reply = s.ok("export", json!({ "path": path, "project": "atlas" }));
    assert_eq!((reply["memories"].as_u64(), reply["episodes"].as_u64()), (Some(2), Some(0)));
    assert_eq!(s.ok("export", json!({ "path": path, "namespace": "nobody" }))["memories"], 0);
    assert_eq!(s.ok("export", json!({ "path": path, "namespace": "shared" }))["episodes"], 5);
}

#[test]
fn an_export_overwrites_nothing_else_and_goes_nowhere_else() {
    let mut s = furnished(7);
    for name in ["ledger.db", "config.toml"] {
        let path = s.home.path().join(name);
        if name == "config.toml" {
            strata_store::files::write_atomic(&path, b"timezone = \"UTC\"\n").expect("written");
        }
        let before = std::fs::read(&path).expect("read");
        assert_eq!(s.fails("export", json!({ "path": path.to_string_lossy() })), ErrorKind::Invalid);
        assert_eq!(std::fs::read(&path).expect("read"), before);
    }
    let elsewhere = tempfile::tempdir().expect("a directory");
    let outside = elsewhere.path().join("stolen.jsonl").to_string_lossy().into_owned();
    assert_eq!(s.fails("export", json!({ "path": outside })), ErrorKind::Refused);
    for wrong in ["", "-", " "] {
        assert_eq!(s.fails("export", json!({ "path": wrong })), ErrorKind::Invalid, "{wrong:?}");
    }
    assert_eq!(std::fs::read_dir(elsewhere.path()).expect("listed").count(), 0);
    s.set_kind(PrincipalKind::Human);
    s.ok("export", json!({ "path": outside }));
}

#[test]
fn an_export_of_nothing_creates_nothing() {
    let s = home(7);
    assert_eq!(
        s.fails("export", json!({ "path": s.home.path().join("x").to_string_lossy() })),
        ErrorKind::NotInitialized
    );
    assert_eq!(std::fs::read_dir(s.home.path()).expect("listed").count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(TestStore::times(12, 4)))]
    #[test]
    fn any_text_comes_back(texts in prop::collection::vec("\\PC{1,60}|[ -~\\n\\t]{1,80}", 1..6), confidence in 0.0_f64..=1.0) {
        let s = home(7);
        for text in &texts {
            // Some texts are refused (blank ones); what was stored is what must come back.
            drop(s.reply("remember", json!({ "text": text, "confidence": confidence, "title": text })));
        }
        if let Ok(first) = export(&s, "a.jsonl") {
            let fresh = home(99);
            load(&fresh, &first);
            prop_assert_eq!(export(&fresh, "b.jsonl").expect("exported"), first);
        }
    }
}

#[test]
fn a_snapshot_moves_with_a_whole_home_and_into_an_empty_one_only() {
    let mut s = home(7);
    let kept = s.remember("the lock was oiled");
    s.ok("snapshot_create", json!({ "version_id": "v1" }));
    s.ok("update", json!({ "id": kept, "text": "the lock was replaced" }));
    s.remember("the hinge squeaks");
    assert!(
        !export(&s, "own.jsonl").expect("exported").contains("\"snapshot\""),
        "an agent's part is a part"
    );
    s.set_kind(PrincipalKind::Human);
    let text = export(&s, "a.jsonl").expect("exported");
    let fresh = home(99).of_kind(PrincipalKind::System);
    assert_eq!(load(&fresh, &text)["snapshots"], 1);
    let back = fresh.ok("snapshot_rollback", json!({ "version_id": "v1" }));
    assert_eq!((back["superseded"].as_u64(), back["restored"].as_u64()), (Some(2), Some(1)));
    assert_eq!(fresh.recall("lock"), std::slice::from_ref(&kept));
    assert_eq!(fresh.ok("doctor", json!({}))["healthy"], true);

    let used = home(5).of_kind(PrincipalKind::System);
    used.remember("something else stands here");
    let reply = load(&used, &text);
    assert_eq!((reply["snapshots"].as_u64(), reply["snapshots_left_out"].as_u64()), (Some(0), Some(1)));
    assert!(used.ok("snapshot_list", json!({}))["snapshots"].as_array().expect("a list").is_empty());
    let part = s.home.path().join("part.jsonl").display().to_string();
    assert_eq!(s.ok("export", json!({ "path": part, "namespace": "shared" }))["snapshots"], 0);
}
