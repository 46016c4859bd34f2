//! Whole files of the vault by tool, and the tools that read them.

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind, scope::Scope};
use strata_store::ledger::VaultChangeFilter;

fn create(s: &Session, filename: &str, content: &str) -> Value {
    s.ok("create_knowledge_file", json!({ "filename": filename, "content": content }))
}

fn update(s: &Session, filename: &str, content: &str) -> Value {
    s.ok("update_knowledge_file", json!({ "filename": filename, "content": content }))
}

fn delete(s: &Session, filename: &str) -> Value {
    s.ok("delete_knowledge_file", json!({ "filename": filename }))
}

fn get(s: &Session, filename: &str) -> Value {
    s.ok("get_knowledge_file", json!({ "filename": filename }))
}

fn found(s: &Session, keyword: &str, mode: &str) -> Vec<String> {
    let reply = s.ok("recall_knowledge", json!({ "keyword": keyword, "search_mode": mode }));
    let hits = reply["results"].as_array().expect("results");
    hits.iter().map(|hit| hit["file"].as_str().expect("a file").to_owned()).collect()
}

/// The lines of the changelog about the files themselves, newest first: operation, tool, tokens.
fn changes(s: &Session) -> Vec<(String, String, Option<String>, Option<String>)> {
    let rows = s
        .engine
        .existing_ledger()
        .expect("a ledger")
        .read(&Default::default(), |r| r.vault_changes(&VaultChangeFilter::default()))
        .expect("read");
    let of_files = rows.into_iter().filter(|row| row.operation.surface() == "l1_knowledge");
    of_files.map(|row| (row.operation.as_str().to_owned(), row.tool, row.before, row.after)).collect()
}

const DEPLOY: &str = "# proxy\n\n## Ports\n\nThe proxy listens on port 8443.\n";

/// What the text of the test below asks for, in the form that clients know.
fn governance_is_told(told: &Value) {
    assert_eq!((&told["write_kind"], &told["domain"]), (&json!("update"), &json!("proxy")), "{told}");
    let states = &told["state_markers"];
    let counts = json!({ "move_to_todo": 1, "rewrite_as_current_rule": 1, "keep_with_reason": 0 });
    assert_eq!((&states["summary"]["state_markers"], &states["summary"]["by_action"]), (&json!(1), &counts));
    let open = &states["findings"][0];
    assert_eq!((&open["line"], &open["marker"]), (&json!(7), &json!("TODO")));
    assert_eq!(open["suggested_action"], "move_to_todo_or_rewrite_as_current_rule");
    assert_eq!(states["lifecycle_findings"].as_array().map(Vec::len), Some(2), "{states}");
    let procedures = &told["procedure_contamination"];
    assert_eq!(procedures["summary"], json!({ "sections_flagged": 1, "score_floor": 0.6 }), "{told}");
    let procedure = &procedures["findings"][0];
    assert_eq!((&procedure["heading"], &procedure["surface"]), (&json!("Deploy checklist"), &json!("skill")));
    assert_eq!(procedure["suggested_action"], "extract_to_agent_skill_surface");
    assert_eq!(told["heading_families"][0]["count"], 2);
    assert_eq!((&told["size"]["threshold"], &told["size"]["oversized"]), (&json!(4096), &json!(false)));
    assert_eq!(told["suggestions"].as_array().map(Vec::len), Some(4), "{told}");
}

#[test]
fn layered_33_files_are_made_replaced_and_deleted_and_the_index_follows_at_once() {
    let s = Session::new();
    let made = create(&s, "proxy.md", DEPLOY);
    assert_eq!(
        (made["success"].as_bool(), made["action"].as_str(), made["file"].as_str()),
        (Some(true), Some("created"), Some("proxy.md"))
    );
    assert_eq!(made["size_bytes"], DEPLOY.len());
    assert_eq!((&made["l0_synced"], &made["vector_sync_ok"]), (&json!(true), &json!(true)), "{made}");
    assert_eq!(made["governance"]["clean"], true);
    let index = s.ok("get_l0_index", json!({}))["content"].to_string();
    assert!(index.contains("knowledge/proxy.md"), "{index}");
    let again = json!({ "filename": "Proxy.md", "content": "x" });
    assert_eq!(s.fails("create_knowledge_file", again), ErrorKind::Conflict);
    let absent = json!({ "filename": "absent.md", "content": "x" });
    assert_eq!(s.fails("update_knowledge_file", absent), ErrorKind::NotFound);
    assert_eq!(s.fails("delete_knowledge_file", json!({ "filename": "absent.md" })), ErrorKind::NotFound);

    let text = "# proxy\n\n## Ports\n\nThe proxy listens on port 9443.\n\nTODO: close port 8443\nThe leak has been fixed.\n\n## Deploy checklist\n\n1. git pull\n2. docker build -t proxy .\n3. kubectl apply -f proxy.yaml\n\n## Note 2026-01-01\n\na\n\n## Note 2026-02-01\n\nb\n";
    let changed = update(&s, "proxy.md", text);
    assert_eq!(changed["action"], "updated");
    assert_eq!((&changed["old_size"], &changed["new_size"]), (&json!(DEPLOY.len()), &json!(text.len())));
    assert_eq!(changed["backup"], json!({ "path": "proxy.md@1", "bytes": DEPLOY.len() }));
    governance_is_told(&changed["governance"]);
    if s.engine.settings().store.is_none() {
        let folder = s.home.path().join("vault").join("knowledge").join("shared");
        let beside: Vec<_> = std::fs::read_dir(folder).expect("a folder").flatten().collect();
        assert_eq!(beside.len(), 1, "no copy lies beside the file");
    }

    let gone = delete(&s, "proxy.md");
    assert_eq!((&gone["action"], &gone["deleted_size_bytes"]), (&json!("deleted"), &json!(text.len())));
    assert_eq!((&gone["l0_synced"], &gone["backup"]), (&json!(true), &json!("proxy.md@2")));
    assert_eq!(s.fails("get_knowledge_file", json!({ "filename": "proxy.md" })), ErrorKind::NotFound);
    let index = s.ok("get_l0_index", json!({}));
    assert_eq!((&index["total_entries"], &index["content"]), (&json!(0), &json!("")), "{index}");
    assert_eq!(create(&s, "proxy.md", DEPLOY)["action"], "created", "a name is free again");
}

#[test]
fn layered_31_whole_files_are_seen_and_gone_at_once_in_every_mode() {
    let s = Session::new();
    create(&s, "one.md", "# one\n\n## Bird\n\nThe bittern booms.\n");
    for mode in ["keyword", "bm25", "hybrid"] {
        assert_eq!(found(&s, "bittern", mode), ["one.md"], "{mode}");
    }
    create(&s, "two.md", "# two\n\n## Bird\n\nAnother bittern.\n");
    update(&s, "one.md", "# one\n\n## Bird\n\nThe avocet wades.\n");
    for mode in ["keyword", "bm25", "hybrid"] {
        assert_eq!(found(&s, "bittern", mode), ["two.md"], "{mode}");
        assert_eq!(found(&s, "avocet", mode), ["one.md"], "{mode}");
    }
    delete(&s, "two.md");
    for mode in ["keyword", "bm25", "hybrid"] {
        assert!(found(&s, "bittern", mode).is_empty(), "{mode}");
    }
}

#[test]
fn layered_34_the_same_text_is_no_event_and_another_one_has_its_tokens() {
    let s = Session::new();
    create(&s, "a.md", DEPLOY);
    let same = update(&s, "a.md", DEPLOY);
    assert_eq!(
        (&same["action"], &same["backup"]["skipped"]),
        (&json!("updated"), &json!("the text is the same"))
    );
    assert_eq!(changes(&s).len(), 1, "only its creation");
    update(&s, "a.md", "## Other\n\nThe secretive text of the body.\n");
    delete(&s, "a.md");
    let log = changes(&s);
    let operations: Vec<(&str, &str)> =
        log.iter().map(|(op, tool, ..)| (op.as_str(), tool.as_str())).collect();
    assert_eq!(
        operations,
        [
            ("l1_domain_deleted", "delete_knowledge_file"),
            ("l1_domain_updated", "update_knowledge_file"),
            ("l1_domain_created", "create_knowledge_file")
        ]
    );
    assert_eq!((&log[1].2, &log[0].2), (&log[2].3, &log[1].3), "each begins where the one before ended");
    assert!(log[1].2.is_some() && log[1].2 != log[1].3 && log[0].3.is_none());
    assert!(!format!("{log:?}").contains("secretive"));
    create(&s, "b.md", "old");
    let read = get(&s, "b.md")["hash"].take();
    let by_who_read_it =
        |content: &str| json!({ "filename": "b.md", "content": content, "expected_hash": read.clone() });
    s.ok("update_knowledge_file", by_who_read_it("of the first"));
    assert_eq!(s.fails("update_knowledge_file", by_who_read_it("of the second")), ErrorKind::Conflict);
    assert_eq!(get(&s, "b.md")["content"], "of the first");
}

#[test]
fn layered_39_a_file_in_a_folder_is_read_recalled_and_in_step_with_the_index() {
    let s = Session::new();
    create(&s, "sub/deep.md", "# deep\n\n## Reef\n\nA coral reef in a folder.\n");
    assert_eq!(found(&s, "coral", "keyword"), ["sub/deep.md"]);
    for name in ["sub/deep.md", "deep.md", "Sub/Deep.md"] {
        let reply = get(&s, name);
        assert_eq!(reply["file"], "sub/deep.md", "{name}");
        assert!(reply["content"].as_str().is_some_and(|text| text.contains("coral reef")));
    }
    let index = s.ok("get_l0_index", json!({}));
    assert!(index["content"].to_string().contains("knowledge/sub/deep.md"), "{index}");
    let synced = s.ok("sync_l0_index", json!({ "dry_run": true }));
    assert_eq!((&synced["entries_added"], &synced["entries_removed"]), (&json!(0), &json!(0)), "{synced}");
}

#[test]
fn names_that_are_no_files_are_refused_and_nothing_is_made() {
    let s = Session::new();
    let long = format!("{}.md", "x".repeat(300));
    for name in ["../x.md", "/etc/x.md", "a\\b.md", "x.txt", "x", ".md", "a/../b.md", "con.md", &long] {
        let content = json!({ "filename": name, "content": "text" });
        assert_eq!(s.fails("create_knowledge_file", content), ErrorKind::Invalid, "{name}");
        for tool in ["get_knowledge_file", "delete_knowledge_file"] {
            assert_eq!(s.fails(tool, json!({ "filename": name })), ErrorKind::Invalid, "{tool} {name}");
        }
    }
    let blank = json!({ "filename": "blank.md", "content": " \n" });
    assert_eq!(s.fails("create_knowledge_file", blank), ErrorKind::Invalid);
    let large = json!({ "filename": "large.md", "content": "x".repeat((5 << 20) + 1) });
    assert_eq!(s.fails("create_knowledge_file", large), ErrorKind::TooLarge);
    assert_eq!(s.ok("list_memory_stats", json!({}))["l1_knowledge"]["total_files"], 0);
}

#[test]
fn a_principal_that_may_not_write_knowledge_writes_no_file() {
    let mut s = Session::new();
    create(&s, "a.md", DEPLOY);
    s.set_kind(PrincipalKind::Gateway);
    let content = json!({ "filename": "b.md", "content": "text" });
    assert_eq!(s.fails("create_knowledge_file", content), ErrorKind::Refused);
    let content = json!({ "filename": "a.md", "content": "text" });
    assert_eq!(s.fails("update_knowledge_file", content), ErrorKind::Refused);
    assert_eq!(s.fails("delete_knowledge_file", json!({ "filename": "a.md" })), ErrorKind::Refused);
    assert_eq!(get(&s, "a.md")["content"], DEPLOY);
}

#[test]
fn an_own_file_may_stand_before_a_shared_one() {
    let mut s = Session::new();
    create(&s, "both.md", "## A\n\nof all\n");
    s.scope = Scope { namespace: "claude".into(), ..Scope::user() };
    assert_eq!(create(&s, "both.md", "## A\n\nof mine\n")["action"], "created");
    assert_eq!(get(&s, "both.md")["content"], "## A\n\nof mine\n");
    delete(&s, "both.md");
    assert_eq!(get(&s, "both.md")["content"], "## A\n\nof all\n", "the shared one shows again");
}

#[test]
fn secrets_are_blacked_out_before_they_are_stored() {
    let s = Session::new();
    let reply = create(&s, "keys.md", "## Keys\n\npassword = hunter2trombone9\n");
    assert!(reply["redacted"].as_array().is_some_and(|families| families.len() == 1), "{reply}");
    assert!(!get(&s, "keys.md").to_string().contains("hunter2trombone9"));
}

#[test]
fn a_large_file_is_read_page_by_page() {
    let s = Session::new();
    let text: String = (0..4_000).map(|n| format!("line {n} 一行文字 of the file\n")).collect();
    create(&s, "big.md", &text);
    let (mut read, mut offset, mut pages) = (String::new(), 0, 0);
    loop {
        let page = s.ok("get_knowledge_file", json!({ "filename": "big.md", "offset": offset }));
        read.push_str(page["content"].as_str().expect("content"));
        pages += 1;
        match page["next_offset"].as_u64() {
            Some(next) => {
                assert_eq!(page["truncated"], true);
                offset = next;
            }
            None => break,
        }
    }
    assert_eq!(read, text);
    assert!(pages > 3);
    let past = s.ok("get_knowledge_file", json!({ "filename": "big.md", "offset": text.len() + 5 }));
    assert_eq!((&past["content"], past.get("truncated")), (&json!(""), None));
}

#[test]
fn the_figures_name_what_is_large_and_what_to_do() {
    let s = Session::new();
    let empty = s.ok("list_memory_stats", json!({}));
    assert_eq!(empty["suggestions"].as_array().map(Vec::len), Some(1));
    create(&s, "large.md", &"words of a file\n".repeat(400));
    for number in 0..15 {
        create(&s, &format!("small{number}.md"), "## A\n\nsmall\n");
    }
    let reply = s.ok("list_memory_stats", json!({}));
    let figures = &reply["l1_knowledge"];
    assert_eq!(figures["total_files"], 16);
    assert_eq!(figures["total_size_bytes"], 6_400 + 15 * "## A\n\nsmall\n".len());
    assert_eq!(figures["oversized_files"], json!([{ "file": "large.md", "size_bytes": 6_400 }]));
    assert_eq!(
        figures["files"][0],
        json!({ "file": "large.md", "size_bytes": 6_400, "size_kb": 6.25, "oversized": true })
    );
    assert_eq!(reply["suggestions"].as_array().map(Vec::len), Some(2), "{reply}");
}

const ENTRY: &str = "---\nid: know-0042\ntype: decision\nconfidence: 0.9\nreview_status: approved\ntags: [db, pool]\nsummary: The pool has twenty connections\n---\n\nThe connection pool of the database holds twenty connections.\n";

#[test]
fn meaning_finds_sections_and_their_ids_lead_back_to_them() {
    let s = Session::new();
    create(&s, "pool.md", ENTRY);
    create(
        &s,
        "lunch.md",
        "# lunch\n\n## Canteen\n\nLunch is served at noon in the canteen on the second floor.\n",
    );
    let reply = s.ok(
        "search_semantic",
        json!({ "query": "how many connections does the database pool have", "top_n": 2 }),
    );
    let first = &reply["results"][0];
    assert_eq!((&first["id"], &first["domain"]), (&json!("know-0042"), &json!("pool")), "{reply}");
    assert_eq!(
        first["metadata"],
        json!({ "type": "decision", "confidence": 0.9, "tags": ["db", "pool"], "section": "" })
    );
    assert!(first["score"].as_f64().is_some_and(|score| score > 0.0 && score <= 1.0));
    let entry = &s.ok("get_knowledge_by_id", json!({ "entry_id": "know-0042" }))["entry"];
    assert_eq!(entry["content"], "The connection pool of the database holds twenty connections.");
    assert_eq!(
        (&entry["review_status"], &entry["summary"]),
        (&json!("approved"), &json!("The pool has twenty connections"))
    );

    let lunch = s.ok("search_semantic", json!({ "query": "where is lunch served", "domain": "lunch" }));
    let hits = lunch["results"].as_array().expect("results");
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit["domain"] == "lunch"), "{lunch}");
    assert_eq!(hits[0]["metadata"]["section"], "Canteen");
    let entry = &s.ok("get_knowledge_by_id", json!({ "entry_id": hits[0]["id"] }))["entry"];
    assert_eq!(entry["section"], "Canteen");
    assert!(entry["content"].as_str().is_some_and(|text| text.starts_with("Lunch is served at noon")));
    for id in ["know-9999", "doc_0000000000", "", "mem_0123456789"] {
        assert_eq!(s.fails("get_knowledge_by_id", json!({ "entry_id": id })), ErrorKind::NotFound, "{id}");
    }
    assert_eq!(s.fails("search_semantic", json!({ "query": " " })), ErrorKind::Invalid);
    let timeline = s.ok("get_domain_timeline", json!({ "domain": "pool" }));
    assert!(timeline["stats"]["total_hits"].as_u64().is_some_and(|hits| hits >= 2), "{timeline}");
}

#[test]
fn without_a_model_the_search_by_meaning_says_why() {
    let s = Session::with_settings(|settings| settings.config.semantic.model = "off".into());
    create(&s, "pool.md", ENTRY);
    assert_eq!(s.fails("search_semantic", json!({ "query": "connections" })), ErrorKind::Conflict);
    let recall = json!({ "keyword": "connections", "search_mode": "semantic" });
    assert_eq!(s.fails("recall_knowledge", recall), ErrorKind::Conflict);
    assert_eq!(found(&s, "connections", "hybrid"), ["pool.md"], "words still find");
    let store = s.ok("get_memory_v2_stats", json!({}))["v2_stats"]["vector_store"].clone();
    assert_eq!((&store["is_fitted"], &store["model"]), (&json!(false), &Value::Null));
}

#[test]
fn layered_64_the_index_is_made_anew_with_the_same_results() {
    let s = Session::new();
    assert_eq!(s.ok("reindex_vector_store", json!({}))["files"], 0, "nothing is made of nothing");
    create(&s, "pool.md", ENTRY);
    create(
        &s,
        "infra/net.md",
        "# net\n\n## Ports\n\nPort 8443.\n\n## Empty\n\n## Hosts\n\nThe host is called heron.\n",
    );
    let before = found(&s, "heron", "hybrid");
    let figures = s.ok("get_memory_v2_stats", json!({}));
    let store = &figures["v2_stats"]["vector_store"];
    assert_eq!(store["domains"], json!({ "infra/net": 2, "pool": 1 }));
    assert_eq!((&store["total_entries"], &store["is_fitted"]), (&json!(3), &json!(true)));
    assert_eq!(figures["v2_stats"]["l1_domains"], json!(["infra/net", "pool"]));
    assert_eq!(
        figures["v2_stats"]["review_queue"],
        json!({ "total": 0, "pending": 0, "approved": 0, "rejected": 0 })
    );
    for arguments in [json!({}), json!({ "drop_existing": false })] {
        let made = s.ok("reindex_vector_store", arguments);
        assert_eq!(
            (&made["success"], &made["domains"], &made["sections"]),
            (&json!(true), &json!(2), &json!(3))
        );
        assert_eq!((&made["errors"], &made["calibration"]["calibrated"]), (&json!([]), &json!(false)));
        assert_eq!(found(&s, "heron", "hybrid"), before);
    }
    assert_eq!(before, ["infra/net.md"]);
}
