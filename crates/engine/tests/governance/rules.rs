//! Rules: who may change them, in which order they stand, and that no attribute changes unseen.

use crate::maintain_support::{Session, acting, become_owner, holding, home};
use crate::support::with_call;
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind, scope::Scope};
use strata_testkit::tamper::{Damage, tamper};

/// A home with a passphrase, whose caller is the person who holds it.
fn owned(seed: u64) -> Session {
    let mut s = home(seed);
    become_owner(&mut s);
    s
}

fn add(s: &Session, arguments: Value) -> String {
    s.ok("rules_add", arguments)["rule"]["id"].as_str().expect("an id").to_owned()
}

#[expect(clippy::panic, reason = "a text without it fails the test")]
fn position(text: &str, part: &str) -> usize {
    text.find(part).unwrap_or_else(|| panic!("`{part}` in {text}"))
}

fn last_audit(s: &Session) -> strata_core::chain::AuditEntry {
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let rows = ledger.read(&strata_store::sql::Control::default(), |r| r.audit(&Default::default()));
    rows.expect("read").swap_remove(0).entry
}

#[test]
fn p_layer_c47_c50_rules_stand_by_layer_then_priority_then_age() {
    let s = owned(1);
    s.ok("remember", json!({ "text": "payments settle overnight", "kind": "fact" }));
    for (text, layer, priority) in [
        ("lower rule about payments first", "P5", 1),
        ("identity stays the second", "P1", 200),
        ("hundredth of the constitution", "P0", 100),
        ("tenth of the constitution", "P0", 10),
        ("younger hundredth of it", "P0", 100),
    ] {
        add(&s, json!({ "text": text, "layer": layer, "priority": priority }));
    }
    let order = ["tenth", "hundredth of the", "younger", "identity", "lower rule", "settle overnight"];
    for query in [json!({ "query": "payments" }), json!({})] {
        let text = s.text("context", query);
        let places: Vec<usize> = order.iter().map(|part| position(&text, part)).collect();
        assert!(places.is_sorted(), "{places:?} {text}");
        assert_eq!(text.matches("lower rule about payments").count(), 1, "{text}");
    }
    let listed: Vec<Value> = s.ok("rules_list", json!({}))["rules"].as_array().expect("rules").clone();
    let places: Vec<(&str, i64)> = listed
        .iter()
        .map(|r| (r["layer"].as_str().expect("a layer"), r["priority"].as_i64().expect("a priority")))
        .collect();
    assert_eq!(places, [("P0", 10), ("P0", 100), ("P0", 100), ("P1", 200), ("P5", 1)]);
}

#[test]
fn a_condition_is_shown_with_the_rule_and_a_disabled_rule_is_shown_nowhere() {
    let s = owned(2);
    let id = add(&s, json!({ "text": "ask before a migration", "condition": "the table has data" }));
    for _ in 0..2 {
        let pack = s.text("context", json!({}));
        assert!(
            pack.contains("ask before a migration") && pack.contains("when: the table has data"),
            "{pack}"
        );
        assert!(hot(&s).contains("(when: the table has data) ask before"), "{}", hot(&s));
        s.ok("rules_disable", json!({ "id": id, "reason": "the window is closed" }));
        let gone = s.text("context", json!({ "query": "ask before a migration" }));
        assert!(!gone.contains("ask before"), "{gone}");
        assert!(!hot(&s).contains("ask before"), "{}", hot(&s));
        let listed = s.ok("rules_list", json!({}));
        assert_eq!((listed["rules"].as_array().map(Vec::len), &listed["disabled"]), (Some(0), &json!(1)));
        assert_eq!(s.ok("rules_list", json!({ "all": true }))["rules"][0]["enabled"], false);
        assert!(
            !s.text("inspect", json!({ "id": id })).contains("approved rules"),
            "it is not to be followed"
        );
        assert_eq!(s.fails("rules_disable", json!({ "id": id })), ErrorKind::Conflict);
        s.ok("rules_enable", json!({ "id": id }));
        let shown = s.text("inspect", json!({ "id": id }));
        assert!(
            shown.contains("approved rules") && shown.contains("applies when: the table has data"),
            "{shown}"
        );
    }
}

fn hot(s: &Session) -> String {
    with_call(s, |call| strata_engine::context::hot::page(&s.engine, call)).expect("a page")
}

#[test]
fn an_agent_is_refused_on_record_and_told_to_propose() {
    let mut s = owned(3);
    let id = add(&s, json!({ "text": "no direct pushes", "layer": "P1" }));
    let off = add(&s, json!({ "text": "no pushes on Friday" }));
    s.ok("rules_disable", json!({ "id": off }));
    s.set_kind(PrincipalKind::Agent);
    s.secret = None;
    for (tool, arguments) in [
        ("rules_add", json!({ "text": "agents may push" })),
        ("rules_add", json!({ "text": "agents may push", "layer": "P1" })),
        ("rules_edit", json!({ "id": id, "text": "direct pushes are fine" })),
        ("rules_edit", json!({ "id": id, "priority": 1 })),
        ("rules_edit", json!({ "id": id, "condition": "never" })),
        ("rules_edit", json!({ "id": id, "layer": "P5" })),
        ("rules_disable", json!({ "id": id })),
        ("rules_enable", json!({ "id": off })),
    ] {
        let error = s.reply(tool, arguments.clone()).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Refused, "{tool} {arguments}");
        assert!(error.to_string().contains("does not allow"), "{error}");
        // A switch cannot be proposed: `reflect` changes what a rule says.
        let way = if tool == "rules_add" || tool == "rules_edit" { "`reflect`" } else { "a person" };
        assert!(error.hint().contains(way), "{}", error.hint());
        let entry = last_audit(&s);
        assert_eq!((entry.principal.as_str(), entry.outcome.as_str()), ("agent:test", "refused"));
    }
    let rules = s.ok("rules_list", json!({ "all": true }))["rules"].clone();
    assert_eq!((&rules[0]["enabled"], &rules[1]["priority"]), (&json!(false), &json!(100)));
    assert_eq!(
        s.fails("rules_edit", json!({ "id": s.remember("a fact"), "priority": 1 })),
        ErrorKind::Conflict
    );
    let own = add(&s, json!({ "text": "keep functions short", "layer": "P5", "priority": 3 }));
    s.ok("rules_edit", json!({ "id": own, "priority": 2, "reason": "it matters" }));
}

#[test]
fn a_human_needs_the_secret_and_the_system_applies_the_change() {
    let mut s = owned(4);
    let id = add(&s, json!({ "text": "two people review" }));
    let secret = s.secret.take();
    for (tool, arguments, command) in [
        ("rules_add", json!({ "text": "three people review" }), "strata rules add"),
        ("rules_edit", json!({ "id": id, "priority": 1 }), "strata rules edit"),
        ("rules_disable", json!({ "id": id }), "strata rules disable"),
    ] {
        let error = s.reply(tool, arguments).expect_err("approval");
        assert_eq!(error.kind(), ErrorKind::ApprovalRequired);
        assert!(error.hint().contains(command), "{}", error.hint());
    }
    s.secret = secret;
    s.ok("rules_edit", json!({ "id": id, "priority": 1, "condition": "code changes" }));
    let entry = last_audit(&s);
    assert_eq!(
        (entry.action.as_str(), entry.principal.as_str(), entry.on_behalf_of.as_deref()),
        ("rule_edit", "system:approval", Some("human:test"))
    );
    assert_ne!(entry.before_hash, entry.after_hash);
    s.ok("rules_edit", json!({ "id": id, "unconditional": true }));
    assert_eq!(s.ok("rules_list", json!({}))["rules"][0].get("condition"), None);
    assert_eq!(s.fails("rules_edit", json!({ "id": id })), ErrorKind::Invalid);
}

#[test]
fn what_is_no_rule_is_refused() {
    let s = owned(5);
    for arguments in [
        json!({ "text": "" }),
        json!({ "text": "   " }),
        json!({ "text": "x", "layer": "P9" }),
        json!({ "text": "x", "priority": -1 }),
        json!({ "text": "x", "priority": "soon" }),
    ] {
        assert_eq!(s.fails("rules_add", arguments), ErrorKind::Invalid);
    }
    assert_eq!(s.ok("rules_list", json!({ "all": true }))["rules"], json!([]));
}

#[test]
fn a_new_version_keeps_the_attributes_unless_told() {
    let s = owned(6);
    let first = add(
        &s,
        json!({ "text": "tests run before a merge", "priority": 7, "condition": "always", "scope": "ci" }),
    );
    let second = s.ok("update", json!({ "id": first, "text": "all tests run before a merge" }))["id"].clone();
    let rule = s.ok("rules_list", json!({}))["rules"][0].clone();
    assert_eq!(
        (&rule["id"], &rule["priority"], &rule["condition"], &rule["applies_to"]),
        (&second, &json!(7), &json!("always"), &json!("ci"))
    );
    let third =
        s.ok("rules_edit", json!({ "id": second, "text": "every test runs before a merge", "priority": 5 }));
    assert_eq!((&third["rule"]["priority"], &third["rule"]["condition"]), (&json!(5), &json!("always")));
    assert_eq!(third["previous"], second);
    s.ok("rules_disable", json!({ "id": third["rule"]["id"] }));
    s.ok("update", json!({ "id": third["rule"]["id"], "text": "each test runs before a merge" }));
    assert_eq!(s.ok("rules_list", json!({}))["disabled"], 1, "a better wording does not put it in force");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn what_held_before_can_be_asked() {
    let s = owned(7);
    let id = add(&s, json!({ "text": "deploys happen on Tuesdays", "priority": 9 }));
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let control = strata_store::sql::Control::default();
    let before = ledger.read(&control, |r| r.head()).expect("read").seq;
    s.ok("rules_edit", json!({ "id": id, "priority": 4, "condition": "no freeze" }));
    let (then, now) = ledger.read(&control, |r| Ok((r.rules_as_of(before)?, r.rules_now()?))).expect("read");
    assert_eq!((then.len(), then[0].attributes.priority, &then[0].attributes.condition), (1, 9, &None));
    assert_eq!(now[&then[0].number].priority, 4);
}

#[test]
fn an_attribute_edited_in_the_file_is_named() {
    for what in ["priority", "condition", "switch", "end", "rows"] {
        let damage = Damage::Rule(what);
        for edited in [false, true] {
            let s = owned(8);
            let id = add(
                &s,
                json!({ "text": "never log card numbers", "priority": 10, "condition": "in production" }),
            );
            if edited {
                s.ok("rules_edit", json!({ "id": id, "priority": 20 }));
            }
            assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
            tamper(s.engine.existing_ledger().expect("a ledger").database(), damage);
            let report = s.ok("doctor", json!({}));
            let found = report["findings"].as_array().expect("findings");
            let told = found.iter().any(|f| f["check"] == "rules" && f["status"] == "bad");
            assert!(told, "{damage:?} {edited}: {report:#}");
        }
    }
}

#[test]
fn rules_move_to_another_home_with_all_they_had() {
    let s = owned(9);
    let id = add(&s, json!({ "text": "rotate the key", "priority": 10, "condition": "every quarter" }));
    s.ok("rules_edit", json!({ "id": id, "priority": 20 }));
    s.ok("rules_disable", json!({ "id": id, "reason": "the vendor does it" }));
    add(&s, json!({ "text": "log in with the second factor" }));
    let file = |s: &Session, name: &str| {
        let path = s.home.path().join(name);
        s.ok("export", json!({ "path": path.to_string_lossy() }));
        std::fs::read_to_string(path).expect("written")
    };
    let text = file(&s, "a.jsonl");
    let other = owned(10);
    let given = other.home.path().join("given.jsonl");
    strata_store::files::write_atomic(&given, text.as_bytes()).expect("written");
    other.ok("load", json!({ "path": given.to_string_lossy() }));
    assert_eq!(file(&other, "b.jsonl"), text);
    let rules = |s: &Session| s.ok("rules_list", json!({ "all": true }))["rules"].clone();
    assert_eq!(rules(&other), rules(&s));
    assert_eq!(other.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_purged_rule_leaves_no_condition_behind() {
    let s = owned(11);
    let id = add(&s, json!({ "text": "ask the harbour master", "condition": "the zeppelin is over Kiel" }));
    s.ok("rules_edit", json!({ "id": id, "condition": "the barrage balloon is over Kiel" }));
    s.ok("purge", json!({ "id": id }));
    for part in ["zeppelin", "barrage balloon", "harbour master"] {
        assert_eq!(holding(s.home.path(), part), Vec::<std::path::PathBuf>::new(), "{part}");
    }
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_rule_holds_where_it_was_put() {
    let mut s = owned(12);
    s.scope = Scope::project("atlas");
    add(&s, json!({ "text": "atlas builds with nix" }));
    add(&s, json!({ "text": "answers are short", "scope": "user" }));
    let heard = |s: &Session| {
        let rules = s.ok("rules_list", json!({}))["rules"].clone();
        rules.as_array().map(Vec::len).unwrap_or_default()
    };
    assert_eq!(heard(&s), 2);
    s.scope = Scope::project("other");
    assert_eq!(acting(&mut s, PrincipalKind::Agent, heard), 1);
}
