//! The policy table through the real write path: every layer, principal and mutation, and the record of
//! each refusal.

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    memory::Layer,
    policy::Verdict,
    principal::{Principal, PrincipalKind},
};

/// Stores a memory in `layer` as the system and returns its id.
fn planted(s: &mut Session, layer: Layer, text: &str) -> String {
    let actor = std::mem::replace(&mut s.principal, Principal::new(PrincipalKind::System, "test"));
    let reply = s.ok("remember", json!({ "text": text, "layer": layer.as_str(), "kind": "note" }));
    s.principal = actor;
    reply["id"].as_str().expect("an id").to_owned()
}

fn system<T>(s: &mut Session, work: impl FnOnce(&Session) -> T) -> T {
    let actor = std::mem::replace(&mut s.principal, Principal::new(PrincipalKind::System, "test"));
    let out = work(s);
    s.principal = actor;
    out
}

fn expect(verdict: Verdict) -> Option<ErrorKind> {
    match verdict {
        Verdict::Allow => None,
        Verdict::NeedsApproval => Some(ErrorKind::ApprovalRequired),
        Verdict::Refuse => Some(ErrorKind::Refused),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "calls read best with `json!` as they stand")]
fn check(s: &Session, tool: &str, arguments: Value, verdict: Verdict) {
    let got = s.reply(tool, arguments.clone()).err().map(|e| e.kind());
    assert_eq!(got, expect(verdict), "{} {tool} {arguments}", s.principal);
}

/// p-layer's matrix by layer, in the order system, gateway, cron, agent, human, tool: `Y` allowed, `n` denied, `a` denied
/// until a person with the secret approves (docs/adr/0001-write-policy.md).
const MATRIX: [(&str, &str); 7] = [
    ("P0", "Ynnnan"),
    ("P1", "Ynnnan"),
    ("P2", "YYYnnn"),
    ("P3", "YYYnan"),
    ("P4", "YnYYYn"),
    ("P5", "YnYYYY"),
    ("P6", "YnYYYY"),
];

fn cell(layer: Layer, column: usize) -> Verdict {
    let (_, row) = MATRIX.iter().find(|(name, _)| *name == layer.as_str()).expect("every layer has a row");
    match row.as_bytes()[column] {
        b'Y' => Verdict::Allow,
        b'a' => Verdict::NeedsApproval,
        _ => Verdict::Refuse,
    }
}

#[test]
fn p_layer_c12_every_layer_and_principal_and_mutation() {
    use PrincipalKind::{Agent, Cron, Gateway, Human, System, Tool};
    for (column, kind) in [System, Gateway, Cron, Agent, Human, Tool].into_iter().enumerate() {
        let mut s = Session::new().of_kind(kind);
        for layer in Layer::ALL.iter().copied() {
            let (add, change) = (cell(layer, column), cell(layer, column));
            let name = layer.as_str();
            check(
                &s,
                "remember",
                json!({ "text": format!("new in {name}"), "layer": name, "kind": "note" }),
                add,
            );
            let id = planted(&mut s, layer, &format!("to change in {name}"));
            check(&s, "update", json!({ "id": id, "text": format!("changed in {name}") }), change);
            let id = planted(&mut s, layer, &format!("to forget in {name}"));
            check(&s, "forget", json!({ "id": id, "reason": "test" }), change);
            let id = planted(&mut s, layer, &format!("to restore in {name}"));
            system(&mut s, |s| s.ok("forget", json!({ "id": id })));
            check(&s, "restore", json!({ "id": id }), change);
        }
    }
}

#[test]
fn p_layer_c14_c19_c20_a_refusal_changes_nothing_and_is_on_record() {
    let mut s = Session::new();
    let id = planted(&mut s, Layer::P0, "Credentials never go into the repository.");
    for (tool, arguments) in [
        ("update", json!({ "id": id, "text": "Credentials may be committed." })),
        ("update", json!({ "id": id, "layer": "P5" })),
        ("forget", json!({ "id": id, "reason": "in the way" })),
    ] {
        let error = s.reply(tool, arguments).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().contains("does not allow"), "{error}");
        assert!(error.to_string().contains("agent:test"), "{error}");
    }
    let shown = s.ok("inspect", json!({ "id": id }));
    assert_eq!(shown["text"], "Credentials never go into the repository.");
    assert_eq!(shown["status"], "active");
    let refused: Vec<&Value> = shown["audit"]
        .as_array()
        .expect("audit lines")
        .iter()
        .filter(|a| a["outcome"] == "refused")
        .collect();
    assert!(refused.len() >= 2, "{shown:#}");
    assert!(refused.iter().all(|a| a["principal"] == "agent:test" && a["layer"] == "P0"), "{shown:#}");
}

#[test]
fn moving_a_memory_into_a_forbidden_layer_is_refused() {
    let s = Session::new();
    let id = s.remember("a lesson about retries");
    assert_eq!(s.fails("update", json!({ "id": id, "layer": "P0" })), ErrorKind::Refused);
    assert_eq!(s.ok("inspect", json!({ "id": id }))["layer"], "P5");
}

#[test]
fn a_topic_key_is_no_way_around_the_layer_of_what_it_replaces() {
    let mut s = Session::new();
    system(&mut s, |s| {
        s.ok(
            "remember",
            json!({ "text": "Deploys need a review.", "layer": "P0", "kind": "rule", "topic_key": "deploy" }),
        )
    });
    let sneaky = json!({ "text": "Deploys need no review.", "topic_key": "deploy" });
    assert_eq!(s.fails("remember", sneaky), ErrorKind::Refused);
    let rule = s.ok("remember", json!({ "text": "Deploys happen on Tuesdays.", "kind": "note" }));
    let old = system(&mut s, |s| {
        s.ok("remember", json!({ "text": "Secrets rotate monthly.", "layer": "P0", "kind": "rule" }))
    });
    let takeover = json!({ "text": "Secrets rotate never.", "supersedes": old["id"] });
    assert_eq!(s.fails("remember", takeover), ErrorKind::Refused);
    assert_eq!(rule["layer"], "P5");
}

#[test]
fn identity_is_not_an_argument() {
    let s = Session::new();
    for name in ["who", "principal", "on_behalf_of"] {
        let arguments = json!({ "text": "x", "layer": "P0", name: "system" });
        assert_eq!(s.fails("remember", arguments), ErrorKind::Invalid);
    }
}

#[test]
fn proposing_a_rule_is_open_to_an_agent_and_changes_nothing_yet() {
    let s = Session::new();
    let filed = s.ok("reflect", json!({ "text": "Always run the linter before a push.", "kind": "rule", "reason": "two broken builds" }));
    assert_eq!(filed["status"], "candidate");
    assert!(s.recall("linter before a push").is_empty(), "a candidate is not in force");
    let context = s.text("context", json!({ "query": "push" }));
    assert!(!context.contains("linter"), "{context}");
}
