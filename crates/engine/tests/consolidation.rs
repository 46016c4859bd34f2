//! Raw events from outside, and what the night makes of them.

mod support;

use serde_json::json;
use strata_core::{error::ErrorKind, principal::PrincipalKind};
use strata_store::{ledger::AuditFilter, sql::Control};
use support::Session;

#[test]
fn an_episode_is_written_by_the_gateway_on_behalf_of_the_caller_and_only_once() {
    let s = Session::new();
    let say = json!({ "text": "the deploy stood still for an hour", "session": "s1", "speaker": "ana",
                      "kind": "incident", "metadata": { "ticket": "OPS-7" } });
    let first = s.ok("episode_record", say.clone());
    assert_eq!((&first["status"], &first["writer"]), (&json!("created"), &json!("gateway:test")));
    let again = s.ok("episode_record", say);
    assert_eq!((&again["status"], &again["id"]), (&json!("known"), &first["id"]));
    let shown = s.ok("inspect", json!({ "id": first["id"] }));
    assert_eq!(shown["metadata"], json!({ "kind": "incident", "ticket": "OPS-7" }));
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let lines = ledger.read(&Control::default(), |r| r.audit(&AuditFilter::default())).expect("read");
    assert_eq!(lines.len(), 1, "the second time changed nothing");
    let entry = &lines[0].entry;
    assert_eq!(
        (entry.action.as_str(), entry.principal.as_str(), entry.on_behalf_of.as_deref()),
        ("import", "gateway:test", Some("agent:test"))
    );
    let jobs = ledger.read(&Control::default(), |r| r.jobs(None, 10)).expect("read");
    assert!(jobs.is_empty(), "one event is no job");
    assert_eq!(s.ok("recall", json!({ "query": "deploy stood still" }))["hits"][0]["id"], first["id"]);
}

#[test]
fn what_is_no_event_is_refused_and_a_time_tells_equal_words_apart() {
    let s = Session::new();
    assert_eq!(s.fails("episode_record", json!({ "text": "  " })), ErrorKind::Invalid);
    assert_eq!(s.fails("episode_record", json!({ "text": "x", "at": "soon" })), ErrorKind::Invalid);
    assert_eq!(s.fails("episode_record", json!({ "text": "x", "kind": "party" })), ErrorKind::Invalid);
    for at in ["2026-06-01 10:00", "2026-06-01 11:00"] {
        assert_eq!(s.ok("episode_record", json!({ "text": "ok", "at": at }))["status"], "created");
    }
    let token = format!("the key is ghp_{}", "A1b2C3d4E5f6".repeat(3));
    let reply = s.ok("episode_record", json!({ "text": token }));
    assert_eq!(reply["redacted"].as_array().map(Vec::len), Some(1), "{reply}");
    let s = s.of_kind(PrincipalKind::Human);
    assert_eq!(s.ok("status", json!({}))["holds"]["episodes"], 3);
}
