//! Filters that only truth can answer, among many hits that they drop.

use crate::maintain_support::{home, support::NOON};
use serde_json::json;
use strata_core::{
    id::{Id, IdKind},
    principal::Face,
    time::Timestamp,
};
use strata_store::{
    ledger::{NewAudit, NewMemory},
    sql::Control,
};

#[test]
fn what_is_still_true_is_returned_however_much_has_expired() {
    let s = home(7);
    let wanted = s.remember("The bridge, the bridge!");
    let expired = |n: u64| {
        let body = format!("bridge {:x} {:x} {:x}", n * 7_919, n * 104_729, n * 1_299_709);
        let id = Id::from_bits(IdKind::Memory, n << 8);
        let written = Timestamp(NOON.0 - 2_000_000);
        let new = NewMemory::new(id, &body, "agent:test", written, [9; 16]);
        NewMemory { valid_to: Some(Timestamp(NOON.0 - 1_000_000)), ..new }
    };
    let row = NewAudit::new(&s.principal, Face::Library, "remember", "many");
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let stored = ledger.write(&Control::default(), s.engine.clock().now(), |w| {
        let seq = w.record(&row)?;
        (1..3_000).try_for_each(|n| w.insert_memory(&expired(n), seq).map(drop))
    });
    stored.expect("stored");
    s.ok("reindex", json!({}));
    let reply = s.ok("recall", json!({ "query": "bridge", "limit": 5 }));
    assert_eq!(reply["hits"].as_array().map(Vec::len), Some(1), "{}", reply["more"]);
    assert_eq!(reply["hits"][0]["id"], wanted.as_str());
}
