//! What stands in an index: an entry for each file, unless somebody wrote another one or took it out.

use std::collections::{BTreeMap, HashMap};

use strata_core::{
    knowledge::{
        l0::{self, Entry, Format, Rendered},
        name::{Name, VaultPath},
    },
    redact::redact,
    scope::{SHARED, Scope},
    time::{DAY, Timestamp},
};
use strata_store::ledger::{AccessFilter, L0EntryRow};

use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault::{self, FileHead},
    operation::Call,
};

/// Days back in which use counts for the order.
const USE_DAYS: i64 = 90;

/// The index of a namespace.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    /// Whose.
    pub(crate) namespace: Name,
    /// Its entries, by path.
    pub(crate) entries: Vec<Entry>,
    /// The paths of those that are the namespace's own; the others are those of the shared one.
    pub(crate) own: Vec<String>,
    /// How many files the vault has.
    pub(crate) files: usize,
    /// What was written by hand, by path; without words where an entry was taken out.
    pub(crate) written: BTreeMap<String, L0EntryRow>,
}

/// Reads what stands in the index of a namespace.
pub(crate) fn build(engine: &Engine, call: &Call<'_>, namespace: &Name) -> Result<Index, Error> {
    build_of(engine, call, namespace, vault::list)
}

/// The same of the files as the ledger has them, for who has just looked at the folder.
pub(super) fn build_known(engine: &Engine, call: &Call<'_>, namespace: &Name) -> Result<Index, Error> {
    build_of(engine, call, namespace, vault::known)
}

/// What tells which files somebody sees.
type ListFiles = fn(&Engine, &Call<'_>) -> Result<Vec<FileHead>, Error>;

fn build_of(engine: &Engine, call: &Call<'_>, namespace: &Name, files: ListFiles) -> Result<Index, Error> {
    let scope = Scope { namespace: namespace.to_string(), ..Scope::user() };
    let there = Call { scope: &scope, ..*call };
    let heads = files(engine, &there)?;
    let rows = engine.read(call, |r| r.l0_entries([namespace.as_str(), SHARED]))?;
    let (own_rows, shared): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row.namespace == namespace.as_str());
    let written: BTreeMap<String, L0EntryRow> =
        shared.into_iter().chain(own_rows).map(|row| (row.path.clone(), row)).collect();
    let mut entries = Vec::with_capacity(heads.len() + written.len());
    let mut own = Vec::new();
    for head in &heads {
        let path = head.path.to_string();
        if !written.contains_key(&path) {
            entries.push(entry_of(engine, call, head)?);
            own.extend((head.namespace == *namespace).then_some(path));
        }
    }
    for row in written.values().filter(|row| !row.summary.is_empty()) {
        if let Ok(path) = VaultPath::parse(&row.path) {
            entries.push(Entry::by_hand(path, &row.summary));
            own.extend((row.namespace == namespace.as_str()).then(|| row.path.clone()));
        }
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Index { namespace: namespace.clone(), entries, own, files: heads.len(), written })
}

/// The entry of a file. Of one that cannot be read now it is that of the text that was last seen.
fn entry_of(engine: &Engine, call: &Call<'_>, head: &FileHead) -> Result<Entry, Error> {
    if let Some(kept) = engine.index_entries().get(head) {
        return Ok(kept);
    }
    // What hands wrote passed no gate.
    let of = |text: &str| Entry::of_file(head.path.clone(), &redact(text).text);
    let entry = if head.is_present() {
        of(vault::parsed(engine, call, head)?.text())
    } else {
        of(engine.read(call, |r| r.vault_text(head.number, head.generation))?.as_deref().unwrap_or_default())
    };
    engine.index_entries().keep(head, &entry);
    Ok(entry)
}

impl Index {
    /// The index as text within a budget. When not all fits, what is used most goes first.
    pub(crate) fn render(
        &self,
        engine: &Engine,
        call: &Call<'_>,
        format: &Format,
        budget: usize,
    ) -> Result<Rendered, Error> {
        let plain = l0::render(&self.entries, format, budget, |_| 0);
        if plain.left_out == 0 {
            return Ok(plain);
        }
        let uses = self.uses(engine, call)?;
        let used = |path: &VaultPath| uses.get(&path.to_string()).copied().unwrap_or(0);
        Ok(l0::render(&self.entries, format, budget, used))
    }

    /// How often each file was found or read lately.
    pub(crate) fn uses(&self, engine: &Engine, call: &Call<'_>) -> Result<HashMap<String, u64>, Error> {
        let since = Timestamp(engine.clock().now().0.saturating_sub(USE_DAYS * DAY));
        let filter = AccessFilter { namespaces: [self.namespace.as_str(), SHARED], since };
        let mut uses = HashMap::new();
        for file in engine.read(call, |r| r.accesses_by_file(&filter))? {
            *uses.entry(file.path).or_default() += u64::try_from(file.hits).unwrap_or(0);
        }
        Ok(uses)
    }
}
