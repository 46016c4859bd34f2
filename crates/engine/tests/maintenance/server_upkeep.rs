//! What a server's tables keep and what they let go: purged bytes, indexes of other versions, tenants of measurements
//! that were killed; and that nobody waits long for it.
#![cfg(unix)]

use std::time::{Duration, Instant};

use crate::maintain_support::{Session, become_owner, support};
use crate::moves_support::{at, on_server, server, session};
use serde_json::json;
use strata_core::time::{DAY, Timestamp};
use strata_engine::{
    clock::{Clock, ManualClock, SeededIds, SystemClock},
    engine::Engine,
};
use strata_store::{Control, index::Index};
use strata_testkit::{
    home::TestHome,
    store::{TestDatabase, TestStore},
};

const SECRET: &str = "the combination of the vault is on the violet slip";

fn owner_on(database: &TestDatabase, seed: u64) -> Session {
    let mut s = on_server(database, seed);
    become_owner(&mut s);
    s
}

/// A home whose memory is another tenant's.
fn tenant(database: &TestDatabase, name: &str) -> Session {
    at(TestHome::on(TestStore::Sqlite).existing(), &database.url(), name, 7)
}

#[test]
fn no_file_of_the_server_holds_what_was_purged() {
    let Some(database) = server() else { return };
    let s = owner_on(&database, 1);
    let id = s.remember(SECRET);
    s.recall("violet slip");
    assert!(!database.files_holding(SECRET).is_empty(), "the test sees nothing");
    let before = database.file_of("strata_ledger.projects");
    let reply = s.ok("purge", json!({ "id": id }));
    assert_eq!(
        (&reply["left_to_owner"], &reply["verified"]),
        (&serde_json::Value::Null, &true.into()),
        "{reply}"
    );
    assert_eq!(database.files_holding(SECRET), [""; 0]);
    let after = database.file_of("strata_ledger.projects");
    assert_eq!(before, after, "what held nothing of it is not rewritten");
}

#[test]
fn words_that_the_index_has_moved_on_are_purged_where_they_were_before() {
    let Some(database) = server() else { return };
    let s = owner_on(&database, 1);
    let id = s.remember(SECRET);
    s.recall("violet slip");
    // More than the index keeps in its tail: it packs them, and removes the rows they stood in.
    let turn = |n: usize| json!({ "id": n.to_string(), "text": format!("turn {n} of many") }).to_string();
    let path = s.home.file("many.jsonl", (0..1_500).map(turn).collect::<Vec<_>>().join("\n"));
    let imported = s.ok("import", json!({ "path": path }));
    assert_eq!(imported["added"], 1_500, "{imported}");
    assert!(database.rows_in(&format!("{}.tails", database.indexes()[0])) < 1_024, "packed");
    assert!(!s.recall("violet slip").is_empty());
    let tails = |table: &String| table.ends_with(".tails");
    assert!(database.files_holding("violet").iter().any(tails), "the test sees nothing");
    // Another process knows nothing of that.
    let s = session(s.engine.settings().clone(), s.home, 5);
    let reply = s.ok("purge", json!({ "id": id }));
    assert_eq!(reply["left_to_owner"], serde_json::Value::Null, "{reply}");
    assert_eq!(database.files_holding("violet"), [""; 0]);
}

#[test]
fn others_work_on_while_something_is_purged() {
    let Some(database) = server() else { return };
    let s = owner_on(&database, 1);
    let id = s.remember(SECRET);
    let bob = tenant(&database, "bob");
    let bees = bob.remember("bob keeps bees in the old orchard");
    let ledger = bob.engine.existing_ledger().expect("a ledger");
    let reply = ledger.read(&Control::default(), |read| {
        // A long look at a table is in the way of whoever wants it for himself.
        read.memory(&bees)?;
        let started = Instant::now();
        let reply = s.ok("purge", json!({ "id": id }));
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
        Ok(reply)
    });
    let reply = reply.expect("read");
    let left: Vec<&str> =
        reply["left_to_owner"].as_array().expect("left").iter().filter_map(|l| l.as_str()).collect();
    // The one he is in the way of, and those into which the server took along what he might still ask for.
    assert!(left.contains(&"VACUUM (FULL, ANALYZE) \"strata_ledger\".\"memories\";"), "{left:?}");
    assert!(s.recall("combination of the vault").is_empty());
    assert!(!bob.recall("who keeps bees").is_empty());
    // What it was left to do is enough.
    for statement in left {
        database.administer(statement);
    }
    assert_eq!(database.files_holding(SECRET), [""; 0]);
}

#[test]
fn what_a_restore_and_a_rebuild_leave_to_the_owner_is_told() {
    let Some(database) = server() else { return };
    let s = owner_on(&database, 1);
    s.remember("the spare key hangs behind the clock");
    let backup = s.ok("backup_create", json!({}))["id"].take();
    s.remember(SECRET);
    s.recall("violet slip");
    let bob = tenant(&database, "bob");
    bob.remember("bob keeps bees in the old orchard");
    bob.recall("bees");
    let index = database.indexes()[0].clone();
    let full = |table: &str| format!("VACUUM (FULL, ANALYZE) {table};");
    let left = |reply: &serde_json::Value| {
        let left = reply["left_to_owner"].as_array().cloned().unwrap_or_default();
        left.iter().filter_map(|l| l.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    // A long look at a table is in the way of whoever wants it for himself, and the server takes along into the others what
    // it may still ask for.
    let looking = |database: &strata_store::sql::Database, table: &str, work: &dyn Fn()| {
        let looked = database.read(&Control::default(), |tx| {
            tx.batch(&format!("LOCK TABLE {table} IN ACCESS SHARE MODE"))?;
            work();
            Ok(())
        });
        looked.expect("read");
    };
    let of_bob = bob.engine.existing_ledger().expect("a ledger");
    looking(of_bob.database(), "memories", &|| {
        let reply = s.ok("backup_restore", json!({ "id": backup, "force": true }));
        assert!(left(&reply).contains(&full("\"strata_ledger\".\"memories\"")), "{reply:#}");
    });
    looking(bob.engine.searcher().index().database(), "passages", &|| {
        let reply = s.ok("reindex", json!({}));
        assert!(left(&reply).contains(&full(&format!("\"{index}\".\"passages\""))), "{reply:#}");
    });
    // Nothing is left where nobody is in the way. Whoever writes in another database of the server for long is, too.
    assert!((0..6).any(|_| left(&s.ok("reindex", json!({}))).is_empty()));
    let restored = || s.text("backup_restore", json!({ "id": backup, "force": true }));
    assert!((0..6).any(|_| !restored().contains("VACUUM")));
    assert_eq!(database.files_holding(SECRET), [""; 0], "the newer text went with the restore");
}

#[test]
fn a_server_looks_at_its_tables_behind_many_new_rows() {
    let Some(database) = server() else { return };
    let s = owner_on(&database, 1);
    let import = |lines: usize, name: &str| {
        let turn = |n: usize| json!({ "id": n.to_string(), "text": format!("{name} {n}") }).to_string();
        let path = s.home.file(name, (0..lines).map(turn).collect::<Vec<_>>().join("\n"));
        s.ok("import", json!({ "path": path, "source": name }));
    };
    import(30, "few");
    let started = Instant::now();
    import(1_100, "many");
    // The server counts what it did a little later than it does it.
    let tables = ["strata_ledger.episodes".to_owned(), format!("{}.postings", database.indexes()[0])];
    while !tables.iter().all(|table| database.was_analyzed(table)) {
        assert!(started.elapsed() < Duration::from_secs(60), "nobody looked at {tables:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Makes the index that is there one of an older version, and another in its place.
fn age_index(database: &TestDatabase, s: &Session) -> String {
    let own = database.indexes();
    s.engine.searcher().index().database().close();
    database.administer(&format!("ALTER SCHEMA {} RENAME TO strata_index_1_1", own[0]));
    own[0].clone()
}

#[test]
fn a_purge_reaches_indexes_of_other_versions() {
    let Some(database) = server() else { return };
    let s = owner_on(&database, 1);
    let id = s.remember(SECRET);
    s.recall("violet slip");
    age_index(&database, &s);
    let s = session(s.engine.settings().clone(), s.home, 5);
    s.recall("violet slip");
    assert!(database.files_holding("violet").iter().any(|table| table.starts_with("strata_index_1_1")));
    let reply = s.ok("purge", json!({ "id": id }));
    assert_eq!(reply["index_files_removed"], 1, "{reply}");
    assert_eq!(database.files_holding("violet"), [""; 0]);
}

#[test]
fn an_index_that_nobody_writes_to_goes_after_two_weeks() {
    let Some(database) = server() else { return };
    let s = owner_on(&database, 1);
    s.remember("the blue ledger is under the stairs");
    s.recall("blue ledger");
    let own = age_index(&database, &s);
    let settings = s.engine.settings().clone();
    let mut home = Some(s.home);
    let there = || database.indexes();
    // The server counts what was written a little later than it is written.
    for (day, left) in [(1, 2), (3, 2), (10, 2), (14, 2), (18, 1)] {
        let engine = Engine::with_sources(
            settings.clone(),
            Box::new(ManualClock::at(Timestamp(support::NOON.0 + day * DAY))),
            Box::new(SeededIds::new(50 + day.unsigned_abs())),
        );
        let mut s = session(settings.clone(), home.take().expect("a home"), 9);
        s.engine = engine;
        s.ok("maintain", json!({ "task": "index", "force": true }));
        assert_eq!(there().len(), left, "day {day}: {:?}", there());
        home = Some(s.home);
        std::thread::sleep(Duration::from_millis(if day == 1 { 1500 } else { 0 }));
    }
    assert_eq!(there(), [own]);
    assert_eq!(
        Index::namespace(0).rsplit_once('_').map(|(head, _)| there()[0].starts_with(head)),
        Some(true)
    );
}

#[test]
fn a_measurement_removes_what_a_killed_one_left() {
    let Some(database) = server() else { return };
    let s = owner_on(&database, 1);
    let tenant = |name: &str| tenant(&database, name);
    tenant("bench-dead").remember("a made-up passage");
    tenant("bench-alive").remember("another made-up passage");
    tenant("bench-keeper").remember("of somebody with that name");
    let register = tenant("bench");
    register.ok("init", json!({}));
    let now = SystemClock.now();
    let ledger = register.engine.existing_ledger().expect("a ledger");
    let noted = ledger.write(&Control::default(), now, |w| {
        w.set_setting("bench-dead", &(now.0 - 2 * strata_core::time::HOUR).to_string())?;
        w.set_setting("bench-alive", &(now.0 - strata_core::time::HOUR / 2).to_string())
    });
    noted.expect("noted");
    s.ok("bench", json!({ "sizes": [20] }));
    assert_eq!(database.tenants(), ["bench", "bench-alive", "bench-keeper", "local"]);
    ledger.write(&Control::default(), now, |w| w.set_setting("bench-alive", "1")).expect("noted");
    s.ok("bench", json!({ "sizes": [20] }));
    assert_eq!(database.tenants(), ["bench-keeper", "local"]);
}
