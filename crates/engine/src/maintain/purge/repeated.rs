//! What repeats a text that is purged, where Strata keeps more than the text itself: entries that somebody wrote into the
//! index of knowledge, copies of files in the vault, and what a write left there whose process died.

use std::{collections::HashSet, path::Path};

use serde::Serialize;
use strata_store::{files, vault::moved_backups};

use super::{call_goes_on, vault::without};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::{
        l0::{self, manage},
        vault::Place,
    },
    operation::Call,
    render::Mark,
};

/// Why an entry of the index is taken out, on its record.
pub(super) const WHY: &str = "it repeats something that is purged";
/// Bytes in a row that two texts do not share by chance.
const STRETCH: usize = 32;
/// A purged text with fewer bytes is part of many others.
const SHORTEST: usize = 8;
/// A text with fewer bytes is part of many others by chance, such as a name.
const PART: usize = 16;
/// Larger copies are not read: 64 MiB.
const MAX_COPY: u64 = 64 << 20;

/// What a purged thing says, without what is written in different ways: letter case, blanks and punctuation.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// As it is written.
    plain: Vec<String>,
    folded: Vec<String>,
    stretches: HashSet<Vec<u8>>,
}

impl Said {
    pub(super) fn new(bodies: &[String]) -> Self {
        let plain: Vec<String> =
            bodies.iter().map(|body| body.trim().to_owned()).filter(|body| !body.is_empty()).collect();
        let mut folded: Vec<String> = plain.iter().map(|body| folded(body)).collect();
        folded.sort_unstable();
        folded.dedup();
        folded.retain(|body| !body.is_empty());
        let stretches = folded.iter().flat_map(|body| body.as_bytes().windows(STRETCH));
        Self { stretches: stretches.map(<[u8]>::to_vec).collect(), plain, folded }
    }

    /// Whether a text has the whole of it, a long stretch, or is a part of it.
    pub(super) fn is_repeated_in(&self, text: &str) -> bool {
        let text = folded(text);
        if text.is_empty() {
            return false;
        }
        let is_all = |body: &String| *body == text;
        let is_within = |body: &String| body.len() >= SHORTEST && text.contains(body.as_str());
        let is_part = |body: &String| text.len() >= PART && body.contains(text.as_str());
        self.folded.iter().any(|body| is_all(body) || is_within(body) || is_part(body))
            || text.as_bytes().windows(STRETCH).any(|stretch| self.stretches.contains(stretch))
    }

    /// A text without it: without the sections or stretches that are it, then without the lines that repeat it. `None`
    /// when nothing is left, or when it is still there.
    fn taken_out_of(&self, text: &str) -> Option<String> {
        let mut rest = text.to_owned();
        for body in &self.plain {
            while let Ok(Some(less)) = without(&rest, body) {
                rest = less;
            }
        }
        if self.is_repeated_in(&rest) {
            rest = rest.split_inclusive('\n').filter(|line| !self.is_repeated_in(line)).collect();
        }
        (!rest.trim().is_empty() && !self.is_repeated_in(&rest)).then_some(rest)
    }
}

fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.extend(word.chars().flat_map(char::to_lowercase));
    }
    folded
}

/// What went with a text.
#[derive(Debug, Default, Serialize)]
pub struct Gone {
    /// Entries by hand of the index of knowledge, each by the namespace and path that it pointed at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub index_entries_removed: Vec<String>,
    /// Copies in the vault that it was taken out of, by their place in the home.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies_rewritten: Vec<String>,
    /// Copies in the vault that were removed, because it could not be taken out alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies_removed: Vec<String>,
}

impl Gone {
    /// What is said of it.
    pub(super) fn told(&self) -> [(Mark, &'static str, &Vec<String>); 3] {
        [
            (
                Mark::Good,
                "removed these entries by hand of the index, which repeated it",
                &self.index_entries_removed,
            ),
            (Mark::Good, "took it out of these copies", &self.copies_rewritten),
            (Mark::Good, "removed these copies, which held it", &self.copies_removed),
        ]
    }
}

/// What went, and what stays.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    pub(super) gone: Gone,
    /// Texts that stay: to find in them what the purged one says proves nothing.
    pub(super) kept: Vec<String>,
}

/// Takes it out of everything that repeats it. `whole` is the file that is purged with all its versions.
///
/// It is done before the text itself is erased: what was cut short is done again as long as the text is known.
pub(super) fn take_out(
    engine: &Engine,
    call: &Call<'_>,
    said: &Said,
    whole: Option<&Place>,
) -> Result<Repeated, Error> {
    let mut repeated = Repeated::default();
    entries(engine, call, (said, whole), &mut repeated)?;
    let vault = engine.home().join("vault");
    for path in files::abandoned(&vault, true, None) {
        remove(&path)?;
    }
    for place in moved_backups(&vault.join("backups")) {
        call_goes_on(call)?;
        let is_of_whole = whole.is_some_and(|whole| is_copy_of(&place, whole));
        copy(engine.home(), &format!("vault/backups/{place}"), (said, is_of_whole), &mut repeated)?;
    }
    if let Some(disk) = engine.vault().disk() {
        for namespace in disk.namespaces().unwrap_or_default() {
            for below in disk.backups(&namespace) {
                call_goes_on(call)?;
                let place = format!("{namespace}/{below}");
                let is_of_whole = whole.is_some_and(|whole| is_copy_of(&place, whole));
                let place = format!("vault/knowledge/{place}");
                copy(engine.home(), &place, (said, is_of_whole), &mut repeated)?;
            }
        }
    }
    Ok(repeated)
}

/// Entries by hand. Lines that somebody typed into the file are among them.
fn entries(
    engine: &Engine,
    call: &Call<'_>,
    (said, whole): (&Said, Option<&Place>),
    repeated: &mut Repeated,
) -> Result<(), Error> {
    l0::sync_everything(engine, call)?;
    let rows = engine.existing_ledger()?.read(&engine.control(call), |r| r.all_l0_entries())?;
    let points_at = |row: &strata_store::ledger::L0EntryRow, place: &Place| {
        row.namespace == place.namespace.as_str() && row.path == place.path.to_string()
    };
    let (gone, kept): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| {
        said.is_repeated_in(&row.summary) || whole.is_some_and(|whole| points_at(row, whole))
    });
    repeated.kept.extend(kept.into_iter().map(|row| row.summary));
    repeated.gone.index_entries_removed =
        gone.iter().map(|row| format!("{}/{}", row.namespace, row.path)).collect();
    manage::withdraw(engine, call, &gone, WHY)
}

/// Whether a copy, by namespace and place, is one of this file.
fn is_copy_of(copy: &str, file: &Place) -> bool {
    let stem = [".legacy.bak", ".bak"].iter().find_map(|ending| copy.strip_suffix(ending));
    stem == Some(format!("{}/{}", file.namespace, file.path).as_str())
}

/// One copy. What cannot be read is left to the search, which names it.
fn copy(
    home: &Path,
    place: &str,
    (said, is_of_whole): (&Said, bool),
    repeated: &mut Repeated,
) -> Result<(), Error> {
    let path = home.join(place);
    let text = match files::read_regular(&path, MAX_COPY) {
        _ if is_of_whole => None,
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) if !said.is_repeated_in(&text) => {
                repeated.kept.push(text);
                return Ok(());
            }
            Ok(text) => Some(text),
            Err(error) if !said.is_repeated_in(&String::from_utf8_lossy(error.as_bytes())) => return Ok(()),
            Err(_) => None,
        },
        Err(_) => return Ok(()),
    };
    if let Some(rest) = text.and_then(|text| said.taken_out_of(&text)) {
        files::write_atomic(&path, rest.as_bytes())?;
        repeated.kept.push(rest);
        repeated.gone.copies_rewritten.push(place.to_owned());
    } else {
        remove(&path)?;
        repeated.gone.copies_removed.push(place.to_owned());
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { path: path.display().to_string(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(body: &str) -> Said {
        Said::new(&[body.to_owned()])
    }

    #[test]
    fn a_text_is_repeated_by_its_whole_a_stretch_or_a_part() {
        let key = said("The vault key lies behind the third brick on the left, 김 knows.");
        assert!(key.is_repeated_in("infra: the VAULT key lies behind the third brick - ask"));
        assert!(key.is_repeated_in("third brick on the left"));
        assert!(!key.is_repeated_in("the vault key"));
        assert!(!key.is_repeated_in("bricks and keys of the vault in general"));
        assert!(said("hunter2pass").is_repeated_in("db: hunter2pass"));
        assert!(!said("5432").is_repeated_in("port 5432") && said("5432").is_repeated_in("5432"));
        assert!(said("비밀번호는 사과나무").is_repeated_in("메모: 비밀번호는 사과나무."));
        assert!(!said("---").is_repeated_in("| --- | --- | --- | --- | --- | --- | --- | --- |"));
    }

    #[test]
    fn it_is_taken_out_of_a_copy_with_its_section() {
        let copy = "# a\n\n## Key\n\nBehind the third brick.\n\n## Door\n\nGreen.\n";
        let rest = said("Behind the third brick.").taken_out_of(copy).expect("taken out");
        assert_eq!(rest, "# a\n\n## Door\n\nGreen.\n");
        assert_eq!(said("Behind the third brick.").taken_out_of("behind the THIRD brick"), None);
        let quoted = "# a\n\n- behind the THIRD brick, she said\n- the door is green\n";
        let rest = said("Behind the third brick.").taken_out_of(quoted).expect("a line goes");
        assert_eq!(rest, "# a\n\n- the door is green\n");
    }
}
