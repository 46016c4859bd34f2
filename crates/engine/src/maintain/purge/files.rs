//! Erasing from what lies beside the ledger: the index, its old files, backups.

use std::path::{Path, PathBuf};

use strata_core::principal::Principal;
use strata_store::{
    Rewrite, backup,
    index::{Source, SourceKind},
    ledger::PurgedKind,
};

use super::{call_goes_on, target::Target};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault,
    maintain::{
        backup::directory,
        reindex::{index_everything, rebuild_quietly, with_writer},
    },
    operation::Call,
};

/// What became of the indexes.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    /// Indexes of other versions that were removed, or lost what they had of the tenant.
    pub(super) removed: usize,
    /// Statements that the server's owner is left to run.
    pub(super) left: Vec<String>,
}

/// Removes the text from the index and removes every other index: those of older versions and those
/// that were damaged hold it too, and come back by themselves where they are needed.
pub(super) fn erase_from_index(engine: &Engine, call: &Call<'_>, target: &Target) -> Result<Indexes, Error> {
    let index = engine.searcher().index();
    let mut erased = Indexes::default();
    if index.database().exists(&engine.control(call))? {
        index_everything(engine, call, &mut |_, _| call_goes_on(call))?;
        let sources = match target.kind {
            PurgedKind::Memory => Some(vec![Source { kind: SourceKind::Memory, number: target.number }]),
            PurgedKind::Episode => Some(vec![Source { kind: SourceKind::Episode, number: target.number }]),
            // What is left of the file is indexed anew, and nothing tells its old passages from those.
            PurgedKind::VaultText => {
                vault::remove_abandoned(engine)?;
                rebuild_quietly(engine, call)?;
                Some(Vec::new())
            }
            // They are looked up in the ledger and have no passages.
            PurgedKind::Entity | PurgedKind::Todo => None,
        };
        if let Some(sources) = sources {
            // An index moves words from table to table by itself, so a table in which nothing is removed now may have had
            // them before.
            erased.left = with_writer(engine, call, index, |writer| {
                writer.purge(engine.tenant(), &sources, Rewrite::Everything)
            })?;
        }
    }
    let beside = index.erase_beside(&engine.control(call))?;
    erased.left.extend(beside.left);
    let files = other_index_files(engine.home(), index.file_path())?;
    for file in &files {
        std::fs::remove_file(file)
            .map_err(|source| Error::File { path: file.display().to_string(), source })?;
    }
    erased.removed = files.len() + beside.emptied;
    Ok(erased)
}

/// Index files of the home that do not belong to the one in use, `own`; all of them when that is on a server.
pub(in crate::maintain) fn other_index_files(home: &Path, own: Option<&Path>) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::File { path: home.display().to_string(), source };
    let own = own.and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
    let mut files = Vec::new();
    let entries = match std::fs::read_dir(home) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(files),
        Err(e) => return Err(failed(e)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_index = name.starts_with("index-") && (name.contains(".db") || name.contains(".damaged-"));
        if is_index
            && own.as_ref().is_none_or(|own| !name.starts_with(own))
            && entry.file_type().map_err(failed)?.is_file()
        {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// What became of the backups.
#[derive(Debug, Default)]
pub(super) struct Backups {
    /// How many were rewritten.
    pub(super) rewritten: usize,
    /// Those that were not whole before, each with what is wrong.
    pub(super) damaged: Vec<String>,
}

/// Rewrites the backups that hold it.
pub(super) fn erase_from_backups(
    engine: &Engine,
    call: &Call<'_>,
    actor: &Principal,
    target: &Target,
) -> Result<Backups, Error> {
    let purged = [(target.kind, target.id.clone())];
    let how = backup::Restore {
        epoch: "",
        now: engine.clock().now(),
        principal: actor,
        face: call.face,
        purged: &purged,
        force: false,
    };
    let mut done = Backups::default();
    for listed in backup::list(&directory(engine))? {
        call_goes_on(call)?;
        // A backup that cannot be read is left to the scan, which names it if it holds the text.
        let Ok(manifest) = listed.manifest else { continue };
        let erased = backup::purge(&listed.directory, &engine.control(call), &how)?;
        done.rewritten += usize::from(erased.again > 0);
        done.damaged.extend(erased.findings.first().map(|finding| format!("{}: {finding}", manifest.id)));
    }
    Ok(done)
}
