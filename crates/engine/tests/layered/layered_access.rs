//! The access log of knowledge, and the review queue under the layered tools' names.

use crate::support::{NOON, Session, with_call};
use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    principal::PrincipalKind,
    scope::Scope,
    time::{DAY, Timestamp},
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    knowledge::access::{self, Access, AccessKind},
};

fn log(s: &Session, accesses: &[Access<'_>]) {
    with_call(s, |call| access::log(&s.engine, call, accesses));
}

fn found<'a>(namespace: &'a str, path: &'a str, score: f64) -> Access<'a> {
    Access {
        namespace,
        path,
        kind: AccessKind::Recall,
        query: Some("连接池 端口"),
        rank: Some(1),
        score: Some(score),
    }
}

fn read<'a>(namespace: &'a str, path: &'a str) -> Access<'a> {
    Access { kind: AccessKind::GetFile, query: None, rank: None, score: None, ..found(namespace, path, 0.0) }
}

fn timeline(s: &Session, domain: &str) -> Value {
    s.ok("get_domain_timeline", json!({ "domain": domain }))
}

#[test]
fn access_a_timeline_counts_by_day_and_sees_what_the_caller_sees() {
    let mut s = Session::new();
    s.remember("a home that exists");
    log(&s, &[found("shared", "infra/proxy.md", 13.25), found("shared", "infra/proxy.md", 2.0)]);
    log(&s, &[read("shared", "infra/proxy.md"), read("claude", "infra/proxy.md")]);
    for name in ["infra/proxy", "infra/proxy.md"] {
        let reply = timeline(&s, name);
        assert_eq!(reply["success"], json!(true));
        assert_eq!(
            reply["stats"],
            json!({ "domain": "infra/proxy", "hits_in_window": 3, "total_hits": 3, "last_access": "2026-06-15T12:00:00Z",
                "first_access_in_window": "2026-06-15T12:00:00Z", "avg_score": 7.63 })
        );
        assert_eq!(reply["trend"], json!([{ "day": "2026-06-15", "hits": 3 }]));
    }
    assert_eq!(timeline(&s, "数据库")["stats"]["total_hits"], json!(0));
    assert_eq!(s.fails("get_domain_timeline", json!({ "domain": "../x" })), ErrorKind::Invalid);
    s.scope = Scope { namespace: "claude".into(), ..Scope::user() };
    assert_eq!(timeline(&s, "infra/proxy")["stats"]["total_hits"], json!(4));
}

#[test]
fn access_what_waits_is_written_down_when_the_engine_closes() {
    let mut s = Session::new();
    s.remember("a home that exists");
    log(&s, &[read("shared", "db.md")]);
    s.engine = s.reopened();
    assert_eq!(timeline(&s, "db")["stats"]["total_hits"], json!(1));
}

#[test]
fn access_a_log_that_is_off_keeps_nothing_and_says_so() {
    let s = Session::with_settings(|settings| settings.config.access_log.enabled = false);
    s.remember("a home that exists");
    log(&s, &[read("shared", "db.md")]);
    for (tool, arguments) in
        [("get_domain_timeline", json!({ "domain": "db" })), ("prune_access_log", json!({}))]
    {
        assert_eq!(s.fails(tool, arguments), ErrorKind::Conflict);
    }
}

#[test]
fn access_old_entries_go_by_tool_and_by_upkeep() {
    let mut s = Session::with_settings(|settings| settings.config.access_log.retention_days = 1);
    assert_eq!(s.ok("prune_access_log", json!({}))["deleted"], json!(0), "nothing is made by it");
    s.remember("a home that exists");
    log(&s, &[read("shared", "db.md")]);
    let kept = s.ok("prune_access_log", json!({}));
    assert_eq!(kept, json!({ "success": true, "deleted": 0, "retention_days": 1 }));
    let later = Timestamp(NOON.0 + 2 * DAY);
    s.engine = Engine::with_sources(
        s.engine.settings().clone(),
        Box::new(ManualClock::at(later)),
        Box::new(SeededIds::new(9)),
    );
    assert_eq!(s.ok("prune_access_log", json!({}))["deleted"], json!(1));
    let upkeep = s.ok("maintain", json!({ "task": "accesses" }));
    assert_eq!(upkeep["tasks"][0]["detail"], json!("0 entries removed"));
}

#[test]
fn access_reading_waits_for_no_log_in_a_home_that_is_not_there() {
    let s = Session::new();
    log(&s, &[read("shared", "db.md")]);
    assert_eq!(timeline(&s, "db")["stats"]["total_hits"], json!(0));
}

#[test]
fn reviews_are_the_one_queue() {
    let mut s = Session::new();
    for text in ["always review the schema before a release", "发布前必须检查数据库"] {
        s.ok("reflect", json!({ "text": text, "kind": "rule", "reason": "seen twice" }));
    }
    let all = s.ok("get_pending_reviews", json!({}));
    assert_eq!((all["success"].clone(), all["pending_count"].clone()), (json!(true), json!(2)));
    let first = &all["items"][0];
    assert_eq!(first["type"], json!("rule"));
    assert_eq!(first["summary"], json!("always review the schema before a release"));
    assert_eq!(first["submitted_at"], json!("2026-06-15T12:00:00Z"));
    assert!(first["confidence"].is_number() && first["domain"].is_string() && first["section"].is_string());
    let second = s.ok("get_pending_reviews", json!({ "limit": 1, "offset": 1 }));
    assert_eq!(second["items"][0]["id"], all["items"][1]["id"]);
    assert_eq!(second["pending_count"], json!(2));
    let id = first["id"].clone();
    for tool in ["approve_knowledge", "reject_knowledge"] {
        let error = s.reply(tool, json!({ "entry_id": id })).expect_err("an agent decides nothing");
        assert_eq!(error.kind(), ErrorKind::ApprovalRequired, "{tool}");
        assert!(error.hint().contains("strata review"), "{tool}: {}", error.hint());
    }
    assert_eq!(s.ok("get_pending_reviews", json!({}))["pending_count"], json!(2));
    s.set_kind(PrincipalKind::Human);
    let rejected = s.ok("reject_knowledge", json!({ "entry_id": id, "reviewer": "Mei", "note": "too wide" }));
    assert_eq!(rejected, json!({ "success": true, "action": "rejected", "id": id }));
    let shown = s.ok("review_show", json!({ "id": id }));
    assert!(shown.to_string().contains("Mei: too wide"), "{shown}");
    assert_eq!(s.ok("get_pending_reviews", json!({}))["pending_count"], json!(1));
}
