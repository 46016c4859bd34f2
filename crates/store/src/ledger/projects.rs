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

impl LedgerRead<'_> {
    /// Every other name of every project, as (alias, key), by alias.
    pub fn project_aliases(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.transaction.query(
            "SELECT alias, key FROM project_aliases WHERE tenant = $1 ORDER BY alias",
            params![self.tenant],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Whether a memory, an event or a todo was stored in the project `key`, whether it is known or not.
    pub fn is_project_used(&self, key: &str) -> Result<bool, StoreError> {
        for table in ["memories", "episodes", "todos"] {
            let sql = format!("SELECT 1 FROM {table} WHERE tenant = $1 AND project = $2 LIMIT 1");
            if self.transaction.query_one(&sql, params![self.tenant, key], |row| row.get::<i64>(0))?.is_some()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How much of what is in the project `key`, of any status.
    pub fn project_holdings(&self, key: &str) -> Result<Vec<(&'static str, u64)>, StoreError> {
        const TABLES: [&str; 6] = ["memories", "episodes", "todos", "entities", "relations", "sources"];
        let count = |table: &'static str| {
            let sql = format!("SELECT count(*) FROM {table} WHERE tenant = $1 AND project = $2");
            let count =
                self.transaction.query_one(&sql, params![self.tenant, key], |row| row.get::<u64>(0))?;
            Ok((table, count.unwrap_or_default()))
        };
        TABLES.into_iter().map(count).collect()
    }

    /// Keys that memories carry and no project has, by key.
    pub fn unknown_projects(&self) -> Result<Vec<String>, StoreError> {
        self.transaction.query(
            "SELECT DISTINCT m.project FROM memories m WHERE m.tenant = $1 AND m.project <> '' AND NOT EXISTS
             (SELECT 1 FROM projects p WHERE p.tenant = m.tenant AND p.key = m.project) ORDER BY m.project",
            params![self.tenant],
            |row| row.get(0),
        )
    }

    /// How many live memories a project has.
    pub fn count_live_of_project(&self, key: &str) -> Result<u64, StoreError> {
        let count = self.transaction.query_one(
            "SELECT count(*) FROM memories WHERE tenant = $1 AND project = $2
             AND status IN ('active', 'stale', 'needs_review')",
            params![self.tenant, key],
            |row| row.get(0),
        )?;
        Ok(count.unwrap_or_default())
    }

    /// The numbers of a project's memories, of any status, by number.
    pub fn numbers_of_project(&self, key: &str) -> Result<Vec<i64>, StoreError> {
        self.transaction.query(
            "SELECT number FROM memories WHERE tenant = $1 AND project = $2 ORDER BY number",
            params![self.tenant, key],
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

    /// Takes a name away from whichever project has it.
    pub fn drop_project_alias(&self, alias: &str) -> Result<(), StoreError> {
        self.transaction.post(
            "DELETE FROM project_aliases WHERE tenant = $1 AND alias = $2",
            params![self.tenant, alias],
        )?;
        Ok(())
    }

    /// Lets every other name of `from`, and its key, name `to`; `from` is no project any more.
    pub fn join_projects(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE project_aliases SET key = $3 WHERE tenant = $1 AND key = $2",
            params![self.tenant, from, to],
        )?;
        self.drop_project(from)?;
        self.alias_project(from, to)
    }

    /// Forgets that the project is known, with its other names. What was stored in it stays.
    pub fn forget_project(&self, key: &str) -> Result<(), StoreError> {
        self.transaction
            .post("DELETE FROM project_aliases WHERE tenant = $1 AND key = $2", params![self.tenant, key])?;
        self.drop_project(key)
    }

    fn drop_project(&self, key: &str) -> Result<(), StoreError> {
        self.transaction
            .post("DELETE FROM projects WHERE tenant = $1 AND key = $2", params![self.tenant, key])?;
        Ok(())
    }
}
