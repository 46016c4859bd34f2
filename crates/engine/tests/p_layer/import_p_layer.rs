//! p-layer databases on their way in: chains, writers, rules, dates, bad rows, and importing again.

#![allow(clippy::panic, reason = "a session that cannot go on fails its test")]

use std::{path::Path, time::Instant};

use crate::maintain_support::{Session, become_owner, home};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind};
use strata_store::{
    ledger::{AuditFilter, MemoryFilter, MemoryRow},
    sql::Control,
};
use strata_testkit::older::{Cell, OlderStore};

const SCHEMAS: [usize; 4] = [1, 2, 3, 4];

/// The cells of a row that ended.
fn replaced(by: i64, reason: &str) -> [(&'static str, Cell); 2] {
    [("superseded_by", Cell::Integer(by)), ("superseded_reason", Cell::Text(reason.into()))]
}

fn person() -> Session {
    home(11).of_kind(PrincipalKind::Human)
}

fn import(s: &Session, path: &Path) -> Value {
    s.ok("import_p_layer", json!({ "path": path }))
}

fn memories(s: &Session) -> Vec<MemoryRow> {
    let all = MemoryFilter {
        statuses: strata_core::memory::Status::ALL.to_vec(),
        limit: 100_000,
        ..MemoryFilter::default()
    };
    let ledger = s.engine.existing_ledger().expect("a home");
    let mut found = ledger.read(&Control::default(), |r| r.memories(&all)).expect("read");
    found.sort_by_key(|m| m.number);
    found
}

fn audit_rows(s: &Session) -> usize {
    let all = AuditFilter { limit: 1_000_000, ..AuditFilter::default() };
    let ledger = s.engine.existing_ledger().expect("a home");
    ledger.read(&Control::default(), |r| r.audit(&all)).expect("read").len()
}

fn is_healthy(s: &Session) {
    let report = s.ok("doctor", json!({}));
    assert_eq!(report["healthy"], true, "{report:#}");
}

fn metadata(m: &MemoryRow) -> Value {
    serde_json::from_str(&m.metadata).expect("JSON")
}

#[test]
fn every_schema_comes_in_whole_and_only_once() {
    for schema in SCHEMAS {
        let s = person();
        let path = OlderStore::p_layer_in_use(s.home.path().join("old/memory.db"), schema).close();
        let first = import(&s, &path);
        let rows = if schema == 1 { 4 } else { 7 };
        assert_eq!((&first["added"], &first["episodes_added"]), (&json!(rows), &json!(1)), "{first:#}");
        assert_eq!((&first["schema_version"], &first["rejected"]), (&json!(schema), &json!(0)), "{first:#}");
        assert!(first["warnings"].is_null(), "{first:#}");
        let job = s.ok("jobs_list", json!({}))["jobs"][0].clone();
        assert!(job["total"].as_i64() > Some(0) && job["done"] == job["total"], "{job}");
        let before = audit_rows(&s);
        let second = import(&s, &path);
        assert_eq!((&second["added"], &second["known"]), (&json!(0), &json!(rows)), "{second:#}");
        assert_eq!((&second["episodes_added"], &second["episodes_known"]), (&json!(0), &json!(1)));
        assert_eq!((memories(&s).len(), audit_rows(&s)), (rows, before), "nothing is written");
        is_healthy(&s);
    }
}

#[test]
fn numbers_dates_writers_layers_and_chains_stay() {
    let s = person();
    let path = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4).close();
    let reply = import(&s, &path);
    let all = memories(&s);
    assert_eq!(all.iter().map(|m| m.number).collect::<Vec<_>>(), (1..=7).collect::<Vec<_>>());
    assert_eq!(all[0].created_at.to_rfc3339(), "2026-01-01T03:04:05Z");
    assert_eq!((all[0].source.as_str(), all[0].session.as_deref()), ("onboarding", Some("s1")));
    let third = &all[2];
    assert_eq!((third.state.layer.as_str(), third.state.confidence), ("P4", 0.7));
    assert_eq!(third.writer, "agent:codex");
    assert_eq!(third.valid_to.expect("an end").to_rfc3339(), "2036-01-01T03:04:05Z");
    assert_eq!(all[5].writer, "human:p-layer");
    assert_eq!(metadata(&all[5])["imported_who"], "manual");
    let chain: Vec<_> = all.iter().map(|m| (m.state.status.as_str(), m.superseded_by.as_deref())).collect();
    assert_eq!(chain[0], ("superseded", Some(all[4].id.as_str())));
    assert_eq!(chain[4], ("superseded", Some(all[5].id.as_str())));
    assert_eq!(all[4].superseded_reason.as_deref(), Some("v4 is out"));
    assert_eq!((chain[5], chain[6]), (("active", None), ("trashed", None)));
    assert_eq!(s.recall("PortOne 결제 이전")[0], all[5].id);
    let history = s.text("inspect", json!({ "id": all[6].id }));
    assert!(history.contains("host was retired"), "{history}");
    assert_eq!((&reply["audit_rows"], &reply["snapshots"]), (&json!(2), &json!(1)));
    let kept = s
        .engine
        .existing_ledger()
        .expect("a home")
        .read(&Control::default(), |r| r.audit(&AuditFilter { limit: 1000, ..AuditFilter::default() }));
    let hash = reply["audit_hash"].as_str().expect("a hash");
    let rows = kept.expect("read");
    let summary = rows.iter().find(|row| row.entry.target == "p-layer").expect("the import as a whole");
    assert!(summary.entry.reason.contains("audit_log has 2 rows"), "{}", summary.entry.reason);
    let kept: String =
        summary.entry.after_hash.expect("a hash").iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(kept, hash);
}

#[test]
fn what_the_old_program_changed_since_follows_and_what_was_done_here_stays() {
    let s = person();
    let store = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4);
    import(&s, store.path());
    let before = memories(&s);
    s.ok("update", json!({ "id": before[1].id, "text": "网关在每天凌晨四点轮换证书" }));
    s.ok("forget", json!({ "id": before[3].id }));
    let again = [
        ("type", "decision"),
        ("content", "결제 모듈은 PortOne v4로 이전했다"),
        ("created_at", "2026-04-01T00:00:00Z"),
    ];
    let eight = store.put_texts("knowledge", &again);
    store.change("knowledge", 6, &replaced(eight, "said again"));
    store.change("knowledge", 3, &[("confidence", Cell::Real(0.2))]);
    let reply = import(&s, store.path());
    assert_eq!(
        (&reply["added"], &reply["updated"], &reply["ended"]),
        (&json!(1), &json!(1), &json!(1)),
        "{reply:#}"
    );
    let all = memories(&s);
    let of = |id: &str| all.iter().find(|m| m.id == id).expect("it stays");
    assert_eq!(of(&before[3].id).state.status.as_str(), "trashed", "forgotten here");
    assert_eq!(of(&before[1].id).state.status.as_str(), "superseded", "corrected here");
    assert_eq!(of(&before[2].id).state.confidence, 0.2);
    let six = of(&before[5].id);
    let head = of(six.superseded_by.as_deref().expect("a successor"));
    assert_eq!(
        (head.state.status.as_str(), head.created_at.to_rfc3339().as_str()),
        ("active", "2026-04-01T00:00:00Z")
    );
    store.change("knowledge", 3, &[("content", Cell::Text("Answer in Korean, always".into()))]);
    store.change("knowledge", eight, &replaced(eight, "no longer"));
    let reply = import(&s, store.path());
    assert_eq!((&reply["updated"], &reply["ended"]), (&json!(1), &json!(1)), "{reply:#}");
    let third = s.ok("inspect", json!({ "id": before[2].id }));
    assert!(third.to_string().contains("superseded"), "{third:#}");
    assert!(s.recall("PortOne 결제").iter().all(|id| !id.starts_with("mem_")));
    let again = import(&s, store.path());
    assert_eq!(
        (&again["added"], &again["updated"], &again["ended"]),
        (&json!(0), &json!(0), &json!(0)),
        "{again:#}"
    );
    is_healthy(&s);
}

#[test]
fn what_was_purged_stays_out_and_a_copy_of_the_file_adds_nothing() {
    let mut s = home(12);
    become_owner(&mut s);
    let path = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4).close();
    import(&s, &path);
    let id = memories(&s)[1].id.clone();
    s.ok("purge", json!({ "id": id }));
    let copy = s.home.path().join("backup of 2026?#.db");
    std::fs::copy(&path, &copy).expect("a copy");
    let reply = import(&s, &copy);
    assert_eq!(
        (&reply["added"], &reply["purged"], &reply["known"]),
        (&json!(0), &json!(1), &json!(6)),
        "{reply:#}"
    );
}

#[test]
fn ids_survive_export_and_load_so_that_another_home_imports_nothing_twice() {
    let s = person();
    let path = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4).close();
    import(&s, &path);
    let file = s.home.path().join("all.jsonl");
    s.ok("export", json!({ "path": file }));
    let other = home(99).of_kind(PrincipalKind::Human);
    other.ok("load", json!({ "path": file }));
    let reply = import(&other, &path);
    assert_eq!(
        (&reply["added"], &reply["known"], &reply["episodes_added"]),
        (&json!(0), &json!(7), &json!(0))
    );
    let again = s.home.path().join("again.jsonl");
    other.ok("export", json!({ "path": again }));
    let lines = |path: &Path| std::fs::read_to_string(path).expect("read").lines().count();
    assert_eq!(lines(&file), lines(&again));
}

#[test]
fn rules_need_one_approval_for_all_of_them_and_nothing_is_half_done() {
    let mut s = home(13);
    become_owner(&mut s);
    let store = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4);
    store.add_rules();
    store.change("knowledge", 2, &[("layer", Cell::Text("P3".into()))]);
    let path = store.close();
    let secret = s.secret.take();
    let error = s.reply("import_p_layer", json!({ "path": path })).expect_err("no secret");
    assert_eq!(error.kind(), ErrorKind::ApprovalRequired);
    assert!(error.to_string().contains("4 rows"), "{error}");
    assert!(error.hint().contains("import-p-layer"), "{}", error.hint());
    assert!(memories(&s).is_empty(), "nothing half done");
    s.secret = secret;
    let reply = import(&s, &path);
    assert_eq!((&reply["added"], &reply["rejected"]), (&json!(10), &json!(1)), "{reply:#}");
    assert!(reply["problems"][0].as_str().is_some_and(|p| p.starts_with("rules #4") && p.contains("P9")));
    let all = memories(&s);
    let rule = all.iter().find(|m| m.body == "Run the whole test suite.").expect("the rule");
    assert_eq!(
        (rule.kind.as_str(), rule.state.layer.as_str(), rule.state.status.as_str()),
        ("rule", "P0", "active")
    );
    let listed = s.ok("rules_list", json!({ "all": true }));
    let of = |text: &str| {
        let rules = listed["rules"].as_array().expect("a list");
        rules.iter().find(|r| r["text"] == text).unwrap_or_else(|| panic!("{text}: {listed:#}")).clone()
    };
    let kept = of("Run the whole test suite.");
    assert_eq!(
        (&kept["priority"], &kept["condition"], &kept["enabled"]),
        (&json!(10), &json!("deploy: before a release"), &json!(true))
    );
    assert_eq!(of("나는 신중한 동료다")["priority"], 20);
    assert_eq!(of("Never deploy on a Friday.")["enabled"], false);
    let context = s.text("context", json!({ "task": "release" }));
    assert!(context.contains("Run the whole test suite.") && !context.contains("Friday"), "{context}");
    is_healthy(&s);
    s.secret = None;
    assert_eq!(import(&s, &path)["added"], 0, "nothing new, so nothing to approve");
    is_healthy(&s);
}

#[test]
fn a_rule_that_the_old_program_switched_off_is_so_here_unless_it_was_changed_here() {
    let mut s = home(31);
    become_owner(&mut s);
    let path = s.home.path().join("old.db");
    let store = OlderStore::p_layer(&path, 4);
    store.add_rules();
    import(&s, &path);
    let id = |s: &Session, text: &str| {
        memories(s).into_iter().find(|m| m.body == text).map(|m| m.id).expect("the rule")
    };
    let suite = id(&s, "Run the whole test suite.");
    s.ok("rules_edit", json!({ "id": id(&s, "나는 신중한 동료다"), "priority": 3 }));
    store.change("rules", 1, &[("enabled", Cell::Integer(0))]);
    store.change("rules", 3, &[("condition", Cell::Text("always".into()))]);
    let second = import(&s, &path);
    assert_eq!((&second["added"], &second["updated"]), (&json!(0), &json!(2)), "{second:#}");
    let listed = s.ok("rules_list", json!({ "all": true }));
    let of = |text: &str| {
        let rules = listed["rules"].as_array().expect("a list");
        rules.iter().find(|r| r["text"] == text).cloned().unwrap_or_default()
    };
    assert_eq!(of("Run the whole test suite.")["enabled"], false, "{listed:#}");
    assert_eq!(of("나는 신중한 동료다")["priority"], 3, "what was done here stays");
    assert_eq!(of("Never deploy on a Friday.")["condition"], "always");
    s.ok("rules_enable", json!({ "id": suite }));
    assert_eq!(import(&s, &path)["updated"], 0, "what was done here since stays");
    is_healthy(&s);
}

#[test]
fn what_the_old_program_distilled_is_not_distilled_again() {
    let s = person();
    let path = s.home.path().join("old.db");
    let store = OlderStore::p_layer(&path, 4);
    store.put_texts(
        "knowledge",
        &[
            ("type", "insight"),
            ("content", "[consolidated] 3 episode(s) [s1]: a | b | c"),
            ("source", "consolidation:s1"),
            ("created_at", "2026-01-02T00:00:00Z"),
            ("who", "system:consolidation"),
        ],
    );
    let event = |payload: &str, more: &[(&'static str, &str)]| {
        let row = [("kind", "event"), ("payload", payload), ("created_at", "2026-01-01")];
        store.put_texts("episodes", &[&row, more].concat());
    };
    let marked = ("consolidated_at", "2026-01-02T00:00:01Z");
    for payload in ["the gateway restarted twice", "the certificate had expired", "it was renewed by hand"] {
        event(payload, &[("session_id", "s1"), marked]);
    }
    event("its digest is lost", &[marked]);
    for payload in ["the disk filled up", "logs were rotated"] {
        event(payload, &[("session_id", "s2")]);
    }
    store.close();
    let first = import(&s, &path);
    assert_eq!((&first["added"], &first["episodes_added"]), (&json!(1), &json!(6)), "{first:#}");
    let digest = memories(&s).remove(0);
    let ledger = s.engine.existing_ledger().expect("a home");
    let covered = ledger.read(&Control::default(), |r| r.digest_episodes(digest.number)).expect("read");
    assert_eq!(covered.len(), 3, "the digest is linked to what it was made of");
    assert_eq!(import(&s, &path)["episodes_added"], 0);
    let distilled = s.ok("consolidate", json!({ "min_episodes": 1 }));
    assert_eq!(
        (&distilled["digests"], &distilled["episodes_covered"]),
        (&json!(1), &json!(2)),
        "{distilled:#}"
    );
    is_healthy(&s);
}

#[test]
fn names_in_what_is_imported_are_noticed() {
    let s = person();
    let path = s.home.path().join("old.db");
    let store = OlderStore::p_layer(&path, 4);
    let text = "The nightly job calls `rotate_certs.sh` on the gateway host.";
    store.put_texts("knowledge", &[("type", "fact"), ("content", text), ("created_at", "2026-01-02")]);
    store.close();
    import(&s, &path);
    let seen = s.ok("graph_explore", json!({ "query": "rotate_certs.sh" })).to_string();
    assert!(seen.contains("nightly job"), "{seen}");
    is_healthy(&s);
}

#[test]
fn an_agent_imports_no_rule_and_nothing_in_anothers_name() {
    let mut s = home(14);
    let store = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4);
    let path = store.path().to_path_buf();
    import(&s, &path);
    assert!(memories(&s).iter().all(|m| m.writer == "agent:test"));
    store.add_rules();
    assert_eq!(s.fails("import_p_layer", json!({ "path": path })), ErrorKind::Refused);
    assert!(memories(&s).iter().all(|m| m.kind.as_str() != "rule"));
    s.set_kind(PrincipalKind::Tool);
    assert_eq!(s.fails("import_p_layer", json!({ "path": path, "source": "again" })), ErrorKind::Refused);
}

#[test]
fn bad_rows_are_named_by_number_and_the_rest_comes_in() {
    let s = person();
    let store = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4);
    store.add_bad_rows();
    let reply = import(&s, store.path());
    let problems = reply["problems"].as_array().expect("problems");
    for (number, why) in [
        ("knowledge #20", "empty"),
        ("knowledge #21", "UTF-8"),
        ("knowledge #22", "bytes"),
        ("knowledge #23", "P7"),
        ("knowledge #24", "kind"),
        ("episodes #20", "empty"),
    ] {
        let found = problems.iter().filter_map(Value::as_str).find(|p| p.starts_with(&format!("{number}:")));
        assert!(found.is_some_and(|p| p.contains(why)), "{number}: {reply:#}");
    }
    assert_eq!((&reply["rejected"], &reply["added"]), (&json!(6), &json!(14)), "{reply:#}");
    let all = memories(&s);
    let of = |number: i64| all.iter().find(|m| m.number == number).expect("it came in");
    assert!(of(30).created_at.0 >= crate::support::NOON.0, "dated at its import");
    assert_eq!((of(31).state.confidence, of(31).valid_to), (1.0, None));
    assert_eq!((of(32).state.confidence, of(32).valid_to), (1.0, None));
    for archived in [33, 34, 35] {
        assert_eq!(of(archived).state.status.as_str(), "archived", "#{archived}");
    }
    assert_eq!(of(36).created_at.to_rfc3339(), "2026-01-01T00:00:00Z");
    let said = reply["adjustments"].to_string();
    for number in [30, 31, 32, 33, 34, 35] {
        assert!(said.contains(&format!("knowledge #{number}:")), "{number}: {said}");
    }
    assert_eq!(import(&s, store.path())["added"], 0);
    is_healthy(&s);
}

#[test]
fn the_same_text_twice_is_in_force_once_and_the_higher_layer_keeps_it() {
    let mut s = home(15);
    become_owner(&mut s);
    let here = s.remember("Backups run at night");
    let store = OlderStore::p_layer(s.home.path().join("old.db"), 4);
    for (content, created_at, layer) in [
        ("Backups run at night", "2026-01-01", "P5"),
        ("Ask before deleting", "2026-01-01", "P5"),
        ("Ask before deleting", "2026-01-02", "P0"),
    ] {
        let cells = [("type", "fact"), ("content", content), ("created_at", created_at), ("layer", layer)];
        store.put_texts("knowledge", &cells);
    }
    let reply = import(&s, store.path());
    assert_eq!((&reply["added"], &reply["merged"]), (&json!(3), &json!(1)), "{reply:#}");
    let all = memories(&s);
    let live: Vec<_> = all.iter().filter(|m| m.state.status.is_live()).collect();
    assert_eq!(live.len(), 2);
    assert!(live.iter().any(|m| m.id == here));
    assert!(live.iter().any(|m| m.state.layer.as_str() == "P0" && m.body.contains("Ask")));
    assert_eq!(import(&s, store.path())["added"], 0);
    is_healthy(&s);
}

#[test]
fn the_same_text_in_a_store_moves_nothing_that_its_importer_may_not_change() {
    let mut s = home(16);
    become_owner(&mut s);
    let said = "The deploy tool is called otter";
    let kept = s.ok("remember", json!({ "text": said, "layer": "P3", "kind": "integration" }));
    s.secret = None;
    s.set_kind(PrincipalKind::Agent);
    let store = OlderStore::p_layer(s.home.path().join("old.db"), 4);
    let row = [("type", "fact"), ("content", said), ("created_at", "2026-01-01"), ("layer", "P2")];
    store.put_texts("knowledge", &row);
    let reply = import(&s, store.path());
    assert_eq!(reply["merged"], 1, "{reply:#}");
    let live: Vec<_> = memories(&s).into_iter().filter(|m| m.state.status.is_live()).collect();
    assert_eq!((live.len(), live[0].id.as_str()), (1, kept["id"].as_str().expect("an id")));
}

#[test]
fn a_rule_made_of_an_imported_row_is_not_replaced_through_its_chain() {
    let mut s = home(17);
    become_owner(&mut s);
    let store = OlderStore::p_layer(s.home.path().join("old.db"), 4);
    let row = |at: &'static str| [("type", "fact"), ("content", "Ask before deleting"), ("created_at", at)];
    let one = store.put_texts("knowledge", &row("2026-01-01"));
    import(&s, store.path());
    let rule = memories(&s)[0].id.clone();
    s.ok("update", json!({ "id": rule, "layer": "P0" }));
    s.secret = None;
    s.set_kind(PrincipalKind::Agent);
    let two = store.put_texts("knowledge", &row("2026-01-02"));
    store.change("knowledge", one, &replaced(two, "lowered"));
    assert_eq!(s.fails("import_p_layer", json!({ "path": store.path() })), ErrorKind::Refused);
    let all = memories(&s);
    assert_eq!((all.len(), all[0].state.layer.as_str(), all[0].state.status.as_str()), (1, "P0", "active"));
}

#[test]
fn a_row_that_comes_to_say_what_another_memory_says_gives_way_to_it() {
    let s = person();
    let store = OlderStore::p_layer(s.home.path().join("old.db"), 4);
    let row = |text: &'static str| [("type", "fact"), ("content", text), ("created_at", "2026-01-01")];
    let one = store.put_texts("knowledge", &row("backups run at noon"));
    store.put_texts("knowledge", &row("restores are tested on Mondays"));
    import(&s, store.path());
    let here = s.remember("Backups run at night");
    store.change("knowledge", one, &[("content", Cell::Text("Backups run at night".into()))]);
    let reply = import(&s, store.path());
    assert_eq!((&reply["updated"], &reply["added"]), (&json!(1), &json!(0)), "{reply:#}");
    assert_eq!(memories(&s)[0].superseded_by.as_deref(), Some(here.as_str()));
    let again = import(&s, store.path());
    assert_eq!((&again["updated"], &again["known"]), (&json!(0), &json!(2)), "{again:#}");
    is_healthy(&s);
}

#[test]
fn secrets_are_blacked_out_and_counted() {
    let s = person();
    let store = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4);
    let token = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
    store.put_texts(
        "knowledge",
        &[("type", "fact"), ("content", &format!("the token is {token}")), ("created_at", "2026-01-01")],
    );
    store.put_texts(
        "episodes",
        &[("kind", "event"), ("payload", &format!("{{\"env\": \"{token}\"}}")), ("created_at", "2026-01-01")],
    );
    let reply = import(&s, store.path());
    assert_eq!(reply["redacted_rows"], 2, "{reply:#}");
    assert!(memories(&s).iter().all(|m| !m.body.contains("A1b2C3")));
}

#[test]
fn another_checksum_is_a_warning_a_newer_schema_a_refusal_and_other_files_no_database() {
    let s = person();
    let store = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4);
    store.change("schema_migrations", 2, &[("checksum", Cell::Text("f00".into()))]);
    let reply = import(&s, store.path());
    assert!(reply["warnings"][0].as_str().is_some_and(|w| w.contains("migration 2")), "{reply:#}");
    let later = [("version", "9"), ("name", "later"), ("checksum", "x"), ("applied_at", "2027-01-01")];
    store.put_texts("schema_migrations", &later);
    let error = s.reply("import_p_layer", json!({ "path": store.path() })).expect_err("newer");
    assert_eq!(error.kind(), ErrorKind::Newer);
    assert!(error.to_string().contains("schema version 9"), "{error}");
    let text = s.home.path().join("notes.db");
    strata_store::files::write_atomic(&text, b"not a database at all").expect("a file");
    assert_eq!(s.fails("import_p_layer", json!({ "path": text })), ErrorKind::Corrupt);
    let foreign = OlderStore::drewgent(s.home.path().join("foreign.db"));
    foreign.run("DROP TABLE knowledge");
    assert_eq!(s.fails("import_p_layer", json!({ "path": foreign.path() })), ErrorKind::Invalid);
    assert_eq!(s.fails("import_p_layer", json!({ "path": "nowhere.db" })), ErrorKind::Unavailable);
    assert_eq!(s.fails("import_p_layer", json!({})), ErrorKind::Invalid);
}

#[test]
fn a_look_says_what_would_come_and_stores_nothing() {
    let s = person();
    let path = OlderStore::p_layer_in_use(s.home.path().join("old.db"), 4).close();
    let reply = s.ok("import_p_layer", json!({ "path": path, "dry_run": true }));
    assert_eq!(
        (&reply["added"], &reply["episodes_added"], &reply["dry_run"]),
        (&json!(7), &json!(1), &json!(true))
    );
    assert!(memories(&s).is_empty());
}

#[test]
fn ten_thousand_rows_come_in_within_seconds() {
    let s = person();
    let store = OlderStore::p_layer(s.home.path().join("old.db"), 4);
    store.run("BEGIN");
    for n in 0..10_000 {
        let content = format!("valve {n} of pump {} was set to {} bar by shift {}", n % 97, n % 13, n % 3);
        store.put(
            "knowledge",
            &[
                ("type", Cell::Text("fact".into())),
                ("content", Cell::Text(content)),
                ("created_at", Cell::Text(format!("2026-01-01T00:00:00.{n:06}Z"))),
            ],
        );
    }
    store.run("COMMIT");
    let started = Instant::now();
    let reply = import(&s, store.path());
    let first = started.elapsed();
    assert_eq!(reply["added"], 10_000);
    let started = Instant::now();
    assert_eq!(import(&s, store.path())["added"], 0);
    println!("10 000 rows: {:.1} s, again: {:.1} s", first.as_secs_f64(), started.elapsed().as_secs_f64());
    assert!(first.as_secs() < 120, "{first:?}");
}
