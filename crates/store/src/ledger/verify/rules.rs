//! Comparing the attributes of rules with what the audit keeps of them.

use crate::{
    error::StoreError,
    ledger::{
        LedgerRead, OPEN,
        rules::{RuleAttributes, rule_hash},
        states::State,
    },
    params,
    sql::Row,
};

/// A rule whose attributes are not what the audit recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("priority, condition or state of rule `{id}` was changed behind the ledger's back")]
pub struct RuleFinding {
    /// The memory.
    pub id: String,
}

impl LedgerRead<'_> {
    /// Compares the attributes that every rule has or had with the hash that the audit keeps of them, and
    /// looks for changes on record whose attributes are gone. Returns what is wrong, by number.
    pub fn verify_rules(&self) -> Result<Vec<RuleFinding>, StoreError> {
        let mut wrong = Vec::new();
        let mut held: Option<(i64, i64)> = None;
        self.transaction.for_each(
            "SELECT s.status, s.tier, s.layer, s.confidence, s.importance, s.pinned,
                 u.priority, u.condition, u.enabled, m.id, m.content_hash, a.after_hash,
                 u.number, u.from_seq, u.to_seq
             FROM rules u
             LEFT JOIN memories m ON m.tenant = u.tenant AND m.number = u.number
             LEFT JOIN memory_states s ON s.tenant = u.tenant AND s.number = u.number
                 AND s.from_seq = u.from_seq AND s.from_seq <> m.seq
             LEFT JOIN audit a ON a.tenant = u.tenant AND a.seq = u.from_seq AND a.outcome = 'done'
                 AND a.target = m.id
             WHERE u.tenant = $1 ORDER BY u.number, u.from_seq",
            params![self.tenant],
            |row| {
                let (number, from, to): (i64, i64, i64) = (row.get(12)?, row.get(13)?, row.get(14)?);
                // A row ends where the next one begins, and the last one is open.
                let broken = match held.replace((number, to)) {
                    Some((before, end)) if before == number => end != from,
                    Some((before, end)) if end != OPEN => {
                        wrong.push(RuleFinding { id: format!("#{before}") });
                        false
                    }
                    _ => false,
                };
                match row.get::<Option<String>>(9)? {
                    None => wrong.push(RuleFinding { id: format!("#{number} (no such memory)") }),
                    Some(id) if broken || !self.is_as_recorded(row)? => wrong.push(RuleFinding { id }),
                    Some(_) => {}
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

    /// Whether attributes, with the state that came with them, have the hash that is on record.
    fn is_as_recorded(&self, row: &Row<'_>) -> Result<bool, StoreError> {
        let content = self.hash(row.blob(10)?)?;
        let base = match row.get::<Option<String>>(0)? {
            Some(_) => State::from_row(row, 0)?.hash(&content),
            None => content,
        };
        let hash = rule_hash(&base, &RuleAttributes::from_row(row, 6)?);
        Ok(row.get::<Option<Vec<u8>>>(11)?.is_some_and(|recorded| recorded == hash))
    }

    /// Rules with a recorded change of attributes that are stored nowhere.
    fn lost_attributes(&self) -> Result<Vec<RuleFinding>, StoreError> {
        self.transaction.query(
            "SELECT DISTINCT m.id, m.number FROM audit a
             JOIN memories m ON m.tenant = a.tenant AND m.id = a.target
             WHERE a.tenant = $1 AND a.outcome = 'done' AND a.after_hash <> m.content_hash
                 AND (substr(a.action, 1, 5) = 'rule_' OR a.action IN ('remember', 'update', 'propose', 'approve', 'load', 'import', 'rollback')
                     AND NOT EXISTS (SELECT 1 FROM memory_states h WHERE h.tenant = a.tenant
                         AND h.number = m.number AND h.from_seq = a.seq AND a.seq <> m.seq))
                 AND NOT EXISTS (SELECT 1 FROM rules u
                     WHERE u.tenant = a.tenant AND u.number = m.number AND u.from_seq = a.seq)
             ORDER BY m.number",
            params![self.tenant],
            |row| Ok(RuleFinding { id: row.get(0)? }),
        )
    }
}
