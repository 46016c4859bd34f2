//! How a database file comes into being and is brought up to date.

use std::{fs, io, path::Path, time::Duration};

use rusqlite::OpenFlags;

use super::{
    errors::classify,
    network::refuse_network,
    open::{Connection, beside, is_present, refuse_foreign, set_up_writer, writable},
};
use crate::{
    error::StoreError,
    faults::{FaultPlan, FaultPoint},
    files::{directory_of, explain_io, make_private_directory, open_private, sync_directory},
    held::Held,
    migrate::{self, Standing},
    retry::patiently,
    sql::{Control, DatabaseOptions, Transaction},
};

/// The database's clock, in microseconds.
const NOW: &str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

/// Makes the file if it is missing, else applies the migrations that are; one process at a time.
/// `seed` writes the first rows of a new file. Returns whether the file was made.
///
/// A new file is made under another name and renamed when it is whole, so that a file with content is
/// always a finished one.
pub(super) fn create(
    path: &Path,
    options: &DatabaseOptions,
    control: &Control,
    seed: Seed<'_>,
) -> Result<bool, StoreError> {
    let directory = directory_of(path);
    make_private_directory(directory)?;
    refuse_network(directory)?;
    let _lock = lock(path, control)?;
    writable(path).map_err(|reason| StoreError::ReadOnly { path: path.to_path_buf(), reason })?;
    if is_present(path) {
        bring_up_to_date(path, options, control)?.close()?;
        return Ok(false);
    }
    let unfinished = beside(path, ".new");
    for leftover in [&unfinished, &beside(&unfinished, "-wal"), &beside(&unfinished, "-shm")] {
        remove_if_present(leftover)?;
    }
    // SQLite gives the log and its shared memory the permissions of the file.
    open_private(&unfinished)?;
    let connection = bring_up_to_date(&unfinished, options, control)?;
    patiently(control, || in_transaction(&connection, control, seed))?;
    connection.set("PRAGMA wal_checkpoint(TRUNCATE)")?;
    connection.close()?;
    // The log of a database that was removed without it would be replayed into the new one.
    remove_if_present(&beside(path, "-wal"))?;
    remove_if_present(&beside(path, "-shm"))?;
    fs::rename(&unfinished, path).map_err(|error| explain_io("create", path, &error))?;
    sync_directory(directory).map_err(|error| explain_io("create", directory, &error))?;
    Ok(true)
}

/// Writes the first rows of a new database.
pub(crate) type Seed<'s> = &'s dyn Fn(&Transaction<'_>) -> Result<(), StoreError>;

/// Opens the file at `path` for writing and applies the migrations that are missing.
fn bring_up_to_date(
    path: &Path,
    options: &DatabaseOptions,
    control: &Control,
) -> Result<Connection, StoreError> {
    let connection = Connection::open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, true)?;
    patiently(control, || refuse_foreign(&connection, &options.schema))?;
    patiently(control, || switch_to_log(&connection))?;
    patiently(control, || set_up_writer(&connection, &options.schema))?;
    while patiently(control, || migrate_one(&connection, options, control))? {}
    Ok(connection)
}

/// Applies the next missing migration; false when there is none.
fn migrate_one(
    connection: &Connection,
    options: &DatabaseOptions,
    control: &Control,
) -> Result<bool, StoreError> {
    in_transaction(connection, control, |transaction| {
        transaction.batch(migrate::TABLE)?;
        let applied = migrate::applied(transaction)?;
        if migrate::standing(&options.schema, &applied)? != Standing::Behind {
            return Ok(false);
        }
        let Some(migration) = migrate::next(&options.schema, &applied) else { return Ok(false) };
        migrate::apply(transaction, migration, migration.sql, NOW)?;
        transaction.batch(&format!(
            "PRAGMA application_id = {}; PRAGMA user_version = {};",
            options.schema.application_id, migration.version
        ))?;
        options.faults.visit(FaultPoint::Migrate, &connection.path)?;
        Ok(true)
    })
}

/// Runs `job` in a write transaction of its own, outside the script of faults, which counts the
/// statements of jobs and not those of migrations.
fn in_transaction<T>(
    connection: &Connection,
    control: &Control,
    job: impl Fn(&Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let no_faults = FaultPlan::none();
    let session = connection.session(control, &no_faults);
    session.begin_write()?;
    let outcome = job(&Transaction::sqlite(&session)).and_then(|value| session.commit().map(|()| value));
    session.roll_back();
    outcome
}

/// Switches to the write-ahead log. SQLite answers with the old mode when somebody else is at the file.
fn switch_to_log(connection: &Connection) -> Result<(), StoreError> {
    let mode: String = connection
        .inner
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(|error| classify(&error, &connection.path))?;
    if mode == "wal" { Ok(()) } else { Err(StoreError::Busy { waited: Duration::ZERO }) }
}

/// Holds the lock under which a database is made and migrated, until dropped.
fn lock(path: &Path, control: &Control) -> Result<Held, StoreError> {
    let place = beside(path, ".lock");
    Held::take(open_private(&place)?, &place, control)
}

fn remove_if_present(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(explain_io("remove", path, &error)),
        _ => Ok(()),
    }
}
