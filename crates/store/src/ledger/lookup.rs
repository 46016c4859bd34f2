//! Finding memories by what names them: id, prefix, number, topic, content.

use std::collections::{BTreeMap, HashMap, HashSet};

use strata_core::{id::PartialId, scope::Scope, time::Timestamp};

use super::{
    LedgerRead, LedgerWrite, MemoryRow,
    filter::Conditions,
    memories::{STATE_COLUMNS, TEXT_COLUMNS, missing},
};
use crate::{
    error::{Conflict, StoreError},
    params,
    rows::{LIST, listed, padded},
    sql::{Param, Row},
};

/// How many candidates an ambiguous prefix lists.
pub(super) const CANDIDATES: usize = 10;
/// Behind a prefix, what sorts after all ids that begin so: those are ASCII letters, digits and `_`.
pub(super) const BEHIND_IDS: char = '~';
/// The rows that default recall may show; the same words as the partial indexes of the schema.
const LIVE: &str = "m.status IN ('active', 'stale', 'needs_review')";

/// A memory that shares fingerprints with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BandHit {
    /// The memory.
    pub number: i64,
    /// How many bands they share.
    pub shared: usize,
}

impl LedgerRead<'_> {
    /// The memory with this whole id.
    pub fn memory(&self, id: &str) -> Result<Option<MemoryRow>, StoreError> {
        self.one("m.id = $2", params![self.tenant, id])
    }

    /// The memory with this number.
    pub fn memory_by_number(&self, number: i64) -> Result<Option<MemoryRow>, StoreError> {
        self.one("m.number = $2", params![self.tenant, number])
    }

    /// The memories with these numbers, in the order given; numbers that name none are left out.
    pub fn memories_by_numbers(&self, numbers: &[i64]) -> Result<Vec<MemoryRow>, StoreError> {
        let mut found = HashMap::with_capacity(numbers.len());
        for chunk in numbers.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let sql = select(&format!("m.number IN ({})", listed(&mut values, padded(chunk).copied())));
            let rows = self.transaction.query(&sql, &values, |row| self.memory_from(row))?;
            found.extend(rows.into_iter().map(|row| (row.number, row)));
        }
        Ok(numbers.iter().filter_map(|number| found.get(number).cloned()).collect())
    }

    /// The memories of any status that belong directly under one of `parents` and lie in the same project of the same
    /// namespace, on any branch of it; oldest first.
    pub fn children(&self, of: &Scope, parents: &[&str]) -> Result<Vec<MemoryRow>, StoreError> {
        let mut found = Vec::new();
        for chunk in parents.chunks(LIST) {
            let mut values =
                params![self.tenant, &of.namespace, of.project.as_deref().unwrap_or("")].to_vec();
            let list = listed(&mut values, padded(chunk).copied());
            let sql = select(&format!("m.namespace = $2 AND m.project = $3 AND m.parent IN ({list})"));
            found.extend(self.transaction.query(&sql, &values, |row| self.memory_from(row))?);
        }
        found.sort_by_key(|row| (row.created_at, row.number));
        Ok(found)
    }

    /// Those of `numbers` that name a memory in force.
    pub fn live_among(&self, numbers: &[i64]) -> Result<HashSet<i64>, StoreError> {
        let mut live = HashSet::new();
        for chunk in numbers.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let list = listed(&mut values, padded(chunk).copied());
            let sql = format!(
                "SELECT m.number FROM memories m WHERE m.tenant = $1 AND {LIVE} AND m.number IN ({list})"
            );
            live.extend(self.transaction.query(&sql, &values, |row| row.get::<i64>(0))?);
        }
        Ok(live)
    }

    /// The one memory whose id begins so, of those seen from `reader`; of all without one. None is `NotFound`;
    /// several are `Ambiguous`, with candidates.
    pub fn memory_by_prefix(
        &self,
        prefix: &PartialId,
        reader: Option<&Scope>,
    ) -> Result<MemoryRow, StoreError> {
        let ids = self.ids_with_prefix("memories", &prefix.text, reader)?;
        match ids.as_slice() {
            [] => Err(missing(&prefix.text)),
            [id] => self.memory(id)?.ok_or_else(|| missing(id)),
            _ => Err(StoreError::Ambiguous { prefix: prefix.text.clone(), candidates: ids }),
        }
    }

    /// The live memory of exactly this scope that holds the topic.
    pub fn live_by_topic(&self, scope: &Scope, topic: &str) -> Result<Option<MemoryRow>, StoreError> {
        self.live_in(scope, "m.topic_key = $5", topic.into())
    }

    /// The live memory of exactly this scope with the content key.
    pub fn live_by_content(&self, scope: &Scope, key: &[u8; 32]) -> Result<Option<MemoryRow>, StoreError> {
        self.live_in(scope, "m.content_key = $5", key.into())
    }

    /// Every memory with the content key, in any scope and status, oldest first.
    pub fn by_content(&self, key: &[u8; 32]) -> Result<Vec<MemoryRow>, StoreError> {
        let sql = select("m.content_key = $2 ORDER BY m.number");
        self.transaction.query(&sql, params![self.tenant, key], |row| self.memory_from(row))
    }

    /// Memories that were put into the trash before `before`, by number, at most `limit`.
    pub fn trashed_before(&self, before: Timestamp, limit: usize) -> Result<Vec<MemoryRow>, StoreError> {
        let sql = select(
            "m.status = 'trashed' AND EXISTS (SELECT 1 FROM audit a
                 WHERE a.tenant = m.tenant AND a.seq = m.state_seq AND a.at < $2)
             ORDER BY m.number LIMIT $3",
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.transaction.query(&sql, params![self.tenant, before, limit], |row| self.memory_from(row))
    }

    /// Numbers of the memories, of any scope and status, that come from `session` and have all of `tags`.
    pub fn memories_marked(&self, session: Option<&str>, tags: &[String]) -> Result<Vec<i64>, StoreError> {
        let mut sql = "SELECT m.number FROM memories m WHERE m.tenant = $1".to_owned();
        let mut params: Vec<Param<'_>> = vec![self.tenant.into()];
        if let Some(session) = session {
            params.push(session.into());
            sql.push_str(&format!(" AND m.session = ${}", params.len()));
        }
        for tag in tags {
            params.push(tag.as_str().into());
            let tagged = "SELECT number FROM memory_tags WHERE tenant = $1 AND tag";
            sql.push_str(&format!(" AND m.number IN ({tagged} = ${})", params.len()));
        }
        self.transaction.query(&sql, &params, |row| row.get(0))
    }

    /// Numbers of the events of `session` in one collection.
    pub fn episodes_of_session(
        &self,
        (namespace, project): (&str, &str),
        session: &str,
    ) -> Result<Vec<i64>, StoreError> {
        self.transaction.query(
            "SELECT number FROM episodes WHERE tenant = $1 AND namespace = $2 AND project = $3 AND session = $4",
            params![self.tenant, namespace, project, session],
            |row| row.get(0),
        )
    }

    /// The live memories seen from `scope` that share at least one band, those that share most first, at most
    /// `limit`.
    pub fn by_bands(&self, bands: &[i64], scope: &Scope, limit: usize) -> Result<Vec<BandHit>, StoreError> {
        let mut shared = BTreeMap::<i64, usize>::new();
        for chunk in bands.chunks(LIST) {
            let mut all = Conditions::new("b.tenant", self.tenant);
            all.any_of("b.band", padded(chunk).copied());
            all.visible_from("m.", scope);
            let sql = format!(
                "SELECT b.number FROM bands b JOIN memories m ON m.tenant = b.tenant AND m.number = b.number
                 WHERE {} AND {LIVE}",
                all.sql
            );
            self.transaction.for_each(&sql, &all.params, |row| {
                *shared.entry(row.get(0)?).or_default() += 1;
                Ok(())
            })?;
        }
        let mut hits: Vec<_> =
            shared.into_iter().map(|(number, shared)| BandHit { number, shared }).collect();
        hits.sort_by_key(|hit| (std::cmp::Reverse(hit.shared), hit.number));
        hits.truncate(limit);
        Ok(hits)
    }

    /// The memory with this number, which the caller knows to exist.
    pub(super) fn existing(&self, number: i64) -> Result<MemoryRow, StoreError> {
        self.memory_by_number(number)?.ok_or_else(|| missing(&format!("#{number}")))
    }

    /// The ids of `table` that begin with `prefix` and are seen from `reader`, at most [`CANDIDATES`].
    pub(super) fn ids_with_prefix(
        &self,
        table: &'static str,
        prefix: &str,
        reader: Option<&Scope>,
    ) -> Result<Vec<String>, StoreError> {
        let end = format!("{prefix}{BEHIND_IDS}");
        let mut all = Conditions::new("tenant", self.tenant);
        all.and("id >=", prefix, "");
        all.and("id <", &end, "");
        if let Some(scope) = reader {
            all.visible_from("", scope);
        }
        let sql = format!("SELECT id FROM {table} WHERE {} ORDER BY id LIMIT {CANDIDATES}", all.sql);
        self.transaction.query(&sql, &all.params, |row: &Row<'_>| row.get(0))
    }

    fn live_in(
        &self,
        scope: &Scope,
        condition: &str,
        key: Param<'_>,
    ) -> Result<Option<MemoryRow>, StoreError> {
        let condition =
            format!("m.namespace = $2 AND m.project = $3 AND m.branch = $4 AND {condition} AND {LIVE}");
        let project = scope.project.as_deref().unwrap_or("");
        let branch = scope.branch.as_deref().unwrap_or("");
        let params = [self.tenant.into(), (&scope.namespace).into(), project.into(), branch.into(), key];
        self.one(&condition, &params)
    }

    fn one(&self, condition: &str, params: &[Param<'_>]) -> Result<Option<MemoryRow>, StoreError> {
        self.transaction.query_one(&select(condition), params, |row| self.memory_from(row))
    }
}

impl LedgerWrite<'_> {
    /// Fails if the id names a row of `table` or something that was purged.
    pub(super) fn refuse_used_id(&self, table: &'static str, id: &str) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT 1 FROM {table} WHERE tenant = $1 AND id = $2
             UNION ALL SELECT 1 FROM tombstones WHERE tenant = $1 AND id = $2 LIMIT 1"
        );
        match self.transaction.query_one(&sql, params![self.tenant, id], |_| Ok(()))? {
            Some(()) => Err(Conflict::IdTaken { id: id.to_owned() }.into()),
            None => Ok(()),
        }
    }

    /// Those of `ids` that name a row of `table` or something that was purged.
    pub(super) fn used_ids(&self, table: &'static str, ids: &[&str]) -> Result<HashSet<String>, StoreError> {
        let mut used = HashSet::new();
        for chunk in ids.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let list = listed(&mut values, padded(chunk).copied());
            let sql = format!(
                "SELECT id FROM {table} WHERE tenant = $1 AND id IN ({list})
                 UNION ALL SELECT id FROM tombstones WHERE tenant = $1 AND id IN ({list})"
            );
            used.extend(self.transaction.query(&sql, &values, |row| row.get::<String>(0))?);
        }
        Ok(used)
    }
}

fn select(condition: &str) -> String {
    format!("SELECT {TEXT_COLUMNS}, {STATE_COLUMNS} FROM memories m WHERE m.tenant = $1 AND {condition}")
}
