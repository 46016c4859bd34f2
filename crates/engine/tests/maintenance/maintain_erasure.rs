//! Backups, purges, and that no byte of what was purged is left anywhere.

use crate::maintain_support::{acting, become_owner, holding, home, reopen, secret, support, tell, tell_as};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind};
use strata_store::{faults::FaultPlan, sql::Control};

const SECRET: &str =
    "Zanzibarquokka moved to 17 Harbour Row, 設備番号四七 and keeps the blue ledger under the stairs.";
const PIECES: [&str; 5] =
    ["zanzibarquokka", "17 Harbour Row", "設備番号四七", "blue ledger", "under the stairs"];

fn pieces_in(s: &support::Session) -> Vec<(String, Vec<std::path::PathBuf>)> {
    let found = PIECES.iter().map(|piece| ((*piece).to_owned(), holding(s.home.path(), piece)));
    found.filter(|(_, files)| !files.is_empty()).collect()
}

fn planted() -> (support::Session, String) {
    let mut s = home(7);
    become_owner(&mut s);
    let id = acting(&mut s, PrincipalKind::Agent, |s| {
        for n in 0..40 {
            s.remember(&format!("filler number {n} about the weather in spring"));
        }
        let id = s.ok("remember", json!({
            "text": SECRET, "title": "Zanzibarquokka's address", "tags": ["zanzibarquokka"], "topic_key": "zanzibarquokka/home",
            "evidence": ["notes/zanzibarquokka.md:3"],
        }))["id"].as_str().expect("an id").to_owned();
        s.ok("forget", json!({ "id": s.remember("something else") }));
        s.recall("where does zanzibarquokka live");
        id
    });
    (s, id)
}

#[test]
fn a_purge_leaves_no_byte_in_home_log_backups_or_a_restore() {
    let (s, id) = planted();
    let before = s.ok("backup_create", json!({}))["id"].as_str().expect("an id").to_owned();
    assert_eq!(pieces_in(&s).len(), PIECES.len(), "the search finds what is there: {:?}", pieces_in(&s));
    let reply = s.ok("purge", json!({ "id": id, "backups": true, "reason": "asked to" }));
    assert_eq!(reply["verified"], true, "{reply}");
    assert_eq!(
        (reply["backups_rewritten"].as_u64(), reply["completed_earlier"].as_bool()),
        (Some(1), Some(false))
    );
    assert!(reply["files_scanned"].as_u64() > Some(3));
    assert_eq!(pieces_in(&s), []);
    assert_eq!(s.fails("inspect", json!({ "id": id })), ErrorKind::NotFound);
    let report = s.ok("doctor", json!({ "full": true }));
    assert_eq!(report["healthy"], true, "{report}");
    let checked = s.ok("backup_list", json!({ "verify": true }));
    assert_eq!(checked["backups"][0]["whole"], true, "{checked}");

    s.ok("backup_restore", json!({ "id": before, "force": true }));
    assert_eq!(pieces_in(&s), []);
    assert!(s.recall("zanzibarquokka").is_empty());
    let again = s.ok("purge", json!({ "id": id }));
    assert_eq!(again["completed_earlier"], true, "a purge can be repeated to complete it");
}

#[test]
fn a_backup_that_still_holds_it_is_named_and_a_restore_purges_again() {
    let (s, id) = planted();
    let backup = s.ok("backup_create", json!({}))["id"].as_str().expect("an id").to_owned();
    let reply = s.ok("purge", json!({ "id": id }));
    assert_eq!(
        (reply["verified"].as_bool(), reply["remaining"].as_array().map(Vec::len)),
        (Some(false), Some(0)),
        "{reply}"
    );
    assert!(reply["remaining_backups"][0].as_str().expect("named").contains(&backup));
    // The list beside the ledger is enough: the ledger that knew of the purge is gone.
    s.home.lose_ledger();
    let s = reopen(s, 8, &FaultPlan::none());
    let restored = s.ok("backup_restore", json!({ "id": backup }));
    assert_eq!(restored["purged_again"], 1, "{restored}");
    let left: Vec<_> = pieces_in(&s).into_iter().flat_map(|(_, files)| files).collect();
    assert!(
        left.iter().all(|file| file.starts_with(s.home.path().join("backups").join(&backup))),
        "{left:?}"
    );
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_purge_takes_the_number_that_is_shown_and_can_be_repeated_by_it() {
    let (s, id) = planted();
    let number = s.ok("inspect", json!({ "id": id }))["number"].as_i64().expect("a number");
    let reply = s.ok("purge", json!({ "id": format!("#{number}") }));
    assert_eq!(
        (reply["id"].as_str(), reply["verified"].as_bool()),
        (Some(id.as_str()), Some(true)),
        "{reply}"
    );
    assert_eq!(s.ok("purge", json!({ "id": format!("#{number}") }))["completed_earlier"], true);
}

#[test]
fn a_wrong_passphrase_says_what_to_do() {
    let (mut s, id) = planted();
    s.secret = Some(secret("another horse"));
    let error = s.reply("purge", json!({ "id": id })).expect_err("refused");
    assert!(
        error.hint().contains("strata init") && error.hint().contains("--passphrase-file"),
        "{}",
        error.hint()
    );
}

#[test]
fn events_are_purged_too_and_old_index_files_go() {
    let mut s = home(7);
    become_owner(&mut s);
    tell(&s, "talk", "good morning to everybody");
    let id = tell(&s, "talk", SECRET);
    tell(&s, "talk", "and a good evening");
    assert_eq!(s.recall("zanzibarquokka").first(), Some(&id));
    for name in ["index-1.0.db", "index-1.1.damaged-1", "index-0.9.db-wal"] {
        strata_store::files::write_atomic(&s.home.path().join(name), SECRET.as_bytes()).expect("written");
    }
    let reply = s.ok("purge", json!({ "id": id }));
    assert_eq!(
        (reply["verified"].as_bool(), reply["index_files_removed"].as_u64()),
        (Some(true), Some(3)),
        "{reply}"
    );
    assert_eq!(pieces_in(&s), []);
    assert!(!s.recall("good evening").is_empty(), "its neighbours are there");
}

#[test]
fn the_name_of_a_speaker_goes_with_the_last_that_they_said() {
    let mut s = home(61);
    become_owner(&mut s);
    let id =
        tell_as(&s, "Zebediah Quillfeather", "quillfeather-call", "the ferry leaves the harbour at nine");
    tell(&s, "harbour talk", "the lights of the harbour are counted at dusk");
    s.ok("recall", json!({ "query": "harbour lights" }));
    assert!(!holding(s.home.path(), "zebediah").is_empty(), "it is known at first");
    s.ok("purge", json!({ "id": id }));
    assert_eq!(holding(s.home.path(), "zebediah"), Vec::<std::path::PathBuf>::new());
    assert_eq!(holding(s.home.path(), "quillfeather"), Vec::<std::path::PathBuf>::new());
    assert_eq!(s.recall("what did ana say about the harbour lights").len(), 1, "others keep their names");
    let again = tell_as(&s, "Zebediah Quillfeather", "another call", "the ferry leaves the harbour at ten");
    assert_eq!(s.recall("when does the ferry leave the harbour").first(), Some(&again));
    assert!(!holding(s.home.path(), "zebediah").is_empty(), "who speaks again is known again");
}

#[test]
fn a_purge_reaches_into_merged_segments() {
    let mut s = home(7);
    s.engine = strata_engine::engine::Engine::with_sources(
        {
            let mut settings = s.home.settings();
            settings.config.semantic.model = "off".into();
            settings
        },
        Box::new(strata_engine::clock::ManualClock::at(support::NOON)),
        Box::new(strata_engine::clock::SeededIds::new(7)),
    );
    become_owner(&mut s);
    let turns = |from: usize| -> Vec<String> {
        (from..from + 2_500).map(|n| format!("turn {n} of a long and calm talk")).collect()
    };
    crate::maintain_support::tell_many(&s, &turns(0));
    let id = tell(&s, "talk", SECRET);
    crate::maintain_support::tell_many(&s, &turns(2_500));
    s.ok("reindex", json!({}));
    assert_eq!(s.recall("zanzibarquokka").first(), Some(&id));
    let reply = s.ok("purge", json!({ "id": id }));
    assert_eq!(reply["verified"], true, "{reply}");
    assert_eq!(pieces_in(&s), []);
    assert_eq!(s.recall("turn 4321").len(), 10);
    assert_eq!(s.ok("doctor", json!({ "full": true }))["healthy"], true);
}

#[test]
fn files_that_repeat_the_text_are_named() {
    let (s, id) = planted();
    let note = s.home.path().join("vault/knowledge");
    std::fs::create_dir_all(&note).expect("made");
    strata_store::files::write_atomic(&note.join("people.md"), format!("# People\n{SECRET}\n").as_bytes())
        .expect("written");
    let reply = s.ok("purge", json!({ "id": id }));
    assert_eq!(reply["verified"], false);
    assert_eq!(reply["remaining"], json!(["vault/knowledge/people.md"]));
}

#[test]
fn what_other_memories_say_too_is_no_proof() {
    let mut s = home(7);
    become_owner(&mut s);
    let (old, new) = acting(&mut s, PrincipalKind::Agent, |s| {
        let old = s.remember("the staging database listens on port 5432 behind the gateway");
        let new = s.ok(
            "update",
            json!({ "id": old, "text": "the staging database listens on port 5433 behind the gateway" }),
        );
        (old, new["id"].as_str().expect("an id").to_owned())
    });
    let reply = s.ok("purge", json!({ "id": old }));
    assert_eq!(
        (reply["verified"].clone(), reply["other_versions"].clone()),
        (json!(true), json!([new])),
        "{reply}"
    );
    assert_eq!(s.recall("staging database port"), [new]);
}

#[test]
fn only_a_person_with_the_passphrase_purges() {
    let (mut s, id) = planted();
    for kind in [
        PrincipalKind::Agent,
        PrincipalKind::Tool,
        PrincipalKind::Gateway,
        PrincipalKind::Cron,
        PrincipalKind::System,
    ] {
        let failed = acting(&mut s, kind, |s| s.fails("purge", json!({ "id": id })));
        assert_eq!(failed, ErrorKind::Refused, "{kind:?}");
    }
    let key = s.secret.take();
    assert_eq!(s.fails("purge", json!({ "id": id })), ErrorKind::ApprovalRequired);
    s.secret = Some(secret("another horse"));
    assert_eq!(s.fails("purge", json!({ "id": id })), ErrorKind::Conflict);
    s.secret = key;
    for wrong in ["mem_abcdef", "", "bak_0123456789", "../ledger.db"] {
        assert_eq!(s.fails("purge", json!({ "id": wrong })), ErrorKind::Invalid, "{wrong}");
    }
    assert_eq!(s.fails("purge", json!({ "id": "mem_0123456789" })), ErrorKind::NotFound);
    assert_eq!(s.fails("purge", json!({ "id": "#9999" })), ErrorKind::NotFound);
    assert!(s.ok("inspect", json!({ "id": id }))["text"].as_str().expect("text").contains("Harbour"));
    assert!(!s.home.path().join("purged.jsonl").exists());
}

#[test]
fn a_restore_is_a_persons_and_asks_for_the_passphrase() {
    let (mut s, _) = planted();
    let backup = s.ok("backup_create", json!({}))["id"].as_str().expect("an id").to_owned();
    acting(&mut s, PrincipalKind::Agent, |s| {
        s.remember("stored after the backup");
        assert_eq!(
            s.fails("backup_restore", json!({ "id": backup, "force": true })),
            ErrorKind::ApprovalRequired
        );
    });
    let key = s.secret.take();
    assert_eq!(
        s.fails("backup_restore", json!({ "id": backup, "force": true })),
        ErrorKind::ApprovalRequired
    );
    s.secret = key;
    for wrong in ["", "..", "../x", "mem_0123456789"] {
        assert!(
            matches!(
                s.fails("backup_restore", json!({ "id": wrong })),
                ErrorKind::Invalid | ErrorKind::NotFound
            ),
            "{wrong}"
        );
    }
    assert_eq!(s.fails("backup_restore", json!({ "id": "bak_0123456789" })), ErrorKind::NotFound);
    assert_eq!(
        s.fails("backup_restore", json!({ "id": backup })),
        ErrorKind::Conflict,
        "newer changes would be lost"
    );
    assert_eq!(s.recall("stored after the backup").len(), 1);
    let reply = s.ok("backup_restore", json!({ "id": backup, "force": true }));
    assert!(s.recall("stored after the backup").is_empty());
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
    let previous = reply["previous"].as_str().expect("the way back").to_owned();
    s.ok("backup_restore", json!({ "id": previous, "force": true }));
    assert_eq!(s.recall("stored after the backup").len(), 1);
}

#[test]
fn a_restore_gives_the_same_answers_and_puts_missing_files_back() {
    let (s, _) = planted();
    let queries =
        ["filler number 7", "weather in spring", "zanzibarquokka", "harbour row", "nothing of the sort"];
    let answers =
        |s: &support::Session| -> Vec<Vec<String>> { queries.iter().map(|q| s.recall(q)).collect() };
    let before = answers(&s);
    let write = |name: &str, text: &str| {
        let path = s.home.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        strata_store::files::write_atomic(&path, text.as_bytes()).expect("written");
    };
    write("vault/knowledge/shared/a.md", "# A\none\n");
    write("hot/USER.md", "likes tea\n");
    let made = s.ok("backup_create", json!({}));
    // In a home the ledger itself holds the file of the vault.
    let expected = if s.engine.settings().store.is_none() { 2 } else { 3 };
    assert_eq!(made["files"], expected, "{made}");
    std::fs::remove_file(s.home.path().join("vault/knowledge/shared/a.md")).expect("removed");
    write("hot/USER.md", "likes coffee\n");
    let reply = s.ok("backup_restore", json!({ "id": made["id"], "force": true }));
    assert_eq!(reply["files_restored"], json!(["vault/knowledge/shared/a.md"]));
    assert_eq!(reply["files_kept"], json!(["hot/USER.md"]));
    assert_eq!(std::fs::read_to_string(s.home.path().join("hot/USER.md")).expect("read"), "likes coffee\n");
    assert_eq!(answers(&s), before);
}

#[test]
fn a_ledger_that_cannot_be_read_is_set_aside_for_a_backup() {
    let (s, _) = planted();
    let backup = s.ok("backup_create", json!({}))["id"].clone();
    s.engine
        .existing_ledger()
        .expect("there")
        .database()
        .checkpoint(&Control::default())
        .expect("checkpoint");
    let s = reopen(s, 8, &FaultPlan::none());
    strata_store::files::write_atomic(&s.home.path().join("ledger.db"), &[0xAB; 4096]).expect("written");
    let report = s.ok("doctor", json!({}));
    assert_eq!(report["healthy"], false);
    assert!(
        report["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .any(|f| f["check"] == "ledger" && f["status"] == "bad")
    );
    assert_eq!(s.fails("backup_restore", json!({ "id": backup })), ErrorKind::Corrupt);
    let reply = s.ok("backup_restore", json!({ "id": backup, "force": true }));
    assert!(reply["set_aside"].as_str().expect("kept").contains("damaged-1"), "{reply}");
    assert_eq!(s.recall("zanzibarquokka").len(), 1);
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn a_home_without_backups_has_an_empty_list() {
    let s = home(7);
    let reply = s.ok("backup_list", json!({}));
    assert_eq!(reply["backups"], Value::Array(Vec::new()));
    assert_eq!(s.fails("backup_create", json!({})), ErrorKind::NotInitialized);
    assert_eq!(std::fs::read_dir(s.home.path()).expect("listed").count(), 0, "neither creates anything");
}

#[test]
fn a_purged_event_does_not_live_on_in_a_digest_and_the_rest_is_distilled_anew() {
    let mut s = home(21);
    become_owner(&mut s);
    tell(&s, "move", "The crew decided to load the three lorries at dawn.");
    let secret = tell(&s, "move", SECRET);
    let small_talk = tell(&s, "move", "Thanks a lot!");
    tell(&s, "move", "The second lorry failed because its axle broke near kilometre 40.");
    assert_eq!(s.ok("consolidate", json!({}))["digests"], 1);
    let digest = s.ok("inspect", json!({ "id": secret }))["digests"][0].clone();
    assert!(s.text("inspect", json!({ "id": digest })).contains("Zanzibarquokka"));

    s.ok("compile_wiki", json!({}));
    assert!(
        pieces_in(&s).iter().any(|(_, files)| files.iter().any(|f| f.ends_with("P5.md"))),
        "in the wiki too"
    );

    let reply = s.ok("purge", json!({ "id": small_talk }));
    assert_eq!(reply["digests_kept"], json!([digest]), "nothing of it stands there: {reply}");
    let reply = s.ok("purge", json!({ "id": secret }));
    assert_eq!((&reply["digests_erased"], &reply["verified"]), (&json!([digest]), &json!(true)), "{reply}");
    assert_eq!(pieces_in(&s), []);
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);

    let again = s.ok("consolidate", json!({ "min_episodes": 2 }));
    assert_eq!((&again["digests"], &again["episodes_covered"]), (&json!(1), &json!(2)), "{again}");
    let id = again["ids"][0].clone();
    assert!(s.text("inspect", json!({ "id": id })).contains("axle"));
    s.ok("purge", json!({ "id": id }));
    assert_eq!(s.ok("consolidate", json!({ "min_episodes": 1 }))["digests"], 0, "a purged digest stays away");
}
