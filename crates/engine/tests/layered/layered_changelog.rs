//! The changelog of knowledge: its tools, and its rendering as a file.

use std::{fs, path::PathBuf};

use crate::support::{NOON, Session, with_call};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, knowledge::changelog::Operation, time::Timestamp};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    knowledge::vault::{self, Change, Edited, Event},
};
use strata_store::files::write_atomic;

fn write(session: &Session, domain: &str, text: &str) {
    let change = Change { agent_id: Some("claude"), ..Change::new("inject_knowledge") };
    let mut edit = |before: Option<&str>| {
        let operation = if before.is_some() { Operation::SectionUpdated } else { Operation::DomainCreated };
        let event = Event::new(operation, "写了一节")
            .section("端口")
            .with("mode", "upsert")
            .with("bytes_written", 86);
        Ok(Edited::Write(text.to_owned(), event.because("a test")))
    };
    with_call(session, |call| {
        let place = vault::locate(&session.engine, call, "domain", domain)?;
        vault::edit(&session.engine, call, &place, &change, &mut edit)
    })
    .expect("written");
}

fn log(session: &Session, arguments: Value) -> Value {
    session.ok("get_memory_changelog", arguments)
}

/// The rendering; none on a server.
fn rendering(session: &Session) -> Option<PathBuf> {
    session.engine.settings().store.is_none().then(|| session.home.path().join("changelog.jsonl"))
}

fn ids(entries: &Value) -> Vec<String> {
    let entries = entries.as_array().expect("a list");
    entries.iter().map(|entry| entry["event_id"].as_str().expect("an id").to_owned()).collect()
}

fn rendered(session: &Session) -> Option<Vec<String>> {
    let text = fs::read_to_string(rendering(session)?).expect("a file");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    Some(ids(&lines.collect()))
}

#[test]
fn layered_62_the_changelog_is_newest_first_filtered_and_never_a_body() {
    let session = Session::new();
    write(&session, "infra", "# infra\n\n## 端口\n\nsecret-body-of-infra 5432\n");
    write(&session, "web", "# web\n\n## 端口\n\nport 80\n");
    write(&session, "infra", "# infra\n\n## 端口\n\nsecret-body-of-infra 6432\n");
    let all = log(&session, json!({}));
    assert_eq!((&all["total_events"], &all["matched"], &all["returned"]), (&json!(3), &json!(3), &json!(3)));
    assert_eq!(
        (&all["limit"], &all["order"], &all["enabled"]),
        (&json!(50), &json!("newest_first"), &json!(true))
    );
    let domains: Vec<_> =
        all["entries"].as_array().expect("a list").iter().map(|e| e["domain"].clone()).collect();
    assert_eq!(domains, ["infra", "web", "infra"]);
    let entry = all["entries"][0].as_object().expect("an object");
    let keys: Vec<_> = entry.keys().map(String::as_str).collect();
    let expected = [
        "schema_version",
        "event_id",
        "at",
        "surface",
        "operation",
        "domain",
        "section",
        "actor",
        "agent_id",
        "tool",
        "summary",
        "reason",
        "source_ref",
        "before_hash",
        "after_hash",
        "metadata",
    ];
    assert_eq!(keys, expected);
    assert_eq!((&entry["schema_version"], &entry["actor"]), (&json!(2), &json!("framework")));
    assert_eq!((&entry["agent_id"], &entry["section"]), (&json!("claude"), &json!("端口")));
    assert_eq!(entry["metadata"], json!({ "mode": "upsert", "bytes_written": 86 }));
    assert!(!all.to_string().contains("secret-body"), "{all}");

    let some = log(&session, json!({ "domain": "infra.md", "operation": "l1_section_updated" }));
    assert_eq!((&some["matched"], &some["total_events"]), (&json!(1), &json!(3)));
    assert_eq!(log(&session, json!({ "surface": "l0_index" }))["matched"], 0);
    assert_eq!(log(&session, json!({ "limit": 2 }))["returned"], 2);
    assert_eq!(log(&session, json!({ "limit": 9999 }))["limit"], 500);
    assert_eq!(log(&session, json!({ "since": "2999-01-01" }))["matched"], 0);
    for wrong in
        [json!({ "operation": "l1_gone" }), json!({ "surface": "todo" }), json!({ "since": "soonish" })]
    {
        assert_eq!(session.fails("get_memory_changelog", wrong), ErrorKind::Invalid);
    }
}

#[test]
fn layered_62_fifty_events_are_shown_and_the_rest_can_be_asked_for() {
    let session = Session::new();
    let items: Vec<_> = (0..60)
        .map(|n| json!({ "domain": format!("领域{n}"), "section": "S", "content": format!("limit {n}") }))
        .collect();
    session.ok("batch_inject_knowledge", json!({ "items": items }));
    let first = log(&session, json!({ "surface": "l1_knowledge" }));
    assert_eq!(
        (&first["returned"], &first["next_offset"], &first["limit"]),
        (&json!(50), &json!(50), &json!(50))
    );
    let rest = log(&session, json!({ "surface": "l1_knowledge", "offset": 50 }));
    assert_eq!((&rest["returned"], rest.get("next_offset")), (&json!(10), None));
    assert_eq!(
        (&first["entries"][0]["domain"], &rest["entries"][9]["domain"]),
        (&json!("领域59"), &json!("领域0"))
    );
    let many = log(&session, json!({ "limit": 500 }));
    let length = many.to_string().chars().count();
    assert!(length <= 32_000 && many["next_offset"] == many["returned"], "{length}");
}

#[test]
fn layered_62_the_rendering_follows_the_ledger_and_comes_back_when_damaged() {
    let session = Session::new();
    write(&session, "infra", "# infra\n\n## 端口\n\n5432\n");
    write(&session, "infra", "# infra\n\n## 端口\n\n6432\n");
    let Some(path) = rendering(&session) else { return };
    let newest_first = || {
        let mut ids = ids(&log(&session, json!({}))["entries"]);
        ids.reverse();
        ids
    };
    assert_eq!(rendered(&session), Some(newest_first()));

    let whole = fs::read(&path).expect("a file");
    let half = b"{\"half\n".iter().chain(&whole).copied().collect::<Vec<_>>();
    write_atomic(&path, &half).expect("written");
    let state = log(&session, json!({}));
    assert_eq!((&state["malformed_lines"], &state["returned"]), (&json!(1), &json!(2)));

    for damage in [whole[..whole.len() - 9].to_vec(), b"not JSON\n".to_vec(), vec![0xff; 9], Vec::new()] {
        write_atomic(&path, &damage).expect("written");
        write(&session, "infra", &format!("# infra\n\n## 端口\n\n{}\n", newest_first().len()));
        assert_eq!(rendered(&session), Some(newest_first()));
    }
    write_atomic(&path, &vec![b'x'; (16 << 20) + 1]).expect("written");
    let state = log(&session, json!({}));
    assert_eq!(state["read_truncated"], true);
    assert_eq!(state["read_error"], "memory_changelog_too_large");
    assert_eq!(state["returned"], 6, "the answer is whole all the same");
}

#[test]
fn layered_62_the_figures_agree_and_a_changelog_that_is_off_says_so() {
    let session = Session::new();
    write(&session, "infra", "# infra\n\n## 端口\n\n5432\n");
    write(&session, "infra", "# infra\n\n## 端口\n\n6432\n");
    write(&session, "web", "# web\n");
    let stats = session.ok("get_memory_changelog_stats", json!({}));
    assert_eq!(stats["total_events"], 3);
    assert_eq!(stats["by_operation"], json!({ "l1_domain_created": 2, "l1_section_updated": 1 }));
    assert_eq!(stats["by_surface"], json!({ "l1_knowledge": 3 }));
    assert_eq!(stats["by_domain"][0], json!({ "domain": "infra", "count": 2 }));
    assert_eq!(stats["retention_enforced"], false);
    assert!(stats["first_event_at"].as_str() <= stats["last_event_at"].as_str());

    let off = Session::with_settings(|settings| settings.config.changelog.enabled = false);
    write(&off, "infra", "# infra\n");
    let log = log(&off, json!({}));
    assert_eq!(
        (&log["enabled"], &log["exists"], &log["entries"]),
        (&json!(false), &json!(false), &json!([]))
    );
    assert!(log["note"].as_str().is_some_and(|note| note.contains("switched off")));
    assert_eq!(off.ok("get_memory_changelog_stats", json!({}))["enabled"], false);
    assert!(rendering(&off).is_none_or(|path| !path.exists()));
}

#[test]
#[cfg(unix)]
fn a_change_within_a_second_is_added_to_the_rendering_and_makes_nothing_anew() {
    use std::os::unix::fs::MetadataExt;
    let mut session = Session::new();
    let clock = ManualClock::at(Timestamp(NOON.0 + 123_456));
    let settings = session.engine.settings().clone();
    session.engine = Engine::with_sources(settings, Box::new(clock), Box::new(SeededIds::new(8)));
    write(&session, "infra", "## A\n\nOne.\n");
    let Some(path) = rendering(&session) else { return };
    let file = || fs::metadata(&path).expect("there").ino();
    let before = (file(), rendered(&session).map(|lines| lines.len()));
    write(&session, "infra", "## A\n\nTwo.\n");
    let after = (file(), rendered(&session).map(|lines| lines.len()));
    assert_eq!(after.0, before.0, "it was replaced");
    assert!(after.1 > before.1, "{after:?} {before:?}");
}
