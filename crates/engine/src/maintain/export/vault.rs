//! The vault's lines of an export.

use std::collections::HashMap;

use strata_core::scope::Scope;
use strata_store::{
    error::StoreError,
    ledger::{LedgerRead, VaultChangeFilter, VaultHead},
};

use super::json;
use crate::{
    error::Error,
    maintain::transfer::{GenerationLine, Line, VaultChangeLine, VaultFileLine},
};

/// Adds the files of the chosen namespaces with all their generations, then the changelog, oldest first. Returns how many
/// files.
pub(super) fn collect(
    r: &LedgerRead<'_>,
    chosen: &impl Fn(&Scope) -> bool,
    mut add: impl FnMut(&Line) -> Result<(), Error>,
) -> Result<usize, Error> {
    let is_chosen = |namespace: &str| chosen(&Scope { namespace: namespace.to_owned(), ..Scope::user() });
    let heads: Vec<VaultHead> =
        r.vault_heads(None)?.into_iter().filter(|head| is_chosen(&head.namespace)).collect();
    let paths: HashMap<i64, &str> = heads.iter().map(|head| (head.number, head.path.as_str())).collect();
    for head in &heads {
        add(&Line::VaultFile(Box::new(file_line(r, head)?)))?;
    }
    let mut changes = r.vault_changes(&VaultChangeFilter::default())?;
    // Numbers of changes are others where it is loaded, times and ids are not.
    changes.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    for change in changes.into_iter().filter(|change| is_chosen(&change.namespace)) {
        let line = VaultChangeLine {
            path: change.number.and_then(|number| paths.get(&number)).map(|path| (*path).to_owned()),
            id: change.id,
            at: change.at.0,
            operation: change.operation.as_str().to_owned(),
            namespace: change.namespace,
            domain: change.domain,
            section: change.section,
            agent_id: change.agent_id,
            tool: change.tool,
            summary: change.summary,
            reason: change.reason,
            source_ref: change.source_ref,
            before: change.before,
            after: change.after,
            metadata: json(&change.metadata),
        };
        add(&Line::VaultChange(Box::new(line)))?;
    }
    Ok(heads.len())
}

fn file_line(r: &LedgerRead<'_>, head: &VaultHead) -> Result<VaultFileLine, StoreError> {
    let mut generations = Vec::new();
    for row in r.vault_generations(head.number)?.into_iter().rev() {
        generations.push(GenerationLine {
            generation: row.generation,
            id: row.id,
            at: row.at.0,
            origin: row.origin.as_str().to_owned(),
            failed: row.is_failed,
            writer: row.writer,
            size: usize::try_from(row.size).unwrap_or(0),
            deleted: row.hash.is_none(),
            text: r.vault_text(head.number, row.generation)?,
        });
    }
    Ok(VaultFileLine {
        namespace: head.namespace.clone(),
        path: head.path.clone(),
        generation: head.generation,
        generations,
    })
}
