//! What a caller asks of a recall, checked.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_core::{
    memory::{Kind, Layer},
    scope::Scope,
    time::{TimeRange, Timestamp, parse_range},
};
use strata_store::index::SourceKind;

use super::search::{Floor, Query};
use crate::{
    engine::Engine, error::Error, gate::MAX_ENTRIES, memory::remember::LayerName, operation::Call,
    project::storable,
};

/// Most results that one call returns.
pub const MAX_LIMIT: u32 = 100;

/// What to look for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// What you want to know, in plain words or keywords, in any language. Any text is safe.
    pub query: String,
    /// At most this many results, 1 to 100. Default 10.
    pub limit: Option<u32>,
    /// Only these layers.
    #[serde(default)]
    pub layers: Vec<LayerName>,
    /// Only these kinds, e.g. decision, incident.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// Only these sources: memory (what was remembered), episode (raw turns), document (indexed files).
    #[serde(default)]
    pub sources: Vec<SourceName>,
    /// Only memories with all of these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Only what comes from this session.
    pub session: Option<String>,
    /// How far to look; here by default.
    pub scope: Option<Reach>,
    /// Also see what belongs to this branch of the project.
    pub branch: Option<String>,
    /// Nothing older than this day or instant, e.g. 2026-03-01.
    pub since: Option<String>,
    /// Nothing newer than this day (whole) or instant.
    pub until: Option<String>,
    /// As the memory was at the end of that day or at that instant.
    pub as_of: Option<String>,
    /// Only what was true on that day or at that instant.
    pub valid_at: Option<String>,
    /// Show for each hit how its score came about, and the best near misses.
    pub explain: Option<bool>,
    /// Also show one other memory by chance. Default false: the same question has the same answer.
    pub serendipity: Option<bool>,
    /// Most tokens of the answer. Default 2000, at most 8000.
    pub budget_tokens: Option<u32>,
    /// Search by words alone, without meaning.
    pub no_semantic: Option<bool>,
}

/// The sources by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceName {
    /// What was remembered.
    Memory,
    /// Raw turns.
    Episode,
    /// Indexed files.
    Document,
}

/// How far a recall looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// this project and the user level
    Here,
    /// the user level only
    User,
}

impl Request {
    /// Checks the request and turns it into a search.
    pub fn to_query(&self, engine: &Engine, call: &Call<'_>) -> Result<Query, Error> {
        if self.query.trim().is_empty() {
            let hint = "say what you look for; `context` without a query shows the newest memories";
            return Err(Error::argument("query", "is empty", hint));
        }
        let zone = &engine.settings().zone;
        let moment = |field: &str, text: &Option<String>| {
            text.as_deref().map(|t| parse_range(t, zone).map_err(|e| Error::parse(field, &e))).transpose()
        };
        let (since, until) = (moment("since", &self.since)?, moment("until", &self.until)?);
        let time = TimeRange {
            from: since.map_or(TimeRange::ALL.from, |r| r.from),
            to: until.map_or(TimeRange::ALL.to, |r| r.to),
        };
        if time.from >= time.to {
            return Err(Error::argument("until", "lies before `since`", "swap the two"));
        }
        self.check_lists()?;
        Ok(Query {
            text: self.query.clone(),
            scope: self.standing(call.scope),
            layers: self.layers.iter().map(|l| Layer::from(*l)).collect(),
            kinds: self
                .kinds
                .iter()
                .map(|k| Kind::parse(k).map_err(|e| Error::parse("kinds", &e)))
                .collect::<Result<_, _>>()?,
            sources: self.sources.iter().map(|s| s.kind()).collect(),
            tags: self.tags.clone(),
            session: self.session.clone(),
            time,
            as_of: moment("as_of", &self.as_of)?.map(|r| Timestamp(r.to.0.saturating_sub(1))),
            valid_at: moment("valid_at", &self.valid_at)?.map(|r| r.from),
            floor: Floor::Answer,
            words_only: self.no_semantic.unwrap_or(false),
            limit: self.limit(engine)?,
        })
    }

    /// A filter longer than anything that is stored names nothing more, and databases read only so many values.
    fn check_lists(&self) -> Result<(), Error> {
        let lists = [
            ("layers", self.layers.len()),
            ("kinds", self.kinds.len()),
            ("sources", self.sources.len()),
            ("tags", self.tags.len()),
        ];
        match lists.into_iter().find(|(_, given)| *given > MAX_ENTRIES) {
            None => Ok(()),
            Some((field, given)) => {
                let message = format!("has {given} entries; at most {MAX_ENTRIES} are looked for");
                Err(Error::argument(field, message, "name fewer"))
            }
        }
    }

    fn limit(&self, engine: &Engine) -> Result<usize, Error> {
        let limit = self.limit.unwrap_or(engine.settings().config.recall.limit);
        if limit == 0 {
            return Err(Error::argument("limit", "0 asks for nothing", format!("send 1 to {MAX_LIMIT}")));
        }
        Ok(limit.min(MAX_LIMIT) as usize)
    }

    fn standing(&self, standing: &Scope) -> Scope {
        let here = match self.scope {
            None | Some(Reach::Here) => standing.clone(),
            Some(Reach::User) => Scope { project: None, branch: None, ..standing.clone() },
        };
        match &self.branch {
            Some(branch) => Scope { branch: Some(storable(branch)), ..here },
            None => here,
        }
    }

    /// The limit that was asked for, where it is above the highest.
    pub fn beyond_limit(&self) -> Option<u32> {
        self.limit.filter(|limit| *limit > MAX_LIMIT)
    }

    /// Whether anything but the query narrows the search.
    pub fn is_filtered(&self) -> bool {
        !self.layers.is_empty()
            || !self.kinds.is_empty()
            || !self.sources.is_empty()
            || !self.tags.is_empty()
            || self.session.is_some()
            || self.since.is_some()
            || self.until.is_some()
            || self.valid_at.is_some()
            || self.scope == Some(Reach::User)
    }
}

impl SourceName {
    /// The index's word for it.
    pub fn kind(self) -> SourceKind {
        match self {
            Self::Memory => SourceKind::Memory,
            Self::Episode => SourceKind::Episode,
            Self::Document => SourceKind::Document,
        }
    }
}
