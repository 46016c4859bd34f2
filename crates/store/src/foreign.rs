//! Reading the SQLite databases of other programs: never a write, never a file made beside them.
//!
//! Nothing is expected of such a file but that it is a database. Tables and columns may be missing, a cell may
//! hold anything: what is found is handed on cell by cell, and the caller judges row by row.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use crate::{
    error::StoreError,
    params,
    retry::Patience,
    sql::{Control, Param, Row, Transaction},
    sqlite::{Foreign, beside},
};

/// The longest text that is read from one cell, in bytes. Longer ones are [`Cell::TooLong`].
pub const LONGEST_TEXT: usize = 4 << 20;

/// What one cell holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing, or the table has no such column.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes that should be text and are not UTF-8.
    NotUtf8,
    /// Bytes, this many.
    Bytes(usize),
    /// Text of this many bytes, which is more than [`LONGEST_TEXT`].
    TooLong(usize),
}

/// One row: the cells of the wanted columns, in their order.
#[derive(Debug, Clone)]
pub struct ForeignRow {
    /// Its place in its table, from 1, in the order of its ids.
    pub place: i64,
    /// Its cells.
    pub cells: Vec<Cell>,
}

/// What a file and its log look like from outside. Equal stamps mean that nothing was written between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForeignStamp {
    /// Device and inode; zeros where the system has none.
    pub identity: (u64, u64),
    /// Length in bytes and modification time in nanoseconds, of the file and of its log.
    pub sizes: [(u64, u128); 2],
}

impl ForeignStamp {
    /// The stamp now; `None` when there is no such file.
    pub fn of(path: &Path) -> Option<Self> {
        let main = fs::metadata(path).ok()?;
        let log = fs::metadata(beside(path, "-wal")).ok();
        Some(Self { identity: identity(&main), sizes: [size(&main), log.as_ref().map_or((0, 0), size)] })
    }

    /// Whether both are of the same file, changed or not.
    pub fn same_file(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_metadata: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}

fn size(metadata: &fs::Metadata) -> (u64, u128) {
    let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), modified.map_or(0, |since| since.as_nanos()))
}

/// Runs `job` on one snapshot of the database at `path`, which stays as it is, its log included.
///
/// A job runs again when the file was locked, or changed under it in a way that a reader who may not leave
/// traces cannot be kept safe from.
///
/// # Errors
/// `Io` when the file cannot be read, `Corrupt` when it is no database or a damaged one, `Busy` when its
/// owner held it for longer than the caller's patience.
pub fn read<T>(
    path: &Path,
    control: &Control,
    mut job: impl FnMut(&ForeignReader<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut patience = Patience::new(control);
    loop {
        let before = ForeignStamp::of(path);
        let outcome = attempt(path, control, &mut job);
        let moved = ForeignStamp::of(path) != before;
        match outcome {
            Ok((value, is_safe)) if is_safe || !moved => return Ok(value),
            Ok(_) => {}
            Err(error) if error.is_busy() || (moved && !matches!(error, StoreError::Cancelled)) => {}
            Err(error) => return Err(error),
        }
        patience.wait()?;
    }
}

/// One try, and whether the database's own locks kept the snapshot whole.
fn attempt<T>(
    path: &Path,
    control: &Control,
    job: &mut impl FnMut(&ForeignReader<'_>) -> Result<T, StoreError>,
) -> Result<(T, bool), StoreError> {
    let mut foreign = Foreign::open(path)?;
    let is_safe = foreign.is_locked_by_its_own_rules();
    let value = foreign.snapshot(control, |transaction| {
        let tables = tables(transaction)?;
        job(&ForeignReader { transaction, tables, path: path.to_path_buf() })
    })?;
    Ok((value, is_safe))
}

/// A snapshot of somebody else's database.
pub struct ForeignReader<'t> {
    transaction: &'t Transaction<'t>,
    tables: BTreeMap<String, Vec<String>>,
    path: PathBuf,
}

impl ForeignReader<'_> {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its tables with their columns.
    pub fn tables(&self) -> &BTreeMap<String, Vec<String>> {
        &self.tables
    }

    /// Whether there is such a table.
    pub fn has(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    /// How many rows a table has; none when it is missing.
    pub fn count(&self, table: &str) -> Result<u64, StoreError> {
        if !self.has(table) {
            return Ok(0);
        }
        let sql = format!("SELECT count(*) FROM {}", quoted(table));
        Ok(self.transaction.query_one(&sql, &[], |row| row.get::<u64>(0))?.unwrap_or(0))
    }

    /// Every row of a small table, as [`ForeignReader::for_each`] hands them out.
    pub fn rows(
        &self,
        table: &str,
        wanted: &[&str],
        after: Option<i64>,
    ) -> Result<Vec<ForeignRow>, StoreError> {
        let mut rows = Vec::new();
        self.for_each(table, wanted, after, |row| {
            rows.push(row.clone());
            Ok(())
        })?;
        Ok(rows)
    }

    /// Hands out one row of a table after another, by id where it has one: the cells of `wanted`. A missing table
    /// has no rows, a missing column no values. With `after`, only rows whose id is a higher number.
    pub fn for_each(
        &self,
        table: &str,
        wanted: &[&str],
        after: Option<i64>,
        mut visit: impl FnMut(&ForeignRow) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Some(columns) = self.tables.get(table) else { return Ok(()) };
        let has = |name: &str| columns.iter().any(|c| c == name);
        let list: Vec<String> =
            wanted.iter().map(|name| if has(name) { quoted(name) } else { "NULL".to_owned() }).collect();
        let mut sql = format!("SELECT {} FROM {}", list.join(", "), quoted(table));
        let mut values: Vec<Param<'_>> = Vec::new();
        if has("id") {
            if let Some(after) = after {
                sql.push_str(" WHERE typeof(\"id\") = 'integer' AND \"id\" > $1");
                values.push(after.into());
            }
            sql.push_str(" ORDER BY \"id\"");
        }
        let mut place = 0;
        self.transaction.for_each(&sql, &values, |row| {
            place += 1;
            let cells = (0..wanted.len()).map(|index| row.cell(index)).collect::<Result<_, _>>()?;
            visit(&ForeignRow { place, cells })
        })
    }
}

/// The ordinary tables and their columns. Views and virtual tables are code of somebody else's; they are not run.
fn tables(transaction: &Transaction<'_>) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
    let names = transaction.query(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
        &[],
        text,
    )?;
    let mut tables = BTreeMap::new();
    for name in names {
        let columns =
            transaction.query("SELECT name FROM pragma_table_info($1)", params![name.as_str()], text)?;
        tables.insert(name, columns);
    }
    Ok(tables)
}

fn text(row: &Row<'_>) -> Result<String, StoreError> {
    row.get(0)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
