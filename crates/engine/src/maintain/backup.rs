//! Backups of a home: a directory each under `backups/`.

pub mod create;
pub mod list;
pub mod restore;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use serde::Serialize;
use strata_core::id::{Id, IdKind};
use strata_store::backup::{ExtraFile, Manifest};

use crate::{engine::Engine, error::Error, knowledge::vault, operation::Call, settings::CONFIG_FILE, wiki};

/// The folder of the home that holds them.
pub const FOLDER: &str = "backups";
/// Folders of the home that go into a backup beside the ledger.
const FOLDERS: [&str; 2] = ["vault", "hot"];

/// A backup as shown.
#[derive(Debug, Clone, Serialize)]
pub struct BackupView {
    /// Its id.
    pub id: String,
    /// When it was made.
    pub created_at: String,
    /// Its directory.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Files in it, the ledger included.
    pub files: usize,
    /// The last change in it.
    pub seq: i64,
    /// The line of changes that it belongs to.
    pub epoch: String,
}

impl BackupView {
    fn new(manifest: &Manifest, directory: &Path) -> Self {
        Self {
            id: manifest.id.clone(),
            created_at: manifest.created_at.to_rfc3339(),
            path: directory.display().to_string(),
            bytes: manifest.files.iter().map(|f| f.size).sum(),
            files: manifest.files.len(),
            seq: manifest.head.seq,
            epoch: manifest.epoch.clone(),
        }
    }
}

/// The directory of a home's backups.
pub fn directory(engine: &Engine) -> PathBuf {
    engine.home().join(FOLDER)
}

/// Makes a backup now.
pub fn make(engine: &Engine, call: &Call<'_>) -> Result<BackupView, Error> {
    let ledger = engine.existing_ledger()?;
    let id = Id::from_bits(IdKind::Backup, engine.ids().bits()).to_string();
    let place = directory(engine);
    let mut extra = extra_files(engine.home())?;
    let covered = covered(engine, call)?;
    extra.retain(|file| !covered.contains(&file.name));
    let now = engine.clock().now();
    let manifest = strata_store::backup::create(ledger, &engine.control(call), &place, &id, now, &extra)?;
    Ok(BackupView::new(&manifest, &place.join(&id)))
}

/// The files of the vault that the ledger itself holds, with every version, and the index that is made of them.
fn covered(engine: &Engine, call: &Call<'_>) -> Result<HashSet<String>, Error> {
    let seen = vault::look_everywhere(engine, call)?;
    let files = seen.iter().flat_map(|(_, seen)| &seen.files).filter(|file| file.is_present());
    let mut names: HashSet<String> =
        files.map(|file| format!("vault/knowledge/{}/{}", file.namespace, file.path)).collect();
    names.insert("vault/L0.md".to_owned());
    Ok(names)
}

/// The files that people wrote into the home.
fn extra_files(home: &Path) -> Result<Vec<ExtraFile>, Error> {
    let mut extra = Vec::new();
    let config = home.join(CONFIG_FILE);
    if config.is_file() {
        extra.push(ExtraFile { path: config, name: CONFIG_FILE.to_owned() });
    }
    for folder in FOLDERS {
        collect(&home.join(folder), folder, &mut extra)?;
    }
    extra.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(extra)
}

fn collect(directory: &Path, name: &str, extra: &mut Vec<ExtraFile>) -> Result<(), Error> {
    let failed = |source| Error::File { path: directory.display().to_string(), source };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(failed(e)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let Some(own) = entry.file_name().to_str().map(|own| format!("{name}/{own}")) else { continue };
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            collect(&entry.path(), &own, extra)?;
        } else if kind.is_file() && !wiki::is_page(&entry.path()) {
            extra.push(ExtraFile { path: entry.path(), name: own });
        }
    }
    Ok(())
}
