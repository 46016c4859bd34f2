//! Bad input: a typed error that says what is allowed, nothing half done, and the next call works.

use crate::support::Session;
use serde_json::json;
use strata_core::error::ErrorKind;

#[test]
fn a_huge_body_is_refused_with_its_size_and_nothing_is_stored() {
    let s = Session::new();
    let body = "word ".repeat(1 << 20);
    assert_eq!(s.fails("remember", json!({ "text": body })), ErrorKind::TooLarge);
    assert!(s.recall("word").is_empty());
    s.remember("still alive");
}

#[test]
fn a_body_of_the_largest_size_is_stored_and_found() {
    let s = Session::new();
    let mut body = "lorem ipsum dolor ".repeat((1 << 20) / 18 - 2);
    body.push_str(" zanzibar");
    let id = s.remember(&body);
    assert_eq!(s.recall("zanzibar"), [id]);
}

#[test]
fn a_huge_query_is_answered() {
    let s = Session::new();
    let id = s.remember("the needle is here");
    let query = format!("needle {}", "haystack ".repeat(500_000));
    assert_eq!(s.recall(&query), [id]);
}

#[test]
fn control_and_direction_characters_do_no_harm() {
    let s = Session::new();
    for text in [
        "a\u{0}b nulbyte",
        "\u{202e}evil\u{202c} override",
        "e\u{301}\u{301}\u{301}tude",
        "\u{1b}[31mred\u{1b}[0m paint",
        "שלום עולם",
        "👩‍👩‍👧‍👦 family",
    ] {
        let id = s.remember(text);
        let shown = s.ok("inspect", json!({ "id": id }));
        let kept = shown["text"].as_str().expect("text");
        assert!(!kept.contains(['\u{0}', '\u{1b}', '\u{202e}']), "{kept:?}");
    }
    assert_eq!(s.recall("étude").len(), 1);
}

#[test]
fn absurd_numbers_are_refused_or_clamped_with_a_word() {
    let s = Session::new();
    s.remember("something to find");
    for arguments in [
        json!({ "query": "find", "limit": -1 }),
        json!({ "query": "find", "limit": 1e30 }),
        json!({ "query": "find", "limit": "ten" }),
        json!({ "query": "find", "since": "0000-00-00" }),
        json!({ "query": "find", "as_of": "the dawn of time" }),
        json!({ "query": "find", "layers": ["P9"] }),
        json!({ "query": "find", "kinds": ["two words"] }),
        json!({ "query": "find", "sources": ["rumour"] }),
    ] {
        assert_eq!(s.fails("recall", arguments.clone()), ErrorKind::Invalid, "{arguments}");
    }
    s.ok("recall", json!({ "query": "find", "limit": 4_000_000_000u32 }));
    s.ok("context", json!({ "query": "find", "budget_tokens": 1 }));
    s.ok("context", json!({ "query": "find", "budget_tokens": 4_000_000_000u32 }));
}

#[test]
fn p_layer_c16_c17_c44_wrong_values_are_refused_and_recall_goes_on() {
    let s = Session::new();
    let keep = s.remember("the ledger is append only");
    for arguments in [
        json!({ "text": "" }),
        json!({ "text": "  \n\t" }),
        json!({ "text": "x", "layer": "P9" }),
        json!({ "text": "x", "confidence": "high" }),
        json!({ "text": "x", "confidence": 1.5 }),
        json!({ "text": "x", "importance": -0.1 }),
        json!({ "text": "x", "ttl_days": "soon" }),
        json!({ "text": "x", "ttl_days": -3 }),
        json!({ "text": "x", "ttl_days": 0 }),
        json!({ "text": "x", "valid_from": "2026-05-01", "valid_to": "2026-04-01" }),
        json!({ "text": "x", "scope": "galaxy" }),
        json!({ "text": "x", "supersedes": "mem_0123456789" }),
        json!({ "text": "x", "scope": "project" }),
        json!({ "text": ["x"] }),
        json!({ "fakt": "x" }),
    ] {
        let kind = s.fails("remember", arguments.clone());
        assert!(matches!(kind, ErrorKind::Invalid | ErrorKind::NotFound), "{arguments}: {kind}");
    }
    assert_eq!(s.ok("memory_stats", json!({}))["knowledge"], 1, "nothing of it was stored");
    assert_eq!(s.recall("append only ledger"), [keep]);
}

#[test]
fn ids_are_whole_for_mutations_and_prefixes_for_reads() {
    let s = Session::new();
    let id = s.remember("the kiln is fired on Fridays");
    assert_eq!(s.ok("inspect", json!({ "id": &id[..10] }))["id"], id.as_str());
    assert_eq!(s.ok("inspect", json!({ "id": 1 }))["id"], id.as_str());
    assert_eq!(s.ok("inspect", json!({ "id": "#1" }))["id"], id.as_str());
    assert_eq!(s.fails("forget", json!({ "id": &id[..10] })), ErrorKind::Invalid);
    assert_eq!(s.fails("inspect", json!({ "id": "mem_zzzzzzzzzz" })), ErrorKind::NotFound);
    for wrong in ["", "nonsense", "mem_", "#", "-1", "99999999999999999999"] {
        let kind = s.fails("inspect", json!({ "id": wrong }));
        assert!(matches!(kind, ErrorKind::Invalid | ErrorKind::NotFound), "{wrong}: {kind}");
    }
}

#[test]
fn p_layer_c23_c24_forgetting_and_updating_keep_history() {
    let s = Session::new();
    let a = s.remember("the toaster is blue");
    s.ok("forget", json!({ "id": a, "reason": "sold" }));
    assert!(s.recall("toaster").is_empty());
    let shown = s.ok("inspect", json!({ "id": a }));
    assert_eq!(
        (shown["status"].as_str(), shown["text"].as_str()),
        (Some("trashed"), Some("the toaster is blue"))
    );
    assert!(shown.to_string().contains("sold"), "{shown:#}");
    assert_eq!(s.fails("forget", json!({ "id": a })), ErrorKind::Conflict);
    s.ok("restore", json!({ "id": a }));
    assert_eq!(s.recall("toaster"), std::slice::from_ref(&a));
    let b = s.ok("update", json!({ "id": a, "text": "the toaster is red" }))["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_ne!(a, b);
    assert_eq!(s.recall("toaster"), std::slice::from_ref(&b));
    assert_eq!(s.fails("update", json!({ "id": a, "text": "the toaster is green" })), ErrorKind::Conflict);
    assert_eq!(s.ok("inspect", json!({ "id": a }))["superseded_by"], b.as_str());
}

#[test]
fn an_update_keeps_evidence_and_tier_and_leaves_candidates_to_their_reviewer() {
    let s = Session::new();
    let told = json!({ "text": "the queue holds 500 jobs", "evidence": ["load test of May"] });
    let old = s.ok("remember", told)["id"].clone();
    s.ok("update", json!({ "id": old, "tier": "cold" }));
    let new = s.ok("update", json!({ "id": old, "text": "the queue holds 800 jobs" }))["id"].clone();
    let shown = s.ok("inspect", json!({ "id": new }));
    assert_eq!(
        (shown["evidence"][0].as_str(), shown["tier"].as_str()),
        (Some("load test of May"), Some("cold"))
    );
    let candidate = s.ok("reflect", json!({ "text": "queues should be bounded" }))["id"].clone();
    let approved = json!({ "id": candidate, "text": "queues should be unbounded" });
    assert_eq!(s.fails("update", approved), ErrorKind::Conflict);
    assert_eq!(s.ok("inspect", json!({ "id": candidate }))["status"], "candidate");
}
