//! What is there: the files of a namespace, and whether hands were at them.

use std::collections::{HashMap, HashSet};

use strata_core::{
    knowledge::name::{Name, VaultPath},
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::VaultHead,
    vault::{FoundFile, Listing, Reading, Vault},
};

use super::{FileHead, FileState, Place, held, held::Held, namespaces, store::place_in_history};
use crate::{engine::Engine, error::Error, operation::Call};

/// A file that was changed within the last two seconds may change again without looking any different, where a file
/// system keeps whole seconds.
const FRESH_MICROS: i64 = 2_000_000;
/// The same where it keeps parts of them: some twenty ticks of a system's clock.
const FRESH_FINE_MICROS: i64 = 200_000;

/// Something in the vault that is no file of it, or cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The namespace.
    pub namespace: Name,
    /// Its place below the namespace, as written.
    pub place: String,
    /// What is wrong.
    pub reason: String,
}

/// What a look at a namespace showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its files by path; those that are gone too.
    pub files: Vec<FileHead>,
    /// What is in the way.
    pub problems: Vec<Problem>,
    /// Why the whole folder could not be looked at, if it could not.
    pub unavailable: Option<String>,
}

/// The files that the caller sees and that are not gone: their own namespace's first, then those of the shared one
/// that none of their own stands before.
///
/// # Errors
/// Those of the store.
pub fn list(engine: &Engine, call: &Call<'_>) -> Result<Vec<FileHead>, Error> {
    Ok(visible(&look_around(engine, call)?))
}

/// The same as the ledger has them, without a look at the folder: for who has just looked, or written.
///
/// # Errors
/// Those of the store.
pub fn known(engine: &Engine, call: &Call<'_>) -> Result<Vec<FileHead>, Error> {
    let seen = |namespace: Name| {
        let files =
            if engine.is_initialised()? { files(&heads(engine, call, &namespace)?)? } else { Vec::new() };
        Ok((namespace, Seen { files, ..Seen::default() }))
    };
    let seen = namespaces(engine, call)?.into_iter().map(seen).collect::<Result<Vec<_>, Error>>()?;
    Ok(visible(&seen))
}

/// Looks at the namespaces that the caller sees, their own first.
///
/// # Errors
/// Those of the store.
pub fn look_around(engine: &Engine, call: &Call<'_>) -> Result<Vec<(Name, Seen)>, Error> {
    let look = |namespace: Name| Ok((namespace.clone(), look(engine, call, &namespace)?));
    namespaces(engine, call)?.into_iter().map(look).collect()
}

/// Of what was seen, the files that are not gone and that none of an earlier namespace stands before.
pub(crate) fn visible(seen: &[(Name, Seen)]) -> Vec<FileHead> {
    let mut all: Vec<FileHead> = Vec::new();
    for (_, seen) in seen {
        let own: HashSet<String> = all.iter().map(|file| file.path.key()).collect();
        let there = |file: &&FileHead| file.state != FileState::Gone && !own.contains(&file.path.key());
        all.extend(seen.files.iter().filter(there).cloned());
    }
    all
}

/// Looks at every namespace that has files or a folder.
///
/// # Errors
/// Those of the store.
pub fn look_everywhere(engine: &Engine, call: &Call<'_>) -> Result<Vec<(Name, Seen)>, Error> {
    let heads = engine.read(call, |r| r.vault_heads(None))?;
    let mut names: Vec<Name> = heads.iter().filter_map(|head| Name::parse(&head.namespace).ok()).collect();
    if let Some(disk) = engine.vault().disk() {
        names.extend(disk.namespaces().unwrap_or_default());
    }
    names.sort();
    names.dedup();
    names.into_iter().map(|name| Ok((name.clone(), look(engine, call, &name)?))).collect()
}

/// Looks at what the caller sees, unless that was done within the last two seconds. What cannot be looked at stays as it
/// was known.
pub fn notice(engine: &Engine, call: &Call<'_>) {
    let is_there = engine.vault().disk().is_some_and(|disk| disk.root().is_dir());
    if !is_there {
        return;
    }
    for namespace in namespaces(engine, call).unwrap_or_default() {
        if engine.vault().is_due(&namespace) {
            drop(look(engine, call, &namespace));
        }
    }
}

/// Looks at a namespace. What hands did to its files is put on record.
///
/// # Errors
/// Those of the store.
pub fn look(engine: &Engine, call: &Call<'_>, namespace: &Name) -> Result<Seen, Error> {
    let folder = engine.vault().disk().map(Vault::root);
    if !engine.is_initialised()? && !folder.is_some_and(std::path::Path::is_dir) {
        return Ok(Seen::default());
    }
    let read = || heads(engine, call, namespace);
    match engine.vault().disk() {
        Some(disk) => on_disk(engine, call, disk, namespace, &read),
        None => Ok(Seen { files: files(&read()?)?, ..Seen::default() }),
    }
}

/// The files of a namespace as the ledger has them. Those of the last look do as long as nothing was written since.
fn heads(engine: &Engine, call: &Call<'_>, namespace: &Name) -> Result<Vec<VaultHead>, Error> {
    Ok(engine.ledger(call)?.read(&engine.control(call), |r| {
        let place = place_in_history(r)?;
        if let Some(kept) = engine.vault().heads_at(namespace, &place) {
            debug_assert_eq!(
                kept,
                r.vault_heads(Some(namespace.as_str()))?,
                "what was carried on is what is stored"
            );
            return Ok(kept);
        }
        let heads = r.vault_heads(Some(namespace.as_str()))?;
        engine.vault().keep_heads(namespace, place, &heads);
        Ok(heads)
    })?)
}

fn files(heads: &[VaultHead]) -> Result<Vec<FileHead>, Error> {
    heads.iter().map(FileHead::of).collect()
}

fn on_disk(
    engine: &Engine,
    call: &Call<'_>,
    disk: &Vault,
    namespace: &Name,
    read: &dyn Fn() -> Result<Vec<VaultHead>, Error>,
) -> Result<Seen, Error> {
    let heads = read()?;
    let known = heads.iter().filter(|head| head.is_present()).count();
    let (found, problems) = match disk.list(namespace) {
        Listing::Listed(found, _) if found.is_empty() && known > 1 => {
            return unavailable(&heads, held::emptied(namespace.as_str(), known));
        }
        Listing::Listed(found, problems) => (found, problems),
        // Before its first file a namespace has no folder.
        Listing::Unavailable(_) if known == 0 && !disk.has_folder(namespace) => (Vec::new(), Vec::new()),
        Listing::Unavailable(reason) => return unavailable(&heads, reason),
    };
    let mut states: HashMap<String, FileState> = HashMap::new();
    let mut changed = false;
    // The file system's clock is not behind this, and has gone on since whatever was changed before it.
    let clock = found.iter().map(|file| file.touched).max().unwrap_or(Timestamp(0));
    for path in suspects(engine, &heads, &found) {
        let place = Place::new(namespace.clone(), path);
        let head = heads.iter().find(|head| head.path == place.path.to_string());
        match examine(engine, call, disk, &place, head)? {
            Look::AsKnown => {
                head.into_iter().for_each(|h| engine.vault().settle_stamp(h.number, h.generation, clock));
            }
            Look::Settled => changed = true,
            Look::Bad(state) => drop(states.insert(place.path.to_string(), state)),
        }
    }
    let files = files(&if changed { read()? } else { heads })?;
    let problem = |place: String, reason: String| Problem { namespace: namespace.clone(), place, reason };
    let problems = problems.into_iter().map(|found| problem(found.place, found.reason)).collect();
    let mut seen = Seen { files, problems, unavailable: None };
    for (path, state) in states {
        if let FileState::Unreadable(reason) | FileState::Unavailable(reason) = &state {
            seen.problems.push(problem(path.clone(), reason.clone()));
        }
        if let Some(file) = seen.files.iter_mut().find(|file| file.path.to_string() == path) {
            file.state = state;
        }
    }
    seen.problems.sort_by(|a, b| a.place.cmp(&b.place));
    Ok(seen)
}

fn unavailable(heads: &[VaultHead], reason: String) -> Result<Seen, Error> {
    let mut files = files(heads)?;
    for file in files.iter_mut().filter(|file| file.state == FileState::Present) {
        file.state = FileState::Unavailable(reason.clone());
    }
    Ok(Seen { files, problems: Vec::new(), unavailable: Some(reason) })
}

/// The files that look different from their heads, and those that are missing.
fn suspects(engine: &Engine, heads: &[VaultHead], found: &[FoundFile]) -> Vec<VaultPath> {
    let by_path: HashMap<&str, &VaultHead> = heads.iter().map(|head| (head.path.as_str(), head)).collect();
    let now = engine.clock().now();
    let mut suspects = Vec::new();
    let mut there: HashMap<String, ()> = HashMap::with_capacity(found.len());
    for file in found {
        let path = file.path.to_string();
        let is_known = by_path.get(path.as_str()).is_some_and(|head| {
            head.is_present() && looks_known(engine, head, file.size, file.modified, now)
        });
        if !is_known {
            suspects.push(file.path.clone());
        }
        there.insert(path, ());
    }
    let missing = heads.iter().filter(|head| head.is_present() && !there.contains_key(&head.path));
    suspects.extend(missing.filter_map(|head| VaultPath::parse(&head.path).ok()));
    suspects
}

/// Whether size and time of change say that a file holds its head.
pub(super) fn looks_known(
    engine: &Engine,
    head: &VaultHead,
    size: u64,
    modified: Timestamp,
    now: Timestamp,
) -> bool {
    let age = now.0.saturating_sub(modified.0);
    let fresh = if modified.0 % 1_000_000 == 0 { FRESH_MICROS } else { FRESH_FINE_MICROS };
    let noted = engine.vault().stamp(head.number, head.generation);
    let (stamp, is_settled) = noted.unwrap_or((head.mtime, false));
    (is_settled || age >= fresh) && stamp == modified && u64::try_from(head.size) == Ok(size)
}

/// What a closer look at a file showed.
pub(super) enum Look {
    /// It holds its head.
    AsKnown,
    /// It did not; that is on record now.
    Settled,
    /// It cannot be read.
    Bad(FileState),
}

/// Compares the bytes of a file with its head.
pub(super) fn examine(
    engine: &Engine,
    call: &Call<'_>,
    disk: &Vault,
    place: &Place,
    head: Option<&VaultHead>,
) -> Result<Look, Error> {
    let stamp = disk.stamp(&place.namespace, &place.path);
    let text = match disk.read(&place.namespace, &place.path) {
        Ok(Reading::Text(text)) => Some(text),
        Ok(Reading::Missing) => None,
        Ok(Reading::Unreadable(reason)) => return Ok(Look::Bad(FileState::Unreadable(reason))),
        Ok(Reading::Unavailable(reason)) => return Ok(Look::Bad(FileState::Unavailable(reason))),
        Err(StoreError::Invalid(reason)) => return Ok(Look::Bad(FileState::Unreadable(reason))),
        Err(error) => return Err(error.into()),
    };
    let holds = head.map_or(text.is_none(), |head| head.holds(text.as_deref()));
    if holds {
        if let (Some(head), Some((_, modified))) = (head, stamp) {
            engine.vault().note_stamp(head.number, head.generation, modified);
        }
        return Ok(Look::AsKnown);
    }
    match Held::take(engine, call, place) {
        Ok(_) => Ok(Look::Settled),
        // Between the two looks it became what cannot be read, or its folder vanished.
        Err(Error::Store(StoreError::Invalid(reason)) | Error::Conflict { message: reason, .. }) => {
            Ok(Look::Bad(FileState::Unavailable(reason)))
        }
        Err(error) => Err(error),
    }
}
