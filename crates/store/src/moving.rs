//! Moving a ledger between a home's file and a server. The place it comes from stays as it is.

use std::path::Path;

use strata_core::{
    chain::{Checkpoint, Head},
    principal::{Face, Principal},
    signing::PublicKey,
    time::Timestamp,
};

pub use crate::copying::TableDigest;
use crate::{
    backup::{Seal, check_ledger},
    copying::{digests, occupied},
    error::StoreError,
    faults::FaultPlan,
    files::{explain_io, make_private_directory},
    ledger::{FILE_NAME, Ledger, NewAudit},
    sql::Control,
};

/// How a move is recorded in the ledger that it makes.
#[derive(Debug, Clone)]
pub struct Move<'a> {
    /// The new line of sequences.
    pub epoch: &'a str,
    /// When.
    pub now: Timestamp,
    /// Who moves.
    pub principal: &'a Principal,
    /// Through which face.
    pub face: Face,
    /// The public half of the secret, which the signatures are checked with.
    pub key: Option<&'a PublicKey>,
    /// Stop before anything is written to the target.
    pub dry_run: bool,
}

/// What a move did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// What was found at the source, table by table, and is in its place at the target.
    pub tables: Vec<TableDigest>,
    /// The head of the source.
    pub from: Head,
    /// The head of the target; the source's in a dry run.
    pub head: Head,
}

/// Copies the ledger `source` to `target`, which must hold nothing, by a file in a directory below `beside`.
///
/// Nobody writes to the source meanwhile: its write lock is held, and a source that cannot be written at all is
/// compared once more at the end. The target gets an audit row of its own, a new epoch, and what `seal` writes.
/// Tables are compared on both sides of each step, and the audit is followed at the target, before it counts.
///
/// # Errors
/// [`crate::error::Conflict::Occupied`]; [`StoreError::Corrupt`] when the source is not whole or a copy differs, and
/// then the target is empty again.
pub fn move_ledger(
    source: &Ledger,
    target: &Ledger,
    control: &Control,
    beside: &Path,
    how: &Move<'_>,
    seal: Seal<'_>,
) -> Result<Moved, StoreError> {
    if target.database().exists(control)? {
        return Err(occupied(target.database()));
    }
    let moving = Moving { source, target, control, how, seal };
    let mut outcome = None;
    let locked = source.database().write(control, |_| {
        // A failure of the target must not make the source's transaction run again.
        outcome = Some(moving.run(beside));
        Ok(())
    });
    match (locked, outcome) {
        (_, Some(outcome)) => outcome,
        (Err(StoreError::ReadOnly { .. }), None) => moving.run(beside),
        (Err(error), None) => Err(error),
        (Ok(()), None) => Err(StoreError::Internal("a job that did not run".into())),
    }
}

struct Moving<'a> {
    source: &'a Ledger,
    target: &'a Ledger,
    control: &'a Control,
    how: &'a Move<'a>,
    seal: Seal<'a>,
}

impl Moving<'_> {
    fn run(&self, beside: &Path) -> Result<Moved, StoreError> {
        make_private_directory(beside)?;
        let workshop = tempfile::Builder::new()
            .prefix(".moving-")
            .tempdir_in(beside)
            .map_err(|error| explain_io("create", beside, &error))?;
        let control = self.control;
        let from = self.source.read(control, |read| read.head())?;
        let file = workshop.path().join(FILE_NAME);
        self.source.database().copy_to(control, &file)?;
        let copy = Ledger::new(workshop.path(), FaultPlan::none());
        let tables = self.same(self.source, &copy, &copy)?;
        let witness = Checkpoint { seq: from.seq, hash: from.hash };
        self.refuse_damaged(check_ledger(&copy, witness, control)?)?;
        if self.how.dry_run {
            copy.database().close();
            return Ok(Moved { tables, from, head: from });
        }
        self.record(&copy)?;
        self.target.database().fill_from(control, &file)?;
        let checked = self.check(&copy, witness);
        copy.database().close();
        match checked {
            Ok(head) => Ok(Moved { tables, from, head }),
            Err(error) => {
                self.target.database().discard(control)?;
                Err(error)
            }
        }
    }

    fn record(&self, copy: &Ledger) -> Result<(), StoreError> {
        let Move { epoch, principal, face, now, .. } = self.how;
        let reason = format!("epoch {epoch} began");
        let from = self.source.database().place().to_string();
        copy.write(self.control, *now, |write| {
            write.record(&NewAudit {
                reason: &reason,
                ..NewAudit::new(principal, *face, "migrate_store", &from)
            })?;
            write.set_epoch(epoch)?;
            (self.seal)(write)
        })?;
        copy.database().checkpoint(self.control)?;
        copy.database().close();
        Ok(())
    }

    /// Compares the target with what was put there, and the source with what was taken from it.
    fn check(&self, copy: &Ledger, witness: Checkpoint) -> Result<Head, StoreError> {
        self.same(copy, self.target, copy)?;
        let report = self.target.read(self.control, |read| read.verify_audit(&[witness], self.how.key))?;
        self.refuse_damaged(report.findings.iter().map(ToString::to_string).collect())?;
        let now = self.source.read(self.control, |read| read.head())?;
        if now.hash != witness.hash {
            return Err(self.damaged(format!("somebody wrote change {} meanwhile", now.seq)));
        }
        Ok(report.head)
    }

    /// The digests of two ledgers' tables, which must be the same.
    fn same(&self, one: &Ledger, other: &Ledger, layout: &Ledger) -> Result<Vec<TableDigest>, StoreError> {
        let digest = |ledger: &Ledger| digests(ledger.database(), layout.database(), self.control);
        let (one, other) = (digest(one)?, digest(other)?);
        match one.iter().zip(&other).find(|(one, other)| one != other) {
            None => Ok(one),
            Some((one, other)) => Err(self.damaged(format!(
                "table {} has {} rows, its copy has {} or others",
                one.table, one.rows, other.rows
            ))),
        }
    }

    fn refuse_damaged(&self, findings: Vec<String>) -> Result<(), StoreError> {
        findings.into_iter().next().map_or(Ok(()), |detail| Err(self.damaged(detail)))
    }

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Corrupt { path: self.source.database().path().to_path_buf(), detail }
    }
}
