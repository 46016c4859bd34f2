//! Sections and earlier versions of knowledge files, as a client uses them.

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::error::ErrorKind;

const TEXT: &str = "---\ntags: [net]\n---\n# infra\n\nIntro.\n\n## Pool size\n\n20 connections\n\n```toml\n## not a heading\n```\n\n\
                    ## 端口\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Cache\n\nten minutes\n";

fn session() -> Session {
    let session = Session::new();
    session.ok("create_knowledge_file", json!({ "filename": "infra.md", "content": TEXT }));
    session
}

fn headings(session: &Session, domain: &str) -> Vec<String> {
    let list = session.ok("list_sections", json!({ "domain": domain }));
    let sections = list["sections"].as_array().expect("a list");
    sections.iter().map(|s| s["section"].as_str().expect("a heading").to_owned()).collect()
}

fn content(session: &Session, filename: &str) -> String {
    let file = session.ok("get_knowledge_file", json!({ "filename": filename }));
    file["content"].as_str().expect("a text").to_owned()
}

fn section(session: &Session, heading: &str) -> Value {
    session.ok("get_section", json!({ "domain": "infra", "section": heading }))
}

#[test]
fn sections_are_listed_and_read_with_the_token_that_changes_take() {
    let s = session();
    assert_eq!(headings(&s, "infra"), ["Pool size", "端口", "Cache"]);
    let pool = section(&s, "## pool SIZE");
    assert_eq!((&pool["section"], &pool["file"]), (&json!("Pool size"), &json!("infra.md")));
    assert_eq!(pool["content"], "20 connections\n\n```toml\n## not a heading\n```");
    let list = s.ok("list_sections", json!({ "domain": "infra" }));
    assert_eq!((&list["sections"][0]["hash"], &list["total"]), (&pool["hash"], &json!(3)));
    assert_eq!(
        s.fails("get_section", json!({ "domain": "infra", "section": "Nothing" })),
        ErrorKind::NotFound
    );
    assert_eq!(s.fails("list_sections", json!({ "domain": "nothing" })), ErrorKind::NotFound);
    assert_eq!(s.fails("list_sections", json!({ "domain": "../up" })), ErrorKind::Invalid);
}

#[test]
fn of_several_sections_with_one_heading_a_number_says_which() {
    let s = Session::new();
    let text = "# log\n\n## Day\n\none\n\n## Day\n\ntwo\n";
    s.ok("create_knowledge_file", json!({ "filename": "log.md", "content": text }));
    assert_eq!(s.fails("delete_section", json!({ "domain": "log", "section": "Day" })), ErrorKind::Invalid);
    s.ok("delete_section", json!({ "domain": "log", "section": "Day", "ordinal": 1 }));
    assert_eq!(content(&s, "log.md"), "# log\n\n## Day\n\ntwo\n");
}

#[test]
fn renaming_changes_one_line_and_never_makes_two_of_a_heading() {
    let s = session();
    let reply =
        s.ok("rename_section", json!({ "domain": "infra", "section": "端口", "new_section": "端口表" }));
    assert_eq!((&reply["action"], &reply["l0_synced"]), (&json!("renamed"), &json!(true)));
    assert_eq!(content(&s, "infra.md"), TEXT.replace("## 端口\n", "## 端口表\n"));
    let twice = json!({ "domain": "infra", "section": "Cache", "new_section": "pool size" });
    assert_eq!(s.fails("rename_section", twice), ErrorKind::Conflict);
    for wrong in ["", "##", "two\nlines"] {
        let request = json!({ "domain": "infra", "section": "Cache", "new_section": wrong });
        assert_eq!(s.fails("rename_section", request), ErrorKind::Invalid, "{wrong:?}");
    }
    let same =
        s.ok("rename_section", json!({ "domain": "infra", "section": "Cache", "new_section": "Cache" }));
    assert_eq!(same["action"], "unchanged");
    let log = s.ok("get_memory_changelog", json!({ "operation": "l1_section_renamed" }));
    assert_eq!((&log["matched"], &log["entries"][0]["section"]), (&json!(1), &json!("端口表")));
    assert_eq!(log["entries"][0]["before_hash"], log["entries"][0]["after_hash"]);
}

#[test]
fn moving_takes_a_section_along_whole_within_and_between_files() {
    let s = session();
    s.ok("move_section", json!({ "domain": "infra", "section": "Cache", "before": "Pool size" }));
    assert_eq!(headings(&s, "infra"), ["Cache", "Pool size", "端口"]);
    let pool = section(&s, "Pool size");
    let reply = s.ok("move_section", json!({ "domain": "infra", "section": "Pool size", "to_domain": "db" }));
    assert_eq!((&reply["from_file"], &reply["file"]), (&json!("infra.md"), &json!("db.md")));
    assert_eq!(
        (headings(&s, "infra"), headings(&s, "db")),
        (vec!["Cache".into(), "端口".into()], vec!["Pool size".into()])
    );
    let there = s.ok("get_section", json!({ "domain": "db", "section": "Pool size" }));
    assert_eq!((&there["content"], &there["hash"]), (&pool["content"], &pool["hash"]));
    let hits = s.ok("recall", json!({ "query": "how many connections has the pool?" }));
    assert_eq!(hits["hits"][0]["title"], "db > Pool size", "{hits}");

    s.ok("create_knowledge_file", json!({ "filename": "web.md", "content": "# web\n\n## Cache\n\nother\n" }));
    let clash = json!({ "domain": "infra", "section": "Cache", "to_domain": "web" });
    assert_eq!(s.fails("move_section", clash), ErrorKind::Conflict);
    assert_eq!(headings(&s, "infra"), ["Cache", "端口"], "nothing was half done");
}

#[test]
fn deleting_under_a_token_refuses_what_was_changed_meanwhile() {
    let s = session();
    let read = section(&s, "Cache");
    let stale = json!({ "domain": "infra", "section": "Cache", "expected_hash": "0000000000000000" });
    assert_eq!(s.fails("delete_section", stale), ErrorKind::Conflict);
    let request =
        json!({ "domain": "infra", "section": "Cache", "expected_hash": read["hash"], "reason": "陈旧" });
    let reply = s.ok("delete_section", request);
    assert_eq!((&reply["action"], &reply["deleted_bytes"]), (&json!("section_deleted"), &json!(11)));
    assert_eq!(headings(&s, "infra"), ["Pool size", "端口"]);
    assert!(s.recall("ten minutes cache").is_empty());
    let log = s.ok("get_memory_changelog", json!({ "operation": "l1_section_deleted" }));
    assert_eq!(
        (&log["entries"][0]["reason"], &log["entries"][0]["after_hash"]),
        (&json!("陈旧"), &Value::Null)
    );
    assert_eq!(reply["backup"], "infra.md@1");
}

#[test]
fn any_earlier_version_is_shown_compared_and_restored_deleted_files_too() {
    let s = session();
    s.ok("delete_section", json!({ "domain": "infra", "section": "Cache" }));
    s.ok("rename_section", json!({ "domain": "infra", "section": "端口", "new_section": "端口表" }));
    let history = s.ok("get_knowledge_history", json!({ "filename": "infra.md" }));
    let numbers: Vec<_> =
        history["generations"].as_array().expect("a list").iter().map(|g| g["generation"].clone()).collect();
    assert_eq!(numbers, [3, 2, 1]);
    let diff = s.ok("diff_knowledge", json!({ "filename": "infra.md" }));
    assert_eq!(
        (&diff["from"], &diff["to"], &diff["added"], &diff["removed"]),
        (&json!(2), &json!(3), &json!(1), &json!(1))
    );
    let text = diff["diff"].as_str().expect("a text");
    assert!(text.contains("-## 端口\n+## 端口表\n"), "{text}");
    let diff = s.ok("diff_knowledge", json!({ "filename": "infra.md", "from": 1, "to": 2 }));
    assert!(diff["diff"].as_str().is_some_and(|text| text.contains("-## Cache")), "{diff}");

    let back = s.ok("restore_knowledge", json!({ "filename": "infra.md", "generation": 1 }));
    assert_eq!((&back["action"], &back["generation"]), (&json!("restored"), &json!(4)));
    assert_eq!(content(&s, "infra.md"), TEXT);
    let again = s.ok("restore_knowledge", json!({ "filename": "infra.md", "generation": 1 }));
    assert_eq!(again["action"], "unchanged");
    s.ok("delete_knowledge_file", json!({ "filename": "infra.md" }));
    let gone = s.ok("diff_knowledge", json!({ "filename": "infra.md" }));
    assert_eq!((&gone["to"], &gone["added"]), (&json!(5), &json!(0)));
    assert_eq!(
        s.fails("restore_knowledge", json!({ "filename": "infra.md", "generation": 5 })),
        ErrorKind::Conflict
    );
    s.ok("restore_knowledge", json!({ "filename": "infra.md", "generation": 4 }));
    assert_eq!(content(&s, "infra.md"), TEXT);
    assert_eq!(s.fails("get_knowledge_history", json!({ "filename": "never.md" })), ErrorKind::NotFound);
}
