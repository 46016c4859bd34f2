//! A sound home is healthy; whatever is wrong with one is named with its place, and what is safe is repaired.

use crate::maintain_support::{Session, acting, become_owner, home, reopen, support, tell};
use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    id::{Id, IdKind},
    principal::PrincipalKind,
    time::Timestamp,
};
use strata_store::{
    faults::FaultPlan,
    files::write_atomic,
    ledger::{NewJob, Progress},
    sql::Control,
};
use strata_testkit::tamper::Damage;

fn furnished() -> Session {
    let mut s = home(7);
    become_owner(&mut s);
    // The passphrase signs the head after this rule.
    s.ok("remember", json!({ "text": "never force-push to main", "layer": "P0", "kind": "rule" }));
    acting(&mut s, PrincipalKind::Agent, |s| {
        for n in 0..12 {
            s.remember(&format!("fact number {n} about the bridge"));
        }
        let old = s.remember("the ferry leaves at nine");
        s.ok("update", json!({ "id": old, "text": "the ferry leaves at ten" }));
    });
    tell(&s, "talk", "the gulls were loud");
    s.recall("bridge");
    s
}

fn findings(report: &Value, status: &str) -> Vec<(String, String)> {
    let all = report["findings"].as_array().expect("findings");
    let of = all.iter().filter(|f| f["status"] == status);
    of.map(|f| {
        (f["check"].as_str().expect("check").to_owned(), f["detail"].as_str().expect("detail").to_owned())
    })
    .collect()
}

fn doctor(s: &Session) -> Value {
    s.ok("doctor", json!({}))
}

fn tamper(s: &Session, damage: Damage<'_>) {
    strata_testkit::tamper::tamper(s.engine.existing_ledger().expect("there").database(), damage);
}

/// The one finding that a change of the ledger behind Strata's back must bring.
fn expect_bad(s: &Session, check: &str, words: &str) {
    let report = doctor(s);
    assert_eq!(report["healthy"], false, "{words}: {report}");
    let bad = findings(&report, "bad");
    assert!(bad.iter().any(|(c, detail)| c == check && detail.contains(words)), "{check} {words}: {bad:?}");
    for finding in report["findings"].as_array().expect("findings").iter().filter(|f| f["status"] != "ok") {
        assert!(!finding["hint"].as_str().unwrap_or("").is_empty(), "{finding}");
    }
}

#[test]
fn a_sound_home_is_healthy_and_the_look_changes_nothing() {
    let s = furnished();
    let audit = |s: &Session| s.ok("status", json!({}))["holds"]["audit"].clone();
    let before = audit(&s);
    for request in [json!({}), json!({ "full": true }), json!({ "fix": true })] {
        let report = s.ok("doctor", request);
        assert_eq!((report["healthy"].as_bool(), findings(&report, "bad")), (Some(true), Vec::new()));
    }
    assert_eq!(audit(&s), before);
    let text = s.text("doctor", json!({}));
    assert!(text.contains("| ✓ | audit |") && text.contains("as signed"), "{text}");
}

#[test]
fn before_init_nothing_is_created() {
    let s = home(7);
    let report = doctor(&s);
    assert_eq!((report["healthy"].as_bool(), findings(&report, "bad")), (Some(true), Vec::new()));
    s.ok("doctor", json!({ "fix": true, "full": true }));
    assert_eq!(std::fs::read_dir(s.home.path()).expect("listed").count(), 0);
    for tool in ["reindex", "jobs_list"] {
        assert_eq!(s.fails(tool, json!({})), ErrorKind::NotInitialized, "{tool}");
    }
    assert_eq!(std::fs::read_dir(s.home.path()).expect("listed").count(), 0);
    let gone = s.home.path().join("not/there");
    let elsewhere = Session {
        engine: strata_engine::engine::Engine::new(strata_engine::settings::Settings::for_home(&gone)),
        principal: s.principal.clone(),
        scope: s.scope.clone(),
        secret: None,
        home: strata_testkit::home::TestHome::new().existing(),
    };
    assert_eq!(doctor(&elsewhere)["healthy"], true);
    assert!(!gone.exists());
}

#[test]
fn a_changed_audit_row_is_located() {
    let s = furnished();
    tamper(&s, Damage::AuditReason(5));
    expect_bad(&s, "audit", "audit entry 5 was changed");
    let s = furnished();
    tamper(&s, Damage::AuditPrincipal(3));
    expect_bad(&s, "audit", "audit entry 3 was changed");
}

#[test]
fn a_deleted_audit_row_is_located() {
    let s = furnished();
    tamper(&s, Damage::AuditRow(6));
    expect_bad(&s, "audit", "audit entries 6 to 6 are missing");
}

#[test]
fn a_cut_tail_is_located_by_the_data_the_index_and_a_backup() {
    let s = furnished();
    let last = s.ok("status", json!({}))["holds"]["audit"].as_i64().expect("a count");
    tamper(&s, Damage::AuditTail(last - 2));
    expect_bad(&s, "audit", &format!("the audit ends at {}: its tail was cut off", last - 2));

    // Also when the rows that carry the sequences are gone: the index has seen the head.
    let s = furnished();
    let cut = last - 2;
    tamper(&s, Damage::WholeTail(cut));
    expect_bad(&s, "audit", &format!("the audit ends at entry {cut}"));

    // And without an index, a backup has.
    let s = furnished();
    s.ok("backup_create", json!({}));
    tamper(&s, Damage::WholeTail(cut));
    for entry in std::fs::read_dir(s.home.path()).expect("listed").flatten() {
        if entry.file_name().to_string_lossy().starts_with("index-") {
            std::fs::remove_file(entry.path()).expect("removed");
        }
    }
    let s = reopen(s, 8, &FaultPlan::none());
    expect_bad(&s, "audit", &format!("the audit ends at entry {cut}"));
}

#[test]
fn a_head_signed_with_another_key_is_named() {
    let s = furnished();
    tamper(&s, Damage::HeadKeys);
    expect_bad(&s, "audit", "was signed with an unknown key");
    let s = furnished();
    tamper(&s, Damage::HeadSignatures);
    expect_bad(&s, "audit", "the signature of audit entry");
}

#[test]
fn states_that_contradict_their_history_are_named() {
    let s = furnished();
    let id = s.recall("fact number 3 about the bridge")[0].clone();
    tamper(&s, Damage::Layer(&id));
    expect_bad(&s, "states", &id);
    let s = furnished();
    tamper(&s, Damage::States(4));
    expect_bad(&s, "states", "1 memory not as history says");
    let s = furnished();
    tamper(&s, Damage::Successors);
    let report = doctor(&s);
    assert!(
        findings(&report, "warn").iter().any(|(c, d)| c == "successors" && d.contains("not here")),
        "{report}"
    );
}

#[test]
fn a_snapshot_that_is_not_what_it_was_is_named() {
    let with_snapshot = || {
        let s = furnished();
        s.ok("snapshot_create", json!({ "version_id": "v1" }));
        let id = s.recall("fact number 3 about the bridge")[0].clone();
        s.ok("update", json!({ "id": id, "confidence": 0.3 }));
        s
    };
    let s = with_snapshot();
    assert!(
        findings(&doctor(&s), "ok")
            .contains(&("snapshots".into(), "1 snapshot, each as it was taken".into()))
    );
    for n in 0..20 {
        s.ok("snapshot_create", json!({ "version_id": format!("later {n}") }));
    }
    let found = findings(&doctor(&s), "ok");
    let text = "21 snapshots, the newest 20 as taken; --full measures all";
    assert!(found.contains(&("snapshots".into(), text.into())), "{found:?}");
    for damage in [Damage::SnapshotPlace("v1"), Damage::SnapshotHash("v1"), Damage::FirstState(5)] {
        let s = with_snapshot();
        tamper(&s, damage);
        expect_bad(&s, "snapshots", "'v1'");
    }
}

#[test]
fn links_to_nothing_are_named_and_rows_of_nothing_are_wrong() {
    for (damage, words) in [
        (Damage::Link("supersedes", 15), "stored to replace one that is not here"),
        (Damage::Link("parent", 3), "under one that is not here"),
    ] {
        let s = furnished();
        tamper(&s, damage);
        let warned = findings(&doctor(&s), "warn");
        assert!(warned.iter().any(|(c, d)| c == "links" && d.contains(words)), "{warned:?}");
    }
    let s = furnished();
    s.ok("remember", json!({ "text": "heard in the talk", "evidence": ["ep_0000000000"], "tags": ["talk"] }));
    let warned = findings(&doctor(&s), "warn");
    assert!(
        warned.iter().any(|(c, d)| c == "links" && d.contains("evidence that is not here")),
        "{warned:?}"
    );
    tamper(&s, Damage::MemoryRow(16));
    expect_bad(&s, "links", "rows of `evidence` that belong to no memory: 1");
    expect_bad(&s, "links", "rows of `memory_tags` that belong to no memory: 1");
}

#[test]
fn a_damaged_index_is_found_and_made_anew() {
    let s = furnished();
    let before = s.recall("bridge");
    let path = s.engine.searcher().index().path().to_owned();
    s.engine.searcher().index().database().checkpoint(&Control::default()).expect("checkpoint");
    let s = reopen(s, 8, &FaultPlan::none());
    let mut bytes = std::fs::read(&path).expect("read");
    for (at, byte) in bytes.iter_mut().enumerate().skip(4096) {
        *byte = (at % 251) as u8;
    }
    write_atomic(&path, &bytes).expect("written");
    let s = reopen(s, 9, &FaultPlan::none());
    let report = doctor(&s);
    assert!(findings(&report, "bad").iter().any(|(c, _)| c == "index"), "{report}");
    let report = s.ok("doctor", json!({ "fix": true }));
    assert_eq!(report["healthy"], true, "{report}");
    assert!(!report["fixed"].as_array().expect("fixed").is_empty());
    assert_eq!(s.recall("bridge"), before);
    s.ok("doctor", json!({ "fix": true }));
    let left = std::fs::read_dir(s.home.path()).expect("listed").flatten();
    assert_eq!(left.filter(|e| e.file_name().to_string_lossy().contains("damaged")).count(), 0);
}

#[test]
fn reindex_gives_the_same_answers_and_a_job() {
    let s = furnished();
    let queries = ["bridge", "fact number 7", "when does the ferry leave", "gulls", "force-push"];
    let answers = |s: &Session| -> Vec<Vec<String>> { queries.iter().map(|q| s.recall(q)).collect() };
    let before = answers(&s);
    let reply = s.ok("reindex", json!({}));
    assert_eq!((reply["items"].as_u64(), reply["behind"].as_u64()), (Some(16), Some(0)), "{reply}");
    assert_eq!(answers(&s), before);
    let jobs = s.ok("jobs_list", json!({}))["jobs"].clone();
    assert_eq!(
        (jobs[0]["id"].clone(), jobs[0]["kind"].as_str(), jobs[0]["state"].as_str()),
        (reply["job"].clone(), Some("reindex"), Some("done"))
    );
}

#[test]
fn jobs_are_listed_shown_cancelled_and_ended_when_their_worker_is_dead() {
    let mut s = furnished();
    let now = s.engine.clock().now();
    let ledger = s.engine.existing_ledger().expect("there");
    let ids = [1_u64, 2, 3].map(|n| Id::from_bits(IdKind::Job, n << 40));
    ledger
        .write(&Control::default(), now, |w| {
            for id in &ids {
                w.queue_job(&NewJob {
                    id: id.clone(),
                    kind: "night".into(),
                    total: 9,
                    message: "waiting".into(),
                })?;
            }
            let taken = w.take_job("night", "worker", Timestamp(now.0 + 1_000))?.expect("one is queued");
            w.renew_job(
                &taken.id,
                "worker",
                Timestamp(now.0 + 1),
                Progress { done: 4, total: 9, message: "sorting" },
            )
        })
        .expect("queued");
    assert_eq!(s.ok("jobs_list", json!({ "kind": "night" }))["jobs"].as_array().map(Vec::len), Some(3));
    assert_eq!(s.ok("jobs_list", json!({ "limit": 0 }))["jobs"].as_array().map(Vec::len), Some(1));
    let shown = s.ok("jobs_show", json!({ "id": ids[0].as_str() }));
    assert_eq!(
        (shown["state"].as_str(), shown["done"].as_i64(), shown["message"].as_str()),
        (Some("stalled"), Some(4), Some("sorting"))
    );
    s.set_kind(PrincipalKind::Agent);
    assert_eq!(s.fails("jobs_cancel", json!({ "id": ids[1].as_str() })), ErrorKind::Conflict, "not its own");
    s.set_kind(PrincipalKind::Human);
    let cancelled = s.ok("jobs_cancel", json!({ "id": ids[1].as_str() }));
    assert_eq!(
        (cancelled["cancelled"].as_bool(), cancelled["state"].as_str()),
        (Some(true), Some("cancelled"))
    );
    assert_eq!(s.ok("jobs_cancel", json!({ "id": ids[1].as_str() }))["cancelled"], false);
    assert_eq!(s.fails("jobs_show", json!({ "id": "job_0000000000" })), ErrorKind::NotFound);
    for wrong in ["", "mem_0123456789", "job_00"] {
        assert_eq!(s.fails("jobs_cancel", json!({ "id": wrong })), ErrorKind::Invalid, "{wrong}");
    }
    let report = doctor(&s);
    assert!(
        findings(&report, "warn").iter().any(|(c, d)| c == "jobs" && d.contains(ids[0].as_str())),
        "{report}"
    );
    let report = s.ok("doctor", json!({ "fix": true }));
    assert!(findings(&report, "warn").iter().all(|(c, _)| c != "jobs"), "{report}");
    assert_eq!(s.ok("jobs_show", json!({ "id": ids[0].as_str() }))["state"], "failed");
}

#[test]
fn leftovers_go_only_when_nobody_can_be_at_work_on_them() {
    let s = furnished();
    s.ok("backup_create", json!({}));
    let place = |name: &str| s.home.path().join(name);
    let noon = std::time::UNIX_EPOCH
        + std::time::Duration::from_micros(u64::try_from(support::NOON.0).expect("after 1970"));
    for (name, age) in [(".tmpold", 7_200), ("backups/.unfinished-old", 7_200), (".tmpnew", 60)] {
        write_atomic(&place(name), b"x").expect("written");
        let file = std::fs::File::options().write(true).open(place(name)).expect("opened");
        file.set_modified(noon - std::time::Duration::from_secs(age)).expect("dated");
    }
    write_atomic(&place("index-1.1.damaged-1"), b"x").expect("written");
    let report = doctor(&s);
    let warned = findings(&report, "warn");
    let (_, detail) = warned.iter().find(|(c, _)| c == "leftovers").expect("named");
    assert!(detail.starts_with("3 ") && !detail.contains(".tmpnew"), "{detail}");
    s.ok("doctor", json!({ "fix": true }));
    let left = [".tmpold", "backups/.unfinished-old", ".tmpnew", "index-1.1.damaged-1"]
        .map(|name| place(name).exists());
    assert_eq!(left, [false, false, true, false]);
}

#[test]
fn what_a_dead_writer_left_in_the_vault_is_no_knowledge_and_goes_while_a_living_one_keeps_its_file() {
    let s = furnished();
    s.ok("create_knowledge_file", json!({ "filename": "infra/proxy.md", "content": "## Ports\n\n8443\n" }));
    let folder = s.home.path().join("vault/knowledge/shared/infra");
    let noon = std::time::UNIX_EPOCH
        + std::time::Duration::from_micros(u64::try_from(support::NOON.0).expect("after 1970"));
    let put = |name: &str, age: u64| {
        let path = folder.join(name);
        write_atomic(&path, b"## Half\n\nwritten about zeppelins\n").expect("written");
        let file = std::fs::File::options().write(true).open(&path).expect("opened");
        file.set_modified(noon - std::time::Duration::from_secs(age)).expect("dated");
        path
    };
    let dead = put(".tmpaB3dE6", 7_200);
    let young = put(".tmpaB3dE7", 60);
    let others = put(".tmp-of-an-editor", 7_200);
    let held = put(".tmpaB3dE8", 7_200);
    let writer = std::fs::File::open(&held).expect("opened");
    writer.lock().expect("a lock");

    s.ok("maintain", json!({ "task": "index", "force": true }));
    assert!(
        s.ok("recall_knowledge", json!({ "keyword": "zeppelins" }))["results"]
            .as_array()
            .is_none_or(Vec::is_empty)
    );
    let report = doctor(&s);
    let warned = findings(&report, "warn");
    let (_, detail) = warned.iter().find(|(c, _)| c == "leftovers").expect("named");
    assert!(detail.starts_with("1 ") && detail.contains(".tmpaB3dE6"), "{detail}");
    s.ok("maintain", json!({ "task": "vault", "force": true }));
    assert_eq!([&dead, &young, &others, &held].map(|path| path.exists()), [false, true, true, true]);
    drop(writer);
    s.ok("doctor", json!({ "fix": true }));
    assert_eq!([young, others, held].map(|path| path.exists()), [true, true, false]);
}

#[test]
fn configuration_documents_purges_and_backups_are_looked_at() {
    let s = furnished();
    write_atomic(&s.home.path().join("config.toml"), b"[recall]\nlimt = 3\n").expect("written");
    expect_bad(&s, "configuration", "limt");
    std::fs::remove_file(s.home.path().join("config.toml")).expect("removed");

    let id = s.recall("fact number 3 about the bridge")[0].clone();
    let line = json!({ "kind": "memory", "id": id, "at": 1 }).to_string();
    write_atomic(&s.home.path().join("purged.jsonl"), format!("{line}\nnonsense\n").as_bytes())
        .expect("written");
    expect_bad(&s, "purges", &id);
    assert!(findings(&doctor(&s), "warn").iter().any(|(_, d)| d.contains("lines 2 of purged.jsonl")));
    s.ok("purge", json!({ "id": id }));
    write_atomic(&s.home.path().join("purged.jsonl"), b"").expect("emptied");
    assert!(
        findings(&doctor(&s), "warn").iter().any(|(c, d)| c == "purges" && d.contains("1 purge missing"))
    );
    s.ok("doctor", json!({ "fix": true }));
    assert!(std::fs::read_to_string(s.home.path().join("purged.jsonl")).expect("read").contains(&id));

    let broken = s.home.path().join("backups/bak_0000000000");
    std::fs::create_dir_all(&broken).expect("made");
    write_atomic(&broken.join("manifest.json"), b"{").expect("written");
    let report = doctor(&s);
    assert!(
        findings(&report, "warn").iter().any(|(c, d)| c == "backups" && d.contains("bak_0000000000")),
        "{report}"
    );
    assert_eq!(report["healthy"], true);
}

#[cfg(unix)]
#[test]
fn a_home_that_others_can_enter_is_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let s = furnished();
    let mode = |mode| {
        std::fs::set_permissions(s.home.path(), std::fs::Permissions::from_mode(mode)).expect("changed");
    };
    mode(0o755);
    assert!(findings(&doctor(&s), "warn").iter().any(|(c, _)| c == "permissions"));
    mode(0o700);
    assert!(findings(&doctor(&s), "warn").iter().all(|(c, _)| c != "permissions"));
}
