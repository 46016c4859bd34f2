//! Scripted failures, so that tests see what a full disk, a lock held by others or a killed process does.
//!
//! A plan is part of how a database is opened. The empty plan, the default, costs one load per look.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use strata_core::error::ParseError;

use crate::error::StoreError;

/// Where a fault can strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPoint {
    /// Opening the database.
    Open,
    /// A migration applied, not yet committed.
    Migrate,
    /// Taking the write lock.
    Begin,
    /// Any statement inside a write.
    Execute,
    /// Everything written, nothing committed.
    BeforeCommit,
    /// Committed, the caller not told yet.
    AfterCommit,
    /// A temporary file written, not yet renamed.
    BeforeRename,
    /// A file renamed into place, the caller not told yet.
    AfterRename,
}

impl FaultPoint {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Open, "open"),
        (Self::Migrate, "migrate"),
        (Self::Begin, "begin"),
        (Self::Execute, "execute"),
        (Self::BeforeCommit, "before-commit"),
        (Self::AfterCommit, "after-commit"),
        (Self::BeforeRename, "before-rename"),
        (Self::AfterRename, "after-rename"),
    ];
}

/// What happens at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Somebody else holds the lock.
    Busy,
    /// The disk is full.
    Full,
    /// The disk reports an error.
    Io,
    /// The process dies at once, as by `kill -9`.
    Kill,
}

impl Fault {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Busy, "busy"), (Self::Full, "full"), (Self::Io, "io"), (Self::Kill, "kill")];
}

#[derive(Debug, Clone, Copy)]
struct Scheduled {
    point: FaultPoint,
    visits_left: u32,
    fault: Fault,
}

/// A script of faults; clones share it.
#[derive(Debug, Clone, Default)]
pub struct FaultPlan(Option<Arc<Mutex<Vec<Scheduled>>>>);

impl FaultPlan {
    /// The plan in which nothing fails.
    pub fn none() -> Self {
        Self(None)
    }

    /// Adds: at the `nth` visit of `point` from now on (counted from 1), `fault` strikes once.
    pub fn then(self, point: FaultPoint, nth: u32, fault: Fault) -> Self {
        let script = self.0.unwrap_or_default();
        let scheduled = Scheduled { point, visits_left: nth.max(1), fault };
        script.lock().unwrap_or_else(PoisonError::into_inner).push(scheduled);
        Self(Some(script))
    }

    /// Reads a script like `before-commit:3:kill,execute:1:full`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut plan = Self::none();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let wrong = || {
                ParseError::new(
                    "fault",
                    item,
                    "write POINT:N:FAULT, e.g. before-commit:1:kill or execute:2:full",
                )
            };
            let mut parts = item.split(':');
            let (Some(point), Some(nth), Some(fault), None) =
                (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                return Err(wrong());
            };
            let point = FaultPoint::ALL.iter().find(|(_, name)| *name == point).ok_or_else(wrong)?.0;
            let fault = Fault::ALL.iter().find(|(_, name)| *name == fault).ok_or_else(wrong)?.0;
            plan = plan.then(point, nth.parse().map_err(|_| wrong())?, fault);
        }
        Ok(plan)
    }

    /// Counts a visit of `point` and fails if the script says so.
    pub(crate) fn visit(&self, point: FaultPoint, path: &std::path::Path) -> Result<(), StoreError> {
        let Some(script) = &self.0 else { return Ok(()) };
        match Self::strike(&mut script.lock().unwrap_or_else(PoisonError::into_inner), point) {
            None => Ok(()),
            Some(Fault::Busy) => Err(StoreError::Busy { waited: Duration::ZERO }),
            Some(Fault::Full) => Err(StoreError::Full { path: PathBuf::from(path) }),
            Some(Fault::Io) => Err(StoreError::Io {
                doing: "write",
                path: PathBuf::from(path),
                detail: "input/output error".into(),
            }),
            Some(Fault::Kill) => die(),
        }
    }

    fn strike(script: &mut Vec<Scheduled>, point: FaultPoint) -> Option<Fault> {
        for scheduled in script.iter_mut().filter(|s| s.point == point) {
            scheduled.visits_left = scheduled.visits_left.saturating_sub(1);
        }
        let due = script.iter().position(|s| s.point == point && s.visits_left == 0)?;
        Some(script.remove(due).fault)
    }
}

/// Ends the process without running any clean-up.
fn die() -> ! {
    #[cfg(unix)]
    {
        let killed = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        if killed.is_ok() {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    std::process::abort()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_strikes_once_at_its_visit() {
        let plan = FaultPlan::parse("execute:2:full, begin:1:busy").expect("well formed");
        let path = std::path::Path::new("ledger.db");
        assert!(plan.visit(FaultPoint::Execute, path).is_ok());
        assert!(matches!(plan.visit(FaultPoint::Execute, path), Err(StoreError::Full { .. })));
        assert!(plan.visit(FaultPoint::Execute, path).is_ok());
        assert!(plan.visit(FaultPoint::Begin, path).is_err_and(|e| e.is_busy()));
    }

    #[test]
    fn malformed_scripts_say_how_to_write_one() {
        for wrong in ["begin", "begin:1", "begin:x:busy", "nowhere:1:busy", "begin:1:flood", "begin:1:busy:2"]
        {
            assert!(FaultPlan::parse(wrong).is_err(), "{wrong}");
        }
    }
}
