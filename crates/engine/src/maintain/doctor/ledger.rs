//! The ledger: schema, integrity, audit, states, successors.

use std::collections::{HashMap, HashSet};

use strata_core::{
    chain::{Checkpoint, Outcome},
    memory::Status,
    time::Timestamp,
};
use strata_store::{
    backup,
    ledger::{AuditFilter, MemoryFilter, MemoryFinding, OPEN, SCHEMA},
    moving,
    sql::Access,
};

use super::Examination;
use crate::{
    authority::{self, PUBLIC_KEY, parse_public_key},
    error::Error,
    maintain::{backup::directory, init, migrate_store::CUT_OFF},
    render::counted,
};

/// Things named in one finding; more say nothing new.
const NAMED: usize = 10;

impl Examination<'_> {
    /// Whether the ledger can be opened at all.
    pub(super) fn schema(&mut self) -> Result<bool, Error> {
        let control = self.engine.control(self.call);
        let opened = self.engine.existing_ledger().and_then(|ledger| {
            let access = ledger.access(&control)?;
            Ok((access, ledger.database().applied(&control)?))
        });
        match opened {
            Err(error) if self.call.cancel.is_cancelled() => Err(error),
            Err(error) => {
                // Whoever reads this has run it.
                let next = error.hint();
                let next = next.strip_prefix("run `strata doctor`; ").unwrap_or(&next);
                let hint = format!("{next}; `strata backup list` shows what can be restored");
                self.bad("ledger", error.to_string(), hint);
                Ok(false)
            }
            Ok((access, applied)) => {
                let version = applied.last().map_or(0, |migration| migration.version);
                self.ok(
                    "schema",
                    format!("version {version} of {}, every migration as released", SCHEMA.latest()),
                );
                if let Access::ReadOnly(reason) = access {
                    let hint = "reading works; nothing can be kept here until that is mended";
                    self.warn("access", format!("the ledger can only be read: {reason}"), hint);
                }
                self.unfinished_move()?;
                Ok(true)
            }
        }
    }

    fn unfinished_move(&mut self) -> Result<(), Error> {
        let control = self.engine.control(self.call);
        if self.engine.existing_ledger()?.read(&control, moving::is_unfinished)? {
            let [what, hint] = CUT_OFF;
            self.warn("move", what, hint);
        }
        Ok(())
    }

    pub(super) fn integrity(&mut self) -> Result<(), Error> {
        let database = self.engine.existing_ledger()?.database();
        let findings = database.check(&self.engine.control(self.call), !self.full)?;
        if findings.is_empty() {
            let how = if self.full { "fully" } else { "quickly; --full looks closer" };
            self.ok("integrity", format!("the ledger is sound (checked {how})"));
        }
        for finding in findings {
            let hint = match self.engine.settings().store {
                None => "restore the newest whole backup: `strata backup list`",
                Some(_) if finding.ends_with("is not one that Strata makes") => {
                    "the schema's owner removes it"
                }
                Some(_) => {
                    "the administrator restores the database from a dump; or drops the schema, its owner runs `strata init`, \
                     and each tenant restores its newest backup"
                }
            };
            self.bad("integrity", format!("the ledger is damaged: {finding}"), hint);
        }
        Ok(())
    }

    pub(super) fn audit(&mut self) -> Result<(), Error> {
        let control = self.engine.control(self.call);
        let ledger = self.engine.existing_ledger()?;
        let (epoch, key, purged) =
            ledger.read(&control, |r| Ok((r.epoch()?, r.setting(PUBLIC_KEY)?, r.purged()?)))?;
        let known = key.as_deref().map(parse_public_key);
        if let Some(None) = known {
            self.bad("audit", "the key that signatures are checked against is damaged", "restore a backup");
        }
        self.passphrase(key.as_deref())?;
        let last_purge = purged.iter().map(|p| p.at).max();
        let witnesses = self.witnesses(&epoch, last_purge)?;
        let key = known.flatten();
        let report = ledger.read(&control, |r| r.verify_audit(&witnesses, key.as_ref()))?;
        if key.is_some() && report.signed_heads == 0 {
            let hint = "somebody took the signatures out of the ledger; compare with a backup";
            self.bad("audit", "there is a passphrase, but no line is signed any more", hint);
        }
        if report.is_whole() {
            let signed = match report.signed_heads {
                0 => "nothing signed yet".to_owned(),
                n => format!("{} as signed", counted(n, "head")),
            };
            let detail = format!(
                "unbroken up to line {}; {signed}, confirmed by {}",
                report.head.seq,
                counted(witnesses.len(), "witness")
            );
            self.ok("audit", detail);
        }
        for finding in report.findings {
            let hint = format!(
                "somebody changed the ledger: nothing from line {} on is proved; compare with a backup",
                finding.seq()
            );
            self.bad("audit", finding.to_string(), hint);
        }
        Ok(())
    }

    /// The passphrase is the one that was set, once, and can be derived again.
    fn passphrase(&mut self, key: Option<&str>) -> Result<(), Error> {
        let set = AuditFilter {
            action: Some(init::ACTION.to_owned()),
            outcome: Some(Outcome::Done),
            limit: usize::MAX,
            ..AuditFilter::default()
        };
        let approved = AuditFilter {
            principal: Some(authority::approval().to_string()),
            outcome: Some(Outcome::Done),
            ..AuditFilter::default()
        };
        let (set, salt, signed) =
            self.engine.existing_ledger()?.read(&self.engine.control(self.call), |r| {
                let signed = !r.signed_heads()?.is_empty() || r.audit_count(&approved)? > 0;
                Ok((r.audit(&set)?, r.setting(init::SALT)?, signed))
            })?;
        let set: Vec<_> = set.into_iter().filter(|l| l.entry.reason == init::PASSPHRASE_SET).collect();
        let recorded = set.last().and_then(|linked| linked.entry.after_hash);
        let what = match key {
            None if !set.is_empty() => "a passphrase was set, and there is none any more",
            None if signed => "something was approved with a passphrase, and there is none any more",
            _ if set.len() > 1 => "a passphrase was set although there was one",
            Some(key) if recorded.is_some_and(|hash| hash != init::key_hash(key)) => {
                "the passphrase is another one than was set"
            }
            Some(_) if salt.as_deref().is_some_and(|salt| init::parse_salt(salt).is_none()) => {
                "what the passphrase is salted with is damaged: it cannot be recognised any more"
            }
            _ => return Ok(()),
        };
        self.bad("audit", what, "somebody changed the ledger; restore a backup");
        Ok(())
    }

    /// Heads of this line of changes that were seen outside the ledger: by the index and in backups. A
    /// purge may have rewritten earlier backups, which then have a line of their own.
    fn witnesses(&self, epoch: &str, last_purge: Option<Timestamp>) -> Result<Vec<Checkpoint>, Error> {
        let mut witnesses = Vec::new();
        // An index that cannot be read is a finding of its own.
        if let Ok(cursor) = self.engine.searcher().index().cursor(self.engine.tenant())
            && cursor.epoch == epoch
            && let Ok(hash) = <[u8; 32]>::try_from(cursor.hash.as_slice())
        {
            witnesses.push(Checkpoint { seq: cursor.mark.seq, hash });
        }
        for listed in backup::list(&directory(self.engine))? {
            let manifest = listed.manifest.ok().filter(|m| m.epoch == epoch && m.head.seq > 0);
            witnesses
                .extend(manifest.filter(|m| last_purge.is_none_or(|at| m.created_at > at)).map(|m| m.head));
        }
        Ok(witnesses)
    }

    /// The text of every memory has the hash that the audit keeps, and its states are those on record.
    pub(super) fn texts(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let found = ledger.read(&self.engine.control(self.call), |r| r.verify_memories())?;
        if found.is_empty() {
            self.ok("texts", "every memory says what the audit has the hash of");
        }
        let ids = |wanted: fn(&MemoryFinding) -> Option<&String>| -> Vec<String> {
            found.iter().filter_map(wanted).cloned().collect()
        };
        let text = ids(|f| if let MemoryFinding::TextChanged { id } = f { Some(id) } else { None });
        let state = ids(|f| if let MemoryFinding::StateChanged { id } = f { Some(id) } else { None });
        let gone = ids(|f| if let MemoryFinding::Missing { id } = f { Some(id) } else { None });
        if !gone.is_empty() {
            let count = counted(gone.len(), "memory");
            let detail = format!("{count} on record, neither here nor purged: {}", named(&gone));
            self.bad("texts", detail, "somebody changed the ledger; compare with a backup");
        }
        for (changed, what) in [(text, "text"), (state, "state")] {
            if !changed.is_empty() {
                let count = counted(changed.len(), "memory");
                let detail = format!("{what} of {count} is not what the audit recorded: {}", named(&changed));
                self.bad("texts", detail, "somebody changed the ledger; compare with a backup");
            }
        }
        Ok(())
    }

    /// The state columns of every memory repeat its open state row.
    pub(super) fn states(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let wrong = ledger.read(&self.engine.control(self.call), |r| {
            let mut open: HashMap<i64, _> =
                r.as_of(OPEN - 1)?.into_iter().map(|row| (row.number, row)).collect();
            let mut wrong = Vec::new();
            r.for_each_memory(&MemoryFilter::of_any_status(), |memory| {
                let held = open.remove(&memory.number);
                let fits = held.is_some_and(|h| h.state == memory.state && h.from_seq == memory.state_seq);
                if !fits {
                    wrong.push(memory.id);
                }
                Ok(())
            })?;
            wrong.extend(open.into_keys().map(|number| format!("#{number} (no such memory)")));
            Ok(wrong)
        })?;
        if wrong.is_empty() {
            self.ok("states", "every memory is where its history says");
        } else {
            let detail = format!("{} not as history says: {}", counted(wrong.len(), "memory"), named(&wrong));
            self.bad("states", detail, "somebody changed the ledger; compare with a backup");
        }
        Ok(())
    }

    /// Priority, condition and switch of every rule are what the audit has the hash of.
    pub(super) fn rules(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let wrong = ledger.read(&self.engine.control(self.call), |r| r.verify_rules())?;
        if wrong.is_empty() {
            self.ok("rules", "every rule has the priority, condition and switch that the audit recorded");
            return Ok(());
        }
        let ids: Vec<String> = wrong.into_iter().map(|finding| finding.id).collect();
        let detail = format!(
            "priority, condition or switch of {} is not what the audit recorded: {}",
            counted(ids.len(), "rule"),
            named(&ids)
        );
        self.bad("rules", detail, "somebody changed the ledger; compare with a backup");
        Ok(())
    }

    pub(super) fn successors(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let (dangling, orphaned) = ledger.read(&self.engine.control(self.call), |r| {
            let mut known: HashSet<String> = r.purged()?.into_iter().map(|p| p.id).collect();
            let mut links = Vec::new();
            r.for_each_memory(&MemoryFilter::of_any_status(), |memory| {
                // What ended in a rollback need not have been replaced by anything.
                let rolled_back =
                    memory.superseded_reason.as_deref().is_some_and(|why| why.starts_with("rollback:"));
                let replaced = memory.state.status == Status::Superseded && !rolled_back;
                if memory.superseded_by.is_some() || replaced {
                    links.push((memory.id.clone(), memory.superseded_by));
                }
                known.insert(memory.id);
                Ok(())
            })?;
            let lost = |by: &Option<String>| by.as_ref().is_some_and(|by| !known.contains(by));
            let dangling: Vec<String> =
                links.iter().filter(|(_, by)| lost(by)).map(|(id, _)| id.clone()).collect();
            let orphaned: Vec<String> =
                links.into_iter().filter(|(_, by)| by.is_none()).map(|(id, _)| id).collect();
            Ok((dangling, orphaned))
        })?;
        if dangling.is_empty() && orphaned.is_empty() {
            self.ok("successors", "every replaced memory leads to what replaced it");
        }
        if !dangling.is_empty() {
            let detail = format!(
                "{} with a successor that is not here: {}",
                counted(dangling.len(), "memory"),
                named(&dangling)
            );
            self.warn(
                "successors",
                detail,
                "after loading a part of an export this is expected; else compare with a backup",
            );
        }
        if !orphaned.is_empty() {
            let detail = format!(
                "replaced without a successor: {}, {}",
                counted(orphaned.len(), "memory"),
                named(&orphaned)
            );
            self.warn("successors", detail, "`strata restore ID` brings one back");
        }
        Ok(())
    }

    /// Every digest leads to the raw material it was made of.
    pub(super) fn digests(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let dangling = ledger.read(&self.engine.control(self.call), |r| r.dangling_digests(NAMED + 1))?;
        if dangling.is_empty() {
            self.ok("digests", "every digest leads to what it was made of");
            return Ok(());
        }
        let links: Vec<String> =
            dangling.iter().map(|(digest, kind, n)| format!("#{digest} to {} {n}", kind.as_str())).collect();
        let detail = format!("links of digests that lead nowhere: {}", named(&links));
        self.warn("digests", detail, "somebody changed the ledger; compare with a backup");
        Ok(())
    }
}

impl Examination<'_> {
    /// Both ends of every relation between memories are there.
    pub(super) fn memory_relations(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let dangling =
            ledger.read(&self.engine.control(self.call), |r| r.dangling_memory_relations(NAMED + 1))?;
        if dangling.is_empty() {
            self.ok("relations", "every relation between memories has both its ends");
            return Ok(());
        }
        let shown: Vec<String> =
            dangling.iter().map(|r| format!("#{} {} #{}", r.source, r.relation, r.target)).collect();
        let detail = format!("relations between memories that lead nowhere: {}", named(&shown));
        self.warn("relations", detail, "somebody changed the ledger; compare with a backup");
        Ok(())
    }

    /// Both ends of every relation and mention of the graph are there.
    pub(super) fn graph(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let lost = ledger.read(&self.engine.control(self.call), |r| r.dangling_ends())?;
        if lost.is_empty() {
            self.ok("graph", "every relation and mention has both its ends");
        } else {
            let detail = format!("without both ends: {}", named(&lost));
            self.bad("graph", detail, "somebody changed the ledger; compare with a backup");
        }
        Ok(())
    }
}

/// The first few of a list, in words.
pub(super) fn named(all: &[String]) -> String {
    let mut text = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > NAMED {
        text.push_str(&format!(" and {} more", all.len() - NAMED));
    }
    text
}
