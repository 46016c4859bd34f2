//! JSON Schemas in the subset that every MCP client accepts, and the lint that keeps them there.
//!
//! Clients reject or silently drop tools whose schemas carry references, unions at the root, boolean
//! sub-schemas, null arms or unsigned number formats; so none of ours do.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The schema of `T` as [`portable_of`] makes it, made once per process.
pub fn cached_of<T: JsonSchema + 'static>() -> Arc<Value> {
    static MADE: OnceLock<Mutex<HashMap<TypeId, Arc<Value>>>> = OnceLock::new();
    let mut made = MADE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(made.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(portable_of::<T>())))
}

/// The schema of `T`: a flat object, references inlined, options not required, enums plain.
pub fn portable_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut value = schema.to_value();
    simplify(&mut value);
    if let Value::Object(root) = &mut value {
        root.entry("type").or_insert_with(|| "object".into());
        root.entry("properties").or_insert_with(|| json!({}));
        root.insert("additionalProperties".into(), false.into());
    }
    value
}

fn simplify(value: &mut Value) {
    if *value == Value::Bool(true) {
        *value = json!({ "type": "object", "additionalProperties": true });
    }
    let Value::Object(object) = value else { return };
    for noise in ["$schema", "title", "$defs"] {
        object.remove(noise);
    }
    for key in ["anyOf", "oneOf"] {
        merge_arms(object, key);
    }
    drop_null(object);
    let numeric = matches!(object.get("type").and_then(Value::as_str), Some("integer" | "number"));
    if numeric {
        object.remove("format");
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    for key in ["properties", "patternProperties"] {
        if let Some(Value::Object(children)) = object.get_mut(key) {
            children.values_mut().for_each(simplify);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = object.get_mut(key).filter(|c| !c.is_boolean()) {
            simplify(child);
        }
    }
}

/// Removes the null arm of an optional value and flattens documented enum variants into one `enum`.
fn merge_arms(object: &mut Map<String, Value>, key: &str) {
    let Some(Value::Array(arms)) = object.remove(key) else { return };
    let arms: Vec<Value> = arms.into_iter().filter(|a| a["type"] != "null").collect();
    let words: Option<Vec<(Value, String)>> =
        arms.iter().map(enum_words).collect::<Option<Vec<_>>>().map(|v| v.concat());
    if let (Some(words), true) = (words, arms.len() > 1) {
        let explained = words.iter().filter(|(_, about)| !about.is_empty());
        let explained: Vec<String> =
            explained.map(|(word, about)| format!("{}: {about}", word.as_str().unwrap_or(""))).collect();
        let own = object.get("description").and_then(Value::as_str).unwrap_or("").trim_end_matches('.');
        let about = [own.to_owned(), explained.join("; ")].into_iter().filter(|part| !part.is_empty());
        let about = about.collect::<Vec<_>>().join(". ");
        object.insert("type".into(), "string".into());
        object.insert("enum".into(), words.into_iter().map(|(w, _)| w).collect());
        object.insert("description".into(), about.into());
        return;
    }
    match <[Value; 1]>::try_from(arms) {
        Ok([Value::Object(only)]) => only.into_iter().for_each(|(k, v)| {
            object.entry(k).or_insert(v);
        }),
        Ok([other]) => drop(object.insert(key.into(), json!([other]))),
        Err(arms) => drop(object.insert(key.into(), arms.into())),
    }
}

/// The words of an enum arm with their documentation, or `None` when the arm is something else.
fn enum_words(arm: &Value) -> Option<Vec<(Value, String)>> {
    let docs = arm["description"].as_str().unwrap_or("").trim_end_matches('.').to_owned();
    if let Some(word) = arm.get("const") {
        return Some(vec![(word.clone(), docs)]);
    }
    Some(arm.get("enum")?.as_array()?.iter().map(|w| (w.clone(), String::new())).collect())
}

fn drop_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get("type") {
        let rest: Vec<Value> = types.iter().filter(|t| **t != "null").cloned().collect();
        if let [only] = rest.as_slice() {
            object.insert("type".into(), only.clone());
        }
    }
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|w| !w.is_null());
    }
}

/// What in a schema some client would refuse; empty when it is portable. Each finding names its place.
pub fn lint(schema: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    if schema["type"] != "object" || !schema["properties"].is_object() {
        findings.push("the root is not an object with properties".to_owned());
    }
    walk(schema, "", &mut findings);
    findings
}

fn walk(schema: &Value, place: &str, findings: &mut Vec<String>) {
    let Value::Object(object) = schema else {
        findings.push(format!("{place}: a boolean schema"));
        return;
    };
    for banned in ["$ref", "$defs", "oneOf", "anyOf", "allOf", "nullable", "patternProperties"] {
        if object.contains_key(banned) {
            findings.push(format!("{place}: `{banned}`"));
        }
    }
    if !object.get("type").is_some_and(Value::is_string) {
        findings.push(format!("{place}: no single type"));
    }
    if object
        .get("format")
        .is_some_and(|f| f.as_str().is_some_and(|f| f.starts_with("uint") || f.starts_with("int")))
    {
        findings.push(format!("{place}: a numeric format"));
    }
    if object.get("type").is_some_and(|t| t == "array") && !object.get("items").is_some_and(Value::is_object)
    {
        findings.push(format!("{place}: an array without items"));
    }
    if let Some(Value::Object(children)) = object.get("properties") {
        for (name, child) in children {
            walk(child, &format!("{place}/{name}"), findings);
        }
    }
    if let Some(items) = object.get("items") {
        walk(items, &format!("{place}[]"), findings);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;

    use super::*;

    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema matters")]
    enum Colour {
        /// Warm.
        Red,
        Blue,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Probe {
        /// How many.
        count: Option<u32>,
        colour: Option<Colour>,
        colours: Vec<Colour>,
        extra: Option<BTreeMap<String, String>>,
        score: f32,
    }

    #[test]
    fn the_hard_shapes_come_out_portable() {
        let schema = portable_of::<Probe>();
        assert_eq!(lint(&schema), Vec::<String>::new(), "{schema:#}");
        let mut words: Vec<_> = schema["properties"]["colour"]["enum"].as_array().expect("an enum").clone();
        words.sort_by_key(Value::to_string);
        assert_eq!(words, [json!("blue"), json!("red")]);
        assert_eq!(schema["properties"]["count"]["type"], "integer");
        let required: Vec<_> = schema["required"].as_array().expect("some are required").iter().collect();
        assert_eq!(required, ["colours", "score"]);
    }
}
