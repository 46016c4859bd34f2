//! Which knowledge was looked for and read. Statistics: not audited, kept for a while, and no part of ranking.

use strata_core::{error::ParseError, time::Timestamp};

use super::{LedgerRead, LedgerWrite};
use crate::{
    error::StoreError,
    params,
    rows::Rows,
    sql::{Param, Row},
};

/// How a file of knowledge was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    /// It was among the results of a search by words.
    Recall,
    /// It was among the results of a search by meaning.
    Semantic,
    /// It was read whole.
    GetFile,
}

impl AccessKind {
    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Semantic => "semantic",
            Self::GetFile => "get_file",
        }
    }

    /// Parses the stored word.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        match text {
            "recall" => Ok(Self::Recall),
            "semantic" => Ok(Self::Semantic),
            "get_file" => Ok(Self::GetFile),
            _ => Err(ParseError::new("access kind", text, "use recall, semantic or get_file")),
        }
    }
}

/// One file that was come by once.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessRow {
    /// When.
    pub at: Timestamp,
    /// The namespace of the reader.
    pub reader: String,
    /// The namespace of the file.
    pub namespace: String,
    /// Its path below that.
    pub path: String,
    /// How.
    pub kind: AccessKind,
    /// What was looked for, if that is kept.
    pub query: Option<String>,
    /// Its place among the results, from 1.
    pub rank: Option<i64>,
    /// Its score there.
    pub score: Option<f64>,
}

/// Which accesses to look at.
#[derive(Debug, Clone)]
pub struct AccessFilter<'a> {
    /// The namespaces of the files: the reader's own and the shared one, which may be the same.
    pub namespaces: [&'a str; 2],
    /// Not before this.
    pub since: Timestamp,
}

/// The accesses of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileAccesses {
    /// The namespace of the file.
    pub namespace: String,
    /// Its path below that.
    pub path: String,
    /// How many.
    pub hits: i64,
    /// The first of them.
    pub first: Timestamp,
    /// The latest.
    pub last: Timestamp,
    /// The mean of their scores, of those that have one.
    pub score: Option<f64>,
}

const ACCESSES: Rows = Rows::new(
    "INSERT INTO accesses (tenant, number, at, reader, namespace, path, kind, query, rank, score)",
    10,
);

impl LedgerRead<'_> {
    /// How often each file was come by, most often first.
    pub fn accesses_by_file(&self, filter: &AccessFilter<'_>) -> Result<Vec<FileAccesses>, StoreError> {
        self.transaction.query(
            "SELECT namespace, path, count(*), min(at), max(at), avg(score) FROM accesses
             WHERE tenant = $1 AND namespace IN ($2, $3) AND at >= $4
             GROUP BY namespace, path ORDER BY count(*) DESC, namespace, path",
            &self.filtered(filter),
            |row| {
                Ok(FileAccesses {
                    namespace: row.get(0)?,
                    path: row.get(1)?,
                    hits: row.get(2)?,
                    first: row.get(3)?,
                    last: row.get(4)?,
                    score: row.get(5)?,
                })
            },
        )
    }

    /// How many accesses of each kind there are.
    pub fn accesses_by_kind(&self, filter: &AccessFilter<'_>) -> Result<Vec<(AccessKind, i64)>, StoreError> {
        self.transaction.query(
            "SELECT kind, count(*) FROM accesses WHERE tenant = $1 AND namespace IN ($2, $3) AND at >= $4
             GROUP BY kind ORDER BY kind",
            &self.filtered(filter),
            |row| Ok((AccessKind::parse(row.text(0)?)?, row.get(1)?)),
        )
    }

    /// The accesses of the files with this path, latest first.
    pub fn accesses_of(&self, filter: &AccessFilter<'_>, path: &str) -> Result<Vec<AccessRow>, StoreError> {
        let mut values = self.filtered(filter);
        values.push(path.into());
        self.transaction.query(
            "SELECT at, reader, namespace, path, kind, query, rank, score FROM accesses
             WHERE tenant = $1 AND namespace IN ($2, $3) AND at >= $4 AND path = $5 ORDER BY at DESC, number DESC",
            &values,
            access_from,
        )
    }

    fn filtered<'p>(&'p self, filter: &AccessFilter<'p>) -> Vec<Param<'p>> {
        let [own, shared] = filter.namespaces;
        vec![self.tenant.into(), own.into(), shared.into(), filter.since.into()]
    }
}

impl LedgerWrite<'_> {
    /// Adds a batch of accesses.
    pub fn add_accesses(&self, accesses: &[AccessRow]) -> Result<(), StoreError> {
        let last = self.transaction.query_one(
            "SELECT COALESCE(max(number), 0) FROM accesses WHERE tenant = $1",
            params![self.tenant],
            |row| row.get::<i64>(0),
        )?;
        let mut values = Vec::with_capacity(accesses.len() * 10);
        for (number, access) in (last.unwrap_or(0) + 1..).zip(accesses) {
            values.extend_from_slice(params![
                self.tenant,
                number,
                access.at,
                &access.reader,
                &access.namespace,
                &access.path,
                access.kind.as_str(),
                access.query.as_deref(),
                access.rank,
                access.score
            ]);
        }
        ACCESSES.write(self.transaction, &values)
    }

    /// Removes the accesses before a time and returns how many there were.
    pub fn forget_accesses(&self, before: Timestamp) -> Result<usize, StoreError> {
        let removed = self
            .transaction
            .execute("DELETE FROM accesses WHERE tenant = $1 AND at < $2", params![self.tenant, before])?;
        Ok(removed)
    }

    /// Removes what was looked for from every access. A purge does it: a query may repeat what is purged, and nothing
    /// tells which one does.
    pub fn forget_queries(&self) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE accesses SET query = NULL WHERE tenant = $1 AND query IS NOT NULL",
            params![self.tenant],
        )?;
        Ok(())
    }
}

fn access_from(row: &Row<'_>) -> Result<AccessRow, StoreError> {
    Ok(AccessRow {
        at: row.get(0)?,
        reader: row.get(1)?,
        namespace: row.get(2)?,
        path: row.get(3)?,
        kind: AccessKind::parse(row.text(4)?)?,
        query: row.get(5)?,
        rank: row.get(6)?,
        score: row.get(7)?,
    })
}
