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
    ledger::{FILE_NAME, Ledger, LedgerRead, NewAudit},
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
/// The target is marked until [`finish`]: one that a move of this very source left behind when it was cut off is
/// begun anew, if nobody has written to it.
///
/// # Errors
/// [`crate::error::Conflict::Occupied`]; [`StoreError::Corrupt`] when the source is not whole;
/// [`StoreError::CopyDiffers`] when a copy differs, and then the target is empty again.
pub fn move_ledger(
    source: &Ledger,
    target: &Ledger,
    control: &Control,
    beside: &Path,
    how: &Move<'_>,
    seal: Seal<'_>,
) -> Result<Moved, StoreError> {
    let moving = Moving { source, target, control, how, seal };
    let mut outcome = None;
    let locked: Result<(), _> = source.database().write(control, |transaction| {
        transaction.may_pause()?;
        // A failure of the target must not make the source's transaction run again.
        outcome = Some(moving.run(beside));
        // The transaction was for its lock alone and ends without effect.
        Err(StoreError::Cancelled)
    });
    match (locked, outcome) {
        (_, Some(outcome)) => outcome,
        (Err(StoreError::ReadOnly { .. }), None) => moving.run(beside),
        (Err(error), None) => Err(error),
        (Ok(()), None) => Err(StoreError::Internal("a job that did not run".into())),
    }
}

/// Takes the mark off a target whose move is complete: from now on it is a ledger like any other.
pub fn finish(target: &Ledger, control: &Control, now: Timestamp) -> Result<(), StoreError> {
    target.write(control, now, |write| write.remove_setting(UNFINISHED))
}

/// Whether a move to this ledger was cut off when its rows were there and before it was looked over.
pub fn is_unfinished(read: &LedgerRead<'_>) -> Result<bool, StoreError> {
    Ok(read.setting(UNFINISHED)?.is_some())
}

/// The setting that marks a target until its move is complete; it says where the source stood.
const UNFINISHED: &str = "unfinished_move";
/// How the directory that a move works in begins.
const WORKSHOP: &str = ".moving-";

fn mark(from: &Head) -> String {
    format!("{} {}", from.seq, blake3::Hash::from_bytes(from.hash).to_hex())
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
        remove_workshops(beside)?;
        let workshop = tempfile::Builder::new()
            .prefix(WORKSHOP)
            .tempdir_in(beside)
            .map_err(|error| explain_io("create", beside, &error))?;
        let control = self.control;
        let from = self.source.read(control, |read| read.head())?;
        let stale = self.look_at_target(&from)?;
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
        if stale {
            self.target.database().discard(control)?;
        }
        self.record(&copy, &from)?;
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

    /// Whether something is at the target that may go: an empty ledger, or what a move that was cut off left there.
    fn look_at_target(&self, from: &Head) -> Result<bool, StoreError> {
        if !self.target.database().exists(self.control)? {
            return Ok(false);
        }
        let (head, marked) =
            self.target.read(self.control, |read| Ok((read.head()?, read.setting(UNFINISHED)?)))?;
        let left_behind = marked == Some(mark(from)) && head.seq == from.seq + 1;
        if head.seq == 0 || left_behind { Ok(true) } else { Err(occupied(self.target.database())) }
    }

    fn record(&self, copy: &Ledger, from: &Head) -> Result<(), StoreError> {
        let Move { epoch, principal, face, now, .. } = self.how;
        let reason = format!("epoch {epoch} began");
        let place = self.source.database().place().to_string();
        copy.write(self.control, *now, |write| {
            write.record(&NewAudit {
                reason: &reason,
                ..NewAudit::new(principal, *face, "migrate_store", &place)
            })?;
            write.set_epoch(epoch)?;
            write.set_setting(UNFINISHED, &mark(from))?;
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
        if let Some(finding) = report.findings.first() {
            return Err(self.differs(finding.to_string()));
        }
        let now = self.source.read(self.control, |read| read.head())?;
        if now.hash != witness.hash {
            return Err(self.differs(format!("somebody wrote change {} to the source meanwhile", now.seq)));
        }
        Ok(report.head)
    }

    /// The digests of two ledgers' tables, which must be the same.
    fn same(&self, one: &Ledger, other: &Ledger, layout: &Ledger) -> Result<Vec<TableDigest>, StoreError> {
        let digest = |ledger: &Ledger| digests(ledger.database(), layout.database(), self.control);
        let (one, other) = (digest(one)?, digest(other)?);
        match one.iter().zip(&other).find(|(one, other)| one != other) {
            None => Ok(one),
            Some((one, other)) if one.rows == other.rows => Err(self
                .differs(format!("table {} has the same number of rows and not the same rows", one.table))),
            Some((one, other)) => Err(self
                .differs(format!("table {} has {} rows, its copy has {}", one.table, one.rows, other.rows))),
        }
    }

    fn refuse_damaged(&self, findings: Vec<String>) -> Result<(), StoreError> {
        findings.into_iter().next().map_or(Ok(()), |detail| Err(self.damaged(detail)))
    }

    fn differs(&self, detail: String) -> StoreError {
        StoreError::CopyDiffers { place: self.target.database().path().to_path_buf(), detail }
    }

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Corrupt { path: self.source.database().path().to_path_buf(), detail }
    }
}

/// Removes what moves that were cut off left in `beside`. None is at work: the source's lock is held.
fn remove_workshops(beside: &Path) -> Result<(), StoreError> {
    let entries = std::fs::read_dir(beside).map_err(|error| explain_io("list", beside, &error))?;
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(WORKSHOP) {
            let path = entry.path();
            std::fs::remove_dir_all(&path).map_err(|error| explain_io("remove", &path, &error))?;
        }
    }
    Ok(())
}
