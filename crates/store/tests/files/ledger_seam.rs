//! The seam: transactions, snapshots, limits on time, faults, and what is refused.

use std::{path::Path, time::Duration};

use strata_core::{cancel::Cancel, error::ErrorKind};
use strata_store::{
    StoreError,
    faults::FaultPlan,
    migrate::{Durability, Migration, Schema},
    params,
    sql::{Access, Control, Creation, Database, DatabaseOptions},
};

const FIRST: Migration = Migration {
    version: 1,
    name: "numbers",
    sql: "CREATE TABLE numbers (value INTEGER NOT NULL, note TEXT)",
    min_reader: 1,
    min_writer: 1,
};
const SCHEMA: Schema = Schema {
    name: "ledger",
    application_id: 0x5354_0001,
    durability: Durability::Full,
    migrations: &[FIRST],
};

fn options(directory: &Path, faults: &str) -> DatabaseOptions {
    DatabaseOptions {
        place: strata_store::Place::File(directory.join("home/numbers.db")),
        schema: SCHEMA,
        creation: Creation::OnFirstWrite,
        faults: FaultPlan::parse(faults).expect("well formed"),
    }
}

fn with_schema(directory: &Path, migrations: &'static [Migration]) -> Database {
    Database::new(DatabaseOptions { schema: Schema { migrations, ..SCHEMA }, ..options(directory, "") })
}

fn insert(database: &Database, value: i64) -> Result<usize, StoreError> {
    database
        .write(&Control::default(), |t| t.execute("INSERT INTO numbers VALUES ($1, NULL)", params![value]))
}

fn count(database: &Database) -> i64 {
    let count = database
        .read(&Control::default(), |t| t.query_one("SELECT count(*) FROM numbers", &[], |row| row.get(0)));
    count.expect("readable").expect("one row")
}

#[test]
fn the_file_appears_with_the_first_write_and_is_private() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let database = Database::new(options(directory.path(), ""));
    assert!(!directory.path().join("home").exists(), "making a handle touches nothing");
    let error = database.read(&Control::default(), |_| Ok(())).expect_err("nothing there");
    assert_eq!(error.kind(), ErrorKind::NotInitialized);
    assert_eq!(database.access(&Control::default()).expect("looked"), Access::Absent);
    assert!(!directory.path().join("home").exists(), "nor does reading");
    insert(&database, 1).expect("written");
    assert_eq!(database.access(&Control::default()).expect("looked"), Access::ReadWrite);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).expect("exists").permissions().mode() & 0o777;
        assert_eq!(mode(&directory.path().join("home")), 0o700);
        for name in ["numbers.db", "numbers.db-wal", "numbers.db-shm", "numbers.db.lock"] {
            assert_eq!(mode(&directory.path().join("home").join(name)), 0o600, "{name}");
        }
    }
}

#[test]
fn values_keep_their_types_and_the_wrong_type_is_an_error() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let database = Database::new(options(directory.path(), ""));
    let text = "a\u{1}b";
    let row = database.write(&Control::default(), |t| {
        t.query_one("SELECT $3, $1, $2, $4, $1", params![7_i64, text, Some(1.5), b"\xff\x00"], |row| {
            Ok((row.get::<f64>(0)?, row.get::<i64>(1)?, row.get::<String>(2)?, row.get::<Vec<u8>>(3)?))
        })
    });
    assert_eq!(row.expect("read"), Some((1.5, 7, text.to_owned(), vec![255, 0])));
    let zero = database.read(&Control::default(), |t| t.query_one("SELECT $1", params!["a\0b"], |_| Ok(())));
    assert_eq!(zero.expect_err("a server's text has no place for it").kind(), ErrorKind::Invalid);
    let wrong =
        database.read(&Control::default(), |t| t.query_one("SELECT 'x'", &[], |row| row.get::<i64>(0)));
    assert_eq!(wrong.expect_err("text is no integer").kind(), ErrorKind::Corrupt);
    let missing =
        database.read(&Control::default(), |t| t.query_one("SELECT $2", params![1_i64], |_| Ok(())));
    assert_eq!(missing.expect_err("no second value").kind(), ErrorKind::Internal);
    let written = database.read(&Control::default(), |t| t.execute("DELETE FROM numbers", &[]));
    assert_eq!(written.expect_err("readers only read").kind(), ErrorKind::Unavailable);
}

#[test]
fn an_error_rolls_back_and_a_snapshot_stands_still() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let database = Database::new(options(directory.path(), ""));
    insert(&database, 1).expect("written");
    let failed: Result<(), _> = database.write(&Control::default(), |t| {
        t.execute("INSERT INTO numbers VALUES (2, NULL)", &[])?;
        Err(StoreError::Invalid("no".into()))
    });
    assert!(failed.is_err());
    assert_eq!(count(&database), 1);
    let before = database.data_version(&Control::default()).expect("version");
    let seen = database.read(&Control::default(), |t| {
        insert(&database, 3)?;
        t.query_one("SELECT count(*) FROM numbers", &[], |row| row.get::<i64>(0))
    });
    assert_eq!(seen.expect("read"), Some(1), "the snapshot was fixed before the insert");
    assert_eq!(count(&database), 2);
    assert_ne!(database.data_version(&Control::default()).expect("version"), before);
}

#[test]
fn a_statement_in_flight_stops_when_told_to() {
    const ENDLESS: &str =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let directory = tempfile::tempdir().expect("temporary directory");
    let database = Database::new(options(directory.path(), ""));
    insert(&database, 1).expect("written");
    let endless = |control: &Control| {
        database.read(control, |t| t.query_one(ENDLESS, &[], |row| row.get::<i64>(0))).expect_err("endless")
    };
    let error = endless(&Control::default().ending_in(Duration::from_millis(50)));
    assert_eq!(error.kind(), ErrorKind::Deadline);
    let cancel = Cancel::default();
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let cancelled = database.read(&Control::with_cancel(&cancel), |t| {
        t.for_each(rows, &[], |_| {
            cancel.cancel();
            Ok(())
        })
    });
    assert_eq!(cancelled.expect_err("endless").kind(), ErrorKind::Cancelled);
    let half_done = database.write(&Control::default().ending_in(Duration::from_millis(50)), |t| {
        t.execute("INSERT INTO numbers VALUES (2, NULL)", &[])?;
        t.query_one(ENDLESS, &[], |row| row.get::<i64>(0))
    });
    assert_eq!(half_done.expect_err("endless").kind(), ErrorKind::Deadline);
    assert_eq!(count(&database), 1, "the connection is still good");
}

#[test]
fn waiting_for_the_lock_ends_with_patience() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let database = Database::new(options(directory.path(), ""));
    let other = Database::new(options(directory.path(), ""));
    insert(&database, 1).expect("written");
    let impatient = Control { patience: Duration::from_millis(80), ..Control::default() };
    database
        .write(&Control::default(), |_| {
            let error = other.write(&impatient, |_| Ok(())).expect_err("locked by another connection");
            assert_eq!(error.kind(), ErrorKind::Busy);
            let error = database.write(&impatient, |_| Ok(())).expect_err("locked by this handle");
            assert_eq!(error.kind(), ErrorKind::Busy);
            assert_eq!(count(&other), 1, "readers do not wait");
            Ok(())
        })
        .expect("the holder is not disturbed");
}

#[test]
fn scripted_faults_are_typed_and_leave_nothing() {
    for (script, kind) in [
        ("execute:2:full", ErrorKind::Unavailable),
        ("execute:2:io", ErrorKind::Unavailable),
        ("before-commit:2:full", ErrorKind::Unavailable),
    ] {
        let directory = tempfile::tempdir().expect("temporary directory");
        let database = Database::new(options(directory.path(), script));
        insert(&database, 1).expect("the first visit passes");
        assert_eq!(insert(&database, 2).expect_err("scripted").kind(), kind, "{script}");
        assert_eq!(count(&database), 1);
        insert(&database, 3).expect("the fault is over");
        assert_eq!(count(&database), 2);
    }
    let directory = tempfile::tempdir().expect("temporary directory");
    let database = Database::new(options(directory.path(), "begin:1:busy,execute:1:busy"));
    insert(&database, 1).expect("busy is retried");
    assert_eq!(count(&database), 1);
}

#[test]
fn a_replaced_file_is_noticed() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let database = Database::new(options(directory.path(), ""));
    insert(&database, 1).expect("written");
    assert_eq!(count(&database), 1);
    let copy = directory.path().join("copy.db");
    database.copy_to(&Control::default(), &copy).expect("copied");
    insert(&database, 2).expect("written");
    for suffix in ["", "-wal", "-shm"] {
        std::fs::remove_file(directory.path().join(format!("home/numbers.db{suffix}"))).expect("removed");
    }
    std::fs::rename(&copy, directory.path().join("home/numbers.db")).expect("replaced");
    assert_eq!(count(&database), 1, "the copy was made before the second row");
    insert(&database, 3).expect("written to the new file");
    assert_eq!(count(&Database::new(options(directory.path(), ""))), 2);
}

#[test]
fn a_damaged_file_is_an_error_and_no_panic() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let database = Database::new(options(directory.path(), ""));
    let note = "x".repeat(3000);
    database
        .write(&Control::default(), |t| {
            (0..50_i64).try_for_each(|n| {
                t.execute("INSERT INTO numbers VALUES ($1, $2)", params![n, &note]).map(drop)
            })
        })
        .expect("written");
    assert_eq!(database.check(&Control::default(), false).expect("checked"), Vec::<String>::new());
    database.compact(&Control::default()).expect("compacted");
    database.close();
    let place = directory.path().join("home/numbers.db");
    let mut bytes = std::fs::read(&place).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 9000].fill(0xA5);
    strata_store::files::write_atomic(&place, &bytes).expect("written");
    let read = database.read(&Control::default(), |t| {
        t.query("SELECT value, note FROM numbers", &[], |row| Ok((row.get::<i64>(0)?, row.get::<String>(1)?)))
    });
    assert_eq!(read.expect_err("damaged").kind(), ErrorKind::Corrupt);
    assert!(!database.check(&Control::default(), false).expect("checked").is_empty());
}

#[test]
fn the_log_of_a_removed_database_is_not_replayed_into_the_next() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let first = Database::new(options(directory.path(), ""));
    insert(&first, 1).expect("written");
    insert(&first, 2).expect("written");
    // The open handle keeps the log from being tidied away.
    std::fs::remove_file(directory.path().join("home/numbers.db")).expect("removed");
    let next = Database::new(options(directory.path(), ""));
    insert(&next, 3).expect("written");
    assert_eq!(count(&next), 1);
    assert_eq!(count(&first), 1, "the old handle follows");
    assert_eq!(next.check(&Control::default(), false).expect("checked"), Vec::<String>::new());
}

#[test]
fn a_foreign_file_is_left_alone() {
    let directory = tempfile::tempdir().expect("temporary directory");
    std::fs::create_dir(directory.path().join("home")).expect("directory");
    let place = directory.path().join("home/numbers.db");
    for content in [&b"just some notes, nothing else here, and no database at all"[..], b"x"] {
        strata_store::files::write_atomic(&place, content).expect("written");
        let database = Database::new(options(directory.path(), ""));
        assert_eq!(insert(&database, 1).expect_err("foreign").kind(), ErrorKind::Corrupt);
        assert_eq!(std::fs::read(&place).expect("read"), content);
    }
}

const SECOND: Migration = Migration {
    version: 2,
    name: "more",
    sql: "CREATE TABLE more (x INTEGER)",
    min_reader: 1,
    min_writer: 1,
};
const THIRD_FOR_NEWER_WRITERS: Migration = Migration {
    version: 3,
    name: "stricter",
    sql: "CREATE TABLE stricter (x INTEGER)",
    min_reader: 1,
    min_writer: 3,
};
const FOURTH_FOR_NEWER_READERS: Migration = Migration {
    version: 4,
    name: "different",
    sql: "CREATE TABLE different (x INTEGER)",
    min_reader: 4,
    min_writer: 4,
};

#[test]
fn migrations_move_forward_and_older_binaries_may_do_what_is_safe() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let oldest = with_schema(directory.path(), &[FIRST]);
    insert(&oldest, 1).expect("written");
    let second = with_schema(directory.path(), &[FIRST, SECOND]);
    insert(&second, 2).expect("migrated and written");
    insert(&oldest, 3).expect("an additive change keeps the older binary at work");
    insert(&with_schema(directory.path(), &[FIRST]), 4).expect("also when it starts afterwards");

    insert(&with_schema(directory.path(), &[FIRST, SECOND, THIRD_FOR_NEWER_WRITERS]), 5).expect("written");
    let old = with_schema(directory.path(), &[FIRST, SECOND]);
    let error = insert(&old, 6).expect_err("writers must know version 3");
    assert_eq!(error.kind(), ErrorKind::Newer);
    assert_eq!(
        error.to_string(),
        "the ledger has schema version 3, which this version (schema 2) cannot write"
    );
    let error = insert(&second, 6).expect_err("one that was at work before is no exception");
    assert_eq!(error.kind(), ErrorKind::Newer);
    assert_eq!(count(&old), 5);
    assert!(matches!(old.access(&Control::default()), Ok(Access::ReadOnly(_))));

    let newest =
        with_schema(directory.path(), &[FIRST, SECOND, THIRD_FOR_NEWER_WRITERS, FOURTH_FOR_NEWER_READERS]);
    insert(&newest, 7).expect("written");
    let applied = newest.applied(&Control::default()).expect("read");
    assert_eq!(applied.iter().map(|a| a.version).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let error = with_schema(directory.path(), &[FIRST, SECOND]).read(&Control::default(), |_| Ok(()));
    assert_eq!(error.expect_err("readers must know version 4").kind(), ErrorKind::Newer);
}

#[test]
fn a_changed_migration_is_named() {
    const TAMPERED: Migration = Migration { sql: "CREATE TABLE numbers (value TEXT, note TEXT)", ..FIRST };
    let directory = tempfile::tempdir().expect("temporary directory");
    insert(&with_schema(directory.path(), &[FIRST]), 1).expect("written");
    let error = insert(&with_schema(directory.path(), &[TAMPERED]), 2).expect_err("not the same migration");
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(
        error.to_string(),
        "migration 1 (numbers) of the ledger is not the one that was applied to this database"
    );
}

#[test]
fn a_failing_migration_leaves_the_version_before_it() {
    const BROKEN: Migration = Migration {
        version: 2,
        name: "broken",
        sql: "CREATE TABLE half (x INTEGER); INSERT INTO nowhere VALUES (1)",
        min_reader: 1,
        min_writer: 1,
    };
    let directory = tempfile::tempdir().expect("temporary directory");
    insert(&with_schema(directory.path(), &[FIRST]), 1).expect("written");
    assert!(insert(&with_schema(directory.path(), &[FIRST, BROKEN]), 2).is_err());
    let database = with_schema(directory.path(), &[FIRST, SECOND]);
    insert(&database, 3).expect("another second migration fits");
    let half = database.read(&Control::default(), |t| {
        t.query_one("SELECT 1 FROM sqlite_schema WHERE name = 'half'", &[], |_| Ok(()))
    });
    assert_eq!(half.expect("read"), None);
}
