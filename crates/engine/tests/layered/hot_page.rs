//! The hot page: rules, the index of knowledge and hot memories inside a budget, and what changed since.

use crate::knowledge_support::{stand_in, write};
use crate::maintain_support::{become_owner, home};
use crate::support::Session;
use serde_json::{Value, json};
use strata_core::budget::estimate_tokens;

fn owner(seed: u64) -> Session {
    let mut s = home(seed);
    become_owner(&mut s);
    s
}

fn page(s: &Session, arguments: Value) -> Value {
    s.ok("get_hot_page", arguments)
}

fn text(page: &Value) -> &str {
    page["content"].as_str().expect("text")
}

#[test]
fn the_page_shows_knowledge_beside_memories_and_counts_what_it_costs() {
    let s = Session::new();
    for n in 0..60 {
        write(&s, &format!("infra/d{n:02}"), &format!("# 端口 {n}\n\nthe port of service {n}\n"));
        s.remember(&format!("service number {n} listens on a port of its own"));
    }
    let whole = page(&s, json!({}));
    let (shown, tokens) = (text(&whole), whole["tokens"].as_u64().expect("a number"));
    assert!(tokens <= 1_000 && tokens == u64::from(estimate_tokens(shown)), "{tokens}");
    assert!(shown.contains(&format!("about {tokens} tokens")) && shown.contains("knowledge/infra/d00.md"));
    let (files, memories) = (shown.matches("→ knowledge/").count(), shown.matches("- mem_").count());
    assert!(files >= 8 && memories >= 8, "{files} files, {memories} memories");
    assert_eq!(whole["left_out"].as_u64(), Some((120 - files - memories) as u64));
    let small = page(&s, json!({ "budget_tokens": 300 }));
    assert!(small["tokens"].as_u64().is_some_and(|tokens| tokens <= 300), "{small}");
}

#[test]
fn a_revision_is_told_what_changed_since() {
    let s = Session::new();
    write(&s, "infra", "# Proxy\n\nnginx\n");
    let kept = s.remember("the build cache lives on the second disk, and nothing else does");
    let first = page(&s, json!({}));
    assert!(first["is_whole"] == json!(true) && first["changed"] == json!(true));
    let same = page(&s, json!({ "since": first["revision"] }));
    assert_eq!((&same["changed"], &same["revision"]), (&json!(false), &first["revision"]));
    assert!(text(&same).contains("nothing changed") && same["is_whole"] == json!(false));
    for n in 0..9 {
        s.remember(&format!("the lamp on floor number {n} is green and was painted last year"));
    }
    let before = page(&s, json!({}));
    write(&s, "infra", "# Gateway\n\nenvoy\n");
    s.ok("forget", json!({ "id": kept }));
    let later = page(&s, json!({ "since": before["revision"] }));
    assert_eq!((&later["changed"], &later["is_whole"]), (&json!(true), &json!(false)));
    let told = text(&later);
    assert!(told.contains("new: [L0] infra: Gateway") && told.contains("gone: [L0] infra: Proxy"), "{told}");
    assert!(told.contains(&format!("gone: - {kept}")) && !told.contains("floor number"), "{told}");
    assert_eq!(later["tokens"].as_u64(), Some(u64::from(estimate_tokens(told))));
    assert!(later["tokens"].as_u64() < page(&s, json!({}))["tokens"].as_u64());
    let unknown = page(&s, json!({ "since": "0123456789ab" }));
    assert!(unknown["is_whole"] == json!(true) && unknown["changed"] == json!(true));
    assert!(unknown["note"].as_str().is_some_and(|note| note.contains("not known")), "{unknown}");
    assert_eq!(later["note"], Value::Null);
}

#[test]
fn another_process_tells_what_changed_until_a_purge_takes_the_pages_along() {
    let mut s = owner(7);
    for n in 0..5 {
        s.remember(&format!("the lamp on floor number {n} is green and was painted last year"));
    }
    let secret = s.remember("the spare key lies under the blue flowerpot");
    let shown = page(&s, json!({}));
    s.engine = s.reopened();
    s.ok("forget", json!({ "id": secret }));
    let later = page(&s, json!({ "since": shown["revision"] }));
    assert!(later["is_whole"] == json!(false) && text(&later).contains("gone: "), "{later}");
    assert!(text(&later).contains("blue flowerpot") && !text(&later).contains("floor number"), "{later}");
    let purged = s.ok("purge", json!({ "id": secret }));
    assert_eq!(purged["verified"], true, "{purged}");
    let after = page(&s, json!({ "since": shown["revision"] }));
    assert!(after["is_whole"] == json!(true) && after["note"].is_string(), "{after}");
    assert!(!text(&after).contains("blue flowerpot"), "{after}");
}

#[test]
fn nobody_is_told_of_changes_that_another_scope_sees() {
    let mut s = Session::new();
    s.remember("a home that exists");
    stand_in(&mut s, "claude");
    write(&s, "private", "# Secret words\n");
    let theirs = page(&s, json!({}));
    assert!(text(&theirs).contains("Secret words"));
    stand_in(&mut s, "shared");
    let ours = page(&s, json!({ "since": theirs["revision"] }));
    assert!(ours["is_whole"] == json!(true) && !text(&ours).contains("Secret words"), "{ours}");
}
