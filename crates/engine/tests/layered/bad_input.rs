//! What no caller should send and no file should hold.

use crate::support::Session;
use serde_json::json;
use strata_core::error::ErrorKind;
use strata_store::files::write_atomic;

const KEY: &str = "AKIAIOSFODNN7EXAMPLQ";

fn inject(s: &Session, domain: &str, section: &str, content: &str) -> serde_json::Value {
    s.ok("inject_knowledge", json!({ "domain": domain, "section": section, "content": content }))
}

fn on_disk(s: &Session) -> bool {
    s.engine.settings().store.is_none()
}

#[test]
fn a_secret_in_a_name_is_written_nowhere() {
    let s = Session::new();
    inject(&s, "infra", "Pool", "The pool has 20 connections.");
    let entry = json!({ "action": "add", "domain": KEY, "summary": "x" });
    assert_eq!(s.fails("manage_l0_entry", entry), ErrorKind::Invalid);
    let made = json!({ "domain": KEY, "section": "S", "content": "text" });
    assert_eq!(s.fails("inject_knowledge", made), ErrorKind::Invalid);
    let moved = json!({ "domain": "infra", "section": "Pool", "to_domain": KEY });
    assert_eq!(s.fails("move_section", moved), ErrorKind::Invalid);
    for tool in ["get_l0_index", "get_memory_changelog"] {
        assert!(!s.ok(tool, json!({})).to_string().contains(KEY), "{tool}");
    }
}

#[test]
fn a_secret_that_hands_wrote_is_shown_nowhere() {
    let s = Session::new();
    if !on_disk(&s) {
        return;
    }
    inject(&s, "good", "A", "Something else.");
    let file = s.home.path().join("vault/knowledge/shared/hand.md");
    write_atomic(&file, format!("## Key {KEY}\n\nrotate {KEY}\n").as_bytes()).expect("saved");
    let listed = s.ok("list_sections", json!({ "domain": "hand" }));
    assert_eq!(listed["sections"].as_array().map(Vec::len), Some(1));
    let heading = listed["sections"][0]["section"].as_str().expect("a heading").to_owned();
    let read = s.ok("get_section", json!({ "domain": "hand", "section": heading }));
    s.ok("sync_l0_index", json!({}));
    let index = s.ok("get_l0_index", json!({}));
    let recalled = s.ok("recall_knowledge", json!({ "keyword": KEY }));
    for told in [listed, read, index, recalled] {
        assert!(!told.to_string().contains(KEY), "{told}");
    }
}

#[test]
fn a_question_that_nobody_reads_is_refused_with_its_limit() {
    let s = Session::new();
    inject(&s, "infra", "Pool", "The pool has 20 connections.");
    let long = "pool ".repeat(4_000);
    for (tool, field) in [("recall_knowledge", "keyword"), ("search_semantic", "query")] {
        assert_eq!(s.fails(tool, json!({ field: long })), ErrorKind::TooLarge);
    }
    let words = "pool ".repeat(3_000);
    let found = s.ok("recall_knowledge", json!({ "keyword": words, "search_mode": "fuzzy" }));
    assert_eq!(found["matched_files"], 1);
}

#[test]
fn a_file_with_many_passages_leaves_the_others_their_places() {
    let s = Session::new();
    let many = "The zebra crossing is painted. ".repeat(2_000);
    s.ok("create_knowledge_file", json!({ "filename": "big.md", "content": format!("## A\n\n{many}") }));
    inject(&s, "camp", "Night", "A zebra sleeps under the old acacia.");
    inject(&s, "work", "Rangers", "At dawn the rangers count each zebra with a drone.");
    for mode in ["bm25", "hybrid"] {
        let found = s.ok("recall_knowledge", json!({ "keyword": "zebra", "search_mode": mode }));
        assert_eq!(found["matched_files"], 3, "{mode}: {found}");
    }
}

#[test]
fn a_file_that_somebody_wrote_for_something_else_is_not_rendered_over() {
    let s = Session::with_settings(|settings| settings.config.changelog.path = Some("mine.md".into()));
    if !on_disk(&s) {
        return;
    }
    let (index, log) = (s.home.path().join("vault/L0.md"), s.home.path().join("mine.md"));
    let prose = "# Mine\n\nProse that is no entry.\n";
    std::fs::create_dir_all(s.home.path().join("vault")).expect("a folder");
    for file in [&index, &log] {
        write_atomic(file, prose.as_bytes()).expect("saved");
    }
    let made = inject(&s, "infra", "Pool", "The pool has 20 connections.");
    assert_eq!((&made["success"], &made["l0_synced"]), (&json!(true), &json!(false)), "{made}");
    assert!(
        made["l0_sync_report"]["error"].as_str().is_some_and(|told| told.contains("line 3 of")),
        "{made}"
    );
    for file in [&index, &log] {
        assert_eq!(std::fs::read_to_string(file).expect("there"), prose);
    }
    let stats = s.ok("get_memory_changelog_stats", json!({}));
    assert!(stats["read_error"].as_str().is_some_and(|told| told.contains("something else")), "{stats}");
    assert_eq!(stats["total_events"].as_u64().map(|events| events > 0), Some(true));
    assert_eq!(s.ok("validate_knowledge", json!({}))["success"], true);
}

#[test]
fn nothing_is_rendered_over_the_homes_own_files() {
    let s = Session::with_settings(|settings| {
        settings.config.changelog.path = Some("ledger.db".into());
        settings.config.knowledge.l0.file = Some("vault/knowledge/shared/infra.md".into());
    });
    if !on_disk(&s) {
        return;
    }
    for section in ["Pool", "Cache"] {
        let made = inject(&s, "infra", section, &format!("What there is to say of the {section}."));
        assert_eq!((&made["success"], &made["l0_synced"]), (&json!(true), &json!(false)), "{made}");
    }
    let file = s.ok("get_knowledge_file", json!({ "filename": "infra.md" }));
    assert!(file["content"].as_str().is_some_and(|text| text.contains("## Pool")), "{file}");
    assert_eq!(s.ok("doctor", json!({}))["failed"].as_u64().unwrap_or(0), 0);
}

#[test]
fn a_long_todo_and_many_changes_leave_lists_that_fit() {
    let s = Session::new();
    s.ok("add_todo", json!({ "content": "renew the certificate ".repeat(20_000) }));
    s.ok("add_todo", json!({ "content": "water the plants" }));
    let listed = s.ok("list_todos", json!({}));
    assert_eq!((&listed["count"], &listed["todos"][1]["is_cut"]), (&json!(2), &json!(true)));
    let items: Vec<String> = (0..100)
        .map(|n| {
            json!({ "domain": "log", "section": format!("Part {n}"), "content": format!("unlike {n:x}") })
                .to_string()
        })
        .collect();
    s.ok("batch_inject_knowledge", json!({ "items": items, "mode": "append" }));
    let log = s.ok("get_memory_changelog", json!({}));
    assert!(log["returned"].as_u64() < log["matched"].as_u64(), "{}", log["returned"]);
    for told in [listed, log] {
        // A reply that has no room for line breaks is sent without.
        let length = told.to_string().chars().count();
        assert!(length < 32_000, "{length}");
    }
}
