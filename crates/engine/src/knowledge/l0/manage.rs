//! `manage_l0_entry`: an entry of the index that somebody writes or takes out.
//!
//! Such an entry is a row of the ledger and survives every rebuild. One without words stands for an entry that was taken
//! out although its file is there.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    knowledge::{
        changelog::Operation as Event,
        l0::Entry,
        name::{Name, VaultPath},
    },
    policy::Action,
    principal::{Principal, PrincipalKind},
    scope::SHARED,
};
use strata_store::ledger::{L0EntryRow, NewL0Entry, VaultChange};

use super::{
    Index, build, events, file,
    sync::{Report, Wanted},
    sync_all, sync_each,
};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::vault::{self, Change, FileHead, Place, Written},
    operation::{Audience, Call, Effect, Operation, Spec, TextForm, Toolset},
    render::{Document, Mark, Render},
};

/// See the module.
pub struct ManageL0Entry;

const TOOL: &str = "manage_l0_entry";

/// Which entry, and what becomes of it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Request {
    /// What to do.
    pub action: Verb,
    /// The file's name without `.md`.
    pub domain: String,
    /// What the entry says.
    pub summary: Option<String>,
    /// The file; default DOMAIN.md.
    pub filename: Option<String>,
}

/// What becomes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// a new one
    Add,
    /// none
    Remove,
    /// another text
    Replace,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Always true.
    pub success: bool,
    /// What was done.
    pub action: Verb,
    /// The file's name without `.md`.
    pub domain: String,
    /// The index file, where there is one.
    pub l0_file: Option<String>,
    /// Lines of the index.
    pub total_entries: usize,
}

impl Operation for ManageL0Entry {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Layered,
        tool: TOOL,
        cli: &["l0", "entry"],
        positional: &["action", "domain", "summary"],
        title: "Write an entry of the index",
        about: "Adds, replaces or removes an entry of the index by hand. It stays so whatever becomes of the file's text.",
        effect: Effect::Write,
        audience: Audience::Everyone,
    };
    const OLDER_TOOLS: &'static [&'static str] = &["manage_l0_entry_tool"];
    const EXPLAINED: &'static [&'static str] = &["action", "domain"];
    const TEXT_FORM: TextForm = TextForm::Json;

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let namespace = vault::own_namespace(engine, call)?;
        let (field, name) = match &request.filename {
            Some(name) => ("filename", name),
            None => ("domain", &request.domain),
        };
        let found = vault::locate(engine, call, field, name)?;
        let place = Place { namespace: namespace.clone(), ..found };
        let summary = Gate::default().field("summary", request.summary.as_deref())?;
        // What somebody wrote into the file comes first, so that the line taken out now is not taken for it.
        sync_each(engine, call, vec![namespace.clone()], &Wanted::default(), &namespace)?;
        let index = build(engine, call, &namespace)?;
        let decided = decide(&index, &place, request.action, summary.as_deref())?;
        if let Some((event, row)) = decided {
            store(engine, call, &place, event, row, TOOL)?;
        }
        let mut namespaces = vec![namespace.clone()];
        if namespace.as_str() == SHARED {
            namespaces.extend(file::namespaces(engine));
        }
        let after = Wanted { adopt: false, ..Wanted::default() };
        let report: Report = sync_each(engine, call, namespaces, &after, &namespace)?;
        Ok(Response {
            success: true,
            action: request.action,
            domain: request.domain,
            l0_file: report.l0_file,
            total_entries: report.total_entries,
        })
    }
}

/// What a change of an entry does to its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row<'a> {
    /// It says this.
    Says(&'a str),
    /// It says that there is no entry.
    Hides,
    /// It is not needed.
    Goes,
}

/// The event and the row; `None` when everything is as wanted.
fn decide<'s>(
    index: &Index,
    place: &Place,
    verb: Verb,
    summary: Option<&'s str>,
) -> Result<Option<(Event, Row<'s>)>, Error> {
    let entry = index.entries.iter().find(|entry| entry.path == place.path);
    let needed = || Error::argument("summary", "is missing", "say in one line what the file is about");
    match (verb, entry) {
        (Verb::Add, Some(_)) => Err(Error::Conflict {
            message: format!("the index has an entry of `{}` already", place.path),
            hint: "`replace` gives it another text".into(),
        }),
        // The file says what its entry is.
        (Verb::Add, None) if summary.is_none() && place.exists => {
            Ok(Some((Event::IndexEntryAdded, Row::Goes)))
        }
        (Verb::Add | Verb::Replace, None) => {
            Ok(Some((Event::IndexEntryAdded, Row::Says(summary.ok_or_else(needed)?))))
        }
        (Verb::Replace, Some(entry)) => {
            let wanted = Entry::by_hand(place.path.clone(), summary.ok_or_else(needed)?);
            let is_same = wanted.title == entry.title && entry.keywords.is_empty() && entry.by_hand;
            Ok((!is_same).then_some((Event::IndexEntryRenamed, Row::Says(summary.unwrap_or_default()))))
        }
        (Verb::Remove, Some(_)) => {
            Ok(Some((Event::IndexEntryRemoved, if place.exists { Row::Hides } else { Row::Goes })))
        }
        (Verb::Remove, None) => Err(Error::NotFound {
            what: "entry of the index",
            id: place.path.to_string(),
            hint: "`get_l0_index` shows the entries".into(),
        }),
    }
}

/// Writes an entry's row with its audit row and its line in the changelog.
fn store(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    event: Event,
    row: Row<'_>,
    tool: &str,
) -> Result<(), Error> {
    let (namespace, path) = (place.namespace.to_string(), place.path.to_string());
    let new = |summary: &str| NewL0Entry {
        namespace: namespace.clone(),
        path: path.clone(),
        summary: summary.to_owned(),
        writer: call.principal.to_string(),
        at: engine.clock().now(),
        salt: engine.ids().salt(),
    };
    let new = match row {
        Row::Says(summary) => Some(new(&Entry::by_hand(place.path.clone(), summary).title)),
        Row::Hides => Some(new("")),
        Row::Goes => None,
    };
    if new.is_some() && vault::is_secret(&place.path) {
        return Err(Error::argument("domain", "holds a secret", "give the file another name"));
    }
    let change = Change { action: Action::Update, ..Change::new(tool) };
    let about = (place.clone(), events::event(event, &path));
    let hash = new.as_ref().map(NewL0Entry::digest);
    vault::record_with(engine, call, &change, &about, hash, &|w, seq| match &new {
        Some(new) => w.put_l0_entry(new, seq),
        None => w.remove_l0_entry(&namespace, &path).map(drop),
    })
}

/// Keeps an entry that somebody wrote elsewhere by hand, such as in an index that is imported.
pub(crate) fn take_over(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    summary: &str,
    tool: &str,
) -> Result<(), Error> {
    store(engine, call, place, Event::IndexEntryRenamed, Row::Says(summary), tool)
}

/// Takes entries out that must not stay, and writes the indexes without them. The line of one that was just taken out is
/// not somebody's.
pub(crate) fn withdraw(
    engine: &Engine,
    call: &Call<'_>,
    rows: &[L0EntryRow],
    why: &str,
) -> Result<(), Error> {
    for row in rows {
        let (Ok(namespace), Ok(path)) = (Name::parse(&row.namespace), VaultPath::parse(&row.path)) else {
            continue;
        };
        let place = Place::new(namespace, path);
        let about = events::event(Event::IndexEntryRemoved, &row.path).because(why);
        let change = Change { action: Action::Update, ..Change::new(TOOL) };
        vault::record_with(engine, call, &change, &(place, about), None, &|w, _| {
            w.remove_l0_entry(&row.namespace, &row.path).map(drop)
        })?;
    }
    if !rows.is_empty() {
        sync_all(engine, call, &Wanted { adopt: false, set_may_differ: true, ..Wanted::default() })?;
    }
    Ok(())
}

/// Entries written by hand go with the file they point at, and move with it. Tells whether there were any.
pub(super) fn forget_deleted(engine: &Engine, call: &Call<'_>, written: &[Written]) -> Result<bool, Error> {
    let mut any = false;
    let there = |head: &Option<FileHead>| head.as_ref().is_some_and(FileHead::is_present);
    let deleted: Vec<&Written> = written.iter().filter(|w| there(&w.before) && !there(&w.after)).collect();
    let made: Vec<&Written> = written.iter().filter(|w| !there(&w.before) && there(&w.after)).collect();
    for gone in &deleted {
        let place = &gone.place;
        let (namespace, path) = (place.namespace.as_str(), place.path.to_string());
        let rows = engine.read(call, |r| r.l0_entries([namespace, namespace]))?;
        let Some(row) = rows.into_iter().find(|row| row.path == path) else { continue };
        if let ([_], [made]) = (deleted.as_slice(), made.as_slice()) {
            let moved = if row.summary.is_empty() { Row::Hides } else { Row::Says(&row.summary) };
            let event =
                if row.summary.is_empty() { Event::IndexEntryRemoved } else { Event::IndexEntryAdded };
            store(engine, call, &made.place, event, moved, TOOL)?;
        }
        store(engine, call, place, Event::IndexEntryRemoved, Row::Goes, TOOL)?;
        any = true;
    }
    Ok(any)
}

/// Takes over what somebody wrote into the index file: lines that no file and no row accounts for. A line that was
/// overtaken by a change since the file was written is not one of them. Tells whether there were any.
pub(super) fn adopt(
    engine: &Engine,
    call: &Call<'_>,
    index: &Index,
    lines: &[Entry],
    file: &Path,
) -> Result<bool, Error> {
    let unknown: Vec<&Entry> = lines.iter().filter(|line| is_foreign(index, line)).collect();
    if unknown.is_empty() {
        return Ok(false);
    }
    let changes = events::standing(engine, call, index)?;
    let saved = file::modified(file);
    let is_overtaken = |path: &str| changes.get(path).is_some_and(|change: &VaultChange| change.at >= saved);
    let system = Principal::new(PrincipalKind::System, "vault");
    let by_hand = Call { principal: &system, ..*call };
    let mut adopted = false;
    for line in unknown {
        let path = line.path.to_string();
        if vault::is_secret(&line.path)
            || is_overtaken(&path)
            || !line.by_hand && was_a_file(engine, call, &index.namespace, &path)?
        {
            continue;
        }
        let said = match line.keywords.as_slice() {
            [] => line.title.clone(),
            words => format!("{} - {}", line.title, words.join(", ")),
        };
        let Some(summary) = Gate::default().field("summary", Some(&said))? else { continue };
        let event = if index.entries.iter().any(|entry| entry.path == line.path) {
            Event::IndexEntryRenamed
        } else {
            Event::IndexEntryAdded
        };
        let place = Place::new(index.namespace.clone(), line.path.clone());
        store(engine, &by_hand, &place, event, Row::Says(&summary), TOOL)?;
        adopted = true;
    }
    Ok(adopted)
}

/// Whether a line is none that Strata wrote: about no file and in no row, or among those by hand and in no row.
fn is_foreign(index: &Index, line: &Entry) -> bool {
    let path = line.path.to_string();
    !index.written.contains_key(&path)
        && (line.by_hand || !index.entries.iter().any(|entry| entry.path == line.path))
}

/// Whether the vault ever had such a file: then the line is what is left of it.
fn was_a_file(engine: &Engine, call: &Call<'_>, namespace: &Name, path: &str) -> Result<bool, Error> {
    engine.read(call, |r| {
        Ok(r.vault_head(namespace.as_str(), path)?.is_some() || r.vault_head(SHARED, path)?.is_some())
    })
}

impl Render for Response {
    fn render(&self) -> Document {
        let done = match self.action {
            Verb::Add => "added",
            Verb::Remove => "removed",
            Verb::Replace => "replaced",
        };
        Document::new().note(Mark::Good, format!("{done} the entry of {}", self.domain))
    }
}
