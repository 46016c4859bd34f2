//! One entry of the ontology, and reading a file of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryType {
    /// A text that is referred to.
    Document,
    /// A rule that holds.
    Policy,
    /// A unit of behaviour.
    Neuron,
}

/// The words of [`EntryType`].
const TYPES: [&str; 3] = ["document", "policy", "neuron"];

/// The fields that hold a text.
const TEXTS: [&str; 5] = ["id", "type", "space", "title", "file"];

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its id, unique in the file.
    pub id: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: EntryType,
    /// The area it belongs to.
    pub space: String,
    /// Its headline.
    pub title: String,
    /// The file it speaks of; a name that is never opened here.
    pub file: String,
    /// Ids that it refers to.
    #[serde(default)]
    pub links: Vec<String>,
}

/// What a file of entries holds.
#[derive(Debug, Default)]
pub struct Reading {
    /// What is wrong, each with its line.
    pub errors: Vec<String>,
    /// Lines that are not blank.
    pub count: usize,
    /// The line of each id.
    pub ids: BTreeMap<String, usize>,
}

/// Reads a file of entries.
pub fn read(text: &str) -> Reading {
    let mut reading = Reading::default();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        if !line.trim().is_empty() {
            reading.count += 1;
            reading.line(number + 1, line);
        }
    }
    reading
}

impl Reading {
    fn line(&mut self, number: usize, line: &str) {
        let entry = match serde_json::from_str(line) {
            Ok(Value::Object(entry)) => entry,
            Ok(_) => return self.errors.push(format!("{number}: not a JSON object")),
            Err(e) => {
                return self
                    .errors
                    .push(format!("{number}: not JSON: {e}").replace(" at line 1 column ", " at column "));
            }
        };
        self.errors.extend(problems(&entry).into_iter().map(|p| format!("{number}: {p}")));
        let Some(id) = entry.get("id").and_then(Value::as_str).filter(|id| !id.trim().is_empty()) else {
            return;
        };
        match self.ids.get(id) {
            Some(first) => self.errors.push(format!("{number}: duplicate id '{id}' (first at {first})")),
            None => drop(self.ids.insert(id.to_owned(), number)),
        }
    }
}

fn problems(entry: &Map<String, Value>) -> Vec<String> {
    let text = |field: &str| entry.get(field).and_then(Value::as_str).map(str::trim).unwrap_or_default();
    let mut problems: Vec<String> = TEXTS
        .iter()
        .filter(|field| text(field).is_empty())
        .map(|field| format!("field '{field}' is missing or empty"))
        .collect();
    if !text("type").is_empty() && !TYPES.contains(&text("type")) {
        problems.push(format!("type '{}' is not allowed; use one of {}", text("type"), TYPES.join(", ")));
    }
    let links = entry.get("links").map(|links| links.as_array().map(Vec::as_slice));
    if !links.is_none_or(|links| links.is_some_and(|links| links.iter().all(Value::is_string))) {
        problems.push("links must be a list of strings".into());
    }
    problems
}

impl Entry {
    /// What is wrong with it.
    pub fn problems(&self) -> Vec<String> {
        match serde_json::to_value(self) {
            Ok(Value::Object(entry)) => problems(&entry),
            _ => vec!["not a JSON object".into()],
        }
    }

    /// The line that stands for it in a file, without its end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("texts and lists of texts are always JSON")
    }
}

/// The file with one more line. A last line that had no end gets one, in the manner of the file.
pub fn with_line(file: &str, line: &str) -> String {
    let end = if file.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if file.is_empty() || file.ends_with('\n') { "" } else { end };
    format!("{file}{gap}{line}{end}")
}

/// The file without the lines of `id`, every other byte as it was, and how many lines went.
pub fn without(file: &str, id: &str) -> (String, usize) {
    let is_it = |line: &&str| {
        serde_json::from_str::<Value>(line.trim_start_matches('\u{feff}'))
            .is_ok_and(|entry| entry["id"] == id)
    };
    let kept: String = file.split_inclusive('\n').filter(|line| !is_it(line)).collect();
    let gone = file.split_inclusive('\n').filter(is_it).count();
    (kept, gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str) -> String {
        format!(
            "{{\"id\":\"{id}\",\"type\":\"policy\",\"space\":\"s\",\"title\":\"t\",\"file\":\"f\",\"links\":[],\"more\":1}}"
        )
    }

    #[test]
    fn every_mistake_is_named_with_its_line() {
        let file = format!(
            "{}\n\nnot json\n[1]\n{{\"id\":\"b\",\"type\":\"song\",\"space\":\"\",\"title\":1,\"file\":\"f\",\"links\":[1]}}\n{}\n",
            line("a"),
            line("a")
        );
        let reading = read(&file);
        assert_eq!(reading.count, 5);
        for part in [
            "3: not JSON",
            "4: not a JSON object",
            "5: field 'space'",
            "5: field 'title'",
            "5: type 'song'",
            "5: links",
            "6: duplicate id 'a' (first at 1)",
        ] {
            assert!(reading.errors.iter().any(|e| e.starts_with(part)), "{part}: {:?}", reading.errors);
        }
        assert_eq!(reading.errors.len(), 7);
        assert!(read(&format!("\u{feff}{}\r\n{}", line("a"), line("b"))).errors.is_empty());
    }

    #[test]
    fn lines_are_added_and_removed_without_touching_others() {
        let file = format!("{}\n  {}", line("a"), line("b"));
        let more = with_line(&file, &line("c"));
        assert_eq!(more, format!("{file}\n{}\n", line("c")));
        assert_eq!(without(&more, "b"), (format!("{}\n{}\n", line("a"), line("c")), 1));
        assert_eq!(without(&more, "z").1, 0);
        assert_eq!(with_line("", "x"), "x\n");
        assert_eq!(with_line("a\r\nb", "x"), "a\r\nb\r\nx\r\n");
    }
}
