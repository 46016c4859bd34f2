//! Statements inside one transaction, and the rows they return.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    path::Path,
};

use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

use super::{connection::Connection, errors::classify};
use crate::{
    error::StoreError,
    faults::{FaultPlan, FaultPoint},
    sql::{self, Control, Param},
};

/// A connection at work for one job.
pub(crate) struct Session<'s> {
    connection: &'s Connection,
    control: &'s Control,
    faults: &'s FaultPlan,
    /// The server refuses everything after a failure, and would answer a commit by undoing it all.
    failed: Cell<bool>,
    changed: Cell<bool>,
    /// Tables in which rows were changed or removed: what these held is still in the server's files.
    emptied: RefCell<BTreeSet<String>>,
}

impl<'s> Session<'s> {
    pub(super) const fn new(connection: &'s Connection, control: &'s Control, faults: &'s FaultPlan) -> Self {
        let (failed, changed) = (Cell::new(false), Cell::new(false));
        Self { connection, control, faults, failed, changed, emptied: RefCell::new(BTreeSet::new()) }
    }

    /// The tables in which rows were changed or removed.
    pub(super) fn emptied(&self) -> BTreeSet<String> {
        self.emptied.take()
    }

    pub(crate) fn path(&self) -> &Path {
        self.connection.place()
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
        let client = self.connection.client();
        let changed =
            self.run(
                sql,
                params,
                |statement, bound| async move { client.execute_raw(&statement, bound).await },
            )?;
        self.changed.set(self.changed.get() || changed > 0);
        if let Some(table) = emptied(sql).filter(|_| changed > 0) {
            self.emptied.borrow_mut().insert(table.to_owned());
        }
        usize::try_from(changed).map_err(|_| StoreError::Internal("more rows than can be counted".into()))
    }

    pub(crate) fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.faults.visit(FaultPoint::Execute, self.path())?;
        self.changed.set(true);
        self.noting(self.connection.batch(self.control, sql))
    }

    fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let client = self.connection.client();
        self.run(sql, params, |statement, bound| async move {
            let bound: Vec<_> = bound.iter().map(|param| param as &(dyn ToSql + Sync)).collect();
            client.query(&statement, &bound).await
        })
    }

    fn run<'p, T: Send, F: Future<Output = Result<T, tokio_postgres::Error>> + Send>(
        &self,
        sql: &str,
        params: &'p [Param<'p>],
        run: impl FnOnce(tokio_postgres::Statement, Vec<Bound<'p>>) -> F,
    ) -> Result<T, StoreError> {
        #[cfg(debug_assertions)]
        crate::tenancy::check(sql, params)?;
        refuse_zero(params)?;
        let statement = self.noting(self.connection.prepare(self.control, sql, params))?;
        let expected = statement.params().len();
        let bound: Vec<_> = params.iter().take(expected).map(|param| Bound(*param)).collect();
        if bound.len() < expected {
            return Err(StoreError::Internal(format!("no value for parameter {expected} of: {sql}")));
        }
        self.noting(self.connection.wait(self.control, run(statement, bound)))
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

/// PostgreSQL's text has no place for this one character.
fn refuse_zero(params: &[Param<'_>]) -> Result<(), StoreError> {
    let zero = |param: &Param<'_>| matches!(param, Param::Text(text) if text.as_bytes().contains(&0));
    if params.iter().any(zero) {
        return Err(StoreError::Invalid(
            "a text holds the character U+0000, which a store on PostgreSQL cannot keep".into(),
        ));
    }
    Ok(())
}

#[derive(Debug)]
struct Bound<'p>(Param<'p>);

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
