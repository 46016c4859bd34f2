//! Erasing for good. The rows go, and with them the salt, so that the hashes left in the audit can
//! no longer be matched against a guess; a tombstone stays.

use strata_core::{error::ParseError, time::Timestamp};

use super::{LedgerRead, LedgerWrite, Seq};
use crate::{error::StoreError, params};

/// What was purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PurgedKind {
    /// A memory.
    Memory,
    /// An episode.
    Episode,
    /// An entity of the graph.
    Entity,
}

impl PurgedKind {
    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Episode => "episode",
            Self::Entity => "entity",
        }
    }

    /// Where such things are stored.
    pub(super) const fn table(self) -> &'static str {
        match self {
            Self::Memory => "memories",
            Self::Episode => "episodes",
            Self::Entity => "entities",
        }
    }

    /// Parses the stored word.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        match text {
            "memory" => Ok(Self::Memory),
            "episode" => Ok(Self::Episode),
            "entity" => Ok(Self::Entity),
            _ => Err(ParseError::new("purged kind", text, "use memory, episode or entity")),
        }
    }
}

/// A tombstone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purged {
    /// What it was.
    pub kind: PurgedKind,
    /// Its number, which is not given again.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// When it was purged.
    pub at: Timestamp,
    /// The change that purged it.
    pub seq: i64,
}

impl LedgerRead<'_> {
    /// Every tombstone, oldest first.
    pub fn purged(&self) -> Result<Vec<Purged>, StoreError> {
        self.transaction.query(
            "SELECT kind, number, id, at, seq FROM tombstones WHERE tenant = $1 ORDER BY seq, number",
            params![self.tenant],
            |row| {
                Ok(Purged {
                    kind: PurgedKind::parse(row.text(0)?)?,
                    number: row.get(1)?,
                    id: row.get(2)?,
                    at: row.get(3)?,
                    seq: row.get(4)?,
                })
            },
        )
    }

    /// Whether something of this kind and id is stored.
    pub fn holds(&self, kind: PurgedKind, id: &str) -> Result<bool, StoreError> {
        let table = kind.table();
        let sql = format!("SELECT 1 FROM {table} WHERE tenant = $1 AND id = $2");
        Ok(self.transaction.query_one(&sql, params![self.tenant, id], |_| Ok(()))?.is_some())
    }

    /// Whether the id names something that was purged.
    pub fn is_purged(&self, id: &str) -> Result<bool, StoreError> {
        let found = self.transaction.query_one(
            "SELECT 1 FROM tombstones WHERE tenant = $1 AND id = $2",
            params![self.tenant, id],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}

impl LedgerWrite<'_> {
    /// Purges what has this whole id; false if there is none. With a memory go the entities that were noticed
    /// in it and nowhere else; with an entity its relations and mentions.
    ///
    /// The bytes leave the files only with [`crate::Database::compact`], to be called when the
    /// transaction is over.
    pub fn purge(&self, kind: PurgedKind, id: &str, seq: Seq) -> Result<bool, StoreError> {
        let number = match kind {
            PurgedKind::Memory => self.memory(id)?.map(|memory| memory.number),
            PurgedKind::Episode => self.episode(id)?.map(|episode| episode.number),
            PurgedKind::Entity => self.entity(id)?.map(|entity| entity.number),
        };
        let Some(number) = number else { return Ok(false) };
        let tables: &[&str] = match kind {
            PurgedKind::Memory => &["memory_tags", "bands", "evidence", "usage", "memory_states", "memories"],
            PurgedKind::Episode => &["episodes"],
            PurgedKind::Entity => &[],
        };
        match kind {
            PurgedKind::Memory => self.purge_mentions(number)?,
            PurgedKind::Episode => {}
            PurgedKind::Entity => self.erase_entity(number)?,
        }
        for table in tables {
            let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND number = $2");
            self.transaction.execute(&sql, params![self.tenant, number])?;
        }
        self.blank_mentions(id)?;
        self.transaction.execute(
            "INSERT INTO tombstones (tenant, kind, number, id, at, seq) VALUES ($1, $2, $3, $4, $5, $6)",
            params![self.tenant, kind.as_str(), number, id, self.now, self.place(seq)?],
        )?;
        Ok(true)
    }

    /// Empties what others say about the purged thing, which may repeat its text.
    fn blank_mentions(&self, id: &str) -> Result<(), StoreError> {
        for sql in [
            "UPDATE reviews SET proposal = '{}', reason = '', decision_note = NULL WHERE tenant = $1 AND target = $2",
            "UPDATE memories SET superseded_reason = NULL WHERE tenant = $1 AND superseded_by = $2",
        ] {
            self.transaction.execute(sql, params![self.tenant, id])?;
        }
        Ok(())
    }
}
