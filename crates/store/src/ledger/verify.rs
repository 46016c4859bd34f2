//! Proving that the audit is whole, or saying where it is not.

use strata_core::{
    chain::{Break, Checkpoint, Head},
    signing::PublicKey,
};

use super::{LedgerRead, audit::SignedHead};
use crate::{error::StoreError, params};

/// How many findings are listed; more say nothing new.
const LISTED: usize = 50;

/// Something that is wrong with the audit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// The chain of hashes does not hold: a gap, a changed row, a cut or rewritten tail.
    #[error(transparent)]
    Chain(#[from] Break),
    /// Data points at an audit row that is not there: the tail was cut off.
    #[error(
        "{table} rows up to sequence {seq} are stored, but the audit ends at {last}: its tail was cut off"
    )]
    Unaudited {
        /// The table.
        table: &'static str,
        /// The highest sequence in it.
        seq: i64,
        /// The last audit row.
        last: i64,
    },
    /// A signed head whose signature does not fit.
    #[error("the signature of audit entry {seq} does not fit")]
    Signature {
        /// The entry that was signed.
        seq: i64,
    },
    /// A head signed with a key that is not the human's.
    #[error("audit entry {seq} was signed with an unknown key")]
    UnknownKey {
        /// The entry that was signed.
        seq: i64,
    },
}

impl Finding {
    /// The sequence from which on the audit cannot be trusted.
    pub fn seq(&self) -> i64 {
        match self {
            Self::Chain(found) => found.seq(),
            Self::Unaudited { last, .. } => last.saturating_add(1),
            Self::Signature { seq } | Self::UnknownKey { seq } => *seq,
        }
    }
}

/// What a check of the audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditReport {
    /// Rows looked at.
    pub entries: i64,
    /// The last row.
    pub head: Head,
    /// How many signed heads the chain was compared with.
    pub signed_heads: usize,
    /// What is wrong, in order of place; empty if the audit is whole.
    pub findings: Vec<Finding>,
}

impl AuditReport {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.findings.is_empty()
    }
}

impl LedgerRead<'_> {
    /// Follows the whole chain and compares it with everything that knows better: the heads that the
    /// human signed, the sequences that memories and episodes carry, and `witnesses`, heads that were
    /// seen elsewhere (the index, a backup) in this epoch.
    ///
    /// With `key`, signatures are checked against it; without, signed heads only bear witness.
    pub fn verify_audit(
        &self,
        witnesses: &[Checkpoint],
        key: Option<&PublicKey>,
    ) -> Result<AuditReport, StoreError> {
        let mut findings = Vec::new();
        let signed = self.signed_heads()?;
        let mut checkpoints = witnesses.to_vec();
        for head in &signed {
            match check_signature(head, key) {
                Some(finding) => findings.push(finding),
                None => checkpoints.push(head.checkpoint),
            }
        }
        let (entries, head) = self.follow_chain(&checkpoints, &mut findings)?;
        let behind = checkpoints.iter().filter(|checkpoint| checkpoint.seq > head.seq);
        findings.extend(behind.filter_map(|checkpoint| head.check(checkpoint).err().map(Finding::from)));
        findings.extend(self.unaudited(head.seq)?);
        findings.sort_by_key(Finding::seq);
        findings.dedup();
        findings.truncate(LISTED);
        Ok(AuditReport { entries, head, signed_heads: signed.len(), findings })
    }

    /// Follows the chain row by row. After a break it goes on from the stored hash, so that each
    /// break is found and not only the first.
    fn follow_chain(
        &self,
        checkpoints: &[Checkpoint],
        findings: &mut Vec<Finding>,
    ) -> Result<(i64, Head), StoreError> {
        let mut entries = 0;
        let mut head = Head::GENESIS;
        self.for_each_audit(|row| {
            entries += 1;
            head = match head.follow(&row) {
                Ok(next) => next,
                Err(found) => {
                    if findings.len() < LISTED {
                        findings.push(found.into());
                    }
                    Head { seq: row.entry.seq, hash: row.hash, at: row.entry.at }
                }
            };
            let here = checkpoints.iter().filter(|checkpoint| checkpoint.seq == head.seq);
            findings.extend(here.filter_map(|checkpoint| head.check(checkpoint).err().map(Finding::from)));
            Ok(())
        })?;
        Ok((entries, head))
    }

    fn unaudited(&self, last: i64) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        for (table, column) in [("memory_states", "from_seq"), ("episodes", "seq"), ("tombstones", "seq")] {
            let sql = format!("SELECT COALESCE(max({column}), 0) FROM {table} WHERE tenant = $1");
            let seq = self.transaction.query_one(&sql, params![self.tenant], |row| row.get(0))?.unwrap_or(0);
            if seq > last {
                findings.push(Finding::Unaudited { table, seq, last });
            }
        }
        Ok(findings)
    }
}

/// What is wrong with a signed head, looked at alone.
fn check_signature(head: &SignedHead, key: Option<&PublicKey>) -> Option<Finding> {
    let seq = head.checkpoint.seq;
    let key = key?;
    if key.to_bytes() != head.public_key {
        return Some(Finding::UnknownKey { seq });
    }
    let fits = key.verify_head(seq, &head.checkpoint.hash, &head.epoch, &head.signature);
    fits.err().map(|_| Finding::Signature { seq })
}
