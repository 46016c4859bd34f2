//! Sections of a file of the vault: listed, read, renamed, moved, deleted. Every byte outside the section stays.

pub mod delete;
pub mod get;
pub mod list;
pub mod rename;
pub mod shift;

use strata_core::{
    knowledge::{changelog::Operation as Logged, digest::body_token},
    markdown::{
        Entry, Outline,
        edit::{EditError, Heading},
        find_entry, heading_key, strip_marks,
    },
    policy::Action,
    redact::redact,
};

use super::{
    l0,
    vault::{self, Change, Edited, Event, Place, Written},
};
use crate::{engine::Engine, error::Error, gate::Gate, operation::Call};

/// The file that a domain means, which must be there.
fn existing(engine: &Engine, call: &Call<'_>, domain: &str) -> Result<Place, Error> {
    vault::locate_existing(engine, call, "domain", domain)
}

/// The position of a section by its heading, and the number of it where several have the same.
///
/// # Errors
/// There is none, or several and no number.
fn position(entries: &[Entry], section: &str, ordinal: Option<u32>) -> Result<usize, Error> {
    let ordinal = ordinal.map(|ordinal| ordinal as usize);
    let found = find_entry(entries, section, ordinal).or_else(|| as_shown(entries, section, ordinal));
    let found = found.ok_or_else(|| Error::NotFound {
        what: "section",
        id: redact(section).text.into_owned(),
        hint: "`list_sections` lists the headings of the file".into(),
    })?;
    if ordinal.is_none() && find_entry(entries, section, Some(2)).is_some() {
        return Err(Error::argument(
            "section",
            "is the heading of several sections",
            "say which with `ordinal`, counted from 1; `list_sections` shows it",
        ));
    }
    Ok(found)
}

/// A section by its heading as the gate leaves it and as it is shown: without secrets and what does harm on a terminal.
fn as_shown(entries: &[Entry], section: &str, ordinal: Option<usize>) -> Option<usize> {
    let section = Gate::default().field("section", Some(section)).ok()??;
    let nth = ordinal.unwrap_or(1).checked_sub(1)?;
    let key = heading_key(strip_marks(&section));
    find_entry(entries, &section, ordinal).or_else(|| {
        let same = |entry: &Entry| heading_key(&redact(&entry.heading).text) == key;
        let found = entries.iter().enumerate().filter(|(_, entry)| same(entry));
        found.map(|(at, _)| at).nth(nth)
    })
}

/// Refuses a change of a section that no longer holds what its caller read.
fn still_holds(body: &str, expected_hash: Option<&str>) -> Result<(), Error> {
    match expected_hash {
        Some(expected) if expected != body_token(body) => Err(Error::Conflict {
            message: "the section was changed since you read it".into(),
            hint: "read it again with `get_section`, and send its `hash`".into(),
        }),
        _ => Ok(()),
    }
}

/// An edit that the text around it does not allow.
fn not_possible(error: &EditError) -> Error {
    Error::Conflict {
        message: error.to_string(),
        hint: "close the block in an editor, then try again".into(),
    }
}

/// A heading as a caller gives it, through the gate.
fn heading(gate: &mut Gate, field: &str, text: &str) -> Result<Heading, Error> {
    let admitted = gate.field(field, Some(text))?.unwrap_or_default();
    Heading::parse(&admitted).map_err(|error| {
        Error::argument(field, error.to_string(), "send the heading's text alone, such as `Pool size`")
    })
}

/// What makes another text, and what is told of it, of a file's sections.
type EditSections<'f> = dyn FnMut(&Outline<'_>) -> Result<(String, Event), Error> + 'f;

/// A change of one section of one file: its event names the section and carries the tokens of its text.
fn change_one(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    (tool, action): (&str, Action),
    f: &mut EditSections<'_>,
) -> Result<Written, Error> {
    let change = Change { action, ..Change::new(tool) };
    vault::edit(engine, call, place, &change, &mut |before| {
        let text = before.ok_or_else(|| place.no_file())?;
        let (edited, event) = f(&Outline::parse(text))?;
        Ok(Edited::Write(edited, event.with("file", place.path.to_string())))
    })
}

fn event(operation: Logged, summary: String, heading: &str) -> Event {
    Event::new(operation, summary).section(heading)
}

/// Whether the index of knowledge shows what was written.
fn synced(engine: &Engine, call: &Call<'_>, written: &[Written]) -> bool {
    l0::sync_after_all(engine, call, written).l0_synced
}
