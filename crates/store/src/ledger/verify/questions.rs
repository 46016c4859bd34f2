//! Comparing the questions in the queue with what the audit keeps of them.

use std::collections::HashSet;

use super::{CoveredReport, LISTED};
use crate::{
    error::StoreError,
    ledger::{
        LedgerRead,
        covered::{QuestionParts, no_events},
    },
    params,
    sql::Row,
};

/// A question that is not what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionFinding {
    /// Its text, reason, target or proposer is not what the audit has the digest of.
    #[error("review `{id}` does not ask what was asked")]
    Changed {
        /// The review.
        id: String,
    },
    /// It stands otherwise than the audit says: decided, decided so, or waiting.
    #[error("review `{id}` does not stand as the audit says")]
    Standing {
        /// The review.
        id: String,
    },
    /// A question on record that is in the queue no more, or without its digest.
    #[error("the question of audit entry {seq} is not in the queue as it was asked")]
    Lost {
        /// The audit row.
        seq: i64,
    },
}

impl LedgerRead<'_> {
    /// Compares every question with the digest that the audit keeps of it, and looks for questions on record that
    /// are not stored. Of one that a purge emptied only the digest is compared.
    pub fn verify_questions(&self) -> Result<CoveredReport<QuestionFinding>, StoreError> {
        let mut report = CoveredReport { covered: 0, uncovered: 0, findings: Vec::new() };
        self.transaction.for_each(
            "SELECT v.id, v.kind, v.target, v.proposal, v.reason, v.proposer, v.created_at, v.salt, v.digest,
                 EXISTS (SELECT 1 FROM audit a WHERE a.tenant = v.tenant AND a.target IN (v.id, v.target)
                     AND a.outcome = 'done' AND a.before_hash = v.digest),
                 v.status = 'pending' AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.tenant = v.tenant
                     AND a.seq = v.seq AND a.target IN (v.id, v.target))
             FROM reviews v WHERE v.tenant = $1 ORDER BY v.created_at, v.id",
            params![self.tenant],
            |row| {
                let fits = match row.get::<Option<Vec<u8>>>(8)? {
                    Some(digest) => {
                        report.covered += 1;
                        row.get(9)? && self.is_as_asked(row, &digest)?
                    }
                    None => {
                        report.uncovered += 1;
                        !row.get::<bool>(10)?
                    }
                };
                if !fits && report.findings.len() < LISTED {
                    report.findings.push(QuestionFinding::Changed { id: row.get(0)? });
                }
                Ok(())
            },
        )?;
        report.findings.extend(self.otherwise_decided()?);
        report.findings.extend(self.lost_questions()?);
        report.findings.truncate(LISTED);
        Ok(report)
    }

    fn is_as_asked(&self, row: &Row<'_>, digest: &[u8]) -> Result<bool, StoreError> {
        let Some(salt) = row.get::<Option<Vec<u8>>>(7)? else {
            // A purge took its words, and nothing else takes the salt.
            return Ok(row.text(3)? == "{}" && row.text(4)?.is_empty());
        };
        let salt =
            salt.as_slice().try_into().map_err(|_| self.corrupt("the salt of a review is not 16 bytes"))?;
        let parts = QuestionParts {
            id: row.text(0)?,
            kind: row.text(1)?,
            target: row.text(2)?,
            proposal: row.text(3)?,
            reason: row.text(4)?,
            proposer: row.text(5)?,
            created_at: row.get(6)?,
        };
        Ok(parts.digest(salt) == digest)
    }

    /// Reviews that stand as no line of the audit left them. The line of a decision says in its reason which review it
    /// decides and what was said of it; of one that came decided from another store only the question is on
    /// record, and of one that a purge emptied no word is left.
    fn otherwise_decided(&self) -> Result<Vec<QuestionFinding>, StoreError> {
        let decided = self.decided()?;
        let mut found = Vec::new();
        self.transaction.for_each(
            "SELECT v.id, v.status = 'pending', CASE
                 WHEN a.action = 'load' THEN TRUE
                 WHEN v.status = 'pending' THEN a.before_hash = v.digest AND v.decided_by IS NULL
                 WHEN a.reason = CASE v.decision_note WHEN '' THEN v.id ELSE v.id || ': ' || v.decision_note END
                     AND (v.decided_by = a.principal OR v.decided_by = a.on_behalf_of) THEN CASE a.action
                         WHEN 'approve' THEN v.status = 'approved'
                         WHEN 'reject' THEN v.status = 'rejected'
                         WHEN 'withdraw' THEN v.status = 'withdrawn'
                         WHEN 'resolve' THEN v.status = CASE WHEN a.after_hash = a.before_hash
                             THEN 'rejected' ELSE 'approved' END
                         WHEN 'expire' THEN v.status = 'withdrawn'
                     END
             END IS TRUE
             FROM reviews v
             LEFT JOIN audit a ON a.tenant = v.tenant AND a.seq = v.seq AND a.outcome = 'done'
             WHERE v.tenant = $1 AND v.salt IS NOT NULL ORDER BY v.id",
            params![self.tenant],
            |row| {
                let (id, waits, fits): (String, bool, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
                if !fits || waits && decided.contains(&id) {
                    found.push(QuestionFinding::Standing { id });
                }
                Ok(())
            },
        )?;
        Ok(found)
    }

    /// The reviews that the audit has a decision of.
    fn decided(&self) -> Result<HashSet<String>, StoreError> {
        let reasons: Vec<String> = self.transaction.query(
            "SELECT reason FROM audit WHERE tenant = $1 AND outcome = 'done'
                 AND action IN ('approve', 'reject', 'resolve', 'withdraw') AND reason LIKE 'rev!_%' ESCAPE '!'",
            params![self.tenant],
            |row| row.get(0),
        )?;
        let id = |reason: &String| reason.split(':').next().unwrap_or_default().to_owned();
        Ok(reasons.iter().map(id).collect())
    }

    /// Questions on record that no review has the digest of, but those about what was purged. Before questions were covered, the row of a
    /// proposed change had the hash of the memory it was about in the same place.
    fn lost_questions(&self) -> Result<Vec<QuestionFinding>, StoreError> {
        self.transaction.query(
            "SELECT a.seq FROM audit a
             WHERE a.tenant = $1 AND a.outcome = 'done' AND a.action IN ('propose', 'load')
                 AND a.before_hash <> $2
                 AND NOT EXISTS (SELECT 1 FROM reviews v WHERE v.tenant = a.tenant AND v.digest = a.before_hash)
                 AND NOT EXISTS (SELECT 1 FROM memories m
                     WHERE m.tenant = a.tenant AND m.id = a.target AND m.content_hash = a.before_hash)
                 AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.tenant = a.tenant AND t.id = a.target)
             ORDER BY a.seq",
            params![self.tenant, &no_events()],
            |row| Ok(QuestionFinding::Lost { seq: row.get(0)? }),
        )
    }
}
