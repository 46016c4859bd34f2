//! The check of permissions: what it tries, what it finds, and that it would find a hole.

use crate::support::Session;
use serde_json::json;
use strata_core::principal::PrincipalKind;

#[test]
fn p_layer_c22_every_permission_is_enforced_and_every_denial_is_on_record() {
    let s = Session::new().of_kind(PrincipalKind::Human);
    let reply = s.reply("eval_acl", json!({})).expect("a report");
    let (report, text) = (&reply.json, reply.document.to_markdown());
    assert_eq!(report["matrix"]["failed"], json!([]), "{text}");
    assert!(!reply.is_alarming, "{text}");
    assert_eq!((&report["pass_rate"], &report["legacy"]["pass_rate"]), (&json!(1.0), &json!(1.0)));
    assert!(text.contains("ACL compliance: 100.0% (30/30)"), "{text}");
    let cases = report["legacy"]["cases"].as_array().expect("cases");
    let expecting = |what: &str| cases.iter().filter(|case| case["expect"] == what).count();
    assert_eq!((expecting("allow"), expecting("deny"), expecting("invalid_layer")), (22, 7, 1));
    assert_eq!((&cases[1]["who"], &cases[29]["layer"]), (&json!("stranger"), &json!("P99")));
    let operations = report["matrix"]["operations"].as_array().map(Vec::len).expect("operations");
    assert_eq!(report["matrix"]["total"], json!(operations * 7 * 7), "each layer and each actor");
    assert!(report["matrix"]["denials"].as_u64().expect("a number") > 300, "{text}");
    assert!(!s.home.path().join("ledger.db").exists(), "the own home is not touched");
}
