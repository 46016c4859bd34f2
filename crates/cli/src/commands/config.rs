//! `config`: which settings hold, and where the file with them lies.

use std::path::Path;

use clap::Command;
use serde_json::json;
use strata_engine::{
    judge,
    operation::Reply,
    render::{Block, Document, Mark},
    settings::{CONFIG_FILE, Config, Fusion, Settings, keys::Key},
};
use strata_store::{Server, ledger::LOCAL};

use crate::{
    arguments::Global,
    environment::{
        Environment, KNOWLEDGE_DB_DIR, LAYERED_MEMORY_HOME, LAYERED_MEMORY_NAMESPACE, P_LAYER_DB,
        P_LAYER_EMBED, STRATA_STORE, VARIABLES,
    },
    failure::Failure,
    out::Out,
    place::{self, Place},
};

pub(super) fn command() -> Command {
    Command::new("config")
        .about("Show the settings that hold")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("show").about("Show every setting with its value"))
        .subcommand(Command::new("path").about("Print where the configuration file lies"))
}

pub(super) fn run(what: &str, global: &Global, environment: &Environment, out: &Out) -> Result<(), Failure> {
    let home = place::home(global.home.as_deref(), environment)?;
    let file = home.join(CONFIG_FILE);
    if what == "path" {
        let path = file.display().to_string();
        return Ok(if out.is_json() { out.json(&json!({ "path": path })) } else { out.line(&path) }?);
    }
    let place = Place::new(global, environment);
    let settings = place::settings(&home, &place, environment)?;
    let rows = rows(&home, &file, &place, &settings);
    let json = rows.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
    let mut document =
        Document::new().with(Block::Pairs(rows.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()));
    let older = Key::all().filter_map(|key| key.variable);
    for name in VARIABLES.iter().map(|v| v.name).filter(|name| is_ours(name)).chain(older) {
        if let Some(value) = environment.text(name) {
            document = document.note(Mark::Info, format!("{name}={value}"));
        }
    }
    for notice in &settings.config.notices {
        document = document.note(Mark::Warning, notice.clone());
    }
    Ok(out.reply(&Reply { json, document, is_alarming: false })?)
}

/// Every setting with its value, in the order in which they are shown.
fn rows(home: &Path, file: &Path, place: &Place, settings: &Settings) -> Vec<(&'static str, String)> {
    let config = &settings.config;
    let zone = settings.zone.iana_name().unwrap_or("the system's").to_owned();
    let none = if file.is_file() { "" } else { " (none: defaults hold)" };
    let mut rows = vec![
        ("home", home.display().to_string()),
        ("config file", format!("{}{none}", file.display())),
        ("store", settings.store.as_ref().map_or_else(|| "in the home".to_owned(), ToString::to_string)),
        ("tenant", settings.store.as_ref().map_or(LOCAL, Server::tenant).to_owned()),
        ("scope", place.scope(home).to_string()),
        ("timezone", zone),
        ("recall.limit", config.recall.limit.to_string()),
        ("recall.fusion", config.recall.fusion.as_str().to_owned()),
        ("recall.floor", config.recall.floor.to_string()),
    ];
    rows.extend(rerank(config));
    rows.extend([
        ("graph.relations", relations(config)),
        ("maintain.idle", config.maintain.idle.to_string()),
        ("gate.ontology", place_in(home, config.gate.ontology.as_deref(), "ontology.jsonl")),
        ("gate.proposals", place_in(home, config.gate.proposals.as_deref(), "proposals")),
        ("judge", judge::describe(&config.judge)),
    ]);
    rows.extend(Key::all().map(|key| (key.name, key.shown(config))));
    rows
}

/// The constants of p-layer's order, where it holds.
fn rerank(config: &Config) -> Vec<(&'static str, String)> {
    let recall = &config.recall;
    if recall.fusion != Fusion::Rrf {
        return Vec::new();
    }
    vec![
        ("recall.confidence_gain", recall.confidence_gain.to_string()),
        ("recall.confidence_center", recall.confidence_center.to_string()),
        ("recall.recency_gain", recall.recency_gain.to_string()),
        ("recall.recency_window_days", recall.recency_window_days.to_string()),
    ]
}

/// The relations of the user's own, as `owns: team -> tool`.
fn relations(config: &Config) -> String {
    let kinds = |kinds: &[String]| if kinds.is_empty() { "any".to_owned() } else { kinds.join(", ") };
    let own = config.graph.relations.iter();
    let own: Vec<String> =
        own.map(|(name, ends)| format!("{name}: {} -> {}", kinds(&ends.from), kinds(&ends.to))).collect();
    if own.is_empty() { "built in alone".to_owned() } else { own.join("; ") }
}

/// Where a file of the gate lies.
fn place_in(home: &Path, named: Option<&Path>, otherwise: &str) -> String {
    home.join(named.unwrap_or_else(|| Path::new(otherwise))).display().to_string()
}

/// Whether a variable is Strata's, or another program's with a meaning here.
fn is_ours(name: &str) -> bool {
    // An address may hold a password; what it chooses is told without it.
    (name.starts_with("STRATA_") && name != STRATA_STORE)
        || name.starts_with("PGSSL")
        || [P_LAYER_DB, P_LAYER_EMBED, KNOWLEDGE_DB_DIR, LAYERED_MEMORY_HOME, LAYERED_MEMORY_NAMESPACE]
            .contains(&name)
}
