//! Keeping the knowledge in order: what decays is found, what loses nothing is done, the rest is for a person.

#![allow(clippy::disallowed_methods, reason = "hands and older programs write files as they like")]

use std::{fs, path::PathBuf};

use crate::knowledge_support::{change, on_disk, stand_in, write};
use crate::support::Session;
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, knowledge::digest};

const INFRA: &str = "# infra\n\n## Pool\n\n- TODO: raise the pool limit\n\n## Done\n\nTODO was resolved in May\n\n## Secret\n\nTODO: token = abcdef123456\n\n## Keys\n\nKeep reason: the audit wants it\n\nPENDING until the auditor answers\n";

/// The file as it is shown.
fn shown() -> String {
    INFRA.replace("abcdef123456", "[REDACTED]")
}

fn plan(s: &Session) -> Value {
    s.ok("plan_knowledge_cleanup", json!({}))
}

fn apply(s: &Session, actions: &Value, dry_run: bool) -> Value {
    s.ok("apply_safe_knowledge_cleanup", json!({ "actions": actions, "dry_run": dry_run }))
}

fn content(s: &Session, filename: &str) -> String {
    let reply = s.ok("get_knowledge_file", json!({ "filename": filename }));
    reply["content"].as_str().expect("text").to_owned()
}

fn todos(s: &Session) -> Vec<Value> {
    s.ok("list_todos", json!({}))["todos"].as_array().expect("todos").clone()
}

fn folder(s: &Session) -> PathBuf {
    s.home.path().join("vault").join("knowledge").join("shared")
}

/// The positions of the changelog and the audit: a read moves neither.
fn head(s: &Session) -> i64 {
    s.engine.existing_ledger().expect("a ledger").read(&Default::default(), |r| r.head()).expect("read").seq
}

fn fix<'a>(plan: &'a Value, action: &str) -> Option<&'a Value> {
    plan["safe_auto_fixes"].as_array().expect("a list").iter().find(|fix| fix["action"] == action)
}

#[test]
fn layered_58_a_plan_has_three_buckets_and_only_safe_actions_are_done() {
    let s = Session::new();
    write(&s, "infra", INFRA);
    let backup = folder(&s).join("infra.md.bak");
    if on_disk(&s) {
        fs::write(&backup, "an older text").expect("a copy");
    }
    let before = head(&s);
    let found = plan(&s);
    assert_eq!(head(&s), before, "a plan only reads");
    assert_eq!((&found["success"], &found["read_only"]), (&json!(true), &json!(true)));
    let safe = 1 + u64::from(on_disk(&s));
    assert_eq!(
        found["summary"],
        json!({ "safe_auto_fixes": safe, "needs_user_decision": 2, "must_not_auto_fix": 1, "truncated": false }),
        "{found}"
    );
    let marker = fix(&found, "create_todo_from_marker").expect("an open line");
    let line = "- TODO: raise the pool limit";
    assert_eq!(
        *marker,
        json!({
            "action": "create_todo_from_marker", "file": "infra.md", "line": 5,
            "line_hash": digest::line_token(line), "domain": "infra", "marker": "TODO", "heading": "Pool",
            "text_preview": line, "remove_source": false,
        })
    );
    let decisions = found["needs_user_decision"].as_array().expect("a list");
    let kinds: Vec<&str> = decisions.iter().filter_map(|one| one["kind"].as_str()).collect();
    assert_eq!(kinds, ["rewrite_as_current_rule", "move_to_todo"]);
    assert_eq!((&decisions[1]["line"], &decisions[1]["heading"]), (&json!(13), &json!("Secret")));
    assert_eq!(found["must_not_auto_fix"][0]["kind"], "keep_with_reason");
    assert_eq!(found["must_not_auto_fix"][0]["keep_reason"], "the audit wants it");
    assert!(!found.to_string().contains("abcdef123456"), "a secret is not shown: {found}");

    let usual = s.ok("apply_safe_knowledge_cleanup", json!({ "actions": found["safe_auto_fixes"] }));
    assert_eq!(
        (&usual["dry_run"], &usual["summary"]["would_apply"]),
        (&json!(true), &json!(safe)),
        "{usual}"
    );
    assert_eq!((head(&s), todos(&s).len()), (before, 0), "a dry run changes nothing");

    let done = apply(&s, &found["safe_auto_fixes"], false);
    assert_eq!((&done["success"], &done["summary"]["applied"]), (&json!(true), &json!(safe)), "{done}");
    let made = todos(&s);
    let id = digest::marker_todo_id("infra.md", line);
    assert!(id.starts_with("gov-"));
    assert_eq!(
        made.iter().map(|todo| &todo["id"]).collect::<Vec<_>>(),
        [&json!(id)],
        "one todo with a fixed id: {made:?}"
    );
    assert_eq!(
        (&made[0]["domain"], &made[0]["content"]),
        (&json!("infra"), &json!("TODO: raise the pool limit"))
    );
    assert_eq!(content(&s, "infra.md"), shown(), "the line stays");
    if on_disk(&s) {
        assert!(!backup.exists());
        let moved = s.home.path().join("vault").join("backups").join("shared").join("infra.md.bak");
        assert_eq!(fs::read_to_string(moved).expect("a copy"), "an older text");
    }
    let again = apply(&s, &found["safe_auto_fixes"], false);
    assert_eq!(
        (&again["summary"]["applied"], &again["summary"]["skipped"]),
        (&json!(0), &json!(safe)),
        "{again}"
    );
    assert_eq!(todos(&s).len(), 1);
}

#[test]
fn layered_58_unsafe_and_outdated_actions_are_told_apart() {
    let mut s = Session::new();
    write(&s, "infra", INFRA);
    let token = digest::line_token("- TODO: raise the pool limit");
    let marker = |line: u64, hash: &str| json!({ "action": "create_todo_from_marker", "file": "infra.md", "line": line, "line_hash": hash });
    let mut removing = marker(5, &token);
    removing["remove_source"] = json!(true);
    let secret = marker(13, &digest::line_token("TODO: token = abcdef123456"));
    let actions = json!([
        { "action": "delete_section", "file": "infra.md" },
        { "action": "burn" },
        removing,
        secret,
        marker(9, &digest::line_token("TODO was resolved in May")),
        marker(5, "000000000000"),
        7,
    ]);
    let reply = apply(&s, &actions, false);
    let of = |list: &str| -> Vec<u64> {
        reply[list].as_array().expect("a list").iter().filter_map(|one| one["index"].as_u64()).collect()
    };
    assert_eq!((of("rejected"), of("skipped")), (vec![0, 1, 2, 3, 6], vec![4, 5]), "{reply}");
    assert!(reply["rejected"][0]["reason"].as_str().is_some_and(|text| text.contains("decides")));
    assert!(reply["rejected"][1]["reason"].as_str().is_some_and(|text| text.contains("unknown action")));
    assert_eq!((content(&s, "infra.md"), todos(&s).len()), (shown(), 0));

    // A line that moved is found again, and the actions may come as their JSON text.
    let moved = format!("A word before.\n\n{INFRA}");
    change(&s, "infra", Some(&moved));
    let text = json!([marker(5, &token).to_string()]);
    let done = apply(&s, &text, false);
    assert_eq!(done["applied"][0]["line"], 7, "{done}");
    let whole = json!([{ "safe_auto_fixes": [marker(5, &token)] }]);
    assert_eq!(apply(&s, &whole, true)["summary"]["skipped"], 1);
    let older =
        s.ok("apply_safe_knowledge_cleanup", json!({ "actions": { "action": "reindex_vector_store" } }));
    assert_eq!(older["summary"]["skipped"], 1, "the vectors are whole: {older}");
    let forced = apply(&s, &json!([{ "action": "reindex_vector_store", "force": true }]), false);
    assert_eq!(forced["summary"]["applied"], 1, "{forced}");

    // What another namespace holds is not seen.
    change(&s, "apart", Some("## A\n\nTODO: rotate the keys of the gateway\n"));
    stand_in(&mut s, "other");
    write(&s, "own", "## A\n\nTODO: order new disks\n");
    s.scope = strata_core::scope::Scope::user();
    assert!(!plan(&s).to_string().contains("disks"));
}

#[test]
fn layered_58_an_index_that_is_behind_is_synced_and_not_planned_again() {
    let s = Session::new();
    write(&s, "sub/deep.md", "# deep\n\n## Reef\n\nA coral reef in a folder.\n");
    assert_eq!(plan(&s)["safe_auto_fixes"], json!([]), "a file in a folder is in step");
    if !on_disk(&s) {
        return;
    }
    fs::write(folder(&s).join("by-hand.md"), "# by hand\n\n## A\n\nWritten in an editor.\n").expect("a file");
    let found = plan(&s);
    let sync = fix(&found, "sync_l0_index").expect("it is behind");
    assert_eq!(
        *sync,
        json!({ "action": "sync_l0_index", "orphaned_l1": ["by-hand.md"], "stale_l0_entries": [] })
    );
    let validated = s.ok("validate_knowledge", json!({}));
    assert_eq!(validated["l0_l1_consistency"]["orphaned_l1"], json!(["by-hand.md"]));
    assert_eq!(validated["l0_l1_consistency"]["health"], "fair");
    let done = apply(&s, &json!([sync]), false);
    assert_eq!(done["summary"]["applied"], 1, "{done}");
    assert!(fix(&plan(&s), "sync_l0_index").is_none());
    fs::remove_file(folder(&s).join("by-hand.md")).expect("removed");
    let found = plan(&s);
    assert_eq!(fix(&found, "sync_l0_index").expect("behind")["stale_l0_entries"], json!(["by-hand.md"]));
}

#[test]
fn layered_59_what_decays_is_found_with_a_score() {
    let s = Session::new();
    let body = "PostgreSQL 15 runs on prod-db and its connection pool holds twenty.";
    let large = "many words of text ".repeat(300);
    write(
        &s,
        "a",
        &format!("# a\n\n## Pool\n\n{body}\n\n## Log 2026-01-01\n\none\n\n## Log 2026-02-01\n\ntwo\n"),
    );
    write(&s, "b", &format!("# b\n\n## Database\n\n{body}\n\n## Large\n\n{large}\n"));
    write(
        &s,
        "c",
        "# c\n\n## ThisHeadingHasRunTogetherFromManyWordsOfText\n\nx\n\n## Late\n\nTODO by 2026-06-14: rotate the keys\n\n## Later\n\nTODO by 2026-06-16: order the disks\n",
    );
    let before = head(&s);
    let found = s.ok("audit_rot", json!({}));
    assert_eq!(head(&s), before);
    assert_eq!(
        (&found["success"], &found["total_files"], &found["total_sections"]),
        (&json!(true), &json!(3), &json!(8))
    );
    assert_eq!(
        found["summary"],
        json!({ "oversized": 1, "garbled_heading": 1, "stale": 1, "cross_file_duplicate": 1, "same_file_duplicate": 1, "promotion_candidates": 0 }),
        "{found}"
    );
    let findings = &found["findings"];
    assert_eq!(findings["stale"], json!([{ "file": "c.md", "heading": "Late", "line": 7 }]));
    assert_eq!(
        (&findings["oversized"][0]["heading"], &findings["oversized"][0]["size_bytes"]),
        (&json!("Large"), &json!(large.trim().len()))
    );
    assert_eq!(
        findings["cross_file_duplicate"],
        json!([{ "file_a": "a.md", "heading_a": "Pool", "file_b": "b.md", "heading_b": "Database" }])
    );
    assert_eq!(findings["same_file_duplicate"][0]["heading_b"], "Log 2026-02-01");
    assert_eq!(found["health_score"], 100 - 6 - 3 - 5 - 5);
    assert_eq!(found["recommendations"].as_array().map(Vec::len), Some(5));

    let all = s.ok("validate_knowledge", json!({}));
    assert_eq!((&all["rot_health_score"], &all["rot_summary"]), (&found["health_score"], &found["summary"]));
    assert_eq!(all["overall_health"], "fair", "{all}");
    assert_eq!(all["l0_l1_consistency"]["health"], "good");
    assert_eq!(all["governance_summary"]["state_markers"]["state_markers"], 2);
    assert_eq!(all["file_reports"].as_array().map(Vec::len), Some(3));
    let one = s.ok("validate_knowledge", json!({ "filename": "c.md" }));
    assert_eq!(one["file_reports"].as_array().map(Vec::len), Some(1), "the name of a file counts: {one}");
    assert_eq!(one["file_reports"][0]["file"], "c.md");
    assert_eq!((&one["rot_summary"]["oversized"], &one["rot_summary"]["stale"]), (&json!(0), &json!(1)));
    assert_eq!(one["rot_health_score"], 100 - 6 - 3);
    assert_eq!(s.fails("validate_knowledge", json!({ "filename": "absent.md" })), ErrorKind::NotFound);
}

#[test]
fn layered_59_scores_have_reasons_and_links_that_lead_nowhere_are_counted() {
    let s = Session::new();
    write(
        &s,
        "infra/proxy.md",
        "# proxy\n\nTen words of text stand here so that it is no stub at all.\n\nSee [[proxy]], [[infra/proxy#TLS]] and [[nowhere]].\n",
    );
    write(&s, "连接池", "# 连接池\n\n网关监听八零八零端口，数据库连接池上限二十，超时三十秒。\n");
    write(&s, "stub", "short\n");
    let found = s.ok("validate_knowledge", json!({}));
    let scores: Vec<(&str, f64)> = found["file_reports"]
        .as_array()
        .expect("reports")
        .iter()
        .map(|one| {
            (one["file"].as_str().unwrap_or_default(), one["health_score"].as_f64().unwrap_or_default())
        })
        .collect();
    assert_eq!(scores, [("stub.md", 65.0), ("infra/proxy.md", 95.0), ("连接池.md", 100.0)], "{found}");
    assert_eq!(
        (&found["file_reports"][0]["health"], &found["overall_health"]),
        (&json!("fair"), &json!("good"))
    );
}

#[test]
fn layered_59_a_file_that_is_no_text_breaks_nothing() {
    let s = Session::new();
    write(&s, "a", INFRA);
    if !on_disk(&s) {
        return;
    }
    fs::write(folder(&s).join("bad.md"), b"## A\n\n\xff\xfe TODO: x\n").expect("a file");
    for (tool, key) in [("audit_rot", "total_files"), ("plan_knowledge_cleanup", "read_only")] {
        let reply = s.ok(tool, json!({}));
        assert_eq!(reply["errors"][0]["file"], "bad.md", "{tool}: {reply}");
        assert!(!reply[key].is_null());
    }
    let found = s.ok("validate_knowledge", json!({}));
    assert_eq!(
        (&found["issues"][0]["severity"], &found["issues"][0]["files"]),
        (&json!("error"), &json!(["bad.md"]))
    );
    assert_eq!(
        (&found["file_reports"][0]["file"], &found["file_reports"][0]["health"]),
        (&json!("bad.md"), &json!("poor"))
    );
    assert_eq!(found["file_reports"].as_array().map(Vec::len), Some(2));
    let one = s.ok("validate_knowledge", json!({ "filename": "bad.md" }));
    assert_eq!(one["file_reports"][0]["health_score"], 0.0);
    s.ok("reconcile_knowledge", json!({}));
}

#[test]
fn layered_59_two_thousand_sections_are_looked_at_and_the_reply_stays_small() {
    let s = Session::new();
    for file in 0..50 {
        let mut text = format!("# f{file}\n");
        for section in 0..40 {
            text += &format!(
                "\n## Topic {file} {section}x\n\nTODO: look at the {section} words of the unit {file}, which nobody counted.\n"
            );
        }
        change(&s, &format!("f{file}"), Some(&text));
    }
    for tool in ["audit_rot", "validate_knowledge", "plan_knowledge_cleanup"] {
        let reply = s.ok(tool, json!({}));
        let size = serde_json::to_string_pretty(&reply).expect("JSON").chars().count();
        assert!(size < 30_000, "{tool}: {size}");
    }
    let found = s.ok("audit_rot", json!({}));
    assert_eq!((&found["total_files"], &found["total_sections"]), (&json!(50), &json!(2_000)));
    let found = plan(&s);
    assert_eq!(
        (
            &found["summary"]["safe_auto_fixes"].as_u64().is_some_and(|n| n >= 2_000),
            &found["summary"]["truncated"]
        ),
        (&true, &json!(true))
    );
}

#[test]
fn layered_59_the_whole_is_looked_at_by_meaning_and_nothing_is_written() {
    let s = Session::new();
    let pool = "The database connection pool holds twenty connections and waits thirty seconds.";
    write(&s, "a", &format!("# a\n\n## Pool\n\n{pool}\n"));
    write(&s, "b", &format!("# b\n\n## Pool\n\n{pool}\n\n## Lunch\n\nWe eat at noon in the canteen.\n"));
    let redis = "Redis evicts keys by the least recently used policy when its memory is full";
    let misc: String = (1..=4)
        .map(|n| {
            format!("## Redis eviction {}\n\n{redis}, case {n}.\n\n", ["one", "two", "three", "four"][n - 1])
        })
        .collect();
    write(&s, "misc", &format!("# misc\n\n{misc}"));
    let before = head(&s);
    let found = s.ok("reconcile_knowledge", json!({}));
    assert_eq!(head(&s), before, "a read writes nothing");
    assert_eq!(found["ran"], json!(["calibrate", "cross_dup", "split", "vector_health"]));
    let first = &found["cross_dup"][0];
    assert_eq!(
        (&first["domain_a"], &first["domain_b"], &first["scope_b"]),
        (&json!("a"), &json!("b"), &json!("shared")),
        "{found}"
    );
    assert!(first["similarity"].as_f64().is_some_and(|cosine| cosine > 0.99));
    assert_eq!(
        (&found["calibrate"]["calibrated"], &found["calibrate"]["sections"]),
        (&json!(false), &json!(7))
    );
    assert_eq!(found["vector_health"], true);
    let topic = &found["split"][0];
    assert_eq!(
        (
            &topic["watch_domain"],
            &topic["cluster_size"],
            &topic["suggested_domain"],
            &topic["file_section_count"]
        ),
        (&json!("misc"), &json!(4), &json!("redis"), &json!(4))
    );
    assert_eq!(s.ok("audit_rot", json!({}))["summary"]["promotion_candidates"], 1);

    let some = s.ok("reconcile_knowledge", json!({ "checks": "vector_health, split", "domains": ["a"] }));
    assert_eq!(some["ran"], json!(["split", "vector_health"]));
    assert!(some["cross_dup"].is_null() && some["split"] == json!([]), "{some}");
    assert_eq!(s.fails("reconcile_knowledge", json!({ "checks": "everything" })), ErrorKind::Invalid);
    assert_eq!(s.fails("reconcile_knowledge", json!({ "domains": ["absent"] })), ErrorKind::NotFound);
}

#[test]
fn layered_65_upkeep_never_changes_what_a_file_says() {
    let s = Session::new();
    let fence = "```sh\nmake\nmake\n```\n";
    let table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 1 | 2 |\n";
    let list = "- same\n- same\n1. same\n1. same\n";
    let mut text = "# code\n".to_owned();
    for n in 0..24 {
        text += &format!("\n## Step {n}\n\nTODO: look at step {n}\n\n{fence}{fence}\n{table}\n{list}");
    }
    change(&s, "code", Some(&text));
    let found = plan(&s);
    apply(&s, &found["safe_auto_fixes"], false);
    let every = ["migrate_legacy_backups", "sync_l0_index", "reindex_vector_store"];
    apply(&s, &json!(every.map(|action| json!({ "action": action, "force": true }))), false);
    for tool in ["audit_rot", "validate_knowledge", "reconcile_knowledge", "reindex_vector_store"] {
        s.ok(tool, json!({}));
    }
    let done = s.ok("maintain", json!({ "force": true }));
    assert_eq!(done["failed"], 0, "{done}");
    assert_eq!(content(&s, "code.md"), text);
    if on_disk(&s) {
        assert_eq!(fs::read_to_string(folder(&s).join("code.md")).expect("a file"), text);
    }
}
