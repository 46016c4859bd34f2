//! Filters that only truth can answer, among many hits that they drop.

mod maintain_support;

use maintain_support::{home, tell, tell_many};
use serde_json::json;

#[test]
fn what_a_filter_leaves_is_returned_however_much_it_drops() {
    let s = home(7);
    s.ok("remember", json!({ "text": "An opening of the ledger." }));
    let many: Vec<String> =
        (0..2_100).map(|n| format!("Report {n} of the bridge: span {n} holds.")).collect();
    tell_many(&s, &many);
    let wanted = tell(&s, "short talk", "The bridge, the bridge!");
    s.ok("reindex", json!({}));
    let reply = s.ok("recall", json!({ "query": "bridge", "session": "short talk", "limit": 5 }));
    assert_eq!(reply["hits"][0]["id"], wanted.as_str(), "{}", reply["more"]);
    assert_eq!(reply["hits"].as_array().map(Vec::len), Some(1));
}
