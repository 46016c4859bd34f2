//! Statements on one connection, and the rows they return.

use std::path::Path;

use rusqlite::{
    CachedStatement, Connection, ToSql,
    types::{ToSqlOutput, ValueRef},
};

use super::errors::classify;
use crate::{
    error::StoreError,
    faults::{FaultPlan, FaultPoint},
    sql::{self, Control, Param},
};

/// A connection at work for one job.
pub(crate) struct Session<'s> {
    pub(super) connection: &'s Connection,
    pub(super) control: &'s Control,
    pub(super) path: &'s Path,
    pub(super) faults: &'s FaultPlan,
}

impl Session<'_> {
    pub(crate) fn path(&self) -> &Path {
        self.path
    }

    pub(super) fn begin_write(&self) -> Result<(), StoreError> {
        self.batch_unchecked("BEGIN IMMEDIATE")
    }

    /// Begins a read and fixes its snapshot, which SQLite otherwise leaves to the first query.
    pub(super) fn begin_read(&self) -> Result<(), StoreError> {
        self.batch_unchecked("BEGIN DEFERRED")?;
        self.query_one("SELECT 1 FROM sqlite_schema LIMIT 1", &[], |_| Ok(())).map(drop)
    }

    pub(super) fn commit(&self) -> Result<(), StoreError> {
        self.batch_unchecked("COMMIT")
    }

    /// Ends a transaction without effect. After some failures SQLite has done so already, and when
    /// it cannot be done the connection is not used again.
    pub(super) fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").ok();
        }
    }

    pub(super) fn data_version(&self) -> Result<i64, StoreError> {
        let version = self.query_one("PRAGMA data_version", &[], |row| row.get(0))?;
        version.ok_or_else(|| StoreError::Internal("no data version".into()))
    }

    pub(crate) fn query_one<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        map: impl FnOnce(&sql::Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.prepare(sql, params)?;
        let mut rows = statement.raw_query();
        match rows.next().map_err(|error| self.explain(&error))? {
            Some(row) => map(&sql::Row::sqlite(Row { row, path: self.path })).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn for_each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut visit: impl FnMut(&sql::Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = self.prepare(sql, params)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| self.explain(&error))? {
            visit(&sql::Row::sqlite(Row { row, path: self.path }))?;
        }
        Ok(())
    }

    pub(crate) fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<usize, StoreError> {
        self.faults.visit(FaultPoint::Execute, self.path)?;
        self.prepare(sql, params)?.raw_execute().map_err(|error| self.explain(&error))
    }

    pub(crate) fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.faults.visit(FaultPoint::Execute, self.path)?;
        self.batch_unchecked(sql)
    }

    fn batch_unchecked(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(|error| self.explain(&error))
    }

    fn prepare(&self, sql: &str, params: &[Param<'_>]) -> Result<CachedStatement<'_>, StoreError> {
        #[cfg(debug_assertions)]
        crate::tenancy::check(sql, params)?;
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| self.explain(&error))?;
        statement.clear_bindings();
        let count = statement.parameter_count();
        let in_order = count > MANY && count == params.len() && numbers_in_order(sql) == Some(count);
        for index in 1..=count {
            let number = if in_order {
                Some(index)
            } else {
                statement
                    .parameter_name(index)
                    .and_then(|name| name.strip_prefix('$'))
                    .and_then(|number| number.parse::<usize>().ok())
            };
            let Some(param) = number.and_then(|number| params.get(number.wrapping_sub(1))) else {
                return Err(StoreError::Internal(format!("no value for parameter {index} of: {sql}")));
            };
            statement.raw_bind_parameter(index, Bound(param)).map_err(|error| self.explain(&error))?;
        }
        Ok(statement)
    }

    /// An interrupted statement says nothing about why; the control does.
    fn explain(&self, error: &rusqlite::Error) -> StoreError {
        match classify(error, self.path) {
            StoreError::Cancelled => self.control.check().err().unwrap_or(StoreError::Cancelled),
            error => error,
        }
    }
}

/// Parameters from which on their names are not asked for one by one: SQLite looks for each from the start.
const MANY: usize = 32;

/// How many parameters the text has, if they first appear as `$1`, `$2`, ... in this order, so that SQLite numbers
/// them so, too. No text of ours has a `$` within a literal.
fn numbers_in_order(sql: &str) -> Option<usize> {
    let mut last = 0;
    for part in sql.split('$').skip(1) {
        let digits = part.bytes().take_while(u8::is_ascii_digit);
        let number =
            digits.fold(0_usize, |number, digit| number.saturating_mul(10) + usize::from(digit - b'0'));
        match number {
            next if next == last + 1 => last = next,
            known if (1..=last).contains(&known) => {}
            _ => return None,
        }
    }
    Some(last)
}

struct Bound<'p>(&'p Param<'p>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self.0 {
            Param::Null => ValueRef::Null,
            Param::Integer(value) => ValueRef::Integer(value),
            Param::Real(value) => ValueRef::Real(value),
            Param::Text(value) => ValueRef::Text(value.as_bytes()),
            Param::Blob(value) => ValueRef::Blob(value),
        }))
    }
}

/// A row as the driver gives it.
pub(crate) struct Row<'r> {
    row: &'r rusqlite::Row<'r>,
    path: &'r Path,
}

impl Row<'_> {
    pub(crate) fn integer(&self, index: usize) -> Result<i64, StoreError> {
        match self.value(index)? {
            ValueRef::Integer(value) => Ok(value),
            other => Err(self.unexpected(index, "an integer", other)),
        }
    }

    pub(crate) fn real(&self, index: usize) -> Result<f64, StoreError> {
        match self.value(index)? {
            ValueRef::Real(value) => Ok(value),
            other => Err(self.unexpected(index, "a real number", other)),
        }
    }

    pub(crate) fn text(&self, index: usize) -> Result<&str, StoreError> {
        match self.value(index)? {
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).map_err(|_| self.damaged(index, "is not UTF-8"))
            }
            other => Err(self.unexpected(index, "text", other)),
        }
    }

    pub(crate) fn blob(&self, index: usize) -> Result<&[u8], StoreError> {
        match self.value(index)? {
            ValueRef::Blob(bytes) => Ok(bytes),
            other => Err(self.unexpected(index, "bytes", other)),
        }
    }

    pub(crate) fn is_null(&self, index: usize) -> Result<bool, StoreError> {
        self.value(index).map(|value| matches!(value, ValueRef::Null))
    }

    pub(crate) fn out_of_range(&self, index: usize, value: i64) -> StoreError {
        self.damaged(index, &format!("holds {value}, which is out of range"))
    }

    pub(super) fn value(&self, index: usize) -> Result<ValueRef<'_>, StoreError> {
        self.row.get_ref(index).map_err(|error| classify(&error, self.path))
    }

    fn unexpected(&self, index: usize, wanted: &str, found: ValueRef<'_>) -> StoreError {
        self.damaged(index, &format!("should be {wanted} and is {}", found.data_type()))
    }

    fn damaged(&self, index: usize, what: &str) -> StoreError {
        let name = self.row.as_ref().column_name(index).unwrap_or("?").to_owned();
        StoreError::Corrupt { path: self.path.to_path_buf(), detail: format!("column {name} {what}") }
    }
}

#[cfg(test)]
mod tests {
    use super::numbers_in_order;

    #[test]
    fn parameters_are_bound_by_place_only_when_they_stand_in_order() {
        assert_eq!(numbers_in_order("VALUES ($1, $2), ($3, $4)"), Some(4));
        assert_eq!(numbers_in_order("$1 $2 $1 $3"), Some(3));
        assert_eq!(numbers_in_order("$2 $1"), None);
        assert_eq!(numbers_in_order("$1 $3"), None);
        assert_eq!(numbers_in_order("SELECT 1"), Some(0));
    }
}
