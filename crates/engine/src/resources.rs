//! Resources: documents a client can attach without a tool call.

use serde_json::json;

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
    /// Reads it.
    pub read: fn(&Engine, &Call<'_>) -> Result<String, Error>,
}

/// Every resource, in menu order.
pub const RESOURCES: &[Resource] = &[
    Resource {
        uri: "memory://status",
        name: "status",
        title: "Memory status",
        about: "Which memory this is, what it holds and whether it is healthy.",
        mime: "text/markdown",
        read: status,
    },
    Resource {
        uri: "memory://hot",
        name: "hot",
        title: "Hot page",
        about: "Headlines of rules and identity, the index of knowledge and the weightiest memories, 1000 tokens at most.",
        mime: "text/markdown",
        read: hot::page,
    },
];

fn status(engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
    let entry = registry::find(Toolset::Core, "status")
        .ok_or_else(|| Error::Internal("no `status` operation".into()))?;
    Ok((entry.run)(engine, call, json!({}))?.document.to_markdown())
}
