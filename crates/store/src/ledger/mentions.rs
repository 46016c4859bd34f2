//! Which memories speak of which entities. Only memories in force count when somebody asks.

use strata_core::{graph::Origin, scope::Scope, time::Timestamp};

use super::{
    EntityRow, LedgerRead, LedgerWrite,
    entities::{self, entity_from},
    filter::Conditions,
};
use crate::{
    error::StoreError,
    params,
    rows::{LIST, padded},
};

/// A mention as stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mention {
    /// The memory's number.
    pub memory: i64,
    /// The entity's number.
    pub entity: i64,
    /// Whether somebody said so.
    pub origin: Origin,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
}

/// A memory as the graph shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedMemory {
    /// Its number.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// Its layer's word.
    pub layer: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// Its text.
    pub body: String,
    /// Whether the link was stated or noticed.
    pub origin: Origin,
}

/// The memories that count: in force, not run out, and seen by the reader.
fn in_force<'p>(all: &mut Conditions<'p>, scope: &'p Scope, now: Timestamp) {
    all.sql.push_str(" AND m.status IN ('active', 'stale', 'needs_review')");
    all.and("(m.valid_to IS NULL OR m.valid_to >", now, ")");
    all.visible_from("m.", scope);
}

impl LedgerRead<'_> {
    /// What the memory with this number mentions, by entity.
    pub fn mentions_of(&self, memory: i64) -> Result<Vec<Mention>, StoreError> {
        self.transaction.query(
            "SELECT number, entity, origin, confidence FROM entity_mentions
             WHERE tenant = $1 AND number = $2 ORDER BY entity",
            params![self.tenant, memory],
            |row| {
                Ok(Mention {
                    memory: row.get(0)?,
                    entity: row.get(1)?,
                    origin: Origin::parse(row.text(2)?)?,
                    confidence: row.get(3)?,
                })
            },
        )
    }

    /// Mentions by memory and entity, from behind `after` on, with the id of the memory: a page of all.
    pub fn mentions_after(
        &self,
        after: (i64, i64),
        limit: usize,
    ) -> Result<Vec<(String, Mention)>, StoreError> {
        let mut all = Conditions::new("x.tenant", self.tenant);
        all.and("(x.number, x.entity) > (", after.0, "");
        let place = all.params.len() + 1;
        all.params.push(after.1.into());
        all.sql.push_str(&format!(", ${place}) ORDER BY x.number, x.entity"));
        all.limit(limit);
        let sql = format!(
            "SELECT m.id, x.number, x.entity, x.origin, x.confidence FROM entity_mentions x
             JOIN memories m ON m.tenant = x.tenant AND m.number = x.number WHERE {}",
            all.sql
        );
        self.transaction.query(&sql, &all.params, |row| {
            let origin = Origin::parse(row.text(3)?)?;
            let (memory, entity, confidence) = (row.get(1)?, row.get(2)?, row.get(4)?);
            Ok((row.get(0)?, Mention { memory, entity, origin, confidence }))
        })
    }

    /// The memories in force that mention an entity: stated links first, then the newest.
    pub fn memories_mentioning(
        &self,
        entity: i64,
        scope: &Scope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<LinkedMemory>, StoreError> {
        let mut all = Conditions::new("x.tenant", self.tenant);
        all.and("x.entity =", entity, "");
        in_force(&mut all, scope, now);
        // `stated` sorts behind `inferred`.
        all.sql.push_str(" ORDER BY x.origin DESC, m.number DESC");
        all.limit(limit);
        let sql = format!(
            "SELECT m.number, m.id, m.layer, m.title, m.body, x.origin
             FROM entity_mentions x JOIN memories m ON m.tenant = x.tenant AND m.number = x.number WHERE {}",
            all.sql
        );
        self.transaction.query(&sql, &all.params, |row| {
            Ok(LinkedMemory {
                number: row.get(0)?,
                id: row.get(1)?,
                layer: row.get(2)?,
                title: row.get(3)?,
                body: row.get(4)?,
                origin: Origin::parse(row.text(5)?)?,
            })
        })
    }

    /// The entities that memories in force mention together with one, and how many do; most first.
    pub fn mentioned_with(
        &self,
        entity: i64,
        scope: &Scope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(EntityRow, usize)>, StoreError> {
        let mut all = Conditions::new("x.tenant", self.tenant);
        all.and("x.entity =", entity, "");
        all.and("y.entity <>", entity, "");
        in_force(&mut all, scope, now);
        let counted = format!(
            "SELECT y.entity AS entity, count(*) AS times FROM entity_mentions x
             JOIN memories m ON m.tenant = x.tenant AND m.number = x.number
             JOIN entity_mentions y ON y.tenant = x.tenant AND y.number = x.number WHERE {} GROUP BY y.entity",
            std::mem::replace(&mut all.sql, "e.tenant = $1".to_owned())
        );
        all.visible_from("e.", scope);
        all.sql.push_str(" ORDER BY c.times DESC, e.number");
        all.limit(limit);
        let sql = format!(
            "SELECT {}, c.times FROM ({counted}) c JOIN entities e ON e.tenant = $1 AND e.number = c.entity WHERE {}",
            entities::COLUMNS,
            all.sql
        );
        self.transaction.query(&sql, &all.params, |row| Ok((entity_from(row)?, row.get(entities::WIDTH)?)))
    }

    /// The entities seen from `scope` that any of these memories mentions, each once.
    pub fn entities_mentioned_by(
        &self,
        memories: &[i64],
        scope: &Scope,
    ) -> Result<Vec<EntityRow>, StoreError> {
        let mut rows: Vec<EntityRow> = Vec::new();
        for chunk in memories.chunks(LIST) {
            let mut all = Conditions::new("x.tenant", self.tenant);
            all.any_of("x.number", padded(chunk).copied());
            all.visible_from("e.", scope);
            let sql = format!(
                "SELECT DISTINCT {} FROM entity_mentions x
                 JOIN entities e ON e.tenant = x.tenant AND e.number = x.entity WHERE {} ORDER BY e.number",
                entities::COLUMNS,
                all.sql
            );
            rows.extend(self.transaction.query(&sql, &all.params, entity_from)?);
        }
        rows.sort_by_key(|e| e.number);
        rows.dedup_by_key(|e| e.number);
        Ok(rows)
    }

    /// Ids of relations and mentions whose ends are not there.
    pub fn dangling_ends(&self) -> Result<Vec<String>, StoreError> {
        let mut lost = self.transaction.query(
            "SELECT r.id FROM relations r WHERE r.tenant = $1
             AND (NOT EXISTS (SELECT 1 FROM entities e WHERE e.tenant = r.tenant AND e.number = r.source)
                  OR NOT EXISTS (SELECT 1 FROM entities e WHERE e.tenant = r.tenant AND e.number = r.target))
             ORDER BY r.number",
            params![self.tenant],
            |row| row.get::<String>(0),
        )?;
        lost.extend(self.transaction.query(
            "SELECT x.number, x.entity FROM entity_mentions x WHERE x.tenant = $1
             AND (NOT EXISTS (SELECT 1 FROM entities e WHERE e.tenant = x.tenant AND e.number = x.entity)
                  OR NOT EXISTS (SELECT 1 FROM memories m WHERE m.tenant = x.tenant AND m.number = x.number))
             ORDER BY x.number, x.entity",
            params![self.tenant],
            |row| Ok(format!("mention of entity #{} by #{}", row.get::<i64>(1)?, row.get::<i64>(0)?)),
        )?);
        Ok(lost)
    }
}

impl LedgerWrite<'_> {
    /// Links a memory to an entity; what was stated is not made less by what was noticed.
    pub fn add_mention(&self, mention: &Mention) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO entity_mentions (tenant, number, entity, origin, confidence) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (tenant, number, entity) DO UPDATE SET origin = excluded.origin,
                 confidence = excluded.confidence
             WHERE entity_mentions.origin = 'inferred'",
            params![self.tenant, mention.memory, mention.entity, mention.origin.as_str(), mention.confidence],
        )?;
        Ok(())
    }

    /// Gives the links that somebody stated for one memory to another: the version that replaces it.
    pub fn carry_stated_mentions(&self, from: i64, to: i64) -> Result<(), StoreError> {
        self.transaction.post(
            "INSERT INTO entity_mentions (tenant, number, entity, origin, confidence)
             SELECT tenant, $3, entity, origin, confidence FROM entity_mentions
             WHERE tenant = $1 AND number = $2 AND origin = 'stated'
             ON CONFLICT (tenant, number, entity) DO UPDATE SET origin = 'stated', confidence = excluded.confidence",
            params![self.tenant, from, to],
        )?;
        Ok(())
    }

    /// Removes the mentions of a memory, and the entities that nobody stated and nothing else mentions.
    pub(super) fn purge_mentions(&self, memory: i64) -> Result<(), StoreError> {
        let orphans = self.transaction.query(
            "SELECT e.number FROM entity_mentions x JOIN entities e ON e.tenant = x.tenant AND e.number = x.entity
             WHERE x.tenant = $1 AND x.number = $2 AND e.origin = 'inferred'
             AND NOT EXISTS (SELECT 1 FROM entity_mentions o WHERE o.tenant = x.tenant AND o.entity = x.entity
                             AND o.number <> x.number)",
            params![self.tenant, memory],
            |row| row.get::<i64>(0),
        )?;
        self.transaction.post(
            "DELETE FROM entity_mentions WHERE tenant = $1 AND number = $2",
            params![self.tenant, memory],
        )?;
        orphans.into_iter().try_for_each(|number| self.erase_entity(number))
    }
}
