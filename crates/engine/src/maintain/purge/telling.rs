//! What tells a text from everything else in the home: the pieces whose absence proves that it is gone.

use std::path::PathBuf;

use strata_core::graph::Origin;
use strata_store::{
    error::StoreError,
    ledger::{EntityFilter, EpisodeFilter, LedgerRead, MemoryFilter, SourceState, VaultChangeFilter},
};

use super::{
    call_goes_on,
    target::{Target, property_texts},
};
use crate::{documents, engine::Engine, error::Error, maintain::byte_scan::Fragments, operation::Call};

/// Rows read at a time.
const PAGE: usize = 500;

/// Pieces of the text that nothing else in the home says, `kept` among it.
pub(super) fn telling_fragments(
    engine: &Engine,
    call: &Call<'_>,
    target: &Target,
    kept: &[String],
) -> Result<Fragments, Error> {
    let mut fragments = Fragments::of(target.texts.iter().map(String::as_str));
    kept.iter().for_each(|text| fragments.forget_those_in(text));
    if fragments.is_empty() {
        return Ok(fragments);
    }
    let ledger = engine.existing_ledger()?;
    let documents = ledger.read(&engine.control(call), |r| {
        forget_other_memories(r, target, &mut fragments)?;
        forget_other_episodes(r, target, &mut fragments)?;
        forget_other_entities(r, target, &mut fragments)?;
        forget_other_todos(r, target, &mut fragments)?;
        forget_the_vault(r, &mut fragments)?;
        r.sources(None)
    })?;
    let mut files: Vec<PathBuf> = documents
        .iter()
        .filter(|s| s.state == SourceState::Present && !documents::is_of_vault(s))
        .map(documents::path_of)
        .collect();
    files.dedup();
    for file in files {
        call_goes_on(call)?;
        // A file that cannot be read is in no other place to compare with; the scan errs on the safe side.
        if let Ok(bytes) = std::fs::read(&file) {
            fragments.forget_those_in(&String::from_utf8_lossy(&bytes));
        }
    }
    Ok(fragments)
}

fn forget_other_memories(
    r: &LedgerRead<'_>,
    target: &Target,
    fragments: &mut Fragments,
) -> Result<(), StoreError> {
    r.for_each_memory(&MemoryFilter::of_any_status(), |row| {
        if row.id == target.id {
            return Ok(());
        }
        for text in [&row.body, &row.title] {
            fragments.forget_those_in(text);
        }
        for rule in r.rule_history(row.number)? {
            rule.attributes.condition.iter().for_each(|text| fragments.forget_those_in(text));
        }
        for evidence in r.evidence(row.number)? {
            fragments.forget_those_in(&evidence.reference);
            fragments.forget_those_in(&evidence.note);
        }
        Ok(())
    })
}

fn forget_other_episodes(
    r: &LedgerRead<'_>,
    target: &Target,
    fragments: &mut Fragments,
) -> Result<(), StoreError> {
    let mut after = 0;
    loop {
        let page = r.episodes(&EpisodeFilter { after, limit: PAGE, ..EpisodeFilter::default() })?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.number;
        for row in page.iter().filter(|row| row.id != target.id) {
            fragments.forget_those_in(&row.text);
        }
    }
}

fn forget_other_todos(
    r: &LedgerRead<'_>,
    target: &Target,
    fragments: &mut Fragments,
) -> Result<(), StoreError> {
    let mut after = (0, 0);
    loop {
        let page = r.todo_versions_after(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = (last.number, last.from_seq);
        for row in page.iter().filter(|row| row.origin.id != target.id) {
            let version = &row.version;
            for text in
                [&version.content, &version.title, &version.notes, &version.domain, &row.origin.session]
            {
                fragments.forget_those_in(text);
            }
        }
    }
}

/// What somebody said of an entity stays when a memory goes that says the same.
fn forget_other_entities(
    r: &LedgerRead<'_>,
    target: &Target,
    fragments: &mut Fragments,
) -> Result<(), StoreError> {
    let mut after = 0;
    loop {
        let stated =
            EntityFilter { origin: Some(Origin::Stated), after, limit: PAGE, ..EntityFilter::default() };
        let page = r.entities(&stated)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.number;
        for row in page.iter().filter(|row| row.id != target.id) {
            fragments.forget_those_in(&row.label);
            property_texts(&row.properties).iter().for_each(|text| fragments.forget_those_in(text));
        }
    }
}

/// What a file of the vault says, or once said, stays when something else goes that says the same.
fn forget_the_vault(r: &LedgerRead<'_>, fragments: &mut Fragments) -> Result<(), StoreError> {
    for head in r.vault_heads(None)? {
        for row in r.vault_generations(head.number)? {
            if let Some(text) = r.vault_text(head.number, row.generation)? {
                fragments.forget_those_in(&text);
            }
        }
    }
    for change in r.vault_changes(&VaultChangeFilter::default())? {
        let section = change.section.as_deref().unwrap_or_default();
        for text in [section, &change.summary, &change.reason, &change.metadata] {
            fragments.forget_those_in(text);
        }
    }
    Ok(())
}
