//! Labelled sets outside the project: the LoCoMo layout and JSONL sets.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};

use jiff::civil;
use serde_json::Value;
use strata_core::rank::Flags;

/// One searchable item.
pub(crate) struct Doc {
    pub(crate) text: String,
    pub(crate) group: Option<String>,
    pub(crate) is_ordered: bool,
    pub(crate) owner: Option<String>,
    pub(crate) at: Option<i64>,
    pub(crate) kind: u8,
    /// What is embedded.
    pub(crate) embedded: String,
}

/// One labelled question.
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) relevant: Vec<usize>,
}

/// One scope with its questions.
pub(crate) struct Scope {
    pub(crate) docs: Vec<Doc>,
    pub(crate) questions: Vec<Question>,
}

/// The folder of the labelled sets, or `None` (with a notice) when there is none.
pub(crate) fn folder() -> Option<PathBuf> {
    let path = std::env::var_os("STRATA_DATA").map(PathBuf::from);
    let path = path.filter(|folder| folder.join("locomo-dev.json").is_file());
    if path.is_none() {
        println!("skipped: set STRATA_DATA to the folder of the labelled sets");
    }
    path
}

/// A conversation file in the LoCoMo layout; questions of category 5 are left out.
pub(crate) fn locomo(path: &Path) -> Vec<Scope> {
    let text = fs::read_to_string(path).expect("the file was there a moment ago");
    let samples: Vec<Value> = serde_json::from_str(&text).expect("a list of conversations");
    samples.iter().map(conversation).collect()
}

fn conversation(sample: &Value) -> Scope {
    let talk = sample["conversation"].as_object().expect("a conversation");
    let mut docs: Vec<Doc> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let mut ids = HashMap::new();
    for number in 1..=talk.len() {
        let Some(turns) = talk.get(&format!("session_{number}")).and_then(Value::as_array) else { continue };
        let at = moment(talk[&format!("session_{number}_date_time")].as_str().unwrap_or_default());
        let first = docs.len();
        for turn in turns {
            let speaker = turn["speaker"].as_str().unwrap_or_default();
            let caption = turn["blip_caption"].as_str().map(|c| format!(" [shares {c}]")).unwrap_or_default();
            let text = format!("{}{caption}", turn["text"].as_str().unwrap_or_default());
            lines.push(format!("{speaker}: {text}"));
            let window = lines.len().saturating_sub(3).max(first);
            ids.insert(turn["dia_id"].as_str().unwrap_or_default().to_owned(), docs.len());
            docs.push(Doc {
                embedded: lines[window..].join("\n"),
                text,
                group: Some(format!("session_{number}")),
                is_ordered: true,
                owner: Some(speaker.to_owned()),
                at,
                kind: Flags::TURN,
            });
        }
    }
    let asked = sample["qa"].as_array().expect("questions");
    let questions = asked
        .iter()
        .filter(|q| q["category"].as_i64() != Some(5))
        .map(|q| Question {
            text: q["question"].as_str().unwrap_or_default().to_owned(),
            relevant: evidence(q, &ids),
        })
        .collect();
    Scope { docs, questions }
}

fn evidence(question: &Value, ids: &HashMap<String, usize>) -> Vec<usize> {
    let mut found = Vec::new();
    for entry in question["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        for mark in entry.split(|c: char| !c.is_ascii_alphanumeric() && c != ':') {
            let numbers: Vec<u32> =
                mark.trim_start_matches('D').split(':').filter_map(|n| n.parse().ok()).collect();
            if let [session, turn] = numbers[..]
                && let Some(at) = ids.get(&format!("D{session}:{turn}"))
                && !found.contains(at)
            {
                found.push(*at);
            }
        }
    }
    found
}

/// `1:56 pm on 8 May, 2023` as microseconds UTC.
fn moment(text: &str) -> Option<i64> {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (clock, day) = text.split_once(" on ")?;
    let (time, half) = clock.split_once(' ')?;
    let (hour, minute) = time.split_once(':')?;
    let mut date = day.split([' ', ',']).filter(|w| !w.is_empty());
    let day: i8 = date.next()?.parse().ok()?;
    let name = date.next()?;
    let month = i8::try_from(months.iter().position(|m| name.starts_with(m))? + 1).ok()?;
    let hour = hour.parse::<i8>().ok()? % 12 + if half == "pm" { 12 } else { 0 };
    let civil =
        civil::DateTime::new(date.next()?.parse().ok()?, month, day, hour, minute.parse().ok()?, 0, 0)
            .ok()?;
    jiff::tz::TimeZone::UTC.to_timestamp(civil).ok().map(jiff::Timestamp::as_microsecond)
}

/// A JSONL set: `docs.jsonl` and `queries.jsonl`.
pub(crate) fn jsonl(folder: &Path) -> Vec<Scope> {
    let read = |name: &str| -> Vec<Value> {
        let text = fs::read_to_string(folder.join(name)).expect("the set is complete");
        text.lines().map(|l| serde_json::from_str(l).expect("one object per line")).collect()
    };
    let mut scopes: BTreeMap<String, (Scope, HashMap<String, usize>)> = BTreeMap::new();
    for row in read("docs.jsonl") {
        let word = |field: &str| row[field].as_str().map(str::to_owned);
        let (scope, ids) = scopes
            .entry(word("scope").unwrap_or_default())
            .or_insert_with(|| (Scope { docs: Vec::new(), questions: Vec::new() }, HashMap::new()));
        ids.insert(word("id").unwrap_or_default(), scope.docs.len());
        scope.docs.push(Doc {
            text: word("text").unwrap_or_default(),
            group: word("session"),
            is_ordered: row.get("pos").is_some(),
            owner: word("speaker"),
            at: word("time").as_deref().and_then(moment),
            kind: if row["kind"] == "code" { Flags::CODE } else { 0 },
            embedded: word("text").unwrap_or_default(),
        });
    }
    for row in read("queries.jsonl") {
        let Some((scope, ids)) = row["scope"].as_str().and_then(|s| scopes.get_mut(s)) else { continue };
        let relevant = row["relevant"].as_array().into_iter().flatten();
        scope.questions.push(Question {
            text: row["query"].as_str().unwrap_or_default().to_owned(),
            relevant: relevant.filter_map(|r| ids.get(r.as_str()?).copied()).collect(),
        });
    }
    scopes.into_values().map(|(scope, _)| scope).collect()
}
