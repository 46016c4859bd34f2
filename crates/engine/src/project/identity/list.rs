//! `project_list`: the projects that are known, and by what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::principal::PrincipalKind;
use strata_store::{error::StoreError, ledger::LedgerRead};

use super::prints::PATH;
use crate::{
    engine::Engine,
    error::Error,
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    render::{Block, Document, Mark, Render},
};

/// See the module.
pub struct List;

/// Nothing to say.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {}

/// The projects, by key.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// The key of the project at hand.
    pub current: Option<String>,
    /// The projects.
    pub projects: Vec<Item>,
}

/// A project.
#[derive(Debug, Default, Serialize)]
pub struct Item {
    /// Its key, as scopes carry it.
    pub key: String,
    /// What people call it.
    pub name: String,
    /// Memories in it that hold.
    pub memories: u64,
    /// Where its checkouts were seen.
    pub paths: Vec<String>,
    /// Its other names: the first commit, hashes of remotes, earlier keys, what people call it.
    pub aliases: Vec<String>,
}

impl Operation for List {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Project,
        tool: "project_list",
        cli: &["project", "list"],
        positional: &[],
        title: "List projects",
        about: "Lists the projects that are known: their keys, what their checkouts are recognised by, and how many memories \
                they hold. Whoever is no person is shown the one at hand. `strata project alias` gives one a further name, `strata project merge` makes one of two.",
        effect: Effect::Read,
        audience: Audience::People,
    };
    const OLDER_COMMANDS: &'static [&'static [&'static str]] = &[&["memory", "project", "list"]];

    fn run(engine: &Engine, call: &Call<'_>, _request: Request) -> Result<Response, Error> {
        let sees_all = matches!(call.principal.kind, PrincipalKind::Human | PrincipalKind::System);
        let current = call.scope.project.as_ref();
        let mut projects = engine.read(call, items)?;
        projects.retain(|item| sees_all || Some(&item.key) == current);
        Ok(Response { current: call.scope.project.clone(), projects })
    }
}

fn items(r: &LedgerRead<'_>) -> Result<Vec<Item>, StoreError> {
    let aliases = r.project_aliases()?;
    let known = r.projects()?.into_iter().map(|project| (project.key, project.name));
    let unknown = r.unknown_projects()?.into_iter().map(|key| (key.clone(), key));
    known.chain(unknown).map(|(key, name)| item(r, key, name, &aliases)).collect()
}

fn item(
    r: &LedgerRead<'_>,
    key: String,
    name: String,
    aliases: &[(String, String)],
) -> Result<Item, StoreError> {
    let mut item = Item { memories: r.count_live_of_project(&key)?, name, ..Item::default() };
    for (alias, _) in aliases.iter().filter(|(_, of)| *of == key) {
        match alias.strip_prefix(PATH) {
            Some(path) => item.paths.push(path.to_owned()),
            None => item.aliases.push(alias.clone()),
        }
    }
    item.key = key;
    Ok(item)
}

impl Render for Response {
    fn render(&self) -> Document {
        if self.projects.is_empty() {
            return Document::new()
                .note(Mark::Info, "No project is known. One is noted when something is stored in it.");
        }
        let row = |item: &Item| {
            let mark = if self.current.as_ref() == Some(&item.key) { "*" } else { "" };
            vec![
                format!("{}{mark}", item.key),
                item.name.clone(),
                item.memories.to_string(),
                item.paths.join(", "),
                item.aliases.join(", "),
            ]
        };
        let columns = ["project", "name", "memories", "seen at", "also"].map(str::to_owned).to_vec();
        Document::new().with(Block::Table { columns, rows: self.projects.iter().map(row).collect() })
    }
}
