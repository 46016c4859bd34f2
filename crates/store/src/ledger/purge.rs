//! Erasing for good. The rows go, and with them the salt, so that the hashes left in the audit can
//! no longer be matched against a guess; a tombstone stays.

use strata_core::{error::ParseError, time::Timestamp};

use super::{LedgerRead, LedgerWrite, RawKind, Seq, vault::tombstone_number};
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
    /// A todo.
    Todo,
    /// The text of a generation of a vault's file.
    VaultText,
}

impl PurgedKind {
    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Episode => "episode",
            Self::Entity => "entity",
            Self::Todo => "todo",
            Self::VaultText => "vault_text",
        }
    }

    /// Where such things are stored.
    pub(super) const fn table(self) -> &'static str {
        match self {
            Self::Memory => "memories",
            Self::Episode => "episodes",
            Self::Entity => "entities",
            Self::Todo => "todos",
            Self::VaultText => "vault_generations",
        }
    }

    /// Parses the stored word.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        match text {
            "memory" => Ok(Self::Memory),
            "episode" => Ok(Self::Episode),
            "entity" => Ok(Self::Entity),
            "todo" => Ok(Self::Todo),
            "vault_text" => Ok(Self::VaultText),
            _ => Err(ParseError::new("purged kind", text, "use memory, episode, entity, todo or vault_text")),
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

/// A purge that has begun: until it is closed, bytes of the text may lie in files of the home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPurge {
    /// What is purged.
    pub kind: PurgedKind,
    /// Its id.
    pub id: String,
    /// Whether the backups are rewritten too.
    pub backups: bool,
}

/// Before the id in the key of the setting that notes an open purge.
const OPEN_PURGE: &str = "purging ";
/// The first key behind all that begin so: `!` follows the blank.
const BEHIND_OPEN_PURGES: &str = "purging!";
/// In the value of that setting, when the backups are rewritten too.
const WITH_BACKUPS: &str = " backups";

impl LedgerRead<'_> {
    /// The purges that were begun and not closed.
    pub fn open_purges(&self) -> Result<Vec<OpenPurge>, StoreError> {
        self.transaction.query(
            "SELECT key, value FROM settings WHERE tenant = $1 AND key >= $2 AND key < $3 ORDER BY key",
            params![self.tenant, OPEN_PURGE, BEHIND_OPEN_PURGES],
            |row| {
                let value = row.text(1)?;
                Ok(OpenPurge {
                    kind: PurgedKind::parse(value.strip_suffix(WITH_BACKUPS).unwrap_or(value))?,
                    id: row.text(0)?.trim_start_matches(OPEN_PURGE).to_owned(),
                    backups: value.ends_with(WITH_BACKUPS),
                })
            },
        )
    }

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
    /// Notes that a purge has begun, so that one which is cut short is known of afterwards.
    pub fn open_purge(&self, purge: &OpenPurge) -> Result<(), StoreError> {
        let value = format!("{}{}", purge.kind.as_str(), if purge.backups { WITH_BACKUPS } else { "" });
        self.set_setting(&format!("{OPEN_PURGE}{}", purge.id), &value)
    }

    /// Notes that nothing of it is left to do.
    pub fn close_purge(&self, id: &str) -> Result<(), StoreError> {
        self.transaction.post(
            "DELETE FROM settings WHERE tenant = $1 AND key = $2",
            params![self.tenant, &format!("{OPEN_PURGE}{id}")],
        )?;
        Ok(())
    }

    /// Purges what has this whole id; false if there is none. With a memory go the entities that were noticed
    /// in it and nowhere else; with an entity its relations and mentions;
    /// with a todo all its versions.
    ///
    /// The bytes leave the files only with [`crate::Database::compact`], to be called when the
    /// transaction is over.
    pub fn purge(&self, kind: PurgedKind, id: &str, seq: Seq) -> Result<bool, StoreError> {
        let Some(number) = self.detached(kind, id, seq)? else { return Ok(false) };
        let (digest, stored) = match kind {
            PurgedKind::Episode => self.digest_of_event(number)?,
            _ => (None, None),
        };
        self.blank_mentions(id)?;
        self.forget_queries()?;
        self.erase(kind, number)?;
        self.transaction.post(
            "INSERT INTO tombstones (tenant, kind, number, id, at, seq, digest, stored_seq)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            params![
                self.tenant,
                kind.as_str(),
                number,
                id,
                self.now,
                self.place(seq)?,
                digest.as_deref(),
                stored
            ],
        )?;
        Ok(true)
    }

    /// Takes what is purged out of what others keep of it, and gives its number; `None` if it is not stored.
    fn detached(&self, kind: PurgedKind, id: &str, seq: Seq) -> Result<Option<i64>, StoreError> {
        Ok(match kind {
            PurgedKind::Memory => {
                let Some(memory) = self.memory(id)? else { return Ok(None) };
                self.lose_from_snapshots(&memory, seq)?;
                // A repository tells it again, if anything else stands on that branch.
                if let (Some(project), Some(branch)) = (&memory.scope.project, &memory.scope.branch) {
                    self.forget_branch(project, branch)?;
                }
                Some(memory.number)
            }
            PurgedKind::Episode => self.episode(id)?.map(|episode| episode.number),
            PurgedKind::Entity => self.entity(id)?.map(|entity| entity.number),
            PurgedKind::Todo => self.todo(id)?.map(|todo| todo.number),
            PurgedKind::VaultText => self.purge_vault_text(id)?.then(|| tombstone_number(id)),
        })
    }

    /// Deletes the rows of what is purged, and what hangs on them.
    fn erase(&self, kind: PurgedKind, number: i64) -> Result<(), StoreError> {
        // A purged digest keeps its links: what it was made of is not distilled a second time.
        match kind {
            PurgedKind::Memory => {
                self.purge_mentions(number)?;
                self.unlink_raw(RawKind::Memory, number)?;
                self.purge_memory_relations(number)?;
            }
            PurgedKind::Episode => self.unlink_raw(RawKind::Episode, number)?,
            PurgedKind::Entity => self.erase_entity(number)?,
            PurgedKind::Todo | PurgedKind::VaultText => {}
        }
        let tables: &[&str] = match kind {
            PurgedKind::Memory => {
                &["memory_tags", "bands", "evidence", "usage", "rules", "memory_states", "memories"]
            }
            PurgedKind::Episode => &["episodes"],
            PurgedKind::Todo => &["todos"],
            PurgedKind::Entity | PurgedKind::VaultText => &[],
        };
        for table in tables {
            let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND number = $2");
            self.transaction.post(&sql, params![self.tenant, number])?;
        }
        Ok(())
    }

    /// What stays of an event when its text and its salt go: the digest, if it has one, and the change that
    /// stored it. Without it nobody could tell whether the other events of that change are whole.
    fn digest_of_event(&self, number: i64) -> Result<(Option<Vec<u8>>, Option<i64>), StoreError> {
        let kept = self.transaction.query_one(
            "SELECT digest, seq FROM episodes WHERE tenant = $1 AND number = $2 AND digest IS NOT NULL",
            params![self.tenant, number],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(kept.unwrap_or((None, None)))
    }

    /// Empties what others say about the purged thing, which may repeat its text: reviews about it or about
    /// what it replaced (the amendment that made it has its words), and those that name it.
    fn blank_mentions(&self, id: &str) -> Result<(), StoreError> {
        for sql in [
            "UPDATE reviews SET proposal = '{}', reason = '', decision_note = NULL, salt = NULL,
                 status = CASE WHEN status = 'pending' THEN 'withdrawn' ELSE status END
             WHERE tenant = $1 AND (target = $2 OR replace(proposal, $2, '') <> proposal
                 OR kind = 'amendment' AND target IN (SELECT supersedes FROM memories WHERE tenant = $1 AND id = $2))",
            "UPDATE memories SET superseded_reason = NULL WHERE tenant = $1 AND superseded_by = $2",
        ] {
            self.transaction.post(sql, params![self.tenant, id])?;
        }
        Ok(())
    }
}
