//! The index of knowledge.

use std::fs;

use crate::knowledge_support::{
    change, change_by, events, index, index_file, on_disk, stand_in, with_call, write,
};
use crate::support::{NOON, Session};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, knowledge::changelog::Operation};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
    knowledge::{
        access::{self, Access, AccessKind},
        l0,
        vault::{self, Change, Edited, Event},
    },
    settings::layered::L0Format,
};
use strata_store::files::write_atomic;

const PROXY: &str = "# Proxy\n\n## TLS\n\nnginx ends tls, nginx logs\n";

fn shown(s: &Session) -> Value {
    s.ok("get_l0_index", json!({}))
}

#[test]
fn layered_33_the_index_has_an_entry_as_soon_as_its_file_is_there_and_loses_it_with_the_file() {
    let s = Session::new();
    let synced = write(&s, "infra/proxy", PROXY);
    assert!(synced.l0_synced);
    let report = serde_json::to_value(&synced.l0_sync_report).expect("JSON");
    assert_eq!((&report["success"], &report["added"]), (&json!(true), &json!(["infra/proxy"])));
    assert_eq!(index(&s), "[L0] proxy: Proxy — tls, nginx, ends, logs → knowledge/infra/proxy.md\n");
    let (_, synced) = change(&s, "infra/proxy", None);
    assert!(synced.l0_synced);
    assert!(!index(&s).contains("proxy"), "{}", index(&s));
    assert_eq!(events(&s), ["l0_entry_added infra/proxy.md", "l0_entry_removed infra/proxy.md"]);
}

#[test]
fn layered_35_an_index_that_is_no_file_is_made_in_the_configured_format() {
    for (format, word, line) in [
        (L0Format::Hermes, "hermes", "[L0] 数据库: 连接池 — 连接池 → knowledge/数据库.md"),
        (L0Format::Generic, "generic", "[数据库.md] 连接池 → 连接池"),
    ] {
        let s = Session::with_settings(|settings| {
            settings.config.knowledge.l0.format = format;
            settings.config.knowledge.l0.auto_sync = false;
        });
        let nothing = shown(&s);
        assert_eq!((&nothing["total_entries"], &nothing["content"]), (&json!(0), &json!("")));
        assert!(nothing["note"].is_string());
        let synced = write(&s, "数据库", "## 连接池\n\n连接池\n");
        assert!(!synced.l0_synced, "nothing was written, so nothing is in step");
        let made = shown(&s);
        assert_eq!((&made["source"], &made["format"]), (&json!("generated"), &json!(word)));
        assert_eq!(made["content"], json!(format!("{line}\n")));
        assert!(!index_file(&s, "L0.md").exists());
        if on_disk(&s) {
            s.ok("sync_l0_index", json!({}));
            assert_eq!(shown(&s)["source"], json!("l0_file"));
            assert_eq!(shown(&s)["content"], made["content"]);
        }
    }
}

#[test]
fn layered_36_39_lines_have_the_documented_forms_and_name_files_in_folders_whole() {
    let s = Session::new();
    write(&s, "sub/deep", "# Deep\n\nwell well\n");
    write(&s, "plain", "no heading here\n");
    let hermes = s.ok("sync_l0_index", json!({ "dry_run": true, "format": "hermes" }))["preview"].clone();
    assert_eq!(
        hermes,
        json!(
            "[L0] plain: no heading here — heading → knowledge/plain.md\n[L0] deep: Deep — well → knowledge/sub/deep.md\n"
        )
    );
    let generic = s.ok("sync_l0_index", json!({ "dry_run": true, "format": "generic" }))["preview"].clone();
    assert_eq!(generic, json!("[plain.md] no heading here → heading\n[sub/deep.md] Deep → well\n"));
    let report = s.ok("sync_l0_index", json!({}));
    assert_eq!(
        (&report["added"], &report["removed"]),
        (&json!([]), &json!([])),
        "nothing is orphaned or stale"
    );
    assert_eq!(report["total_entries"], json!(2));
    assert_eq!(s.fails("sync_l0_index", json!({ "format": "yaml" })), ErrorKind::Invalid);
}

#[test]
fn layered_37_syncing_is_quiet_when_nothing_came_or_went() {
    let s = Session::new();
    write(&s, "infra", PROXY);
    write(&s, "team", "# Team\n");
    let known = events(&s);
    assert_eq!(known, ["l0_entry_added infra.md", "l0_entry_added team.md"]);
    write(&s, "infra", "# Another title\n\nother words\n");
    let report = s.ok("sync_l0_index", json!({}));
    assert_eq!((&report["entries_unchanged"], &report["entries_added"]), (&json!(2), &json!(0)));
    assert_eq!(events(&s), known, "what an entry says is no event");
    if !on_disk(&s) {
        return;
    }
    let modified = || fs::metadata(index_file(&s, "L0.md")).and_then(|m| m.modified()).expect("a time");
    let before = modified();
    assert!(s.ok("sync_l0_index", json!({}))["bytes_written"].is_null());
    assert_eq!(modified(), before, "an index that says all this already is not written");
    fs::remove_file(s.home.path().join("vault/knowledge/shared/team.md")).expect("removed by hand");
    let look = s.ok("sync_l0_index", json!({ "dry_run": true }));
    assert_eq!(look["removed"], json!(["team"]));
    assert!(!look["preview"].as_str().expect("a preview").contains("team"));
    assert!(index(&s).contains("team"), "a look writes nothing");
    assert_eq!(events(&s), known);
    assert_eq!(s.ok("sync_l0_index", json!({}))["removed"], json!(["team"]));
    assert!(!index(&s).contains("team"));
    assert_eq!(events(&s)[2..], ["l0_entry_removed team.md"]);
}

#[test]
fn layered_38_entries_by_hand_are_added_replaced_and_removed() {
    let s = Session::new();
    let manage = |arguments: Value| s.ok("manage_l0_entry", arguments);
    let added = manage(json!({ "action": "add", "domain": "team", "summary": "who does what → ask" }));
    assert_eq!(
        (&added["success"], &added["action"], &added["domain"]),
        (&json!(true), &json!("add"), &json!("team"))
    );
    assert_eq!(added["total_entries"], json!(1));
    assert_eq!(added["l0_file"].is_string(), on_disk(&s));
    assert!(index(&s).contains("[L0] team: who does what -> ask → knowledge/team.md"), "{}", index(&s));
    let again = json!({ "action": "add", "domain": "team", "summary": "x" });
    assert_eq!(s.fails("manage_l0_entry", again), ErrorKind::Conflict);
    assert_eq!(s.fails("manage_l0_entry", json!({ "action": "add", "domain": "other" })), ErrorKind::Invalid);
    assert_eq!(
        s.fails("manage_l0_entry", json!({ "action": "remove", "domain": "other" })),
        ErrorKind::NotFound
    );
    manage(json!({ "action": "replace", "domain": "team", "summary": "who does what → ask" }));
    assert_eq!(events(&s), ["l0_entry_added team.md"], "the same text is no event");
    manage(json!({ "action": "replace", "domain": "team", "summary": "谁做什么" }));
    manage(
        json!({ "action": "replace", "domain": "deep", "filename": "sub/deep.md", "summary": "new by replace" }),
    );
    write(&s, "infra", PROXY);
    s.ok("sync_l0_index", json!({}));
    let text = index(&s);
    assert!(text.contains("谁做什么") && text.contains("knowledge/sub/deep.md"), "they survive: {text}");
    manage(json!({ "action": "remove", "domain": "team" }));
    assert!(!index(&s).contains("谁做什么"));
    assert_eq!(
        events(&s),
        [
            "l0_entry_added team.md",
            "l0_entry_renamed team.md",
            "l0_entry_added sub/deep.md",
            "l0_entry_added infra.md",
            "l0_entry_removed team.md"
        ]
    );
    let whole = s.ok("doctor", json!({}));
    let check = whole["findings"].as_array().expect("findings").iter().find(|f| f["check"] == "l0");
    assert_eq!(check.expect("checked")["status"], json!("ok"));
}

#[test]
fn an_entry_by_hand_stands_for_its_file_until_that_goes() {
    let s = Session::new();
    write(&s, "infra", PROXY);
    s.ok("manage_l0_entry", json!({ "action": "replace", "domain": "infra", "summary": "the gateway" }));
    write(&s, "infra", "# Another title\n");
    assert!(index(&s).contains("[L0] infra: the gateway → knowledge/infra.md"), "{}", index(&s));
    s.ok("manage_l0_entry", json!({ "action": "remove", "domain": "infra" }));
    write(&s, "infra", "# A third title\n");
    assert!(!index(&s).contains("infra"), "taken out although its file is there: {}", index(&s));
    s.ok("manage_l0_entry", json!({ "action": "add", "domain": "infra" }));
    assert!(index(&s).contains("A third title"), "the file says what its entry is: {}", index(&s));
    s.ok("manage_l0_entry", json!({ "action": "replace", "domain": "infra", "summary": "the gateway" }));
    change(&s, "infra", None);
    assert!(!index(&s).contains("infra"), "{}", index(&s));
    write(&s, "infra", PROXY);
    assert!(index(&s).contains("[L0] infra: Proxy"), "{}", index(&s));
}

#[test]
fn layered_64_an_index_that_was_deleted_comes_back_the_same_and_is_no_event() {
    let s = Session::new();
    write(&s, "infra", PROXY);
    write(&s, "数据库", "## 连接池\n\n连接池 Redis缓存\n");
    s.ok("manage_l0_entry", json!({ "action": "add", "domain": "team", "summary": "who does what" }));
    let (before, known) = (index(&s), events(&s));
    if on_disk(&s) {
        fs::remove_file(index_file(&s, "L0.md")).expect("removed");
        assert_eq!(shown(&s)["source"], json!("generated"));
        assert_eq!(shown(&s)["content"], json!(before));
    }
    s.ok("sync_l0_index", json!({}));
    assert_eq!((index(&s), events(&s)), (before, known));
}

#[test]
fn what_a_person_writes_into_the_index_is_kept() {
    let s = Session::new();
    if !on_disk(&s) {
        return;
    }
    write(&s, "infra", PROXY);
    s.ok("manage_l0_entry", json!({ "action": "add", "domain": "team", "summary": "who does what" }));
    let theirs = index(&s) + "[L0] oncall: 谁值班 → knowledge/oncall.md\n";
    let whole = "[L0] gone: no such line — x → knowledge/infra/../x.md\n".to_owned() + &theirs;
    write_atomic(&index_file(&s, "L0.md"), whole.as_bytes()).expect("edited by hand");
    write(&s, "other", "# Other\n");
    let text = index(&s);
    assert!(
        text.contains("[L0] oncall: 谁值班 → knowledge/oncall.md") && text.contains("who does what"),
        "{text}"
    );
    assert!(!text.contains("no such line"));
    assert!(events(&s).contains(&"l0_entry_added oncall.md".to_owned()));
    s.ok("manage_l0_entry", json!({ "action": "remove", "domain": "oncall" }));
    s.ok("sync_l0_index", json!({}));
    assert!(!index(&s).contains("oncall"), "{}", index(&s));
    fs::remove_file(s.home.path().join("vault/knowledge/shared/infra.md")).expect("removed by hand");
    s.ok("sync_l0_index", json!({}));
    assert!(!index(&s).contains("infra"), "the line of a file is no entry by hand: {}", index(&s));
}

#[test]
fn an_index_shows_what_its_namespace_sees() {
    let mut s = Session::new();
    write(&s, "common", "# Shared words\n");
    stand_in(&mut s, "claude");
    write(&s, "private", "# Secret words\n");
    write(&s, "common2", "# More\n");
    let own = shown(&s)["content"].as_str().expect("text").to_owned();
    assert!(own.contains("Secret words") && own.contains("Shared words"), "{own}");
    if on_disk(&s) {
        assert_eq!(fs::read_to_string(index_file(&s, "L0-claude.md")).expect("a file"), own);
    }
    stand_in(&mut s, "shared");
    assert!(!index(&s).contains("Secret words"), "others do not see it: {}", index(&s));
    write(&s, "common", "# Shared news\n");
    if on_disk(&s) {
        let own = fs::read_to_string(index_file(&s, "L0-claude.md")).expect("a file");
        assert!(own.contains("Shared news"), "a shared file stands in every index: {own}");
    }
    let known = events(&s);
    assert_eq!(known.iter().filter(|event| event.contains("common.md")).count(), 1, "{known:?}");
}

#[test]
fn the_budget_keeps_what_is_used_and_nothing_comes_or_goes_by_it() {
    let s = Session::with_settings(|settings| settings.config.knowledge.l0.budget_bytes = 400);
    for n in 0..20 {
        write(&s, &format!("d{n:02}"), &format!("# Title {n}\n"));
    }
    assert_eq!(events(&s).len(), 20);
    let report = s.ok("sync_l0_index", json!({}));
    assert!(report["left_out"].as_u64().is_some_and(|n| n > 5), "{report}");
    assert!(!index(&s).contains("d19.md"));
    with_call(&s, |call| {
        let access = Access {
            namespace: "shared",
            path: "d19.md",
            kind: AccessKind::GetFile,
            query: None,
            rank: None,
            score: None,
        };
        access::log(&s.engine, call, &[access]);
    });
    s.ok("get_access_stats", json!({}));
    let report = s.ok("sync_l0_index", json!({}));
    assert!(index(&s).contains("d19.md") && index(&s).len() <= 400, "{}", index(&s));
    assert_eq!((&report["added"], &report["removed"]), (&json!([]), &json!([])));
    assert_eq!(events(&s).len(), 20);
}

#[test]
fn zombies_are_files_that_nobody_looks_at() {
    let s = Session::new();
    write(&s, "used", "# Used\n");
    write(&s, "infra/forgotten", "# Forgotten\n");
    with_call(&s, |call| {
        let access = Access {
            namespace: "shared",
            path: "used.md",
            kind: AccessKind::Recall,
            query: Some("used"),
            rank: Some(1),
            score: Some(13.5),
        };
        access::log(&s.engine, call, &[access, Access { kind: AccessKind::GetFile, score: None, ..access }]);
    });
    let stats = s.ok("get_access_stats", json!({ "days": 7 }));
    let overview = json!({ "window_days": 7, "total_events": 2, "active_domains": 1, "by_type": { "get_file": 1, "recall": 1 } });
    assert_eq!(stats["overview"], overview);
    let top =
        json!([{ "domain": "used", "hits": 2, "last_access": "2026-06-15T12:00:00Z", "avg_score": 13.5 }]);
    assert_eq!(stats["top_recalled"], top);
    assert_eq!((&stats["zombie_count"], &stats["grace_days"]), (&json!(0), &json!(30)), "both are new");
}

#[test]
fn an_export_carries_the_entries_by_hand() {
    let s = Session::new();
    s.ok("manage_l0_entry", json!({ "action": "add", "domain": "team", "summary": "谁做什么" }));
    let first = s.home.path().join("first.jsonl");
    s.ok("export", json!({ "path": first }));
    let other = Session::new();
    let loaded = {
        let mut other = other;
        other.set_kind(strata_core::principal::PrincipalKind::Human);
        let loaded = other.ok("load", json!({ "path": first }));
        assert!(
            other.ok("get_l0_index", json!({}))["content"].as_str().is_some_and(|t| t.contains("谁做什么"))
        );
        let second = other.home.path().join("second.jsonl");
        other.ok("export", json!({ "path": second }));
        let read = |path: &std::path::Path| fs::read_to_string(path).expect("an export");
        let lines = |text: String| {
            text.lines().filter(|l| l.contains("l0_entry")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines(read(&first)), lines(read(&second)));
        assert_eq!(other.ok("load", json!({ "path": first }))["l0_entries"], json!(0));
        loaded
    };
    assert_eq!(loaded["l0_entries"], json!(1));
}

#[test]
fn a_write_stands_although_its_index_cannot_be_written() {
    let s = Session::new();
    if !on_disk(&s) {
        return;
    }
    fs::create_dir_all(index_file(&s, "L0.md")).expect("a folder in the way");
    let (written, synced) = change(&s, "infra", Some(PROXY));
    assert!(written.is_changed() && !synced.l0_synced);
    let report = serde_json::to_value(&synced.l0_sync_report).expect("JSON");
    assert!(report["success"] == json!(false) && report["error"].is_string(), "{report}");
    assert_eq!(shown(&s)["total_entries"], json!(1));
    let told = s.text(
        "inject_knowledge",
        json!({ "domain": "infra", "section": "Pool", "content": "20 connections." }),
    );
    assert!(told.contains("the index of knowledge was not brought up to date"), "{told}");
}

#[test]
fn an_entry_by_hand_moves_with_its_file() {
    let s = Session::new();
    write(&s, "infra", PROXY);
    s.ok("manage_l0_entry", json!({ "action": "replace", "domain": "infra", "summary": "the gateway" }));
    with_call(&s, |call| {
        let old = vault::locate(&s.engine, call, "domain", "infra").expect("a place");
        let new = vault::locate(&s.engine, call, "domain", "net/gateway").expect("a place");
        let moved = vault::edit_all(&s.engine, call, &[old, new], &Change::new("test"), &mut |texts| {
            let event = |operation| Event::new(operation, "a test moved it");
            Ok(vec![
                Edited::Delete(event(Operation::DomainDeleted)),
                Edited::Write(texts[0].unwrap_or_default().to_owned(), event(Operation::DomainCreated)),
            ])
        });
        assert!(l0::sync_after_all(&s.engine, call, &moved.expect("moved")).l0_synced);
    });
    assert_eq!(index(&s), "# added by hand\n[L0] gateway: the gateway → knowledge/net/gateway.md\n");
    let known = [
        "l0_entry_added infra.md",
        "l0_entry_renamed infra.md",
        "l0_entry_added net/gateway.md",
        "l0_entry_removed infra.md",
    ];
    assert_eq!(events(&s), known);
}

#[test]
fn several_writers_leave_one_whole_index() {
    let s = Session::new();
    s.remember("a home that exists");
    std::thread::scope(|threads| {
        for writer in 0..4 {
            let s = &s;
            threads.spawn(move || {
                let settings = s.engine.settings().clone();
                let ids = Box::new(SeededIds::new(100 + writer));
                let engine = Engine::with_sources(settings, Box::new(ManualClock::at(NOON)), ids);
                for n in 0..4 {
                    let (_, synced) = change_by(&engine, s, &format!("w{writer}n{n}"), Some("# Title\n"));
                    assert!(synced.l0_synced);
                }
            });
        }
    });
    let text = index(&s);
    assert_eq!(text.lines().filter(|line| line.starts_with("[L0] w")).count(), 16, "{text}");
    assert_eq!(events(&s).len(), 16);
    assert_eq!(shown(&s)["content"], json!(text));
}
