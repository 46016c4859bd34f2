//! What was typed, as the JSON arguments of an operation.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use clap::ArgMatches;
use serde_json::{Map, Value};
use strata_core::error::ErrorKind;
use strata_engine::{operation::Entry, request::is_prose};

use crate::{
    arguments::{Global, as_denial, as_option},
    failure::Failure,
};

/// The most bytes read from a file or standard input for one argument. Operations have tighter
/// limits of their own; this one keeps the machine's memory.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The arguments of an operation. Types stay as typed: the request reader knows what it wants.
pub(crate) fn arguments(entry: &Entry, matches: &ArgMatches, global: &Global) -> Result<Value, Failure> {
    let schema = (entry.request_schema)();
    let mut arguments = Map::new();
    for (field, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = global_value(field, global) {
            arguments.insert(field.clone(), value);
            continue;
        }
        if matches.try_get_one::<bool>(&as_denial(field)).ok().flatten() == Some(&true) {
            arguments.insert(field.clone(), false.into());
            continue;
        }
        let as_typed = |id: &str| matches.try_get_many::<String>(id).ok().flatten();
        let Some(given) = as_typed(field).or_else(|| as_typed(&as_option(field))) else { continue };
        let given: Vec<String> = given.map(|word| canonical(word, property)).collect();
        let value = match property["type"].as_str() {
            Some("array") if is_list_of_objects(property) => objects(&given)?.into(),
            Some("array") => given.iter().flat_map(|word| items(word)).collect(),
            _ if is_prose(field) => Value::from(prose(&given)?),
            _ => given.into_iter().next_back().map_or(Value::Null, Value::from),
        };
        arguments.insert(field.clone(), value);
    }
    Ok(Value::Object(arguments))
}

/// A field that an option of every command speaks for.
fn global_value(field: &str, global: &Global) -> Option<Value> {
    match field {
        "project" => global.project.as_ref().map(|p| p.to_string_lossy().into()),
        "namespace" => global.namespace.clone().map(Value::from),
        _ => None,
    }
}

/// The schema's spelling of a word that was typed in another case.
fn canonical(word: &str, property: &Value) -> String {
    let words = property["enum"].as_array().or_else(|| property["items"]["enum"].as_array());
    let same = |w: &&str| w.eq_ignore_ascii_case(word);
    words.and_then(|w| w.iter().filter_map(Value::as_str).find(same)).unwrap_or(word).to_owned()
}

/// Whether an argument is a list of objects, which are typed as JSON or read from where they are.
pub(crate) fn is_list_of_objects(property: &Value) -> bool {
    property["type"] == "array" && property["items"]["type"] == "object"
}

/// The objects that stand in JSON texts, one by one or in a list; `-` and `@FILE` are read as for a text.
fn objects(given: &[String]) -> Result<Vec<Value>, Failure> {
    let mut found = Vec::new();
    for word in given {
        let text = prose(std::slice::from_ref(word))?;
        match serde_json::from_str(&text) {
            Ok(Value::Array(list)) => found.extend(list),
            Ok(value) => found.push(value),
            Err(_) => found.push(text.into()),
        }
    }
    Ok(found)
}

/// The elements of a list that one value stands for: `a,b` is two, `first, then second` is a sentence.
fn items(text: &str) -> Vec<Value> {
    if text.contains(char::is_whitespace) {
        return vec![text.into()];
    }
    text.split(',').filter(|part| !part.is_empty()).map(Value::from).collect()
}

/// Words joined; `-` is standard input, `@FILE` a file, `@@` a literal `@`.
fn prose(words: &[String]) -> Result<String, Failure> {
    match words {
        [only] if only == "-" => read_text(io::stdin().lock(), "standard input"),
        [only] if only.starts_with("@@") => Ok(only[1..].to_owned()),
        [only] if only.len() > 1 && only.starts_with('@') => read_file(&only[1..]),
        _ => Ok(words.join(" ")),
    }
}

fn read_file(name: &str) -> Result<String, Failure> {
    let open = || -> io::Result<fs::File> {
        let file = fs::File::open(Path::new(name))?;
        if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
    };
    let file = open().map_err(|e| {
        Failure::new(
            ErrorKind::Unavailable,
            format!("cannot read `{name}`: {e}"),
            format!("name a readable file after @, or write @@{name} to mean the text itself"),
        )
    })?;
    read_text(file, name)
}

fn read_text(from: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Failure::new(ErrorKind::Unavailable, format!("cannot read {name}: {e}"), "try again"))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::new(
            ErrorKind::TooLarge,
            format!("{name} has more than {MAX_BYTES} bytes"),
            "split the text",
        ));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Failure::usage(format!("{name} is not UTF-8: byte {at} is wrong"), "convert it to UTF-8 first")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(words: &[&str]) -> Result<String, Failure> {
        prose(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_joined_and_at_signs_can_be_meant() {
        assert_eq!(words(&["how", "to", "deploy"]).expect("text"), "how to deploy");
        assert_eq!(words(&["@@alice"]).expect("text"), "@alice");
        assert_eq!(words(&["@"]).expect("text"), "@");
        assert_eq!(words(&["@a", "b"]).expect("text"), "@a b");
    }

    #[test]
    fn files_are_read_and_their_faults_are_typed() {
        let dir = tempfile::tempdir().expect("temporary directory");
        let path = dir.path().join("note.md");
        #[expect(clippy::disallowed_methods, reason = "a test fixture needs no atomic write")]
        fs::write(&path, "记忆\n").expect("fixture");
        assert_eq!(words(&[&format!("@{}", path.display())]).expect("read"), "记忆\n");
        assert_eq!(
            words(&[&format!("@{}", dir.path().display())]).expect_err("a directory").kind,
            ErrorKind::Unavailable
        );
        assert!(words(&["@nowhere.md"]).expect_err("missing").hint.contains("@@nowhere.md"));
        assert_eq!(read_text(&b"a\xff"[..], "x").expect_err("no UTF-8").kind, ErrorKind::Invalid);
    }

    #[test]
    fn words_take_the_spelling_of_the_schema_and_objects_are_parsed() {
        assert_eq!(canonical("p0", &json!({"enum": ["P0", "P1"]})), "P0");
        assert_eq!(canonical("x", &json!({"items": {"enum": ["P0"]}})), "x");
    }

    #[test]
    fn lists_are_split_at_commas_unless_they_are_sentences() {
        assert_eq!(items("a,b,"), [json!("a"), json!("b")]);
        assert_eq!(items("log of the move, step 3"), [json!("log of the move, step 3")]);
    }

    #[test]
    fn objects_are_typed_one_by_one_or_in_a_list_or_read_from_a_file() {
        assert!(is_list_of_objects(&json!({"type": "array", "items": {"type": "object"}})));
        assert!(!is_list_of_objects(&json!({"type": "array", "items": {"type": "string"}})));
        let dir = tempfile::tempdir().expect("temporary directory");
        let path = dir.path().join("items.json");
        #[expect(clippy::disallowed_methods, reason = "a test fixture needs no atomic write")]
        fs::write(&path, r#"[{"c": 3}]"#).expect("fixture");
        let given = [r#"[{"a":[1,2]},{"b":2}]"#, "nonsense", &format!("@{}", path.display())];
        let found = objects(&given.map(str::to_owned)).expect("read");
        assert_eq!(found, [json!({"a": [1, 2]}), json!({"b": 2}), json!("nonsense"), json!({"c": 3})]);
    }
}
