//! The one search: analyse, follow the ledger, rank, join to truth.

use std::collections::HashSet;

use strata_core::{
    analysis::{self, QueryContext},
    memory::{Kind, Layer},
    rank::{Fusion, RrfBoosts, Settings as RankSettings, Weights},
    scope::Scope,
    time::{TimeRange, Timestamp},
};
use strata_store::{
    error::StoreError,
    index::{self, CollectionKey, Filter, Found, Index, Prepared, QueryVector, Source, SourceKind},
    ledger::LedgerRead,
    sql::Control,
};

use super::{
    focus::{self, Focus, Nearness},
    item::{Item, Known},
    seed_order::{self, Rerank},
};
use crate::{
    engine::Engine,
    error::Error,
    knowledge::vault,
    operation::Call,
    project::{
        anchors::{self, AnchorView, Freshness},
        layout::human,
    },
    settings,
};

/// A checked search.
#[derive(Debug, Clone)]
pub struct Query {
    /// What is asked.
    pub text: String,
    /// Where the reader stands.
    pub scope: Scope,
    /// Only these layers; empty is all. So for the next three.
    pub layers: Vec<Layer>,
    /// Only these kinds.
    pub kinds: Vec<Kind>,
    /// Only these sorts of source.
    pub sources: Vec<SourceKind>,
    /// All of these tags.
    pub tags: Vec<String>,
    /// Only this session.
    pub session: Option<String>,
    /// What happened in this range.
    pub time: TimeRange,
    /// As the memory was at this instant.
    pub as_of: Option<Timestamp>,
    /// What was true at this instant.
    pub valid_at: Option<Timestamp>,
    /// How much evidence a result needs.
    pub floor: Floor,
    /// Whether meaning takes no part: words alone.
    pub words_only: bool,
    /// Whether rules and what lies in P0 and P1 are left out.
    pub knowledge: bool,
    /// Only these, where the caller knows which may be found.
    pub only: Option<HashSet<Source>>,
    /// Whether only what belongs to the project itself is searched, and nothing of the levels above.
    pub here: bool,
    /// What the caller is working on, where that is known.
    pub focus: Option<Focus>,
    /// How words and meaning are put together, where the caller must know; the ranks alone count under `Rrf` then.
    pub fusion: Option<settings::Fusion>,
    /// Most results.
    pub limit: usize,
}

/// How much evidence a result needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Floor {
    /// Enough to answer a question: the measured floor.
    #[default]
    Answer,
    /// Enough to be of use for a task that the query only outlines.
    Task,
    /// None: whatever has anything in common with the query, for a caller who shows by how much.
    Off,
}

/// The share of the measured floor that suffices for a task: a task names more things than any one memory
/// speaks of.
const TASK_SHARE: f32 = 0.5;

impl Query {
    /// A search for `text` from `scope`, without filters.
    pub fn new(text: &str, scope: &Scope, limit: usize) -> Self {
        Self {
            text: text.to_owned(),
            scope: scope.clone(),
            layers: Vec::new(),
            kinds: Vec::new(),
            sources: Vec::new(),
            tags: Vec::new(),
            session: None,
            time: TimeRange::ALL,
            as_of: None,
            valid_at: None,
            floor: Floor::Answer,
            words_only: false,
            knowledge: false,
            only: None,
            here: false,
            focus: None,
            fusion: None,
            limit,
        }
    }
}

/// One result: what was found, joined to truth.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The thing itself.
    pub item: Item,
    /// Score, components and evidence.
    pub found: Found,
    /// How the score came about, under p-layer's orders.
    pub rerank: Option<Rerank>,
    /// How near it is to what the caller is working on, where that is known.
    pub nearness: Option<Nearness>,
    /// The code that it is pinned to, as that stands now.
    pub code: Vec<AnchorView>,
    /// How it counts, where it stands in a file that people write for a project.
    pub written: Option<human::Word>,
}

impl Hit {
    /// What it is ordered by.
    pub fn score(&self) -> f64 {
        let ranked = self.rerank.map_or_else(|| f64::from(self.found.hit.score), |rerank| rerank.score);
        let near = ranked + self.nearness.map_or(0.0, |nearness| f64::from(nearness.added));
        near * anchors::worst(&self.code).share()
    }
}

/// The outcome of a search.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Best first.
    pub hits: Vec<Hit>,
    /// The best that were not returned, with the reason.
    pub near_misses: Vec<(Hit, &'static str)>,
    /// Changes that are not in the index yet.
    pub index_behind: u64,
    /// Those of them that did not take part.
    pub unsearched: u64,
    /// Whether more was found than returned.
    pub has_more: bool,
}

/// How many more passages than results are asked of the index, for what the join to truth drops.
const SPARE: usize = 20;
/// Times the search is widened when the join drops too much.
const WIDENINGS: u32 = 3;

/// Searches. In a home that is not there nothing is found, and nothing made.
pub fn search(engine: &Engine, call: &Call<'_>, query: &Query) -> Result<Outcome, Error> {
    vault::notice(engine, call);
    if !engine.is_initialised()? {
        engine.is_empty_place(call)?;
        return Ok(Outcome::default());
    }
    let mut outcome = match &query.focus {
        None => ordered(engine, call, query)?,
        Some(focus) => {
            let wide = Query { limit: query.limit.saturating_mul(focus::CHOICE), ..query.clone() };
            let found = ordered(engine, call, &wide)?;
            focus.arrange(&query.text, found, engine.clock().now(), query.limit)
        }
    };
    if query.as_of.is_none() {
        look_at_code(engine, call, &mut outcome)?;
    }
    let mut words = human::Words::of(engine);
    for hit in &mut outcome.hits {
        if let Item::Document(part) = &hit.item {
            hit.written = words.word(&part.file);
        }
    }
    Ok(outcome)
}

/// Does what every search begins with, before several that go side by side.
///
/// # Errors
/// Those of the store.
pub(crate) fn settle(engine: &Engine, call: &Call<'_>) -> Result<(), Error> {
    vault::notice(engine, call);
    if engine.is_initialised()? {
        engine.follow_truth(call)?;
    }
    Ok(())
}

/// Says of every memory what became of the code that it is pinned to; one whose code has changed falls behind.
fn look_at_code(engine: &Engine, call: &Call<'_>, outcome: &mut Outcome) -> Result<(), Error> {
    let number = |hit: &Hit| if let Item::Memory(memory) = &hit.item { Some(memory.number) } else { None };
    let numbers: Vec<i64> = outcome.hits.iter().filter_map(number).collect();
    let mut views = anchors::views_of(engine, call, &numbers)?;
    if views.is_empty() {
        return Ok(());
    }
    for hit in &mut outcome.hits {
        hit.code = number(hit).and_then(|number| views.remove(&number)).unwrap_or_default();
    }
    if outcome.hits.iter().any(|hit| anchors::worst(&hit.code) != Freshness::Fresh) {
        // The sort is stable: what is equal stays in the order of the ranking.
        outcome.hits.sort_by(|a, b| b.score().total_cmp(&a.score()));
    }
    Ok(())
}

/// The results in the order that the configuration wants.
fn ordered(engine: &Engine, call: &Call<'_>, query: &Query) -> Result<Outcome, Error> {
    let config = config_of(engine, query);
    if config.fusion == settings::Fusion::Convex {
        return ranked(engine, call, query, &config);
    }
    let wide = Query { limit: query.limit.saturating_mul(seed_order::CHOICE), ..query.clone() };
    let outcome = ranked(engine, call, &wide, &config)?;
    Ok(seed_order::arrange(outcome, &config, engine.clock().now(), query.limit))
}

/// The configuration, unless the query has a mind of its own.
fn config_of(engine: &Engine, query: &Query) -> settings::Recall {
    let usual = engine.settings().config.recall.clone();
    match query.fusion {
        None => usual,
        Some(fusion) => settings::Recall { fusion, confidence_gain: 0.0, recency_gain: 0.0, ..usual },
    }
}

/// The results in the order of the ranking.
fn ranked(
    engine: &Engine,
    call: &Call<'_>,
    query: &Query,
    config: &settings::Recall,
) -> Result<Outcome, Error> {
    let control = engine.control(call);
    let ledger = engine.ledger(call)?;
    let caught_up = engine.follow_truth(call)?;
    let (searcher, now) = (engine.searcher(), engine.clock().now());
    let asked = asked(engine, call, query, config, now)?;
    let mut vector =
        asked.values.as_ref().zip(searcher.model()).map(|(values, model)| QueryVector { model, values });
    let mut wanted = query.limit + SPARE;
    let mut widenings = 0;
    loop {
        let answer = asked.put(searcher.index(), &control, &mut vector, wanted, &caught_up.pending)?;
        let exhausted = answer.found.len() < wanted;
        let outcome = ledger.read(&control, |r| join(r, query, now, asked.as_of, answer))?;
        if outcome.hits.len() >= query.limit || exhausted || widenings == WIDENINGS {
            let (index_behind, unsearched) = (caught_up.behind, caught_up.unsearched);
            return Ok(Outcome { index_behind, unsearched, ..outcome });
        }
        widenings += 1;
        wanted *= 4;
    }
}

/// A query as it is put to the index.
struct Asked {
    collections: Vec<CollectionKey>,
    /// The names that the query was read against.
    people: Vec<String>,
    analysed: analysis::Query,
    /// Its vector, where meaning takes part.
    values: Option<Vec<f32>>,
    filter: Filter,
    as_of: Option<i64>,
    settings: RankSettings,
}

impl Asked {
    /// Puts it to the index; `vector` is taken out where it turns out to be of no use.
    fn put(
        &self,
        index: &Index,
        control: &Control,
        vector: &mut Option<QueryVector<'_>>,
        limit: usize,
        pending: &[Prepared],
    ) -> Result<index::Answer, StoreError> {
        let people: Vec<&str> = self.people.iter().map(String::as_str).collect();
        let put = |vector| {
            let request = index::Request {
                collections: &self.collections,
                query: &self.analysed,
                people: &people,
                vector,
                filter: &self.filter,
                as_of: self.as_of,
                settings: &self.settings,
                limit,
            };
            index.search(control, &request, pending)
        };
        match put(*vector) {
            // Another model took over since the query was embedded: its words still find.
            Err(StoreError::Invalid(_)) if vector.take().is_some() => put(None),
            answer => answer,
        }
    }
}

/// Reads a query: where it looks, what its words and its meaning are, what may be found and how that is ranked.
fn asked(
    engine: &Engine,
    call: &Call<'_>,
    query: &Query,
    config: &settings::Recall,
    now: Timestamp,
) -> Result<Asked, Error> {
    let (control, ledger, searcher) = (engine.control(call), engine.ledger(call)?, engine.searcher());
    let mut collections = collections(ledger.tenant(), &query.scope);
    let own = query.scope.project.as_deref().unwrap_or("");
    collections.retain(|key| !query.here || key.project == own);
    let people = searcher.index().people(&control, &collections)?;
    let names: Vec<&str> = people.iter().map(String::as_str).collect();
    let context = QueryContext { people: &names, now: Some(now), zone: engine.settings().zone.clone() };
    let words = query.focus.as_ref().map(|focus| focus.words(&query.text));
    let analysed = analysis::analyze_query(words.as_deref().unwrap_or(&query.text), &context);
    let values = if query.words_only { None } else { searcher.embed_query(&query.text, now) };
    let as_of = query.as_of.map(|at| ledger.read(&control, |r| r.seq_at(at))).transpose()?;
    let mut settings = rank_settings(config, query.floor, now);
    if query.here && query.sources == [SourceKind::Document] {
        settings.weights = Weights::of_files();
    }
    // The same memory of another branch is another memory: which of them is shown, the branch decides.
    settings.collapse &= query.focus.is_none() || query.sources != [SourceKind::Memory];
    let filter = Filter { only: ledger.read(&control, |r| marked(r, query))?, ..filter(query) };
    Ok(Asked { collections, people, analysed, values, filter, as_of, settings })
}

/// The collections that a reader in `scope` sees, as the index names them.
pub fn collections(tenant: &str, scope: &Scope) -> Vec<CollectionKey> {
    let seen = scope.collections().into_iter();
    seen.map(|(namespace, project)| CollectionKey::new(tenant, &namespace, project.as_deref().unwrap_or("")))
        .collect()
}

fn filter(query: &Query) -> Filter {
    let branches = [""].into_iter().chain(query.scope.branches()).map(str::to_owned).collect();
    Filter {
        layers: query.layers.clone(),
        kinds: query.kinds.iter().map(ToString::to_string).collect(),
        sources: query.sources.clone(),
        time: (query.time != TimeRange::ALL).then_some(query.time),
        branches: Some(branches),
        ..Filter::default()
    }
}

/// The sources that the caller names, and those that a filter by session or tags lets through; `None` without such a
/// filter. The index knows neither, and they must hold before the best are taken.
fn marked(ledger: &LedgerRead<'_>, query: &Query) -> Result<Option<HashSet<Source>>, StoreError> {
    if query.session.is_none() && query.tags.is_empty() {
        return Ok(query.only.clone());
    }
    let source = |kind| move |number| Source { kind, number };
    let memories = ledger.memories_marked(query.session.as_deref(), &query.tags)?;
    let mut only: HashSet<Source> = memories.into_iter().map(source(SourceKind::Memory)).collect();
    if let Some(session) = query.session.as_deref().filter(|_| query.tags.is_empty()) {
        for (namespace, project) in query.scope.collections() {
            let turns =
                ledger.episodes_of_session((&namespace, project.as_deref().unwrap_or("")), session)?;
            only.extend(turns.into_iter().map(source(SourceKind::Episode)));
        }
    }
    if let Some(named) = &query.only {
        only.retain(|source| named.contains(source));
    }
    Ok(Some(only))
}

fn rank_settings(config: &settings::Recall, floor: Floor, now: Timestamp) -> RankSettings {
    let mut ranking = RankSettings { now: Some(now.0), ..RankSettings::default() };
    ranking.fusion = match config.fusion {
        settings::Fusion::Convex => Fusion::Convex,
        settings::Fusion::Legacy => Fusion::Legacy { k: 60.0 },
        settings::Fusion::Rrf => Fusion::Rrf {
            k: 60.0,
            boosts: RrfBoosts {
                confidence_gain: config.confidence_gain,
                confidence_center: config.confidence_center,
                recency_gain: config.recency_gain,
                recency_window_days: config.recency_window_days,
            },
        },
    };
    if config.fusion != settings::Fusion::Convex {
        // p-layer's orders spread over kinds, after the join to truth.
        ranking.diversity.largest_share = 1.0;
    }
    if floor == Floor::Task {
        let least = &mut ranking.floor;
        for share in [&mut least.keyword, &mut least.keyword_cjk, &mut least.fused] {
            *share *= TASK_SHARE;
        }
        least.by_names = true;
    }
    if !config.floor || floor == Floor::Off {
        ranking.floor.is_on = false;
    }
    ranking
}

/// Looks every found passage up in the ledger, drops what is no longer (or was not then) in force, keeps
/// the best passage of each source, and applies the filters that only truth can answer.
fn join(
    ledger: &LedgerRead<'_>,
    query: &Query,
    now: Timestamp,
    as_of: Option<i64>,
    answer: index::Answer,
) -> Result<Outcome, StoreError> {
    let mut outcome = Outcome::default();
    let mut seen = HashSet::new();
    let likely = answer.found.iter().take(query.limit + 1);
    let likely = likely.chain(answer.near_misses.iter().map(|(found, _)| found));
    let mut known = Known::of(ledger, likely.map(|found| found.source))?;
    let mut take = |found: Found| -> Result<Option<Hit>, StoreError> {
        // Sections of one file are results of their own; the parts of a memory are one result.
        let part = if found.source.kind == SourceKind::Document { found.part } else { 0 };
        if !seen.insert((found.source, part)) {
            return Ok(None);
        }
        standing(ledger, &mut known, query, now, as_of, found)
    };
    for found in answer.found {
        if let Some(hit) = take(found)? {
            if outcome.hits.len() == query.limit {
                outcome.has_more = true;
                break;
            }
            outcome.hits.push(hit);
        }
    }
    for (found, missed) in answer.near_misses {
        let reason = match missed {
            strata_core::rank::Missed::Floor => "too little evidence",
            strata_core::rank::Missed::Limit => "beyond the limit",
        };
        outcome.near_misses.extend(take(found)?.map(|hit| (hit, reason)));
    }
    Ok(outcome)
}

/// What was found or, when that is not in force or does not pass, the first of what was collapsed into
/// it that is and does: the one shown must not take the others with it.
fn standing(
    ledger: &LedgerRead<'_>,
    known: &mut Known,
    query: &Query,
    now: Timestamp,
    as_of: Option<i64>,
    mut found: Found,
) -> Result<Option<Hit>, StoreError> {
    let mut others = std::mem::take(&mut found.duplicates).into_iter();
    loop {
        let item = Item::load(ledger, known, &found, as_of)?;
        if let Some(item) = item.filter(|i| i.passes(query, now)) {
            found.duplicates = others.collect();
            return Ok(Some(Hit {
                item,
                found,
                rerank: None,
                nearness: None,
                code: Vec::new(),
                written: None,
            }));
        }
        let Some(source) = others.next() else { return Ok(None) };
        found = Found { source, part: 0, text: None, ..found };
    }
}
