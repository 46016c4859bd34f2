//! Resources and prompts, made from the engine's tables.

use std::collections::BTreeMap;

use rmcp::{
    ErrorData,
    model::{ErrorCode, JsonObject, Prompt, PromptArgument, Resource, ResourceTemplate},
};
use serde_json::Value;
use strata_core::error::ErrorKind;
use strata_engine::{
    engine::Engine,
    error::Error,
    operation::{Call, Selection, Toolset},
    prompts::{self, PROMPTS},
    resources::{self, RESOURCES, TEMPLATES},
};

use super::reply::Failure;

/// What a client that asked for some toolsets is shown beside the tools.
#[derive(Debug)]
pub(super) struct Documents {
    pub(super) resources: Vec<&'static resources::Resource>,
    pub(super) templates: Vec<&'static resources::Template>,
    pub(super) prompts: Vec<&'static prompts::Prompt>,
}

/// A document to be read: a resource, or one of a sort with its name.
#[derive(Debug, Clone)]
pub(super) enum Found {
    One(&'static resources::Resource),
    OfSort(&'static resources::Template, String),
}

impl Documents {
    /// The documents of these parts of the table, and those of everybody.
    pub(super) fn shown(selections: &[Selection]) -> Self {
        let is_shown = |toolset: Option<Toolset>| {
            let chosen = |toolset| selections.iter().any(|selection| selection.toolset() == toolset);
            toolset.is_none_or(chosen)
        };
        Self {
            resources: RESOURCES.iter().filter(|r| is_shown(r.toolset)).collect(),
            templates: TEMPLATES.iter().filter(|t| is_shown(t.toolset)).collect(),
            prompts: PROMPTS.iter().filter(|p| is_shown(p.toolset)).collect(),
        }
    }

    /// What is at an address. Error: nothing.
    pub(super) fn find(&self, uri: &str) -> Result<Found, ErrorData> {
        if let Some(resource) = self.resources.iter().find(|r| r.uri == uri) {
            return Ok(Found::One(resource));
        }
        let named = |template: &&'static resources::Template| {
            let name = uri.strip_prefix(template.prefix).filter(|name| !name.is_empty())?;
            Some(Found::OfSort(template, name.to_owned()))
        };
        self.templates.iter().find_map(named).ok_or_else(|| {
            let uri: String = uri.chars().take(120).collect();
            let message = super::reply::shortened(&format!("there is no resource `{uri}`"));
            ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, message, None)
        })
    }

    /// The prompt with a name. Error: there is none.
    pub(super) fn find_prompt(&self, name: &str) -> Result<&'static prompts::Prompt, ErrorData> {
        self.prompts.iter().copied().find(|p| p.name == name).ok_or_else(|| {
            let names: Vec<_> = self.prompts.iter().map(|p| p.name).collect();
            let name: String = name.chars().take(64).collect();
            let message = format!("unknown prompt `{name}`; there are: {}", names.join(", "));
            ErrorData::invalid_params(super::reply::shortened(&message), None)
        })
    }
}

impl Found {
    /// Type of its text.
    pub(super) fn mime(&self) -> &'static str {
        match self {
            Self::One(resource) => resource.mime,
            Self::OfSort(template, _) => template.mime,
        }
    }

    /// Reads it.
    pub(super) fn read(&self, engine: &Engine, call: &Call<'_>) -> Result<String, Error> {
        match self {
            Self::One(resource) => (resource.read)(engine, call),
            Self::OfSort(template, name) => (template.read)(engine, call, name),
        }
    }
}

/// A resource as clients list it.
pub(super) fn resource(resource: &resources::Resource) -> Resource {
    Resource::new(resource.uri, resource.name)
        .with_title(resource.title)
        .with_description(resource.about)
        .with_mime_type(resource.mime)
}

/// A sort of resources as clients list it.
pub(super) fn template(template: &resources::Template) -> ResourceTemplate {
    ResourceTemplate::new(format!("{}{{{}}}", template.prefix, template.variable), template.name)
        .with_title(template.title)
        .with_description(template.about)
        .with_mime_type(template.mime)
}

/// A prompt as clients list it.
pub(super) fn prompt(prompt: &prompts::Prompt) -> Prompt {
    let arguments = prompt.arguments.iter().map(|argument| {
        PromptArgument::new(argument.name).with_description(argument.about).with_required(argument.required)
    });
    Prompt::new(prompt.name, Some(prompt.about), Some(arguments.collect())).with_title(prompt.title)
}

/// What a client filled in, as texts.
pub(super) fn filled_in(arguments: Option<JsonObject>) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    arguments.into_iter().flatten().map(|(name, value)| (name, text(value))).collect()
}

/// A failure where the protocol has no result for one.
pub(super) fn protocol_error(failure: &Failure) -> ErrorData {
    let text = failure.text(super::reply::Form::Markdown);
    match failure.kind() {
        ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::TooLarge => {
            ErrorData::invalid_params(text, None)
        }
        _ => ErrorData::internal_error(text, None),
    }
}
