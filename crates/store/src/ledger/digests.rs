//! What digests were made of, and what waits to be distilled.

use std::collections::HashMap;

use strata_core::{error::ParseError, scope::Scope, time::Timestamp};

use super::{EpisodeRow, LedgerRead, LedgerWrite, MemoryRow, Seq, episodes, memories::scope_from};
use crate::{error::StoreError, params, rows::Rows, sql::Row};

/// What sort of raw material.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RawKind {
    /// An event.
    Episode,
    /// A memory of P2.
    Memory,
}

impl RawKind {
    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Episode => "episode",
            Self::Memory => "memory",
        }
    }

    /// Parses the stored word.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        [Self::Episode, Self::Memory]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| ParseError::new("sort of raw material", text, "use episode or memory"))
    }
}

/// A piece of raw material of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DigestLink {
    /// What sort.
    pub kind: RawKind,
    /// Its number.
    pub source: i64,
    /// Whether words of it stand in the digest.
    pub quoted: bool,
}

/// Raw material that no digest covers yet, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undistilled {
    /// What sort.
    pub kind: RawKind,
    /// Its number.
    pub number: i64,
    /// Where it belongs.
    pub scope: Scope,
    /// The session it belongs to; empty if to none.
    pub session: String,
    /// When it happened.
    pub at: Timestamp,
    /// A JSON object, as text.
    pub metadata: String,
}

/// How much waits to be distilled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Pieces.
    pub count: i64,
    /// When the oldest happened.
    pub oldest: Option<Timestamp>,
}

/// The events that no digest covers, and that were not distilled where they come from: their metadata has the date.
/// Looked for by `replace`: databases differ in whether `LIKE` tells capital letters from small ones.
const OPEN_EPISODES: &str = "FROM episodes e WHERE e.tenant = $1
    AND replace(e.metadata, '\"consolidated_at\":', '') = e.metadata AND NOT EXISTS (SELECT 1 FROM digests d
    WHERE d.tenant = e.tenant AND d.kind = 'episode' AND d.source = e.number)";
/// The live memories of P2 that no digest covers.
const OPEN_MEMORIES: &str = "FROM memories e WHERE e.tenant = $1 AND e.layer = 'P2'
    AND e.status IN ('active', 'stale', 'needs_review') AND NOT EXISTS (SELECT 1 FROM digests d
    WHERE d.tenant = e.tenant AND d.kind = 'memory' AND d.source = e.number)";

impl LedgerRead<'_> {
    /// The next `limit` pieces of a sort, above the number `after`, that no digest covers, by number.
    pub fn undistilled(
        &self,
        kind: RawKind,
        after: i64,
        limit: usize,
    ) -> Result<Vec<Undistilled>, StoreError> {
        let (from, at) = match kind {
            RawKind::Episode => (OPEN_EPISODES, "e.at"),
            RawKind::Memory => (OPEN_MEMORIES, "e.created_at"),
        };
        let sql = format!(
            "SELECT e.number, e.namespace, e.project, e.branch, COALESCE(e.session, ''), {at}, e.metadata
             {from} AND e.number > $2 ORDER BY e.number LIMIT $3"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.transaction.query(&sql, params![self.tenant, after, limit], |row| {
            Ok(Undistilled {
                kind,
                number: row.get(0)?,
                scope: scope_from(row, 1)?,
                session: row.get(4)?,
                at: row.get(5)?,
                metadata: row.get(6)?,
            })
        })
    }

    /// How much of everything is not covered by a digest, and how old it is.
    pub fn backlog(&self) -> Result<Backlog, StoreError> {
        let mut all = Backlog::default();
        for (from, at) in [(OPEN_EPISODES, "e.at"), (OPEN_MEMORIES, "e.created_at")] {
            let sql = format!("SELECT count(*), min({at}) {from}");
            let found = self.transaction.query_one(&sql, params![self.tenant], |row| {
                Ok((row.get::<i64>(0)?, row.get::<Option<Timestamp>>(1)?))
            })?;
            let (count, oldest) = found.unwrap_or_default();
            all.count += count;
            all.oldest = [all.oldest, oldest].into_iter().flatten().min();
        }
        Ok(all)
    }

    /// What a digest was made of, in order of time for events; empty for what is no digest.
    pub fn digest_links(&self, number: i64) -> Result<Vec<DigestLink>, StoreError> {
        self.transaction.query(
            "SELECT kind, source, quoted FROM digests WHERE tenant = $1 AND number = $2 ORDER BY kind, source",
            params![self.tenant, number],
            link_from,
        )
    }

    /// The events that a digest was made of, oldest first.
    pub fn digest_episodes(&self, number: i64) -> Result<Vec<EpisodeRow>, StoreError> {
        let columns = episodes::COLUMNS
            .split(',')
            .map(|column| format!("e.{}", column.trim()))
            .collect::<Vec<_>>()
            .join(", ");
        let sql = format!(
            "SELECT {columns} FROM digests d
             JOIN episodes e ON e.tenant = d.tenant AND e.number = d.source
             WHERE d.tenant = $1 AND d.number = $2 AND d.kind = 'episode' ORDER BY e.at, e.number"
        );
        self.transaction.query(&sql, params![self.tenant, number], episodes::episode_from)
    }

    /// The memories that were made of this piece, of any status, oldest first, and whether they quote it.
    pub fn digests_of(&self, kind: RawKind, source: i64) -> Result<Vec<(MemoryRow, bool)>, StoreError> {
        let numbers: Vec<(i64, bool)> = self.transaction.query(
            "SELECT number, quoted FROM digests WHERE tenant = $1 AND kind = $2 AND source = $3 ORDER BY number",
            params![self.tenant, kind.as_str(), source],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let quoted: HashMap<i64, bool> = numbers.iter().copied().collect();
        let numbers: Vec<i64> = numbers.into_iter().map(|(number, _)| number).collect();
        let memories = self.memories_by_numbers(&numbers)?;
        Ok(memories
            .into_iter()
            .map(|memory| {
                let quoted = quoted.get(&memory.number).copied().unwrap_or(false);
                (memory, quoted)
            })
            .collect())
    }

    /// Whether a digest covers the piece.
    pub fn is_distilled(&self, kind: RawKind, source: i64) -> Result<bool, StoreError> {
        let found = self.transaction.query_one(
            "SELECT 1 FROM digests WHERE tenant = $1 AND kind = $2 AND source = $3 LIMIT 1",
            params![self.tenant, kind.as_str(), source],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }

    /// Whether the piece is there.
    pub fn is_there(&self, kind: RawKind, number: i64) -> Result<bool, StoreError> {
        let sql = match kind {
            RawKind::Episode => "SELECT 1 FROM episodes WHERE tenant = $1 AND number = $2",
            RawKind::Memory => "SELECT 1 FROM memories WHERE tenant = $1 AND number = $2",
        };
        Ok(self.transaction.query_one(sql, params![self.tenant, number], |_| Ok(()))?.is_some())
    }

    /// Links whose digest or raw material is neither there nor purged: (digest, sort, source), at most `limit`.
    pub fn dangling_digests(&self, limit: usize) -> Result<Vec<(i64, RawKind, i64)>, StoreError> {
        self.transaction.query(
            "SELECT d.number, d.kind, d.source FROM digests d WHERE d.tenant = $1 AND (
                 NOT EXISTS (SELECT 1 FROM memories m WHERE m.tenant = d.tenant AND m.number = d.number
                     UNION ALL SELECT 1 FROM tombstones t
                     WHERE t.tenant = d.tenant AND t.kind = 'memory' AND t.number = d.number)
                 OR (d.kind = 'episode' AND NOT EXISTS (
                     SELECT 1 FROM episodes e WHERE e.tenant = d.tenant AND e.number = d.source))
                 OR (d.kind = 'memory' AND NOT EXISTS (
                     SELECT 1 FROM memories s WHERE s.tenant = d.tenant AND s.number = d.source)))
             ORDER BY d.number, d.kind, d.source LIMIT $2",
            params![self.tenant, i64::try_from(limit).unwrap_or(i64::MAX)],
            |row| Ok((row.get(0)?, RawKind::parse(row.text(1)?)?, row.get(2)?)),
        )
    }
}

impl LedgerWrite<'_> {
    /// Puts down what the digest `number` was made of. A link that is there already stays as it is.
    pub fn link_digest(&self, number: i64, links: &[DigestLink], seq: Seq) -> Result<(), StoreError> {
        let seq = self.place(seq)?;
        let mut values = Vec::with_capacity(links.len() * 6);
        for link in links {
            values.extend_from_slice(params![
                self.tenant,
                number,
                link.kind.as_str(),
                link.source,
                link.quoted,
                seq
            ]);
        }
        Rows::new("INSERT INTO digests (tenant, number, kind, source, quoted, seq)", 6)
            .or("ON CONFLICT DO NOTHING")
            .write(self.transaction, &values)
    }

    /// Gives the raw material of a digest free, so that it is distilled anew.
    pub fn release_digest(&self, number: i64) -> Result<usize, StoreError> {
        self.transaction
            .execute("DELETE FROM digests WHERE tenant = $1 AND number = $2", params![self.tenant, number])
    }

    /// Takes a purged piece out of every digest.
    pub(super) fn unlink_raw(&self, kind: RawKind, source: i64) -> Result<(), StoreError> {
        self.transaction.post(
            "DELETE FROM digests WHERE tenant = $1 AND kind = $2 AND source = $3",
            params![self.tenant, kind.as_str(), source],
        )?;
        Ok(())
    }
}

fn link_from(row: &Row<'_>) -> Result<DigestLink, StoreError> {
    Ok(DigestLink { kind: RawKind::parse(row.text(0)?)?, source: row.get(1)?, quoted: row.get(2)? })
}
