//! Backups of the ledger and of files beside it: a directory each, with a manifest that says what
//! they hold and lets every byte be checked.

mod erase;

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use strata_core::{
    chain::{Checkpoint, Head},
    principal::{Face, Principal},
    time::Timestamp,
};

use crate::{
    error::{Conflict, StoreError},
    faults::FaultPlan,
    files::{canonical, explain_io, make_private_directory, write_atomic},
    ledger::{self, Ledger, LedgerRead, LedgerWrite, NewAudit, PurgedKind},
    sql::Control,
};

pub use self::erase::{Also, Erased, purge};

const MANIFEST: &str = "manifest.json";
const FILES: &str = "files";
/// The manifest's own version.
const FORMAT: i64 = 1;

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The backup's id and the name of its directory.
    pub id: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The ledger's schema version.
    pub schema_version: i64,
    /// The epoch of its sequences.
    pub epoch: String,
    /// The last audit row in it.
    pub head: Checkpoint,
    /// Every file in it.
    pub files: Vec<FileEntry>,
}

/// A file in a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Path below the backup's directory, with `/`.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// BLAKE3 of its bytes.
    pub hash: [u8; 32],
}

/// A file to be taken into a backup beside the ledger.
#[derive(Debug, Clone)]
pub struct ExtraFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its name in the backup: relative, with `/`.
    pub name: String,
}

/// A backup as found in the backups' directory.
#[derive(Debug)]
pub struct Listed {
    /// Its directory.
    pub directory: PathBuf,
    /// What it holds, or why that cannot be said.
    pub manifest: Result<Manifest, StoreError>,
}

/// How to restore.
#[derive(Debug, Clone)]
pub struct Restore<'a> {
    /// The new line of sequences.
    pub epoch: &'a str,
    /// When.
    pub now: Timestamp,
    /// Who restores.
    pub principal: &'a Principal,
    /// Through which face.
    pub face: Face,
    /// What must not come back, beside what the live ledger knows to be purged.
    pub purged: &'a [(PurgedKind, String)],
    /// Give up changes of the live ledger that the backup does not hold.
    pub force: bool,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The head of the ledger after it.
    pub head: Head,
    /// How many things the backup held that were purged since, and that were purged again.
    pub purged_again: usize,
    /// What would take the bytes of what was replaced out of a server's files: statements for its owner.
    pub left: Vec<String>,
}

/// Makes a backup named `id` in the directory `backups`. A reader never sees half a backup.
pub fn create(
    ledger: &Ledger,
    control: &Control,
    backups: &Path,
    id: &str,
    now: Timestamp,
    extra: &[ExtraFile],
) -> Result<Manifest, StoreError> {
    make_private_directory(backups)?;
    let unfinished = tempfile::Builder::new()
        .prefix(".unfinished-")
        .tempdir_in(backups)
        .map_err(|error| explain_io("create", backups, &error))?;
    let place = unfinished.path();
    ledger.database().copy_to(control, &place.join(ledger::FILE_NAME))?;
    let mut names = vec![ledger::FILE_NAME.to_owned()];
    for file in extra {
        names.push(copy_extra(file, place)?);
    }
    let files = names.iter().map(|name| file_entry(place, name)).collect::<Result<Vec<_>, _>>()?;
    let manifest = describe(place, control, id, now, files)?;
    write_atomic(&place.join(MANIFEST), manifest_json(&manifest).as_bytes())?;
    let target = backups.join(id);
    if target.exists() {
        return Err(StoreError::Invalid(format!("there is a backup `{id}` already")));
    }
    fs::rename(place, &target).map_err(|error| explain_io("create", &target, &error))?;
    // It has its name now; nothing is left to clean up.
    drop(unfinished.keep());
    Ok(manifest)
}

/// The backups in a directory, newest first; damaged ones at the end.
pub fn list(backups: &Path) -> Result<Vec<Listed>, StoreError> {
    let entries = match fs::read_dir(backups) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(explain_io("list", backups, &error)),
    };
    let mut listed = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| explain_io("list", backups, &error))?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.path().is_dir() {
            listed.push(Listed { manifest: read_manifest(&entry.path()), directory: entry.path() });
        }
    }
    listed.sort_by_key(|l| {
        std::cmp::Reverse(l.manifest.as_ref().map_or(Timestamp(i64::MIN), |m| m.created_at))
    });
    Ok(listed)
}

/// Checks every byte of a backup, its database and its audit. Returns what is wrong, in words.
/// The backup itself is only read.
pub fn verify(directory: &Path, control: &Control) -> Result<Vec<String>, StoreError> {
    let manifest = read_manifest(directory)?;
    let findings = changed_files(directory, &manifest, control)?;
    if !findings.is_empty() {
        return Ok(findings);
    }
    let (_workshop, copy) = working_copy(directory, directory.parent().unwrap_or(directory))?;
    check_ledger(&copy, manifest.head, control)
}

fn changed_files(
    directory: &Path,
    manifest: &Manifest,
    control: &Control,
) -> Result<Vec<String>, StoreError> {
    let mut findings = Vec::new();
    for file in &manifest.files {
        control.check()?;
        match file_entry(directory, &file.name) {
            Ok(found) if found == *file => {}
            Ok(_) => findings.push(format!("`{}` is not the file that was backed up", file.name)),
            Err(error) => findings.push(error.to_string()),
        }
    }
    Ok(findings)
}

/// What is wrong with a ledger, in words. It must reach or pass `head`.
pub(crate) fn check_ledger(
    ledger: &Ledger,
    head: Checkpoint,
    control: &Control,
) -> Result<Vec<String>, StoreError> {
    let mut findings = ledger.database().check(control, false)?;
    let report = ledger.read(control, |read| read.verify_audit(&[head], None))?;
    findings.extend(report.findings.iter().map(ToString::to_string));
    // An unbroken audit beside other texts, states or rules than it recorded proves nothing.
    findings.extend(ledger.read(control, |read| read.verify_memories())?.iter().map(ToString::to_string));
    findings.extend(ledger.read(control, |read| read.verify_rules())?.iter().map(ToString::to_string));
    let (events, questions) =
        ledger.read(control, |read| Ok((read.verify_events()?, read.verify_questions()?)))?;
    findings.extend(events.findings.iter().map(ToString::to_string));
    findings.extend(questions.findings.iter().map(ToString::to_string));
    Ok(findings)
}

/// Looks into the ledger of a backup, whose files must be those that were backed up. The backup itself is
/// only read.
pub fn look_into<T>(
    directory: &Path,
    control: &Control,
    job: impl FnOnce(&LedgerRead<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let manifest = read_manifest(directory)?;
    if let Some(detail) = changed_files(directory, &manifest, control)?.into_iter().next() {
        return Err(StoreError::Corrupt { path: directory.to_path_buf(), detail });
    }
    let (_workshop, copy) = working_copy(directory, directory.parent().unwrap_or(directory))?;
    copy.read(control, job)
}

/// A copy of the backup's ledger to work on, in a directory that goes away with the first value.
/// Opening a database may bring its schema up to date, which a backup must not suffer.
fn working_copy(directory: &Path, place: &Path) -> Result<(tempfile::TempDir, Ledger), StoreError> {
    let workshop = tempfile::Builder::new()
        .prefix(".working-")
        .tempdir_in(place)
        .map_err(|error| explain_io("create", place, &error))?;
    let copy = workshop.path().join(ledger::FILE_NAME);
    fs::copy(directory.join(ledger::FILE_NAME), &copy).map_err(|error| explain_io("copy", &copy, &error))?;
    let ledger = ledger_in(workshop.path());
    Ok((workshop, ledger))
}

/// What a restore writes last, in the transaction that records it.
pub type Seal<'a> = &'a dyn Fn(&LedgerWrite<'_>) -> Result<(), StoreError>;

/// Puts the backup's ledger in the place of the live one.
///
/// The backup is checked first. Without `force`, a live ledger that holds changes which the backup
/// does not hold is left alone ([`Conflict::NewerData`]). Purges are done again, a new epoch begins,
/// the restore is audited, and `seal` writes what else belongs to it, such as a signature: all before anybody
/// sees the restored data. Other files of the backup are the caller's to restore.
pub fn restore(
    directory: &Path,
    ledger: &Ledger,
    control: &Control,
    how: &Restore<'_>,
    seal: Seal<'_>,
) -> Result<Restored, StoreError> {
    let manifest = read_manifest(directory)?;
    let home = ledger.database().place().file().and_then(Path::parent).or_else(|| directory.parent());
    let home = home.unwrap_or_else(|| Path::new("."));
    make_private_directory(home)?;
    let mut findings = changed_files(directory, &manifest, control)?;
    let (_workshop, copy) = working_copy(directory, home)?;
    if findings.is_empty() {
        findings = check_ledger(&copy, manifest.head, control)?;
    }
    if let Some(detail) = findings.into_iter().next() {
        return Err(StoreError::Corrupt { path: directory.to_path_buf(), detail });
    }
    let mut purged = how.purged.to_vec();
    purged.extend(live_tombstones(ledger, &copy, control, how.force)?);
    let purged_again = prepare(&copy, control, how, &manifest, &purged, seal)?;
    ledger.database().restore_from(control, copy.database().path())?;
    let left = ledger.database().compact(control)?;
    Ok(Restored { head: ledger.read(control, |read| read.head())?, purged_again, left })
}

/// Makes of the backup's ledger what is to be put in place. Returns how many things it purged.
fn prepare(
    copy: &Ledger,
    control: &Control,
    how: &Restore<'_>,
    manifest: &Manifest,
    purged: &[(PurgedKind, String)],
    seal: Seal<'_>,
) -> Result<usize, StoreError> {
    let reason = format!("epoch {} began", how.epoch);
    let audit =
        NewAudit { reason: &reason, ..NewAudit::new(how.principal, how.face, "restore", &manifest.id) };
    let again = copy.write(control, how.now, |write| {
        let again = purge_again(write, how, purged)?;
        write.record(&audit)?;
        write.set_epoch(how.epoch)?;
        seal(write)?;
        Ok(again)
    })?;
    copy.database().compact(control)?;
    copy.database().close();
    Ok(again)
}

/// The tombstones of the live ledger, if it may be replaced by the backup.
fn live_tombstones(
    live: &Ledger,
    backup: &Ledger,
    control: &Control,
    force: bool,
) -> Result<Vec<(PurgedKind, String)>, StoreError> {
    let state = live.read(control, |read| Ok((read.head()?, read.purged()?)));
    let (head, purged) = match state {
        Ok(state) => state,
        Err(StoreError::NotInitialized { .. }) => return Ok(Vec::new()),
        // A ledger that cannot be read is what backups are for; the word is the user's.
        Err(_) if force => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (last, hash) = backup.read(control, |read| Ok((read.head()?.seq, read.hash_at(head.seq)?)))?;
    let contained = head.seq == 0 || hash == Some(head.hash);
    if !contained && !force {
        return Err(Conflict::NewerData { live: head.seq, backup: last }.into());
    }
    Ok(purged.into_iter().map(|purged| (purged.kind, purged.id)).collect())
}

/// Why something is purged from a backup, on its record.
pub(crate) const PURGED_AGAIN: &str = "purged before; done again in a backup";

fn purge_again(
    write: &LedgerWrite<'_>,
    how: &Restore<'_>,
    purged: &[(PurgedKind, String)],
) -> Result<usize, StoreError> {
    let mut again = 0;
    for (kind, id) in purged {
        if write.holds(*kind, id)? {
            let audit =
                NewAudit { reason: PURGED_AGAIN, ..NewAudit::new(how.principal, how.face, "purge", id) };
            let seq = write.record(&audit)?;
            write.purge(*kind, id, seq)?;
            again += 1;
        }
    }
    Ok(again)
}

fn ledger_in(directory: &Path) -> Ledger {
    Ledger::new(directory, FaultPlan::none())
}

fn describe(
    place: &Path,
    control: &Control,
    id: &str,
    created_at: Timestamp,
    files: Vec<FileEntry>,
) -> Result<Manifest, StoreError> {
    let copy = ledger_in(place);
    let applied = copy.database().applied(control)?;
    let (epoch, head) = copy.read(control, |read| Ok((read.epoch()?, read.head()?)))?;
    copy.database().close();
    Ok(Manifest {
        id: id.to_owned(),
        created_at,
        schema_version: applied.last().map_or(0, |migration| migration.version),
        epoch,
        head: Checkpoint { seq: head.seq, hash: head.hash },
        files,
    })
}

fn copy_extra(file: &ExtraFile, place: &Path) -> Result<String, StoreError> {
    let name = format!("{FILES}/{}", file.name);
    if !is_plain(&name) {
        return Err(StoreError::Invalid(format!("`{}` is not a plain relative path", file.name)));
    }
    let target = place.join(&name);
    if let Some(parent) = target.parent() {
        make_private_directory(parent)?;
    }
    let source = canonical(&file.path)?;
    fs::copy(&source, &target).map_err(|error| explain_io("copy", &source, &error))?;
    Ok(name)
}

/// Whether a name from a manifest stays inside the backup's directory.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(['\\', ':', '\0'])
        && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

fn file_entry(directory: &Path, name: &str) -> Result<FileEntry, StoreError> {
    let path = directory.join(name);
    let explain = |error: &io::Error| explain_io("read", &path, error);
    let file = File::open(&path).map_err(|error| explain(&error))?;
    let size = file.metadata().map_err(|error| explain(&error))?.len();
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file).map_err(|error| explain(&error))?;
    Ok(FileEntry { name: name.to_owned(), size, hash: *hasher.finalize().as_bytes() })
}

fn manifest_json(manifest: &Manifest) -> String {
    let hex = |hash: &[u8; 32]| blake3::Hash::from_bytes(*hash).to_hex().to_string();
    let files: Vec<Value> = manifest
        .files
        .iter()
        .map(|file| json!({ "name": file.name, "size": file.size, "blake3": hex(&file.hash) }))
        .collect();
    let value = json!({
        "format": FORMAT,
        "id": manifest.id,
        "created_at": manifest.created_at.0,
        "schema_version": manifest.schema_version,
        "epoch": manifest.epoch,
        "seq": manifest.head.seq,
        "head": hex(&manifest.head.hash),
        "files": files,
    });
    format!("{value:#}\n")
}

/// Reads the manifest of the backup in `directory`.
pub fn read_manifest(directory: &Path) -> Result<Manifest, StoreError> {
    let path = directory.join(MANIFEST);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::NotFound { what: "backup", key: directory.display().to_string() });
        }
        Err(error) => return Err(explain_io("read", &path, &error)),
    };
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| StoreError::Corrupt { path: path.clone(), detail: error.to_string() })?;
    if value["format"].as_i64().is_some_and(|format| format > FORMAT) {
        let found = value["format"].as_i64().unwrap_or(0);
        return Err(StoreError::Newer { schema: "backup", found, known: FORMAT, action: "read" });
    }
    manifest_from(&value)
        .ok_or_else(|| StoreError::Corrupt { path, detail: "a field is missing or wrong".into() })
}

fn manifest_from(value: &Value) -> Option<Manifest> {
    let hash = |value: &Value| blake3::Hash::from_hex(value.as_str()?).ok().map(|hash| *hash.as_bytes());
    let file = |value: &Value| {
        let name = value["name"].as_str().filter(|name| is_plain(name))?.to_owned();
        Some(FileEntry { name, size: value["size"].as_u64()?, hash: hash(&value["blake3"])? })
    };
    Some(Manifest {
        id: value["id"].as_str()?.to_owned(),
        created_at: Timestamp(value["created_at"].as_i64()?),
        schema_version: value["schema_version"].as_i64()?,
        epoch: value["epoch"].as_str()?.to_owned(),
        head: Checkpoint { seq: value["seq"].as_i64()?, hash: hash(&value["head"])? },
        files: value["files"].as_array()?.iter().map(file).collect::<Option<_>>()?,
    })
}
