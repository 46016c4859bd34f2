//! The index of an older home: only what somebody wrote into it by hand is taken over, everything else is made of the
//! files.

use std::{collections::HashSet, path::Path};

use serde::Serialize;
use strata_core::{
    knowledge::{
        l0::{self, Entry, Format, TAG},
        name::Name,
    },
    scope::SHARED,
};
use strata_store::files;

use super::{OlderHome, is_file, text_of};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::{bring::LeftOut, l0::manage, vault::Place},
    operation::Call,
    paths,
};

/// Its name in an older home.
const NAME: &str = "L0.md";
/// A larger file is no index.
const MAX_FILE: u64 = 1 << 20;

/// What came of the index.
#[derive(Debug, Default, Serialize)]
pub struct IndexReport {
    /// The file; none when there is none.
    pub file: Option<String>,
    /// Entries by hand that were taken over.
    pub added: usize,
    /// Entries by hand that are here already, or were taken out here.
    pub known: usize,
    /// Lines that the files account for; they are made anew.
    pub derived: usize,
    /// What stayed out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// Takes over the entries by hand.
pub(in crate::import) fn take(
    engine: &Engine,
    call: &Call<'_>,
    home: &OlderHome,
    given: Option<&str>,
    (tool, dry_run): (&str, bool),
) -> Result<IndexReport, Error> {
    let mut report = IndexReport::default();
    let path = match given {
        Some(given) => paths::reachable(engine, call, "l0_file", given)?,
        None => home.file(NAME),
    };
    if !is_file(&path) {
        return Ok(report);
    }
    report.file = Some(path.display().to_string());
    let text = match read(&path) {
        Ok(text) => text,
        Err(error) => {
            report.leave_out(NAME, &error.to_string());
            return Ok(report);
        }
    };
    let shared = Name::parse(SHARED).map_err(|e| Error::Internal(e.to_string()))?;
    let rows = engine.read(call, |r| r.l0_entries([SHARED, SHARED]))?;
    let known: HashSet<String> = rows.into_iter().map(|row| row.path).collect();
    for entry in l0::parse(&text, &Format::Hermes(TAG.to_owned())) {
        let path = entry.path.to_string();
        if home.is_of_namespace(&path) {
            report.leave_out(&path, "the entry is about a namespace's own file, whose index is made anew");
            continue;
        }
        match sort(home, &shared, &entry) {
            Sort::Derived => report.derived += 1,
            Sort::ByHand if known.contains(&path) => report.known += 1,
            Sort::ByHand => {
                let place = Place::new(shared.clone(), entry.path.clone());
                report.added += usize::from(take_over(engine, call, &place, &entry, (tool, dry_run))?);
            }
            Sort::Astray => report.leave_out(&path, "the entry points at a file that is not there"),
        }
    }
    Ok(report)
}

fn read(path: &Path) -> Result<String, Error> {
    let bytes = files::read_regular(path, MAX_FILE)?;
    String::from_utf8(bytes).map_err(|_| Error::argument("l0_file", "is not UTF-8", "name another file"))
}

/// Takes over an entry by hand, or only looks whether it would be. False when nothing of it may be stored.
fn take_over(
    engine: &Engine,
    call: &Call<'_>,
    place: &Place,
    entry: &Entry,
    (tool, dry_run): (&str, bool),
) -> Result<bool, Error> {
    let Some(summary) = Gate::default().field("summary", Some(&said(entry)))? else { return Ok(false) };
    if !dry_run {
        manage::take_over(engine, call, place, &summary, tool)?;
    }
    Ok(true)
}

impl IndexReport {
    fn leave_out(&mut self, file: &str, reason: &str) {
        self.left_out.push(LeftOut { file: file.to_owned(), reason: reason.to_owned() });
    }
}

enum Sort {
    Derived,
    ByHand,
    Astray,
}

/// Whether a line is what the file at its place gives.
fn sort(home: &OlderHome, shared: &Name, entry: &Entry) -> Sort {
    match text_of(home, shared, &entry.path) {
        Some(text) => {
            let made = Entry::of_file(entry.path.clone(), &text);
            if made.title == entry.title && !entry.by_hand { Sort::Derived } else { Sort::ByHand }
        }
        _ if entry.by_hand => Sort::ByHand,
        _ => Sort::Astray,
    }
}

/// What an entry says, in one line.
fn said(entry: &Entry) -> String {
    match entry.keywords.as_slice() {
        [] => entry.title.clone(),
        words => format!("{} - {}", entry.title, words.join(", ")),
    }
}
