//! Counting uses costs a read nothing: no commit follows it, and nothing is lost when the home is closed.

use crate::support::Session;
use serde_json::json;

fn ledger_bytes(s: &Session) -> Vec<u64> {
    let size = |name: &str| std::fs::metadata(s.home.path().join(name)).map_or(0, |m| m.len());
    vec![size("ledger.db"), size("ledger.db-wal")]
}

#[test]
fn a_recall_commits_nothing() {
    let s = Session::new();
    let id = s.remember("the build cache lives on the second disk");
    assert_eq!(s.recall("build cache disk"), [id.as_str()], "and the index is up to date");
    let before = ledger_bytes(&s);
    for _ in 0..5 {
        s.recall("build cache disk");
        s.ok("inspect", json!({ "id": id }));
    }
    assert_eq!(ledger_bytes(&s), before);
}

#[test]
fn uses_are_seen_at_once_and_survive_closing() {
    let mut s = Session::new();
    let id = s.remember("the build cache lives on the second disk");
    s.recall("build cache disk");
    let seen = |s: &Session| s.ok("inspect", json!({ "id": id }))["uses"].clone();
    assert_eq!(seen(&s), json!([1, 0]));
    s.engine = s.reopened();
    assert_eq!(seen(&s), json!([1, 1]));
}

#[test]
fn the_next_memory_takes_them_along() {
    let mut s = Session::new();
    let id = s.remember("the build cache lives on the second disk");
    s.recall("build cache disk");
    s.remember("lunch is at noon on Fridays");
    let other = s.reopened();
    let first = std::mem::replace(&mut s.engine, other);
    assert_eq!(s.ok("inspect", json!({ "id": id }))["uses"], json!([1, 0]));
    drop(first);
}
