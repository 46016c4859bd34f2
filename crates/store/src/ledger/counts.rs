//! How much there is.

use strata_core::{
    memory::{Kind, Layer, Status},
    scope::Scope,
};

use super::{LedgerRead, OPEN, memories::scope_from};
use crate::{error::StoreError, params};

/// How many memories agree in all of this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryCount {
    /// Where they belong.
    pub scope: Scope,
    /// Their layer.
    pub layer: Layer,
    /// Their kind.
    pub kind: Kind,
    /// Their status.
    pub status: Status,
    /// How many.
    pub count: i64,
}

/// How many rows there are of each sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Memories of every status.
    pub memories: i64,
    /// Episodes.
    pub episodes: i64,
    /// Entities of the graph.
    pub entities: i64,
    /// Relations that hold.
    pub relations: i64,
    /// Files that are indexed where they lie and are present.
    pub sources: i64,
    /// Todos of every status, deleted ones too.
    pub todos: i64,
    /// Todos that are neither closed nor deleted.
    pub open_todos: i64,
    /// Reviews that wait.
    pub pending_reviews: i64,
    /// Jobs queued or running.
    pub open_jobs: i64,
    /// Audit rows.
    pub audit: i64,
    /// Things that were purged.
    pub purged: i64,
}

impl LedgerRead<'_> {
    /// Counts memories per scope, layer, kind and status.
    pub fn memory_counts(&self) -> Result<Vec<MemoryCount>, StoreError> {
        self.transaction.query(
            "SELECT namespace, project, branch, layer, kind, status, count(*) FROM memories WHERE tenant = $1
             GROUP BY namespace, project, branch, layer, kind, status
             ORDER BY namespace, project, branch, layer, kind, status",
            params![self.tenant],
            |row| {
                Ok(MemoryCount {
                    scope: scope_from(row, 0)?,
                    layer: Layer::parse(row.text(3)?)?,
                    kind: Kind::parse(row.text(4)?)?,
                    status: Status::parse(row.text(5)?)?,
                    count: row.get(6)?,
                })
            },
        )
    }

    /// How often memories of a project were changed, on whatever branch: what one transaction did counts once.
    pub fn memory_changes(&self, namespace: &str, project: Option<&str>) -> Result<i64, StoreError> {
        let count = self.transaction.query_one(
            "SELECT count(DISTINCT s.from_seq) FROM memory_states s
             JOIN memories m ON m.tenant = s.tenant AND m.number = s.number
             WHERE s.tenant = $1 AND m.namespace = $2 AND m.project = $3",
            params![self.tenant, namespace, project.unwrap_or("")],
            |row| row.get(0),
        )?;
        Ok(count.unwrap_or(0))
    }

    /// Counts the rows of each sort.
    pub fn totals(&self) -> Result<Totals, StoreError> {
        let count = |table_and_condition: &str| -> Result<i64, StoreError> {
            let sql = format!("SELECT count(*) FROM {table_and_condition}");
            Ok(self.transaction.query_one(&sql, params![self.tenant], |row| row.get(0))?.unwrap_or(0))
        };
        Ok(Totals {
            memories: count("memories WHERE tenant = $1")?,
            episodes: count("episodes WHERE tenant = $1")?,
            entities: count("entities WHERE tenant = $1")?,
            relations: count("relations WHERE tenant = $1 AND ended_at IS NULL")?,
            sources: count("sources WHERE tenant = $1 AND state = 'present'")?,
            todos: count(&format!("todos WHERE tenant = $1 AND to_seq = {OPEN}"))?,
            open_todos: count(&format!(
                "todos WHERE tenant = $1 AND to_seq = {OPEN} AND deleted_at IS NULL
                     AND status IN ('pending', 'in_progress')"
            ))?,
            pending_reviews: count("reviews WHERE tenant = $1 AND status = 'pending'")?,
            open_jobs: count("jobs WHERE tenant = $1 AND state IN ('queued', 'running')")?,
            audit: count("audit WHERE tenant = $1")?,
            purged: count("tombstones WHERE tenant = $1")?,
        })
    }
}
