//! Whether everything that is stored came about by a line of the audit, and everything on record is still there.
//!
//! The hashes say that a row is what its line recorded. Here is asked whether a row leans on a line that could have
//! made it at all: not on a refusal, not on a line about something else.

use super::MemoryFinding;
use crate::{
    error::StoreError,
    ledger::{LedgerRead, OPEN},
    params,
    sql::Param,
};

impl LedgerRead<'_> {
    /// Memories whose birth or one of whose states no line of the audit made, or whose history has a hole.
    pub(super) fn without_origin(&self) -> Result<Vec<MemoryFinding>, StoreError> {
        let mut changed = self.states_without_origin()?;
        changed.extend(self.births_without_origin()?);
        changed.extend(self.taken_back()?);
        changed.extend(self.not_replaced()?);
        Ok(changed)
    }

    /// A state came with a line about its memory, with the memory that took its place, or with a rollback to a
    /// snapshot that shows it. A candidate of before is ended by a rollback like what was not there.
    fn states_without_origin(&self) -> Result<Vec<MemoryFinding>, StoreError> {
        self.changed(
            "SELECT DISTINCT m.id, m.number FROM memory_states h
             JOIN memories m ON m.tenant = h.tenant AND m.number = h.number
             LEFT JOIN audit r ON r.tenant = h.tenant AND r.seq = h.from_seq AND r.outcome = 'done'
             WHERE h.tenant = $1 AND (
                 CASE
                     WHEN r.target = m.id AND r.action = 'resolve' THEN r.after_hash <> m.content_hash
                     WHEN r.target = m.id THEN r.after_hash IS NOT NULL OR r.action = 'set aside'
                     WHEN r.action = 'rollback' THEN EXISTS (
                         SELECT 1 FROM snapshots p
                         LEFT JOIN memory_states s ON s.tenant = p.tenant AND s.number = h.number
                             AND s.from_seq <= p.seq AND s.to_seq > p.seq
                         WHERE p.tenant = h.tenant AND p.name = r.target AND p.seq < r.seq
                             AND (s.status = h.status AND s.tier = h.tier AND s.layer = h.layer
                                     AND s.confidence = h.confidence AND s.importance = h.importance
                                     AND s.pinned = h.pinned
                                 OR h.status = 'superseded' AND (s.status IS NULL OR s.status = 'candidate')))
                     WHEN h.status = 'superseded' THEN r.before_hash = m.content_hash
                     ELSE FALSE
                 END IS NOT TRUE
                 OR h.to_seq <> $2 AND NOT EXISTS (
                     SELECT 1 FROM memory_states n
                     WHERE n.tenant = h.tenant AND n.number = h.number AND n.from_seq = h.to_seq))
             ORDER BY m.number",
            params![self.tenant, OPEN],
        )
    }

    /// A memory was born with a line about it that has its hash, and its history begins there. What is in force
    /// has no successor.
    fn births_without_origin(&self) -> Result<Vec<MemoryFinding>, StoreError> {
        self.changed(
            "SELECT m.id, m.number FROM memories m
             LEFT JOIN audit a ON a.tenant = m.tenant AND a.seq = m.seq AND a.target = m.id
                 AND a.outcome = 'done' AND a.after_hash IS NOT NULL
             WHERE m.tenant = $1 AND (a.seq IS NULL
                 OR m.seq <> (SELECT COALESCE(min(h.from_seq), 0) FROM memory_states h
                     WHERE h.tenant = m.tenant AND h.number = m.number)
                 OR m.superseded_by IS NOT NULL AND m.status IN ('active', 'stale', 'needs_review'))
             ORDER BY m.number",
            params![self.tenant],
        )
    }

    /// Memories of which a line says a new state or new attributes, and nothing stored has them.
    fn taken_back(&self) -> Result<Vec<MemoryFinding>, StoreError> {
        self.changed(
            "SELECT DISTINCT m.id, m.number FROM audit a
             JOIN memories m ON m.tenant = a.tenant AND m.id = a.target
             WHERE a.tenant = $1 AND a.outcome = 'done' AND a.after_hash <> m.content_hash
                 AND NOT EXISTS (SELECT 1 FROM memory_states h
                     WHERE h.tenant = a.tenant AND h.number = m.number AND h.from_seq = a.seq)
                 AND NOT EXISTS (SELECT 1 FROM rules u
                     WHERE u.tenant = a.tenant AND u.number = m.number AND u.from_seq = a.seq)
             ORDER BY m.number",
            params![self.tenant],
        )
    }

    /// Memories that the line of another one's birth replaced, and that nothing says ended there: named by their
    /// successor. What was purged since is excepted.
    fn not_replaced(&self) -> Result<Vec<MemoryFinding>, StoreError> {
        self.changed(
            "SELECT m.id, m.number FROM memories m
             JOIN audit a ON a.tenant = m.tenant AND a.seq = m.seq AND a.target = m.id AND a.outcome = 'done'
             WHERE m.tenant = $1 AND a.before_hash IS NOT NULL
                 AND NOT EXISTS (
                     SELECT 1 FROM memories o
                     JOIN memory_states h ON h.tenant = o.tenant AND h.number = o.number AND h.from_seq = m.seq
                     WHERE o.tenant = m.tenant AND o.id = m.supersedes AND h.status = 'superseded'
                         AND o.content_hash = a.before_hash)
                 AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.tenant = m.tenant AND t.id = m.supersedes)
             ORDER BY m.number",
            params![self.tenant],
        )
    }

    /// Memories that are on record and neither here nor purged, and tombstones that no purge and no load left.
    pub(super) fn missing(&self) -> Result<Vec<MemoryFinding>, StoreError> {
        self.transaction.query(
            "SELECT DISTINCT a.target FROM audit a
             WHERE a.tenant = $1 AND a.outcome = 'done' AND a.after_hash IS NOT NULL AND a.target LIKE 'mem!_%' ESCAPE '!'
                 AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.tenant = a.tenant AND m.id = a.target)
                 AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.tenant = a.tenant AND t.id = a.target)
             UNION
             SELECT t.id FROM tombstones t
             LEFT JOIN audit r ON r.tenant = t.tenant AND r.seq = t.seq AND r.target = t.id AND r.outcome = 'done'
                 AND r.action IN ('purge', 'load')
             WHERE t.tenant = $1 AND t.kind = 'memory' AND r.seq IS NULL
             ORDER BY 1",
            params![self.tenant],
            |row| Ok(MemoryFinding::Missing { id: row.get(0)? }),
        )
    }

    /// Names of snapshots that are on record and no longer here. A snapshot is never taken away.
    pub fn missing_snapshots(&self) -> Result<Vec<String>, StoreError> {
        self.transaction.query(
            "SELECT a.target FROM audit a WHERE a.tenant = $1 AND a.action = 'snapshot' AND a.outcome = 'done'
                 AND NOT EXISTS (SELECT 1 FROM snapshots p
                     WHERE p.tenant = a.tenant AND p.name = a.target AND p.seq = a.seq)
             ORDER BY a.seq",
            params![self.tenant],
            |row| row.get(0),
        )
    }

    /// Memories by a statement that gives their ids first.
    fn changed(&self, sql: &str, values: &[Param<'_>]) -> Result<Vec<MemoryFinding>, StoreError> {
        self.transaction.query(sql, values, |row| Ok(MemoryFinding::StateChanged { id: row.get(0)? }))
    }
}
