//! Resources: documents a client can attach without a tool call.

mod layered;
mod project;

use serde_json::{Value, json};

use crate::{
    context::hot,
    engine::Engine,
    error::Error,
    operation::{Call, Toolset},
    registry,
};

/// One resource.
#[derive(Debug, Clone, Copy)]
pub struct Resource {
    /// Its address.
    pub uri: &'static str,
    /// Wire name.
    pub name: &'static str,
    /// A few words, for menus.
    pub title: &'static str,
    /// What it holds.
    pub about: &'static str,
    /// Type of its text.
    pub mime: &'static str,
    /// The toolset whose clients are shown it; `None` is everybody.
    pub toolset: Option<Toolset>,
    /// Reads it.
    pub read: fn(&Engine, &Call<'_>) -> Result<String, Error>,
}

/// Resources of one sort, one for each name.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    /// What their addresses begin with; the name follows.
    pub prefix: &'static str,
    /// What the name is called.
    pub variable: &'static str,
    /// Wire name.
    pub name: &'static str,
    /// A few words, for menus.
    pub title: &'static str,
    /// What they hold.
    pub about: &'static str,
    /// Type of their text.
    pub mime: &'static str,
    /// The toolset whose clients are shown it.
    pub toolset: Option<Toolset>,
    /// Reads the one with a name.
    pub read: fn(&Engine, &Call<'_>, &str) -> Result<String, Error>,
}

/// Every resource, in menu order.
pub const RESOURCES: &[Resource] = &[
    Resource {
        uri: "memory://status",
        name: "status",
        title: "Memory status",
        about: "Which memory this is, what it holds and whether it is healthy.",
        mime: "application/json",
        toolset: None,
        read: status,
    },
    Resource {
        uri: "memory://hot",
        name: "hot",
        title: "Hot page",
        about: "Headlines of rules and identity, the index of knowledge and the weightiest memories, 1000 tokens at most.",
        mime: "text/markdown",
        toolset: None,
        read: hot::page,
    },
    Resource {
        uri: "knowledge://files",
        name: "knowledge_files",
        title: "Knowledge files",
        about: "The files of the vault with their sizes and first lines.",
        mime: "application/json",
        toolset: Some(Toolset::Layered),
        read: layered::files,
    },
    project::RESOURCES[0],
    project::RESOURCES[1],
    project::RESOURCES[2],
    project::RESOURCES[3],
    project::RESOURCES[4],
    project::RESOURCES[5],
    project::RESOURCES[6],
    project::RESOURCES[7],
    project::RESOURCES[8],
    project::RESOURCES[9],
    project::RESOURCES[10],
    project::RESOURCES[11],
];

/// Every sort of resources.
pub const TEMPLATES: &[Template] = &[Template {
    prefix: "knowledge://",
    variable: "domain",
    name: "knowledge_file",
    title: "Knowledge file",
    about: "One file of the vault, as it is.",
    mime: "text/markdown",
    toolset: Some(Toolset::Layered),
    read: layered::one,
}];

/// What the operation `status` says, under the older system's keys: `status` is `healthy` where nothing is wrong.
fn status(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let entry = registry::find(Toolset::Core, "status")
        .ok_or_else(|| Error::Internal("no `status` operation".into()))?;
    let mut document = (entry.run)(engine, call, json!({}))?.json;
    if document["status"] == "ok" {
        document["status"] = "healthy".into();
    }
    let vault = layered::status(engine, call);
    if let (Value::Object(document), Value::Object(vault)) = (&mut document, vault) {
        document.extend(vault);
    }
    layered::text(&document)
}
