//! Todos: whether they say what the audit has the digests of, and wait for something that is there.

use strata_store::ledger::TodoFinding;

use super::{Examination, ledger::named};
use crate::{error::Error, render::counted};

/// What to do about an edited todo.
const HINT: &str = "somebody changed the ledger's file; compare with a backup";
/// Todos named that wait for nothing; more say nothing new.
const NAMED: usize = 11;

impl Examination<'_> {
    /// Every todo and every version of it is as it was written.
    pub(super) fn todos(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let (found, lost) = ledger.read(&self.engine.control(self.call), |r| {
            Ok((r.verify_todos()?, r.todos_blocked_by_nothing(NAMED)?))
        })?;
        if found.is_empty() && lost.is_empty() {
            self.ok("todos", "every todo is as it was written");
        }
        let (mut changed, mut gone) = (Vec::new(), Vec::new());
        for finding in found {
            match finding {
                TodoFinding::Changed { id } => changed.push(id),
                TodoFinding::Missing { id } => gone.push(id),
            }
        }
        for (ids, what) in [(changed, "not as written"), (gone, "on record, neither here nor purged")] {
            if !ids.is_empty() {
                let detail = format!("{} {what}: {}", counted(ids.len(), "todo"), named(&ids));
                self.bad("todos", detail, HINT);
            }
        }
        if !lost.is_empty() {
            let detail = format!(
                "{} waiting for a todo that is not here: {}",
                counted(lost.len(), "todo"),
                named(&lost)
            );
            let hint = "after loading a part of an export this is expected; `strata todo update ID --clear blocked_by` ends it";
            self.warn("todos", detail, hint);
        }
        Ok(())
    }
}
