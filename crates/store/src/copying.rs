//! Copies of one tenant's rows between databases of the same schema: from a server into a file, and back.
//!
//! A file has one tenant, so a row changes its tenant on the way and nothing else. Which tables and columns there
//! are is read from the file's side, which knows its declared types.

use std::path::Path;

use crate::{
    database::{Creation, Database, DatabaseOptions},
    error::{Conflict, StoreError},
    faults::FaultPlan,
    files::explain_io,
    migrate::Schema,
    params,
    place::Place,
    sql::{Control, Param, Row, Transaction},
};

/// Rows held in memory at a time.
const ROWS: usize = 1_000;
/// A statement takes no more than 65 535 parameters on a server; fewer rows than this gain nothing.
const PARAMETERS: usize = 8_000;

/// Copies what `source` holds into the new database file `target`: one snapshot, one file.
pub(crate) fn to_file(
    source: &Database,
    schema: Schema,
    control: &Control,
    target: &Path,
) -> Result<(), StoreError> {
    let beside = target.parent().unwrap_or_else(|| Path::new("."));
    let workshop = tempfile::Builder::new()
        .prefix(".copying-")
        .tempdir_in(beside)
        .map_err(|error| explain_io("create", beside, &error))?;
    let copy = file(&workshop.path().join("copy.db"), schema);
    copy.create(control)?;
    source.read(control, |from| {
        copy.write(control, |to| {
            let tables = tables(to)?;
            tables.iter().try_for_each(|table| {
                let copying = Copying { from: (from, source.tenant()), to: (to, copy.tenant()), control };
                copying.table(table, 1)
            })
        })
    })?;
    copy.copy_to(control, target)?;
    copy.close();
    Ok(())
}

/// What becomes of rows that are in the way of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Present {
    /// They are replaced.
    Replaced,
    /// The copy is refused.
    Kept,
}

/// Puts the rows of the database file `source` into `target` as the tenant's, in one transaction.
pub(crate) fn from_file(
    target: &Database,
    schema: Schema,
    control: &Control,
    source: &Path,
    present: Present,
) -> Result<(), StoreError> {
    target.create(control)?;
    let source = file(source, schema);
    source.read(control, |from| {
        let tables = tables(from)?;
        target.write(control, |to| {
            for table in &tables {
                let emptied = format!("DELETE FROM {} WHERE tenant = $1", table.name);
                let removed = to.execute(&emptied, params![target.tenant()])?;
                if removed > 0 && present == Present::Kept {
                    return Err(occupied(target));
                }
                let at_once = (PARAMETERS / table.columns.len().max(1)).clamp(1, ROWS);
                let copying = Copying { from: (from, source.tenant()), to: (to, target.tenant()), control };
                copying.table(table, at_once)?;
            }
            Ok(())
        })
    })?;
    source.close();
    Ok(())
}

/// The refusal to copy to where something is.
pub(crate) fn occupied(target: &Database) -> StoreError {
    Conflict::Occupied { place: target.place().to_string(), tenant: target.tenant().to_owned() }.into()
}

/// What one table holds of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    /// The table.
    pub table: String,
    /// Its rows.
    pub rows: u64,
    /// BLAKE3 over all values but the tenant's name, in the order of the key: the same on every database.
    pub hash: [u8; 32],
}

/// Digests every table of `database` in one snapshot. `layout` is a file of the same schema.
pub(crate) fn digests(
    database: &Database,
    layout: &Database,
    control: &Control,
) -> Result<Vec<TableDigest>, StoreError> {
    let tables = layout.read(control, tables)?;
    database.read(control, |from| {
        tables.iter().map(|table| table.digest((from, database.tenant()), control)).collect()
    })
}

fn file(path: &Path, schema: Schema) -> Database {
    Database::new(DatabaseOptions {
        place: Place::File(path.to_path_buf()),
        schema,
        creation: Creation::OnRequest,
        faults: FaultPlan::none(),
    })
}

/// A table whose rows belong to tenants.
struct Table {
    name: String,
    columns: Vec<Column>,
    /// Places in `columns` of what the rows are ordered by, the tenant left out.
    key: Vec<usize>,
}

struct Column {
    name: String,
    kind: Kind,
}

impl Table {
    /// The rows behind `last`, in the order of the key.
    fn next(
        &self,
        (from, tenant): (&Transaction<'_>, &str),
        last: Option<&[Value]>,
    ) -> Result<Vec<Vec<Value>>, StoreError> {
        let names = |places: &[usize]| {
            places.iter().map(|place| self.columns[*place].name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let mut sql = format!("SELECT {} FROM {} WHERE tenant = $1", names(&all), self.name);
        let mut bound = params![tenant].to_vec();
        if let Some(last) = last {
            let numbers: Vec<_> = (2..self.key.len() + 2).map(|number| format!("${number}")).collect();
            sql.push_str(&format!(" AND ({}) > ({})", names(&self.key), numbers.join(", ")));
            bound.extend(self.key.iter().map(|place| last[*place].bound()));
        }
        if !self.key.is_empty() {
            sql.push_str(&format!(" ORDER BY {} LIMIT {ROWS}", names(&self.key)));
        }
        from.query(&sql, &bound, |row| {
            let columns = self.columns.iter().enumerate();
            columns.map(|(index, column)| Value::read(row, index, column.kind)).collect()
        })
    }

    fn digest(&self, from: (&Transaction<'_>, &str), control: &Control) -> Result<TableDigest, StoreError> {
        let mut hasher = blake3::Hasher::new();
        let mut count = 0;
        let mut last: Option<Vec<Value>> = None;
        loop {
            control.check()?;
            let rows = self.next(from, last.as_deref())?;
            count += rows.len() as u64;
            for row in &rows {
                let values = self.columns.iter().zip(row).filter(|(column, _)| column.name != "tenant");
                values.for_each(|(_, value)| value.add_to(&mut hasher));
            }
            match rows.into_iter().last() {
                Some(row) if !self.key.is_empty() => last = Some(row),
                _ => break,
            }
        }
        Ok(TableDigest { table: self.name.clone(), rows: count, hash: *hasher.finalize().as_bytes() })
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Integer,
    Real,
    Text,
    Blob,
}

#[derive(Clone)]
enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Value {
    fn read(row: &Row<'_>, index: usize, kind: Kind) -> Result<Self, StoreError> {
        let value = match kind {
            Kind::Integer => row.get::<Option<i64>>(index)?.map(Self::Integer),
            Kind::Real => row.get::<Option<f64>>(index)?.map(Self::Real),
            Kind::Text => row.get::<Option<String>>(index)?.map(Self::Text),
            Kind::Blob => row.get::<Option<Vec<u8>>>(index)?.map(Self::Blob),
        };
        Ok(value.unwrap_or(Self::Null))
    }

    /// Adds the value to a digest, preceded by its kind and length so that no two rows are alike.
    fn add_to(&self, hasher: &mut blake3::Hasher) {
        let mut add = |kind: u8, bytes: &[u8]| {
            hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        };
        match self {
            Self::Null => add(0, &[]),
            Self::Integer(value) => add(1, &value.to_le_bytes()),
            Self::Real(value) => add(2, &value.to_bits().to_le_bytes()),
            Self::Text(value) => add(3, value.as_bytes()),
            Self::Blob(value) => add(4, value),
        }
    }

    fn bound(&self) -> Param<'_> {
        match self {
            Self::Null => Param::Null,
            Self::Integer(value) => Param::Integer(*value),
            Self::Real(value) => Param::Real(*value),
            Self::Text(value) => Param::Text(value),
            Self::Blob(value) => Param::Blob(value),
        }
    }
}

/// The tables as the file declares them.
fn tables(file: &Transaction<'_>) -> Result<Vec<Table>, StoreError> {
    let names = file.query(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_migrations' ORDER BY name",
        &[],
        |row| row.get::<String>(0),
    )?;
    names.into_iter().map(|name| table(file, name)).collect()
}

fn table(file: &Transaction<'_>, name: String) -> Result<Table, StoreError> {
    let described = file.query(
        "SELECT name, type, pk FROM pragma_table_info($1) ORDER BY cid",
        params![name.as_str()],
        |row| {
            let kind = match row.text(1)? {
                "INTEGER" | "BIGINT" => Kind::Integer,
                "REAL" => Kind::Real,
                "TEXT" => Kind::Text,
                "BLOB" => Kind::Blob,
                other => return Err(StoreError::Internal(format!("columns of type {other} are not copied"))),
            };
            Ok((Column { name: row.get(0)?, kind }, row.get::<usize>(2)?))
        },
    )?;
    let mut key: Vec<(usize, usize)> = described
        .iter()
        .enumerate()
        .filter(|(_, (column, place))| *place > 0 && column.name != "tenant")
        .map(|(index, (_, place))| (*place, index))
        .collect();
    key.sort_unstable();
    let columns = described.into_iter().map(|(column, _)| column).collect();
    Ok(Table { name, columns, key: key.into_iter().map(|(_, index)| index).collect() })
}

/// Two sides, each with the name of its tenant.
struct Copying<'c> {
    from: (&'c Transaction<'c>, &'c str),
    to: (&'c Transaction<'c>, &'c str),
    control: &'c Control,
}

impl Copying<'_> {
    /// Copies one table, `at_once` rows in one statement.
    fn table(&self, table: &Table, at_once: usize) -> Result<(), StoreError> {
        let mut last: Option<Vec<Value>> = None;
        loop {
            self.control.check()?;
            let rows = table.next(self.from, last.as_deref())?;
            for some in rows.chunks(at_once) {
                self.insert(table, some)?;
            }
            match rows.into_iter().last() {
                // A table without a key beside the tenant has one row.
                Some(row) if !table.key.is_empty() => last = Some(row),
                _ => return Ok(()),
            }
        }
    }

    fn insert(&self, table: &Table, rows: &[Vec<Value>]) -> Result<(), StoreError> {
        let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let mut number = 0;
        let places = |_: &Vec<Value>| {
            let row: Vec<_> = names
                .iter()
                .map(|_| {
                    number += 1;
                    format!("${number}")
                })
                .collect();
            format!("({})", row.join(", "))
        };
        let values = rows.iter().map(places).collect::<Vec<_>>().join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES {values}", table.name, names.join(", "));
        let (to, tenant) = self.to;
        let bound: Vec<Param<'_>> = rows
            .iter()
            .flat_map(|row| names.iter().zip(row))
            .map(|(name, value)| if *name == "tenant" { Param::Text(tenant) } else { value.bound() })
            .collect();
        to.execute(&sql, &bound)?;
        Ok(())
    }
}
