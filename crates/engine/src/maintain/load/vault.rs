//! The vault of an export on its way in.

use std::collections::HashMap;

use strata_core::{
    knowledge::{
        changelog::Operation,
        name::{Name, VaultPath},
    },
    memory::Layer,
    redact::redact,
    scope::Scope,
    time::Timestamp,
};
use strata_store::{
    error::StoreError,
    ledger::{LoadedGeneration, NewAudit, Origin, PurgedKind, VaultChange, is_vault_text_id},
};

use super::{incoming::writer, loading::Loading};
use crate::{
    engine::Engine,
    error::Error,
    gate::Gate,
    knowledge::vault::MAX_FILE,
    maintain::transfer::{GenerationLine, LOAD, VaultChangeLine, VaultFileLine, record_of},
};

/// The vault's part of a file.
#[derive(Default)]
pub(super) struct IncomingVault {
    files: Vec<IncomingFile>,
    changes: Vec<(Option<String>, VaultChange)>,
}

struct IncomingFile {
    scope: Scope,
    path: VaultPath,
    head: i64,
    generations: Vec<LoadedGeneration>,
}

impl IncomingVault {
    pub(super) fn file(
        &mut self,
        engine: &Engine,
        gate: &mut Gate,
        line: &VaultFileLine,
    ) -> Result<(), Error> {
        let wrong = |error| Error::argument("path", format!("cannot be a file's name: {error}"), AGAIN);
        let namespace = Name::parse(&line.namespace).map_err(wrong)?;
        let path = VaultPath::parse(&line.path).map_err(wrong)?;
        let generations = line
            .generations
            .iter()
            .map(|generation| loaded(engine, gate, generation))
            .collect::<Result<Vec<_>, _>>()?;
        let ordered = generations.windows(2).all(|pair| pair[0].generation < pair[1].generation);
        let has_head = generations.iter().any(|row| {
            row.generation == line.generation && !row.is_failed && (row.is_deletion || row.text.is_some())
        });
        if !(ordered && has_head) {
            return Err(Error::argument(
                "generations",
                "are out of order, or lack the one that holds",
                AGAIN,
            ));
        }
        let scope = Scope { namespace: namespace.to_string(), ..Scope::user() };
        self.files.push(IncomingFile { scope, path, head: line.generation, generations });
        Ok(())
    }

    pub(super) fn change(&mut self, gate: &mut Gate, line: &VaultChangeLine) -> Result<(), Error> {
        let operation = Operation::parse(&line.operation)
            .ok_or_else(|| Error::argument("operation", "is none of the changelog", AGAIN))?;
        let mut short = |field: &str, text: &str| -> Result<String, Error> {
            Ok(gate.field(field, Some(text))?.unwrap_or_default())
        };
        let change = VaultChange {
            seq: 0,
            ordinal: 0,
            id: short("id", &line.id)?,
            at: Timestamp(line.at),
            operation,
            namespace: short("namespace", &line.namespace)?,
            domain: short("domain", &line.domain)?,
            number: None,
            section: line.section.as_deref().map(|text| short("section", text)).transpose()?,
            agent_id: line.agent_id.as_deref().map(|text| short("agent_id", text)).transpose()?,
            tool: short("tool", &line.tool)?,
            summary: short("summary", &line.summary)?,
            reason: short("reason", &line.reason)?,
            source_ref: line.source_ref.as_deref().map(|text| short("source_ref", text)).transpose()?,
            before: line.before.clone(),
            after: line.after.clone(),
            metadata: redact(&line.metadata.to_string()).text.into_owned(),
        };
        self.changes.push((line.path.clone(), change));
        Ok(())
    }

    /// Where its things belong.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.files.iter().map(|file| &file.scope)
    }

    /// Puts everything in one writer's name.
    pub(super) fn write_as(&mut self, name: &str) {
        let generations = self.files.iter_mut().flat_map(|file| &mut file.generations);
        generations.for_each(|row| name.clone_into(&mut row.writer));
    }

    /// Whether there is nothing in it that somebody has to be allowed to write.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.changes.is_empty()
    }
}

const AGAIN: &str = "the file was changed by hand; export it again";

fn loaded(engine: &Engine, gate: &mut Gate, line: &GenerationLine) -> Result<LoadedGeneration, Error> {
    let limit = usize::try_from(MAX_FILE).unwrap_or(usize::MAX);
    if line.text.as_ref().is_some_and(|text| text.len() > limit || line.deleted) {
        return Err(Error::argument("text", "is too large, or that of a deletion", AGAIN));
    }
    if line.id.as_deref().is_some_and(|id| !is_vault_text_id(id)) {
        return Err(Error::argument("id", "is not that of a generation", AGAIN));
    }
    Ok(LoadedGeneration {
        generation: line.generation,
        id: line.id.clone(),
        at: Timestamp(line.at),
        origin: Origin::parse(&line.origin).map_err(|e| Error::parse("origin", &e))?,
        is_failed: line.failed,
        writer: writer(gate, &line.writer)?,
        size: line.size,
        is_deletion: line.deleted,
        // Bytes of a file are kept as they are; what is not for a memory was taken out when it was written.
        text: line.text.clone(),
        salt: engine.ids().salt(),
    })
}

impl Loading<'_> {
    /// The generation, without its text if that was purged here, or its id is one that is here.
    fn without_purged(&mut self, row: &LoadedGeneration) -> Result<LoadedGeneration, StoreError> {
        let Some(id) = &row.id else { return Ok(row.clone()) };
        if self.w.is_purged(id)? {
            self.loaded.refused_purged += 1;
            return Ok(LoadedGeneration { text: None, id: None, ..row.clone() });
        }
        let id = if self.w.holds(PurgedKind::VaultText, id)? { None } else { row.id.clone() };
        Ok(LoadedGeneration { id, ..row.clone() })
    }

    /// Stores the files whose places are free here, and what the changelog says of them.
    pub(super) fn vault(&mut self, vault: &IncomingVault) -> Result<(), StoreError> {
        let mut numbers = Numbers::new();
        for file in &vault.files {
            let place = (file.scope.namespace.as_str(), file.path.to_string());
            if self.w.vault_head(place.0, &place.1)?.is_some() {
                self.loaded.known += 1;
                continue;
            }
            let number = self.vault_file(file)?;
            numbers.extend(number.map(|number| (place, number)));
            self.loaded.vault_files += 1;
        }
        self.vault_changes(&vault.changes, &numbers)
    }

    /// Stores a file, each of its generations with an audit row of its own.
    fn vault_file(&mut self, file: &IncomingFile) -> Result<Option<i64>, StoreError> {
        let namespace = file.scope.namespace.as_str();
        let target = format!("vault:{namespace}/{}", file.path);
        let mut generations = Vec::with_capacity(file.generations.len());
        for row in &file.generations {
            let row = self.without_purged(row)?;
            let reason = record_of(row.at.0, &format!("{} by {}", row.origin.as_str(), row.writer));
            let audit = NewAudit {
                layer: Some(Layer::P5),
                reason: &reason,
                after_hash: row.hash(),
                ..NewAudit::new(&self.actors.owner, self.call.face, LOAD, &target)
            };
            let seq = self.w.record(&audit)?;
            generations.push((row, seq));
        }
        self.w.load_vault_file((namespace, &file.path), file.head, &generations)
    }

    /// Stores the lines of the changelog that are not here; one audit row stands for all of them.
    fn vault_changes(
        &mut self,
        changes: &[(Option<String>, VaultChange)],
        numbers: &Numbers<'_>,
    ) -> Result<(), StoreError> {
        let target = format!("changes:{}", changes.len());
        let mut recorded = None;
        for (ordinal, (path, change)) in changes.iter().enumerate() {
            if self.w.vault_change(&change.id)?.is_some() {
                self.loaded.known += 1;
                continue;
            }
            let audit = NewAudit {
                layer: Some(Layer::P5),
                ..NewAudit::new(&self.actors.owner, self.call.face, LOAD, &target)
            };
            let seq = match recorded {
                Some(seq) => seq,
                None => *recorded.insert(self.w.record(&audit)?),
            };
            let number = match path {
                Some(path) => self.vault_number(numbers, &change.namespace, path)?,
                None => None,
            };
            let change = VaultChange { number, ..change.clone() };
            self.w.load_vault_change(&change, i64::try_from(ordinal).unwrap_or(i64::MAX), seq)?;
        }
        Ok(())
    }

    /// The number of a file, be it from the export or here already.
    fn vault_number(
        &self,
        numbers: &Numbers<'_>,
        namespace: &str,
        path: &str,
    ) -> Result<Option<i64>, StoreError> {
        match numbers.get(&(namespace, path.to_owned())) {
            Some(number) => Ok(Some(*number)),
            None => Ok(self.w.vault_head(namespace, path)?.map(|head| head.number)),
        }
    }
}

/// The files that were stored, by namespace and path, and the numbers that they have here.
type Numbers<'v> = HashMap<(&'v str, String), i64>;
