//! The seam between Strata's queries and a database: parameters, rows, transactions, and the handle
//! that runs jobs inside them. Query text uses `$1`, `$2`, ...

use std::{
    path::Path,
    time::{Duration, Instant},
};

use strata_core::{cancel::Cancel, time::Timestamp};

pub use crate::database::{Access, Creation, Database, DatabaseOptions, Isolation};
use crate::{error::StoreError, postgres, sqlite};

/// How long a job may wait and what may end it early.
#[derive(Debug, Clone)]
pub struct Control {
    /// The caller's flag; raising it interrupts the statement in flight.
    pub cancel: Cancel,
    /// How long to wait for the write lock or a connection before [`StoreError::Busy`].
    pub patience: Duration,
    /// When to give up altogether, also in the middle of a statement.
    pub deadline: Option<Instant>,
}

impl Default for Control {
    fn default() -> Self {
        Self { cancel: Cancel::default(), patience: Duration::from_secs(10), deadline: None }
    }
}

impl Control {
    /// The default patience (10 s), under the caller's flag.
    pub fn with_cancel(cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..Self::default() }
    }

    /// The same, giving up `remaining` from now.
    pub fn ending_in(mut self, remaining: Duration) -> Self {
        self.deadline = Instant::now().checked_add(remaining);
        self
    }

    /// The same for who has been waiting since `started`, and does not begin anew.
    #[must_use]
    pub(crate) fn since(&self, started: Instant) -> Self {
        Self { patience: self.patience.saturating_sub(started.elapsed()), ..self.clone() }
    }

    /// How long a single wait may take: no longer than the patience, nor beyond the deadline. At least a millisecond.
    pub(crate) fn longest_wait(&self) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(self.patience, |left| left.min(self.patience)).max(Duration::from_millis(1))
    }

    /// Fails once the call was withdrawn or its deadline has passed.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.cancel.is_cancelled() {
            return Err(StoreError::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(StoreError::Deadline),
            _ => Ok(()),
        }
    }
}

/// A value bound to a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Param<'a> {
    /// SQL NULL.
    Null,
    /// A 64-bit integer; booleans are 0 and 1.
    Integer(i64),
    /// A double.
    Real(f64),
    /// UTF-8 text.
    Text(&'a str),
    /// Bytes.
    Blob(&'a [u8]),
}

macro_rules! params_from {
    ($($from:ty => |$value:ident| $param:expr),+ $(,)?) => {
        $(impl<'a> From<$from> for Param<'a> {
            fn from($value: $from) -> Self {
                $param
            }
        })+
    };
}

params_from! {
    i64 => |value| Self::Integer(value),
    i32 => |value| Self::Integer(value.into()),
    u32 => |value| Self::Integer(value.into()),
    bool => |value| Self::Integer(value.into()),
    f64 => |value| Self::Real(value),
    Timestamp => |value| Self::Integer(value.0),
    &'a str => |value| Self::Text(value),
    &'a String => |value| Self::Text(value),
    &'a [u8] => |value| Self::Blob(value),
    &'a Vec<u8> => |value| Self::Blob(value),
}

impl<'a, const N: usize> From<&'a [u8; N]> for Param<'a> {
    fn from(value: &'a [u8; N]) -> Self {
        Self::Blob(value)
    }
}

impl<'a, T: Into<Self>> From<Option<T>> for Param<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Builds the parameter list of a statement: `params![id, "word", None::<i64>]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::sql::Param::from($value)),*] as &[$crate::sql::Param<'_>] };
}

/// A type a column can be read as. A value of another type is an error, never a guess.
pub trait FromColumn: Sized {
    /// Reads column `index` (from 0) of `row`.
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError>;
}

/// One row of a result, valid until the next is fetched.
pub struct Row<'r>(AnyRow<'r>);

enum AnyRow<'r> {
    Sqlite(sqlite::Row<'r>),
    Postgres(postgres::Row<'r>),
}

/// Hands a call on to whichever driver it is.
macro_rules! either {
    ($of:ident, $any:expr, $inner:ident => $call:expr) => {
        match &$any {
            $of::Sqlite($inner) => $call,
            $of::Postgres($inner) => $call,
        }
    };
}

impl<'r> Row<'r> {
    pub(crate) const fn sqlite(row: sqlite::Row<'r>) -> Self {
        Self(AnyRow::Sqlite(row))
    }

    pub(crate) const fn postgres(row: postgres::Row<'r>) -> Self {
        Self(AnyRow::Postgres(row))
    }

    fn integer(&self, index: usize) -> Result<i64, StoreError> {
        either!(AnyRow, self.0, row => row.integer(index))
    }

    fn real(&self, index: usize) -> Result<f64, StoreError> {
        either!(AnyRow, self.0, row => row.real(index))
    }

    fn is_null(&self, index: usize) -> Result<bool, StoreError> {
        either!(AnyRow, self.0, row => row.is_null(index))
    }

    fn out_of_range(&self, index: usize, value: i64) -> StoreError {
        either!(AnyRow, self.0, row => row.out_of_range(index, value))
    }

    /// Column `index` (from 0) as `T`.
    pub fn get<T: FromColumn>(&self, index: usize) -> Result<T, StoreError> {
        T::from_column(self, index)
    }

    /// The bytes of a blob column, without a copy.
    pub fn blob(&self, index: usize) -> Result<&[u8], StoreError> {
        either!(AnyRow, self.0, row => row.blob(index))
    }

    /// What a column holds, whatever it is: for databases of other programs.
    pub(crate) fn cell(&self, index: usize) -> Result<crate::foreign::Cell, StoreError> {
        match &self.0 {
            AnyRow::Sqlite(row) => row.cell(index),
            AnyRow::Postgres(_) => Err(StoreError::Internal("databases of other programs are files".into())),
        }
    }

    /// The text of a column, without a copy.
    pub fn text(&self, index: usize) -> Result<&str, StoreError> {
        either!(AnyRow, self.0, row => row.text(index))
    }
}

impl FromColumn for i64 {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.integer(index)
    }
}

impl FromColumn for f64 {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.real(index)
    }
}

impl FromColumn for bool {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.integer(index).map(|value| value != 0)
    }
}

impl FromColumn for String {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.text(index).map(str::to_owned)
    }
}

impl FromColumn for Vec<u8> {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.blob(index).map(<[u8]>::to_vec)
    }
}

impl FromColumn for Timestamp {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.integer(index).map(Self)
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        if row.is_null(index)? { Ok(None) } else { T::from_column(row, index).map(Some) }
    }
}

macro_rules! narrow_columns {
    ($($narrow:ty),+) => {
        $(impl FromColumn for $narrow {
            fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
                let value = row.integer(index)?;
                Self::try_from(value).map_err(|_| row.out_of_range(index, value))
            }
        })+
    };
}

narrow_columns!(u8, u32, u64, usize);

/// Statements inside one transaction. Everything seen through it is one snapshot.
pub struct Transaction<'t>(AnySession<'t>);

enum AnySession<'t> {
    Sqlite(&'t sqlite::Session<'t>),
    Postgres(&'t postgres::Session<'t>),
}

impl<'t> Transaction<'t> {
    pub(crate) const fn sqlite(session: &'t sqlite::Session<'t>) -> Self {
        Self(AnySession::Sqlite(session))
    }

    pub(crate) const fn postgres(session: &'t postgres::Session<'t>) -> Self {
        Self(AnySession::Postgres(session))
    }

    /// Runs a query and maps every row.
    pub fn query<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.for_each(sql, params, |row| {
            rows.push(map(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Runs a query of at most one row; further rows are not fetched.
    pub fn query_one<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        map: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        refuse_zero(params)?;
        either!(AnySession, self.0, session => session.query_one(sql, params, map))
    }

    /// Streams the rows of a query to `visit`, which ends the query by returning an error.
    pub fn for_each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        refuse_zero(params)?;
        either!(AnySession, self.0, session => session.for_each(sql, params, visit))
    }

    /// Runs a statement and returns the number of rows it changed.
    pub fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<usize, StoreError> {
        refuse_zero(params)?;
        either!(AnySession, self.0, session => session.execute(sql, params))
    }

    /// Runs a statement whose count of rows nobody needs, at the latest before the next that is waited for. On a
    /// server it goes out together with that one, which then reports its failure.
    pub fn post(&self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
        refuse_zero(params)?;
        match self.0 {
            AnySession::Sqlite(session) => session.execute(sql, params).map(drop),
            AnySession::Postgres(session) => session.post(sql, params),
        }
    }

    /// The database file, or the server without any password: for messages.
    pub fn path(&self) -> &Path {
        either!(AnySession, self.0, session => session.path())
    }

    /// Keeps the transaction, and its locks, through a pause that is longer than a client may usually make.
    pub(crate) fn may_pause(&self) -> Result<(), StoreError> {
        match self.0 {
            AnySession::Sqlite(_) => Ok(()),
            AnySession::Postgres(session) => {
                session.batch("SET LOCAL idle_in_transaction_session_timeout = 0")
            }
        }
    }

    /// Runs several statements without parameters: schema changes.
    pub fn batch(&self, sql: &str) -> Result<(), StoreError> {
        either!(AnySession, self.0, session => session.batch(sql))
    }
}

/// PostgreSQL's text has no place for this one character, so no store takes it: what one keeps the other can, too.
fn refuse_zero(params: &[Param<'_>]) -> Result<(), StoreError> {
    let holds = |param: &Param<'_>| matches!(param, Param::Text(text) if text.as_bytes().contains(&0));
    if params.iter().any(holds) {
        return Err(StoreError::Invalid("a text holds the character U+0000, which no store keeps".into()));
    }
    Ok(())
}
