//! How often memories were recalled and inspected. Counted, not audited, and no part of ranking.

use std::collections::BTreeMap;

use strata_core::time::Timestamp;

use super::{LedgerRead, LedgerWrite};
use crate::{
    error::StoreError,
    params,
    rows::{LIST, Rows, listed, padded},
};

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
        const RECALLED: Rows =
            Rows::new("INSERT INTO usage (tenant, number, recalled, inspected, last_recalled_at)", 5).or(
                "ON CONFLICT (tenant, number) DO UPDATE SET recalled = usage.recalled + excluded.recalled,
             last_recalled_at = excluded.last_recalled_at",
            );
        const INSPECTED: Rows =
            Rows::new("INSERT INTO usage (tenant, number, inspected, recalled, last_inspected_at)", 5).or(
                "ON CONFLICT (tenant, number) DO UPDATE SET inspected = usage.inspected + excluded.inspected,
             last_inspected_at = excluded.last_inspected_at",
            );
        for (rows, batch) in [(RECALLED, recalled), (INSPECTED, inspected)] {
            let mut times = BTreeMap::<i64, i64>::new();
            for (number, more) in batch {
                *times.entry(*number).or_default() += more;
            }
            let numbers: Vec<i64> = times.keys().copied().collect();
            let mut values = Vec::new();
            for number in self.present(&numbers)? {
                values.extend_from_slice(params![self.tenant, number, times[&number], 0_i64, self.now]);
            }
            rows.write(self.transaction, &values)?;
        }
        Ok(())
    }

    /// Those of `numbers` that memories have.
    fn present(&self, numbers: &[i64]) -> Result<Vec<i64>, StoreError> {
        let mut present = Vec::with_capacity(numbers.len());
        for chunk in numbers.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let list = listed(&mut values, padded(chunk).copied());
            let sql = format!("SELECT number FROM memories WHERE tenant = $1 AND number IN ({list})");
            present.extend(self.transaction.query(&sql, &values, |row| row.get::<i64>(0))?);
        }
        Ok(present)
    }
}
