//! Bringing files into the vault from a folder: one that was exported, one of an older home. Nothing comes in twice, and
//! what stays out is told with its reason.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde::Serialize;
use strata_core::{
    knowledge::{
        changelog::Operation as Logged,
        digest::body_token,
        name::{Name, VaultPath},
    },
    policy::Action,
};
use strata_store::{
    error::StoreError,
    vault::{Listing, Reading, Vault},
};

use super::vault::{self, Change, Edited, Event, FileHead, FileState, Origin, Place, Seen, Written};
use crate::{
    engine::Engine,
    error::Error,
    gate::{Gate, add_families},
    operation::Call,
    render::{Block, Document, Mark},
};

/// Files listed that stayed out.
const LISTED: usize = 50;

/// What came of bringing files.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Brought {
    /// Files that were not there.
    pub added: usize,
    /// Files whose text took the place of another.
    pub replaced: usize,
    /// Files that say here what they say there.
    pub known: usize,
    /// Files in which secrets were blacked out.
    pub redacted_files: usize,
    /// Families of secrets that were blacked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<&'static str>,
    /// Files that stayed out.
    pub left_out: usize,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<LeftOut>,
}

/// A file that stayed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Where it lies, below the folder that was named.
    pub file: String,
    /// Why.
    pub reason: String,
}

impl Brought {
    /// Notes what stays out.
    pub(crate) fn leave_out(&mut self, file: impl Into<String>, reason: impl Into<String>) {
        self.left_out += 1;
        if self.problems.len() < LISTED {
            self.problems.push(LeftOut { file: file.into(), reason: reason.into() });
        }
    }

    /// Adds to a reply what stayed out and what was blacked out.
    pub(crate) fn render(&self, document: Document) -> Document {
        let document = listed(document, self.left_out, &self.problems);
        match self.redacted_files {
            0 => document,
            n => document.note(
                Mark::Warning,
                format!("secrets were blacked out in {n} file(s): {}", self.redacted.join(", ")),
            ),
        }
    }
}

/// The table of what stayed out.
pub(super) fn listed(mut document: Document, total: usize, problems: &[LeftOut]) -> Document {
    if total == 0 {
        return document;
    }
    let rows = problems.iter().map(|left| vec![left.file.clone(), left.reason.clone()]).collect();
    document = document.with(Block::Table { columns: vec!["left out".into(), "reason".into()], rows });
    match total - problems.len() {
        0 => document,
        more => document.text(format!("{more} more left out")),
    }
}

/// How files are brought.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// The tool, as the changelog names it.
    pub(crate) tool: &'a str,
    /// Where they come from, for the changelog.
    pub(crate) from: &'a str,
    /// Whether a file that differs takes the place of the one that is here.
    pub(crate) overwrite: bool,
    /// Whether this is only a look.
    pub(crate) dry_run: bool,
}

/// One import under way.
pub(crate) struct Bringing<'a> {
    engine: &'a Engine,
    call: &'a Call<'a>,
    terms: Terms<'a>,
    seen: BTreeMap<Name, Seen>,
    /// The texts that this import met, by namespace and the name's key.
    met: HashMap<(Name, String), blake3::Hash>,
    /// What came of it.
    pub(crate) brought: Brought,
    /// The files that were written.
    pub(crate) written: Vec<Written>,
}

/// What becomes of a file.
enum Fate {
    New(Place),
    Replaces(Place),
    Known,
    Stays(String),
}

impl<'a> Bringing<'a> {
    pub(crate) fn new(engine: &'a Engine, call: &'a Call<'a>, terms: Terms<'a>) -> Self {
        let (seen, met) = (BTreeMap::new(), HashMap::new());
        Self { engine, call, terms, seen, met, brought: Brought::default(), written: Vec::new() }
    }

    /// Brings what lies in `folder` of `source` into a namespace, but for what `passes` over by its place.
    pub(crate) fn folder(
        &mut self,
        source: &Vault,
        folder: &Name,
        namespace: &Name,
        passes: &dyn Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let (found, problems) = match source.list(folder) {
            Listing::Listed(found, problems) => (found, problems),
            Listing::Unavailable(reason) => {
                self.brought.leave_out(folder.as_str(), reason);
                return Ok(());
            }
        };
        for problem in problems.iter().filter(|problem| !passes(&problem.place)) {
            self.brought.leave_out(format!("{folder}/{}", problem.place), &problem.reason);
        }
        for link in links(&source.root().join(folder.as_str())).iter().filter(|link| !passes(link)) {
            self.brought
                .leave_out(format!("{folder}/{link}"), "it is a link; what it points at is not followed");
        }
        for file in found.iter().filter(|file| !passes(&file.path.to_string())) {
            if self.call.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            self.file(source, folder, namespace, &file.path)?;
        }
        Ok(())
    }

    fn file(
        &mut self,
        source: &Vault,
        folder: &Name,
        namespace: &Name,
        path: &VaultPath,
    ) -> Result<(), Error> {
        let label = format!("{folder}/{path}");
        match source.read(folder, path) {
            Ok(Reading::Text(text)) => self.take(&Place::new(namespace.clone(), path.clone()), label, &text),
            Ok(Reading::Missing) => Ok(()),
            Ok(Reading::Unreadable(reason) | Reading::Unavailable(reason))
            | Err(StoreError::Invalid(reason)) => {
                self.brought.leave_out(label, reason);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Brings one text to a place.
    fn take(&mut self, place: &Place, label: String, text: &str) -> Result<(), Error> {
        let mut gate = Gate::default();
        let text = match vault::admit(&mut gate, &label, text) {
            Ok(text) => text,
            Err(error) => {
                self.brought.leave_out(label, error.to_string());
                return Ok(());
            }
        };
        match self.fate(place, &text)? {
            Fate::Known => self.brought.known += 1,
            Fate::Stays(reason) => self.brought.leave_out(label, reason),
            Fate::New(place) => {
                if self.store(&place, &text, &label, Action::Remember)? {
                    self.brought.added += 1;
                    self.note_redacted(&gate);
                }
            }
            Fate::Replaces(place) => {
                if self.store(&place, &text, &label, Action::Update)? {
                    self.brought.replaced += 1;
                    self.note_redacted(&gate);
                }
            }
        }
        Ok(())
    }

    fn note_redacted(&mut self, gate: &Gate) {
        self.brought.redacted_files += usize::from(!gate.redacted.is_empty());
        add_families(&mut self.brought.redacted, gate.redacted.iter().copied());
    }

    /// Compares a text with what is here and with what came before it.
    fn fate(&mut self, place: &Place, text: &str) -> Result<Fate, Error> {
        let (hash, key) = (blake3::hash(text.as_bytes()), place.path.key());
        if let Some(first) = self.met.insert((place.namespace.clone(), key.clone()), hash) {
            let differs = "another file that means the same name came before it";
            return Ok(if first == hash { Fate::Known } else { Fate::Stays(differs.to_owned()) });
        }
        let (engine, call, overwrite) = (self.engine, self.call, self.terms.overwrite);
        let seen = self.seen(&place.namespace)?;
        if let Some(reason) = &seen.unavailable {
            return Ok(Fate::Stays(reason.clone()));
        }
        let exact = |head: &&FileHead| head.path == place.path;
        let alike = |head: &&FileHead| head.state != FileState::Gone && head.path.key() == key;
        let Some(head) = seen.files.iter().find(alike).or_else(|| seen.files.iter().find(exact)) else {
            return Ok(Fate::New(place.clone()));
        };
        Ok(match &head.state {
            FileState::Gone if overwrite => Fate::New(place.clone()),
            FileState::Gone => Fate::Stays("it was deleted here; `overwrite` brings it back".to_owned()),
            FileState::Unavailable(reason) | FileState::Unreadable(reason) => Fate::Stays(reason.clone()),
            FileState::Present if vault::parsed(engine, call, head)?.text() == text => Fate::Known,
            FileState::Present if overwrite => Fate::Replaces(head.place()),
            FileState::Present => {
                Fate::Stays(format!("`{}` says something else here; `overwrite` replaces it", head.path))
            }
        })
    }

    fn seen(&mut self, namespace: &Name) -> Result<&Seen, Error> {
        if !self.seen.contains_key(namespace) {
            let seen = vault::look(self.engine, self.call, namespace)?;
            self.seen.insert(namespace.clone(), seen);
        }
        Ok(&self.seen[namespace])
    }

    /// Writes a text, unless this is only a look. Tells whether it stands there now.
    fn store(&mut self, place: &Place, text: &str, label: &str, action: Action) -> Result<bool, Error> {
        if self.terms.dry_run {
            return Ok(true);
        }
        let change = Change {
            action,
            origin: Origin::Import,
            source_ref: Some(self.terms.from),
            ..Change::new(self.terms.tool)
        };
        let overwrite = self.terms.overwrite;
        let outcome = vault::edit(self.engine, self.call, place, &change, &mut |before| {
            // Somebody may have saved it since it was compared.
            if before.is_some() && !overwrite {
                return Ok(Edited::Keep);
            }
            let operation = if before.is_some() { Logged::DomainUpdated } else { Logged::DomainCreated };
            let event = Event::new(operation, format!("{} was imported", place.path))
                .tokens(before.map(body_token), Some(body_token(text)))
                .with("file", place.path.to_string())
                .with("file_size_bytes", text.len());
            Ok(Edited::Write(text.to_owned(), event))
        });
        match outcome {
            Ok(written) => {
                let is_changed = written.is_changed();
                if is_changed {
                    self.written.push(written);
                } else {
                    self.brought.leave_out(label, "somebody saved it meanwhile");
                }
                Ok(is_changed)
            }
            Err(error @ (Error::Argument { .. } | Error::TooLarge { .. } | Error::Conflict { .. })) => {
                self.brought.leave_out(label, error.to_string());
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// The links below a folder, by place. What cannot be read is told by the listing.
fn links(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    links_below(folder, "", 1, &mut found);
    found.sort();
    found
}

fn links_below(folder: &Path, above: &str, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(sort) = entry.file_type() else { continue };
        if name.starts_with('.') {
            continue;
        }
        if sort.is_symlink() {
            found.push(format!("{above}{name}"));
        } else if sort.is_dir() && depth < VaultPath::MAX_DEPTH {
            links_below(&entry.path(), &format!("{above}{name}/"), depth + 1, found);
        }
    }
}
