//! Namespaces, endings and settings that are one on some systems and two on others, and replies about odd texts.

use std::fs;

use crate::{
    knowledge_support::{on_disk, stand_in},
    support::Session,
};
use serde_json::{Value, json};
use strata_core::error::ErrorKind;
use strata_store::files::write_atomic;

fn inject(s: &Session, domain: &str, section: &str, content: &str) -> Value {
    s.ok("inject_knowledge", json!({ "domain": domain, "section": section, "content": content }))
}

#[test]
fn a_namespace_in_other_letters_is_no_way_into_another_ones_folder() {
    let mut s = Session::new();
    stand_in(&mut s, "bravo");
    inject(&s, "secret", "Door", "The zebra sleeps behind the third door.");
    let mut refused = vec!["Shared", "SHARED"];
    if on_disk(&s) {
        refused.extend(["Bravo", "BRAVO"]);
    }
    for namespace in refused {
        stand_in(&mut s, namespace);
        let text = json!({ "domain": "d", "section": "S", "content": "text" });
        for (tool, arguments) in [
            ("inject_knowledge", text),
            ("get_knowledge_file", json!({ "filename": "secret.md" })),
            ("recall_knowledge", json!({ "keyword": "zebra" })),
            ("get_l0_index", json!({})),
        ] {
            assert_eq!(s.fails(tool, arguments), ErrorKind::Invalid, "{tool} in {namespace}");
        }
        assert!(!s.text("recall", json!({ "query": "Where does the zebra sleep?" })).contains("third door"));
    }
    stand_in(&mut s, "bravo-2");
    assert_eq!(inject(&s, "d", "S", "text")["action"], "created", "hyphens and digits tell folders apart");
}

#[test]
fn a_file_that_ends_in_capitals_is_told_of_and_gets_no_twin() {
    let s = Session::new();
    if !on_disk(&s) {
        return;
    }
    inject(&s, "infra", "Pool", "The pool has 20 connections.");
    let file = s.home.path().join("vault/knowledge/shared/Notes.MD");
    write_atomic(&file, b"# Notes\n\n## A\n\nby hand\n").expect("saved");
    let told = s.ok("validate_knowledge", json!({}))["issues"].to_string();
    assert!(told.contains("Notes.MD") && told.contains("rename it"), "{told}");
    let twin = json!({ "domain": "notes", "section": "S", "content": "text" });
    assert_eq!(s.fails("inject_knowledge", twin), ErrorKind::Conflict);
    assert_eq!(inject(&s, "infra", "Cache", "Redis 7")["action"], "section_created", "the rest works");
}

#[test]
fn the_index_is_rendered_to_no_place_that_the_home_clears() {
    let s = Session::with_settings(|settings| {
        settings.config.knowledge.l0.file = Some("hot-pages/index.json".into());
    });
    let made = inject(&s, "infra", "Pool", "The pool has 20 connections.");
    if on_disk(&s) {
        assert_eq!(made["l0_synced"], false, "{made}");
        assert!(!s.home.path().join("hot-pages/index.json").exists());
        assert!(fs::read_dir(s.home.path().join("vault/knowledge/shared")).is_ok());
    }
}

#[test]
fn a_fence_of_any_length_leaves_the_reply_short() {
    let s = Session::new();
    let made = inject(&s, "infra", "Fence", &format!("{}\ncode", "`".repeat(50_000)));
    assert_eq!(made["action"], "created");
    assert!(made["fitted"].to_string().contains("was added to close"), "{}", made["fitted"]);
    assert!(made.to_string().len() < 32_000, "{} bytes", made.to_string().len());
}

#[test]
fn a_stale_token_of_a_family_is_answered_with_the_new_one() {
    let s = Session::new();
    inject(&s, "ops", "Release 2026-10-01", "Tag the commit and build the image.");
    let asked = inject(&s, "ops", "Release 2026-10-12", "Sign the image before the push.");
    let commit = |token: &Value, fuse: bool| {
        s.ok(
            "inject_knowledge",
            json!({ "domain": "ops", "section": "Release 2026-10-12", "content": "Tag, build, sign.",
                "fuse": fuse, "expected_hash": token }),
        )
    };
    let unfused = commit(&asked["expected_hash"], false);
    assert_eq!(unfused["action"], "fuse_conflict");
    assert!(unfused["reason"].as_str().is_some_and(|why| why.contains("`fuse`")), "{unfused}");
    let added =
        json!({ "domain": "ops", "section": "Release 2026-10-05", "content": "Tag it.", "mode": "append" });
    s.ok("inject_knowledge", added);
    let late = commit(&asked["expected_hash"], true);
    assert_eq!(late["action"], "fuse_conflict");
    assert!(late["reason"].as_str().is_some_and(|why| why.contains("meanwhile")), "{late}");
    assert_eq!(commit(&late["current_hash"], true)["action"], "consolidated");
}

#[test]
fn a_filter_of_any_length_is_answered() {
    let s = Session::new();
    inject(&s, "infra", "Pool", "The pool has 20 connections.");
    let told = s.ok("get_memory_changelog", json!({ "domain": "x".repeat(100_000) }));
    assert_eq!(told["matched"], 0);
    assert!(told.to_string().len() < 32_000, "{} bytes", told.to_string().len());
}

#[test]
fn an_entry_of_a_batch_that_is_no_object_is_told_so_and_stops_no_other() {
    let s = Session::new();
    let good = json!({ "domain": "infra", "section": "Pool", "content": "The pool has 20 connections." });
    let made = s.ok("batch_inject_knowledge", json!({ "items": [["infra", "Pool", "text"], 5, good] }));
    let errors = made["results"].as_array().expect("results");
    for entry in &errors[..2] {
        assert!(entry["error"].as_str().is_some_and(|why| why.contains("no object")), "{entry}");
    }
    assert_eq!(errors[2]["action"], "created");
}

#[test]
fn the_audit_names_no_file_of_another_namespace() {
    let mut s = Session::new();
    stand_in(&mut s, "bravo");
    inject(&s, "zebra-house", "Door", "The zebra sleeps behind the third door.");
    assert!(s.ok("memory_audit", json!({})).to_string().contains("vault:bravo/zebra-house.md"));
    stand_in(&mut s, "alpha");
    let told = s.ok("memory_audit", json!({})).to_string();
    assert!(told.contains("vault:bravo/…") && !told.contains("zebra"), "{told}");
}
