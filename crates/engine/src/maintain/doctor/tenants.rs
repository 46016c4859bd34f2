//! What keeps the tenants of a server apart.

use strata_store::ledger::NAMESPACE;

use super::Examination;
use crate::{error::Error, render::counted};

impl Examination<'_> {
    /// Looks at the ledger and at the index, also where this tenant finds nothing: a policy that was taken away hides
    /// everything.
    pub(super) fn tenants(&mut self) -> Result<(), Error> {
        let control = self.engine.control(self.call);
        let databases = [self.engine.store().database(), self.engine.searcher().index().database()];
        let (mut tables, mut owner) = (0, None);
        let mut told = Vec::new();
        let mut is_without_truth = false;
        for (at, database) in databases.into_iter().enumerate() {
            let Some(found) = database.isolation(&control)? else {
                is_without_truth |= at == 0;
                continue;
            };
            if is_without_truth {
                let what =
                    format!("the schema `{NAMESPACE}` is gone, and an index of what it held is still there");
                let hint = "somebody dropped it: restore the server's dump, or run `strata init` and restore a backup, which \
                            `strata backup list` shows";
                self.bad("ledger", what, hint);
            }
            tables += found.tables;
            if found.is_owner {
                owner = Some((found.role, found.admitted));
            }
            for (what, remedy) in found.gaps.into_iter().filter(|gap| !told.contains(gap)).collect::<Vec<_>>()
            {
                self.bad("tenants", what.clone(), remedy.clone());
                told.push((what, remedy));
            }
        }
        match owner {
            Some((role, admitted)) if !admitted.is_empty() => self.warn(
                "tenants",
                format!("this process runs as `{role}`, which owns the tables and can lift row security"),
                format!("let processes that serve connect as `{}`", admitted.join("` or `")),
            ),
            _ if !told.is_empty() || tables == 0 => {}
            Some((role, _)) => {
                self.ok(
                    "tenants",
                    format!("kept apart in {}, which `{role}` owns", counted(tables, "table")),
                );
            }
            None => self.ok("tenants", format!("kept apart in {}", counted(tables, "table"))),
        }
        Ok(())
    }
}
