//! Databases of other programs are read whole and left without a trace.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use strata_store::{
    StoreError,
    foreign::{self, Cell, ForeignStamp},
    sql::Control,
};

fn made(path: &Path, wal: bool) -> Connection {
    let connection = Connection::open(path).expect("made");
    if wal {
        connection.execute_batch("PRAGMA journal_mode = WAL").expect("a log");
    }
    connection
        .execute_batch(
            "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, weight);
             CREATE VIEW trap AS SELECT 1 AS id;
             INSERT INTO note VALUES (2, '둘', 0.5), (1, NULL, 7), (3, CAST(x'ff' AS TEXT), x'0102');",
        )
        .expect("filled");
    connection
}

/// Every file of a folder but shared memory, which holds nothing that lasts, with its bytes.
fn trace(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    files
        .map(|path| {
            let lasting = !path.to_string_lossy().ends_with("-shm");
            let bytes = if lasting { fs::read(&path).expect("read") } else { Vec::new() };
            (path, bytes)
        })
        .collect()
}

fn texts(path: &Path) -> Vec<Vec<Cell>> {
    let rows = foreign::read(path, &Control::default(), |r| r.rows("note", &["id", "text"], None));
    rows.expect("read").into_iter().map(|row| row.cells).collect()
}

fn expected() -> Vec<Vec<Cell>> {
    vec![
        vec![Cell::Integer(1), Cell::Null],
        vec![Cell::Integer(2), Cell::Text("둘".into())],
        vec![Cell::Integer(3), Cell::NotUtf8],
    ]
}

#[test]
fn a_database_is_read_without_a_trace_however_it_was_left() {
    for name in ["old.db", "50% off?mode=rwc#1.db", "기억 저장소.db", "it's \"quoted\".db"] {
        for wal in [false, true] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join(name);
            let owner = made(&path, wal);
            let while_open = trace(folder.path());
            assert_eq!(texts(&path), expected(), "{name}, open, wal {wal}");
            assert_eq!(trace(folder.path()), while_open, "{name}, open, wal {wal}");
            owner.close().expect("closed");
            let at_rest = trace(folder.path());
            assert_eq!(at_rest.len(), 1, "{name}: {:?}", at_rest.keys());
            assert_eq!(texts(&path), expected(), "{name}, at rest, wal {wal}");
            assert_eq!(trace(folder.path()), at_rest, "{name}, at rest, wal {wal}");
        }
    }
}

#[test]
fn a_log_that_was_left_behind_is_read_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("old.db");
    let owner = made(&path, true);
    let copies = tempfile::tempdir().expect("a folder");
    let copy = copies.path().join("old.db");
    fs::copy(&path, &copy).expect("copied");
    fs::copy(folder.path().join("old.db-wal"), copies.path().join("old.db-wal")).expect("copied");
    let before = trace(copies.path());
    assert_eq!(texts(&copy), expected());
    assert_eq!(trace(copies.path()), before);
    drop(owner);
}

#[test]
fn rows_above_an_id_missing_columns_and_missing_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("old.db");
    made(&path, false).close().expect("closed");
    foreign::read(&path, &Control::default(), |r| {
        let later = r.rows("note", &["nothing", "weight"], Some(2))?;
        assert_eq!(later.len(), 1);
        assert_eq!(later[0].cells, [Cell::Null, Cell::Bytes(2)]);
        assert_eq!((later[0].place, r.count("note")?, r.count("absent")?), (1, 3, 0));
        assert!(r.rows("absent", &["id"], None)?.is_empty());
        assert!(!r.has("trap"), "views are not run");
        Ok(())
    })
    .expect("read");
}

#[test]
fn what_is_no_database_is_said_and_nothing_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |path: &Path| foreign::read(path, &Control::default(), |r| Ok(r.tables().len()));
    let missing = folder.path().join("missing.db");
    assert!(matches!(read(&missing), Err(StoreError::Io { .. })));
    assert!(!missing.exists());
    assert_eq!(ForeignStamp::of(&missing), None);
    let empty = folder.path().join("empty.db");
    fs::File::create(&empty).expect("made");
    assert!(matches!(read(&empty), Err(StoreError::Corrupt { .. })));
    assert!(matches!(read(folder.path()), Err(StoreError::Invalid(_))));
    let path = folder.path().join("cut.db");
    made(&path, false).close().expect("closed");
    let bytes = fs::read(&path).expect("read");
    for length in [17, 60, 100, 1000, bytes.len() / 2] {
        let file = fs::File::create(&path).expect("made");
        drop(file);
        fs::copy(&empty, &path).expect("emptied");
        std::io::Write::write_all(&mut fs::File::create(&path).expect("made"), &bytes[..length])
            .expect("cut");
        let outcome = foreign::read(&path, &Control::default(), |r| r.rows("note", &["id", "text"], None));
        assert!(
            matches!(
                outcome,
                Err(StoreError::Corrupt { .. } | StoreError::Internal(_) | StoreError::Io { .. })
            ),
            "{length}: {outcome:?}"
        );
    }
}

#[test]
fn a_stamp_changes_with_every_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("old.db");
    let owner = made(&path, true);
    let before = ForeignStamp::of(&path).expect("there");
    owner.execute_batch("INSERT INTO note (text) VALUES ('넷')").expect("written");
    let after = ForeignStamp::of(&path).expect("there");
    assert_ne!(before, after);
    assert!(before.same_file(&after));
}
