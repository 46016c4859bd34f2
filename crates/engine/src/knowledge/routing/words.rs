//! The words of the router and of the scan for states: the built-in ones with what the configuration adds and takes away.

use strata_core::{
    route::{self, Route, Router},
    vocabulary::Vocabulary,
};
use toml::{Table, Value};

use crate::settings::{Config, layered::Routing};

/// Readers of text, made once for an engine.
#[derive(Debug)]
pub(crate) struct Words {
    /// Finds where an item belongs.
    pub(crate) router: Router,
    /// Finds what says that something is open or resolved.
    pub(crate) states: Router,
    /// The labels of reasons, beside the markers of `states`.
    pub(crate) state_words: Vocabulary,
}

impl Words {
    /// What the configuration asks for; words that cannot be read were refused when it was read.
    pub(crate) fn new(config: &Config) -> Self {
        let state_words = of_states(config);
        let router = |words: &Vocabulary| match words == Vocabulary::built_in() {
            true => route::built_in().clone(),
            false => Router::new(words),
        };
        let routes = of_routes(&config.routing);
        Self { router: router(&routes), states: router(&state_words), state_words }
    }
}

fn of_routes(routing: &Routing) -> Vocabulary {
    let mut words = Vocabulary::built_in().clone();
    for (route, markers) in [
        (Route::Skill, &routing.extra_skill_markers),
        (Route::Todo, &routing.extra_todo_markers),
        (Route::UserProfile, &routing.extra_profile_markers),
        (Route::L1Knowledge, &routing.extra_knowledge_markers),
    ] {
        add(&mut words, route.as_str(), "tells", markers);
    }
    if let Some(text) = &routing.vocabulary {
        drop(words.extend(text));
    }
    disable(&mut words, &routing.disabled_markers);
    words
}

fn of_states(config: &Config) -> Vocabulary {
    let mut words = Vocabulary::built_in().clone();
    let governance = &config.governance;
    add(&mut words, "state", "open", &governance.open_markers);
    add(&mut words, "state", "resolved", &governance.resolved_markers);
    add(&mut words, "state", "keep_reason", &governance.keep_reason_labels);
    disable(&mut words, &governance.disabled_markers);
    words
}

/// Adds markers to a group, in the form in which a language has them.
fn add(words: &mut Vocabulary, group: &str, key: &str, markers: &[String]) {
    if markers.is_empty() {
        return;
    }
    let markers = markers.iter().map(|marker| Value::from(marker.as_str())).collect();
    let inner = Table::from_iter([(key.to_owned(), Value::Array(markers))]);
    let table = Table::from_iter([(group.to_owned(), Value::Table(inner))]);
    drop(words.extend(&table.to_string()));
}

fn disable(words: &mut Vocabulary, markers: &[String]) {
    words.disable(&markers.iter().map(String::as_str).collect::<Vec<_>>());
}
