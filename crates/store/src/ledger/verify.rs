//! Proving that the audit is whole, or saying where it is not.

mod events;
mod origins;
mod questions;
mod rules;
mod todos;

use std::collections::BTreeSet;

use strata_core::{
    chain::{AuditEntry, Break, Checkpoint, Head, Outcome},
    signing::PublicKey,
    time::Timestamp,
};

pub use self::{events::EventFinding, questions::QuestionFinding, rules::RuleFinding, todos::TodoFinding};
use super::{
    LedgerRead, OPEN,
    audit::SignedHead,
    memories::{CONTENT_COLUMNS, CONTENT_PARTS, content_hash},
    rules::{RuleAttributes, rule_hash},
    states::State,
};
use crate::{backup::PURGED_AGAIN, error::StoreError, params, sql::Row};

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
    /// Something was approved and its change has no signed head, although an approval signs.
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

/// What a comparison of texts with their digests found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredReport<F> {
    /// Rows that the audit covers.
    pub covered: i64,
    /// Rows from before the audit covered such texts: nothing can be said of them.
    pub uncovered: i64,
    /// What is wrong, at most fifty.
    pub findings: Vec<F>,
}

/// Something that is wrong with a memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryFinding {
    /// What never changes in it (text, scope, topic, tags, validity, origin, metadata, and the tier, confidence,
    /// importance and pin it was stored with) is not what the audit has the hash of.
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
    /// It is on record and neither stored nor purged, or marked as purged although nobody purged it.
    #[error("`{id}` was taken out behind the ledger's back")]
    Missing {
        /// The memory.
        id: String,
    },
}

/// A link from one memory to another that was there when it was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// The memory it was stored to replace.
    Supersedes,
    /// The memory it belongs under.
    Parent,
}

impl Link {
    const fn column(self) -> &'static str {
        match self {
            Self::Supersedes => "supersedes",
            Self::Parent => "parent",
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
        let mut approvals = Approvals::default();
        let (entries, head) = self.follow_chain(&checkpoints, &mut approvals, &mut findings)?;
        if key.is_some() {
            findings.extend(approvals.unsigned(&signed));
        }
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
        approvals: &mut Approvals,
        findings: &mut Vec<Finding>,
    ) -> Result<(i64, Head), StoreError> {
        let mut entries = 0;
        let mut head = Head::GENESIS;
        self.for_each_audit(|row| {
            entries += 1;
            approvals.see(&row.entry);
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
    /// state row, and each state with the audit row that made it: layer and status, and all of it where that row
    /// has the state's hash. Also names what no audit row can have made, and what is gone though it was
    /// never purged.
    pub fn verify_memories(&self) -> Result<Vec<MemoryFinding>, StoreError> {
        let mut findings = Vec::new();
        self.transaction.for_each(&with_their_records(), params![self.tenant, OPEN], |row| {
            self.judge_memory(row, &mut findings)
        })?;
        let mut others = self.changed_states()?;
        others.extend(self.without_origin()?);
        others.extend(self.missing()?);
        for changed in others {
            if !findings.contains(&changed) {
                findings.push(changed);
            }
        }
        Ok(findings)
    }

    /// Compares one row of [`with_their_records`] with what is on record.
    fn judge_memory(&self, row: &Row<'_>, findings: &mut Vec<MemoryFinding>) -> Result<(), StoreError> {
        const AFTER: usize = CONTENT_PARTS;
        let salt = row.blob(AFTER + 1)?.try_into().map_err(|_| self.corrupt("a salt is not 16 bytes"))?;
        let mut parts: [Option<String>; CONTENT_PARTS] = Default::default();
        for (at, part) in parts.iter_mut().enumerate() {
            *part = row.get(at)?;
        }
        let born = match row.get::<Option<String>>(AFTER + 9)? {
            Some(_) => Some(State::from_row(row, AFTER + 9)?),
            None => None,
        };
        let parts = parts.each_ref().map(Option::as_deref);
        let hash = content_hash(salt, row.get(AFTER + 2)?, parts, born.as_ref());
        let recorded = row.get::<Option<Vec<u8>>>(AFTER + 4)?;
        // What is stored as a rule with attributes has the hash of both on record.
        let expected = match row.get::<Option<i64>>(AFTER + 6)? {
            Some(_) => rule_hash(&hash, &RuleAttributes::from_row(row, AFTER + 6)?),
            None => hash,
        };
        if born.is_none() || !row.get::<bool>(AFTER + 5)? {
            findings.push(MemoryFinding::StateChanged { id: row.get(AFTER)? });
        }
        let fits = row.blob(AFTER + 3)? == hash && recorded.is_none_or(|recorded| recorded == expected);
        // Of a memory whose first state is gone no hash can be made.
        if born.is_some() && !fits {
            findings.push(MemoryFinding::TextChanged { id: row.get(AFTER)? });
        }
        Ok(())
    }

    /// Memories with a state whose hash is not the one that its audit row has. A state that came with attributes
    /// of a rule is covered by their hash.
    fn changed_states(&self) -> Result<Vec<MemoryFinding>, StoreError> {
        let mut changed = Vec::new();
        self.transaction.for_each(
            "SELECT h.status, h.tier, h.layer, h.confidence, h.importance, h.pinned, m.content_hash,
                 r.after_hash, m.id
             FROM memory_states h
             JOIN memories m ON m.tenant = h.tenant AND m.number = h.number
             JOIN audit r ON r.tenant = h.tenant AND r.seq = h.from_seq AND r.target = m.id
             WHERE h.tenant = $1 AND r.after_hash IS NOT NULL AND r.after_hash <> m.content_hash
                 AND r.seq <> m.seq
                 AND NOT EXISTS (SELECT 1 FROM rules u
                     WHERE u.tenant = h.tenant AND u.number = h.number AND u.from_seq = h.from_seq)
             ORDER BY h.number, h.from_seq",
            params![self.tenant],
            |row| {
                let hash = State::from_row(row, 0)?.hash(&self.hash(row.blob(6)?)?);
                if row.blob(7)? != hash {
                    changed.push(MemoryFinding::StateChanged { id: row.get(8)? });
                }
                Ok(())
            },
        )?;
        changed.dedup();
        Ok(changed)
    }

    /// Memories whose named link (`supersedes` or `parent`) leads to nothing that is or was here.
    pub fn dangling(&self, link: Link) -> Result<Vec<String>, StoreError> {
        let column = link.column();
        let sql = format!(
            "SELECT m.id FROM memories m WHERE m.tenant = $1 AND m.{column} IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.tenant = m.tenant AND o.id = m.{column})
                 AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.tenant = m.tenant AND t.id = m.{column})
             ORDER BY m.number"
        );
        self.transaction.query(&sql, params![self.tenant], |row| row.get(0))
    }

    /// Memories with an event as evidence that neither is nor was here.
    pub fn baseless(&self) -> Result<Vec<String>, StoreError> {
        self.transaction.query(
            "SELECT DISTINCT m.id FROM evidence e JOIN memories m ON m.tenant = e.tenant AND m.number = e.number
             WHERE e.tenant = $1 AND e.kind = 'episode'
                 AND NOT EXISTS (SELECT 1 FROM episodes o WHERE o.tenant = e.tenant AND o.id = e.reference)
                 AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.tenant = e.tenant AND t.id = e.reference)
             ORDER BY m.id",
            params![self.tenant],
            |row| row.get(0),
        )
    }

    /// Rows that belong to a memory which is not there, by table; tables without such rows are left out.
    pub fn orphans(&self) -> Result<Vec<(&'static str, i64)>, StoreError> {
        let mut found = Vec::new();
        for table in ["evidence", "memory_tags", "bands", "usage", "memory_states"] {
            let sql = format!(
                "SELECT count(*) FROM {table} WHERE tenant = $1
                     AND number NOT IN (SELECT number FROM memories WHERE tenant = $1)"
            );
            let count =
                self.transaction.query_one(&sql, params![self.tenant], |row| row.get(0))?.unwrap_or(0);
            if count > 0 {
                found.push((table, count));
            }
        }
        Ok(found)
    }

    fn unaudited(&self, last: i64) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        for (table, column) in [
            ("memory_states", "from_seq"),
            ("rules", "from_seq"),
            ("episodes", "seq"),
            ("sources", "seq"),
            ("reviews", "seq"),
            ("snapshots", "seq"),
            ("tombstones", "seq"),
            ("digests", "seq"),
            ("memory_relations", "seq"),
            ("entities", "seq"),
            ("relations", "from_seq"),
            ("todos", "from_seq"),
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

/// The approvals of a chain, each with the last entry of the change that it was part of.
///
/// Entries of one change follow each other at one microsecond; what comes later begins another.
#[derive(Default)]
struct Approvals {
    /// First approval and last entry of each change with one.
    changes: Vec<(i64, i64)>,
    /// When the last entry was made, and whether its change has an approval.
    last: Option<(Timestamp, bool)>,
}

impl Approvals {
    fn see(&mut self, entry: &AuditEntry) {
        let goes_on = self.last.filter(|(at, _)| entry.at.0 == at.0.saturating_add(1));
        let approved_before = goes_on.is_some_and(|(_, approved)| approved);
        // What is purged again from a backup was approved, and signed, where it was purged first.
        let again = entry.reason == PURGED_AGAIN;
        let approves = entry.principal == APPROVAL && entry.outcome == Outcome::Done && !again;
        match self.changes.last_mut().filter(|_| approved_before) {
            Some((_, end)) => *end = entry.seq,
            None if approves => self.changes.push((entry.seq, entry.seq)),
            None => {}
        }
        self.last = Some((entry.at, approved_before || approves));
    }

    /// The first whose change has no signed head.
    fn unsigned(&self, signed: &[SignedHead]) -> Option<Finding> {
        let places: BTreeSet<i64> = signed.iter().map(|head| head.checkpoint.seq).collect();
        let mut unsigned = self.changes.iter().filter(|(from, to)| places.range(from..=to).next().is_none());
        unsigned.next().map(|(seq, _)| Finding::Unsigned { seq: *seq })
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

/// Every memory with what its hash is over, the hash on record, whether its present state is that of its open row and
/// fits the audit, the attributes of a rule, and the first state.
fn with_their_records() -> String {
    format!(
        "SELECT {CONTENT_COLUMNS}, m.id, m.salt, m.content_version, m.content_hash, a.after_hash,
             s.number IS NOT NULL AND s.status = m.status AND s.tier = m.tier AND s.layer = m.layer
                 AND s.confidence = m.confidence AND s.importance = m.importance AND s.pinned = m.pinned
                 AND NOT EXISTS (
                     SELECT 1 FROM memory_states h
                     JOIN audit r ON r.tenant = h.tenant AND r.seq = h.from_seq AND r.target = m.id
                     WHERE h.tenant = m.tenant AND h.number = m.number
                         AND (r.layer <> h.layer
                             OR r.action IN ('remember', 'rule_add', 'approve') AND h.status <> 'active'
                             OR r.action = 'reject' AND h.status <> 'archived'
                             OR r.action = 'propose' AND h.status <> 'candidate'
                             OR r.action = 'forget' AND h.status <> 'trashed')),
             u.priority, u.condition, u.enabled,
             b.status, b.tier, b.layer, b.confidence, b.importance, b.pinned
         FROM memories m
         LEFT JOIN memory_states b ON b.tenant = m.tenant AND b.number = m.number AND b.from_seq = m.seq
         LEFT JOIN audit a ON a.tenant = m.tenant AND a.seq = m.seq AND a.target = m.id
         LEFT JOIN memory_states s ON s.tenant = m.tenant AND s.number = m.number
             AND s.from_seq = m.state_seq AND s.to_seq = $2
         LEFT JOIN rules u ON u.tenant = m.tenant AND u.number = m.number AND u.from_seq = m.seq
         WHERE m.tenant = $1 ORDER BY m.number"
    )
}
