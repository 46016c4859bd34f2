//! How often memories were recalled and inspected. Counted, not audited, and no part of ranking.

use strata_core::time::Timestamp;

use super::{LedgerRead, LedgerWrite};
use crate::{error::StoreError, params};

/// How often a memory was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageRow {
    /// Times it was among the results of a recall.
    pub recalled: i64,
    /// Times it was looked at whole.
    pub inspected: i64,
    /// The latest recall.
    pub last_recalled_at: Option<Timestamp>,
    /// The latest look.
    pub last_inspected_at: Option<Timestamp>,
}

impl LedgerRead<'_> {
    /// The use made of a memory; zeros if none was.
    pub fn usage(&self, number: i64) -> Result<UsageRow, StoreError> {
        let row = self.transaction.query_one(
            "SELECT recalled, inspected, last_recalled_at, last_inspected_at FROM usage
             WHERE tenant = $1 AND number = $2",
            params![self.tenant, number],
            |row| {
                Ok(UsageRow {
                    recalled: row.get(0)?,
                    inspected: row.get(1)?,
                    last_recalled_at: row.get(2)?,
                    last_inspected_at: row.get(3)?,
                })
            },
        )?;
        Ok(row.unwrap_or_default())
    }
}

impl LedgerWrite<'_> {
    /// Counts a batch of uses, given as (number, times). Memories purged meanwhile are passed over.
    pub fn count_usage(&self, recalled: &[(i64, i64)], inspected: &[(i64, i64)]) -> Result<(), StoreError> {
        for (column, batch) in [("recalled", recalled), ("inspected", inspected)] {
            let sql = format!(
                "INSERT INTO usage (tenant, number, recalled, inspected, last_{column}_at)
                 SELECT tenant, number, $3, $4, $5 FROM memories WHERE tenant = $1 AND number = $2
                 ON CONFLICT (tenant, number) DO UPDATE SET
                     {column} = usage.{column} + excluded.{column}, last_{column}_at = excluded.last_{column}_at"
            );
            for (number, times) in batch {
                let (recalls, looks) = if column == "recalled" { (*times, 0) } else { (0, *times) };
                self.transaction.execute(&sql, params![self.tenant, *number, recalls, looks, self.now])?;
            }
        }
        Ok(())
    }
}
