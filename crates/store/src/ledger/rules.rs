//! What a rule has beside its state: priority, condition, and whether it is enabled; now and at any sequence.
//!
//! `rules` is append-only but for the end of the open row, as `memory_states` is. The audit row of a change
//! carries `rule_hash`, so that nobody edits an attribute unseen.

use std::collections::HashMap;

use super::{LedgerRead, LedgerWrite, NewMemory, OPEN, Seq, State, memories::missing};
use crate::{
    error::{Conflict, StoreError},
    params,
    sql::Row,
};

/// The priority of a rule that was given none.
pub const DEFAULT_PRIORITY: i64 = 100;

/// The changing attributes of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleAttributes {
    /// Its place among the rules of its layer; the lower number goes first. Never negative.
    pub priority: i64,
    /// When it applies, in words; always, if there is none.
    pub condition: Option<String>,
    /// Whether it is in force.
    pub enabled: bool,
}

impl Default for RuleAttributes {
    fn default() -> Self {
        Self { priority: DEFAULT_PRIORITY, condition: None, enabled: true }
    }
}

impl RuleAttributes {
    fn check(&self) -> Result<(), StoreError> {
        if self.priority >= 0 {
            return Ok(());
        }
        Err(StoreError::Invalid(format!("a priority is 0 or more, not {}", self.priority)))
    }

    /// Reads the three columns from `first` on.
    pub(super) fn from_row(row: &Row<'_>, first: usize) -> Result<Self, StoreError> {
        Ok(Self { priority: row.get(first)?, condition: row.get(first + 1)?, enabled: row.get(first + 2)? })
    }
}

/// Attributes and the sequences they held from (inclusive) and to (exclusive).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// The memory.
    pub number: i64,
    /// The change that brought them.
    pub from_seq: i64,
    /// The change that ended them; [`OPEN`] while they hold.
    pub to_seq: i64,
    /// What held.
    pub attributes: RuleAttributes,
}

impl NewMemory {
    /// What the audit keeps of it: the hash of its content and, where it is stored with any, of its attributes.
    pub fn audit_hash(&self) -> [u8; 32] {
        let content = self.content_hash();
        self.rule.as_ref().map_or(content, |rule| rule_hash(&content, rule))
    }
}

/// The hash that stands in the audit for attributes: BLAKE3 over `base`, priority, condition and enabled, each
/// preceded by its length. `base` is the memory's content hash or, where the same change brings a state, the
/// hash of that state ([`State::hash`]).
pub(super) fn rule_hash(base: &[u8; 32], attributes: &RuleAttributes) -> [u8; 32] {
    let priority = attributes.priority.to_le_bytes();
    let enabled = [u8::from(attributes.enabled)];
    // No condition and an empty one are two things.
    let condition = attributes.condition.as_ref().map_or_else(String::new, |text| format!("={text}"));
    let mut hasher = blake3::Hasher::new();
    for part in [&b"rule"[..], base, &priority, condition.as_bytes(), &enabled] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    *hasher.finalize().as_bytes()
}

const COLUMNS: &str = "number, from_seq, to_seq, priority, condition, enabled";

impl LedgerRead<'_> {
    /// The present attributes of a rule; `None` if it never had any but the defaults.
    pub fn rule(&self, number: i64) -> Result<Option<RuleRow>, StoreError> {
        self.rule_at(number, OPEN - 1)
    }

    /// The attributes of one rule at `seq`.
    pub fn rule_at(&self, number: i64, seq: i64) -> Result<Option<RuleRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM rules WHERE tenant = $1 AND number = $2 AND from_seq <= $3 AND to_seq > $3"
        );
        self.transaction.query_one(&sql, params![self.tenant, number, seq], rule_row_from)
    }

    /// All attributes that a rule ever had, oldest first.
    pub fn rule_history(&self, number: i64) -> Result<Vec<RuleRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM rules WHERE tenant = $1 AND number = $2 ORDER BY from_seq");
        self.transaction.query(&sql, params![self.tenant, number], rule_row_from)
    }

    /// The attributes of every rule that had any at `seq`, by number. `OPEN - 1` asks for the present.
    pub fn rules_as_of(&self, seq: i64) -> Result<Vec<RuleRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM rules WHERE tenant = $1 AND from_seq <= $2 AND to_seq > $2 ORDER BY number"
        );
        self.transaction.query(&sql, params![self.tenant, seq], rule_row_from)
    }

    /// The present attributes of all rules that have any, for looking many up.
    pub fn rules_now(&self) -> Result<HashMap<i64, RuleAttributes>, StoreError> {
        Ok(self.rules_as_of(OPEN - 1)?.into_iter().map(|row| (row.number, row.attributes)).collect())
    }

    /// What the audit keeps of a stored rule once it has `attributes`, and `state` if the same change brings one.
    pub fn hash_with(
        &self,
        number: i64,
        state: Option<&State>,
        attributes: &RuleAttributes,
    ) -> Result<[u8; 32], StoreError> {
        let memory = self.memory_by_number(number)?.ok_or_else(|| missing(&format!("#{number}")))?;
        let content = memory.content_hash;
        Ok(rule_hash(&state.map_or(content, |state| state.hash(&content)), attributes))
    }
}

impl LedgerWrite<'_> {
    /// Ends the present attributes of a rule and begins `attributes`.
    ///
    /// `seen`, if given, is the `from_seq` on which the caller decided (0 if there was no row); another one by
    /// now is a conflict. The audit row of `seq` must carry [`LedgerRead::hash_with`].
    pub fn set_rule(
        &self,
        number: i64,
        seen: Option<i64>,
        attributes: &RuleAttributes,
        seq: Seq,
    ) -> Result<(), StoreError> {
        attributes.check()?;
        let memory = self.existing(number)?;
        let since = self.rule(number)?.map_or(0, |row| row.from_seq);
        if let Some(expected) = seen.filter(|expected| *expected != since) {
            return Err(Conflict::StateMoved { id: memory.id, expected, found: since }.into());
        }
        let seq = self.place(seq)?;
        if since == seq {
            // Nobody saw the first of two that one change brings.
            self.transaction.post(
                "DELETE FROM rules WHERE tenant = $1 AND number = $2 AND from_seq = $3",
                params![self.tenant, number, seq],
            )?;
        } else {
            self.end_rule(number, seq)?;
        }
        self.open_rule(number, attributes, seq)
    }

    fn end_rule(&self, number: i64, seq: i64) -> Result<(), StoreError> {
        self.transaction.post(
            "UPDATE rules SET to_seq = $3 WHERE tenant = $1 AND number = $2 AND to_seq = $4",
            params![self.tenant, number, seq, OPEN],
        )?;
        Ok(())
    }

    /// Stores the attributes of a rule that came with its history, oldest first.
    pub fn load_rule(&self, number: i64, history: &[(Seq, RuleAttributes)]) -> Result<(), StoreError> {
        for (seq, attributes) in history {
            attributes.check()?;
            let seq = self.place(*seq)?;
            self.end_rule(number, seq)?;
            self.open_rule(number, attributes, seq)?;
        }
        Ok(())
    }

    pub(super) fn open_rule(
        &self,
        number: i64,
        attributes: &RuleAttributes,
        seq: i64,
    ) -> Result<(), StoreError> {
        attributes.check()?;
        self.transaction.post(
            "INSERT INTO rules (tenant, number, from_seq, to_seq, priority, condition, enabled)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            params![
                self.tenant,
                number,
                seq,
                OPEN,
                attributes.priority,
                attributes.condition.as_deref(),
                attributes.enabled
            ],
        )?;
        Ok(())
    }
}

fn rule_row_from(row: &Row<'_>) -> Result<RuleRow, StoreError> {
    Ok(RuleRow {
        number: row.get(0)?,
        from_seq: row.get(1)?,
        to_seq: row.get(2)?,
        attributes: RuleAttributes::from_row(row, 3)?,
    })
}
