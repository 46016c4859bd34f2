//! The knowledge graph's lines of an export.

use std::collections::{HashMap, HashSet};

use strata_core::scope::Scope;
use strata_store::ledger::{EntityFilter, EntityRow, LedgerRead, RelationFilter, RelationRow};

use super::{PAGE, json};
use crate::{
    error::Error,
    maintain::transfer::{EntityLine, Line, MentionLine, RelationLine, rounded},
};

/// What was written of the graph.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) entities: usize,
    pub(super) relations: usize,
    /// Ids of the entities written, by number.
    ids: HashMap<i64, String>,
}

impl Graph {
    /// Adds the entities and relations of the chosen scopes, and the mentions in the memories `exported`.
    pub(super) fn collect(
        &mut self,
        r: &LedgerRead<'_>,
        chosen: &impl Fn(&Scope) -> bool,
        exported: &HashSet<String>,
        mut add: impl FnMut(&Line) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut after = 0;
        loop {
            let page = r.entities(&EntityFilter { after, limit: PAGE, ..EntityFilter::default() })?;
            let Some(last) = page.last() else { break };
            after = last.number;
            for row in page.into_iter().filter(|e| chosen(&e.scope)) {
                self.entities += 1;
                self.ids.insert(row.number, row.id.clone());
                add(&Line::Entity(Box::new(entity_line(row))))?;
            }
        }
        self.relations(r, chosen, &mut add)?;
        self.mentions(r, exported, &mut add)
    }

    fn relations(
        &mut self,
        r: &LedgerRead<'_>,
        chosen: &impl Fn(&Scope) -> bool,
        add: &mut impl FnMut(&Line) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut after = 0;
        loop {
            let filter = RelationFilter { after, limit: PAGE, ended: true, ..RelationFilter::default() };
            let page = r.relations(&filter)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.number;
            for row in page.into_iter().filter(|r| chosen(&r.scope)) {
                let (Some(source), Some(target)) = (self.ids.get(&row.source), self.ids.get(&row.target))
                else {
                    continue;
                };
                let line = relation_line(source.clone(), target.clone(), row);
                self.relations += 1;
                add(&Line::Relation(Box::new(line)))?;
            }
        }
    }

    fn mentions(
        &self,
        r: &LedgerRead<'_>,
        exported: &HashSet<String>,
        add: &mut impl FnMut(&Line) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut after = (0, 0);
        loop {
            let page = r.mentions_after(after, PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = (last.1.memory, last.1.entity);
            for (memory, mention) in page.into_iter().filter(|(memory, _)| exported.contains(memory)) {
                let Some(entity) = self.ids.get(&mention.entity) else { continue };
                add(&Line::Mention(MentionLine {
                    memory,
                    entity: entity.clone(),
                    origin: mention.origin.as_str().to_owned(),
                    confidence: rounded(mention.confidence),
                }))?;
            }
        }
    }
}

fn entity_line(row: EntityRow) -> EntityLine {
    EntityLine {
        number: row.number,
        id: row.id,
        label: row.label,
        kind: row.kind,
        properties: json(&row.properties),
        scope: (&row.scope).into(),
        origin: row.origin.as_str().to_owned(),
        confidence: rounded(row.confidence),
        writer: row.writer,
        created_at: row.created_at.0,
    }
}

fn relation_line(source: String, target: String, row: RelationRow) -> RelationLine {
    RelationLine {
        id: row.id,
        source,
        relation: row.relation,
        target,
        properties: json(&row.properties),
        scope: (&row.scope).into(),
        origin: row.origin.as_str().to_owned(),
        confidence: rounded(row.confidence),
        writer: row.writer,
        created_at: row.created_at.0,
        ended_at: row.ended_at.map(|at| at.0),
        reason: row.reason,
    }
}
