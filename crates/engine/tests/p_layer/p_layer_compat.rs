//! Figures, chains and packs, and the tools of p-layer's older server.

use crate::maintain_support::{acting, become_owner, home, tell};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind, scope::Scope};

#[test]
fn p_layer_c23_c24_the_figures_count_what_was_forgotten_and_replaced() {
    let s = home(7);
    let a = s.remember("the fair is in May");
    s.ok("forget", json!({ "id": a, "reason": "it was moved" }));
    let stats = s.ok("memory_stats", json!({}));
    assert_eq!((stats["knowledge"].as_i64(), stats["active"].as_i64()), (Some(1), Some(0)));
    let b = s.remember("the fair is in June");
    s.ok("update", json!({ "id": b, "text": "the fair is in July" }));
    let stats = s.ok("memory_stats", json!({}));
    assert_eq!((stats["knowledge"].as_i64(), stats["active"].as_i64()), (Some(3), Some(1)));
    assert_eq!(stats["by_status"], json!({ "active": 1, "superseded": 1, "trashed": 1 }));
}

#[test]
fn every_figure_is_counted_and_none_is_a_constant() {
    let mut s = home(7);
    become_owner(&mut s);
    s.ok("remember", json!({ "text": "never push on Fridays", "kind": "rule" }));
    acting(&mut s, PrincipalKind::Agent, |s| {
        s.remember("the harbour is shallow");
        s.ok("remember", json!({ "text": "chose copper pipes", "kind": "decision" }));
        s.ok("remember", json!({ "text": "the pump failed", "kind": "incident" }));
        s.ok("reflect", json!({ "text": "always test pumps", "kind": "rule" }));
        s.fails("remember", json!({ "text": "pushing is fine", "kind": "rule" }));
        s.ok("snapshot_create", json!({ "version_id": "v1" }));
    });
    tell(&s, "talk", "the gulls were loud");
    s.recall("harbour");
    let stats = s.ok("memory_stats", json!({}));
    assert_eq!(stats["by_type"], json!({ "decision": 1, "fact": 1, "incident": 1, "rule": 2 }));
    assert_eq!(stats["by_layer"], json!({ "P0": 2, "P5": 2, "P6": 1 }));
    assert_eq!(stats["active_by_layer"], json!({ "P0": 1, "P5": 2, "P6": 1 }));
    for (key, expected) in [
        ("knowledge", 5),
        ("active", 4),
        ("rules", 1),
        ("rules_enabled", 1),
        ("episodes", 1),
        ("snapshots", 1),
        ("pending_reviews", 1),
        ("refused", 1),
        ("index_behind", 0),
    ] {
        assert_eq!(stats[key], expected, "{key}: {stats:#}");
    }
    assert_eq!(stats["audit"], s.ok("memory_audit", json!({}))["matching"]);
    let vectors = stats["embeddings"].as_u64().expect("a count");
    let by_version = stats["embeddings_by_version"].as_object().expect("by model");
    assert_eq!(by_version.values().filter_map(Value::as_u64).sum::<u64>(), vectors);
    let model = stats["embedder"].as_str().expect("a model");
    if stats["embed_warning"].is_null() {
        assert!(by_version.contains_key(model) && vectors >= 5, "{stats:#}");
    }
    assert!(s.text("memory_stats", json!({})).contains("5, of them 4 in force"));
}

#[test]
fn assemble_gives_rules_first_then_the_newest_within_the_budget() {
    let mut s = home(7);
    become_owner(&mut s);
    s.ok("remember", json!({ "text": "never push on Fridays", "kind": "rule" }));
    for n in 0..60 {
        s.remember(&format!("lamp number {n} was replaced"));
    }
    let pack = s.ok("assemble", json!({}))["context"].as_str().expect("a text").to_owned();
    assert!(pack.find("never push").expect("the rule") < pack.find("lamp number 59").expect("the newest"));
    assert!(!pack.contains("lamp number 3 "), "fifty of sixty");
    for budget in [200, 600, 2_000] {
        let pack =
            s.ok("assemble", json!({ "budget": budget }))["context"].as_str().expect("a text").to_owned();
        assert!(pack.chars().count() <= budget, "{budget}: {}", pack.chars().count());
    }
    assert!(
        s.ok("assemble", json!({ "budget_chars": 600 }))["context"]
            .as_str()
            .expect("a text")
            .contains("never push")
    );
}

#[test]
fn a_chain_tells_who_replaced_what_when_and_why() {
    let mut s = home(7);
    let a = s.remember("port 5432");
    let b = s.ok("update", json!({ "id": a, "text": "port 5433", "reason": "the old one was taken" }))["id"]
        .clone();
    s.set_kind(PrincipalKind::Human);
    let c = s.ok("update", json!({ "id": b, "text": "port 5434\n\nsince the move" }))["id"].clone();
    for asked in [json!(a), json!(2), c.clone()] {
        let chain = s.ok("memory_chain", json!({ "id": asked }));
        let ids: Vec<&Value> =
            chain["versions"].as_array().expect("versions").iter().map(|v| &v["id"]).collect();
        assert_eq!(ids, [&json!(a), &b, &c]);
        assert_eq!(chain["in_force"], c);
        let first = &chain["versions"][0];
        assert_eq!((&first["who"], &first["superseded_by"]), (&json!("agent:test"), &b));
        assert_eq!(first["ended"]["who"], "agent:test");
        assert_eq!(first["ended"]["reason"], "the old one was taken");
        assert_eq!(chain["versions"][1]["ended"]["who"], "human:test");
        assert!(chain["versions"][2]["ended"].is_null());
        assert_eq!(chain["versions"][2]["text"], "port 5434 since the move");
    }
    let full = s.ok("memory_chain", json!({ "id": c, "full": true }));
    assert_eq!(full["versions"][2]["text"], "port 5434\n\nsince the move");
    assert_eq!(s.fails("memory_chain", json!({ "id": 99 })), ErrorKind::NotFound);
}

#[test]
fn a_chain_stays_whole_through_a_rollback_over_several_versions() {
    let s = home(7);
    let a = s.remember("one");
    s.ok("snapshot_create", json!({ "version_id": "v1" }));
    let b = s.ok("update", json!({ "id": a, "text": "two" }))["id"].clone();
    let c = s.ok("update", json!({ "id": b, "text": "three" }))["id"].clone();
    s.ok("snapshot_rollback", json!({ "version_id": "v1" }));
    for id in [json!(a), b.clone(), c.clone()] {
        let chain = s.ok("memory_chain", json!({ "id": id }));
        assert_eq!(chain["versions"].as_array().map(Vec::len), Some(3), "{chain:#}");
        assert_eq!(chain["in_force"], json!(a));
        assert_eq!(chain["versions"][2]["ended"]["action"], "rollback");
        assert_eq!(chain["versions"][2]["ended"]["reason"], "rollback:v1");
    }
}

#[test]
fn the_older_tools_reply_as_they_did() {
    let s = home(7).of_kind(PrincipalKind::Tool);
    let stored = s.ok(
        "knowledge_remember",
        json!({ "fact": "the lift holds six", "type": "fact", "confidence": 0.4, "ttl_days": 3 }),
    );
    assert_eq!((stored["id"].as_i64(), stored["authority"].as_i64()), (Some(1), Some(30)));
    assert_eq!(
        (&stored["who"], &stored["type"], &stored["layer"]),
        (&json!("tool:test"), &json!("fact"), &json!("P5"))
    );
    assert_eq!(stored["created_at"], "2026-06-15T12:00:00Z");
    let shown = s.ok("inspect", json!({ "id": 1 }));
    assert_eq!(shown["confidence"], 0.4, "it was taken and ignored once");
    assert!(shown["valid_to"].as_str().expect("an end").starts_with("2026-06-18"));
    let hits = s.ok("knowledge_recall", json!({ "query": "lift", "limit": 5 }));
    assert_eq!((&hits[0]["id"], &hits[0]["content"]), (&json!(1), &json!("the lift holds six")));
    assert_eq!((&hits[0]["who"], &hits[0]["confidence"]), (&json!("tool:test"), &json!(0.4)));
    let updated = s.ok("knowledge_update", json!({ "id": 1, "fact": "the lift holds eight" }));
    assert_eq!(updated, json!({ "updated": true, "superseded_id": 1, "new_id": 2 }));
    let made = s.ok("knowledge_snapshot-create", json!({ "version_id": "v1" }));
    assert_eq!(made, json!({ "created": true, "version_id": "v1" }));
    s.ok("knowledge_remember", json!({ "fact": "the stairs are wet" }));
    let back = s.ok("knowledge_snapshot-rollback", json!({ "version_id": "v1" }));
    assert_eq!((back["rolled_back"].as_i64(), &back["version_id"]), (Some(1), &json!("v1")));
    let gone = s.ok("knowledge_forget", json!({ "id": 2, "reason": "sold" }));
    assert_eq!(gone, json!({ "superseded": true, "id": 2 }));
    for id in [2, 99] {
        assert_eq!(s.ok("knowledge_forget", json!({ "id": id })), json!({ "superseded": false, "id": id }));
    }
    assert_eq!(s.ok("knowledge_recall", json!({ "query": "lift" })), json!([]));
    assert_eq!(s.ok("knowledge_memory-stats", json!({})), s.ok("memory_stats", json!({})));
}

#[test]
fn the_older_tools_go_through_the_same_doors() {
    let s = home(7);
    for (tool, arguments) in [
        ("knowledge_remember", json!({ "fact": "rules are optional", "layer": "P0" })),
        ("knowledge_remember", json!({ "fact": " " })),
        ("knowledge_remember", json!({ "fact": "x", "confidence": 7 })),
        ("knowledge_remember", json!({ "fact": "x", "ttl_days": 0 })),
        ("knowledge_recall", json!({ "query": " " })),
        ("knowledge_update", json!({ "id": 9, "fact": "x" })),
    ] {
        s.fails(tool, arguments);
    }
    let kept = s
        .ok("knowledge_remember", json!({ "fact": "the token is ghp_0123456789abcdefghijABCDEFGHIJ012345" }));
    assert!(!s.ok("inspect", json!({ "id": kept["id"] })).to_string().contains("ghp_0123456789"));
    let mut s = home(7);
    become_owner(&mut s);
    s.ok("remember", json!({ "text": "never push on Fridays", "kind": "rule" }));
    acting(&mut s, PrincipalKind::Tool, |s| {
        assert_eq!(s.fails("knowledge_forget", json!({ "id": 1 })), ErrorKind::Refused);
        assert_eq!(
            s.fails("knowledge_update", json!({ "id": 1, "fact": "push at will" })),
            ErrorKind::Refused
        );
    });
    s.secret = Some(crate::maintain_support::secret("battery staple"));
    assert_eq!(
        s.fails("knowledge_forget", json!({ "id": 1 })),
        ErrorKind::Conflict,
        "a wrong passphrase is not `there is nothing to forget`"
    );
    s.set_kind(PrincipalKind::Agent);
    s.scope = Scope::project("a");
    s.ok("knowledge_remember", json!({ "fact": "a's tests are slow" }));
    s.scope = Scope::project("b");
    assert_eq!(s.ok("knowledge_recall", json!({ "query": "tests slow" })), json!([]));
}

#[test]
fn p_layer_c46_serendipity_is_accepted_and_changes_nothing() {
    let s = home(7);
    for n in 0..8 {
        s.remember(&format!("crate {n} holds apples"));
    }
    let ask = |serendipity: bool| {
        s.ok("knowledge_recall", json!({ "query": "apples", "serendipity": serendipity }))
    };
    let first = ask(false);
    assert_eq!(first.as_array().map(Vec::len), Some(8));
    for _ in 0..20 {
        assert_eq!(ask(true), first);
    }
    assert!(
        s.text("knowledge_recall", json!({ "query": "apples", "serendipity": true })).contains("crate 3")
    );
}

#[test]
fn the_graph_and_every_rule_are_counted_and_the_older_tool_tells_of_the_graph() {
    let mut s = home(8);
    become_owner(&mut s);
    let off = s.ok("rules_add", json!({ "text": "never push on Fridays", "layer": "P0" }));
    s.ok("rules_add", json!({ "text": "prefer small commits", "layer": "P5" }));
    s.ok("rules_disable", json!({ "id": off["rule"]["id"] }));
    for label in ["cron", "backup job"] {
        s.ok("entity_add", json!({ "label": label, "kind": "tool" }));
    }
    s.ok("relation_add", json!({ "source": "backup job", "relation": "depends_on", "target": "cron" }));
    let stats = s.ok("memory_stats", json!({}));
    for (key, expected) in [("entities", 2), ("relations", 1), ("rules", 2), ("rules_enabled", 1)] {
        assert_eq!(stats[key], expected, "{key}: {stats:#}");
    }
    let state = |s: &crate::maintain_support::Session| s.ok("knowledge_ontology-status", json!({}));
    assert_eq!(state(&s), json!({ "entities": 2, "relations": 1, "contradictions": 0 }));
    s.remember("The pool holds at most 20 connections.");
    s.remember("The pool is capped at 50 connections.");
    let found = s.ok("contradictions", json!({}));
    assert_eq!(found["filed"], 1, "{found:#}");
    assert_eq!(state(&s)["contradictions"], 1);
    let review = found["findings"][0]["review"].clone();
    s.ok("review_resolve", json!({ "id": review, "decision": "keep_both" }));
    assert_eq!(state(&s)["contradictions"], 0, "a decided one no longer waits");
}
