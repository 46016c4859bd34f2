//! Proving that the audit is whole, or saying where it is not.

use strata_core::{
    chain::{Break, Checkpoint, Head},
    signing::PublicKey,
};

use super::{
    LedgerRead, OPEN,
    audit::SignedHead,
    memories::content_hash,
    rules::{RuleAttributes, rule_hash},
};
use crate::{error::StoreError, params};

/// Who applies what a human's secret has approved.
const APPROVAL: &str = "system:approval";

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
    /// Something was approved later than the last head that was signed, and an approval signs.
    #[error("audit entry {seq} is an approval without a signature")]
    Unsigned {
        /// The approval.
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
            Self::Signature { seq } | Self::Unsigned { seq } | Self::UnknownKey { seq } => *seq,
        }
    }
}

/// Something that is wrong with a memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryFinding {
    /// Kind, title or body are not what the audit has the hash of.
    #[error("the text of `{id}` was changed behind the ledger's back")]
    TextChanged {
        /// The memory.
        id: String,
    },
    /// Its present state is not its last state row, or a state is not what the audit says was done.
    #[error("the state of `{id}` was changed behind the ledger's back")]
    StateChanged {
        /// The memory.
        id: String,
    },
}

/// A rule whose attributes are not what the audit recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("priority, condition or state of rule `{id}` was changed behind the ledger's back")]
pub struct RuleFinding {
    /// The memory.
    pub id: String,
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
        if key.is_some() {
            let last_signed = signed.iter().map(|head| head.checkpoint.seq).max().unwrap_or(0);
            findings.extend(self.unsigned_approval(last_signed)?);
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

    /// Compares every memory with the hash that the audit keeps of it, its present state with its last
    /// state row, and the layer and status of each state with the audit row that made it. Returns what is
    /// wrong, by number.
    pub fn verify_memories(&self) -> Result<Vec<MemoryFinding>, StoreError> {
        let mut findings = Vec::new();
        self.transaction.for_each(
            "SELECT m.id, m.salt, m.kind, m.title, m.body, m.content_hash, a.after_hash,
                 s.number IS NOT NULL AND s.status = m.status AND s.tier = m.tier AND s.layer = m.layer
                     AND s.confidence = m.confidence AND s.importance = m.importance AND s.pinned = m.pinned
                     AND NOT EXISTS (
                         SELECT 1 FROM memory_states h
                         JOIN audit r ON r.tenant = h.tenant AND r.seq = h.from_seq AND r.target = m.id
                         WHERE h.tenant = m.tenant AND h.number = m.number
                             AND (r.layer <> h.layer
                                 OR r.action IN ('remember', 'rule_add') AND h.status <> 'active'
                                 OR r.action = 'approve' AND h.status <> 'active'
                                 OR r.action = 'reject' AND h.status <> 'archived'
                                 OR r.action = 'propose' AND h.status <> 'candidate'
                                 OR r.action = 'forget' AND h.status <> 'trashed')),
                 u.priority, u.condition, u.enabled
             FROM memories m
             LEFT JOIN audit a ON a.tenant = m.tenant AND a.seq = m.seq AND a.target = m.id
             LEFT JOIN memory_states s ON s.tenant = m.tenant AND s.number = m.number
                 AND s.from_seq = m.state_seq AND s.to_seq = $2
             LEFT JOIN rules u ON u.tenant = m.tenant AND u.number = m.number AND u.from_seq = m.seq
             WHERE m.tenant = $1 ORDER BY m.number",
            params![self.tenant, OPEN],
            |row| {
                let salt = row.blob(1)?.try_into().map_err(|_| self.corrupt("a salt is not 16 bytes"))?;
                let hash = content_hash(salt, row.text(2)?, row.text(3)?, row.text(4)?);
                let recorded = row.get::<Option<Vec<u8>>>(6)?;
                let told = match row.get::<Option<i64>>(8)? {
                    // Stored as a rule with attributes: the audit has the hash of both.
                    Some(priority) => {
                        let attributes =
                            RuleAttributes { priority, condition: row.get(9)?, enabled: row.get(10)? };
                        rule_hash(salt, row.text(2)?, row.text(3)?, row.text(4)?, &attributes)
                    }
                    None => hash,
                };
                if row.blob(5)? != hash || recorded.is_some_and(|recorded| recorded != told) {
                    findings.push(MemoryFinding::TextChanged { id: row.get(0)? });
                }
                if !row.get::<bool>(7)? {
                    findings.push(MemoryFinding::StateChanged { id: row.get(0)? });
                }
                Ok(())
            },
        )?;
        Ok(findings)
    }

    /// Compares the attributes that every rule has or had with the hash that the audit keeps of them, and
    /// looks for changes on record whose attributes are gone. Returns what is wrong, by number.
    pub fn verify_rules(&self) -> Result<Vec<RuleFinding>, StoreError> {
        let mut wrong = Vec::new();
        let mut held: Option<(i64, i64)> = None;
        self.transaction.for_each(
            "SELECT m.id, m.salt, m.kind, m.title, m.body, u.priority, u.condition, u.enabled, a.after_hash,
                 u.number, u.from_seq, u.to_seq
             FROM rules u
             LEFT JOIN memories m ON m.tenant = u.tenant AND m.number = u.number
             LEFT JOIN audit a ON a.tenant = u.tenant AND a.seq = u.from_seq AND a.outcome = 'done'
                 AND a.target = m.id
             WHERE u.tenant = $1 ORDER BY u.number, u.from_seq",
            params![self.tenant],
            |row| {
                let (number, from, to): (i64, i64, i64) = (row.get(9)?, row.get(10)?, row.get(11)?);
                // A row ends where the next one begins, and the last one is open.
                let broken = match held.replace((number, to)) {
                    Some((before, end)) if before == number => end != from,
                    Some((before, end)) if end != OPEN => {
                        wrong.push(RuleFinding { id: format!("#{before}") });
                        false
                    }
                    _ => false,
                };
                let Some(id) = row.get::<Option<String>>(0)? else {
                    wrong.push(RuleFinding { id: format!("#{number} (no such memory)") });
                    return Ok(());
                };
                let salt = row.blob(1)?.try_into().map_err(|_| self.corrupt("a salt is not 16 bytes"))?;
                let attributes =
                    RuleAttributes { priority: row.get(5)?, condition: row.get(6)?, enabled: row.get(7)? };
                let hash = rule_hash(salt, row.text(2)?, row.text(3)?, row.text(4)?, &attributes);
                let recorded = row.get::<Option<Vec<u8>>>(8)?;
                if broken || recorded.is_none_or(|recorded| recorded != hash) {
                    wrong.push(RuleFinding { id });
                }
                Ok(())
            },
        )?;
        if let Some((number, _)) = held.filter(|(_, end)| *end != OPEN) {
            wrong.push(RuleFinding { id: format!("#{number}") });
        }
        wrong.extend(self.lost_attributes()?);
        wrong.dedup();
        Ok(wrong)
    }

    /// Rules with a recorded change of attributes that are stored nowhere.
    fn lost_attributes(&self) -> Result<Vec<RuleFinding>, StoreError> {
        self.transaction.query(
            "SELECT DISTINCT m.id, m.number FROM audit a
             JOIN memories m ON m.tenant = a.tenant AND m.id = a.target
             WHERE a.tenant = $1 AND a.outcome = 'done' AND a.after_hash <> m.content_hash
                 AND (a.action IN ('remember', 'update', 'propose', 'approve', 'load') OR a.action LIKE 'rule_%')
                 AND NOT EXISTS (SELECT 1 FROM rules u
                     WHERE u.tenant = a.tenant AND u.number = m.number AND u.from_seq = a.seq)
             ORDER BY m.number",
            params![self.tenant],
            |row| Ok(RuleFinding { id: row.get(0)? }),
        )
    }

    /// The first approval behind the last signed head.
    fn unsigned_approval(&self, last_signed: i64) -> Result<Option<Finding>, StoreError> {
        let sql = "SELECT min(seq) FROM audit WHERE tenant = $1 AND seq > $2 AND principal = $3 AND outcome = 'done'";
        let values = params![self.tenant, last_signed, APPROVAL];
        let seq = self.transaction.query_one(sql, values, |row| row.get::<Option<i64>>(0))?.flatten();
        Ok(seq.map(|seq| Finding::Unsigned { seq }))
    }

    fn unaudited(&self, last: i64) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        for (table, column) in [
            ("memory_states", "from_seq"),
            ("rules", "from_seq"),
            ("episodes", "seq"),
            ("sources", "seq"),
            ("reviews", "seq"),
            ("tombstones", "seq"),
        ] {
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
