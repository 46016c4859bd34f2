//! Writing durable knowledge, through the operation table: what agents and their older clients rely on.

use crate::support::{Session, with_call};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, scope::Scope};
use strata_engine::knowledge::vault;
use strata_store::ledger::{VaultChange, VaultChangeFilter};

const POOL: &str = "PostgreSQL 15 on prod-db:5432, connection pool: 20 max";

fn inject(session: &Session, domain: &str, section: &str, content: &str) -> Value {
    inject_with(session, json!({ "domain": domain, "section": section, "content": content }))
}

fn inject_with(session: &Session, arguments: Value) -> Value {
    session.ok("inject_knowledge", arguments)
}

fn try_file(session: &Session, domain: &str) -> Option<String> {
    with_call(session, |call| {
        let place = vault::locate(&session.engine, call, "domain", domain).expect("a place");
        vault::read(&session.engine, call, &place).ok().map(|file| file.text().to_owned())
    })
}

fn file(session: &Session, domain: &str) -> String {
    try_file(session, domain).expect("the file is there")
}

/// The changelog, newest first.
fn changes(session: &Session) -> Vec<VaultChange> {
    let filter = VaultChangeFilter { limit: Some(100), ..VaultChangeFilter::default() };
    let rows = with_call(session, |call| {
        let ledger = session.engine.ledger(call).expect("a ledger");
        ledger.read(&session.engine.control(call), |r| r.vault_changes(&filter)).expect("the changes")
    });
    rows.into_iter().filter(|row| row.operation.surface() == "l1_knowledge").collect()
}

#[test]
fn layered_07_a_first_section_makes_the_file() {
    let session = Session::new();
    let made = inject(&session, "infrastructure", "Database", POOL);
    assert_eq!(made["success"], true, "{made:#}");
    assert_eq!(made["action"], "created");
    assert_eq!(
        (made["file"].as_str(), made["section"].as_str()),
        (Some("infrastructure.md"), Some("## Database"))
    );
    assert_eq!((&made["is_new_file"], &made["vector_sync_ok"]), (&json!(true), &json!(true)));
    assert_eq!((&made["bytes_written"], &made["file_size_bytes"]), (&json!(86), &json!(86)));
    assert_eq!(made["dedup"]["similar_found"], false);
    let pointer = made["l0_pointer"].as_str().expect("a pointer");
    assert!(
        pointer.starts_with("[L0] infrastructure: ") && pointer.ends_with("→ knowledge/infrastructure.md")
    );
    assert_eq!(file(&session, "infrastructure"), format!("# infrastructure\n\n## Database\n\n{POOL}\n"));
    let found = session.ok("recall", json!({ "query": "connection pool of PostgreSQL" }));
    assert!(found.to_string().contains("connection pool: 20 max"), "{found:#}");
    let logged = &changes(&session)[0];
    assert_eq!(logged.operation.as_str(), "l1_domain_created");
    assert_eq!(logged.after.as_deref(), Some("82968a5902d2f0fc"));
    assert_eq!((logged.tool.as_str(), logged.section.as_deref()), ("inject_knowledge", Some("Database")));
    let metadata: Value = serde_json::from_str(&logged.metadata).expect("JSON");
    let expected = json!({
        "write_action": "created", "mode": "upsert", "file": "infrastructure.md", "bytes_written": 86,
        "file_size_bytes": 86, "match_kind": null, "similarity": 0.0, "family_size_before": null, "sections_removed": null,
    });
    assert_eq!(metadata, expected);
    assert!(!format!("{logged:?}").contains("prod-db"), "never a body");
}

#[test]
fn layered_08_a_second_section_comes_behind_the_first() {
    let session = Session::new();
    inject(&session, "infrastructure", "Database", POOL);
    let made = inject(&session, "infrastructure", "Cache", "Redis 7 keeps the sessions.");
    assert_eq!((&made["action"], &made["is_new_file"]), (&json!("section_created"), &json!(false)));
    let text = file(&session, "infrastructure");
    assert!(text.find("## Database") < text.find("## Cache"), "{text}");
}

#[test]
fn layered_09_10_text_goes_into_the_first_of_two_sections() {
    let session = Session::new();
    inject(&session, "infra", "Pool", "alpha");
    inject(&session, "infra", "Cache", "beta");
    for (mode, content, action) in [("append", "gamma", "appended"), ("merge", "delta", "merged")] {
        let made = inject_with(
            &session,
            json!({ "domain": "infra", "section": "Pool", "content": content, "mode": mode }),
        );
        assert_eq!(made["action"], action);
    }
    assert_eq!(
        file(&session, "infra"),
        "# infra\n\n## Pool\n\nalpha\n\ngamma\n\ndelta\n\n## Cache\n\nbeta\n"
    );
}

#[test]
fn layered_11_the_same_text_again_is_no_event() {
    let session = Session::new();
    inject(&session, "infra", "Database", POOL);
    let before = changes(&session).len();
    for (mode, action) in
        [("upsert", "skipped"), ("append", "append_no_change"), ("merge", "merged_no_change")]
    {
        let again = inject_with(
            &session,
            json!({ "domain": "infra", "section": "database", "content": POOL, "mode": mode }),
        );
        assert_eq!((&again["action"], &again["success"]), (&json!(action), &json!(true)));
        assert_eq!((&again["bytes_written"], &again["l0_synced"]), (&json!(0), &json!(false)));
        assert_eq!(
            (&again["dedup"]["match_kind"], &again["dedup"]["suggestion"]),
            (&json!("exact"), &json!("skip"))
        );
        assert_eq!(again["dedup"]["matched_section"], "Database");
    }
    assert_eq!(changes(&session).len(), before);
    assert_eq!(file(&session, "infra").matches(POOL).count(), 1);
}

#[test]
fn layered_12_a_short_fact_is_stored_and_a_skipped_one_says_where_it_stands() {
    let session = Session::new();
    inject(&session, "infra", "Database", POOL);
    let short = inject(&session, "ports", "Database port", "5432");
    assert_eq!(short["action"], "created");
    assert!(file(&session, "ports").contains("\n5432\n"));
    let copied = inject(&session, "other", "Storage", POOL);
    assert_eq!(copied["action"], "skipped");
    assert_eq!(copied["dedup"]["matched_file"], "infra.md");
    assert!(
        copied["hint"].as_str().is_some_and(|hint| hint.contains("`infra.md` › `Database`")),
        "{copied:#}"
    );
    assert_eq!(try_file(&session, "other"), None);
    let wanted = json!({ "domain": "other", "section": "Storage", "content": POOL, "mode": "append" });
    assert_eq!(inject_with(&session, wanted)["action"], "created");
}

#[test]
fn layered_13_append_appends_and_merge_adds_lines() {
    let session = Session::new();
    inject(&session, "infra", "Database", POOL);
    let near = "PostgreSQL 15 on prod-db:5432, with a connection pool: 20 max";
    let made = inject_with(
        &session,
        json!({ "domain": "infra", "section": "Database", "content": near, "mode": "append" }),
    );
    assert_eq!(made["action"], "appended");
    inject(&session, "infra", "Hosts", "- alpha\n- Beta");
    let merged =
        json!({ "domain": "infra", "section": "Hosts", "content": "1. beta\n* gamma", "mode": "merge" });
    assert_eq!(inject_with(&session, merged)["action"], "merged");
    let text = file(&session, "infra");
    assert!(
        text.contains(POOL) && text.contains(near) && text.ends_with("- alpha\n- Beta\n* gamma\n"),
        "{text}"
    );
    let changed = POOL.replace("20", "40");
    let added = json!({ "domain": "infra", "section": "Database", "content": changed, "mode": "append" });
    let told = inject_with(&session, added);
    assert!(told["stale_residue_hint"].as_str().is_some_and(|hint| hint.contains("20")), "{told:#}");
}

#[test]
fn layered_14_26_what_cannot_be_written_is_refused_and_leaves_nothing() {
    let session = Session::new();
    let fails = |domain: &str, section: &str, content: &str, mode: &str| {
        session.fails(
            "inject_knowledge",
            json!({ "domain": domain, "section": section, "content": content, "mode": mode }),
        )
    };
    assert_eq!(fails("d", "s", "text", "replace"), ErrorKind::Invalid);
    assert_eq!(fails("d", "s", " \n", "upsert"), ErrorKind::Invalid);
    assert_eq!(fails("d", "##", "text", "upsert"), ErrorKind::Invalid);
    assert_eq!(fails("d", "a\nb", "text", "upsert"), ErrorKind::Invalid);
    assert_eq!(fails("d", "s", "## s\n", "upsert"), ErrorKind::Invalid);
    let long = "x".repeat(300);
    for domain in ["../x", "a/b", "a\\b", "/etc/x", "", "  ", &long, "a\u{1}b", "..", "con", "x\ny"] {
        assert_eq!(fails(domain, "s", "text", "upsert"), ErrorKind::Invalid, "{domain:?}");
    }
    with_call(&session, |call| {
        let files = vault::list(&session.engine, call).expect("a list");
        assert!(files.is_empty(), "{files:?}");
    });
}

#[test]
fn layered_15_21_unrelated_text_stays_and_letter_case_names_no_other_section() {
    let session = Session::new();
    inject(&session, "infra", "Database", POOL);
    inject(&session, "infra", "Cache", "Redis 7 keeps sessions for 30 minutes.");
    let like_database = "PostgreSQL 15 on prod-db:5432, its connection pool: 20 max";
    let made = inject(&session, "infra", "Cache", like_database);
    assert!(["appended", "deferred_fusion"].contains(&made["action"].as_str().unwrap_or("")), "{made:#}");
    assert!(file(&session, "infra").contains("Redis 7 keeps sessions for 30 minutes."));
    let again = inject(&session, "infra", "database", "Backups of it run every night at two.");
    assert_eq!(again["action"], "appended");
    assert_eq!(again["title_diff_hint"], "the section is called `Database` in the file");
    assert_eq!(file(&session, "infra").matches("## ").count(), 2);
}

#[test]
fn layered_16_a_changed_value_is_written() {
    let session = Session::new();
    inject(&session, "infra", "Database", POOL);
    let changed = POOL.replace("20", "40");
    let made = inject(&session, "infra", "Database", &changed);
    assert_eq!(made["action"], "replaced");
    assert_eq!(made["dedup"]["verdict"], "changed_value");
    assert_eq!(made["dedup"]["differences"][0], json!({ "kind": "number", "new": "40", "old": "20" }));
    let text = file(&session, "infra");
    assert!(text.contains("40 max") && !text.contains("20 max"), "{text}");
    assert_eq!(changes(&session)[0].operation.as_str(), "l1_section_replaced");
}

#[test]
fn layered_17_18_a_fusion_is_made_under_its_token_only() {
    let session = Session::new();
    inject(&session, "infra", "Database", POOL);
    let near = "The PostgreSQL 15 on prod-db:5432 has a connection pool: 20 max";
    let asked = inject(&session, "infra", "Database", near);
    assert_eq!(
        (&asked["action"], &asked["success"], &asked["needs_fusion"]),
        (&json!("deferred_fusion"), &json!(true), &json!(true))
    );
    assert!(file(&session, "infra").ends_with(&format!("\n{POOL}\n")), "nothing is written");
    assert_eq!(changes(&session).len(), 1);
    let token = asked["expected_hash"].as_str().expect("a token").to_owned();
    assert_eq!(token.len(), 16);
    assert_eq!(asked["fusion"]["expected_hash"], json!(token));
    assert_eq!((&asked["fusion"]["old_body"], &asked["fusion"]["new_content"]), (&json!(POOL), &json!(near)));
    assert_eq!((&asked["fusion"]["hit_section"], &asked["l0_synced"]), (&json!("Database"), &json!(false)));
    let commit = |hash: Option<&str>| {
        let content = "PostgreSQL 15 on prod-db:5432; its pool holds 20 at most.";
        inject_with(
            &session,
            json!({
                "domain": "infra", "section": "Database", "content": content, "fuse": true, "expected_hash": hash,
            }),
        )
    };
    let before = file(&session, "infra");
    for hash in [None, Some("0123456789abcdef")] {
        let refused = commit(hash);
        assert_eq!((&refused["action"], &refused["success"]), (&json!("fuse_conflict"), &json!(false)));
        assert_eq!((&refused["expected_hash"], &refused["current_hash"]), (&json!(hash), &json!(token)));
        assert!(refused["error"].is_string());
        assert_eq!(file(&session, "infra"), before);
    }
    assert_eq!(commit(Some(&token))["action"], "replaced");
    let logged = &changes(&session)[0];
    assert_eq!(logged.operation.as_str(), "l1_fusion_writeback");
    assert_eq!(logged.before.as_deref(), Some(token.as_str()));
    let gone =
        json!({ "domain": "infra", "section": "Gone", "content": "x", "fuse": true, "expected_hash": token });
    assert_eq!(inject_with(&session, gone)["current_hash"], Value::Null);
}

#[test]
fn layered_19_20_a_family_becomes_one_section() {
    let session = Session::new();
    let first = "Tag the commit, build the image, push it to the registry, and tell the team about it.";
    inject(&session, "ops", "Release process 2026-10-01 (v3.2)", first);
    let asked = inject(&session, "ops", "Release process 2026-10-12", "Sign the image before the push.");
    assert_eq!(asked["action"], "deferred_consolidate");
    assert_eq!((&asked["family_size"], &asked["would_be_family_size"]), (&json!(1), &json!(2)));
    assert_eq!(asked["family"], json!([{ "heading": "Release process 2026-10-01 (v3.2)", "body": first }]));
    assert_eq!(asked["new_content"], "Sign the image before the push.");
    let kept = json!({ "domain": "ops", "section": "Release process 2026-10-12", "content": "Sign the image.", "mode": "append" });
    assert_eq!(inject_with(&session, kept)["action"], "section_created");
    let asked = inject(&session, "ops", "Release process 2026-11-02", "Announce it.");
    let token = asked["expected_hash"].as_str().expect("a token");
    let commit = |content: &str| {
        inject_with(
            &session,
            json!({
                "domain": "ops", "section": "Release process", "content": content, "fuse": true, "expected_hash": token,
            }),
        )
    };
    let refused = commit(&"long ".repeat(40));
    assert_eq!((&refused["action"], &refused["success"]), (&json!("consolidate_refused"), &json!(false)));
    assert_eq!((&refused["family_size"], &refused["ceiling"]), (&json!(2), &json!(0.9)));
    let made = commit("Tag, build, sign and push the image; then announce it.");
    assert_eq!(
        (&made["action"], &made["family_size_before"], &made["sections_removed"]),
        (&json!("consolidated"), &json!(2), &json!(1))
    );
    let expected = "# ops\n\n## Release process\n\nTag, build, sign and push the image; then announce it.\n";
    assert_eq!(file(&session, "ops"), expected);
    let logged = &changes(&session)[0];
    assert_eq!(logged.operation.as_str(), "l1_consolidation_writeback");
    assert_eq!(logged.before.as_deref(), Some(token));
}

#[test]
fn layered_24_a_batch_carries_both_handshakes_and_counts() {
    let session = Session::new();
    inject(&session, "infra", "Database", POOL);
    inject(&session, "ops", "Release 2026-10-01", "Tag the commit and build the image.");
    let near = "The PostgreSQL 15 on prod-db:5432 has a connection pool: 20 max";
    let made = session.ok("batch_inject_knowledge", json!({ "items": [
        { "domain": "infra", "section": "Database", "content": near },
        r#"{"domain": "infra", "section": "Cache", "content": "Redis 7 keeps the sessions."}"#,
        { "domain": "ops", "section": "Release 2026-10-12", "content": "Sign it." },
        { "domain": "a/b", "section": "x", "content": "y" },
        { "domain": "infra", "section": "Database", "content": "z", "fuse": true, "expected_hash": "0123456789abcdef" },
        "nonsense",
    ] }));
    let numbers = [&made["total"], &made["success_count"], &made["error_count"]];
    assert_eq!(numbers, [&json!(6), &json!(3), &json!(3)], "{made:#}");
    assert_eq!(made["success"], false);
    let results = made["results"].as_array().expect("results");
    let words = |key: &str| results.iter().map(|result| result[key].clone()).collect::<Vec<Value>>();
    assert_eq!(
        words("action"),
        [
            json!("deferred_fusion"),
            json!("section_created"),
            json!("deferred_consolidate"),
            json!(null),
            json!("fuse_conflict"),
            json!(null),
        ]
    );
    assert_eq!(words("success"), [true, true, true, false, false, false].map(Value::from));
    assert_eq!(words("index"), [0, 1, 2, 3, 4, 5].map(Value::from));
    for key in ["needs_fusion", "expected_hash", "fusion", "reason"] {
        assert!(!results[0][key].is_null(), "{key}");
    }
    for key in ["family", "new_content", "expected_hash"] {
        assert!(!results[2][key].is_null(), "{key}");
    }
    assert!(
        results[3]["error"].is_string() && results[4]["error"].is_string() && results[0]["error"].is_null()
    );
    let token = &results[0]["expected_hash"];
    let item = json!({ "domain": "infra", "section": "Database", "content": "One text.", "fuse": true, "expected_hash": token });
    let made = session.ok("batch_inject_knowledge", json!({ "items": [item] }));
    assert_eq!((&made["success"], &made["results"][0]["action"]), (&json!(true), &json!("replaced")));
}

#[test]
fn layered_25_who_wrote_is_noted_and_every_script_is_kept() {
    let session = Session::new();
    let made = inject_with(
        &session,
        json!({
            "domain": "数据库", "section": "连接池", "content": "网关监听 8080 端口，连接池上限 20。", "agent_id": "代理-1 -->",
        }),
    );
    assert_eq!(made["file"], "数据库.md");
    let text = file(&session, "数据库");
    assert!(text.contains("<!-- injected by: 代理-1 at 2026-06-15T12:00:00Z -->"), "{text}");
    let found = session.ok("recall", json!({ "query": "连接池" }));
    assert!(found.to_string().contains("网关监听 8080 端口"), "{found:#}");
    for (domain, section, content) in [
        ("設計", "接続プール", "接続プールの上限は20です。"),
        ("배포", "연결 풀", "연결 풀의 최대 크기는 20입니다."),
    ] {
        assert_eq!(inject(&session, domain, section, content)["action"], "created");
        assert!(file(&session, domain).contains(content));
    }
    assert_eq!(changes(&session).last().and_then(|row| row.agent_id.clone()).as_deref(), Some("代理-1 -->"));
}

#[test]
fn layered_22_23_28_fences_line_ends_and_sizes() {
    let session = Session::new();
    inject(&session, "notes", "Code", "```md\n## x\n```");
    inject(&session, "notes", "Next", "b");
    let made = inject(&session, "notes", "Code", "More about the code, in other words.");
    assert_eq!(made["action"], "appended");
    let text = file(&session, "notes");
    assert!(
        text.contains("```md\n## x\n```\n\nMore about the code") && text.contains("\n## Next\n\nb\n"),
        "{text}"
    );
    let smuggled = inject(&session, "notes", "Third", "x\n## Not a section\n```\nopen");
    assert_eq!(smuggled["fitted"].as_array().map(Vec::len), Some(2), "{smuggled:#}");
    assert!(!file(&session, "notes").contains("\n## Not a section"));
    let started = std::time::Instant::now();
    let large = json!({ "domain": "big", "section": "s", "content": "word ".repeat(1_000_000) });
    assert_eq!(session.fails("inject_knowledge", large), ErrorKind::TooLarge);
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn secrets_do_not_reach_the_file_and_namespaces_keep_apart() {
    let mut session = Session::new();
    let made = inject(&session, "infra", "Access", "The password: hunter2hunter2 opens the gateway.");
    assert!(!made["redacted"].as_array().is_none_or(Vec::is_empty), "{made:#}");
    assert!(!file(&session, "infra").contains("hunter2"));
    session.scope = Scope { namespace: "claude".into(), ..Scope::user() };
    let own = inject(&session, "mine", "Notes", "Only this agent keeps that note about itself.");
    assert_eq!(own["action"], "created");
    let shared = inject(&session, "infra", "Gateway", "It listens on port 8443 behind the balancer.");
    assert_eq!(shared["action"], "section_created", "an existing shared file is written to");
    session.scope = Scope { namespace: "other".into(), ..Scope::user() };
    assert_eq!(try_file(&session, "mine"), None);
    assert!(file(&session, "infra").contains("8443"));
}

const RUNBOOK: &str =
    "Deploy checklist\n1. git pull\n2. docker build -t app .\n3. kubectl rollout status deploy/app";

#[test]
fn layered_46_a_runbook_is_written_and_the_reply_says_where_it_may_belong() {
    let session = Session::new();
    let made = inject(&session, "ops", "Release", RUNBOOK);
    assert_eq!((&made["action"], &made["routing"]["surface"]), (&json!("created"), &json!("skill")));
    assert!(made["routing_warning"].as_str().is_some_and(|warning| warning.contains("skill")), "{made:#}");
    assert_eq!(made.get("routing_enforcement"), None);
    assert!(file(&session, "ops").contains("docker build"));
    let plain = inject(
        &session,
        "net",
        "Proxy",
        "The proxy terminates TLS because the servers have no certificates.",
    );
    assert_eq!(plain["routing"]["surface"], "l1_knowledge");
    assert_eq!(plain.get("routing_warning"), None);
}

#[test]
fn layered_47_the_strict_gate_refuses_and_an_override_lets_through() {
    let session = Session::with_settings(|settings| settings.config.routing.enforce_direct_writes = true);
    let refused = inject(&session, "ops", "Release", RUNBOOK);
    assert_eq!((&refused["action"], &refused["success"]), (&json!("routing_refused"), &json!(false)));
    assert_eq!(refused["error"], "routing_enforce_direct_write_refused");
    assert_eq!(refused["written"], false);
    for told in ["message", "hint", "routing_warning", "domain", "section"] {
        assert!(refused[told].is_string(), "{told}: {refused:#}");
    }
    assert_eq!(refused["suggested_action"]["source_content"], RUNBOOK);
    assert!(refused["routing_enforcement"]["gate_active"].as_bool().unwrap_or(false), "{refused:#}");
    assert_eq!(try_file(&session, "ops"), None);
    assert!(changes(&session).is_empty());
    let todo = inject(&session, "ops", "Pool", "TODO: wire up the gateway");
    assert_eq!(
        (&todo["action"], &todo["todo_candidate"]["surface"]),
        (&json!("routing_refused"), &json!("todo"))
    );
    assert_eq!(todo["todo_candidate"]["content"], "TODO: wire up the gateway");
    let forced = inject_with(
        &session,
        json!({ "domain": "ops", "section": "Release", "content": RUNBOOK, "routing_override": "force_l1" }),
    );
    assert_eq!((&forced["action"], &forced["routing_override_applied"]), (&json!("created"), &json!(true)));
    let unknown = inject(&session, "ops", "Colour", "zxcv qwer asdf");
    assert_eq!(unknown["routing_enforcement"]["insufficient_evidence"], true, "{unknown:#}");
    assert_eq!(unknown["success"], true);
    let batch = session.ok("batch_inject_knowledge", json!({ "items": [
        { "domain": "x", "section": "Release", "content": RUNBOOK },
        { "domain": "x", "section": "Proxy", "content": "The proxy terminates TLS because the servers have no certificates." },
    ] }));
    assert_eq!(
        (&batch["error_count"], &batch["results"][0]["action"]),
        (&json!(1), &json!("routing_refused"))
    );
    assert_eq!(batch["results"][0]["index"], 0);
    let whole = json!({ "filename": "whole.md", "content": format!("## Release\n\n{RUNBOOK}\n") });
    assert_eq!(session.ok("create_knowledge_file", whole)["action"], "created", "whole files are not routed");
    let wrong = json!({ "domain": "x", "section": "s", "content": "c", "routing_override": "yes" });
    assert_eq!(session.fails("inject_knowledge", wrong), ErrorKind::Invalid);
    let off = Session::with_settings(|settings| {
        settings.config.routing.enforce_direct_writes = true;
        settings.config.routing.enabled = false;
    });
    let made = inject(&off, "ops", "Release", RUNBOOK);
    assert_eq!((&made["action"], made.get("routing")), (&json!("created"), None));
}

#[test]
fn a_write_is_in_the_index_of_knowledge_when_it_answers() {
    let session = Session::new();
    let made = inject(&session, "infra", "Database", POOL);
    assert_eq!(made["l0_synced"], true, "{made:#}");
    assert_eq!(made["l0_sync_report"]["added"], json!(["infra"]));
    let index = session.ok("get_l0_index", json!({}));
    assert!(index["content"].as_str().is_some_and(|text| text.contains("→ knowledge/infra.md")), "{index:#}");
    let items = json!({ "items": [{ "domain": "net", "section": "Proxy", "content": "It ends TLS for all of them." }, { "domain": "", "content": "x" }] });
    let batch = session.ok("batch_inject_knowledge", items);
    assert_eq!((&batch["l0_synced"], &batch["results"][0]["l0_synced"]), (&json!(true), &json!(true)));
    assert_eq!(batch["results"][1]["l0_synced"], false);
}

#[test]
fn long_texts_and_long_batches_are_answered_within_what_a_client_is_sent() {
    let session = Session::new();
    let long = (0..1_500)
        .map(|n| format!("Row {n} of the register is kept for {n} days."))
        .collect::<Vec<_>>()
        .join("\n");
    inject(&session, "register", "Rows", &long);
    let near = long.replace("Row 7 of the register", "Entry 7 of that register");
    let asked = inject(&session, "register", "Rows", &near);
    assert!(format!("{asked:#}").chars().count() < 32_000, "{}", asked["action"]);
    let items: Vec<Value> = (0..100)
        .map(|n| json!({ "domain": format!("d{n}"), "section": "Notes", "content": format!("TODO: check run {n} of the deploy step, then restart it.") }))
        .collect();
    let made = session.ok("batch_inject_knowledge", json!({ "items": items }));
    assert!(format!("{made:#}").chars().count() < 32_000);
    assert_eq!((&made["success_count"], made["results"].as_array().map(Vec::len)), (&json!(100), Some(100)));
    assert_eq!(
        (&made["results"][99]["index"], &made["results"][99]["action"]),
        (&json!(99), &json!("created"))
    );
    let too_many = json!({ "items": vec![json!({ "domain": "d", "content": "c" }); 101] });
    assert_eq!(session.fails("batch_inject_knowledge", too_many), ErrorKind::Invalid);
}
