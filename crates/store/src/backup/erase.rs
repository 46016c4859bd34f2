//! Purging from a backup. The work is done on a copy inside the backup, which takes the place of its ledger when
//! it is finished: a backup is whole before and after, and one that was not whole does not become so.

use std::{
    fs::{self, File},
    path::Path,
};

use super::{
    MANIFEST, Manifest, Restore, changed_files, check_ledger, describe, file_entry, ledger_in, manifest_json,
    purge_again, read_manifest,
};
use crate::{
    error::StoreError,
    files::{explain_io, make_private_directory, sync_directory, write_atomic},
    ledger::{self, LedgerWrite},
    sql::Control,
};

/// Where the copy is worked on, inside the backup's directory.
const STAGE: &str = ".purging";

/// What a purge did to a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    /// How many of the things it held.
    pub again: usize,
    /// What was wrong with the backup before, in words. It is wrong still: its text is purged, its manifest is the
    /// one it had.
    pub findings: Vec<String>,
}

/// What else is taken out of a backup, in the same transaction; returns how many things.
pub type Also<'a> = &'a dyn Fn(&LedgerWrite<'_>) -> Result<usize, StoreError>;

/// Purges things from a backup, so that not even it holds them. One that is whole and holds none is left alone.
///
/// Can be cut short and done again at any point. A backup that is not whole before is purged all the same, and
/// keeps its manifest, which its ledger does not fit afterwards: whoever changed it must not have it certified.
pub fn purge(
    directory: &Path,
    control: &Control,
    how: &Restore<'_>,
    also: Also<'_>,
) -> Result<Erased, StoreError> {
    let stage = directory.join(STAGE);
    complete_exchange(directory, &stage, control)?;
    let manifest = read_manifest(directory)?;
    let mut findings = changed_files(directory, &manifest, control)?;
    remove_stage(&stage)?;
    make_private_directory(&stage)?;
    let erased = work(directory, &stage, (&manifest, &mut findings), control, (how, also));
    remove_stage(&stage)?;
    match erased {
        Ok(again) => Ok(Erased { again, findings }),
        Err(error) if is_no_ledger(&error, &findings) => {
            // Nothing can be purged from it; a search tells whether it holds the text.
            findings.push(error.to_string());
            Ok(Erased { again: 0, findings })
        }
        Err(error) => Err(error),
    }
}

/// Whether it is the backup that failed, and not the machine or the caller.
fn is_no_ledger(error: &StoreError, findings: &[String]) -> bool {
    let is_damage = matches!(
        error,
        StoreError::Corrupt { .. } | StoreError::NotInitialized { .. } | StoreError::Foreign { .. }
    );
    is_damage || (matches!(error, StoreError::Io { .. }) && !findings.is_empty())
}

/// Purges from a copy in `stage` and, if there is anything to change, puts it in place.
fn work(
    directory: &Path,
    stage: &Path,
    (manifest, findings): (&Manifest, &mut Vec<String>),
    control: &Control,
    (how, also): (&Restore<'_>, Also<'_>),
) -> Result<usize, StoreError> {
    let copied = stage.join(ledger::FILE_NAME);
    fs::copy(directory.join(ledger::FILE_NAME), &copied)
        .map_err(|error| explain_io("copy", &copied, &error))?;
    let copy = ledger_in(stage);
    if findings.is_empty() {
        findings.extend(check_ledger(&copy, manifest.head, control)?);
    }
    let again =
        copy.write(control, how.now, |write| Ok(purge_again(write, how, how.purged)? + also(write)?))?;
    if again == 0 && findings.is_empty() {
        copy.database().close();
        return Ok(0);
    }
    copy.database().compact(control)?;
    copy.database().close();
    if findings.is_empty() {
        let entry = |name: &str| file_entry(if name == ledger::FILE_NAME { stage } else { directory }, name);
        let files = manifest.files.iter().map(|file| entry(&file.name)).collect::<Result<Vec<_>, _>>()?;
        let new = describe(stage, control, &manifest.id, manifest.created_at, files)?;
        write_atomic(&stage.join(MANIFEST), manifest_json(&new).as_bytes())?;
    }
    exchange(directory, stage)?;
    Ok(again)
}

/// Puts the finished ledger in place and then its manifest, if it has earned one.
fn exchange(directory: &Path, stage: &Path) -> Result<(), StoreError> {
    let ledger = stage.join(ledger::FILE_NAME);
    File::open(&ledger).and_then(|file| file.sync_all()).map_err(|e| explain_io("sync", &ledger, &e))?;
    put(&ledger, &directory.join(ledger::FILE_NAME))?;
    let manifest = stage.join(MANIFEST);
    if manifest.exists() {
        put(&manifest, &directory.join(MANIFEST))?;
    }
    sync_directory(directory).map_err(|error| explain_io("sync", directory, &error))
}

fn put(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).map_err(|error| explain_io("replace", to, &error))
}

/// Ends an exchange that was cut short between its two steps: the new ledger is in place, its manifest is not.
fn complete_exchange(directory: &Path, stage: &Path, control: &Control) -> Result<(), StoreError> {
    if stage.join(ledger::FILE_NAME).exists() || !stage.join(MANIFEST).exists() {
        return Ok(());
    }
    let new = read_manifest(stage)?;
    if changed_files(directory, &new, control)?.is_empty() {
        put(&stage.join(MANIFEST), &directory.join(MANIFEST))?;
    }
    Ok(())
}

/// Removes the copy, with what an earlier purge that was cut short left of it.
fn remove_stage(stage: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(stage) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(explain_io("remove", stage, &error)),
    }
}
