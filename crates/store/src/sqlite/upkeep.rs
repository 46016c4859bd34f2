//! Work on the whole file, outside any transaction: log, free space, integrity, copies.

use std::{collections::BTreeSet, path::Path};

use rusqlite::{
    OpenFlags,
    backup::{Backup, StepResult},
};

use super::{Store, errors::classify, open::Connection};
use crate::{
    error::StoreError,
    files::open_private,
    migrate::{self, Schema},
    retry::{Patience, patiently},
    sql::{Control, Row},
};

/// Pages copied before writers get a chance: 4 MiB.
const PAGES_PER_STEP: i32 = 1024;

/// Everything that a database file is made of, but what SQLite keeps for itself.
const OBJECTS: &str = "SELECT type, name, COALESCE(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY 1, 2";

/// Type, name and text of a table, an index, a view or a trigger.
type Object = (String, String, String);

fn object_from(row: &Row<'_>) -> Result<Object, StoreError> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

/// What the migrations of `schema` did not make, and what they made and is not there as they made it. A trigger
/// that somebody else put there would change what every later write says.
fn objects_that_differ(made: Vec<Object>, schema: &Schema) -> Result<Vec<String>, StoreError> {
    let place = Path::new(":memory:");
    let model = rusqlite::Connection::open_in_memory().map_err(|error| classify(&error, place))?;
    let read = || -> rusqlite::Result<Vec<Object>> {
        model.execute_batch(migrate::TABLE)?;
        schema.migrations.iter().try_for_each(|migration| model.execute_batch(migration.sql))?;
        let mut statement = model.prepare(OBJECTS)?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
    };
    let known: BTreeSet<Object> = read().map_err(|error| classify(&error, place))?.into_iter().collect();
    let made: BTreeSet<Object> = made.into_iter().collect();
    let named = |(kind, name, _): &Object, what: &str| format!("the {kind} `{name}` {what}");
    let strange = made.difference(&known).map(|o| named(o, "is not one that Strata makes"));
    let lost = known.difference(&made).map(|o| named(o, "is not there as Strata makes it"));
    Ok(strange.chain(lost).collect())
}

impl Store {
    pub(crate) fn checkpoint(&self, control: &Control) -> Result<(), StoreError> {
        self.upkeep(control, |connection| truncate_log(connection, self.path()))
    }

    pub(crate) fn compact(&self, control: &Control) -> Result<(), StoreError> {
        // The first checkpoint keeps VACUUM from copying pages that only the log still holds.
        self.checkpoint(control)?;
        self.upkeep(control, |connection| self.batch(connection, "VACUUM"))?;
        self.checkpoint(control)
    }

    pub(crate) fn check(&self, control: &Control, quick: bool) -> Result<Vec<String>, StoreError> {
        let pragma = if quick { "PRAGMA quick_check(20)" } else { "PRAGMA integrity_check(20)" };
        self.read(control, |transaction| {
            let findings = transaction.query(pragma, &[], |row| row.get::<String>(0));
            let mut findings: Vec<String> = match findings {
                Ok(findings) => findings.into_iter().filter(|finding| finding != "ok").collect(),
                Err(StoreError::Corrupt { detail, .. }) => return Ok(vec![detail]),
                Err(error) => return Err(error),
            };
            let applied = migrate::applied(transaction)?;
            // What a newer binary has made here is its own affair.
            if applied.last().map(|last| last.version) == Some(self.0.options.schema.latest()) {
                let made = transaction.query(OBJECTS, &[], object_from)?;
                findings.extend(objects_that_differ(made, &self.0.options.schema)?);
            }
            Ok(findings)
        })
    }

    pub(crate) fn copy_to(&self, control: &Control, target: &Path) -> Result<(), StoreError> {
        self.follow_file();
        let mut source = self.0.readers.lease(control, || self.open_reader(control))?;
        let source = source.get()?;
        source.unwatch()?;
        // Inside a transaction the copy is of one snapshot; otherwise each write of another process
        // would make it start again.
        let snapshot = source.session(control, &self.0.options.faults);
        patiently(control, || snapshot.begin_read().inspect_err(|_| snapshot.roll_back()))?;
        let copied = copy_pages(source, control, target);
        snapshot.roll_back();
        copied
    }

    pub(crate) fn restore_from(&self, control: &Control, source: &Path) -> Result<(), StoreError> {
        self.create(control, &|_| Ok(()))?;
        let mut connection = self.0.writer.lease(control, || self.open_writer(control))?;
        let connection = connection.get()?;
        connection.unwatch()?;
        connection.inner.flush_prepared_statement_cache();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let source =
            rusqlite::Connection::open_with_flags(source, flags).map_err(|error| classify(&error, source))?;
        let path = self.path();
        let backup = Backup::new(&source, &mut connection.inner).map_err(|error| classify(&error, path))?;
        let mut patience = Patience::new(control);
        // All pages in one step are one transaction to everybody else.
        while backup.step(-1).map_err(|error| classify(&error, path))? != StepResult::Done {
            patience.wait()?;
        }
        Ok(())
    }

    /// Runs `work` on the writing connection, again while the database is busy.
    fn upkeep(
        &self,
        control: &Control,
        work: impl Fn(&Connection) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        control.check()?;
        self.follow_file();
        let mut connection = self.0.writer.lease(control, || self.open_writer(control))?;
        let connection = connection.get()?;
        connection.watch(control)?;
        let outcome = patiently(control, || work(connection));
        connection.unwatch()?;
        outcome
    }

    fn batch(&self, connection: &Connection, sql: &str) -> Result<(), StoreError> {
        connection.inner.execute_batch(sql).map_err(|error| classify(&error, self.path()))
    }
}

fn copy_pages(source: &Connection, control: &Control, target: &Path) -> Result<(), StoreError> {
    open_private(target)?;
    let mut copy = rusqlite::Connection::open(target).map_err(|error| classify(&error, target))?;
    let backup = Backup::new(&source.inner, &mut copy).map_err(|error| classify(&error, target))?;
    let mut patience = Patience::new(control);
    loop {
        control.check()?;
        match backup.step(PAGES_PER_STEP).map_err(|error| classify(&error, target))? {
            StepResult::Done => break,
            StepResult::More => {}
            _ => patience.wait()?,
        }
    }
    drop(backup);
    // A copy is one file: without this it would open with a log beside it.
    copy.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())).map_err(|error| classify(&error, target))
}

fn truncate_log(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let busy: i64 = connection
        .inner
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .map_err(|error| classify(&error, path))?;
    if busy == 0 { Ok(()) } else { Err(StoreError::Busy { waited: std::time::Duration::ZERO }) }
}
