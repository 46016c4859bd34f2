//! Numbers that tell whether a home is alive: what came in, what was made of it, what failed.

use strata_core::time::Timestamp;

use super::{LedgerRead, OPEN};
use crate::{error::StoreError, params};

/// The numbers, as of one snapshot. Those called recent count what happened since a given time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pulse {
    /// Memories in force.
    pub memories: i64,
    /// Memories in force that were written recently.
    pub recent_memories: i64,
    /// Events that happened recently.
    pub recent_episodes: i64,
    /// Rules in force.
    pub rules: i64,
    /// Of them, those that are not disabled.
    pub rules_enabled: i64,
    /// Memories in force in P0.
    pub p0_memories: i64,
    /// Reviews that wait and are about P0: amendments, and candidates for it.
    pub p0_pending: i64,
    /// Conflicts between memories that wait for a decision.
    pub conflicts_pending: i64,
    /// Entities of the graph.
    pub entities: i64,
    /// Relations of the graph that hold.
    pub relations: i64,
    /// Digests made recently.
    pub recent_digests: i64,
    /// Pieces of raw material that a digest covers.
    pub distilled: i64,
    /// Refusals to change P0 and P1, first or again recently, repetitions counted.
    pub recent_rule_refusals: i64,
    /// Rules in force that were recalled or looked at recently.
    pub rules_in_use: i64,
    /// Amendments that wait.
    pub amendments_pending: i64,
    /// Amendments decided recently.
    pub recent_amendments: i64,
    /// Jobs that failed recently.
    pub recent_failed_jobs: i64,
    /// Indexed files that cannot be reached.
    pub unavailable_sources: i64,
    /// Refusals that were repeated, the latest time recently.
    pub repeated_refusals: i64,
}

/// What is in force, of a table called `m`.
const LIVE: &str = "m.status IN ('active', 'stale', 'needs_review')";
/// A refusal this often is not an accident.
const REPEATED: i64 = 5;

impl LedgerRead<'_> {
    /// Takes the numbers. `recent` is since when something is recent.
    pub fn pulse(&self, recent: Timestamp) -> Result<Pulse, StoreError> {
        let mut pulse = Pulse::default();
        self.feel_memories(&mut pulse, recent)?;
        self.feel_rules(&mut pulse, recent)?;
        self.feel_reviews(&mut pulse, recent)?;
        self.feel_work(&mut pulse, recent)?;
        pulse.entities = self.count("entities e WHERE e.tenant = $1")?;
        pulse.relations = self.count(&format!("relations e WHERE e.tenant = $1 AND e.to_seq = {OPEN}"))?;
        Ok(pulse)
    }

    /// What came in and what was made of it.
    fn feel_memories(&self, pulse: &mut Pulse, recent: Timestamp) -> Result<(), StoreError> {
        pulse.memories = self.live("1 = 1")?;
        pulse.recent_memories =
            self.since(&format!("memories m WHERE m.tenant = $1 AND {LIVE} AND m.created_at >= $2"), recent)?;
        pulse.recent_episodes = self.since("episodes m WHERE m.tenant = $1 AND m.at >= $2", recent)?;
        pulse.recent_digests = self.since(
            "memories m WHERE m.tenant = $1 AND m.created_at >= $2 AND EXISTS (SELECT 1 FROM digests d
             WHERE d.tenant = m.tenant AND d.number = m.number)",
            recent,
        )?;
        pulse.distilled = self.count("digests d WHERE d.tenant = $1")?;
        Ok(())
    }

    /// Whether the rules are alive.
    fn feel_rules(&self, pulse: &mut Pulse, recent: Timestamp) -> Result<(), StoreError> {
        pulse.rules = self.live("m.kind = 'rule'")?;
        pulse.rules_enabled = self.live(&format!(
            "m.kind = 'rule' AND NOT EXISTS (SELECT 1 FROM rules u WHERE u.tenant = m.tenant
             AND u.number = m.number AND u.to_seq = {OPEN} AND u.enabled = 0)"
        ))?;
        pulse.p0_memories = self.live("m.layer = 'P0'")?;
        pulse.recent_rule_refusals = self.rule_refusals(recent)?;
        pulse.rules_in_use = self.since(
            &format!(
                "memories m JOIN usage u ON u.tenant = m.tenant AND u.number = m.number
                 WHERE m.tenant = $1 AND m.kind = 'rule' AND {LIVE}
                 AND (u.last_recalled_at >= $2 OR u.last_inspected_at >= $2)"
            ),
            recent,
        )?;
        Ok(())
    }

    /// What waits for a person, and what was decided.
    fn feel_reviews(&self, pulse: &mut Pulse, recent: Timestamp) -> Result<(), StoreError> {
        let waiting = |condition: &str| {
            self.count(&format!("reviews v WHERE v.tenant = $1 AND v.status = 'pending' AND {condition}"))
        };
        pulse.conflicts_pending = waiting("v.kind = 'conflict'")?;
        pulse.amendments_pending = waiting("v.kind = 'amendment'")?;
        pulse.p0_pending = waiting(
            "EXISTS (SELECT 1 FROM memories m
             WHERE m.tenant = v.tenant AND m.id = v.target AND m.layer = 'P0')",
        )?;
        pulse.recent_amendments = self
            .since("reviews v WHERE v.tenant = $1 AND v.kind = 'amendment' AND v.decided_at >= $2", recent)?;
        Ok(())
    }

    /// What failed, or fails silently.
    fn feel_work(&self, pulse: &mut Pulse, recent: Timestamp) -> Result<(), StoreError> {
        pulse.recent_failed_jobs =
            self.since("jobs j WHERE j.tenant = $1 AND j.state = 'failed' AND j.finished_at >= $2", recent)?;
        pulse.unavailable_sources =
            self.count("sources s WHERE s.tenant = $1 AND s.state = 'unavailable'")?;
        pulse.repeated_refusals = self.since(
            &format!("refusals f WHERE f.tenant = $1 AND f.count >= {REPEATED} AND f.last_at >= $2"),
            recent,
        )?;
        Ok(())
    }

    fn live(&self, condition: &str) -> Result<i64, StoreError> {
        self.count(&format!("memories m WHERE m.tenant = $1 AND {LIVE} AND {condition}"))
    }

    fn count(&self, from: &str) -> Result<i64, StoreError> {
        let sql = format!("SELECT count(*) FROM {from}");
        Ok(self.transaction.query_one(&sql, params![self.tenant], |row| row.get(0))?.unwrap_or(0))
    }

    fn since(&self, from: &str, since: Timestamp) -> Result<i64, StoreError> {
        let sql = format!("SELECT count(*) FROM {from}");
        Ok(self.transaction.query_one(&sql, params![self.tenant, since], |row| row.get(0))?.unwrap_or(0))
    }

    fn rule_refusals(&self, recent: Timestamp) -> Result<i64, StoreError> {
        let found = self.transaction.query_one(
            "SELECT CAST(COALESCE(sum(f.count), 0) AS BIGINT) FROM refusals f
             JOIN audit a ON a.tenant = f.tenant AND a.seq = f.first_seq
             WHERE f.tenant = $1 AND f.last_at >= $2 AND a.layer IN ('P0', 'P1')",
            params![self.tenant, recent],
            |row| row.get(0),
        )?;
        Ok(found.unwrap_or(0))
    }
}
