//! What a person notices who uses the vault every day: no test of one operation, but of what they say to each other.

use serde_json::{Value, json};
use strata_core::error::ErrorKind;
use strata_engine::error::Error;

use crate::support::Session;

fn fail(s: &Session, tool: &str, arguments: Value) -> Error {
    s.reply(tool, arguments).map(|reply| reply.json).expect_err(tool)
}

#[test]
fn who_wrote_a_section_is_no_part_of_what_it_says() {
    let s = Session::new();
    for (domain, section, content) in [
        ("infra", "Database", "PostgreSQL 15 on prod-db:5432"),
        ("dns", "Zones", "The registrar moved in May"),
    ] {
        let asked =
            json!({ "domain": domain, "section": section, "content": content, "agent_id": "claude-code" });
        assert_eq!(s.ok("inject_knowledge", asked)["success"], true);
    }
    let index = s.ok("get_l0_index", json!({}))["content"].to_string();
    assert!(!index.contains("claude") && !index.contains("injected"), "{index}");
    let near = s.ok("reconcile_knowledge", json!({ "checks": ["cross_dup"], "dup_threshold": 0.5 }));
    assert_eq!(near["cross_dup"], json!([]), "{near}");
    let found = s.ok("search_semantic", json!({ "query": "injected by claude-code" }));
    assert!(!found.to_string().contains("<!--"), "{found}");
}

#[test]
fn a_file_in_a_folder_is_written_by_its_path_once_it_is_there() {
    let s = Session::new();
    let text = json!({ "domain": "infra/proxy", "section": "Nginx", "content": "timeout 60 s" });
    let refused = fail(&s, "inject_knowledge", text.clone());
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(refused.hint().contains("create_knowledge_file"), "{}", refused.hint());
    for folder in ["infra", "home"] {
        let file = json!({ "filename": format!("{folder}/proxy.md"), "content": "# proxy\n" });
        s.ok("create_knowledge_file", file);
    }
    let made = s.ok("inject_knowledge", text);
    assert_eq!((&made["action"], &made["file"]), (&json!("section_created"), &json!("infra/proxy.md")));
    let vague = fail(&s, "inject_knowledge", json!({ "domain": "proxy", "section": "A", "content": "b" }));
    assert!(vague.hint().contains("path"), "{}", vague.hint());
    for outside in ["../proxy", "/infra/proxy", "infra/../infra/proxy", "infra//proxy"] {
        fail(&s, "inject_knowledge", json!({ "domain": outside, "section": "A", "content": "b" }));
    }
}

#[test]
fn what_is_missing_is_named_with_what_to_do() {
    let s = Session::with_settings(|settings| {
        settings.config.changelog.path = Some("logs/changes.jsonl".into());
    });
    let text = json!({ "domain": "infra", "section": "Pool", "content": "The pool has 20 connections" });
    s.ok("inject_knowledge", text);
    let log = s.ok("get_memory_changelog", json!({}));
    let has_file = s.engine.settings().store.is_none();
    assert_eq!((&log["exists"], &log["malformed_lines"]), (&json!(has_file), &json!(0)), "{log}");
    let nothing = s.ok("recall_knowledge", json!({ "keyword": "how many connections are there?" }));
    assert!(nothing["hint"].as_str().is_some_and(|hint| hint.contains("hybrid")), "{nothing}");
    let something = s.ok("recall_knowledge", json!({ "keyword": "connections" }));
    assert_eq!((&something["matched_files"], &something["hint"]), (&json!(1), &json!(null)));
    let version = fail(&s, "restore_knowledge", json!({ "filename": "infra.md", "generation": 9 }));
    assert!(version.to_string().contains("`infra.md@9`"), "{version}");
    let file = fail(&s, "get_knowledge_file", json!({ "filename": "infra" }));
    assert_eq!(file.hint(), "send `infra.md`");
    let mode = fail(&s, "recall_knowledge", json!({ "keyword": "x", "search_mode": "magic" }));
    assert!(mode.to_string().contains("`magic` does not fit"), "{mode}");
    assert_eq!(mode.hint(), "use one of keyword, fuzzy, bm25, hybrid, semantic");
    let items = json!([{ "domain": "a", "section": "b", "content": "c", "mod": "append" }]);
    let batch = s.ok("batch_inject_knowledge", json!({ "items": items }));
    assert!(batch["results"][0]["error"].as_str().is_some_and(|error| error.contains("mod")), "{batch}");
}

#[test]
fn a_memory_that_is_where_it_belongs_is_not_sent_elsewhere() {
    let s = Session::new();
    for (text, kind, note) in [
        ("We decided to use PortOne v2, because v1 ends in May", "decision", None),
        ("I always want answers in German", "preference", None),
        ("I always want answers in French", "fact", Some("user_profile")),
        ("TODO: renew the certificate", "fact", Some("todo")),
    ] {
        let stored = s.ok("remember", json!({ "text": text, "kind": kind }));
        let surface =
            stored["route"].as_str().and_then(|route| route.split_once(": ")).map(|(surface, _)| surface);
        assert_eq!(surface, note, "{stored}");
    }
}
