//! What the wiki says of each memory.

use std::collections::HashMap;

use strata_core::{memory::Layer, time::Timestamp};
use strata_store::{
    error::StoreError,
    ledger::{
        AuditFilter, LedgerRead, MemoryFilter, MemoryRow, RawKind, ReviewFilter, ReviewRow, ReviewStatus,
        RuleAttributes,
    },
};

use crate::{memory::reference::sees_scope, operation::Call, rules::is_rule};

/// Versions that the story of an entry goes back.
const VERSIONS: usize = 20;

/// A memory in force with its origin.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) memory: MemoryRow,
    /// References of its evidence.
    pub(super) evidence: Vec<String>,
    /// Ids of the raw material that it distils.
    pub(super) distils: Vec<String>,
    /// What it replaced, the latest first.
    pub(super) replaced: Vec<Replaced>,
    /// The reviews that approved it.
    pub(super) approvals: Vec<String>,
    /// Of a rule: its place, its condition, whether it is enabled.
    pub(super) rule: Option<RuleAttributes>,
    /// When it last changed.
    pub(super) changed: Timestamp,
}

/// An earlier version.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) id: String,
    pub(super) created_at: Timestamp,
    pub(super) reason: String,
}

impl Entry {
    pub(super) fn layer(&self) -> Layer {
        self.memory.state.layer
    }
}

/// Every memory in force that the reader sees, newest first.
pub(super) fn read(r: &LedgerRead<'_>, reader: &Call<'_>) -> Result<Vec<Entry>, StoreError> {
    let filter =
        ReviewFilter { status: Some(ReviewStatus::Approved), limit: usize::MAX, ..ReviewFilter::default() };
    let mut approvals: HashMap<String, Vec<ReviewRow>> = HashMap::new();
    for review in r.reviews(&filter)? {
        approvals.entry(review.target.clone()).or_default().push(review);
    }
    let mut entries = Vec::new();
    r.for_each_memory(&MemoryFilter::default(), |memory| {
        if sees_scope(reader, &memory.scope) {
            let approved = approvals.get(&memory.id).map(Vec::as_slice).unwrap_or_default();
            entries.push(entry(r, memory, approved)?);
        }
        Ok(())
    })?;
    Ok(entries)
}

fn entry(r: &LedgerRead<'_>, memory: MemoryRow, approvals: &[ReviewRow]) -> Result<Entry, StoreError> {
    let mut distils: Vec<String> = r.digest_episodes(memory.number)?.into_iter().map(|e| e.id).collect();
    for link in r.digest_links(memory.number)?.into_iter().filter(|link| link.kind == RawKind::Memory) {
        distils.extend(r.memory_by_number(link.source)?.map(|raw| raw.id));
    }
    let approval = |review: &ReviewRow| {
        let when = review.decided_at.unwrap_or(review.created_at).to_rfc3339();
        format!("{} by {} on {when}", review.id, review.decided_by.as_deref().unwrap_or("a person"))
    };
    let rule = if is_rule(&memory.kind) { r.rule(memory.number)? } else { None };
    let last = rule.as_ref().map_or(memory.state_seq, |row| row.from_seq.max(memory.state_seq));
    Ok(Entry {
        rule: is_rule(&memory.kind).then(|| rule.map(|row| row.attributes).unwrap_or_default()),
        evidence: r.evidence(memory.number)?.into_iter().map(|e| e.reference).collect(),
        distils,
        replaced: replaced(r, &memory)?,
        approvals: approvals.iter().map(approval).collect(),
        changed: changed(r, last)?.unwrap_or(memory.created_at),
        memory,
    })
}

/// What led to a memory: what it replaced, what that replaced, and so on.
fn replaced(r: &LedgerRead<'_>, memory: &MemoryRow) -> Result<Vec<Replaced>, StoreError> {
    let mut story: Vec<Replaced> = Vec::new();
    let mut waiting = r.predecessors(&memory.id)?;
    while let Some(id) = waiting.pop() {
        if story.len() >= VERSIONS || story.iter().any(|known| known.id == id) {
            break;
        }
        if let Some(old) = r.memory(&id)? {
            waiting.extend(r.predecessors(&id)?);
            let reason = old.superseded_reason.unwrap_or_default();
            story.push(Replaced { id, created_at: old.created_at, reason });
        }
    }
    Ok(story)
}

/// When the change with a sequence was made.
fn changed(r: &LedgerRead<'_>, seq: i64) -> Result<Option<Timestamp>, StoreError> {
    let filter = AuditFilter { before: Some(seq.saturating_add(1)), limit: 1, ..AuditFilter::default() };
    Ok(r.audit(&filter)?.first().filter(|line| line.entry.seq == seq).map(|line| line.entry.at))
}
