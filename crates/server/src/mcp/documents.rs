//! Resources and prompts, made from the engine's tables.

use std::collections::BTreeMap;

use rmcp::{
    ErrorData,
    model::{ErrorCode, JsonObject, Prompt, PromptArgument, Resource},
};
use serde_json::Value;
use strata_core::error::ErrorKind;
use strata_engine::{
    prompts::{self, PROMPTS},
    resources::{self, RESOURCES},
};

use super::reply::Failure;

/// A resource as clients list it.
pub(super) fn resource(resource: &resources::Resource) -> Resource {
    Resource::new(resource.uri, resource.name)
        .with_title(resource.title)
        .with_description(resource.about)
        .with_mime_type(resource.mime)
}

/// The resource at an address. Error: there is none.
pub(super) fn find_resource(uri: &str) -> Result<&'static resources::Resource, ErrorData> {
    RESOURCES.iter().find(|r| r.uri == uri).ok_or_else(|| {
        let uri: String = uri.chars().take(120).collect();
        ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, format!("there is no resource `{uri}`"), None)
    })
}

/// A prompt as clients list it.
pub(super) fn prompt(prompt: &prompts::Prompt) -> Prompt {
    let arguments = prompt.arguments.iter().map(|argument| {
        PromptArgument::new(argument.name).with_description(argument.about).with_required(argument.required)
    });
    Prompt::new(prompt.name, Some(prompt.about), Some(arguments.collect())).with_title(prompt.title)
}

/// The prompt with a name. Error: there is none.
pub(super) fn find_prompt(name: &str) -> Result<&'static prompts::Prompt, ErrorData> {
    PROMPTS.iter().find(|p| p.name == name).ok_or_else(|| {
        let names: Vec<_> = PROMPTS.iter().map(|p| p.name).collect();
        let name: String = name.chars().take(64).collect();
        ErrorData::invalid_params(format!("unknown prompt `{name}`; there are: {}", names.join(", ")), None)
    })
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
