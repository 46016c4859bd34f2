//! The ledger's file edited with another program: `doctor` says so.

use crate::maintain_support::{Session, become_owner, home, later};
use serde_json::json;
use strata_store::sql::{Control, Param};
use strata_testkit::tamper::{Damage, tamper};

const RULE: &str = "Never push to main without a review";

/// A home with a rule that a person approved and a fact.
fn furnished() -> Session {
    let mut s = home(7);
    become_owner(&mut s);
    s.ok("remember", json!({ "text": RULE, "kind": "rule", "topic_key": "push" }));
    s.remember("the pump runs at night");
    s
}

fn edit(s: &Session, damage: Damage<'_>) {
    tamper(s.engine.existing_ledger().expect("a ledger").database(), damage);
}

#[track_caller]
fn sick(s: &Session, check: &str) {
    let report = s.ok("doctor", json!({}));
    let found = report["findings"].as_array().expect("findings");
    assert!(found.iter().any(|f| f["check"] == check && f["status"] == "bad"), "{check}: {report:#}");
}

#[test]
fn an_untouched_home_is_healthy() {
    let s = furnished();
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_rule_with_another_text_is_named() {
    for column in ["body", "title", "kind"] {
        let s = furnished();
        edit(&s, Damage::Word(column));
        sick(&s, "texts");
    }
}

#[test]
fn a_memory_that_was_moved_retagged_or_redated_is_named() {
    let columns: [(&str, Param<'_>); 11] = [
        ("namespace", "other".into()),
        ("project", "elsewhere".into()),
        ("branch", "main".into()),
        ("branch_scope", "project".into()),
        ("topic_key", "pull".into()),
        ("tags", "[\"harmless\"]".into()),
        ("valid_from", 1.into()),
        ("valid_to", 1.into()),
        ("parent", "mem_0000000000".into()),
        ("writer", "human:somebody".into()),
        ("created_at", 1.into()),
    ];
    for (column, value) in columns {
        let s = furnished();
        edit(&s, Damage::Column(column, value));
        sick(&s, "texts");
    }
}

#[test]
fn what_a_memory_was_stored_with_is_covered_too() {
    for (column, value) in [
        ("metadata", Param::from("{\"approved\":\"yes\"}")),
        ("commit_id", "abc".into()),
        ("module_path", "src".into()),
        ("session", "other".into()),
        ("source", "a person".into()),
    ] {
        let s = furnished();
        edit(&s, Damage::Column(column, value));
        sick(&s, "texts");
    }
    for (column, value) in [
        ("tier", Param::from("cold")),
        ("confidence", 0.25.into()),
        ("importance", 0.25.into()),
        ("pinned", true.into()),
    ] {
        let s = furnished();
        edit(&s, Damage::State(column, value));
        sick(&s, "texts");
    }
}

#[test]
fn a_raw_event_that_was_edited_or_taken_out_is_named() {
    let talk = || {
        let s = furnished();
        for text in ["the gulls were loud", "the ferry was late"] {
            let event = json!({ "text": text, "session": "talk", "speaker": "ana", "role": "user" });
            s.ok("episode_record", event);
        }
        assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
        s
    };
    for (column, value) in [
        ("text", Param::from("the gulls were quiet")),
        ("speaker", "bo".into()),
        ("role", "assistant".into()),
        ("at", 1.into()),
        ("session", "another".into()),
        ("project", "elsewhere".into()),
    ] {
        let s = talk();
        edit(&s, Damage::Event(column, value));
        sick(&s, "events");
    }
    let s = talk();
    edit(&s, Damage::EventRow);
    sick(&s, "events");
}

#[test]
fn a_purged_event_is_no_fault_and_hides_none() {
    let s = furnished();
    let talk = "{\"text\":\"one\",\"session\":\"t\"}\n{\"text\":\"two\",\"session\":\"t\"}\n";
    let file = s.home.path().join("talk.jsonl");
    strata_store::files::write_atomic(&file, talk.as_bytes()).expect("written");
    s.ok("import", json!({ "path": file.display().to_string() }));
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let first = ledger.read(&Control::default(), |r| r.episode_by_number(1)).expect("read").expect("stored");
    s.ok("purge", json!({ "id": first.id }));
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
    edit(&s, Damage::Event("text", "three".into()));
    sick(&s, "events");
}

#[test]
fn a_waiting_proposal_that_was_edited_or_taken_out_is_named() {
    let asked = || {
        let s = furnished();
        let rule = s.recall("push to main")[0].clone();
        s.ok(
            "reflect",
            json!({ "amends": rule, "text": "Push to main after a review", "reason": "clearer" }),
        );
        assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
        s
    };
    for (column, value) in [
        ("proposal", Param::from("{\"text\":\"Push whenever you like\"}")),
        ("reason", "asked for by everybody".into()),
        ("proposer", "human:somebody".into()),
        ("target", "mem_0000000000".into()),
    ] {
        let s = asked();
        edit(&s, Damage::Review(column, value));
        sick(&s, "reviews");
    }
    let s = asked();
    edit(&s, Damage::Reviews);
    sick(&s, "reviews");
}

/// A question that somebody made out to be decided is asked of nobody, and one that was decided is asked again.
#[test]
fn a_review_that_was_decided_or_reopened_by_hand_is_named() {
    type Decide = fn(&Session, &str);
    let undecided: Decide = |_, _| {};
    let approved: Decide = |s, id| drop(s.ok("review_approve", json!({ "id": id, "note": "fine" })));
    let rejected: Decide = |s, id| drop(s.ok("review_reject", json!({ "id": id })));
    let cases: [(Decide, &str, Param<'_>); 10] = [
        (undecided, "status", "rejected".into()),
        (undecided, "status", "withdrawn".into()),
        (undecided, "status", "approved".into()),
        (undecided, "decided_by", "human:somebody".into()),
        (undecided, "seq", 1.into()),
        (approved, "status", "pending".into()),
        (approved, "status", "rejected".into()),
        (approved, "decision_note", "never again".into()),
        (rejected, "decided_by", "human:somebody".into()),
        (rejected, "seq", 1.into()),
    ];
    for (decide, column, value) in cases {
        let s = furnished();
        let rule = s.recall("push to main")[0].clone();
        let asked = s.ok("reflect", json!({ "amends": rule, "text": "Push to main after a review" }));
        decide(&s, asked["review"].as_str().expect("a review"));
        assert_eq!(s.ok("doctor", json!({}))["healthy"], true, "as it was decided");
        edit(&s, Damage::Review(column, value));
        sick(&s, "reviews");
    }
}

#[test]
fn a_conflict_that_was_resolved_is_whole_and_its_other_outcome_is_named() {
    for (decision, other) in [("keep_a", "rejected"), ("keep_b", "rejected"), ("keep_both", "approved")] {
        let s = furnished();
        s.remember("The pool holds at most 20 connections.");
        s.remember("The pool is capped at 50 connections.");
        let found = s.ok("contradictions", json!({}));
        let asked = json!({ "id": found["findings"][0]["review"], "decision": decision, "note": "newer" });
        s.ok("review_resolve", asked);
        assert_eq!(s.ok("doctor", json!({}))["healthy"], true, "{decision}");
        edit(&s, Damage::Review("status", other.into()));
        sick(&s, "reviews");
    }
}

#[test]
fn a_memory_of_the_first_formula_keeps_it() {
    let s = furnished();
    edit(&s, Damage::Column("content_version", 1.into()));
    sick(&s, "texts");
}

#[test]
fn a_state_that_was_changed_everywhere_after_an_update_is_named() {
    for (column, value) in [
        ("status", Param::from("stale")),
        ("tier", "cold".into()),
        ("confidence", 0.25.into()),
        ("importance", 0.25.into()),
        ("pinned", false.into()),
    ] {
        let s = home(7);
        let id = s.remember("the pump runs at night");
        s.ok("update", json!({ "id": id, "pinned": true, "confidence": 0.6 }));
        assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
        edit(&s, Damage::State(column, value));
        sick(&s, "texts");
    }
}

#[test]
fn what_forget_and_restore_record_fits() {
    let s = home(7);
    let id = s.remember("the pump runs at night");
    s.ok("forget", json!({ "id": id }));
    s.ok("restore", json!({ "id": id }));
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
    edit(&s, Damage::State("confidence", 0.1.into()));
    sick(&s, "texts");
}

#[test]
fn what_upkeep_archives_and_a_person_rejects_cannot_be_edited_unseen() {
    let s = home(7);
    let id = s.remember("the pump runs at night");
    s.ok("forget", json!({ "id": id }));
    let mut s = later(s, 24 * 31);
    s.ok("maintain", json!({ "task": "trash" }));
    assert_eq!(s.ok("inspect", json!({ "id": id }))["status"], "archived");
    edit(&s, Damage::LastState(1));
    sick(&s, "texts");

    s = home(7);
    become_owner(&mut s);
    let review = s.ok("reflect", json!({ "text": "Always push at once", "kind": "rule" }))["review"].clone();
    s.ok("review_reject", json!({ "id": review }));
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
    edit(&s, Damage::LastState(1));
    sick(&s, "texts");
}

#[test]
fn a_graph_that_outlives_the_tail_of_its_audit_is_named() {
    for tool in ["entity_add", "relation_add"] {
        let s = home(7);
        s.ok("entity_add", json!({ "label": "pump" }));
        if tool == "relation_add" {
            s.ok("entity_add", json!({ "label": "mill" }));
            s.ok("relation_add", json!({ "source": "pump", "relation": "relates_to", "target": "mill" }));
        }
        let ledger = s.engine.existing_ledger().expect("a ledger");
        let last = ledger.read(&Control::default(), |r| r.head()).expect("a head").seq;
        edit(&s, Damage::AuditTail(last - 1));
        sick(&s, "audit");
    }
}

#[test]
fn a_fact_that_was_made_a_rule_everywhere_is_named() {
    let s = furnished();
    edit(&s, Damage::Everywhere(2, "layer", "P0"));
    sick(&s, "texts");
}

#[test]
fn a_rule_that_was_trashed_everywhere_is_named() {
    let s = furnished();
    edit(&s, Damage::Everywhere(1, "status", "trashed"));
    sick(&s, "texts");
}

#[test]
fn a_candidate_that_was_put_in_force_everywhere_is_named() {
    let s = furnished();
    s.ok("reflect", json!({ "text": "Always push at once", "kind": "rule" }));
    edit(&s, Damage::Everywhere(3, "status", "active"));
    sick(&s, "texts");
}

#[test]
fn signatures_that_were_taken_out_are_missed() {
    let s = furnished();
    edit(&s, Damage::HeadsAfter(0));
    sick(&s, "audit");
    let s = furnished();
    edit(&s, Damage::HeadsAfter(1));
    sick(&s, "audit");
}

#[test]
fn another_passphrase_is_not_taken_in_silence() {
    let mut s = furnished();
    s.secret = Some(crate::maintain_support::secret("battery staple"));
    assert_eq!(s.fails("init", json!({})).code(), "conflict");
    s.secret = Some(crate::maintain_support::secret("correct horse"));
    s.ok("init", json!({}));
}
