//! A memory that moves between a home and a server, by our own commands and by the server's.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::maintain_support::{Session, acting, secret};
use crate::moves_support::{assert_healthy, at_home, count, export, fill, on_server, ranks};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind};
use strata_testkit::store::{TestDatabase, TestStore};

#[test]
fn a_memory_moves_to_a_server_and_back() {
    if !TestStore::Postgres.is_there() {
        return;
    }
    let database = TestStore::Postgres.database().expect("a database");
    let mut here = at_home(1);
    fill(&mut here);
    let (exported, ranked) = (export(&here, "a.jsonl"), ranks(&here));
    assert!(ranked.iter().all(|hits| hits.as_array().is_some_and(|h| !h.is_empty())), "{ranked:#?}");

    let there = json!({ "from": "sqlite", "to": database.url() });
    let mut dry = there.clone();
    dry["dry_run"] = true.into();
    let tried = here.ok("migrate_store", dry);
    let moved = here.ok("migrate_store", there.clone());
    assert_eq!(tried["tables"], moved["tables"]);
    assert!(count(&moved, "memories") >= 7 && count(&moved, "tombstones") == 1, "{moved:#}");
    assert_eq!(moved["seq"].as_i64(), moved["from_seq"].as_i64().map(|seq| seq + 1));
    assert_eq!(moved["index_behind"], 0);
    assert!(!moved.to_string().contains(":strata_test@"), "a password: {moved}");
    assert_eq!(here.fails("migrate_store", there), ErrorKind::Conflict);
    assert_eq!(export(&here, "b.jsonl"), exported, "the old place is as it was");

    let server = on_server(&database, 2);
    assert_eq!(export(&server, "c.jsonl"), exported);
    assert_eq!(ranks(&server), ranked);
    assert_healthy(&server);
    let later = server.remember("the river cabin has a new owner");
    assert!(server.recall("who owns the river cabin").contains(&later));

    let back = at_home(3);
    let grown = export(&server, "d.jsonl");
    let returned = back.ok("migrate_store", json!({ "from": database.url(), "to": "sqlite" }));
    assert_eq!(returned["seq"].as_i64(), returned["from_seq"].as_i64().map(|seq| seq + 1));
    assert_ne!(returned["epoch"], moved["epoch"]);
    assert_eq!(export(&back, "e.jsonl"), grown);
    assert_eq!(ranks(&back), ranks(&server));
    assert_healthy(&back);
    let last = back.remember("the yellow card was burnt");
    assert!(back.recall("what became of the yellow card").contains(&last));
}

#[test]
fn only_the_owner_moves_a_memory() {
    if !TestStore::Postgres.is_there() {
        return;
    }
    let database = TestStore::Postgres.database().expect("a database");
    let mut here = at_home(1);
    fill(&mut here);
    let request = json!({ "from": "sqlite", "to": database.url() });
    let own = here.secret.take();
    for kind in [PrincipalKind::Agent, PrincipalKind::Tool, PrincipalKind::Cron, PrincipalKind::Human] {
        acting(&mut here, kind, |s| {
            assert_eq!(s.fails("migrate_store", request.clone()), ErrorKind::ApprovalRequired);
        });
    }
    here.secret = Some(secret("another horse"));
    assert!(here.reply("migrate_store", request.clone()).is_err());
    here.secret = own;
    assert_eq!(here.fails("migrate_store", json!({ "from": "sqlite", "to": "sqlite" })), ErrorKind::Invalid);
    assert_eq!(here.fails("migrate_store", json!({ "from": "sqlite", "to": "store" })), ErrorKind::Invalid);
    here.ok("migrate_store", request);
}

/// A program of the server's, of the newest version there is.
fn tool(name: &str) -> PathBuf {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        installed.map(|e| e.path().join("bin").join(name)).filter(|p| p.is_file()).collect();
    found.sort();
    found.pop().unwrap_or_else(|| name.into())
}

fn run(name: &str, arguments: &[&str]) {
    let done = Command::new(tool(name)).args(arguments).output().expect("the server's program");
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
}

fn dump(database: &TestDatabase, file: &Path, more: &[&str]) {
    let (url, file) = (database.administrator_here(), file.display().to_string());
    run("pg_dump", &[&["--format=custom", "--dbname", &url, "--file", &file], more].concat());
}

fn restore(database: &TestDatabase, file: &Path, more: &[&str]) {
    let (url, file) = (database.administrator_here(), file.display().to_string());
    run("pg_restore", &[&["--dbname", &url, "--exit-on-error"], more, &[file.as_str()]].concat());
}

/// Texts whose words are only theirs.
fn words(s: &Session, prefix: &str, count: usize) {
    for n in 0..count {
        s.remember(&format!("the {prefix} lamp number {n} stands in the {prefix} room"));
    }
}

/// After a dump is back and another history was written past the old head, the index has that and nothing else.
fn follows_the_other_history(dumped: &[&str], restored: &[&str], between: impl FnOnce(&TestDatabase)) {
    if !TestStore::Postgres.is_there() {
        return;
    }
    let database = TestStore::Postgres.database().expect("a database");
    let file = database.name().to_owned() + ".dump";
    let s = on_server(&database, 11);
    let file = s.home.path().join(file);
    words(&s, "common", 3);
    assert_eq!(s.recall("common lamp").len(), 3);
    dump(&database, &file, dumped);
    words(&s, "forsaken", 4);
    assert_eq!(s.recall("forsaken lamp").len().min(4), 4);
    let old = s.ok("status", json!({}));

    between(&database);
    restore(&database, &file, restored);

    let after = on_server(&database, 12);
    words(&after, "chosen", 6);
    let head = after.ok("status", json!({}));
    for s in [&s, &after] {
        let texts = |query: &str| {
            let hits = s.ok("recall", json!({ "query": query, "limit": 20 }))["hits"].clone();
            hits.as_array().expect("hits").iter().map(Value::to_string).collect::<Vec<_>>()
        };
        for (word, expected) in [("common", 3), ("chosen", 6), ("forsaken", 0)] {
            let found = texts(&format!("{word} lamp")).iter().filter(|t| t.contains(word)).count();
            assert_eq!(found, expected, "{word}; before {old}, now {head}");
        }
        assert_healthy(s);
    }
}

#[test]
fn a_dump_that_is_restored_and_written_past_is_noticed() {
    let drop = |d: &TestDatabase| d.administer("DROP SCHEMA strata_ledger CASCADE");
    // The index of the forsaken history stays where it is: only the ledger went back.
    follows_the_other_history(&["--schema=strata_ledger"], &[], drop);
}

#[test]
fn a_whole_dump_is_restored_over_the_database() {
    follows_the_other_history(&[], &["--clean", "--if-exists"], |_| {});
}

#[test]
fn a_dump_without_the_index_needs_none() {
    let drop = |d: &TestDatabase| {
        d.administer(
            "DO $$ DECLARE n text; BEGIN
                 FOR n IN SELECT nspname FROM pg_namespace WHERE nspname LIKE 'strata%' LOOP
                     EXECUTE format('DROP SCHEMA %I CASCADE', n);
                 END LOOP; END $$",
        );
    };
    follows_the_other_history(&["--exclude-schema=strata_index*"], &[], drop);
}

#[test]
fn rows_alone_are_restored_into_tables_that_stand() {
    let empty = |d: &TestDatabase| {
        d.administer(
            "DO $$ DECLARE t record; BEGIN
                 FOR t IN SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                     WHERE n.nspname = 'strata_ledger' AND c.relkind = 'r' LOOP
                     EXECUTE format('TRUNCATE strata_ledger.%I CASCADE', t.relname);
                 END LOOP; END $$",
        );
    };
    let rows = ["--data-only", "--disable-triggers"];
    follows_the_other_history(&["--schema=strata_ledger"], &rows, empty);
}

/// Takes a backup of one home to another and restores it there, where something was purged in the meantime.
fn backup_crosses(from: &mut Session, to: &mut Session) {
    let kept = fill(from);
    let secret = from.remember("the combination of the vault is on the violet slip");
    let backup = from.ok("backup_create", json!({}))["id"].as_str().expect("an id").to_owned();
    let listed = from.ok("backup_list", json!({ "verify": true }));
    assert_eq!(listed["backups"][0]["whole"], true, "{listed}");
    let exported = export(from, "from.jsonl");
    let (source, target) =
        (from.home.path().join("backups").join(&backup), to.home.path().join("backups").join(&backup));
    std::fs::create_dir_all(target.parent().expect("a folder")).expect("made");
    let copied = Command::new("cp").arg("-r").args([&source, &target]).status().expect("copied");
    assert!(copied.success());
    to.ok("backup_restore", json!({ "id": backup, "force": true }));
    assert_eq!(export(to, "to.jsonl"), exported);
    assert_eq!(ranks(to), ranks(from));
    assert!(to.recall("the vault's combination").contains(&secret));
    to.ok("purge", json!({ "id": secret, "backups": false }));
    let again = to.ok("backup_restore", json!({ "id": backup, "force": true }));
    assert_eq!(again["purged_again"], 1, "{again}");
    assert!(!export(to, "to.jsonl").contains("violet slip"));
    assert!(!to.recall("the vault's combination").contains(&secret));
    assert_eq!(to.ok("inspect", json!({ "id": kept }))["id"], kept.as_str());
    assert_healthy(to);
}

#[test]
fn a_backup_of_a_server_is_restored_into_a_home_and_the_reverse() {
    if !TestStore::Postgres.is_there() {
        return;
    }
    let database = TestStore::Postgres.database().expect("a database");
    backup_crosses(&mut on_server(&database, 21), &mut at_home(22));
    let database = TestStore::Postgres.database().expect("a database");
    backup_crosses(&mut at_home(23), &mut on_server(&database, 24));
}
