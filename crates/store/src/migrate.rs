//! Forward-only, checksummed schema migrations, and what a binary may do with a schema it meets.
//!
//! Each migration states the oldest schema version a binary must know to read, and to write, a
//! database that carries it. So an additive migration leaves sessions of an older binary at work,
//! and a breaking one stops them with [`StoreError::Newer`].

use strata_core::time::Timestamp;

use crate::{
    error::StoreError,
    params,
    sql::{Row, Transaction},
};

/// One step of a schema. Never edited once released.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// 1, 2, 3, ...
    pub version: i64,
    /// A short name for messages.
    pub name: &'static str,
    /// The statements.
    pub sql: &'static str,
    /// The oldest schema version whose binary can still read.
    pub min_reader: i64,
    /// The oldest schema version whose binary can still write.
    pub min_writer: i64,
}

impl Migration {
    /// BLAKE3 of the exact text, in hexadecimal.
    pub fn checksum(&self) -> String {
        blake3::hash(self.sql.as_bytes()).to_hex().to_string()
    }
}

/// How much a commit outlives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A commit survives power loss.
    Full,
    /// A commit survives the process; power loss may take the last ones, and never the file.
    Normal,
}

/// What a database holds.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// `ledger` or `index`.
    pub name: &'static str,
    /// Marks the file as ours (`application_id`).
    pub application_id: i32,
    /// How much a commit outlives.
    pub durability: Durability,
    /// Every migration, in order of version.
    pub migrations: &'static [Migration],
}

impl Schema {
    /// The newest version this binary knows.
    pub fn latest(&self) -> i64 {
        self.migrations.last().map_or(0, |migration| migration.version)
    }
}

/// A migration as the database remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Its version.
    pub version: i64,
    /// Its name.
    pub name: String,
    /// BLAKE3 of its text when it was applied.
    pub checksum: String,
    /// When, by the database's clock.
    pub applied_at: Timestamp,
    min_reader: i64,
    min_writer: i64,
}

/// What a binary may do with a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Migrations are missing.
    Behind,
    /// Read and write.
    Current,
    /// Read only: a newer binary has changed what a write must keep. Carries the version found.
    ReadableOnly(i64),
}

/// Where migrations are recorded. Part of no migration, since it must exist before the first.
pub(crate) const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL,
    min_reader INTEGER NOT NULL,
    min_writer INTEGER NOT NULL
)";

/// The migrations recorded in the database, oldest first.
pub(crate) fn applied(transaction: &Transaction<'_>) -> Result<Vec<Applied>, StoreError> {
    transaction.query(
        "SELECT version, name, checksum, applied_at, min_reader, min_writer FROM schema_migrations ORDER BY version",
        &[],
        applied_from,
    )
}

fn applied_from(row: &Row<'_>) -> Result<Applied, StoreError> {
    Ok(Applied {
        version: row.get(0)?,
        name: row.get(1)?,
        checksum: row.get(2)?,
        applied_at: row.get(3)?,
        min_reader: row.get(4)?,
        min_writer: row.get(5)?,
    })
}

/// Compares what was applied with what `schema` knows.
pub(crate) fn standing(schema: &Schema, applied: &[Applied]) -> Result<Standing, StoreError> {
    let known = schema.latest();
    let found = applied.last().map_or(0, |last| last.version);
    if applied.iter().any(|a| a.min_reader > known) {
        return Err(StoreError::Newer { schema: schema.name, found, known, action: "read" });
    }
    for record in applied {
        let Some(migration) = schema.migrations.iter().find(|m| m.version == record.version) else {
            continue;
        };
        if migration.checksum() != record.checksum {
            return Err(StoreError::MigrationChanged {
                schema: schema.name,
                version: record.version,
                name: record.name.clone(),
            });
        }
    }
    if applied.iter().any(|a| a.min_writer > known) {
        return Ok(Standing::ReadableOnly(found));
    }
    Ok(if found < known { Standing::Behind } else { Standing::Current })
}

/// The oldest migration of `schema` that is not applied yet.
pub(crate) fn next<'s>(schema: &'s Schema, applied: &[Applied]) -> Option<&'s Migration> {
    let found = applied.last().map_or(0, |last| last.version);
    schema.migrations.iter().find(|m| m.version > found)
}

/// Applies one migration inside the caller's transaction, `sql` being its text in the database's own words. `now` is an SQL expression for the
/// database's own clock in microseconds.
pub(crate) fn apply(
    transaction: &Transaction<'_>,
    migration: &Migration,
    sql: &str,
    now: &str,
) -> Result<(), StoreError> {
    transaction.batch(sql)?;
    transaction.execute(
        &format!("INSERT INTO schema_migrations VALUES ($1, $2, $3, {now}, $4, $5)"),
        params![
            migration.version,
            migration.name,
            &migration.checksum(),
            migration.min_reader,
            migration.min_writer
        ],
    )?;
    Ok(())
}
