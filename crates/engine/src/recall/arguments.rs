//! What a caller asks of a recall, checked.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_core::{
    memory::{Kind, Layer},
    scope::Scope,
    time::Timestamp,
};
use strata_store::index::SourceKind;

use super::{
    focus::Focus,
    search::{Floor, Query},
};
use crate::{
    engine::Engine,
    error::Error,
    gate::MAX_ENTRIES,
    memory::remember::LayerName,
    operation::Call,
    project::storable,
    request::{moment, period},
};

/// Most results that one call returns.
pub const MAX_LIMIT: u32 = 100;
/// Most tokens of an answer.
pub const MAX_BUDGET: u32 = 8_000;

/// What to look for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// What you want to know, in plain words or keywords, in any language. Any text is safe.
    pub query: String,
    /// At most this many results, 1 to 100. Default 10.
    #[schemars(range(min = 1, max = MAX_LIMIT))]
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
    /// Most tokens of the answer, at most 8000. Default 2000.
    #[schemars(range(min = 1, max = MAX_BUDGET))]
    pub budget_tokens: Option<u32>,
    /// Search by words alone, without meaning.
    pub no_semantic: Option<bool>,
    /// Files that you work on: what is about them comes first.
    #[serde(default)]
    pub files: Vec<String>,
    /// Functions or types that you work on: what is about them comes first.
    #[serde(default)]
    pub symbols: Vec<String>,
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
        let as_of = moment(zone, "as_of", self.as_of.as_deref())?;
        let valid_at = moment(zone, "valid_at", self.valid_at.as_deref())?;
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
            time: period(zone, self.since.as_deref(), self.until.as_deref())?,
            as_of: as_of.map(|range| Timestamp(range.to.0.saturating_sub(1))),
            valid_at: valid_at.map(|range| range.from),
            floor: Floor::Answer,
            words_only: self.no_semantic.unwrap_or(false),
            knowledge: false,
            only: None,
            here: false,
            focus: Focus::on(&self.files, &self.symbols, None, None),
            fusion: None,
            limit: self.limit(engine),
        })
    }

    /// A filter longer than anything that is stored names nothing more, and databases read only so many values.
    fn check_lists(&self) -> Result<(), Error> {
        let lists = [
            ("layers", self.layers.len()),
            ("kinds", self.kinds.len()),
            ("sources", self.sources.len()),
            ("tags", self.tags.len()),
            ("files", self.files.len()),
            ("symbols", self.symbols.len()),
        ];
        match lists.into_iter().find(|(_, given)| *given > MAX_ENTRIES) {
            None => Ok(()),
            Some((field, given)) => {
                let message = format!("has {given} entries; at most {MAX_ENTRIES} are looked for");
                Err(Error::argument(field, message, "name fewer"))
            }
        }
    }

    fn limit(&self, engine: &Engine) -> usize {
        // What the configuration says comes by no schema.
        let usual = engine.settings().config.recall.limit.clamp(1, MAX_LIMIT);
        self.limit.unwrap_or(usual) as usize
    }

    fn standing(&self, standing: &Scope) -> Scope {
        let here = match self.scope {
            None | Some(Reach::Here) => standing.clone(),
            Some(Reach::User) => Scope { project: None, ..standing.whole_project() },
        };
        match &self.branch {
            Some(branch) => Scope { branch: Some(storable(branch)), ..here },
            None => here,
        }
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
