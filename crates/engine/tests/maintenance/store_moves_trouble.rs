//! What comes between a memory and its new place: other writers, other tenants, roles without rights, a copy that
//! differs, a death in the middle; and memories of every kind and of some size.
#![cfg(unix)]

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::maintain_support::{Session, become_owner};
use crate::moves_support::{
    assert_healthy, at, at_home, count, export, fill, fill_every_table, moved, on_server, ranks, server,
};
use serde_json::{Value, json};
use strata_core::{
    error::ErrorKind,
    id::{Id, IdKind},
    principal::Face,
};
use strata_engine::{engine::Engine, error::Error, settings::Settings};
use strata_store::{
    Control,
    faults::FaultPlan,
    ledger::{LOCAL, Ledger, NewAudit, NewMemory},
};
use strata_testkit::{
    home::TestHome,
    store::{TestDatabase, TestStore},
};

/// Sequence numbers of the home's head.
fn head(s: &Session) -> i64 {
    let ledger = s.engine.existing_ledger().expect("a ledger");
    ledger.read(&Control::default(), |r| r.head()).expect("read").seq
}

fn failure(s: &Session, to: &str) -> Error {
    s.reply("migrate_store", json!({ "from": "sqlite", "to": to })).expect_err("it must fail")
}

#[test]
fn every_kind_of_row_goes_there_and_back() {
    let Some(database) = server() else { return };
    let mut here = at_home(1);
    fill_every_table(&mut here);
    let (exported, ranked) = (export(&here, "a.jsonl"), ranks(&here));
    let there = moved(&here, "sqlite", &database.url());
    let rows = |table: &Value| table["rows"].as_u64().expect("a number");
    let tables = there["tables"].as_array().expect("tables");
    let empty: Vec<&Value> = tables.iter().filter(|t| rows(t) == 0).map(|t| &t["table"]).collect();
    assert!(empty.is_empty(), "the test shows nothing about {empty:?}");
    assert!(tables.len() >= 23, "{}", tables.len());
    let remote = on_server(&database, 2);
    assert_eq!(export(&remote, "b.jsonl"), exported);
    assert_eq!(ranks(&remote), ranked);
    assert_healthy(&remote);
    let back = at_home(3);
    let again = moved(&back, &database.url(), "sqlite");
    assert_eq!(export(&back, "d.jsonl"), exported);
    assert_eq!(ranks(&back), ranked);
    assert_healthy(&back);
    // All but what a move adds (its row of the audit, the signature, the epoch, and what recall counts) is as it was.
    let own = ["audit", "audit_heads", "meta", "usage", "commits", "jobs", "settings"];
    for (one, other) in tables.iter().zip(again["tables"].as_array().expect("tables")) {
        if !own.contains(&one["table"].as_str().expect("a name")) {
            assert_eq!(one, other);
        }
    }
}

#[test]
fn every_word_for_a_place_is_taken_and_another_is_told_which_there_are() {
    let mut here = at_home(1);
    become_owner(&mut here);
    let refused = |from: &str, to: &str| {
        let error =
            here.reply("migrate_store", json!({ "from": from, "to": to })).expect_err("no such place");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        (error.to_string(), error.hint())
    };
    for word in ["postgres", "server", "store"] {
        let (said, hint) = refused("sqlite", word);
        assert!(said.contains(word) && said.contains("no server is configured"), "{said}");
        assert!(hint.contains("STRATA_STORE"), "{hint}");
    }
    for wrong in ["sqlit", "postgre://ann:secret@db/notes", ""] {
        let (said, hint) = refused(wrong, "sqlite");
        assert!(!said.contains("secret") && !hint.contains("secret"), "{said}; {hint}");
        for word in ["`sqlite`", "`postgres`", "`server`", "`store`", "`postgres://"] {
            assert!(hint.contains(word), "{wrong}: {hint}");
        }
    }
    let Some(database) = server() else { return };
    moved(&here, "sqlite", &database.url());
    let there = on_server(&database, 2);
    for word in ["postgres", "server", "store"] {
        let tried = there.ok("migrate_store", json!({ "from": word, "to": "sqlite", "dry_run": true }));
        assert_eq!(tried["dry_run"], true);
        assert!(tried["from"].as_str().is_some_and(|from| from.starts_with("postgres://")), "{tried}");
    }
}

#[test]
fn a_writer_waits_and_loses_nothing() {
    let Some(database) = server() else { return };
    let mut here = at_home(1);
    fill(&mut here);
    let over = AtomicBool::new(false);
    let writer = Engine::new(here.engine.settings().clone());
    let written = std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut seen = 0_u64;
            while !over.load(Ordering::Relaxed) {
                let now = writer.clock().now();
                let ledger = writer.existing_ledger().expect("a ledger");
                ledger
                    .write(&Control::default(), now, |w| w.set_setting("a_writer", &seen.to_string()))
                    .expect("it waits its turn");
                seen += 1;
            }
            seen
        });
        let reply = moved(&here, "sqlite", &database.url());
        over.store(true, Ordering::Relaxed);
        assert_eq!(reply["seq"].as_i64(), reply["from_seq"].as_i64().map(|seq| seq + 1));
        writing.join().expect("ends")
    });
    assert!(written > 0);
    let last =
        here.engine.existing_ledger().expect("a ledger").read(&Control::default(), |r| r.setting("a_writer"));
    assert_eq!(last.expect("read"), Some((written - 1).to_string()), "what was acknowledged is there");
    assert_healthy(&here);
    assert_healthy(&on_server(&database, 2));
}

#[test]
fn tenants_beside_are_left_alone() {
    let Some(database) = server() else { return };
    let mut here = at_home(1);
    fill(&mut here);
    let beside = at(TestHome::on(TestStore::Sqlite).existing(), &database.url(), "bob", 5);
    beside.remember("bob keeps the spare key under the third stone");
    let (his, rows) = (export(&beside, "a.jsonl"), database.row_count_of("bob"));
    let exported = export(&here, "b.jsonl");
    let request = json!({ "from": "sqlite", "to": database.url(), "server_tenant": "ann" });
    here.ok("migrate_store", request.clone());
    assert_eq!((export(&beside, "c.jsonl"), database.row_count_of("bob")), (his, rows));
    let ann = at(TestHome::on(TestStore::Sqlite).existing(), &database.url(), "ann", 6);
    assert_eq!(export(&ann, "d.jsonl"), exported);
    assert!(ann.recall("who keeps the spare key").iter().all(|id| !beside.recall("spare key").contains(id)));
    assert_eq!(database.row_count_of(LOCAL), 0);
    for s in [&ann, &beside] {
        assert_healthy(s);
    }
    // His memory is no place to move to.
    assert_eq!(
        here.fails(
            "migrate_store",
            json!({ "from": "sqlite", "to": database.url(), "server_tenant": "bob" })
        ),
        ErrorKind::Conflict
    );
    assert_eq!(database.row_count_of("bob"), rows);
}

/// The schemas, and a ledger without a passphrase, as the owner makes them.
fn make_room(database: &TestDatabase, request: Value) {
    let mut owner = on_server(database, 3);
    owner.secret = None;
    assert_eq!(owner.ok("init", request)["has_secret"], false);
}

#[test]
fn an_application_moves_what_the_owner_made_room_for() {
    let Some(database) = server() else { return };
    let role = format!("{}_app", database.name());
    database.administer(&format!("CREATE ROLE {role} LOGIN PASSWORD 'app' NOSUPERUSER NOBYPASSRLS"));
    let (_, place) =
        database.url().split_once('@').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("a user");
    let application = format!("postgres://{role}:app@{place}");
    let mut here = at_home(1);
    fill(&mut here);
    let (exported, before) = (export(&here, "a.jsonl"), head(&here));
    let refused = failure(&here, &application);
    assert_eq!(refused.kind(), ErrorKind::NotInitialized, "{refused}");
    assert!(refused.hint().contains("owner"), "{}", refused.hint());
    assert_eq!(head(&here), before);
    // The owner makes the schemas, and with them a ledger that holds nothing.
    make_room(&database, json!({ "app_role": role }));
    moved(&here, "sqlite", &application);
    let there = at(TestHome::on(TestStore::Sqlite).existing(), &application, LOCAL, 4);
    assert_eq!(export(&there, "b.jsonl"), exported);
    assert_eq!(ranks(&there), ranks(&here));
    assert_healthy(&there);
    there.remember("the application writes on");
    drop(there);
    database.administer(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn a_copy_that_differs_is_removed_and_says_what_to_do() {
    let Some(database) = server() else { return };
    let mut here = at_home(1);
    fill(&mut here);
    make_room(&database, json!({}));
    let (exported, before) = (export(&here, "a.jsonl"), head(&here));
    database.administer(
        "CREATE FUNCTION strata_ledger.spoil() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN NEW.body = replace(NEW.body, '两点', '三点'); RETURN NEW; END $$;
         CREATE TRIGGER spoil BEFORE INSERT ON strata_ledger.memories FOR EACH ROW EXECUTE FUNCTION strata_ledger.spoil()",
    );
    let error = failure(&here, &database.url());
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("memories") && error.to_string().contains("removed"), "{error}");
    assert!(error.hint().contains("triggers"), "{}", error.hint());
    assert_eq!(database.row_count_of(LOCAL), 0);
    assert_eq!((head(&here), export(&here, "b.jsonl")), (before, exported.clone()));
    assert_healthy(&here);
    here.remember("the old place works on");
    let exported = export(&here, "c.jsonl");
    database.administer("DROP FUNCTION strata_ledger.spoil() CASCADE");
    moved(&here, "sqlite", &database.url());
    assert_eq!(export(&on_server(&database, 4), "d.jsonl"), exported);
    assert!(workshops(here.home.path()).is_empty());
}

/// Directories that moves work in.
fn workshops(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home).expect("listed").flatten().map(|e| e.path());
    entries.filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(".moving-"))).collect()
}

/// Tells the process below where to move from and to.
const HOME: &str = "MOVE_TEST_HOME";
const TARGET: &str = "MOVE_TEST_TARGET";

#[test]
#[ignore = "a process of the test below"]
fn mover() {
    // Nobody started it to move anything: a run of all tests.
    let Ok(home) = std::env::var(HOME).map(PathBuf::from) else { return };
    let settings = Settings::for_home(home);
    let holder = TestHome::on(TestStore::Sqlite).existing();
    let s = crate::moves_support::session(settings, holder, 77);
    moved(&s, "sqlite", &std::env::var(TARGET).expect("a target"));
}

fn start_mover(home: &Path, target: &str) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "store_moves_trouble::mover", "--ignored", "--test-threads=1"])
        .env(HOME, home)
        .env(TARGET, target)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started")
}

#[test]
fn a_move_that_was_killed_is_made_again() {
    let Some(database) = server() else { return };
    let mut here = at_home(1);
    fill(&mut here);
    let many: Vec<String> =
        (0..600).map(|n| format!("turn {n}: lamp {} was lit at the quay {}", n * 7, n % 13)).collect();
    crate::maintain_support::tell_many(&here, &many);
    let (exported, before) = (export(&here, "a.jsonl"), head(&here));
    // Before anything is on the server, just after the rows are there, and while the index is built.
    let here_now = |moment: &str| match moment {
        "a copy is made" => !workshops(here.home.path()).is_empty(),
        "rows are there" => database.has_ledger(),
        _ => !database.indexes().is_empty(),
    };
    for moment in ["a copy is made", "rows are there", "the index is built"] {
        let mut mover = start_mover(here.home.path(), &database.url());
        let started = Instant::now();
        while !here_now(moment) {
            assert!(mover.try_wait().expect("waitable").is_none(), "{moment}: it ended too early");
            assert!(started.elapsed() < Duration::from_secs(60), "{moment}");
            std::thread::sleep(Duration::from_millis(1));
        }
        mover.kill().expect("killed");
        mover.wait().expect("ended");
        assert_eq!((head(&here), export(&here, "b.jsonl")), (before, exported.clone()), "{moment}");
    }
    moved(&here, "sqlite", &database.url());
    assert!(workshops(here.home.path()).is_empty(), "what was left behind is gone");
    let there = on_server(&database, 4);
    assert_eq!(export(&there, "c.jsonl"), exported);
    assert_eq!(ranks(&there), ranks(&here));
    assert_healthy(&there);
    // A move that came to its end is not begun again over what somebody may have written since.
    assert_eq!(failure(&here, &database.url()).kind(), ErrorKind::Conflict);
}

#[test]
fn a_copy_that_was_written_to_is_not_begun_again() {
    let Some(database) = server() else { return };
    let mut here = at_home(1);
    become_owner(&mut here);
    here.remember("the first note");
    moved(&here, "sqlite", &database.url());
    let there = on_server(&database, 2);
    // As after a death before the end.
    let from = here
        .engine
        .existing_ledger()
        .expect("a ledger")
        .read(&Control::default(), |r| r.head())
        .expect("read");
    let hash: String = from.hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let mark = format!("{} {hash}", from.seq);
    let ledger = there.engine.existing_ledger().expect("a ledger");
    let set = || {
        ledger.write(&Control::default(), there.engine.clock().now(), |w| {
            w.set_setting("unfinished_move", &mark)
        })
    };
    set().expect("set");
    moved(&here, "sqlite", &database.url());
    set().expect("set");
    there.remember("a note that only the new place has");
    assert_eq!(failure(&here, &database.url()).kind(), ErrorKind::Conflict);
    assert!(export(&there, "a.jsonl").contains("only the new place"));
}

#[test]
fn a_move_that_was_cut_off_is_told_and_begun_again_or_given_up() {
    let Some(database) = server() else { return };
    let mut here = at_home(1);
    fill(&mut here);
    let exported = export(&here, "a.jsonl");
    // A death between the tables and the rows, on a server and in a file.
    let half = |s: &Session| {
        let ledger = match &s.engine.settings().store {
            None => Ledger::new(s.home.path(), FaultPlan::none()),
            Some(server) => Ledger::on_server(server.clone(), FaultPlan::none()),
        };
        ledger.database().create(&Control::default()).expect("tables");
    };
    for (to, there) in [("a server", on_server(&database, 2)), ("a file", at_home(3))] {
        half(&there);
        for (tool, request) in [
            ("status", json!({})),
            ("recall", json!({ "query": "ledger" })),
            ("remember", json!({ "text": "x" })),
        ] {
            let error = there.reply(tool, request).expect_err("half a copy");
            assert_eq!(error.kind(), ErrorKind::NotInitialized, "{tool}: {error}");
            assert!(error.to_string().contains("cut off"), "{tool}: {error}");
            let hint = error.hint();
            assert!(hint.contains("migrate-store") && hint.contains("strata init"), "{tool}: {hint}");
        }
        let report = there.ok("doctor", json!({}));
        assert!(report["findings"].to_string().contains("cut off"), "{report:#}");
        assert_eq!(there.ok("init", json!({}))["created"], true, "{to}");
        there.remember("begun anew");
        assert_healthy(&there);
    }
    // A death behind the rows.
    let beside = "another";
    let target = at(TestHome::on(TestStore::Sqlite).existing(), &database.url(), beside, 4);
    half(&target);
    here.ok("migrate_store", json!({ "from": "sqlite", "to": database.url(), "server_tenant": beside }));
    assert_eq!(export(&target, "b.jsonl"), exported);
    assert_eq!(target.ok("status", json!({}))["holds"]["unfinished_move"], Value::Null);
    let ledger = target.engine.existing_ledger().expect("a ledger");
    let marked = ledger.write(&Control::default(), target.engine.clock().now(), |w| {
        w.set_setting("unfinished_move", "1 00")
    });
    marked.expect("set");
    assert_eq!(target.ok("status", json!({}))["holds"]["unfinished_move"], true);
    assert!(target.text("status", json!({})).contains("migrate-store"));
    let report = target.ok("doctor", json!({}));
    let told = |f: &Value| f["check"] == "move" && f["status"] == "warn";
    assert!(report["findings"].as_array().expect("findings").iter().any(told), "{report:#}");
}

/// Texts of many scripts: composed and not, from both directions, of emoji, of four bytes, with marks.
fn scripts(n: usize) -> String {
    const WORDS: [&str; 12] = [
        "备份每晚",
        "會議室の予約",
        "창고의 열쇠",
        "कुंजी बदलती है",
        "المفتاح في الدرج",
        "המפתח במגירה",
        "ключ под ковром",
        "e\u{301}cole cafe\u{301}",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{1f3fd}",
        "𠮷野家 𝒜𝓁𝓅𝒽𝒶",
        "กุญแจอยู่ในลิ้นชัก",
        "İstanbul'da ŞİŞE ß ﬁ",
    ];
    format!("{} {n} {} — «{}»\n\t{}", WORDS[n % 12], WORDS[(n / 12) % 12], WORDS[(n * 5 + 3) % 12], n * 7919)
}

#[test]
fn five_thousand_memories_in_every_script_arrive_as_they_were() {
    let Some(database) = server() else { return };
    let mut here = at_home(1);
    become_owner(&mut here);
    let ledger = here.engine.existing_ledger().expect("a ledger");
    let (writer, now) = (here.principal.clone(), here.engine.clock().now());
    for first in (0..5_000).step_by(500) {
        let memories: Vec<NewMemory> = (first..first + 500)
            .map(|n| NewMemory {
                title: scripts(n + 1),
                tags: vec!["鍵".into(), "מפתח".into()],
                ..NewMemory::new(
                    Id::from_bits(IdKind::Memory, here.engine.ids().bits()),
                    &scripts(n),
                    &writer.to_string(),
                    now,
                    here.engine.ids().salt(),
                )
            })
            .collect();
        let stored = ledger.write(&Control::default(), now, |w| {
            memories.iter().try_for_each(|memory| {
                let row = NewAudit {
                    layer: Some(memory.state.layer),
                    after_hash: Some(memory.content_hash()),
                    ..NewAudit::new(&writer, Face::Library, "remember", memory.id.as_str())
                };
                let seq = w.record(&row)?;
                w.insert_memory(memory, seq).map(drop)
            })
        });
        stored.expect("stored");
    }
    let started = Instant::now();
    let exported = export(&here, "a.jsonl");
    let reply = moved(&here, "sqlite", &database.url());
    assert_eq!(count(&reply, "memories"), 5_000);
    let there = on_server(&database, 2);
    assert!(export(&there, "b.jsonl") == exported, "the exports differ");
    let back = at_home(3);
    moved(&back, &database.url(), "sqlite");
    assert!(export(&back, "c.jsonl") == exported, "the exports differ on the way back");
    assert_healthy(&back);
    assert!(started.elapsed() < Duration::from_secs(600));
}
