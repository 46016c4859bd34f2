//! What a purge says: what was erased, and what is left of it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use strata_store::ledger::{FILE_NAME, NAMESPACE};

use super::repeated::Gone;
use crate::{
    engine::Engine,
    error::Error,
    maintain::{
        backup::FOLDER,
        byte_scan::{Fragments, scan},
        left_to_owner,
    },
    operation::Call,
    render::{Block, Document, Mark, Render, counted},
};

/// What was erased, and what is left of it.
#[derive(Debug, Serialize)]
pub struct Response {
    /// What it was.
    pub id: String,
    /// `memory`, `episode` or `entity`.
    pub kind: &'static str,
    /// Its number, which is not given again.
    pub number: i64,
    /// Whether an earlier purge had removed it and this one only completed the work.
    pub completed_earlier: bool,
    /// Backups that were rewritten.
    pub backups_rewritten: usize,
    /// Backups that were not what they were made as before the purge: they lost its text all the same, and cannot
    /// be restored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backups_damaged: Vec<String>,
    /// Old or damaged indexes that were removed.
    pub index_files_removed: usize,
    /// Whether every file of the home was searched and none holds a piece of the text.
    pub verified: bool,
    /// Files searched.
    pub files_scanned: usize,
    /// Pieces of the text that were looked for; 0 when nothing in it tells it from other texts.
    pub fragments: usize,
    /// Files that still hold a piece of it.
    pub remaining: Vec<String>,
    /// Backups that still hold a piece of it.
    pub remaining_backups: Vec<String>,
    /// Files that could not be searched.
    pub unreadable: Vec<String>,
    /// Earlier and later versions of the memory; each is a memory of its own and is still there.
    pub other_versions: Vec<String>,
    /// Digests that had words of it and were erased with it. What else they covered is distilled anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests_erased: Vec<String>,
    /// Digests that cover it without its words, and later versions of erased ones; they are still here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests_kept: Vec<String>,
    /// The server whose tables were searched as well; what its own log and backups hold is its administrator's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// What would take the last bytes out of the server's files and had to be left, so that its other users need not
    /// wait: statements for its owner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_to_owner: Vec<String>,
    /// What repeated it and went with it.
    #[serde(flatten)]
    pub repeated: Gone,
}

/// What a purge did beside the ledger.
#[derive(Debug, Default)]
pub(super) struct Erased {
    pub(super) indexes: usize,
    pub(super) backups: usize,
    pub(super) damaged: Vec<String>,
    pub(super) left: Vec<String>,
    pub(super) repeated: Gone,
}

impl Response {
    /// What is said of something that was erased, after a look through every file for its pieces.
    pub(super) fn proved(
        engine: &Engine,
        call: &Call<'_>,
        (id, kind, number): (&str, &'static str, i64),
        erased: Erased,
        fragments: &Fragments,
    ) -> Result<Self, Error> {
        let mut response = Self {
            id: id.to_owned(),
            kind,
            number,
            completed_earlier: false,
            backups_rewritten: erased.backups,
            backups_damaged: erased.damaged,
            index_files_removed: erased.indexes,
            verified: false,
            files_scanned: 0,
            fragments: fragments.len(),
            remaining: Vec::new(),
            remaining_backups: Vec::new(),
            unreadable: Vec::new(),
            other_versions: Vec::new(),
            digests_erased: Vec::new(),
            digests_kept: Vec::new(),
            store: None,
            left_to_owner: erased.left,
            repeated: erased.repeated,
        };
        response.prove(engine.home(), fragments)?;
        response.prove_on_server(engine, call, fragments)?;
        Ok(response)
    }

    /// Looks through every file of the home for what is left.
    pub(super) fn prove(&mut self, home: &Path, fragments: &Fragments) -> Result<(), Error> {
        let found = scan(home, fragments)?;
        let backups = home.join(FOLDER);
        let name = |path: &PathBuf| path.strip_prefix(home).unwrap_or(path).display().to_string();
        let (in_backups, remaining): (Vec<_>, Vec<_>) =
            found.holding.iter().partition(|path| path.starts_with(&backups));
        self.files_scanned = found.files;
        self.remaining = remaining.into_iter().map(name).collect();
        self.remaining_backups = in_backups.into_iter().map(name).collect();
        self.unreadable = found.unreadable.iter().map(name).collect();
        self.verified = !fragments.is_empty()
            && self.remaining.is_empty()
            && self.remaining_backups.is_empty()
            && self.unreadable.is_empty();
        Ok(())
    }
}

impl Response {
    /// Looks through the tenant's rows on a server, where the store is on one.
    pub(super) fn prove_on_server(
        &mut self,
        engine: &Engine,
        call: &Call<'_>,
        fragments: &Fragments,
    ) -> Result<(), Error> {
        let Some(server) = &engine.settings().store else { return Ok(()) };
        self.store = Some(server.to_string());
        let Some(finder) = fragments.finder()? else { return Ok(()) };
        let ledger = engine.existing_ledger()?.database();
        for (name, database) in [(NAMESPACE, ledger), (INDEX, engine.searcher().index().database())] {
            let control = engine.control(call);
            if !database.exists(&control)? {
                continue;
            }
            let (holding, searched) = database.tables_holding(&control, &finder)?;
            self.files_scanned += searched;
            self.remaining.extend(holding.into_iter().map(|table| format!("{name}.{table}")));
        }
        self.verified = self.verified && self.remaining.is_empty();
        Ok(())
    }
}

/// What the index's tables on a server are told by; its schema has a longer name.
const INDEX: &str = "strata_index";

impl Render for Response {
    fn render(&self) -> Document {
        let done = format!("purged {} {} (#{})", self.kind, self.id, self.number);
        let mut document = self.others(Document::new().note(Mark::Good, done));
        if !self.backups_damaged.is_empty() {
            let text = "these backups were damaged or changed before; they are purged and stay refused, so make a new one";
            let rows = self.backups_damaged.iter().map(|backup| vec![backup.clone()]).collect();
            document = document
                .note(Mark::Warning, text)
                .with(Block::Table { columns: vec!["backup".into()], rows });
        }
        if self.verified {
            let Some(server) = &self.store else {
                let files = counted(self.files_scanned, "file");
                return document
                    .note(Mark::Good, format!("searched {files} of the home: no byte of it is left"));
            };
            let searched = format!("{} files and tables", self.files_scanned);
            return self
                .owners_part(document)
                .note(
                    Mark::Good,
                    format!("searched the home and {server}, {searched}: no row holds a piece of it"),
                )
                .note(
                    Mark::Info,
                    "the server's own log and backups may hold it; they are its administrator's",
                );
        }
        self.left(self.owners_part(document))
    }
}

impl Response {
    /// What the owner of the server may still do.
    fn owners_part(&self, document: Document) -> Document {
        let why = "the server's files may hold it until something is written over it";
        left_to_owner::told(document, why, &self.left_to_owner)
    }

    /// Other versions and digests: what went with it, and what is still here.
    fn others(&self, document: Document) -> Document {
        let said = [
            (
                Mark::Warning,
                "other versions are memories of their own and still here; purge them too if they say it",
                &self.other_versions,
            ),
            (Mark::Good, "erased with it the digests that quote it", &self.digests_erased),
            (
                Mark::Warning,
                "these rest on it without quoting it, or came of a digest that did, and are still here",
                &self.digests_kept,
            ),
        ];
        let told = said.into_iter().chain(self.repeated.told()).filter(|(.., ids)| !ids.is_empty());
        told.fold(document, |document, (mark, what, ids)| {
            document.note(mark, format!("{what}: {}", ids.join(", ")))
        })
    }

    /// What could not be proved to be gone, and where pieces of it are.
    fn left(&self, mut document: Document) -> Document {
        if self.fragments == 0 {
            let why = if self.completed_earlier {
                "its text was gone before, so there is nothing left to compare the files with"
            } else {
                "nothing in the text tells it from other stored texts, so no search can prove that it is gone"
            };
            document = document.note(Mark::Info, why);
        }
        let of = |schema: &str| -> Vec<String> {
            let ours = |name: &&String| self.store.is_some() && name.starts_with(schema);
            self.remaining.iter().filter(ours).cloned().collect()
        };
        let (ledger, index) = (of(NAMESPACE), of(INDEX));
        let (ledger_file, files): (Vec<String>, Vec<String>) = self
            .remaining
            .iter()
            .filter(|name| !ledger.contains(name) && !index.contains(name))
            .cloned()
            .partition(|name| name.starts_with(FILE_NAME));
        if !ledger.is_empty() || !ledger_file.is_empty() {
            let what = if ledger.is_empty() { "its file as it is" } else { "its tables as they are" };
            let text = "the ledger still holds a piece of it where somebody repeated it: in a reason on record, which is never \
                        changed, or in another text; leave";
            document = document.note(Mark::Bad, format!("{text} {what}"));
        }
        let backups = format!("backups still hold it; `strata purge {} --backups` rewrites them", self.id);
        let said = [
            (Mark::Bad, "tables of the ledger that hold it", "table", &ledger),
            (
                Mark::Bad,
                "these tables of the index still hold it; `strata reindex` makes them anew",
                "table",
                &index,
            ),
            (Mark::Bad, "these files still hold a piece of it; edit or remove them", "file", &files),
            (Mark::Warning, backups.as_str(), "backup", &self.remaining_backups),
            (Mark::Warning, "these files could not be searched", "file", &self.unreadable),
        ];
        let told = said.into_iter().filter(|(.., names)| !names.is_empty());
        told.fold(document, |document, (mark, what, column, names)| {
            let rows = names.iter().map(|name| vec![name.clone()]).collect();
            document.note(mark, what).with(Block::Table { columns: vec![column.to_owned()], rows })
        })
    }
}
