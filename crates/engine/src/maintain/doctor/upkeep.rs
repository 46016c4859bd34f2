//! What is left lying about, and what is due: leftovers, jobs, purges, backups.

use std::path::{Path, PathBuf};

use strata_store::backup::{self, Listed};

use super::{Examination, ledger::named};
use crate::{
    error::Error,
    job,
    knowledge::vault,
    maintain::{
        backup::directory,
        jobs::is_stalled,
        purge::{self, other_index_files},
        purged,
    },
    render::counted,
};

impl Examination<'_> {
    pub(super) fn leftovers(&mut self) -> Result<(), Error> {
        let home = self.engine.home();
        let mut left = Vec::new();
        for folder in [home.to_owned(), directory(self.engine)] {
            left.extend(self.abandoned(&folder)?);
        }
        left.extend(vault::abandoned(self.engine));
        let own = self.engine.searcher().index().file_path();
        left.extend(other_index_files(home, own)?.into_iter().filter(|path| is_damaged_index(path)));
        if left.is_empty() {
            self.ok("leftovers", "none");
            return Ok(());
        }
        let names: Vec<String> = left.iter().map(|p| p.display().to_string()).collect();
        if !self.fix {
            let detail = format!("{}: {}", counted(left.len(), "unfinished or damaged file"), named(&names));
            self.warn("leftovers", detail, "`strata doctor --fix` removes them");
            return Ok(());
        }
        for path in &left {
            let removed =
                if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
            removed.map_err(|source| Error::File { path: path.display().to_string(), source })?;
        }
        self.fixed.push(format!("removed {}", named(&names)));
        self.ok("leftovers", "none");
        Ok(())
    }

    /// Temporary files of writes that never came to their end.
    fn abandoned(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let failed = |source| Error::File { path: folder.display().to_string(), source };
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(failed(e)),
        };
        let now = self.engine.clock().now().0;
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let temporary =
                [".tmp", ".unfinished-", ".working-"].iter().any(|prefix| name.starts_with(prefix));
            if temporary && modified(&entry).is_some_and(|at| now.saturating_sub(at) > vault::ABANDONED) {
                found.push(entry.path());
            }
        }
        found.sort();
        Ok(found)
    }

    pub(super) fn jobs(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        let control = self.engine.control(self.call);
        let now = self.engine.clock().now();
        let rows = ledger.read(&control, |r| r.jobs(None, usize::MAX))?;
        let stalled: Vec<String> = rows
            .iter()
            .filter(|row| is_stalled(row, now))
            .map(|row| format!("{} ({})", row.id, row.kind))
            .collect();
        if stalled.is_empty() {
            let open = rows.iter().filter(|row| !row.state.is_final()).count();
            self.ok("jobs", format!("{open} open, none stalled"));
        } else if self.fix {
            let gone = ledger.read(&control, job::gone)?;
            let ended = ledger.write(&control, now, |w| Ok(w.expire_jobs()? + w.end_jobs_of(&gone)?))?;
            self.fixed.push(format!("ended {} whose worker had stopped", counted(ended, "job")));
            self.ok("jobs", "none stalled");
        } else {
            let detail = format!("{} without a worker: {}", counted(stalled.len(), "job"), named(&stalled));
            self.warn("jobs", detail, "`strata doctor --fix` ends them; then start the work again");
        }
        Ok(())
    }

    /// The ledger's tombstones and the list beside it say the same, and nothing on it is back.
    pub(super) fn purges(&mut self) -> Result<(), Error> {
        let list = purged::read(self.engine.home())?;
        let control = self.engine.control(self.call);
        let (stones, back) = self.engine.existing_ledger()?.read(&control, |r| {
            let mut back = Vec::new();
            for (kind, id) in &list.entries {
                if r.holds(*kind, id)? {
                    back.push(id.clone());
                }
            }
            Ok((r.purged()?, back))
        })?;
        if !back.is_empty() {
            let detail =
                format!("{} back in the ledger: {}", counted(back.len(), "purged thing"), named(&back));
            self.bad("purges", detail, "run `strata purge ID` for each of them again");
        }
        if !list.damaged.is_empty() {
            let lines = list.damaged.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            self.warn(
                "purges",
                format!("lines {lines} of {} cannot be read", purged::FILE),
                "correct or remove them",
            );
        }
        let missing: Vec<_> = stones
            .iter()
            .filter(|s| !list.entries.iter().any(|(k, id)| *k == s.kind && *id == s.id))
            .collect();
        if missing.is_empty() && back.is_empty() && list.damaged.is_empty() {
            self.ok("purges", format!("{} on record, none came back", list.entries.len()));
        } else if !missing.is_empty() && self.fix {
            for stone in &missing {
                purged::add(self.engine.home(), &control, stone.kind, &stone.id, stone.at)?;
            }
            self.fixed.push(format!("{} added to {}", counted(missing.len(), "purge"), purged::FILE));
        } else if !missing.is_empty() {
            let detail = format!(
                "{} missing in {}: a restore might undo that",
                counted(missing.len(), "purge"),
                purged::FILE
            );
            self.warn("purges", detail, "`strata doctor --fix` adds them");
        }
        Ok(())
    }

    /// Purges that were cut short: the ledger has given the text up, other files may still hold it.
    pub(super) fn open_purges(&mut self) -> Result<(), Error> {
        let ledger = self.engine.existing_ledger()?;
        for open in ledger.read(&self.engine.control(self.call), |r| r.open_purges())? {
            if self.fix && purge::complete(self.engine, self.call, &open)? {
                self.fixed.push(format!("the purge of {} was completed", open.id));
            } else {
                let detail = format!("the purge of {} was cut short: bytes of it may be left", open.id);
                let hint = format!("`strata purge {}` or `strata doctor --fix` completes it", open.id);
                self.warn("purges", detail, hint);
            }
        }
        Ok(())
    }

    pub(super) fn backups(&mut self) -> Result<(), Error> {
        let listed = backup::list(&directory(self.engine))?;
        let whole: Vec<_> = listed.iter().filter_map(|l| l.manifest.as_ref().ok()).collect();
        for broken in listed.iter().filter(|l| l.manifest.is_err()) {
            let reason = broken.manifest.as_ref().err().map(ToString::to_string).unwrap_or_default();
            let hint = "it cannot be restored; remove its folder";
            self.warn("backups", format!("{}: {reason}", broken.directory.display()), hint);
        }
        if self.full {
            self.contents_of(&listed)?;
        }
        match whole.first() {
            None => self.warn("backups", "there are none", "`strata backup create` makes one"),
            Some(newest) => {
                self.ok(
                    "backups",
                    format!(
                        "{}, the newest of {}",
                        counted(whole.len(), "backup"),
                        newest.created_at.to_rfc3339()
                    ),
                );
            }
        }
        Ok(())
    }
}

impl Examination<'_> {
    /// Every byte of every backup, and whether its ledger is what its own audit recorded.
    fn contents_of(&mut self, listed: &[Listed]) -> Result<(), Error> {
        let control = self.engine.control(self.call);
        let open = self.engine.existing_ledger()?.read(&control, |r| r.open_purges())?;
        // A purge rewrites a backup's ledger first and then what its manifest says of it.
        let is_rewriting = open.iter().any(|purge| purge.backups);
        for whole in listed.iter().filter(|l| l.manifest.is_ok()) {
            for found in backup::verify(&whole.directory, &control)? {
                let detail = format!("{}: {found}", whole.directory.display());
                if is_rewriting {
                    let hint = "it may be the purge that was cut short: complete that, then look again";
                    self.warn("backups", detail, hint);
                } else {
                    let hint = "somebody changed the backup; it cannot be restored, make another one";
                    self.bad("backups", detail, hint);
                }
            }
        }
        Ok(())
    }
}

fn is_damaged_index(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(".damaged-"))
}

/// When a file was last changed, in microseconds since 1970 UTC.
fn modified(entry: &std::fs::DirEntry) -> Option<i64> {
    let at = entry.metadata().ok()?.modified().ok()?;
    let since = at.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_micros()).ok()
}
