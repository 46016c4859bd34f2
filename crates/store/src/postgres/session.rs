//! Statements inside one transaction, and the rows they return.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeSet,
    path::Path,
};

use tokio_postgres::{
    Client, Error, Statement,
    types::{FromSql, IsNull, ToSql, Type, private::BytesMut, to_sql_checked},
};

use super::{
    connection::Connection,
    errors::classify,
    posted::{Posted, Queue},
};
use crate::{
    error::StoreError,
    faults::{FaultPlan, FaultPoint},
    sql::{self, Control, Param},
};

/// How a job's transaction begins: with its first statement, so that both cost one round trip.
pub(super) struct Beginning<'s> {
    /// `BEGIN` and what belongs to it.
    pub(super) sql: String,
    /// Connects anew, should the connection have broken while it was idle.
    pub(super) reopen: &'s dyn Fn() -> Result<Connection, StoreError>,
    /// Where the new connection is kept.
    pub(super) spare: &'s OnceCell<Connection>,
}

/// A connection at work for one job.
pub(crate) struct Session<'s> {
    connection: &'s Connection,
    beginning: Option<Beginning<'s>>,
    begun: Cell<bool>,
    control: &'s Control,
    faults: &'s FaultPlan,
    /// The server refuses everything after a failure, and would answer a commit by undoing it all.
    failed: Cell<bool>,
    changed: Cell<bool>,
    /// Tables in which rows were changed or removed: what these held is still in the server's files.
    emptied: RefCell<BTreeSet<String>>,
    /// Statements that go out together with the next whose answer is needed.
    queue: RefCell<Queue>,
}

impl<'s> Session<'s> {
    pub(super) const fn new(connection: &'s Connection, control: &'s Control, faults: &'s FaultPlan) -> Self {
        Self {
            connection,
            beginning: None,
            begun: Cell::new(true),
            control,
            faults,
            failed: Cell::new(false),
            changed: Cell::new(false),
            queue: RefCell::new(Queue::new()),
            emptied: RefCell::new(BTreeSet::new()),
        }
    }

    /// The same where no transaction was begun yet.
    pub(super) fn beginning(self, beginning: Beginning<'s>) -> Self {
        Self { beginning: Some(beginning), begun: Cell::new(false), ..self }
    }

    /// What is still to be done before the first statement, which the caller does now.
    fn take_beginning(&self) -> Option<&Beginning<'s>> {
        self.beginning.as_ref().filter(|_| !self.begun.replace(true))
    }

    /// The connection, which is another one if the first had broken before anything was done.
    pub(super) fn connection(&self) -> &'s Connection {
        self.beginning.as_ref().and_then(|beginning| beginning.spare.get()).unwrap_or(self.connection)
    }

    pub(crate) fn path(&self) -> &'s Path {
        self.connection().place()
    }

    /// The tables in which rows were changed or removed.
    pub(super) fn emptied(&self) -> BTreeSet<String> {
        self.emptied.take()
    }

    /// Whether a statement changed anything.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.get()
    }

    /// Whether a statement failed, so that nothing of the transaction can be kept.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.get()
    }

    pub(crate) fn query_one<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        map: impl FnOnce(&sql::Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let rows = self.rows(sql, params)?;
        rows.first().map(|row| map(&sql::Row::postgres(Row { row, place: self.path() }))).transpose()
    }

    pub(crate) fn for_each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&sql::Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        // All rows first: a visitor may ask further questions, and the protocol answers in order.
        for row in &self.rows(sql, params)? {
            visit(&sql::Row::postgres(Row { row, place: self.path() }))?;
        }
        Ok(())
    }

    pub(crate) fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<usize, StoreError> {
        self.faults.visit(FaultPoint::Execute, self.path())?;
        let changed = self.run(sql, params, |client, statement, bound| async move {
            client.execute_raw(&statement, bound).await
        })?;
        self.changed.set(self.changed.get() || changed > 0);
        if let Some(table) = emptied(sql).filter(|_| changed > 0) {
            self.emptied.borrow_mut().insert(table.to_owned());
        }
        usize::try_from(changed).map_err(|_| StoreError::Internal("more rows than can be counted".into()))
    }

    /// Runs a statement some time before the next one that is waited for; should it fail, that one says so.
    pub(crate) fn post(&self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
        self.faults.visit(FaultPoint::Execute, self.path())?;
        self.begin()?;
        let (statement, expected) = self.prepared(sql, params)?;
        self.changed.set(true);
        if let Some(table) = emptied(sql) {
            self.emptied.borrow_mut().insert(table.to_owned());
        }
        let is_full = self.queue.borrow_mut().push(Posted::new(statement, &params[..expected]));
        if is_full { self.send_posted() } else { Ok(()) }
    }

    /// Ends the transaction with effect by `sql`, which ends in `COMMIT`. What was posted is waited for before: a
    /// connection that breaks until then has changed nothing, and from then on may have.
    pub(super) fn commit(&self, sql: &str) -> Result<(), StoreError> {
        self.send_posted()?;
        if !self.begun.get() {
            return Ok(());
        }
        let nothing = std::future::ready(Ok(()));
        self.noting(self.connection().commit(nothing, sql))
    }

    /// The same in one round trip with what was posted, for what can be done again: should the connection break,
    /// nobody knows whether it was done.
    pub(super) fn commit_with_posted(&self, sql: &str) -> Result<(), StoreError> {
        if !self.begun.get() {
            return Ok(());
        }
        let (posted, connection) = (self.queue.take(), self.connection());
        let nothing = std::future::ready(Ok(()));
        self.noting(connection.commit(posted.before(connection.client(), nothing), sql))
    }

    /// Waits for what was posted.
    pub(super) fn send_posted(&self) -> Result<(), StoreError> {
        let posted = self.queue.take();
        if posted.is_empty() {
            return Ok(());
        }
        let nothing = std::future::ready(Ok(()));
        let connection = self.connection();
        self.noting(connection.wait(self.control, posted.before(connection.client(), nothing)))
    }

    pub(crate) fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.faults.visit(FaultPoint::Execute, self.path())?;
        self.begin()?;
        self.send_posted()?;
        self.changed.set(true);
        self.noting(self.connection().batch(self.control, sql))
    }

    fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        self.run(sql, params, |client, statement, bound| async move {
            let bound: Vec<_> = bound.iter().map(|param| param as &(dyn ToSql + Sync)).collect();
            client.query(&statement, &bound).await
        })
    }

    fn run<'p, T: Send, F: Future<Output = Result<T, Error>> + Send>(
        &self,
        sql: &str,
        params: &'p [Param<'p>],
        run: impl Fn(&'s Client, Statement, Vec<Bound<'p>>) -> F,
    ) -> Result<T, StoreError> {
        if let Some(statement) = self.connection().known(sql, params)
            && let Some(beginning) = self.take_beginning()
        {
            check(sql, params)?;
            let first = run(self.connection().client(), statement.clone(), bound(&statement, params));
            match self.connection().begin_with(self.control, &beginning.sql, first) {
                // Nothing was done yet, so it can be done elsewhere.
                Err(StoreError::Disconnected { .. }) => self.begin_elsewhere(beginning)?,
                outcome => return self.noting(outcome),
            }
        }
        self.begin()?;
        let (statement, _) = self.prepared(sql, params)?;
        let connection = self.connection();
        let posted = self.queue.take();
        let asked = run(connection.client(), statement.clone(), bound(&statement, params));
        self.noting(connection.wait(self.control, posted.before(connection.client(), asked)))
    }

    /// Begins the transaction, if that was not done.
    fn begin(&self) -> Result<(), StoreError> {
        let Some(beginning) = self.take_beginning() else { return Ok(()) };
        match self.connection().begin(self.control, &beginning.sql) {
            Err(StoreError::Disconnected { .. }) => self.begin_elsewhere(beginning),
            outcome => self.noting(outcome),
        }
    }

    /// Begins it on another connection, the first being broken.
    fn begin_elsewhere(&self, beginning: &Beginning<'s>) -> Result<(), StoreError> {
        let opened = self.noting((beginning.reopen)())?;
        let opened = beginning.spare.get_or_init(|| opened);
        self.noting(opened.begin(self.control, &beginning.sql))
    }

    /// The statement, and how many of the parameters it takes.
    fn prepared(&self, sql: &str, params: &[Param<'_>]) -> Result<(Statement, usize), StoreError> {
        check(sql, params)?;
        let statement = self.noting(self.connection().prepare(self.control, sql, params))?;
        let expected = statement.params().len();
        if params.len() < expected {
            return Err(StoreError::Internal(format!("no value for parameter {expected} of: {sql}")));
        }
        Ok((statement, expected))
    }

    fn noting<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        outcome.inspect_err(|_| self.failed.set(true))
    }
}

/// The table in which a statement leaves rows behind that nobody sees.
fn emptied(sql: &str) -> Option<&str> {
    let sql = sql.trim_start();
    let after = match (sql.strip_prefix("DELETE FROM "), sql.strip_prefix("UPDATE ")) {
        (Some(after), _) | (_, Some(after)) => after,
        (None, None) => sql.strip_prefix("INSERT INTO ").filter(|after| after.contains("DO UPDATE"))?,
    };
    after.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().filter(|table| !table.is_empty())
}

/// The values that a statement takes, which has at most as many parameters.
fn bound<'p>(statement: &Statement, params: &'p [Param<'p>]) -> Vec<Bound<'p>> {
    params.iter().take(statement.params().len()).map(|param| Bound(*param)).collect()
}

fn check(sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
    #[cfg(debug_assertions)]
    crate::tenancy::check(sql, params)?;
    #[cfg(not(debug_assertions))]
    let _ = (sql, params);
    Ok(())
}

#[derive(Debug)]
pub(super) struct Bound<'p>(pub(super) Param<'p>);

impl ToSql for Bound<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self.0 {
            Param::Null => return Ok(IsNull::Yes),
            Param::Integer(value) => out.extend_from_slice(&value.to_be_bytes()),
            Param::Real(value) => out.extend_from_slice(&value.to_be_bytes()),
            Param::Text(value) => out.extend_from_slice(value.as_bytes()),
            Param::Blob(value) => out.extend_from_slice(value),
        }
        Ok(IsNull::No)
    }

    /// Statements are prepared with the types of their parameters.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row as the driver gives it.
pub(crate) struct Row<'r> {
    row: &'r tokio_postgres::Row,
    place: &'r Path,
}

/// A value as it travels.
struct Raw<'v>(&'v [u8]);

impl<'v> FromSql<'v> for Raw<'v> {
    fn from_sql(_: &Type, raw: &'v [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Row<'_> {
    pub(crate) fn integer(&self, index: usize) -> Result<i64, StoreError> {
        let bytes = self.value(index, "an integer")?;
        let number = match *self.kind(index) {
            Type::INT8 => bytes.try_into().ok().map(i64::from_be_bytes),
            Type::INT4 => bytes.try_into().ok().map(|bytes| i32::from_be_bytes(bytes).into()),
            Type::INT2 => bytes.try_into().ok().map(|bytes| i16::from_be_bytes(bytes).into()),
            Type::BOOL => bytes.first().map(|byte| i64::from(*byte != 0)),
            _ => None,
        };
        number.ok_or_else(|| self.unexpected(index, "an integer"))
    }

    pub(crate) fn real(&self, index: usize) -> Result<f64, StoreError> {
        let bytes = self.value(index, "a real number")?;
        let number = match *self.kind(index) {
            Type::FLOAT8 => bytes.try_into().ok().map(f64::from_be_bytes),
            Type::FLOAT4 => bytes.try_into().ok().map(|bytes| f32::from_be_bytes(bytes).into()),
            _ => None,
        };
        number.ok_or_else(|| self.unexpected(index, "a real number"))
    }

    pub(crate) fn text(&self, index: usize) -> Result<&str, StoreError> {
        let bytes = self.value(index, "text")?;
        match *self.kind(index) {
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN => {
                std::str::from_utf8(bytes).map_err(|_| self.damaged(index, "is not UTF-8"))
            }
            _ => Err(self.unexpected(index, "text")),
        }
    }

    pub(crate) fn blob(&self, index: usize) -> Result<&[u8], StoreError> {
        let bytes = self.value(index, "bytes")?;
        if *self.kind(index) == Type::BYTEA { Ok(bytes) } else { Err(self.unexpected(index, "bytes")) }
    }

    pub(crate) fn is_null(&self, index: usize) -> Result<bool, StoreError> {
        self.raw(index).map(|value| value.is_none())
    }

    pub(crate) fn out_of_range(&self, index: usize, value: i64) -> StoreError {
        self.damaged(index, &format!("holds {value}, which is out of range"))
    }

    fn raw(&self, index: usize) -> Result<Option<&[u8]>, StoreError> {
        let value: Option<Raw<'_>> = self.row.try_get(index).map_err(|error| classify(&error, self.place))?;
        Ok(value.map(|raw| raw.0))
    }

    fn value(&self, index: usize, wanted: &str) -> Result<&[u8], StoreError> {
        self.raw(index)?.ok_or_else(|| self.damaged(index, &format!("should be {wanted} and is NULL")))
    }

    fn kind(&self, index: usize) -> &Type {
        self.row.columns().get(index).map_or(&Type::UNKNOWN, tokio_postgres::Column::type_)
    }

    /// A column's type is the statement's own doing, never the data's.
    fn unexpected(&self, index: usize, wanted: &str) -> StoreError {
        StoreError::Internal(format!(
            "column {} should be {wanted} and is {}",
            self.name(index),
            self.kind(index)
        ))
    }

    fn damaged(&self, index: usize, what: &str) -> StoreError {
        let detail = format!("column {} {what}", self.name(index));
        StoreError::Corrupt { path: self.place.to_path_buf(), detail }
    }

    fn name(&self, index: usize) -> &str {
        self.row.columns().get(index).map_or("?", tokio_postgres::Column::name)
    }
}

#[cfg(test)]
mod tests {
    use super::emptied;

    #[test]
    fn statements_that_leave_dead_rows_are_known_by_their_table() {
        for (sql, table) in [
            ("DELETE FROM memories WHERE tenant = $1", Some("memories")),
            ("  UPDATE episodes\n SET text = ''", Some("episodes")),
            ("INSERT INTO settings (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = 1", Some("settings")),
            ("INSERT INTO bands (a) VALUES ($1) ON CONFLICT DO NOTHING", None),
            ("SELECT 1 FROM memories", None),
        ] {
            assert_eq!(emptied(sql), table, "{sql}");
        }
    }
}
