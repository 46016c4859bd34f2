//! The list of tools, made from the table of operations.

use std::{borrow::Cow, sync::Arc};

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use strata_engine::{
    operation::{Audience, Effect, Entry, Selection, TextForm},
    registry::OPERATIONS,
};

/// The argument by which a caller chooses the form of the reply.
pub const FORMAT: &str = "format";

/// The operations shown under `selections`, in the table's order; the first of a name wins.
pub(super) fn shown(selections: &[Selection]) -> Vec<&'static Entry> {
    let mut shown: Vec<&'static Entry> = Vec::new();
    for entry in OPERATIONS {
        let asked_for = selections.iter().any(|selection| selection.has(entry));
        let offered = asked_for && entry.spec.audience == Audience::Everyone;
        if offered && shown.iter().all(|e| e.spec.tool != entry.spec.tool) {
            shown.push(entry);
        }
    }
    shown
}

/// The operation that a client means: by its name, or by an older one that is not listed.
pub(super) fn find(entries: &[&'static Entry], tool: &str) -> Option<&'static Entry> {
    let named = entries.iter().find(|entry| entry.spec.tool == tool);
    named.or_else(|| entries.iter().find(|entry| entry.older_tools.contains(&tool))).copied()
}

/// The word of the toolset that has a tool which a client may be shown.
pub(super) fn toolset_of(tool: &str) -> Option<&'static str> {
    find(&shown(&Selection::ALL), tool).map(|entry| entry.spec.toolset.as_str())
}

/// An operation as clients see it.
pub(super) fn tool(entry: &Entry) -> Tool {
    let spec = &entry.spec;
    let mut schema = match with_format(entry) {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let is_terse = spec.toolset.is_listed_tersely();
    if is_terse {
        shorten(&mut schema, entry.explained);
    }
    let tool = Tool::new(Cow::Borrowed(spec.tool), Cow::Borrowed(spec.about), Arc::new(schema));
    if is_terse {
        tool.with_annotations(terse_annotations(spec.effect))
    } else {
        tool.with_title(spec.title).with_annotations(annotations(spec.title, spec.effect))
    }
}

/// Takes out of a schema what does not help a model to call: limits that are kept all the same, and what is said of
/// arguments but those `explained`.
fn shorten(schema: &mut Map<String, Value>, explained: &[&str]) {
    schema.remove("description");
    schema.remove("additionalProperties");
    for (name, property) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
    {
        let Some(property) = property.as_object_mut() else { continue };
        for limit in ["minimum", "maximum", "default"] {
            property.remove(limit);
        }
        if let Some(items) = property.get_mut("items").and_then(Value::as_object_mut) {
            items.remove("additionalProperties");
        }
        if !explained.contains(&name.as_str()) {
            property.remove("description");
        }
    }
}

/// Only what a client would not take for granted.
fn terse_annotations(effect: Effect) -> ToolAnnotations {
    let annotations = ToolAnnotations::new().read_only(effect == Effect::Read);
    match effect {
        Effect::Read => annotations,
        _ => annotations.destructive(effect == Effect::Destroy),
    }
}

fn annotations(title: &str, effect: Effect) -> ToolAnnotations {
    ToolAnnotations::with_title(title)
        .read_only(effect == Effect::Read)
        .destructive(effect == Effect::Destroy)
        .idempotent(effect == Effect::Read)
        .open_world(false)
}

/// The request's schema with the argument that every tool has. An operation's own argument of the
/// same name stands. A toolset that is listed tersely takes the argument and does not list it.
pub fn with_format(entry: &Entry) -> Value {
    let mut schema = (entry.request_schema)();
    if entry.spec.toolset.is_listed_tersely() {
        return schema;
    }
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.entry(FORMAT).or_insert_with(|| {
            let description = match entry.text_form {
                TextForm::Markdown => "Form of the reply: markdown (default) to read, json for programs.",
                TextForm::Json | TextForm::CompactJson => {
                    "Form of the reply: json (default) for programs, markdown to read."
                }
            };
            json!({ "type": "string", "enum": ["markdown", "json"], "description": description })
        });
    }
    schema
}

#[cfg(test)]
mod tests {
    use strata_engine::{operation::Toolset, schema::lint};

    use super::*;

    #[test]
    fn every_schema_is_portable_as_listed() {
        for entry in OPERATIONS {
            let schema = with_format(entry);
            assert_eq!(lint(&schema), Vec::<String>::new(), "{}", entry.spec.tool);
            let listed = schema["properties"][FORMAT].is_object();
            assert!(listed || entry.spec.toolset.is_listed_tersely(), "{}", entry.spec.tool);
        }
    }

    #[test]
    fn the_list_is_the_same_every_time_and_names_are_unique() {
        let list = || -> Vec<Value> {
            shown(&Selection::ALL)
                .iter()
                .map(|e| serde_json::to_value(tool(e)).expect("a tool serialises"))
                .collect()
        };
        assert_eq!(list(), list());
        let mut names: Vec<_> = shown(&Selection::ALL).iter().map(|e| e.spec.tool).collect();
        names.sort_unstable();
        let unique = names.len();
        names.dedup();
        assert_eq!(names.len(), unique);
    }

    #[test]
    fn the_form_named_as_default_is_the_one_that_comes() {
        for entry in OPERATIONS.iter().filter(|entry| !entry.spec.toolset.is_listed_tersely()) {
            let said = with_format(entry)["properties"][FORMAT]["description"].to_string();
            let default = match entry.text_form {
                TextForm::Markdown => "markdown (default)",
                TextForm::Json | TextForm::CompactJson => "json (default)",
            };
            assert!(said.contains(default), "{}: {said}", entry.spec.tool);
        }
    }

    #[test]
    fn the_layered_toolset_and_its_daily_part_are_small() {
        let bytes = |selection: Selection| {
            let tools: Vec<Tool> = shown(&[selection]).iter().map(|entry| tool(entry)).collect();
            serde_json::to_string(&tools).expect("tools serialise").len()
        };
        let (whole, daily) =
            (bytes(Selection::Whole(Toolset::Layered)), bytes(Selection::Daily(Toolset::Layered)));
        assert!(whole <= 16 << 10, "{whole} bytes");
        assert!(daily <= 5 << 10, "{daily} bytes");
    }

    #[test]
    fn what_a_terse_list_explains_are_arguments_with_a_description() {
        for entry in OPERATIONS.iter().filter(|entry| !entry.explained.is_empty()) {
            assert!(entry.spec.toolset.is_listed_tersely(), "{}", entry.spec.tool);
            let listed = tool(entry).input_schema;
            let properties = listed["properties"].as_object().expect("properties");
            let mut told: Vec<&str> = properties
                .iter()
                .filter(|(_, property)| property["description"].is_string())
                .map(|(name, _)| name.as_str())
                .collect();
            let mut wanted = entry.explained.to_vec();
            told.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(told, wanted, "{}", entry.spec.tool);
        }
    }

    #[test]
    fn operations_for_people_are_not_shown() {
        assert!(shown(&Selection::ALL).iter().all(|e| e.spec.audience == Audience::Everyone));
        assert!(shown(&[]).is_empty());
    }

    #[test]
    fn tools_promise_no_output_schema() {
        for entry in shown(&Selection::ALL) {
            let value = serde_json::to_value(tool(entry)).expect("a tool serialises");
            assert!(value.get("outputSchema").is_none());
            assert_eq!(value["annotations"]["readOnlyHint"], entry.spec.effect == Effect::Read);
        }
    }
}
