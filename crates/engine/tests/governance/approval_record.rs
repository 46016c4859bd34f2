//! What a passphrase approved is on record as approved and signed, whichever layer it leads to; and the passphrase
//! that was set is the only one that counts.

use crate::maintain_support::{Session, become_owner, home, secret};
use serde_json::{Value, json};
use strata_core::{cancel::Cancel, error::ErrorKind, principal::Face, time::Timestamp};
use strata_engine::{maintain::init, operation::Call};
use strata_store::sql::Control;
use strata_testkit::tamper::Damage;

fn with_rule() -> (Session, String) {
    let mut s = home(7);
    become_owner(&mut s);
    let rule = s.ok("remember", json!({ "text": "never force-push to main", "layer": "P0", "kind": "rule" }));
    (s, rule["id"].as_str().expect("an id").to_owned())
}

fn bad(s: &Session) -> Vec<String> {
    let report: Value = s.ok("doctor", json!({}));
    let all = report["findings"].as_array().expect("findings").iter();
    all.filter(|f| f["status"] == "bad").map(|f| f["detail"].as_str().expect("detail").to_owned()).collect()
}

#[test]
fn a_rule_that_leaves_its_layer_leaves_by_a_signed_approval() {
    let words = "force-push as you like";
    let ways = [
        ("remember", json!({ "text": words, "layer": "P5" }), "supersedes"),
        ("update", json!({ "layer": "P5" }), "id"),
        ("update", json!({ "layer": "P5", "text": words }), "id"),
        ("rules_edit", json!({ "layer": "P5" }), "id"),
        ("rules_edit", json!({ "layer": "P5", "text": words }), "id"),
    ];
    for (tool, mut request, names) in ways {
        let (s, rule) = with_rule();
        request[names] = json!(rule);
        s.ok(tool, request);
        let lines = s.ok("memory_audit", json!({ "limit": 1 }));
        let line = &lines["entries"][0];
        assert_eq!(line["who"], "system:approval", "{tool}: {lines}");
        let (head, signed) = s
            .engine
            .existing_ledger()
            .and_then(|l| Ok(l.read(&Control::default(), |r| Ok((r.head()?.seq, r.signed_heads()?)))?))
            .expect("read");
        assert_eq!(signed.last().map(|h| h.checkpoint.seq), Some(head), "{tool}");
        assert_eq!(bad(&s), Vec::<String>::new(), "{tool}");
    }
}

#[test]
fn a_passphrase_that_was_taken_out_or_exchanged_is_named() {
    for (damage, words) in [
        (Damage::SettingGone("public_key"), "there is none any more"),
        (Damage::SettingOther("public_key"), "another one than was set"),
    ] {
        let (s, _) = with_rule();
        assert_eq!(bad(&s), Vec::<String>::new());
        strata_testkit::tamper::tamper(s.engine.existing_ledger().expect("there").database(), damage);
        let found = bad(&s);
        assert!(found.iter().any(|detail| detail.contains(words)), "{damage:?}: {found:?}");
    }
}

#[test]
fn a_salt_that_is_gone_is_not_drawn_again_beside_a_passphrase() {
    let (s, _) = with_rule();
    let call = Call {
        principal: &s.principal,
        scope: &s.scope,
        face: Face::Cli,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    };
    let refused = init::salt(&s.engine, &call).expect_err("there is none");
    assert_eq!(refused.kind(), ErrorKind::Conflict);
}

#[test]
fn a_second_passphrase_in_the_place_of_the_first_is_named() {
    let (mut s, _) = with_rule();
    let ledger = s.engine.existing_ledger().expect("there").database();
    for damage in [Damage::SettingGone("public_key"), Damage::HeadsAfter(0)] {
        strata_testkit::tamper::tamper(ledger, damage);
    }
    s.secret = Some(secret("a stranger's own"));
    assert_eq!(s.ok("init", json!({}))["secret_set"], true);
    assert!(bad(&s).iter().any(|detail| detail.contains("although there was one")), "{:?}", bad(&s));
}

#[test]
fn filters_longer_than_what_is_stored_are_an_argument_that_does_not_fit() {
    let (s, _) = with_rule();
    for field in ["tags", "kinds"] {
        let many: Vec<String> = (0..10_000).map(|n| format!("x{}", n % 7)).collect();
        assert_eq!(s.fails("recall", json!({ "query": "main", field: many })), ErrorKind::Invalid, "{field}");
    }
    let layers = vec!["P0"; 40_000];
    assert_eq!(s.fails("recall", json!({ "query": "main", "layers": layers })), ErrorKind::Invalid);
}
