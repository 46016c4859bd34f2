//! What changed since a place in the order of changes: how the index follows the ledger.

use super::LedgerRead;
use crate::{error::StoreError, params, sql::Param};

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    /// The state of the memory with this number; its first one included.
    Memory(i64),
    /// The episode with this number was added.
    Episode(i64),
    /// The file with this number was seen anew.
    Source(i64),
    /// The memory with this number was purged.
    PurgedMemory(i64),
    /// The episode with this number was purged.
    PurgedEpisode(i64),
}

/// A change and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The audit row that records it.
    pub seq: i64,
    /// What changed.
    pub what: Changed,
}

/// How far the changes have been followed. One sequence may carry many changes, so a place lies
/// between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ChangeCursor {
    /// The sequence.
    pub seq: i64,
    /// The table within it, in the order of [`Changed`].
    pub table: i64,
    /// The last number within the table.
    pub number: i64,
}

impl ChangeCursor {
    /// Behind everything that `seq` changed.
    pub const fn after(seq: i64) -> Self {
        Self { seq, table: i64::MAX, number: i64::MAX }
    }
}

/// Changes in order, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePage {
    /// The changes.
    pub changes: Vec<Change>,
    /// Where the next page begins; behind the head of the audit when nothing is left.
    pub next: ChangeCursor,
    /// Whether more follow.
    pub more: bool,
}

/// A table that carries changes: its place in the order, how it is read, and what a row means.
struct Feed {
    table: i64,
    from: &'static str,
    seq: &'static str,
    what: fn(i64) -> Changed,
}

const FEEDS: [Feed; 5] = [
    Feed { table: 0, from: "memory_states WHERE", seq: "from_seq", what: Changed::Memory },
    Feed { table: 1, from: "episodes WHERE", seq: "seq", what: Changed::Episode },
    Feed { table: 2, from: "sources WHERE", seq: "seq", what: Changed::Source },
    Feed { table: 3, from: "tombstones WHERE kind = 'memory' AND", seq: "seq", what: Changed::PurgedMemory },
    Feed {
        table: 4,
        from: "tombstones WHERE kind = 'episode' AND",
        seq: "seq",
        what: Changed::PurgedEpisode,
    },
];

impl Feed {
    /// What a statement names to have its rows behind `cursor`, whose sequence is `$2` there.
    fn behind(&self, cursor: ChangeCursor, values: &mut Vec<Param<'_>>) -> String {
        values.push(Param::Integer(match self.table.cmp(&cursor.table) {
            std::cmp::Ordering::Less => i64::MAX,
            std::cmp::Ordering::Equal => cursor.number,
            std::cmp::Ordering::Greater => i64::MIN,
        }));
        format!("{} tenant = $1 AND ({}, number) > ($2, ${})", self.from, self.seq, values.len())
    }
}

impl LedgerRead<'_> {
    /// The first `limit` changes behind `cursor`, in order.
    pub fn changes_after(&self, cursor: ChangeCursor, limit: usize) -> Result<ChangePage, StoreError> {
        let mut found = self.feeds(cursor, limit)?;
        found.sort_unstable_by_key(|(place, _)| *place);
        // Each feed gave one more than asked for, so a cut list shows that more follow.
        let more = found.len() > limit;
        found.truncate(limit);
        let next = match found.last() {
            Some((place, _)) if more => *place,
            _ => ChangeCursor::after(self.head()?.seq.max(cursor.seq)),
        };
        let changes = found.into_iter().map(|(_, change)| change).collect();
        Ok(ChangePage { changes, next, more })
    }

    /// The same changes alone.
    pub fn changes_behind(&self, cursor: ChangeCursor, limit: usize) -> Result<Vec<Change>, StoreError> {
        let mut found = self.feeds(cursor, limit)?;
        found.sort_unstable_by_key(|(place, _)| *place);
        Ok(found.into_iter().take(limit).map(|(_, change)| change).collect())
    }

    /// The last changes of memories' states behind `cursor`, at most `limit`, in order.
    pub fn latest_of_memories(&self, cursor: ChangeCursor, limit: usize) -> Result<Vec<Change>, StoreError> {
        let [states, ..] = &FEEDS;
        let mut values = params![self.tenant, cursor.seq].to_vec();
        let behind = states.behind(cursor, &mut values);
        let seq = states.seq;
        let sql =
            format!("SELECT {seq}, number FROM {behind} ORDER BY {seq} DESC, number DESC LIMIT {limit}");
        let mut found = self
            .transaction
            .query(&sql, &values, |row| Ok(Change { seq: row.get(0)?, what: (states.what)(row.get(1)?) }))?;
        found.reverse();
        Ok(found)
    }

    /// How many changes there are behind `cursor`.
    pub fn count_behind(&self, cursor: ChangeCursor) -> Result<u64, StoreError> {
        let mut values = params![self.tenant, cursor.seq].to_vec();
        let part = |feed: &Feed| format!("SELECT count(*) FROM {}", feed.behind(cursor, &mut values));
        let sql = FEEDS.iter().map(part).collect::<Vec<_>>().join(" UNION ALL ");
        let counts = self.transaction.query(&sql, &values, |row| row.get::<u64>(0))?;
        Ok(counts.into_iter().sum())
    }

    /// What each feed has behind `cursor`, one more than `limit` of it, in one statement. Callers have a few limits, so
    /// that the number stands in the statement: SQLite would plan anew whenever another value is bound to it.
    fn feeds(&self, cursor: ChangeCursor, limit: usize) -> Result<Vec<(ChangeCursor, Change)>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        let mut values = params![self.tenant, cursor.seq].to_vec();
        let part = |feed: &Feed| {
            let (table, seq, behind) = (feed.table, feed.seq, feed.behind(cursor, &mut values));
            format!(
                "SELECT feed, seq, number FROM (SELECT {table} AS feed, {seq} AS seq, number FROM {behind}
                     ORDER BY {seq}, number LIMIT {limit}) f{table}"
            )
        };
        let sql = FEEDS.iter().map(part).collect::<Vec<_>>().join(" UNION ALL ");
        self.transaction.query(&sql, &values, |row| {
            let (table, seq, number) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let place = ChangeCursor { seq, table, number };
            let feed = FEEDS.iter().find(|feed| feed.table == table);
            let feed = feed.ok_or_else(|| self.corrupt(format!("there is no feed {table}")))?;
            Ok((place, Change { seq, what: (feed.what)(number) }))
        })
    }
}
