//! The generations of the vault's files: which one holds, and the bytes of each.
//!
//! On a server these rows are the files. In a home they say what a file should hold, so that an unfinished write is
//! completed and an edit by hand is noticed.

use strata_core::{error::ParseError, knowledge::name::VaultPath, time::Timestamp};

use super::{LedgerRead, LedgerWrite, NewSource, Seq, SourceState, filter::Conditions};
use crate::{
    error::{Conflict, StoreError},
    params,
    sql::Row,
};

/// What a root of [`super::SourceRow`] begins with when the files are those of the vault: the namespace follows.
pub const ROOT: &str = "vault:";

/// Where a generation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A tool or command wrote it.
    Tool,
    /// Somebody edited the file, or deleted it, without Strata.
    Hand,
    /// It was imported.
    Import,
    /// An earlier generation was brought back.
    Restore,
    /// A tool or command deleted the file.
    Delete,
}

impl Origin {
    /// Every origin.
    pub const ALL: [Self; 5] = [Self::Tool, Self::Hand, Self::Import, Self::Restore, Self::Delete];

    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Hand => "hand",
            Self::Import => "import",
            Self::Restore => "restore",
            Self::Delete => "delete",
        }
    }

    /// Parses the stored word.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let found = Self::ALL.into_iter().find(|origin| origin.as_str() == text);
        found.ok_or_else(|| ParseError::new("origin", text, "use tool, hand, import, restore or delete"))
    }
}

/// The salted hash that stands for the bytes of a generation.
pub fn vault_hash(salt: &[u8; 16], content: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"vault").update(salt).update(&(content.len() as u64).to_le_bytes()).update(content);
    *hasher.finalize().as_bytes()
}

/// What names the text of a generation, so that it can be purged and does not come back: it says nothing of the text.
pub fn vault_text_id(salt: &[u8; 16]) -> String {
    let hex = blake3::Hasher::new().update(b"vault text").update(salt).finalize().to_hex();
    format!("{TEXT_ID}{}", &hex[..16])
}

/// Whether this is written as the id of a generation's text.
pub fn is_vault_text_id(id: &str) -> bool {
    let digits = id.strip_prefix(TEXT_ID).unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

const TEXT_ID: &str = "gen-";

/// The number of a purged text's tombstone, which follows from its id and is far from those of files.
pub(super) fn tombstone_number(id: &str) -> i64 {
    let digits = id.strip_prefix(TEXT_ID).unwrap_or_default();
    let bits = u64::from_str_radix(digits, 16).unwrap_or(0);
    (1 << 40) | (bits & ((1 << 40) - 1)).cast_signed()
}

/// A file of the vault and the generation of it that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultHead {
    /// Names the file within the ledger.
    pub number: i64,
    /// The namespace it belongs to.
    pub namespace: String,
    /// Where it lies below the namespace.
    pub path: String,
    /// The generation that holds; 0 when none was ever finished.
    pub generation: i64,
    /// Bytes.
    pub size: i64,
    /// When the file was last changed, as the file system says; on a server when the generation was stored.
    pub mtime: Timestamp,
    /// The salted hash of its bytes; `None` when there is no file.
    pub hash: Option<[u8; 32]>,
    /// The salt of the hash.
    pub salt: Option<[u8; 16]>,
    /// The change that made this the head.
    pub seq: i64,
}

impl VaultHead {
    /// Whether there is such a file.
    pub fn is_present(&self) -> bool {
        self.hash.is_some()
    }

    /// Whether this is what the file should hold; `None` stands for no file.
    pub fn holds(&self, text: Option<&str>) -> bool {
        holds(self.hash.as_ref(), self.salt.as_ref(), text)
    }
}

/// A generation without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerationRow {
    /// The file.
    pub number: i64,
    /// Which one it is, from 1.
    pub generation: i64,
    /// Names its text; `None` of a deletion, and when the text was purged.
    pub id: Option<String>,
    /// The change that stored it.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it never came to hold, because the file could not be written.
    pub is_failed: bool,
    /// Who wrote it.
    pub writer: String,
    /// Bytes.
    pub size: i64,
    /// The salted hash of its bytes; `None` when the file was deleted.
    pub hash: Option<[u8; 32]>,
    /// The salt; `None` when it was purged, or has no hash.
    pub salt: Option<[u8; 16]>,
    /// Whether its bytes are still there.
    pub has_content: bool,
}

impl GenerationRow {
    /// Whether the file held this; `None` stands for no file.
    pub fn holds(&self, text: Option<&str>) -> bool {
        holds(self.hash.as_ref(), self.salt.as_ref(), text)
    }
}

fn holds(hash: Option<&[u8; 32]>, salt: Option<&[u8; 16]>, text: Option<&str>) -> bool {
    match (hash, salt, text) {
        (None, _, None) => true,
        (Some(hash), Some(salt), Some(text)) => vault_hash(salt, text.as_bytes()) == *hash,
        _ => false,
    }
}

/// A generation to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewGeneration<'a> {
    /// The namespace of the file.
    pub namespace: &'a str,
    /// Where it lies there.
    pub path: &'a VaultPath,
    /// The generation that it was made of; `None` when no such file was ever known.
    pub from: Option<i64>,
    /// Where it comes from.
    pub origin: Origin,
    /// Who wrote it.
    pub writer: &'a str,
    /// Its text; `None` deletes the file.
    pub text: Option<&'a str>,
    /// Sixteen random bytes.
    pub salt: [u8; 16],
    /// The time of change that the file has, or will have.
    pub mtime: Timestamp,
}

impl NewGeneration<'_> {
    /// The salted hash of its bytes; `None` when it deletes the file.
    pub fn hash(&self) -> Option<[u8; 32]> {
        self.text.map(|text| vault_hash(&self.salt, text.as_bytes()))
    }
}

/// A generation that comes from another home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedGeneration {
    /// Which one it is.
    pub generation: i64,
    /// Names its text, there and here.
    pub id: Option<String>,
    /// When it was stored there.
    pub at: Timestamp,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it never came to hold.
    pub is_failed: bool,
    /// Who wrote it.
    pub writer: String,
    /// Bytes.
    pub size: usize,
    /// Whether it deleted the file.
    pub is_deletion: bool,
    /// Its text; `None` too when it was no longer kept.
    pub text: Option<String>,
    /// Sixteen random bytes.
    pub salt: [u8; 16],
}

impl LoadedGeneration {
    /// The hash that stands for it here; `None` for a deletion. One without its text has one that nothing matches.
    pub fn hash(&self) -> Option<[u8; 32]> {
        let bytes = self.text.as_deref().unwrap_or_default().as_bytes();
        (!self.is_deletion).then(|| vault_hash(&self.salt, bytes))
    }

    fn stored_size(&self) -> i64 {
        i64::try_from(self.size).unwrap_or(i64::MAX)
    }
}

/// A row of `vault_files` about to be written.
struct StoredFile<'a> {
    namespace: &'a str,
    path: &'a VaultPath,
    generation: i64,
    mtime: Timestamp,
}

/// A row of `vault_generations` about to be written.
struct StoredGeneration<'a> {
    number: i64,
    generation: i64,
    at: Timestamp,
    origin: Origin,
    state: &'static str,
    writer: &'a str,
    size: i64,
    hash: Option<[u8; 32]>,
    /// The bytes with their salt and their id; none of a deletion, nor where they are no longer kept.
    text: Option<(&'a str, &'a [u8; 16], Option<&'a str>)>,
}

const HEAD: &str = "f.number, f.namespace, f.path, f.generation, f.mtime, f.seq, g.size, g.hash, g.salt";
const HEAD_FROM: &str = "vault_files f LEFT JOIN vault_generations g ON g.tenant = f.tenant AND g.number = f.number \
                         AND g.generation = f.generation";
const ROW: &str =
    "number, generation, seq, at, origin, state, writer, size, hash, salt, content IS NOT NULL, id";
const DONE: &str = "done";
const FAILED: &str = "failed";

impl LedgerRead<'_> {
    /// The files of a namespace by path, deleted ones too; with `None` of all namespaces.
    pub fn vault_heads(&self, namespace: Option<&str>) -> Result<Vec<VaultHead>, StoreError> {
        let mut all = Conditions::new("f.tenant", self.tenant);
        all.any_of("f.namespace", namespace);
        let sql = format!("SELECT {HEAD} FROM {HEAD_FROM} WHERE {} ORDER BY f.namespace, f.path", all.sql);
        self.transaction.query(&sql, &all.params, |row| self.head_from(row))
    }

    /// The file at this place.
    pub fn vault_head(&self, namespace: &str, path: &str) -> Result<Option<VaultHead>, StoreError> {
        let sql = format!(
            "SELECT {HEAD} FROM {HEAD_FROM} WHERE f.tenant = $1 AND f.namespace = $2 AND f.path = $3"
        );
        self.transaction.query_one(&sql, params![self.tenant, namespace, path], |row| self.head_from(row))
    }

    /// The file with this number.
    pub fn vault_head_of(&self, number: i64) -> Result<Option<VaultHead>, StoreError> {
        let sql = format!("SELECT {HEAD} FROM {HEAD_FROM} WHERE f.tenant = $1 AND f.number = $2");
        self.transaction.query_one(&sql, params![self.tenant, number], |row| self.head_from(row))
    }

    /// The text of a generation; `None` when it has none, any longer or ever.
    pub fn vault_text(&self, number: i64, generation: i64) -> Result<Option<String>, StoreError> {
        let bytes = self.transaction.query_one(
            "SELECT content FROM vault_generations WHERE tenant = $1 AND number = $2 AND generation = $3",
            params![self.tenant, number, generation],
            |row| row.get::<Option<Vec<u8>>>(0),
        )?;
        let Some(bytes) = bytes.flatten() else { return Ok(None) };
        let text = String::from_utf8(bytes);
        text.map(Some)
            .map_err(|_| self.corrupt(format!("generation {generation} of file {number} is not UTF-8")))
    }

    /// The text of the generation of a file that holds; `None` when there is none.
    pub fn vault_head_text(&self, number: i64) -> Result<Option<String>, StoreError> {
        match self.vault_head_of(number)? {
            Some(head) => self.vault_text(number, head.generation),
            None => Ok(None),
        }
    }

    /// Every generation of a file, newest first.
    pub fn vault_generations(&self, number: i64) -> Result<Vec<GenerationRow>, StoreError> {
        let sql = format!(
            "SELECT {ROW} FROM vault_generations WHERE tenant = $1 AND number = $2 ORDER BY generation DESC"
        );
        self.transaction.query(&sql, params![self.tenant, number], |row| self.generation_from(row))
    }

    /// The last generation before `generation` that came to hold.
    pub fn vault_generation_before(
        &self,
        number: i64,
        generation: i64,
    ) -> Result<Option<GenerationRow>, StoreError> {
        let sql = format!(
            "SELECT {ROW} FROM vault_generations
             WHERE tenant = $1 AND number = $2 AND generation < $3 AND state = $4 ORDER BY generation DESC LIMIT 1"
        );
        let values = params![self.tenant, number, generation, DONE];
        self.transaction.query_one(&sql, values, |row| self.generation_from(row))
    }

    /// The generation that held at an instant, deletions included.
    pub fn vault_generation_at(
        &self,
        number: i64,
        at: Timestamp,
    ) -> Result<Option<GenerationRow>, StoreError> {
        let sql = format!(
            "SELECT {ROW} FROM vault_generations
             WHERE tenant = $1 AND number = $2 AND at <= $3 AND state = $4 ORDER BY generation DESC LIMIT 1"
        );
        let values = params![self.tenant, number, at, DONE];
        self.transaction.query_one(&sql, values, |row| self.generation_from(row))
    }

    /// Generations whose bytes are not those of their hash, or whose hash is not that of the audit row that stored
    /// them, as file and generation. A generation whose salt was purged cannot be compared with its bytes.
    pub fn vault_unfounded(&self) -> Result<Vec<(i64, i64)>, StoreError> {
        let mut found = Vec::new();
        self.transaction.for_each(
            "SELECT g.number, g.generation, g.hash, g.salt, g.content, a.after_hash
             FROM vault_generations g LEFT JOIN audit a ON a.tenant = g.tenant AND a.seq = g.seq
             WHERE g.tenant = $1 ORDER BY g.number, g.generation",
            params![self.tenant],
            |row| {
                let hash = row.get::<Option<Vec<u8>>>(2)?;
                let salt = self.salt(row.get(3)?)?;
                let content = row.get::<Option<Vec<u8>>>(4)?;
                let recorded = hash == row.get::<Option<Vec<u8>>>(5)?;
                let whole = match (&salt, &content) {
                    (Some(salt), Some(content)) => {
                        hash.as_deref() == Some(vault_hash(salt, content).as_slice())
                    }
                    _ => true,
                };
                if !(recorded && whole) {
                    found.push((row.get(0)?, row.get(1)?));
                }
                Ok(())
            },
        )?;
        Ok(found)
    }

    /// The number that the next generation of the file at this place gets.
    pub fn next_generation(&self, number: Option<i64>) -> Result<i64, StoreError> {
        let Some(number) = number else { return Ok(1) };
        let last = self.transaction.query_one(
            "SELECT COALESCE(max(generation), 0) FROM vault_generations WHERE tenant = $1 AND number = $2",
            params![self.tenant, number],
            |row| row.get::<i64>(0),
        )?;
        Ok(last.unwrap_or(0) + 1)
    }

    fn head_from(&self, row: &Row<'_>) -> Result<VaultHead, StoreError> {
        Ok(VaultHead {
            number: row.get(0)?,
            namespace: row.get(1)?,
            path: row.get(2)?,
            generation: row.get(3)?,
            mtime: row.get(4)?,
            seq: row.get(5)?,
            size: row.get::<Option<i64>>(6)?.unwrap_or(0),
            hash: row.get::<Option<Vec<u8>>>(7)?.map(|hash| self.hash(&hash)).transpose()?,
            salt: self.salt(row.get(8)?)?,
        })
    }

    fn generation_from(&self, row: &Row<'_>) -> Result<GenerationRow, StoreError> {
        Ok(GenerationRow {
            number: row.get(0)?,
            generation: row.get(1)?,
            seq: row.get(2)?,
            at: row.get(3)?,
            origin: Origin::parse(row.text(4)?)?,
            is_failed: row.text(5)? == FAILED,
            writer: row.get(6)?,
            size: row.get(7)?,
            hash: row.get::<Option<Vec<u8>>>(8)?.map(|hash| self.hash(&hash)).transpose()?,
            salt: self.salt(row.get(9)?)?,
            has_content: row.get(10)?,
            id: row.get(11)?,
        })
    }

    fn salt(&self, bytes: Option<Vec<u8>>) -> Result<Option<[u8; 16]>, StoreError> {
        let salt = bytes.map(<[u8; 16]>::try_from).transpose();
        salt.map_err(|bytes| self.corrupt(format!("a salt has {} bytes instead of 16", bytes.len())))
    }
}

impl LedgerWrite<'_> {
    /// Stores a generation and makes it the head. Returns the file's number and that of the generation.
    ///
    /// Fails with [`Conflict::FileMoved`] when the head is no longer the generation it was made of, or another file
    /// that is the same to a person has appeared.
    pub fn insert_generation(&self, new: &NewGeneration<'_>, seq: Seq) -> Result<(i64, i64), StoreError> {
        let path = new.path.to_string();
        let head = self.vault_head(new.namespace, &path)?;
        let moved =
            || StoreError::from(Conflict::FileMoved { path: format!("{}/{path}", new.namespace).into() });
        if head.as_ref().map(|head| head.generation) != new.from {
            return Err(moved());
        }
        if !head.as_ref().is_some_and(VaultHead::is_present) && self.has_twin(new, &path)? {
            return Err(moved());
        }
        let generation = self.next_generation(head.map(|head| head.number))?;
        let size = i64::try_from(new.text.map_or(0, str::len)).unwrap_or(i64::MAX);
        let file = StoredFile { namespace: new.namespace, path: new.path, generation, mtime: new.mtime };
        let number = self.put_source(&file, (size, new.mtime, new.hash()), seq)?;
        let id = new.text.map(|_| vault_text_id(&new.salt));
        let stored = StoredGeneration {
            number,
            generation,
            at: self.head.get().at,
            origin: new.origin,
            state: DONE,
            writer: new.writer,
            size,
            hash: new.hash(),
            text: new.text.map(|text| (text, &new.salt, id.as_deref())),
        };
        self.put_generation(&stored, seq)?;
        self.put_vault_file(number, &file, seq)?;
        Ok((number, generation))
    }

    /// What the index follows of a file: its size, when it was changed, and its hash; none when it is gone.
    fn put_source(
        &self,
        file: &StoredFile<'_>,
        (size, mtime, hash): (i64, Timestamp, Option<[u8; 32]>),
        seq: Seq,
    ) -> Result<i64, StoreError> {
        let source = NewSource {
            namespace: file.namespace.to_owned(),
            project: None,
            root: format!("{ROOT}{}", file.namespace),
            path: file.path.to_string(),
            size,
            mtime,
            hash: hash.unwrap_or_default(),
            state: if hash.is_some() { SourceState::Present } else { SourceState::Gone },
        };
        self.record_source(&source, seq)
    }

    fn put_generation(&self, row: &StoredGeneration<'_>, seq: Seq) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO vault_generations (tenant, number, generation, seq, at, origin, state, writer, size, hash,
                 salt, content, id)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            params![
                self.tenant,
                row.number,
                row.generation,
                self.place(seq)?,
                row.at,
                row.origin.as_str(),
                row.state,
                row.writer,
                row.size,
                row.hash.as_ref(),
                row.text.map(|(_, salt, _)| salt),
                row.text.map(|(text, ..)| text.as_bytes()),
                row.text.and_then(|(.., id)| id)
            ],
        )
    }

    fn put_vault_file(&self, number: i64, file: &StoredFile<'_>, seq: Seq) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO vault_files (tenant, number, namespace, path, path_key, generation, mtime, seq)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (tenant, number) DO UPDATE SET generation = excluded.generation, mtime = excluded.mtime,
                 seq = excluded.seq",
            params![
                self.tenant,
                number,
                file.namespace,
                &file.path.to_string(),
                &file.path.key(),
                file.generation,
                file.mtime,
                self.place(seq)?
            ],
        )
    }

    /// Marks a generation whose file could not be written. If it is the head, the last one that held before is the
    /// head again.
    pub fn fail_generation(&self, number: i64, generation: i64, seq: Seq) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE vault_generations SET state = $4 WHERE tenant = $1 AND number = $2 AND generation = $3",
            params![self.tenant, number, generation, FAILED],
        )?;
        let head = self.vault_head_of(number)?.filter(|head| head.generation == generation);
        if head.is_none() {
            return Ok(());
        }
        let before = self.vault_generation_before(number, generation)?;
        let (hash, size) = before.as_ref().map_or((None, 0), |row| (row.hash, row.size));
        let state = if hash.is_some() { SourceState::Present } else { SourceState::Gone };
        self.transaction.post(
            "UPDATE vault_files SET generation = $3, mtime = 0, seq = $4 WHERE tenant = $1 AND number = $2",
            params![self.tenant, number, before.map_or(0, |row| row.generation), self.place(seq)?],
        )?;
        self.transaction.post(
            "UPDATE sources SET size = $3, hash = $4, state = $5, seq = $6 WHERE tenant = $1 AND number = $2",
            params![self.tenant, number, size, &hash.unwrap_or_default(), state.as_str(), self.place(seq)?],
        )?;
        Ok(())
    }

    /// Purges the text of the generation with this id, with its salt and with what the changelog says of it. False if there
    /// is none.
    pub(super) fn purge_vault_text(&self, id: &str) -> Result<bool, StoreError> {
        let found = self.transaction.query_one(
            "UPDATE vault_generations SET content = NULL, salt = NULL, id = NULL WHERE tenant = $1 AND id = $2
             RETURNING number, at",
            params![self.tenant, id],
            |row| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?)),
        )?;
        let Some((number, at)) = found else { return Ok(false) };
        self.transaction.post(
            "UPDATE vault_changes SET section = NULL, summary = '', reason = '', source_ref = NULL,
                 before_token = NULL, after_token = NULL, metadata = '{}'
             WHERE tenant = $1 AND number = $2 AND at = $3",
            params![self.tenant, number, at],
        )?;
        Ok(true)
    }

    /// Takes the text of generations that are no longer kept; their hashes stay. Nobody loses anything that holds.
    pub fn thin_generations(&self, number: i64, generations: &[i64]) -> Result<(), StoreError> {
        for generation in generations {
            self.transaction.post(
                "UPDATE vault_generations SET content = NULL
                 WHERE tenant = $1 AND number = $2 AND generation = $3 AND generation <> (SELECT f.generation
                     FROM vault_files f WHERE f.tenant = $1 AND f.number = $2)",
                params![self.tenant, number, *generation],
            )?;
        }
        Ok(())
    }

    /// Stores a file that comes from another home, with all its generations, oldest first, each with the change that
    /// records it. `head` is the generation that holds. Returns the file's number, or `None` when the place is taken.
    pub fn load_vault_file(
        &self,
        place: (&str, &VaultPath),
        head: i64,
        generations: &[(LoadedGeneration, Seq)],
    ) -> Result<Option<i64>, StoreError> {
        let (namespace, path) = (place.0, place.1.to_string());
        let Some((last, seq)) = generations.iter().find(|(row, _)| row.generation == head) else {
            return Err(StoreError::Invalid(format!("`{path}` has no generation {head}")));
        };
        if self.vault_head(namespace, &path)?.is_some() {
            return Ok(None);
        }
        // No file on disk has this time, so that the first look at it is a close one.
        let file = StoredFile { namespace, path: place.1, generation: head, mtime: Timestamp(0) };
        let number = self.put_source(&file, (last.stored_size(), last.at, last.hash()), *seq)?;
        for (row, seq) in generations {
            let text = row.text.as_deref().map(|text| (text, &row.salt, row.id.as_deref()));
            let stored = StoredGeneration {
                number,
                generation: row.generation,
                at: row.at,
                origin: row.origin,
                state: if row.is_failed { FAILED } else { DONE },
                writer: &row.writer,
                size: row.stored_size(),
                hash: row.hash(),
                text,
            };
            self.put_generation(&stored, *seq)?;
        }
        self.put_vault_file(number, &file, *seq)?;
        Ok(Some(number))
    }

    /// Notes when a file that holds its head was last changed, so that the next look is a cheap one. Nothing follows
    /// from it, so it needs no audit row.
    pub fn touch_vault_file(&self, number: i64, mtime: Timestamp) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE vault_files SET mtime = $3 WHERE tenant = $1 AND number = $2",
            params![self.tenant, number, mtime],
        )
    }

    /// Whether another file of the namespace, that is there, has a name that is the same to a person. Hands may make
    /// such files, tools do not.
    fn has_twin(&self, new: &NewGeneration<'_>, path: &str) -> Result<bool, StoreError> {
        if new.origin == Origin::Hand || new.text.is_none() {
            return Ok(false);
        }
        let twins = self.transaction.query(
            "SELECT g.hash FROM vault_files f JOIN vault_generations g ON g.tenant = f.tenant
                 AND g.number = f.number AND g.generation = f.generation
             WHERE f.tenant = $1 AND f.namespace = $2 AND f.path_key = $3 AND f.path <> $4 AND g.hash IS NOT NULL",
            params![self.tenant, new.namespace, &new.path.key(), path],
            |_| Ok(()),
        )?;
        Ok(!twins.is_empty())
    }
}
