//! `config`: which settings hold, and where the file with them lies.

use clap::Command;
use serde_json::json;
use strata_engine::{
    judge,
    operation::Reply,
    render::{Block, Document, Mark},
    settings::CONFIG_FILE,
};
use strata_store::{Server, ledger::LOCAL};

use crate::{
    arguments::Global,
    environment::{Environment, KNOWLEDGE_DB_DIR, P_LAYER_DB, P_LAYER_EMBED, STRATA_STORE, VARIABLES},
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
    let config = &settings.config;
    let zone = settings.zone.iana_name().unwrap_or("the system's").to_owned();
    let rows = vec![
        ("home", home.display().to_string()),
        (
            "config file",
            format!("{}{}", file.display(), if file.is_file() { "" } else { " (none: defaults hold)" }),
        ),
        ("store", settings.store.as_ref().map_or_else(|| "in the home".to_owned(), ToString::to_string)),
        ("tenant", settings.store.as_ref().map_or(LOCAL, Server::tenant).to_owned()),
        ("scope", place.scope().to_string()),
        ("timezone", zone),
        ("semantic.model", config.semantic.model.clone()),
        ("recall.limit", config.recall.limit.to_string()),
        ("recall.fusion", config.recall.fusion.as_str().to_owned()),
        ("recall.floor", config.recall.floor.to_string()),
        ("judge", judge::describe(&config.judge)),
    ];
    let json = rows.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
    let mut document =
        Document::new().with(Block::Pairs(rows.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()));
    for variable in VARIABLES.iter().filter(|v| is_ours(v.name)) {
        if let Some(value) = environment.text(variable.name) {
            document = document.note(Mark::Info, format!("{}={value}", variable.name));
        }
    }
    Ok(out.reply(&Reply { json, document, is_alarming: false })?)
}

/// Whether a variable is Strata's, or p-layer's with a meaning here.
fn is_ours(name: &str) -> bool {
    // An address may hold a password; what it chooses is told without it.
    (name.starts_with("STRATA_") && name != STRATA_STORE)
        || [P_LAYER_DB, P_LAYER_EMBED, KNOWLEDGE_DB_DIR].contains(&name)
}
