//! Raw events, kept as they came: session turns and tool results.

use std::collections::{HashMap, HashSet};

use strata_core::{
    id::{Id, PartialId},
    scope::Scope,
    time::{TimeRange, Timestamp},
};

use super::{LedgerRead, LedgerWrite, NewAudit, Seq, filter::Conditions, memories::scope_from};
use crate::{
    error::{Conflict, StoreError},
    params,
    rows::{LIST, Rows, listed, padded},
    sql::{Param, Row},
};

/// An event to be stored.
#[derive(Debug, Clone)]
pub struct NewEpisode {
    /// Its id, drawn by the caller.
    pub id: Id,
    /// The id it has where it came from.
    pub external_id: Option<String>,
    /// The session it belongs to.
    pub session: String,
    /// When it happened.
    pub at: Timestamp,
    /// Who spoke; empty if nobody in particular.
    pub speaker: String,
    /// `user`, `assistant`, `tool`, ...
    pub role: String,
    /// The text, verbatim.
    pub text: String,
    /// A JSON object, as text.
    pub metadata: String,
    /// Where it belongs.
    pub scope: Scope,
    /// What it came from: an importer, a hook, a file.
    pub source: String,
    /// Who wrote it: a principal, as text.
    pub writer: String,
    /// Sixteen random bytes. They salt its digest and are destroyed by a purge.
    pub salt: [u8; 16],
}

/// What became of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeInsert {
    /// Its number, or that of the equal one that was there.
    pub number: i64,
    /// Its id, or that of the equal one that was there.
    pub id: String,
    /// False if it was there already.
    pub added: bool,
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeRow {
    /// Its number. Within a session, events are ordered by time, then number.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// The id it has where it came from.
    pub external_id: Option<String>,
    /// The session it belongs to.
    pub session: String,
    /// When it happened.
    pub at: Timestamp,
    /// Who spoke; empty if nobody in particular.
    pub speaker: String,
    /// `user`, `assistant`, `tool`, ...
    pub role: String,
    /// The text.
    pub text: String,
    /// A JSON object, as text.
    pub metadata: String,
    /// Where it belongs.
    pub scope: Scope,
    /// What it came from.
    pub source: String,
    /// Who wrote it.
    pub writer: String,
    /// The change that stored it.
    pub seq: i64,
}

/// Which events to list. Options that are `None` do not restrict.
#[derive(Debug, Clone)]
pub struct EpisodeFilter {
    /// What a reader standing here sees.
    pub visible_from: Option<Scope>,
    /// Only events of exactly this scope.
    pub exactly: Option<Scope>,
    /// Only this session.
    pub session: Option<String>,
    /// Only this source.
    pub source: Option<String>,
    /// Happened in this time.
    pub at: TimeRange,
    /// Only numbers above this: the next page.
    pub after: i64,
    /// At most this many.
    pub limit: usize,
}

impl Default for EpisodeFilter {
    fn default() -> Self {
        Self {
            visible_from: None,
            exactly: None,
            session: None,
            source: None,
            at: TimeRange::ALL,
            after: 0,
            limit: 50,
        }
    }
}

/// A session and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Where it belongs; branches are not told apart.
    pub scope: Scope,
    /// Its name.
    pub session: String,
    /// The first event.
    pub first_at: Timestamp,
    /// The last event.
    pub last_at: Timestamp,
    /// How many events.
    pub events: i64,
}

pub(super) const COLUMNS: &str = "number, id, external_id, session, at, speaker, role, text, metadata, namespace, project, \
                       branch, source, writer, seq";

const EPISODES: Rows = Rows::new(
    "INSERT INTO episodes (tenant, number, id, external_id, session, at, speaker, role, text, metadata, namespace,
         project, branch, source, writer, seq, content_key, salt, digest)",
    19,
);

impl LedgerRead<'_> {
    /// The event with this number.
    pub fn episode_by_number(&self, number: i64) -> Result<Option<EpisodeRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM episodes WHERE tenant = $1 AND number = $2");
        self.transaction.query_one(&sql, params![self.tenant, number], episode_from)
    }

    /// The events with these numbers, in no order; numbers that name none are left out.
    pub fn episodes_by_numbers(&self, numbers: &[i64]) -> Result<Vec<EpisodeRow>, StoreError> {
        let mut found = Vec::with_capacity(numbers.len());
        for chunk in numbers.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let list = listed(&mut values, padded(chunk).copied());
            let sql = format!("SELECT {COLUMNS} FROM episodes WHERE tenant = $1 AND number IN ({list})");
            found.extend(self.transaction.query(&sql, &values, episode_from)?);
        }
        Ok(found)
    }

    /// The event with this whole id.
    pub fn episode(&self, id: &str) -> Result<Option<EpisodeRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM episodes WHERE tenant = $1 AND id = $2");
        self.transaction.query_one(&sql, params![self.tenant, id], episode_from)
    }

    /// The one event whose id begins so, of those seen from `reader`; of all without one. None is `NotFound`;
    /// several are `Ambiguous`, with candidates.
    pub fn episode_by_prefix(
        &self,
        prefix: &PartialId,
        reader: Option<&Scope>,
    ) -> Result<EpisodeRow, StoreError> {
        let missing = || StoreError::NotFound { what: "episode", key: prefix.text.clone() };
        let ids = self.ids_with_prefix("episodes", &prefix.text, reader)?;
        match ids.as_slice() {
            [] => Err(missing()),
            [id] => self.episode(id)?.ok_or_else(missing),
            _ => Err(StoreError::Ambiguous { prefix: prefix.text.clone(), candidates: ids }),
        }
    }

    /// Lists events by number, oldest first.
    pub fn episodes(&self, filter: &EpisodeFilter) -> Result<Vec<EpisodeRow>, StoreError> {
        let mut all = Conditions::new("tenant", self.tenant);
        all.and("number >", filter.after, "");
        if let Some(scope) = &filter.visible_from {
            all.visible_from("", scope);
        }
        if let Some(scope) = &filter.exactly {
            all.exactly("", scope);
        }
        all.any_of("session", filter.session.as_deref());
        all.any_of("source", filter.source.as_deref());
        all.within("at", &filter.at);
        all.sql.push_str(" ORDER BY number");
        all.limit(filter.limit);
        let sql = format!("SELECT {COLUMNS} FROM episodes WHERE {}", all.sql);
        self.transaction.query(&sql, &all.params, episode_from)
    }

    /// The events around one in its session, itself included, in order: up to `before` earlier ones
    /// and up to `after` later ones.
    pub fn session_neighbours(
        &self,
        episode: &EpisodeRow,
        before: usize,
        after: usize,
    ) -> Result<Vec<EpisodeRow>, StoreError> {
        let mut around = self.beside(episode, "<", "DESC", before)?;
        around.reverse();
        around.push(episode.clone());
        around.extend(self.beside(episode, ">", "ASC", after)?);
        Ok(around)
    }

    fn beside(
        &self,
        episode: &EpisodeRow,
        side: &str,
        order: &str,
        limit: usize,
    ) -> Result<Vec<EpisodeRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM episodes
             WHERE tenant = $1 AND namespace = $2 AND project = $3 AND session = $4
               AND (at, number) {side} ($5, $6)
             ORDER BY at {order}, number {order} LIMIT $7"
        );
        let params = params![
            self.tenant,
            &episode.scope.namespace,
            episode.scope.project.as_deref().unwrap_or(""),
            &episode.session,
            episode.at,
            episode.number,
            i64::try_from(limit).unwrap_or(i64::MAX)
        ];
        self.transaction.query(&sql, params, episode_from)
    }

    /// The sessions that a reader standing in `scope` sees, latest first.
    pub fn sessions(&self, scope: &Scope, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        let mut all = Conditions::new("tenant", self.tenant);
        all.visible_from("", scope);
        all.sql.push_str(
            " GROUP BY namespace, project, session ORDER BY max(at) DESC, namespace, project, session",
        );
        all.limit(limit);
        let sql = format!(
            "SELECT namespace, project, '', session, min(at), max(at), count(*) FROM episodes WHERE {}",
            all.sql
        );
        self.transaction.query(&sql, &all.params, |row| {
            Ok(SessionRow {
                scope: scope_from(row, 0)?,
                session: row.get(3)?,
                first_at: row.get(4)?,
                last_at: row.get(5)?,
                events: row.get(6)?,
            })
        })
    }
}

impl LedgerWrite<'_> {
    /// Stores events under an audit row like `row`, with the hash over what it stores, and says what became of
    /// each, in order. Without a new one among them nothing is put on record.
    ///
    /// An event equals another of the same namespace and project if source, session and external id
    /// agree or, without an external id, session, time, speaker, role and text. Equal ones are not
    /// stored again.
    pub fn store_episodes(
        &self,
        new: &[NewEpisode],
        row: &NewAudit<'_>,
    ) -> Result<Vec<EpisodeInsert>, StoreError> {
        let keys = self.episode_keys(new)?;
        let mut known = self.episodes_with_keys(&keys)?;
        let mut number = self.next_number("episodes", "episode")?;
        let mut fresh = Vec::new();
        let mut outcomes = Vec::with_capacity(new.len());
        for (episode, key) in new.iter().zip(&keys) {
            if let Some((number, id)) = known.get(key) {
                outcomes.push(EpisodeInsert { number: *number, id: id.clone(), added: false });
                continue;
            }
            let id = episode.id.to_string();
            fresh.push((number, episode, key));
            known.insert(*key, (number, id.clone()));
            outcomes.push(EpisodeInsert { number, id, added: true });
            number += 1;
        }
        self.insert_fresh(&fresh, row)?;
        Ok(outcomes)
    }

    /// Inserts events that are not there yet, with their numbers and keys, under an audit row like `row`.
    fn insert_fresh(
        &self,
        fresh: &[(i64, &NewEpisode, &[u8; 32])],
        row: &NewAudit<'_>,
    ) -> Result<(), StoreError> {
        if fresh.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = fresh.iter().map(|(_, episode, _)| episode.id.as_str()).collect();
        let mut used = self.used_ids("episodes", &ids)?;
        if let Some(id) = ids.into_iter().find(|id| !used.insert((*id).to_owned())) {
            return Err(Conflict::IdTaken { id: id.to_owned() }.into());
        }
        let digests: Vec<[u8; 32]> = fresh.iter().map(|(_, episode, _)| episode.digest()).collect();
        let seq = self.place(self.record(&row.clone().storing(digests.clone()))?)?;
        let mut values = Vec::new();
        for ((number, episode, key), digest) in fresh.iter().zip(&digests) {
            self.add_values(&mut values, *number, episode, (key, digest), seq);
        }
        EPISODES.write(self.transaction, &values)
    }

    /// What [`Self::store_episodes`] would say. An event that is not
    /// stored yet has the number 0; a repetition within `new` counts as known.
    pub fn known_episodes(&self, new: &[NewEpisode]) -> Result<Vec<EpisodeInsert>, StoreError> {
        let keys = self.episode_keys(new)?;
        let known = self.episodes_with_keys(&keys)?;
        let mut unknown = HashSet::new();
        let outcome = |(episode, key): (&NewEpisode, &[u8; 32])| match known.get(key) {
            Some((number, id)) => EpisodeInsert { number: *number, id: id.clone(), added: false },
            None => EpisodeInsert { number: 0, id: episode.id.to_string(), added: unknown.insert(*key) },
        };
        Ok(new.iter().zip(&keys).map(outcome).collect())
    }

    fn episode_keys(&self, episodes: &[NewEpisode]) -> Result<Vec<[u8; 32]>, StoreError> {
        episodes.iter().map(|episode| self.episode_key(episode)).collect()
    }

    /// The key under which an event is found again: equal events have the same.
    pub fn episode_key(&self, episode: &NewEpisode) -> Result<[u8; 32], StoreError> {
        let project = episode.scope.project.as_deref().unwrap_or("");
        let place = [episode.scope.namespace.as_str(), project, episode.session.as_str()];
        let at = episode.at.0.to_string();
        match &episode.external_id {
            Some(external) => {
                self.fingerprint(&[place[0], place[1], place[2], "external", &episode.source, external])
            }
            None => self.fingerprint(&[
                place[0],
                place[1],
                place[2],
                "content",
                &at,
                &episode.speaker,
                &episode.role,
                &episode.text,
            ]),
        }
    }

    /// The numbers and ids of the stored events that have one of `keys`.
    pub fn episodes_with_keys(
        &self,
        keys: &[[u8; 32]],
    ) -> Result<HashMap<[u8; 32], (i64, String)>, StoreError> {
        let mut found = HashMap::new();
        for chunk in keys.chunks(LIST) {
            let mut values = vec![self.tenant.into()];
            let list = listed(&mut values, padded(chunk));
            let sql = format!(
                "SELECT content_key, number, id FROM episodes WHERE tenant = $1 AND content_key IN ({list})"
            );
            found
                .extend(self.transaction.query(&sql, &values, |row| {
                    Ok((self.hash(row.blob(0)?)?, (row.get(1)?, row.get(2)?)))
                })?);
        }
        Ok(found)
    }

    pub(super) fn insert_episodes(
        &self,
        episodes: &[(i64, &NewEpisode, [u8; 32])],
        seq: Seq,
    ) -> Result<(), StoreError> {
        let seq = self.place(seq)?;
        let digests: Vec<[u8; 32]> = episodes.iter().map(|(_, episode, _)| episode.digest()).collect();
        let mut values = Vec::new();
        for ((number, episode, key), digest) in episodes.iter().zip(&digests) {
            self.add_values(&mut values, *number, episode, (key, digest), seq);
        }
        EPISODES.write(self.transaction, &values)
    }

    /// Adds the row of an event.
    fn add_values<'p>(
        &'p self,
        values: &mut Vec<Param<'p>>,
        number: i64,
        episode: &'p NewEpisode,
        (key, digest): (&'p [u8; 32], &'p [u8; 32]),
        seq: i64,
    ) {
        values.extend_from_slice(params![
            self.tenant,
            number,
            episode.id.as_str(),
            episode.external_id.as_deref(),
            &episode.session,
            episode.at,
            &episode.speaker,
            &episode.role,
            &episode.text,
            &episode.metadata,
            &episode.scope.namespace,
            episode.scope.project.as_deref().unwrap_or(""),
            episode.scope.branch.as_deref().unwrap_or(""),
            &episode.source,
            &episode.writer,
            seq,
            key,
            &episode.salt,
            digest
        ]);
    }
}

pub(super) fn episode_from(row: &Row<'_>) -> Result<EpisodeRow, StoreError> {
    Ok(EpisodeRow {
        number: row.get(0)?,
        id: row.get(1)?,
        external_id: row.get(2)?,
        session: row.get(3)?,
        at: row.get(4)?,
        speaker: row.get(5)?,
        role: row.get(6)?,
        text: row.get(7)?,
        metadata: row.get(8)?,
        scope: scope_from(row, 9)?,
        source: row.get(12)?,
        writer: row.get(13)?,
        seq: row.get(14)?,
    })
}
