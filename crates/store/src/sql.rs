//! The seam between Strata's queries and a database: parameters, rows, transactions, and the handle
//! that runs jobs inside them. Query text uses `$1`, `$2`, ...

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use strata_core::{cancel::Cancel, time::Timestamp};

use crate::{
    error::StoreError,
    faults::FaultPlan,
    migrate::{Applied, Schema},
    sqlite,
};

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
pub struct Row<'r>(pub(crate) sqlite::Row<'r>);

impl Row<'_> {
    /// Column `index` (from 0) as `T`.
    pub fn get<T: FromColumn>(&self, index: usize) -> Result<T, StoreError> {
        T::from_column(self, index)
    }

    /// The bytes of a blob column, without a copy.
    pub fn blob(&self, index: usize) -> Result<&[u8], StoreError> {
        self.0.blob(index)
    }

    /// What a column holds, whatever it is: for databases of other programs.
    pub(crate) fn cell(&self, index: usize) -> Result<crate::foreign::Cell, StoreError> {
        self.0.cell(index)
    }

    /// The text of a column, without a copy.
    pub fn text(&self, index: usize) -> Result<&str, StoreError> {
        self.0.text(index)
    }
}

impl FromColumn for i64 {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.0.integer(index)
    }
}

impl FromColumn for f64 {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.0.real(index)
    }
}

impl FromColumn for bool {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.0.integer(index).map(|value| value != 0)
    }
}

impl FromColumn for String {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.0.text(index).map(str::to_owned)
    }
}

impl FromColumn for Vec<u8> {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.0.blob(index).map(<[u8]>::to_vec)
    }
}

impl FromColumn for Timestamp {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        row.0.integer(index).map(Self)
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
        if row.0.is_null(index)? { Ok(None) } else { T::from_column(row, index).map(Some) }
    }
}

macro_rules! narrow_columns {
    ($($narrow:ty),+) => {
        $(impl FromColumn for $narrow {
            fn from_column(row: &Row<'_>, index: usize) -> Result<Self, StoreError> {
                let value = row.0.integer(index)?;
                Self::try_from(value).map_err(|_| row.0.out_of_range(index, value))
            }
        })+
    };
}

narrow_columns!(u8, u32, u64, usize);

/// Statements inside one transaction. Everything seen through it is one snapshot.
pub struct Transaction<'t>(pub(crate) sqlite::Session<'t>);

impl Transaction<'_> {
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
        self.0.query_one(sql, params, map)
    }

    /// Streams the rows of a query to `visit`, which ends the query by returning an error.
    pub fn for_each(
        &self,
        sql: &str,
        params: &[Param<'_>],
        visit: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.0.for_each(sql, params, visit)
    }

    /// Runs a statement and returns the number of rows it changed.
    pub fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<usize, StoreError> {
        self.0.execute(sql, params)
    }

    /// The database file, for messages.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs several statements without parameters: schema changes.
    pub fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.0.batch(sql)
    }
}

/// When a database file comes into being.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// Only by [`Database::create`]; a write before that is [`StoreError::NotInitialized`].
    OnRequest,
    /// By the first write.
    OnFirstWrite,
}

/// How a database is opened.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// The database file.
    pub path: PathBuf,
    /// What is in it.
    pub schema: Schema,
    /// When the file comes into being.
    pub creation: Creation,
    /// Scripted failures; [`FaultPlan::none`] outside tests.
    pub faults: FaultPlan,
}

/// Whether a database can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Nothing is stored there yet.
    Absent,
    /// It can be read and written.
    ReadWrite,
    /// It can only be read, for this reason.
    ReadOnly(String),
}

/// A handle to one database; clones share its connections. Making one touches nothing: the file is
/// opened by the first job.
#[derive(Clone)]
pub struct Database(sqlite::Store);

impl Database {
    /// A handle to the database described by `options`.
    pub fn new(options: DatabaseOptions) -> Self {
        Self(sqlite::Store::new(options))
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Whether the database exists. It appears whole: schema, and the rows it was created with.
    pub fn exists(&self) -> bool {
        self.0.exists()
    }

    /// Makes the database if it is missing and brings its schema up to date.
    pub fn create(&self, control: &Control) -> Result<(), StoreError> {
        self.0.create(control, &|_| Ok(())).map(drop)
    }

    /// Makes the database if it is missing, with what `seed` writes. Many processes may do so at
    /// once; the first one's seed counts. Returns whether this call made it.
    pub fn create_with(
        &self,
        control: &Control,
        seed: &dyn Fn(&Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        self.0.create(control, seed)
    }

    /// Opens the database and says what can be done with it.
    pub fn access(&self, control: &Control) -> Result<Access, StoreError> {
        self.0.access(control)
    }

    /// The migrations that were applied, oldest first.
    pub fn applied(&self, control: &Control) -> Result<Vec<Applied>, StoreError> {
        self.read(control, crate::migrate::applied)
    }

    /// Runs `job` inside one write transaction and commits it.
    ///
    /// The write lock is taken first. While others hold it the job waits, up to the patience of
    /// `control`. An error rolls everything back. A job may be run again if the database was busy
    /// half-way, so it must not keep effects outside the transaction from a failed run.
    pub fn write<T>(
        &self,
        control: &Control,
        job: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.0.write(control, job)
    }

    /// Runs `job` against one snapshot on a read-only connection.
    pub fn read<T>(
        &self,
        control: &Control,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.0.read(control, job)
    }

    /// A number that changes whenever any process has committed to the database.
    /// Comparable only between calls on handles that share connections.
    pub fn data_version(&self, control: &Control) -> Result<i64, StoreError> {
        self.0.data_version(control)
    }

    /// Moves the write-ahead log into the database and empties it.
    pub fn checkpoint(&self, control: &Control) -> Result<(), StoreError> {
        self.0.checkpoint(control)
    }

    /// Rewrites the file without free space and empties the log, so that no deleted byte remains.
    pub fn compact(&self, control: &Control) -> Result<(), StoreError> {
        self.0.compact(control)
    }

    /// Checks the file's structure and returns what is wrong, nothing if all is well.
    /// The quick form skips the comparison of indexes with their tables.
    pub fn check(&self, control: &Control, quick: bool) -> Result<Vec<String>, StoreError> {
        self.0.check(control, quick)
    }

    /// Copies a consistent state into the new file `target`, which must not exist.
    pub fn copy_to(&self, control: &Control, target: &Path) -> Result<(), StoreError> {
        self.0.copy_to(control, target)
    }

    /// Replaces everything in the database by what the database file `source` holds, in one
    /// transaction; the database is made if it is missing. Open handles of every process see it.
    pub fn restore_from(&self, control: &Control, source: &Path) -> Result<(), StoreError> {
        self.0.restore_from(control, source)
    }

    /// Closes the idle connections; the next job opens the file anew.
    pub fn close(&self) {
        self.0.close();
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Database").field(&self.path()).finish()
    }
}
