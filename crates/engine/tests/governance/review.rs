//! The review queue: nothing proposed is in force until a person with the secret approves, and what was
//! decided rests on what the person saw.

use crate::maintain_support::{Session, acting, become_owner, holding, home};
use serde_json::{Value, json};
use strata_core::{
    chain::AuditEntry,
    error::ErrorKind,
    id::{Id, IdKind},
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
};
use strata_store::{
    ledger::{NewAudit, NewReview},
    sql::Control,
};

/// A home whose owner holds the passphrase.
fn owned(seed: u64) -> Session {
    let mut s = home(seed);
    become_owner(&mut s);
    s
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Runs a tool as an agent.
fn agent(s: &mut Session, tool: &str, arguments: Value) -> Value {
    let secret = s.secret.take();
    let reply = acting(s, PrincipalKind::Agent, |s| s.ok(tool, arguments));
    s.secret = secret;
    reply
}

fn propose(s: &mut Session, arguments: Value) -> (String, String) {
    let filed = agent(s, "reflect", arguments);
    (text(&filed["review"]), text(&filed["id"]))
}

fn rule(s: &Session, arguments: Value) -> String {
    text(&s.ok("rules_add", arguments)["rule"]["id"])
}

fn audit(s: &Session) -> Vec<AuditEntry> {
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let rows = ledger.read(&Control::default(), |r| r.audit(&Default::default())).expect("read");
    rows.into_iter().map(|row| row.entry).collect()
}

/// Files a conflict as the scan does.
fn conflict(s: &Session, a: &str, b: &str) -> String {
    let review = NewReview {
        id: Id::from_bits(IdKind::Review, s.engine.ids().bits()),
        kind: "conflict".into(),
        target: b.to_owned(),
        proposal: json!({ "a": a, "b": b, "axis": "number", "subject": "the database port", "values": ["5432", "5433"], "score": 0.93 })
            .to_string(),
        reason: "the two name different numbers".into(),
        proposer: "system:contradictions".into(),
        created_at: s.engine.clock().now(),
        salt: s.engine.ids().salt(),
    };
    let system = Principal::new(PrincipalKind::System, "contradictions");
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let filed = ledger.write(&Control::default(), s.engine.clock().now(), |w| {
        let seq = w.record(&NewAudit::new(&system, Face::Library, "propose", b).asking(&review))?;
        w.insert_review(&review, seq)
    });
    filed.expect("filed");
    review.id.to_string()
}

#[test]
fn a_candidate_is_in_force_once_a_person_with_the_secret_approves() {
    let mut s = owned(1);
    let (review, id) = propose(
        &mut s,
        json!({ "text": "Always run the linter before a push.", "kind": "rule", "priority": 7, "condition": "code changed", "reason": "two broken builds", "evidence": ["build 41"] }),
    );
    let listed = s.ok("review_list", json!({}));
    assert_eq!((&listed["reviews"][0]["id"], &listed["kinds"]["candidate"]), (&json!(review), &json!(1)));
    let shown = s.ok("review_show", json!({ "id": review[..10] }));
    assert_eq!(
        (&shown["reason"], &shown["evidence"][0], &shown["layer"]),
        (&json!("two broken builds"), &json!("build 41"), &json!("P0"))
    );
    assert_eq!((&shown["sides"][0]["side"], &shown["sides"][0]["priority"]), (&json!("proposed"), &json!(7)));
    assert!(!s.text("context", json!({})).contains("linter"));
    let secret = s.secret.take();
    let error = s.reply("review_approve", json!({ "id": review })).expect_err("no secret");
    assert_eq!(error.kind(), ErrorKind::ApprovalRequired);
    assert!(error.hint().contains(&format!("strata review approve {review}")), "{}", error.hint());
    for kind in [PrincipalKind::Agent, PrincipalKind::System, PrincipalKind::Cron, PrincipalKind::Tool] {
        let refused = acting(&mut s, kind, |s| s.fails("review_approve", json!({ "id": review })));
        assert_eq!(refused, ErrorKind::ApprovalRequired, "{kind:?}");
    }
    s.secret = secret;
    let done = s.ok("review_approve", json!({ "id": review, "note": "agreed" }));
    assert_eq!((&done["id"], &done["status"]), (&json!(id), &json!("approved")));
    let pack = s.text("context", json!({}));
    assert!(pack.contains("run the linter") && pack.contains("when: code changed"), "{pack}");
    let row = audit(&s).swap_remove(0);
    assert_eq!(
        (row.action.as_str(), row.principal.as_str(), row.on_behalf_of.as_deref(), row.target.as_str()),
        ("approve", "system:approval", Some("human:test"), id.as_str())
    );
    assert!(row.reason.contains(&review) && row.reason.contains("agreed"), "{}", row.reason);
    assert_eq!(s.fails("review_approve", json!({ "id": review })), ErrorKind::Conflict);
    assert_eq!(s.ok("review_show", json!({ "id": review }))["decided_by"], "human:test");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn an_amendment_makes_a_version_of_the_rule_it_saw() {
    let mut s = owned(2);
    let id = rule(&s, json!({ "text": "Retries stop after 5 attempts.", "priority": 20 }));
    let change = json!({ "amends": id, "text": "Retries stop after 3 attempts.", "priority": 10, "condition": "the call costs money", "reason": "the incident of May", "evidence": ["ticket 7"] });
    let (review, target) = propose(&mut s, change.clone());
    assert_eq!(target, id, "it is about the rule in force");
    assert_eq!(agent(&mut s, "reflect", change)["was_waiting"], true);
    let shown = s.ok("review_show", json!({ "id": review }));
    let sides: Vec<_> = shown["sides"]
        .as_array()
        .expect("sides")
        .iter()
        .map(|s| (text(&s["side"]), text(&s["text"])))
        .collect();
    assert_eq!(
        sides,
        [
            ("stands".into(), "Retries stop after 5 attempts.".to_owned()),
            ("proposed".into(), "Retries stop after 3 attempts.".to_owned())
        ]
    );
    assert!(s.text("context", json!({})).contains("after 5 attempts"), "nothing changed yet");
    let done = s.ok("review_approve", json!({ "id": review }));
    assert_eq!(done["previous"], json!(id));
    let rules = s.ok("rules_list", json!({}))["rules"].clone();
    assert_eq!(rules.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&rules[0]["text"], &rules[0]["priority"], &rules[0]["condition"]),
        (&json!("Retries stop after 3 attempts."), &json!(10), &json!("the call costs money"))
    );
    let history = s.ok("inspect", json!({ "id": done["id"] }));
    assert_eq!(history["history"].as_array().map(Vec::len), Some(2));
    assert_eq!(history["evidence"], json!(["ticket 7"]));
    let row = audit(&s).swap_remove(0);
    assert!(row.before_hash.is_some() && row.after_hash.is_some() && row.before_hash != row.after_hash);
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn priority_and_condition_alone_are_amended_in_place() {
    let mut s = owned(3);
    let id = rule(&s, json!({ "text": "Backups are tested monthly." }));
    let (review, _) = propose(&mut s, json!({ "amends": id, "priority": 5 }));
    let done = s.ok("review_approve", json!({ "id": review }));
    assert_eq!((&done["id"], done.get("previous")), (&json!(id), None));
    assert_eq!(s.ok("rules_list", json!({}))["rules"][0]["priority"], 5);
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
    for wrong in [
        json!({ "amends": id, "priority": 5 }),
        json!({ "amends": id, "text": "Backups are tested monthly." }),
        json!({ "amends": id, "priority": -1 }),
        json!({ "amends": id, "text": "x", "layer": "P5" }),
        json!({ "amends": s.remember("a fact"), "priority": 3 }),
        json!({ "reason": "none" }),
    ] {
        assert_eq!(s.fails("reflect", wrong.clone()), ErrorKind::Invalid, "{wrong}");
    }
}

#[test]
fn what_changed_after_the_proposal_is_a_conflict() {
    let mut s = owned(4);
    for (tool, change) in [
        ("rules_edit", json!({ "text": "Deploys happen on Mondays." })),
        ("rules_edit", json!({ "priority": 3 })),
        ("rules_disable", json!({})),
        ("forget", json!({ "reason": "outdated" })),
    ] {
        let id = rule(&s, json!({ "text": format!("Deploys happen on Tuesdays, says {tool} {change}.") }));
        let (review, _) = propose(
            &mut s,
            json!({ "amends": id, "text": format!("Deploys happen never, says {tool} {change}.") }),
        );
        let mut arguments = change;
        arguments["id"] = json!(id);
        s.ok(tool, arguments);
        assert_eq!(s.fails("review_approve", json!({ "id": review })), ErrorKind::Conflict, "{tool}");
        assert_eq!(s.ok("review_show", json!({ "id": review }))["moved_on"], true, "{tool}");
        assert!(!s.text("context", json!({})).contains("happen never"));
        s.ok("review_reject", json!({ "id": review }));
    }
    assert_eq!(s.ok("review_list", json!({}))["reviews"], json!([]));
}

#[test]
fn a_rejected_candidate_is_archived_and_stays_out() {
    let mut s = owned(5);
    let (review, id) = propose(&mut s, json!({ "text": "Tests are optional.", "kind": "rule" }));
    let refused = acting(&mut s, PrincipalKind::Agent, |s| s.fails("review_reject", json!({ "id": review })));
    assert_eq!(refused, ErrorKind::Refused);
    let secret = s.secret.take();
    s.ok("review_reject", json!({ "id": review, "note": "they are not" }));
    s.secret = secret;
    assert_eq!(s.ok("inspect", json!({ "id": id }))["status"], "archived");
    let back = acting(&mut s, PrincipalKind::Agent, |s| s.fails("restore", json!({ "id": id })));
    assert_eq!(back, ErrorKind::Refused);
    assert_eq!(s.fails("review_approve", json!({ "id": review })), ErrorKind::Conflict);
    let listed = s.ok("review_list", json!({ "status": "rejected" }));
    assert_eq!(listed["reviews"][0]["id"], json!(review));
    assert_eq!(s.ok("review_show", json!({ "id": review }))["note"], "they are not");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_conflict_is_resolved_by_whoever_may_change_what_gives_way() {
    let mut s = owned(6);
    let high = rule(&s, json!({ "text": "The database listens on port 5432." }));
    let low = text(&agent(&mut s, "remember", json!({ "text": "Our database uses port 5433 now." }))["id"]);
    let review = conflict(&s, &high, &low);
    let shown = s.ok("review_show", json!({ "id": review }));
    assert_eq!((&shown["sides"][0]["id"], &shown["sides"][1]["id"]), (&json!(high), &json!(low)));
    assert!(text(&shown["difference"]).contains("5432 / 5433"), "{shown}");
    for decision in ["keep_b", "keep_both"] {
        let refused = acting(&mut s, PrincipalKind::Agent, |s| {
            s.fails("review_resolve", json!({ "id": review, "decision": decision }))
        });
        assert_eq!(refused, ErrorKind::Refused, "{decision}");
    }
    assert_eq!(s.fails("review_approve", json!({ "id": review })), ErrorKind::Conflict);
    let done = agent(&mut s, "review_resolve", json!({ "id": review, "decision": "keep_a" }));
    assert_eq!((&done["superseded"], &done["kept"][0]), (&json!(low), &json!(high)));
    let gone = s.ok("inspect", json!({ "id": low }));
    assert_eq!((&gone["status"], &gone["superseded_by"]), (&json!("superseded"), &json!(high)));
    assert_eq!(s.fails("review_resolve", json!({ "id": review, "decision": "keep_b" })), ErrorKind::Conflict);
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn keeping_a_newer_memory_over_a_rule_takes_the_secret() {
    let mut s = owned(7);
    let high = rule(&s, json!({ "text": "The database listens on port 5432." }));
    let low = text(&agent(&mut s, "remember", json!({ "text": "Our database uses port 5433 now." }))["id"]);
    let review = conflict(&s, &high, &low);
    let secret = s.secret.take();
    let error =
        s.reply("review_resolve", json!({ "id": review, "decision": "keep_b" })).expect_err("no secret");
    assert_eq!(error.kind(), ErrorKind::ApprovalRequired);
    assert!(error.hint().contains("strata review resolve"), "{}", error.hint());
    s.secret = secret;
    s.ok("review_resolve", json!({ "id": review, "decision": "keep_b" }));
    assert_eq!(s.ok("inspect", json!({ "id": high }))["superseded_by"], json!(low));
    let both = conflict(&s, &s.remember("tea is served at four"), &s.remember("coffee is served at five"));
    s.ok("review_resolve", json!({ "id": both, "decision": "keep_both" }));
    assert_eq!(s.ok("review_show", json!({ "id": both }))["status"], "rejected");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_side_that_is_gone_cannot_be_kept() {
    let s = owned(8);
    let (a, b) = (s.remember("the mill has four sails"), s.remember("a mill with five sails"));
    let review = conflict(&s, &a, &b);
    s.ok("forget", json!({ "id": a }));
    assert_eq!(s.fails("review_resolve", json!({ "id": review, "decision": "keep_a" })), ErrorKind::Conflict);
    assert_eq!(
        s.fails("review_resolve", json!({ "id": review, "decision": "keep_both" })),
        ErrorKind::Conflict
    );
}

#[test]
fn reviews_of_another_project_are_not_seen() {
    let mut s = owned(9);
    s.scope = Scope::project("atlas");
    let (review, _) = propose(&mut s, json!({ "text": "Atlas never builds on Sundays.", "kind": "rule" }));
    s.scope = Scope::project("other");
    acting(&mut s, PrincipalKind::Agent, |s| {
        assert_eq!(s.ok("review_list", json!({}))["reviews"], json!([]));
        assert_eq!(s.fails("review_show", json!({ "id": review })), ErrorKind::NotFound);
        assert_eq!(s.fails("review_reject", json!({ "id": review })), ErrorKind::NotFound);
    });
    assert_eq!(s.ok("review_list", json!({}))["reviews"].as_array().map(Vec::len), Some(1), "people see all");
}

#[test]
fn a_purge_takes_the_words_of_proposals_along() {
    let mut s = owned(10);
    let id = rule(&s, json!({ "text": "Ask the harbour master." }));
    let (review, _) =
        propose(&mut s, json!({ "amends": id, "text": "Ask the lighthouse keeper about zeppelins." }));
    let new = text(&s.ok("review_approve", json!({ "id": review }))["id"]);
    let low = s.remember("the zeppelin lighthouse has five lamps");
    let waiting = conflict(&s, &new, &low);
    s.ok("purge", json!({ "id": new }));
    assert_eq!(holding(s.home.path(), "lighthouse keeper"), Vec::<std::path::PathBuf>::new());
    assert_eq!(s.ok("review_show", json!({ "id": waiting }))["status"], "withdrawn");
    assert_eq!(
        s.fails("review_resolve", json!({ "id": waiting, "decision": "keep_a" })),
        ErrorKind::Conflict
    );
}

#[test]
fn names_are_noticed_in_what_a_person_approves() {
    let mut s = owned(31);
    let seen = |s: &Session, name: &str| s.ok("graph_explore", json!({ "query": name })).to_string();
    let (review, _) =
        propose(&mut s, json!({ "text": "Run `check_ports.sh` before a deploy.", "kind": "rule" }));
    let approved = s.ok("review_approve", json!({ "id": review }));
    assert!(seen(&s, "check_ports.sh").contains("before a deploy"), "a candidate: {approved:#}");
    let (review, _) = propose(
        &mut s,
        json!({ "amends": approved["id"], "text": "Run `verify_certs.sh` before a release of the gateway." }),
    );
    let amended = s.ok("review_approve", json!({ "id": review }));
    assert!(seen(&s, "verify_certs.sh").contains("release of the gateway"), "an amendment: {amended:#}");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}
