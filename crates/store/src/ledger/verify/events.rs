//! Comparing raw events with what the audit keeps of them.

use std::collections::HashMap;

use super::{CoveredReport, LISTED};
use crate::{
    error::StoreError,
    ledger::{
        LedgerRead,
        covered::{EventParts, no_events, of_events},
    },
    params,
    sql::Row,
};

/// A raw event, or the events of one change, that are not what was stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventFinding {
    /// Its text, speaker, role, time, session, scope or origin is not what it was stored with.
    #[error("event `{id}` was changed behind the ledger's back")]
    Changed {
        /// The event.
        id: String,
    },
    /// Events were added to those that a change stored, or taken from them, or changed with their digests.
    #[error("the events of audit entry {seq} are not those that it recorded")]
    Batch {
        /// The audit row.
        seq: i64,
    },
}

/// The events of one change, as they go by.
struct Batch {
    seq: i64,
    /// What is on record of them, if the audit covers them.
    recorded: Option<Vec<u8>>,
    digests: Vec<[u8; 32]>,
}

/// A comparison going on.
struct Comparison<'p> {
    report: CoveredReport<EventFinding>,
    batch: Option<Batch>,
    /// Digests of purged events by the change that stored them; those that went by are taken out.
    purged: HashMap<i64, Vec<[u8; 32]>>,
    /// The first change whose events are covered: from there on all are.
    first_covered: i64,
    marker: &'p [u8; 32],
}

const COLUMNS: &str = "e.id, e.external_id, e.session, e.at, e.speaker, e.role, e.text, e.metadata, e.namespace, \
                       e.project, e.branch, e.source, e.writer, e.seq, e.salt, e.digest, a.before_hash, a.after_hash";

impl LedgerRead<'_> {
    /// Compares every event with its digest, and the digests of each change, those of purged events among them,
    /// with the hash that the audit keeps of them.
    pub fn verify_events(&self) -> Result<CoveredReport<EventFinding>, StoreError> {
        let marker = no_events();
        let mut comparison = Comparison {
            report: CoveredReport { covered: 0, uncovered: 0, findings: Vec::new() },
            batch: None,
            purged: self.digests_of_purged_events()?,
            first_covered: self.first_covered_change(&marker)?,
            marker: &marker,
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM episodes e
             LEFT JOIN audit a ON a.tenant = e.tenant AND a.seq = e.seq AND a.outcome = 'done'
             WHERE e.tenant = $1 ORDER BY e.seq, e.number"
        );
        self.transaction
            .for_each(&sql, params![self.tenant], |row| self.compare_event(&mut comparison, row))?;
        comparison.finish();
        // What is left of a change is what was purged, or nothing.
        self.transaction.for_each(
            "SELECT a.seq, a.after_hash FROM audit a
             WHERE a.tenant = $1 AND a.before_hash = $2 AND a.outcome = 'done'
                 AND NOT EXISTS (SELECT 1 FROM episodes e WHERE e.tenant = a.tenant AND e.seq = a.seq)
             ORDER BY a.seq",
            params![self.tenant, &marker],
            |row| {
                comparison.batch =
                    Some(Batch { seq: row.get(0)?, recorded: row.get(1)?, digests: Vec::new() });
                comparison.finish();
                Ok(())
            },
        )?;
        Ok(comparison.report)
    }

    fn compare_event(&self, all: &mut Comparison<'_>, row: &Row<'_>) -> Result<(), StoreError> {
        let seq = row.get(13)?;
        if all.batch.as_ref().is_none_or(|batch| batch.seq != seq) {
            all.finish();
            let is_covered = row.get::<Option<Vec<u8>>>(16)?.is_some_and(|before| before == all.marker);
            let recorded = if is_covered { row.get(17)? } else { None };
            all.batch = Some(Batch { seq, recorded, digests: Vec::new() });
        }
        let stored: Option<Vec<u8>> = row.get(15)?;
        let fits = match (&stored, row.get::<Option<Vec<u8>>>(14)?) {
            (Some(digest), Some(salt)) => {
                all.report.covered += 1;
                let salt = salt.as_slice().try_into();
                let salt = salt.map_err(|_| self.corrupt("the salt of an event is not 16 bytes"))?;
                let external_id: Option<String> = row.get(1)?;
                event_parts(row, external_id.as_deref())?.digest(salt) == *digest.as_slice()
            }
            (None, None) => {
                all.report.uncovered += 1;
                seq < all.first_covered
            }
            _ => false,
        };
        if !fits {
            all.found(EventFinding::Changed { id: row.get(0)? });
        }
        if let (Some(batch), Some(digest)) = (&mut all.batch, stored) {
            batch.digests.push(self.hash(&digest)?);
        }
        Ok(())
    }

    fn first_covered_change(&self, marker: &[u8; 32]) -> Result<i64, StoreError> {
        let first = self.transaction.query_one(
            "SELECT min(seq) FROM audit WHERE tenant = $1 AND before_hash = $2 AND outcome = 'done'",
            params![self.tenant, marker],
            |row| row.get::<Option<i64>>(0),
        )?;
        Ok(first.flatten().unwrap_or(i64::MAX))
    }

    /// Digests of purged events, as far as the purge is on record, by the change that stored them.
    fn digests_of_purged_events(&self) -> Result<HashMap<i64, Vec<[u8; 32]>>, StoreError> {
        let mut purged: HashMap<i64, Vec<[u8; 32]>> = HashMap::new();
        self.transaction.for_each(
            "SELECT t.stored_seq, t.digest FROM tombstones t
             JOIN audit a ON a.tenant = t.tenant AND a.seq = t.seq AND a.target = t.id AND a.outcome = 'done'
             WHERE t.tenant = $1 AND t.kind = 'episode' AND t.digest IS NOT NULL AND t.stored_seq IS NOT NULL",
            params![self.tenant],
            |row| {
                purged.entry(row.get(0)?).or_default().push(self.hash(row.blob(1)?)?);
                Ok(())
            },
        )?;
        Ok(purged)
    }
}

impl Comparison<'_> {
    /// Compares the batch that went by with what is on record of it.
    fn finish(&mut self) {
        let Some(Batch { seq, recorded, mut digests }) = self.batch.take() else { return };
        digests.extend(self.purged.remove(&seq).unwrap_or_default());
        let fits = match recorded {
            Some(recorded) => of_events(digests) == *recorded.as_slice(),
            None => digests.is_empty(),
        };
        if !fits {
            self.found(EventFinding::Batch { seq });
        }
    }

    fn found(&mut self, finding: EventFinding) {
        if self.report.findings.len() < LISTED {
            self.report.findings.push(finding);
        }
    }
}

fn event_parts<'r>(row: &'r Row<'_>, external_id: Option<&'r str>) -> Result<EventParts<'r>, StoreError> {
    Ok(EventParts {
        id: row.text(0)?,
        external_id,
        session: row.text(2)?,
        at: row.get(3)?,
        speaker: row.text(4)?,
        role: row.text(5)?,
        text: row.text(6)?,
        metadata: row.text(7)?,
        scope: [row.text(8)?, row.text(9)?, row.text(10)?],
        source: row.text(11)?,
        writer: row.text(12)?,
    })
}
