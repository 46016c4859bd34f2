//! Going back: the set of memories in force becomes again what it was at an earlier place.
//!
//! Nothing is erased. Memories that came to life since then end, those that have ended come back, and those
//! that changed take their earlier state, each as a new state of the change that goes back.

use std::collections::{BTreeMap, BTreeSet};

use super::{LedgerRead, LedgerWrite, OPEN, RuleAttributes, Seq, snapshots::LIVE_STATE};
use crate::{error::StoreError, params};

/// What a going back changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RolledBack {
    /// Memories in force that no longer are.
    pub ended: usize,
    /// Memories that are in force again.
    pub revived: usize,
    /// Memories that stayed in force and took an earlier state.
    pub changed: usize,
}

const LIVE_NOW: &str = "m.status IN ('active', 'stale', 'needs_review')";

impl LedgerRead<'_> {
    /// The attributes that rules in force at `to` had there and have no longer, by number.
    pub fn rules_to_bring_back(&self, to: i64) -> Result<Vec<(i64, RuleAttributes)>, StoreError> {
        let (then, now) = (self.rules_as_of(to)?, self.rules_now()?);
        let mut then: BTreeMap<i64, RuleAttributes> =
            then.into_iter().map(|row| (row.number, row.attributes)).collect();
        let mut numbers: BTreeSet<i64> = now.keys().copied().collect();
        numbers.extend(then.keys().copied());
        let mut differing = Vec::new();
        for number in numbers {
            let earlier = then.remove(&number).unwrap_or_default();
            let differs =
                now.get(&number).map_or(earlier != RuleAttributes::default(), |now| *now != earlier);
            let in_force =
                || Ok::<_, StoreError>(self.state_at(number, to)?.is_some_and(|s| s.status.is_live()));
            if differs && in_force()? {
                differing.push((number, earlier));
            }
        }
        Ok(differing)
    }
}

impl LedgerWrite<'_> {
    /// Brings everything that holds from one change to another back to what held at `to`.
    ///
    /// The attributes of rules are brought back beside it ([`LedgerRead::rules_to_bring_back`]), because each of
    /// them has a hash of its own on record. `reason` is kept with memories that end without having been ended at `to`.
    pub fn roll_back(&self, to: i64, reason: &str, seq: Seq) -> Result<RolledBack, StoreError> {
        self.roll_back_memories(to, reason, seq)
    }

    /// The memories, in statements whose number does not grow with theirs.
    ///
    /// A memory ends before another takes its topic or content: the set of memories in force shrinks to a
    /// part of what it was at `to` before it grows to all of it, so what is unique stays so at every moment.
    fn roll_back_memories(&self, to: i64, reason: &str, seq: Seq) -> Result<RolledBack, StoreError> {
        let seq = self.place(seq)?;
        let known = self.begin_earlier_states(to, seq)?;
        let unknown = self.end_what_was_not(to, seq)?;
        self.transaction.post(
            "UPDATE memory_states SET to_seq = $2 WHERE tenant = $1 AND to_seq = $3 AND from_seq < $2
                 AND number IN (SELECT number FROM memory_states WHERE tenant = $1 AND from_seq = $2)",
            params![self.tenant, seq, OPEN],
        )?;
        let ended = self.project_ended(seq, reason)?;
        self.link_ended(seq)?;
        let revived = self.project_revived(seq)?;
        self.transaction.post(
            "UPDATE memories SET superseded_by = NULL, superseded_reason = NULL
             WHERE tenant = $1 AND superseded_by IS NOT NULL AND status IN ('active', 'stale', 'needs_review')",
            params![self.tenant],
        )?;
        Ok(RolledBack { ended, revived, changed: (known + unknown).saturating_sub(ended + revived) })
    }

    /// Begins, for each memory that is or was in force and whose state differs, the state of `to`.
    fn begin_earlier_states(&self, to: i64, seq: i64) -> Result<usize, StoreError> {
        // A proposal that was decided is not put to anybody again: its memory ends like one that was not there.
        let sql = format!(
            "INSERT INTO memory_states (tenant, number, from_seq, to_seq, status, tier, layer, confidence,
                 importance, pinned)
             SELECT m.tenant, m.number, $3, $4, s.status, s.tier, s.layer, s.confidence, s.importance, s.pinned
             FROM memories m JOIN memory_states s ON s.tenant = m.tenant AND s.number = m.number
                 AND s.from_seq <= $2 AND s.to_seq > $2
             WHERE m.tenant = $1 AND ({LIVE_NOW} OR {LIVE_STATE}) AND s.status <> 'candidate'
                 AND (s.status <> m.status OR s.tier <> m.tier OR s.layer <> m.layer
                     OR s.confidence <> m.confidence OR s.importance <> m.importance OR s.pinned <> m.pinned)"
        );
        self.transaction.execute(&sql, params![self.tenant, to, seq, OPEN])
    }

    /// Ends each memory in force that did not exist at `to`, or was only proposed.
    fn end_what_was_not(&self, to: i64, seq: i64) -> Result<usize, StoreError> {
        let sql = format!(
            "INSERT INTO memory_states (tenant, number, from_seq, to_seq, status, tier, layer, confidence,
                 importance, pinned)
             SELECT m.tenant, m.number, $3, $4, 'superseded', m.tier, m.layer, m.confidence, m.importance, 0
             FROM memories m
             WHERE m.tenant = $1 AND {LIVE_NOW} AND NOT EXISTS (
                 SELECT 1 FROM memory_states s WHERE s.tenant = m.tenant AND s.number = m.number
                     AND s.from_seq <= $2 AND s.to_seq > $2 AND s.status <> 'candidate')"
        );
        self.transaction.execute(&sql, params![self.tenant, to, seq, OPEN])
    }

    fn project_ended(&self, seq: i64, reason: &str) -> Result<usize, StoreError> {
        let sql = format!(
            "UPDATE memories SET state_seq = $2, status = s.status, tier = s.tier, layer = s.layer,
                 confidence = s.confidence, importance = s.importance, pinned = s.pinned,
                 superseded_reason = CASE WHEN s.status = 'superseded' THEN $3 ELSE NULL END
             FROM memory_states s
             WHERE memories.tenant = $1 AND s.tenant = memories.tenant AND s.number = memories.number
                 AND s.from_seq = $2 AND NOT {LIVE_STATE}"
        );
        self.transaction.execute(&sql, params![self.tenant, seq, reason])
    }

    /// Links what ended as replaced: to the version that followed it and is in force again, else to the one
    /// before it; of several, to the latest. One that has neither keeps the reason alone.
    fn link_ended(&self, seq: i64) -> Result<(), StoreError> {
        let comes_back = format!(
            "EXISTS (SELECT 1 FROM memory_states s WHERE s.tenant = o.tenant AND s.number = o.number
                 AND s.from_seq = $2 AND {LIVE_STATE})"
        );
        // Asked for in order of the number itself, SQLite reads all memories by number rather than the few related.
        for related in ["o.supersedes = memories.id", "memories.supersedes = o.id"] {
            let sql = format!(
                "UPDATE memories SET superseded_by =
                     (SELECT o.id FROM memories o WHERE o.tenant = memories.tenant AND {related} AND {comes_back}
                      ORDER BY -o.number LIMIT 1)
                 WHERE memories.tenant = $1 AND memories.status = 'superseded' AND memories.superseded_by IS NULL
                     AND memories.number IN (SELECT number FROM memory_states WHERE tenant = $1 AND from_seq = $2)"
            );
            self.transaction.post(&sql, params![self.tenant, seq])?;
        }
        Ok(())
    }

    /// Projects the other states; returns how many memories were not in force before.
    fn project_revived(&self, seq: i64) -> Result<usize, StoreError> {
        let update = |before: &str| {
            let sql = format!(
                "UPDATE memories SET state_seq = $2, status = s.status, tier = s.tier, layer = s.layer,
                     confidence = s.confidence, importance = s.importance, pinned = s.pinned
                 FROM memory_states s
                 WHERE memories.tenant = $1 AND s.tenant = memories.tenant AND s.number = memories.number
                     AND s.from_seq = $2 AND {LIVE_STATE} AND memories.state_seq < $2
                     AND memories.status {before} ('active', 'stale', 'needs_review')"
            );
            self.transaction.execute(&sql, params![self.tenant, seq])
        };
        update("IN")?;
        update("NOT IN")
    }
}
