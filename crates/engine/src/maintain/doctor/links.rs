//! What points at something else: links between memories, evidence, snapshots.

use strata_core::policy::Action;
use strata_store::{
    error::StoreError,
    ledger::{AuditFilter, LedgerRead, Link, SnapshotRow},
};

use super::{Examination, ledger::named};
use crate::{error::Error, maintain::transfer::LOAD, render::counted};

/// Snapshots that are measured anew unless all are asked for: each costs a pass over what was in force.
const RECENT: usize = 20;

impl Examination<'_> {
    pub(super) fn links(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let (supersedes, parent, baseless, orphans) = ledger.read(&self.engine.control(self.call), |r| {
            Ok((r.dangling(Link::Supersedes)?, r.dangling(Link::Parent)?, r.baseless()?, r.orphans()?))
        })?;
        let loaded = "after loading a part of an export this is expected; else compare with a backup";
        let mut whole = true;
        for (ids, what) in [
            (supersedes, "stored to replace one that is not here"),
            (parent, "under one that is not here"),
            (baseless, "with an event as evidence that is not here"),
        ] {
            if !ids.is_empty() {
                whole = false;
                let detail = format!("{} {what}: {}", counted(ids.len(), "memory"), named(&ids));
                self.warn("links", detail, loaded);
            }
        }
        for (table, count) in orphans {
            whole = false;
            let detail = format!("rows of `{table}` that belong to no memory: {count}");
            self.bad("links", detail, "somebody changed the ledger; compare with a backup");
        }
        if whole {
            self.ok("links", "every link and every piece of evidence leads to something");
        }
        Ok(())
    }

    /// Every snapshot is the one that the audit speaks of, and the newest show what they were taken of.
    pub(super) fn snapshots(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let call = self.call;
        let most = if self.full { usize::MAX } else { RECENT };
        let (all, wrong) = ledger.read(&self.engine.control(call), |r| {
            let all = r.snapshots()?;
            let mut wrong: Vec<String> =
                r.missing_snapshots()?.into_iter().map(|name| format!("'{name}' (gone)")).collect();
            for (n, snapshot) in all.iter().enumerate() {
                if call.cancel.is_cancelled() {
                    return Err(StoreError::Cancelled);
                }
                if !is_on_record(r, snapshot)? || (n < most && !r.snapshot_holds(snapshot)?) {
                    wrong.push(format!("'{}'", snapshot.name));
                }
            }
            Ok((all.len(), wrong))
        })?;
        if wrong.is_empty() {
            let measured = match all.checked_sub(most) {
                Some(1..) => format!("the newest {most} as taken; --full measures all"),
                _ => "each as it was taken".to_owned(),
            };
            self.ok("snapshots", format!("{}, {measured}", counted(all, "snapshot")));
        } else {
            let detail = format!("{} not as taken: {}", counted(wrong.len(), "snapshot"), named(&wrong));
            let hint = "somebody changed the ledger: do not roll back to it; compare with a backup";
            self.bad("snapshots", detail, hint);
        }
        Ok(())
    }
}

/// Whether the audit has a snapshot of this name and hash at its place. One that was loaded was measured
/// behind its line, which says no hash.
fn is_on_record(r: &LedgerRead<'_>, snapshot: &SnapshotRow) -> Result<bool, StoreError> {
    let filter = AuditFilter { before: Some(snapshot.seq + 1), limit: 1, ..AuditFilter::default() };
    let Some(linked) = r.audit(&filter)?.into_iter().next() else { return Ok(false) };
    let entry = linked.entry;
    let is_this = entry.seq == snapshot.seq && entry.target == snapshot.name;
    let taken = entry.action == Action::Snapshot.as_str() && entry.after_hash == Some(snapshot.hash);
    Ok(is_this && (taken || entry.action == LOAD))
}
