//! Files that are indexed where they lie: what was last seen of each.

use strata_core::{error::ParseError, time::Timestamp};

use super::{LedgerRead, LedgerWrite, Seq, filter::Conditions};
use crate::{error::StoreError, params, sql::Row};

/// What the last look found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceState {
    /// It is there.
    Present,
    /// It could not be looked at: a drive not mounted, a permission missing. Not a deletion.
    Unavailable,
    /// It was deleted.
    Gone,
}

impl SourceState {
    const ALL: [Self; 3] = [Self::Present, Self::Unavailable, Self::Gone];

    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Unavailable => "unavailable",
            Self::Gone => "gone",
        }
    }

    /// Parses the stored word.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| ParseError::new("source state", text, "use present, unavailable or gone"))
    }
}

/// What a look at a file found.
#[derive(Debug, Clone)]
pub struct NewSource {
    /// The namespace its passages belong to.
    pub namespace: String,
    /// The project its passages belong to.
    pub project: Option<String>,
    /// The folder it was found under, absolute.
    pub root: String,
    /// The path below the root, with `/`.
    pub path: String,
    /// Bytes.
    pub size: i64,
    /// When it was last changed.
    pub mtime: Timestamp,
    /// BLAKE3 of its bytes.
    pub hash: [u8; 32],
    /// Whether it is there.
    pub state: SourceState,
}

/// A file as last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRow {
    /// Names it within the ledger.
    pub number: i64,
    /// The namespace its passages belong to.
    pub namespace: String,
    /// The project its passages belong to.
    pub project: Option<String>,
    /// The folder it was found under, absolute.
    pub root: String,
    /// The path below the root, with `/`.
    pub path: String,
    /// Bytes.
    pub size: i64,
    /// When it was last changed.
    pub mtime: Timestamp,
    /// BLAKE3 of its bytes.
    pub hash: [u8; 32],
    /// Whether it is there.
    pub state: SourceState,
    /// The change that recorded this.
    pub seq: i64,
}

/// A folder with files of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRoot {
    /// The folder, as its files' rows name it.
    pub root: String,
    /// Files that were ever seen.
    pub known: i64,
    /// Files that are there.
    pub present: i64,
    /// The last change that any of them saw.
    pub last_seq: i64,
}

const COLUMNS: &str = "number, namespace, project, root, path, size, mtime, hash, state, seq";

impl LedgerRead<'_> {
    /// The file with this number.
    pub fn source(&self, number: i64) -> Result<Option<SourceRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM sources WHERE tenant = $1 AND number = $2");
        self.transaction.query_one(&sql, params![self.tenant, number], |row| self.source_from(row))
    }

    /// The files known under a root, by path; with `None`, all files.
    pub fn sources(&self, root: Option<&str>) -> Result<Vec<SourceRow>, StoreError> {
        let mut all = Conditions::new("tenant", self.tenant);
        all.any_of("root", root);
        let sql = format!("SELECT {COLUMNS} FROM sources WHERE {} ORDER BY root, path, number", all.sql);
        self.transaction.query(&sql, &all.params, |row| self.source_from(row))
    }

    /// The files known under a root for one project of a namespace, by path.
    pub fn sources_of(
        &self,
        namespace: &str,
        project: Option<&str>,
        root: &str,
    ) -> Result<Vec<SourceRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM sources
             WHERE tenant = $1 AND namespace = $2 AND project = $3 AND root = $4 ORDER BY path"
        );
        let of = params![self.tenant, namespace, project.unwrap_or(""), root];
        self.transaction.query(&sql, of, |row| self.source_from(row))
    }

    /// The files at these paths under a root for one project of a namespace, by path.
    pub fn sources_at(
        &self,
        (namespace, project): (&str, Option<&str>),
        root: &str,
        paths: &[&str],
    ) -> Result<Vec<SourceRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM sources
             WHERE tenant = $1 AND namespace = $2 AND project = $3 AND root = $4 AND path = $5"
        );
        let mut rows = Vec::new();
        for path in paths {
            let of = params![self.tenant, namespace, project.unwrap_or(""), root, *path];
            rows.extend(self.transaction.query_one(&sql, of, |row| self.source_from(row))?);
        }
        Ok(rows)
    }

    /// The roots of a project of a namespace under which files are there, each with how many and the last change of one.
    pub fn source_roots(
        &self,
        namespace: &str,
        project: Option<&str>,
    ) -> Result<Vec<SourceRoot>, StoreError> {
        self.transaction.query(
            "SELECT root, count(*), sum(CASE WHEN state = 'present' THEN 1 ELSE 0 END), max(seq) FROM sources
             WHERE tenant = $1 AND namespace = $2 AND project = $3 GROUP BY root ORDER BY root",
            params![self.tenant, namespace, project.unwrap_or("")],
            |row| {
                Ok(SourceRoot {
                    root: row.get(0)?,
                    known: row.get(1)?,
                    present: row.get(2)?,
                    last_seq: row.get(3)?,
                })
            },
        )
    }

    fn source_from(&self, row: &Row<'_>) -> Result<SourceRow, StoreError> {
        let project = row.text(2)?;
        Ok(SourceRow {
            number: row.get(0)?,
            namespace: row.get(1)?,
            project: (!project.is_empty()).then(|| project.to_owned()),
            root: row.get(3)?,
            path: row.get(4)?,
            size: row.get(5)?,
            mtime: row.get(6)?,
            hash: self.hash(row.blob(7)?)?,
            state: SourceState::parse(row.text(8)?)?,
            seq: row.get(9)?,
        })
    }
}

impl LedgerWrite<'_> {
    /// Records what a look found and returns the file's number.
    pub fn record_source(&self, new: &NewSource, seq: Seq) -> Result<i64, StoreError> {
        let project = new.project.as_deref().unwrap_or("");
        let known = self.transaction.query_one(
            "UPDATE sources SET size = $6, mtime = $7, hash = $8, state = $9, seq = $10
             WHERE tenant = $1 AND namespace = $2 AND project = $3 AND root = $4 AND path = $5
             RETURNING number",
            params![
                self.tenant,
                &new.namespace,
                project,
                &new.root,
                &new.path,
                new.size,
                new.mtime,
                &new.hash,
                new.state.as_str(),
                self.place(seq)?
            ],
            |row| row.get(0),
        )?;
        match known {
            Some(number) => Ok(number),
            None => self.insert_source(new, seq),
        }
    }

    /// Records only whether the file is there.
    pub fn mark_source(&self, number: i64, state: SourceState, seq: Seq) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE sources SET state = $3, seq = $4 WHERE tenant = $1 AND number = $2",
            params![self.tenant, number, state.as_str(), self.place(seq)?],
        )?;
        Ok(())
    }

    /// Records a new time of change for unchanged bytes, so that the next look is a cheap one.
    /// Nothing follows from it, so it needs no audit row.
    pub fn touch_source(&self, number: i64, mtime: Timestamp) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE sources SET mtime = $3 WHERE tenant = $1 AND number = $2",
            params![self.tenant, number, mtime],
        )?;
        Ok(())
    }

    fn insert_source(&self, new: &NewSource, seq: Seq) -> Result<i64, StoreError> {
        let number = self.next_number("sources", "source")?;
        self.transaction.post(
            "INSERT INTO sources (tenant, number, namespace, project, root, path, size, mtime, hash, state, seq)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            params![
                self.tenant,
                number,
                &new.namespace,
                new.project.as_deref().unwrap_or(""),
                &new.root,
                &new.path,
                new.size,
                new.mtime,
                &new.hash,
                new.state.as_str(),
                self.place(seq)?
            ],
        )?;
        Ok(number)
    }
}
