//! Comparing todos with what the audit keeps of them.

use super::LISTED;
use crate::{
    error::StoreError,
    ledger::{LedgerRead, OPEN, todos::COLUMNS},
    params,
};

/// A todo that is not what the audit says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TodoFinding {
    /// One of its versions is not what the audit has the digest of, or its history has a hole.
    #[error("todo `{id}` was changed behind the ledger's back")]
    Changed {
        /// The todo.
        id: String,
    },
    /// It, or one of its versions, is on record and neither stored nor purged, or it is marked as purged although
    /// nobody purged it.
    #[error("todo `{id}` was taken out behind the ledger's back")]
    Missing {
        /// The todo.
        id: String,
    },
}

impl LedgerRead<'_> {
    /// Compares every version of every todo with the digest that the audit has of it, and looks for versions on record
    /// that are not stored. At most fifty findings.
    pub fn verify_todos(&self) -> Result<Vec<TodoFinding>, StoreError> {
        let mut findings = Vec::new();
        let sql = format!(
            "SELECT {COLUMNS}, a.after_hash FROM todos
             LEFT JOIN audit a ON a.tenant = todos.tenant AND a.seq = from_seq AND a.target = id AND a.outcome = 'done'
             WHERE todos.tenant = $1 ORDER BY number, from_seq"
        );
        self.transaction.for_each(&sql, params![self.tenant], |row| {
            let stored = self.todo_from(row)?;
            let recorded = row.get::<Option<Vec<u8>>>(22)?;
            let digest = stored.version.digest(&stored.origin);
            if recorded.is_none_or(|recorded| recorded != digest) {
                findings.push(TodoFinding::Changed { id: stored.origin.id });
            }
            Ok(())
        })?;
        findings.extend(self.todos_with_holes()?);
        findings.extend(self.missing_todos()?);
        let mut seen = Vec::new();
        findings.retain(|found| {
            let is_new = !seen.contains(found);
            if is_new {
                seen.push(found.clone());
            }
            is_new
        });
        findings.truncate(LISTED);
        Ok(findings)
    }

    /// Every version but the present one ends where the next begins, and there is a present one.
    fn todos_with_holes(&self) -> Result<Vec<TodoFinding>, StoreError> {
        self.transaction.query(
            "SELECT DISTINCT t.id FROM todos t WHERE t.tenant = $1 AND (
                 t.to_seq <> $2 AND NOT EXISTS (SELECT 1 FROM todos n
                     WHERE n.tenant = t.tenant AND n.number = t.number AND n.from_seq = t.to_seq)
                 OR NOT EXISTS (SELECT 1 FROM todos o
                     WHERE o.tenant = t.tenant AND o.number = t.number AND o.to_seq = $2))
             ORDER BY t.id",
            params![self.tenant, OPEN],
            |row| Ok(TodoFinding::Changed { id: row.get(0)? }),
        )
    }

    fn missing_todos(&self) -> Result<Vec<TodoFinding>, StoreError> {
        self.transaction.query(
            "SELECT a.target FROM audit a
             WHERE a.tenant = $1 AND a.outcome = 'done' AND a.after_hash IS NOT NULL
                 AND a.action IN ('todo_add', 'todo_update', 'todo_delete', 'todo_restore', 'load')
                 AND (a.target LIKE 'todo!_%' ESCAPE '!' OR a.target LIKE 'gov-%')
                 AND NOT EXISTS (SELECT 1 FROM todos t
                     WHERE t.tenant = a.tenant AND t.id = a.target AND t.from_seq = a.seq)
                 AND NOT EXISTS (SELECT 1 FROM tombstones s WHERE s.tenant = a.tenant AND s.id = a.target)
             UNION
             SELECT s.id FROM tombstones s
             LEFT JOIN audit r ON r.tenant = s.tenant AND r.seq = s.seq AND r.target = s.id AND r.outcome = 'done'
                 AND r.action IN ('purge', 'load')
             WHERE s.tenant = $1 AND s.kind = 'todo' AND r.seq IS NULL
             ORDER BY 1",
            params![self.tenant],
            |row| Ok(TodoFinding::Missing { id: row.get(0)? }),
        )
    }

    /// Todos that wait for something which is not here and never was, at most `limit`.
    pub fn todos_blocked_by_nothing(&self, limit: usize) -> Result<Vec<String>, StoreError> {
        let mut after = (0, 0);
        let mut found = Vec::new();
        loop {
            let page = self.todo_versions_after(after, 500)?;
            let Some(last) = page.last() else { return Ok(found) };
            after = (last.number, last.from_seq);
            for row in page.into_iter().filter(|row| row.to_seq == OPEN && row.version.deleted_at.is_none()) {
                let mut lost = false;
                for id in &row.version.blocked_by {
                    lost |= self.todo(id)?.is_none() && !self.is_purged(id)?;
                }
                if lost {
                    found.push(row.origin.id);
                }
                if found.len() >= limit {
                    return Ok(found);
                }
            }
        }
    }
}
