//! What memories rest on.

use std::collections::HashMap;

use strata_core::time::Timestamp;

use super::{LedgerRead, LedgerWrite};
use crate::{
    error::StoreError,
    params,
    rows::{LIST, listed, padded},
};

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceRow {
    /// What sort: `test`, `file`, `episode`, `url`, `review`.
    pub kind: String,
    /// Where it is: a path with line and commit, an id, an address.
    pub reference: String,
    /// What it shows; empty if that is plain.
    pub note: String,
    /// When it was added.
    pub at: Timestamp,
}

impl LedgerRead<'_> {
    /// The evidence of a memory, in the order it was added.
    pub fn evidence(&self, number: i64) -> Result<Vec<EvidenceRow>, StoreError> {
        self.transaction.query(
            "SELECT kind, reference, note, at FROM evidence WHERE tenant = $1 AND number = $2 ORDER BY ordinal",
            params![self.tenant, number],
            |row| {
                Ok(EvidenceRow { kind: row.get(0)?, reference: row.get(1)?, note: row.get(2)?, at: row.get(3)? })
            },
        )
    }

    /// The evidence of each of these memories, in the order it was added; those without any are left out.
    pub fn evidence_of(&self, numbers: &[i64]) -> Result<HashMap<i64, Vec<EvidenceRow>>, StoreError> {
        let mut found: HashMap<i64, Vec<EvidenceRow>> = HashMap::new();
        for chunk in numbers.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let list = listed(&mut values, padded(chunk).copied());
            let sql = format!(
                "SELECT number, kind, reference, note, at FROM evidence
                 WHERE tenant = $1 AND number IN ({list}) ORDER BY number, ordinal"
            );
            self.transaction.for_each(&sql, &values, |row| {
                let evidence = EvidenceRow {
                    kind: row.get(1)?,
                    reference: row.get(2)?,
                    note: row.get(3)?,
                    at: row.get(4)?,
                };
                found.entry(row.get(0)?).or_default().push(evidence);
                Ok(())
            })?;
        }
        Ok(found)
    }
}

impl LedgerRead<'_> {
    /// The numbers of the memories that rest on evidence of a sort.
    pub fn memories_resting_on(&self, kind: &str) -> Result<Vec<i64>, StoreError> {
        self.transaction.query(
            "SELECT DISTINCT number FROM evidence WHERE tenant = $1 AND kind = $2 ORDER BY number",
            params![self.tenant, kind],
            |row| row.get(0),
        )
    }
}

impl LedgerWrite<'_> {
    /// Adds a piece of evidence to a memory.
    pub fn add_evidence(&self, number: i64, evidence: &EvidenceRow) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO evidence (tenant, number, ordinal, kind, reference, note, at)
             SELECT $1, $2, COALESCE(max(ordinal), 0) + 1, $3, $4, $5, $6 FROM evidence
             WHERE tenant = $1 AND number = $2",
            params![self.tenant, number, &evidence.kind, &evidence.reference, &evidence.note, evidence.at],
        )?;
        Ok(())
    }
}
