//! One measurement: a throwaway home, the set stored as a user would store it, each question asked once.

use std::{
    collections::{BTreeMap, HashMap},
    time::Instant,
};

use strata_core::{
    memory::Kind,
    principal::{Principal, PrincipalKind},
    scope::Scope,
};

use super::{
    dataset::{Dataset, Item},
    metrics::{Row, score},
};
use crate::{
    engine::Engine,
    error::Error,
    import::episodes::EpisodeLine,
    maintain::import::{IMPORT, Plan, store},
    memory::{draft::Draft, remember::Request as Remember, write},
    operation::Call,
    recall::{
        item::Item as Found,
        search::{Query, search},
    },
    settings::Settings,
};

/// Results asked for per question: the greatest depth that is measured.
const LIMIT: usize = 20;

/// Which legs of the search take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Legs {
    /// Words alone.
    Keyword,
    /// The user's own settings.
    Default,
}

/// Stores a set and asks its questions.
pub fn measure(engine: &Engine, call: &Call<'_>, dataset: &Dataset, legs: Legs) -> Result<Vec<Row>, Error> {
    let home =
        tempfile::tempdir().map_err(|source| Error::File { path: "a temporary home".into(), source })?;
    let mut settings = Settings { home: home.path().to_owned(), store: None, ..engine.settings().clone() };
    if legs == Legs::Keyword {
        settings.config.semantic.model = "off".into();
    }
    let bench = Engine::new(settings);
    let person = Principal::new(PrincipalKind::Human, "eval");
    let owner = Call { principal: &person, ..*call };
    let names = store_all(&bench, &owner, dataset)?;
    let sessions: HashMap<&str, &str> =
        dataset.items.iter().filter_map(|i| Some((i.id.as_str(), i.line.session.as_deref()?))).collect();
    let mut rows = Vec::with_capacity(dataset.questions.len());
    for (done, question) in dataset.questions.iter().enumerate() {
        let scope = Scope::project(&question.scope);
        let started = Instant::now();
        let outcome = search(&bench, &owner, &Query::new(&question.query, &scope, LIMIT))?;
        let milliseconds = started.elapsed().as_secs_f64() * 1e3;
        let returned: Vec<String> = outcome.hits.iter().flat_map(|h| names.of(&h.item)).collect();
        let scores = score(&returned, &question.relevant, |id| sessions.get(id).copied());
        rows.push(Row {
            id: question.id.clone(),
            scope: question.scope.clone(),
            query: question.query.clone(),
            category: question.category.clone(),
            relevant: question.relevant.clone(),
            returned,
            milliseconds,
            scores,
        });
        (call.progress)(done as u64 + 1, dataset.questions.len() as u64);
        if call.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
    Ok(rows)
}

/// The set's ids of what is stored. Equal texts are stored once, so one memory may have several.
#[derive(Default)]
struct Names {
    memories: HashMap<i64, Vec<String>>,
}

impl Names {
    fn of(&self, item: &Found) -> Vec<String> {
        match item {
            Found::Memory(m) => self.memories.get(&m.number).cloned().unwrap_or_default(),
            Found::Episode(e) => e.external_id.clone().into_iter().collect(),
            Found::Document(..) => Vec::new(),
        }
    }
}

fn store_all(engine: &Engine, call: &Call<'_>, dataset: &Dataset) -> Result<Names, Error> {
    let mut names = Names::default();
    let mut scopes: BTreeMap<&str, Vec<EpisodeLine>> = BTreeMap::new();
    for item in &dataset.items {
        if item.ordered {
            scopes.entry(&item.scope).or_default().push(item.line.clone());
        } else {
            let number = remember(engine, call, item)?;
            names.memories.entry(number).or_default().push(item.id.clone());
        }
    }
    for (scope, lines) in scopes {
        let plan = Plan {
            source: "eval".into(),
            scope: Scope::project(scope),
            gateway: IMPORT.into(),
            dry_run: false,
        };
        let stored = store(engine, call, &lines, &plan)?;
        if stored.rejected > 0 {
            let message = format!(
                "{} items of {scope} could not be stored: {}",
                stored.rejected,
                stored.problems.join("; ")
            );
            return Err(Error::argument("file", message, "correct them and run again"));
        }
    }
    Ok(names)
}

fn remember(engine: &Engine, call: &Call<'_>, item: &Item) -> Result<i64, Error> {
    let scope = Scope::project(&item.scope);
    let here = Call { scope: &scope, ..*call };
    let kind = item
        .kind
        .as_deref()
        .map_or_else(|| Ok(Kind::default()), Kind::parse)
        .map_err(|e| Error::parse("docs", &e))?;
    let mut request = Remember {
        text: item.line.text.clone(),
        kind: Some(kind.to_string()),
        session: item.line.session.clone(),
        valid_from: item.line.at.map(|t| t.to_rfc3339()),
        ..Remember::default()
    };
    if let Some(speaker) = &item.line.speaker {
        request.metadata.insert("speaker".into(), speaker.clone());
    }
    let draft = Draft::from_request(engine, &here, &request)?;
    Ok(write::store(engine, &here, &draft)?.number)
}
