//! Which project a directory is, whatever it is called and wherever it lies; the operations on projects.
//!
//! A project is known by its key and has other names, in one table: the first commit of its history, hashes of its remotes'
//! addresses, the paths of its checkouts, the keys that it had before, and what people call it. A directory is looked up by what it
//! shows of these. When something is first stored in it, what it shows is noted, so that it is known again after it was
//! renamed, moved or cloned.

mod alias;
mod choice;
mod list;
mod merge;
mod prints;
mod remove;

use std::collections::HashMap;

use strata_core::{
    principal::{Face, PrincipalKind},
    scope::Scope,
};
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, NewAudit},
    sql::Control,
};

use self::{
    choice::{Known, choose},
    prints::Prints,
};
use super::Project;
use crate::{authority::record_refusal, engine::Engine, error::Error, operation::Call};

pub use alias::Alias;
pub use list::List;
pub use merge::Merge;
pub use remove::Remove;

/// What the audit calls it when a project's names are noted.
const NOTED: &str = "project_note";

/// What an engine remembers of the directory that it works for, by the key that was proposed for it.
pub(crate) type Seen = HashMap<String, Settled>;

/// What was found for a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    /// The key that it goes by.
    key: String,
    /// Whether what it shows is noted under that key.
    is_noted: bool,
    /// The digest of the projects and names that were known then. With the same the answer is the same.
    known: u64,
}

/// The scope of a call, with the key that its project goes by. A face asks for it once per call.
///
/// Where nothing can be looked up the scope is as it was: a home that is not there knows no project.
pub fn resolve(engine: &Engine, scope: Scope) -> Scope {
    let Some(proposed) = scope.project.clone() else { return scope };
    let key = look_up(engine, &proposed).ok().flatten();
    Scope { project: Some(key.unwrap_or(proposed)), ..scope }
}

/// The key by which the directory, or what somebody called a project, is known.
fn look_up(engine: &Engine, proposed: &str) -> Result<Option<String>, Error> {
    if !engine.is_initialised()? {
        return Ok(None);
    }
    let ledger = engine.existing_ledger()?;
    let known = ledger.read(&Control::default(), known)?;
    let Some(project) = project_of(engine).filter(|project| project.key == proposed) else {
        return Ok(known.key_of(proposed));
    };
    let digest = known.digest();
    if let Some(held) = engine.seen_project().get(proposed).filter(|held| held.known == digest) {
        return Ok(Some(held.key.clone()));
    }
    let is_used = || ledger.read(&Control::default(), |r| r.is_project_used(proposed)).unwrap_or(true);
    let key = choose(&known, &Prints::of(&project), proposed, is_used);
    let mut seen = engine.seen_project();
    let is_noted = seen.get(proposed).is_some_and(|held| held.key == key && held.is_noted);
    seen.insert(proposed.to_owned(), Settled { key: key.clone(), is_noted, known: digest });
    Ok(Some(key))
}

fn known(r: &LedgerRead<'_>) -> Result<Known, StoreError> {
    Ok(Known {
        projects: r.projects()?.into_iter().map(|project| project.key).collect(),
        aliases: r.project_aliases()?,
    })
}

/// The project in whose directory the engine works.
pub(crate) fn project_of(engine: &Engine) -> Option<Project> {
    engine.settings().project_root.as_deref().and_then(super::at)
}

/// Notes what the directory shows, before the first write of a call in its project. A failure is none of the write: the
/// next one notes it.
pub(crate) fn note(engine: &Engine, call: &Call<'_>) {
    if let Some(key) = call.scope.project.as_deref()
        && engine.settings().project_root.is_some()
    {
        drop(note_in(engine, call, key));
    }
}

fn note_in(engine: &Engine, call: &Call<'_>, key: &str) -> Result<(), Error> {
    if engine.seen_project().values().any(|held| held.key == key && held.is_noted) {
        return Ok(());
    }
    let Some(project) = project_of(engine) else { return Ok(()) };
    {
        let mut seen = engine.seen_project();
        let unseen = || Settled { key: project.key.clone(), ..Settled::default() };
        let held = seen.entry(project.key.clone()).or_insert_with(unseen);
        // Who works for another project than the directory's has named it.
        if held.key != key {
            return Ok(());
        }
    }
    note_names(engine, call, key, &project)?;
    engine.seen_project().entry(project.key).and_modify(|held| held.is_noted = true);
    Ok(())
}

/// Notes the names that the directory has for its project, and that are not known yet.
fn note_names(engine: &Engine, call: &Call<'_>, key: &str, project: &Project) -> Result<(), Error> {
    let names = Prints::of(project).names(&project.key);
    let ledger = engine.existing_ledger()?;
    let (is_new, taken) = ledger.read(&engine.control(call), |r| {
        let is_new = r.projects()?.iter().all(|project| project.key != key);
        Ok((is_new, r.project_aliases()?))
    })?;
    let is_missing = |name: &&String| *name != key && taken.iter().all(|(alias, _)| alias != *name);
    let missing: Vec<&String> = names.iter().filter(is_missing).collect();
    if missing.is_empty() && !is_new {
        return Ok(());
    }
    ledger.write(&engine.control(call), engine.clock().now(), |w| {
        w.record(&NewAudit::new(call.principal, call.face, NOTED, key))?;
        if is_new {
            w.ensure_project(key, &project.name)?;
        }
        missing.iter().try_for_each(|name| w.alias_project(name, key))
    })?;
    Ok(())
}

/// Lets nobody but people go on; others are refused, on record.
///
/// # Errors
/// `Refused`.
pub(super) fn people_only(
    engine: &Engine,
    call: &Call<'_>,
    action: &'static str,
    reason: &str,
) -> Result<(), Error> {
    if matches!(call.principal.kind, PrincipalKind::Human | PrincipalKind::System) {
        return Ok(());
    }
    record_refusal(engine, call, action, None, "", reason)?;
    Err(Error::Refused {
        layer: "P5".into(),
        action,
        principal: call.principal.to_string(),
        reason: reason.to_owned(),
        allowed: "human".into(),
    })
}

/// Why only people see and say which projects there are.
const FOR_PEOPLE: &str = "which projects there are is for a person to see and to say";

/// The key that was found for what somebody called a project.
fn key_of(found: Option<String>, called: Option<&str>) -> Result<String, Error> {
    let hint = "`strata project list` shows them";
    found.ok_or_else(|| match called {
        Some(called) => Error::NotFound { what: "project", id: called.to_owned(), hint: hint.into() },
        None => Error::argument("of", "there is no project here", format!("name one; {hint}")),
    })
}

/// Lets people go on, and whoever types commands; clients behind a protocol are refused, on record.
///
/// # Errors
/// `Refused`.
pub(super) fn at_command_line(
    engine: &Engine,
    call: &Call<'_>,
    action: &'static str,
    reason: &str,
) -> Result<(), Error> {
    if call.face == Face::Cli { Ok(()) } else { people_only(engine, call, action, reason) }
}

/// The key of the project at hand.
///
/// # Errors
/// There is none.
pub(super) fn key_at_hand(call: &Call<'_>) -> Result<String, Error> {
    key_of(call.scope.project.clone(), None)
}
