//! What the ledger knows of itself: its epoch, its key, the user's settings.

use strata_core::{chain::GENESIS, time::Timestamp};

use super::{LedgerRead, LedgerWrite};
use crate::{error::StoreError, params, sql::Transaction};

/// What a new ledger is given; all of it is drawn by the caller.
#[derive(Clone)]
pub struct Birth {
    /// Names this line of sequence numbers. A restore draws another, so that whatever was derived
    /// from the old line is seen to be out of date.
    pub epoch: String,
    /// Random; keys the fingerprints of content.
    pub store_key: [u8; 32],
    /// When.
    pub at: Timestamp,
}

/// The key is not shown.
impl std::fmt::Debug for Birth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Birth").field("epoch", &self.epoch).field("at", &self.at).finish_non_exhaustive()
    }
}

pub(super) const EPOCH: &str = "epoch";
pub(super) const STORE_KEY: &str = "store_key";
const CREATED_AT: &str = "created_at";

/// Writes the first rows of a new ledger.
pub(super) fn record_birth(
    transaction: &Transaction<'_>,
    tenant: &str,
    birth: &Birth,
) -> Result<(), StoreError> {
    let key = blake3::Hash::from_bytes(birth.store_key).to_hex();
    let values =
        [(EPOCH, birth.epoch.as_str()), (STORE_KEY, key.as_str()), (CREATED_AT, &birth.at.0.to_string())];
    for (name, value) in values {
        transaction.post(
            "INSERT INTO meta (tenant, key, value) VALUES ($1, $2, $3)",
            params![tenant, name, value],
        )?;
    }
    Ok(())
}

impl LedgerRead<'_> {
    /// Names the present line of sequence numbers.
    pub fn epoch(&self) -> Result<String, StoreError> {
        self.meta(EPOCH)?.ok_or_else(|| self.not_initialised())
    }

    /// When the ledger was made.
    pub fn created_at(&self) -> Result<Timestamp, StoreError> {
        let text = self.meta(CREATED_AT)?.ok_or_else(|| self.not_initialised())?;
        text.parse().map(Timestamp).map_err(|_| self.corrupt(format!("created_at is `{text}`")))
    }

    /// The value of a setting.
    pub fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.transaction.query_one(
            "SELECT value FROM settings WHERE tenant = $1 AND key = $2",
            params![self.tenant, key],
            |row| row.get(0),
        )
    }

    /// Every setting, by name.
    pub fn settings(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.transaction.query(
            "SELECT key, value FROM settings WHERE tenant = $1 ORDER BY key",
            params![self.tenant],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Whether the ledger has its first rows; without them it is what a copy that was cut off left behind.
    pub fn is_born(&self) -> Result<bool, StoreError> {
        Ok(self.meta(EPOCH)?.is_some())
    }

    pub(super) fn not_initialised(&self) -> StoreError {
        StoreError::CutOff { path: self.transaction.path().to_path_buf() }
    }

    pub(super) fn corrupt(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Corrupt { path: self.transaction.path().to_path_buf(), detail: detail.into() }
    }

    /// Reads a 32-byte hash.
    pub(super) fn hash(&self, bytes: &[u8]) -> Result<[u8; 32], StoreError> {
        bytes.try_into().map_err(|_| self.corrupt(format!("a hash has {} bytes instead of 32", bytes.len())))
    }

    fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.transaction.query_one(
            "SELECT value FROM meta WHERE tenant = $1 AND key = $2",
            params![self.tenant, key],
            |row| row.get(0),
        )
    }

    pub(super) fn store_key(&self) -> Result<[u8; 32], StoreError> {
        match self.store_key.get() {
            Some(key) => Ok(*key),
            None => self.keep_store_key(&self.meta(STORE_KEY)?.ok_or_else(|| self.not_initialised())?),
        }
    }

    /// Reads the key, to be at hand from now on.
    pub(super) fn keep_store_key(&self, text: &str) -> Result<[u8; 32], StoreError> {
        let key = blake3::Hash::from_hex(text).map_err(|_| self.corrupt("the store key is damaged"))?;
        Ok(*self.store_key.get_or_init(|| *key.as_bytes()))
    }

    /// The fingerprint under which a memory with this identity text is found again: BLAKE3 keyed
    /// with the store's own key, so that it means nothing outside this store.
    pub fn content_key(&self, identity: &str) -> Result<[u8; 32], StoreError> {
        Ok(*blake3::keyed_hash(&self.store_key()?, identity.as_bytes()).as_bytes())
    }
}

impl LedgerWrite<'_> {
    /// Sets a setting.
    pub fn set_setting(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO settings (tenant, key, value) VALUES ($1, $2, $3)
             ON CONFLICT (tenant, key) DO UPDATE SET value = excluded.value",
            params![self.tenant, key, value],
        )?;
        Ok(())
    }

    /// Removes a setting, if it is there.
    pub fn remove_setting(&self, key: &str) -> Result<(), StoreError> {
        self.transaction
            .execute("DELETE FROM settings WHERE tenant = $1 AND key = $2", params![self.tenant, key])?;
        Ok(())
    }

    /// Starts another line of sequence numbers: after a restore, or an import into an empty ledger.
    pub fn set_epoch(&self, epoch: &str) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE meta SET value = $3 WHERE tenant = $1 AND key = $2",
            params![self.tenant, EPOCH, epoch],
        )?;
        Ok(())
    }

    /// Fingerprints `parts` with the store's key, each preceded by its length so that no two lists
    /// of parts are alike.
    pub(super) fn fingerprint(&self, parts: &[&str]) -> Result<[u8; 32], StoreError> {
        let mut hasher = blake3::Hasher::new_keyed(&self.store_key()?);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        Ok(*hasher.finalize().as_bytes())
    }

    pub(super) fn is_first_entry(&self) -> bool {
        self.head.get().hash == GENESIS
    }
}
