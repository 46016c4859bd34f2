//! Arguments as models really send them, read leniently and judged strictly.
//!
//! Numbers and booleans in quotes, lists written as text, empty strings and nulls for "no filter" are
//! understood; what remains wrong is reported with the name of the field.
//!
//! A number that only says how much to show (a limit, a depth, a budget) declares its range in the schema, as
//! `#[schemars(range(min = 1, max = 200))]`. Outside it, it is brought into it and the caller is told. A number that
//! is stored, or decides something, declares none: the operation refuses it and names the range.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Number, Value};
use strata_core::time::{TimeRange, parse_range};

use crate::{error::Error, schema};

/// Names of request fields whose text people write in several words: words on the command line are joined, `-` reads
/// standard input and `@FILE` a file.
const PROSE: &[&str] = &["body", "content", "query", "question", "text", "topic", "correction", "keyword"];

/// Whether a request field is prose.
pub fn is_prose(field: &str) -> bool {
    PROSE.contains(&field)
}

/// A request as it was read.
#[derive(Debug)]
pub struct Asked<T> {
    /// The request, every amount inside its range.
    pub request: T,
    /// The amounts that had to be brought there.
    pub out_of_range: Vec<OutOfRange>,
}

/// An amount outside the range that its argument declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutOfRange {
    /// The argument's name.
    pub argument: String,
    /// What was asked for.
    pub asked: i64,
    /// What was taken instead.
    pub taken: i64,
}

impl OutOfRange {
    /// What the caller is told.
    pub fn sentence(&self) -> String {
        let (done, end) = if self.taken < self.asked { ("lowered", "highest") } else { ("raised", "least") };
        format!("`{}` was {done} to {}, the {end} there is", self.argument, self.taken)
    }
}

/// Reads arguments into a request, as [`read_asked`] does, for whoever need not know what was out of range.
///
/// # Errors
/// An argument error that names the field and says what it wants.
pub fn read<T: DeserializeOwned + JsonSchema + 'static>(
    arguments: Value,
    aliases: &[(&str, &str)],
) -> Result<T, Error> {
    Ok(read_asked(arguments, aliases)?.request)
}

/// Reads arguments into a request. `aliases` are older argument names, (alias, name).
///
/// # Errors
/// An argument error that names the field and says what it wants.
pub fn read_asked<T: DeserializeOwned + JsonSchema + 'static>(
    arguments: Value,
    aliases: &[(&str, &str)],
) -> Result<Asked<T>, Error> {
    let schema = schema::cached_of::<T>();
    let mut arguments = coerce_root(arguments, &schema, aliases)?;
    keep_out_zero(&mut arguments)?;
    let out_of_range = bring_into_range(&mut arguments, &schema);
    let request = serde_path_to_error::deserialize(&arguments).map_err(|e| {
        let path = e.path().to_string();
        let field = (path != ".").then_some(path);
        let hint = expectation(&schema, field.as_deref().unwrap_or(""));
        let message = match field.as_deref().map(|f| &arguments[top(f)]) {
            Some(Value::String(given)) => format!("`{}` does not fit", crate::render::shortened(given, 60)),
            Some(given) if !given.is_null() => format!("{} does not fit", shortened(given)),
            _ => e.into_inner().to_string(),
        };
        Error::Argument { field, message, hint }
    })?;
    Ok(Asked { request, out_of_range })
}

/// A number from 0 to 1, such as a confidence: stored, and so refused outside.
///
/// # Errors
/// An argument error that names `field`.
pub fn unit(field: &str, value: Option<f64>) -> Result<Option<f64>, Error> {
    match value {
        Some(v) if !(0.0..=1.0).contains(&v) => {
            Err(Error::argument(field, format!("{v} is out of range"), "send a number from 0 to 1"))
        }
        value => Ok(value),
    }
}

fn coerce_root(arguments: Value, schema: &Value, aliases: &[(&str, &str)]) -> Result<Value, Error> {
    let object = match arguments {
        Value::Null => Map::new(),
        Value::Object(object) => object,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => object,
            _ => return Err(not_an_object()),
        },
        _ => return Err(not_an_object()),
    };
    let known = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut out = Map::new();
    for (given, value) in object {
        let older = aliases.iter().find(|(alias, _)| *alias == given);
        let name = older.map_or_else(|| given.clone(), |(_, name)| (*name).to_owned());
        let Some(expected) = known.get(&name) else {
            let names: Vec<_> = known.keys().map(String::as_str).collect();
            return Err(Error::argument(
                &name,
                "there is no such argument",
                format!("known arguments: {}", names.join(", ")),
            ));
        };
        let required = schema["required"].as_array().is_some_and(|r| r.iter().any(|n| *n == name));
        let absent = value.is_null() || (value == "" && !required);
        if absent {
            continue;
        }
        let value = coerce(value, expected);
        // Neither is dropped in silence.
        if out.get(&name).is_some_and(|other| *other != value) {
            let message = format!("is given twice, also as {}", other_names(aliases, &name, &given));
            return Err(Error::argument(&name, message, "send one of them"));
        }
        out.insert(name, value);
    }
    if let Some(missing) = schema["required"]
        .as_array()
        .and_then(|r| r.iter().filter_map(Value::as_str).find(|n| !out.contains_key(*n)))
    {
        return Err(Error::argument(missing, "is missing", expectation(schema, missing)));
    }
    Ok(Value::Object(out))
}

/// The older names of an argument, for one who used two of its names.
fn other_names(aliases: &[(&str, &str)], name: &str, given: &str) -> String {
    let older = aliases.iter().filter(|(alias, of)| *of == name && (given == name || *alias == given));
    older.map(|(alias, _)| format!("`{alias}`")).collect::<Vec<_>>().join(" or ")
}

fn not_an_object() -> Error {
    Error::Argument {
        field: None,
        message: "arguments must be a JSON object".into(),
        hint: "send {\"name\": value, ...}".into(),
    }
}

/// The day, month or instant that a caller names, in the user's zone; blank is none.
///
/// # Errors
/// An argument error that names `field`.
pub fn moment(zone: &TimeZone, field: &str, text: Option<&str>) -> Result<Option<TimeRange>, Error> {
    let text = text.filter(|text| !text.trim().is_empty());
    text.map(|text| parse_range(text, zone).map_err(|e| Error::parse(field, &e))).transpose()
}

/// From the beginning of what `since` names to the end of what `until` does; open where none is named.
///
/// # Errors
/// As for [`moment`], and when the one lies behind the other.
pub fn period(zone: &TimeZone, since: Option<&str>, until: Option<&str>) -> Result<TimeRange, Error> {
    let (since, until) = (moment(zone, "since", since)?, moment(zone, "until", until)?);
    let period = TimeRange {
        from: since.map_or(TimeRange::ALL.from, |range| range.from),
        to: until.map_or(TimeRange::ALL.to, |range| range.to),
    };
    if period.from >= period.to {
        return Err(Error::argument("until", "lies before `since`", "swap the two"));
    }
    Ok(period)
}

/// U+0000 is no character of any text that a store keeps. It falls out of prose, where it comes from a broken copy; a
/// name that holds it is not the name that was meant.
fn keep_out_zero(arguments: &mut Value) -> Result<(), Error> {
    for (name, value) in arguments.as_object_mut().into_iter().flatten() {
        if !holds_zero(value) {
            continue;
        }
        match value {
            Value::String(text) if is_prose(name) => text.retain(|c| c != '\0'),
            _ => {
                let hint = "take it out, and send the text alone";
                return Err(Error::argument(name, "holds the character U+0000", hint));
            }
        }
    }
    Ok(())
}

fn holds_zero(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(holds_zero),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains('\0') || holds_zero(value)),
        _ => false,
    }
}

/// Brings whole numbers into the range that their schema declares. What is below zero is no amount, and fails as
/// what it is.
fn bring_into_range(arguments: &mut Value, schema: &Value) -> Vec<OutOfRange> {
    let mut outside = Vec::new();
    for (name, value) in arguments.as_object_mut().into_iter().flatten() {
        let field = &schema["properties"][name];
        let least = field["minimum"].as_i64().unwrap_or(0);
        let most = field["maximum"].as_i64().unwrap_or(i64::MAX);
        let Some(asked) = value.as_i64().filter(|asked| *asked >= 0 && field["type"] == "integer") else {
            continue;
        };
        let taken = asked.min(most).max(least);
        if taken != asked {
            *value = taken.into();
            outside.push(OutOfRange { argument: name.clone(), asked, taken });
        }
    }
    outside
}

/// Turns a value into the expected JSON type where its meaning is beyond doubt.
fn coerce(value: Value, expected: &Value) -> Value {
    match (expected["type"].as_str(), value) {
        (Some("integer"), Value::String(s)) => s.trim().parse::<i64>().map_or(Value::String(s), Value::from),
        (Some("integer"), Value::Number(n)) => whole(n),
        (Some("number"), Value::String(s)) => {
            s.trim().parse::<f64>().ok().and_then(Number::from_f64).map_or(Value::String(s), Value::Number)
        }
        (Some("boolean"), value) => boolean(value),
        (Some("string"), Value::Number(n)) => whole(n).to_string().into(),
        (Some("array"), value) => coerce_list(value, &expected["items"]),
        (Some("object"), Value::String(s)) => match serde_json::from_str::<Value>(&s) {
            Ok(Value::Object(o)) => Value::Object(o),
            _ => Value::String(s),
        },
        (_, value) => value,
    }
}

/// A word for yes or no as what it means.
pub(crate) fn boolean(value: Value) -> Value {
    let Value::String(word) = value else { return value };
    match word.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => true.into(),
        "false" | "no" | "0" => false.into(),
        _ => Value::String(word),
    }
}

/// `3.0` is a whole number; `3.5` stays what it is and fails with its field named.
fn whole(n: Number) -> Value {
    match n.as_f64() {
        Some(f) if n.as_i64().is_none() && f.fract() == 0.0 && f.abs() < 9e15 => Value::from(f as i64),
        _ => Value::Number(n),
    }
}

fn coerce_list(value: Value, items: &Value) -> Value {
    let list = match value {
        Value::Array(list) => list,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(list)) => list,
            _ if items["type"] == "string" => {
                text.split(',').map(str::trim).filter(|s| !s.is_empty()).map(Value::from).collect()
            }
            _ => vec![Value::String(text)],
        },
        other => vec![other],
    };
    list.into_iter().filter(|v| !v.is_null() && *v != "").map(|v| coerce(v, items)).collect()
}

/// The request's field that a path begins with.
fn top(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or(path)
}

/// A value as it is quoted in an error.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    let kept: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
    if kept.len() < text.len() { format!("`{kept}…`") } else { format!("`{kept}`") }
}

/// What a field wants, in words, from its schema.
fn expectation(schema: &Value, path: &str) -> String {
    let field = &schema["properties"][top(path)];
    let text = match field["type"].as_str() {
        Some("integer") => "send a whole number".to_owned(),
        Some("number") => "send a number".to_owned(),
        Some("boolean") => "send true or false".to_owned(),
        Some("array") => "send a list".to_owned(),
        Some("object") => "send an object".to_owned(),
        _ => "send a text".to_owned(),
    };
    let words = field["enum"].as_array().or_else(|| field["items"]["enum"].as_array());
    if let Some(words) = words {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        return format!("use one of {}", words.join(", "));
    }
    match field["description"].as_str() {
        Some(about) => format!("{text}: {about}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Probe {
        /// What to look for.
        query: String,
        #[schemars(range(min = 1, max = 20))]
        limit: Option<u32>,
        /// A number with a meaning of its own.
        days: Option<u32>,
        strict: Option<bool>,
        tags: Option<Vec<String>>,
    }

    fn probe(value: Value) -> Result<Probe, Error> {
        read(value, &[("q", "query")])
    }

    #[test]
    fn what_models_send_is_understood() {
        let expected = Probe {
            query: "q".into(),
            limit: Some(3),
            days: None,
            strict: Some(true),
            tags: Some(vec!["a".into(), "b".into()]),
        };
        assert_eq!(
            probe(json!({"query": "q", "limit": "3", "strict": "true", "tags": "[\"a\",\"b\"]"}))
                .expect("lenient"),
            expected
        );
        assert_eq!(
            probe(json!({"query": "q", "limit": 3.0, "strict": "yes", "tags": "a, b"})).expect("lenient"),
            expected
        );
    }

    #[test]
    fn older_names_are_accepted() {
        assert_eq!(probe(json!({"q": "x"})).expect("an alias").query, "x");
    }

    #[test]
    fn empty_filters_are_no_filters() {
        let got =
            probe(json!({"query": "q", "limit": "", "strict": null, "tags": ""})).expect("field case 8");
        assert_eq!(got, Probe { query: "q".into(), limit: None, days: None, strict: None, tags: None });
    }

    #[test]
    fn an_amount_is_brought_into_its_range_and_told() {
        let asked = |limit: Value| {
            let value = json!({"query": "q", "limit": limit, "days": 90});
            let Asked { request, out_of_range } = read_asked::<Probe>(value, &[]).expect("an amount");
            assert_eq!(request.days, Some(90), "a number without a range stays");
            (request.limit, out_of_range.iter().map(OutOfRange::sentence).collect::<Vec<_>>().join("; "))
        };
        assert_eq!(asked(json!(20)), (Some(20), String::new()));
        assert_eq!(asked(json!("21")), (Some(20), "`limit` was lowered to 20, the highest there is".into()));
        assert_eq!(asked(json!(0)), (Some(1), "`limit` was raised to 1, the least there is".into()));
        assert_eq!(asked(json!(i64::MAX)).0, Some(20));
    }

    #[test]
    fn the_zero_character_falls_out_of_prose_and_is_refused_in_names() {
        assert_eq!(probe(json!({"query": "a\u{0}b\u{0}"})).expect("prose").query, "ab");
        for tags in [json!(["a\u{0}"]), json!("\u{0}")] {
            let error = probe(json!({"query": "q", "tags": tags})).expect_err("a name");
            assert!(error.to_string().contains("`tags`: holds the character U+0000"), "{error}");
        }
    }

    #[test]
    fn errors_name_the_field_and_the_remedy() {
        for (value, field) in [
            (json!({"query": "q", "limit": "many"}), "limit"),
            (json!({"query": "q", "limit": -1}), "limit"),
            (json!({"limit": 1}), "query"),
            (json!({"query": "q", "colour": 1}), "colour"),
            (json!({"query": {"a": 1}}), "query"),
        ] {
            let error = probe(value.clone()).expect_err("must fail");
            assert!(error.to_string().contains(field), "{value}: {error}");
            assert!(!error.hint().is_empty());
        }
        assert!(probe(json!([1])).is_err());
        assert!(probe(json!("text")).is_err());
    }
}
