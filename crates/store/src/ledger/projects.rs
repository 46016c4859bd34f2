//! Projects and the other names they go by.

use strata_core::time::Timestamp;

use super::{LedgerRead, LedgerWrite};
use crate::{error::StoreError, params};

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    /// Its stable key, as scopes carry it.
    pub key: String,
    /// What people call it.
    pub name: String,
    /// When it was first seen.
    pub created_at: Timestamp,
}

impl LedgerRead<'_> {
    /// Every project, by key.
    pub fn projects(&self) -> Result<Vec<ProjectRow>, StoreError> {
        self.transaction.query(
            "SELECT key, name, created_at FROM projects WHERE tenant = $1 ORDER BY key",
            params![self.tenant],
            |row| Ok(ProjectRow { key: row.get(0)?, name: row.get(1)?, created_at: row.get(2)? }),
        )
    }

    /// The key of the project that `name` is the key or an alias of.
    pub fn project_key(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.transaction.query_one(
            "SELECT key FROM projects WHERE tenant = $1 AND key = $2
             UNION ALL SELECT key FROM project_aliases WHERE tenant = $1 AND alias = $2 LIMIT 1",
            params![self.tenant, name],
            |row| row.get(0),
        )
    }
}

impl LedgerWrite<'_> {
    /// Makes the project known; a later name replaces the earlier.
    pub fn ensure_project(&self, key: &str, name: &str) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO projects (tenant, key, name, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (tenant, key) DO UPDATE SET name = excluded.name WHERE projects.name <> excluded.name",
            params![self.tenant, key, name, self.now],
        )?;
        Ok(())
    }

    /// Lets `alias` (a remote address, an earlier path) name the project `key`.
    pub fn alias_project(&self, alias: &str, key: &str) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO project_aliases (tenant, alias, key) VALUES ($1, $2, $3)
             ON CONFLICT (tenant, alias) DO UPDATE SET key = excluded.key",
            params![self.tenant, alias, key],
        )?;
        Ok(())
    }
}
