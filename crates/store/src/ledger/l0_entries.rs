//! The entries of the index of knowledge that somebody wrote by hand. The others are made of the files and are stored
//! nowhere.

use std::collections::HashMap;

use strata_core::time::Timestamp;

use super::{LedgerRead, LedgerWrite, Seq, covered::salted};
use crate::{error::StoreError, params, sql::Row};

/// An entry to be stored.
#[derive(Debug, Clone)]
pub struct NewL0Entry {
    /// The namespace whose index it stands in.
    pub namespace: String,
    /// The file it points at, below that.
    pub path: String,
    /// What it says.
    pub summary: String,
    /// Who wrote it.
    pub writer: String,
    /// Sixteen random bytes. They salt its digest and go with it.
    pub salt: [u8; 16],
}

impl NewL0Entry {
    /// What the audit covers of it.
    pub fn digest(&self) -> [u8; 32] {
        digest(&self.salt, [&self.namespace, &self.path, &self.summary, &self.writer])
    }
}

fn digest(salt: &[u8; 16], parts: [&str; 4]) -> [u8; 32] {
    salted("l0", salt, &parts.map(Some))
}

/// An entry as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct L0EntryRow {
    /// The namespace whose index it stands in.
    pub namespace: String,
    /// The file it points at, below that.
    pub path: String,
    /// What it says.
    pub summary: String,
    /// Who wrote it.
    pub writer: String,
    /// When.
    pub at: Timestamp,
    /// The change that wrote it.
    pub seq: i64,
    /// What the audit covers of it.
    pub digest: [u8; 32],
}

const COLUMNS: &str = "namespace, path, summary, writer, at, seq, salt";

impl LedgerRead<'_> {
    /// The entries in the indexes of two namespaces, which may be the same, by path.
    pub fn l0_entries(&self, namespaces: [&str; 2]) -> Result<Vec<L0EntryRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM l0_entries WHERE tenant = $1 AND namespace IN ($2, $3)
             ORDER BY path, namespace"
        );
        let [own, shared] = namespaces;
        self.transaction.query(&sql, params![self.tenant, own, shared], |row| self.l0_entry_from(row))
    }

    /// The entries of every index, by namespace and path.
    pub fn all_l0_entries(&self) -> Result<Vec<L0EntryRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM l0_entries WHERE tenant = $1 ORDER BY namespace, path");
        self.transaction.query(&sql, params![self.tenant], |row| self.l0_entry_from(row))
    }

    /// Entries that say something else than the audit has the digest of, as (namespace, path).
    pub fn altered_l0_entries(&self) -> Result<Vec<(String, String)>, StoreError> {
        let recorded: HashMap<i64, Option<[u8; 32]>> = self
            .transaction
            .query(
                "SELECT a.seq, a.after_hash FROM audit a JOIN l0_entries e ON e.tenant = a.tenant AND e.seq = a.seq
                 WHERE a.tenant = $1 AND a.outcome = 'done'",
                params![self.tenant],
                |row| {
                    let hash: Option<Vec<u8>> = row.get(1)?;
                    Ok((row.get(0)?, hash.and_then(|hash| hash.try_into().ok())))
                },
            )?
            .into_iter()
            .collect();
        let stored = self.all_l0_entries()?;
        let is_altered = |entry: &L0EntryRow| recorded.get(&entry.seq) != Some(&Some(entry.digest));
        Ok(stored.into_iter().filter(is_altered).map(|entry| (entry.namespace, entry.path)).collect())
    }

    fn l0_entry_from(&self, row: &Row<'_>) -> Result<L0EntryRow, StoreError> {
        let (namespace, path): (String, String) = (row.get(0)?, row.get(1)?);
        let (summary, writer): (String, String) = (row.get(2)?, row.get(3)?);
        let salt =
            row.blob(6)?.try_into().map_err(|_| self.corrupt("the salt of an entry is not 16 bytes"))?;
        let digest = digest(salt, [&namespace, &path, &summary, &writer]);
        Ok(L0EntryRow { namespace, path, summary, writer, at: row.get(4)?, seq: row.get(5)?, digest })
    }
}

impl LedgerWrite<'_> {
    /// Stores an entry in the place of one that points at the same file. The audit row of `seq` must have its digest as
    /// `after_hash`.
    pub fn put_l0_entry(&self, new: &NewL0Entry, seq: Seq) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO l0_entries (tenant, namespace, path, summary, writer, at, seq, salt)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (tenant, namespace, path) DO UPDATE SET summary = excluded.summary, writer = excluded.writer,
                 at = excluded.at, seq = excluded.seq, salt = excluded.salt",
            params![
                self.tenant,
                &new.namespace,
                &new.path,
                &new.summary,
                &new.writer,
                self.now,
                self.place(seq)?,
                &new.salt
            ],
        )?;
        Ok(())
    }

    /// Takes an entry out; false if there is none.
    pub fn remove_l0_entry(&self, namespace: &str, path: &str) -> Result<bool, StoreError> {
        let removed = self.transaction.execute(
            "DELETE FROM l0_entries WHERE tenant = $1 AND namespace = $2 AND path = $3",
            params![self.tenant, namespace, path],
        )?;
        Ok(removed > 0)
    }
}
