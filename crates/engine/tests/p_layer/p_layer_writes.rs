//! p-layer's checks of storing, changing and refusing, by number.

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    principal::{Principal, PrincipalKind},
};
use strata_store::{ledger::AuditFilter, sql::Control};
use strata_testkit::tamper::Damage;

/// (action, outcome, principal, layer) of every audit line, newest first.
fn audit(s: &Session) -> Vec<(String, String, String, String)> {
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let lines = ledger.read(&Control::default(), |r| r.audit(&AuditFilter::default())).expect("read");
    lines
        .into_iter()
        .map(|line| {
            let e = line.entry;
            let layer = e.layer.map(|l| l.to_string()).unwrap_or_default();
            (e.action, e.outcome.as_str().to_owned(), e.principal, layer)
        })
        .collect()
}

fn as_named(kind: PrincipalKind, name: &str) -> Session {
    let mut s = Session::new();
    s.principal = Principal::new(kind, name);
    s
}

fn tamper(s: &Session, damage: Damage<'_>) {
    strata_testkit::tamper::tamper(s.engine.existing_ledger().expect("there").database(), damage);
}

/// Every operation that opens the ledger, with arguments that would work.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("remember", json!({ "text": "the gate code changed" })),
        ("recall", json!({ "query": "gate" })),
        ("context", json!({})),
        ("inspect", json!({ "id": 1 })),
        ("update", json!({ "id": 1, "text": "another text" })),
        ("forget", json!({ "id": 1 })),
        ("reflect", json!({ "text": "always lock the gate", "reason": "it was open" })),
    ]
}

#[test]
fn p_layer_c8_a_changed_migration_is_refused_by_every_operation() {
    let s = Session::new();
    s.remember("the gate is locked at six");
    tamper(&s, Damage::Migration(1));
    let s = Session { engine: s.reopened(), ..s };
    for (tool, arguments) in calls() {
        let error = s.reply(tool, arguments).expect_err(tool);
        assert!(error.to_string().contains("migration 1"), "{tool}: {error}");
        assert!(!error.hint().is_empty(), "{tool}");
    }
    let report = s.ok("doctor", json!({}));
    assert_eq!(report["healthy"], false, "{report:#}");
}

#[test]
fn p_layer_c9_a_newer_schema_is_not_written() {
    let s = Session::new();
    s.remember("the gate is locked at six");
    tamper(&s, Damage::NewerSchema);
    let s = Session { engine: s.reopened(), ..s };
    for (tool, arguments) in
        calls().into_iter().filter(|(t, _)| matches!(*t, "remember" | "update" | "forget"))
    {
        let error = s.reply(tool, arguments).expect_err(tool);
        assert_eq!(error.kind(), ErrorKind::Newer, "{tool}: {error}");
        assert!(error.to_string().contains("schema version 999"), "{error}");
    }
}

#[test]
fn p_layer_c13_a_human_is_the_specs_manual() {
    assert_eq!(PrincipalKind::parse("manual"), Ok(PrincipalKind::Human));
    let s = as_named(PrincipalKind::Human, "ana");
    for layer in ["P4", "P5", "P6"] {
        s.ok("remember", json!({ "text": format!("a note for {layer}"), "layer": layer }));
    }
    let kind = s.fails("remember", json!({ "text": "a rule of ana's", "layer": "P0" }));
    assert_eq!(kind, ErrorKind::ApprovalRequired, "docs/adr/0001-write-policy.md");
    assert!(s.recall("rule of ana").is_empty());
}

#[test]
fn p_layer_c14_a_refused_rule_is_named_stored_nowhere_and_on_record_once() {
    let s = as_named(PrincipalKind::Agent, "claude-code");
    let error =
        s.reply("remember", json!({ "text": "tests are optional", "layer": "P0" })).expect_err("refused");
    let said = format!("{error} {}", error.hint());
    for part in ["P0", "agent:claude-code", "does not allow", "system"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(s.recall("tests optional").is_empty());
    let refused: Vec<_> = audit(&s).into_iter().filter(|(_, outcome, ..)| outcome == "refused").collect();
    assert_eq!(refused, [("remember".into(), "refused".into(), "agent:claude-code".into(), "P0".into())]);
}

#[test]
fn p_layer_c15_the_kind_decides_and_never_the_name() {
    use PrincipalKind::{Agent, Tool};
    for (kind, name, layer, allowed) in [
        (Agent, "deep-thought", "P0", false),
        (Agent, "system", "P0", false),
        (Agent, "system:admin", "P0", false),
        (Tool, "x", "P5", true),
        (Tool, "system", "P0", false),
    ] {
        let s = as_named(kind, name);
        let stored = s.reply("remember", json!({ "text": "a statement", "layer": layer, "kind": "note" }));
        assert_eq!(stored.is_ok(), allowed, "{kind:?} {name} {layer}");
    }
    for word in ["System", "SYSTEM", " system", "root", ""] {
        assert!(PrincipalKind::parse(word).is_err(), "{word:?}");
    }
}

#[test]
fn p_layer_c21_every_change_is_one_audit_line_with_who_what_layer_and_time() {
    let s = Session::new();
    let a = s.remember("the fountain is off in winter");
    let b = s.ok("update", json!({ "id": a, "text": "the fountain is off from November" }));
    s.ok("update", json!({ "id": b["id"], "importance": 0.9 }));
    s.ok("forget", json!({ "id": b["id"], "reason": "sold" }));
    s.ok("restore", json!({ "id": b["id"] }));
    let rule =
        s.ok("rules_add", json!({ "text": "the fountain is drained first", "layer": "P5" }))["rule"]["id"]
            .clone();
    s.ok("rules_edit", json!({ "id": rule, "priority": 3 }));
    s.ok("rules_disable", json!({ "id": rule }));
    s.ok("rules_enable", json!({ "id": rule }));
    s.ok("reflect", json!({ "amends": rule, "text": "the fountain is drained last", "reason": "frost" }));
    let expected = [
        "propose",
        "rule_enable",
        "rule_disable",
        "rule_edit",
        "rule_add",
        "restore",
        "forget",
        "update",
        "update",
        "remember",
    ];
    let lines = audit(&s);
    let actions: Vec<&str> = lines.iter().map(|(action, ..)| action.as_str()).collect();
    assert_eq!(actions, expected, "newest first, each call once");
    for (action, outcome, who, layer) in &lines {
        assert_eq!(
            (outcome.as_str(), who.as_str(), layer.as_str()),
            ("done", "agent:test", "P5"),
            "{action}"
        );
    }
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let rows =
        ledger.read(&strata_store::sql::Control::default(), |r| r.audit(&Default::default())).expect("read");
    assert!(
        rows.windows(2).all(|pair| pair[0].entry.at > pair[1].entry.at),
        "each has an instant of its own"
    );
}

#[test]
fn p_layer_c25_an_unknown_number_is_said_to_be_unknown() {
    let s = Session::new();
    s.remember("the only memory");
    for tool in ["update", "forget", "inspect"] {
        let arguments =
            if tool == "update" { json!({ "id": 999, "text": "x" }) } else { json!({ "id": 999 }) };
        let error = s.reply(tool, arguments).expect_err(tool);
        assert_eq!(error.kind(), ErrorKind::NotFound, "{tool}");
        assert!(error.to_string().contains("999"), "{error}");
    }
}
