//! The LoCoMo layout: conversations of dated sessions, and questions with evidence turns.

use std::{collections::HashMap, sync::LazyLock};

use jiff::{civil, tz::TimeZone};
use regex::Regex;
use serde_json::Value;
use strata_core::time::Timestamp;

use super::dataset::{Dataset, Item, Question};
use crate::{error::Error, import::episodes::EpisodeLine};

/// Category numbers of the data set and their names. Category 5 has no answer and is left out.
const CATEGORIES: [(i64, &str); 4] =
    [(1, "multi-hop"), (2, "temporal"), (3, "open-domain"), (4, "single-hop")];

/// Which turns that a piece of evidence names count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Every one.
    All,
    /// The first, as in p-layer's published figure.
    First,
}

fn samples(text: &str) -> Result<Vec<Value>, Error> {
    serde_json::from_str(text).map_err(|e| {
        Error::argument("file", format!("not a LoCoMo file: {e}"), "give the data set's JSON file")
    })
}

fn scope_of(index: usize, sample: &Value) -> String {
    sample["sample_id"].as_str().map_or_else(|| format!("sample-{index}"), str::to_owned)
}

/// The words of each turn by the id that [`read`] gives it, without pictures.
pub fn spoken(text: &str) -> Result<HashMap<String, String>, Error> {
    let mut spoken = HashMap::new();
    for (index, sample) in samples(text)?.iter().enumerate() {
        let scope = scope_of(index, sample);
        let sessions = sample["conversation"].as_object().into_iter().flat_map(|o| o.values());
        for turn in sessions.filter_map(Value::as_array).flatten() {
            if let (Some(id), Some(words)) = (turn["dia_id"].as_str(), turn["text"].as_str()) {
                spoken.insert(format!("{scope}/{id}"), words.to_owned());
            }
        }
    }
    Ok(spoken)
}

/// Reads a LoCoMo file: one scope per conversation, one item per turn.
pub fn read(text: &str, named: Named) -> Result<Dataset, Error> {
    let samples = samples(text)?;
    let mut dataset = Dataset::default();
    for (index, sample) in samples.iter().enumerate() {
        let scope = scope_of(index, sample);
        let turns = turns(&scope, &sample["conversation"])?;
        let known: std::collections::HashSet<&str> = turns.iter().map(|t| t.id.as_str()).collect();
        let questions = sample["qa"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (number, question) in questions.iter().enumerate() {
            dataset.questions.extend(read_question((&scope, number), question, &known, named));
        }
        dataset.items.extend(turns);
    }
    if dataset.items.is_empty() {
        return Err(Error::argument("file", "holds no conversation", "give the data set's JSON file"));
    }
    Ok(dataset)
}

fn turns(scope: &str, conversation: &Value) -> Result<Vec<Item>, Error> {
    let mut sessions: Vec<u32> = conversation
        .as_object()
        .into_iter()
        .flat_map(|o| o.iter())
        .filter(|(_, v)| v.is_array())
        .filter_map(|(k, _)| k.strip_prefix("session_")?.parse().ok())
        .collect();
    sessions.sort_unstable();
    let mut items = Vec::new();
    for session in sessions {
        let stamp = conversation[format!("session_{session}_date_time")].as_str().unwrap_or("");
        let at = session_date(stamp).ok_or_else(|| {
            Error::argument(
                "file",
                format!("session {session} of {scope} has no readable date: `{stamp}`"),
                "dates look like `1:56 pm on 8 May, 2023`",
            )
        })?;
        let list =
            conversation[format!("session_{session}")].as_array().map(Vec::as_slice).unwrap_or_default();
        items.extend(list.iter().filter_map(|t| turn(scope, session, at, t)));
    }
    Ok(items)
}

fn turn(scope: &str, session: u32, at: Timestamp, turn: &Value) -> Option<Item> {
    let id = turn["dia_id"].as_str()?.to_owned();
    let said = turn["text"].as_str().unwrap_or("");
    let text = match turn["blip_caption"].as_str().filter(|c| !c.is_empty()) {
        Some(caption) => format!("{said} [shares {caption}]"),
        None => said.to_owned(),
    };
    // A turn without a word cannot be found.
    (!text.trim().is_empty()).then(|| Item {
        scope: scope.to_owned(),
        id: format!("{scope}/{id}"),
        ordered: true,
        kind: None,
        line: EpisodeLine {
            id: Some(format!("{scope}/{id}")),
            session: Some(format!("session_{session}")),
            at: Some(at),
            speaker: turn["speaker"].as_str().map(str::to_owned),
            role: None,
            text,
            metadata: std::collections::BTreeMap::new(),
        },
    })
}

/// Evidence is written `D8:6; D9:17` and variants; every id in it counts.
fn read_question(
    (scope, number): (&str, usize),
    question: &Value,
    known: &std::collections::HashSet<&str>,
    named: Named,
) -> Option<Question> {
    static TURN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"D:?(\d+):(\d+)").expect("a valid pattern"));
    let category = question["category"].as_i64()?;
    let name = CATEGORIES.iter().find(|(n, _)| *n == category)?.1;
    let mut relevant = Vec::new();
    for evidence in question["evidence"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let most = if named == Named::First { 1 } else { usize::MAX };
        for found in TURN.captures_iter(evidence.as_str().unwrap_or("")).take(most) {
            let number = |i: usize| found[i].trim_start_matches('0').to_owned();
            let id = format!("{scope}/D{}:{}", number(1), number(2));
            if known.contains(id.as_str()) && !relevant.contains(&id) {
                relevant.push(id);
            }
        }
    }
    Some(Question {
        scope: scope.to_owned(),
        id: format!("{scope}/{number}"),
        query: question["question"].as_str()?.to_owned(),
        category: Some(name.to_owned()),
        relevant,
    })
}

/// Reads `1:56 pm on 8 May, 2023`.
pub fn session_date(text: &str) -> Option<Timestamp> {
    static DATE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(\d{1,2}):(\d{2})\s*([ap]m) on (\d{1,2}) (\w+),? (\d{4})").expect("a valid pattern")
    });
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let found = DATE.captures(text)?;
    let hour: i8 = found[1].parse().ok()?;
    let hour = hour % 12 + if &found[3] == "pm" { 12 } else { 0 };
    let month = MONTHS.iter().position(|m| found[5].to_lowercase().starts_with(m))? + 1;
    let civil = civil::DateTime::new(
        found[6].parse().ok()?,
        i8::try_from(month).ok()?,
        found[4].parse().ok()?,
        hour,
        found[2].parse().ok()?,
        0,
        0,
    )
    .ok()?;
    TimeZone::UTC.to_timestamp(civil).ok().map(Timestamp::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"[{"sample_id":"c1","conversation":{"speaker_a":"Ann","speaker_b":"Bo",
        "session_2_date_time":"1:05 am on 2 June, 2024","session_2":[{"speaker":"Bo","dia_id":"D2:1","text":"Hi","blip_caption":"a red boat"}],
        "session_1_date_time":"12:30 pm on 1 June, 2024","session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"Hello"}]},
        "qa":[{"question":"What boat?","answer":"red","evidence":["D2:01; D:1:1; D9:9"],"category":4},
              {"question":"Unanswerable?","evidence":["D1:1"],"category":5},
              {"question":"No evidence?","evidence":[],"category":1}]}]"#;

    #[test]
    fn turns_and_questions_are_read() {
        let data = read(SAMPLE, Named::All).expect("valid");
        assert_eq!(data.items.iter().map(|i| i.id.as_str()).collect::<Vec<_>>(), ["c1/D1:1", "c1/D2:1"]);
        assert_eq!(data.items[1].line.text, "Hi [shares a red boat]");
        assert_eq!(data.items[0].line.at.map(Timestamp::to_rfc3339).as_deref(), Some("2024-06-01T12:30:00Z"));
        assert_eq!(data.questions.len(), 2, "category 5 is left out");
        assert_eq!(data.questions[0].relevant, ["c1/D2:1", "c1/D1:1"]);
        assert!(data.questions[1].relevant.is_empty(), "counts as a miss");
    }

    #[test]
    fn the_published_figure_takes_the_first_turn_of_each_piece_and_the_bare_words() {
        let data = read(SAMPLE, Named::First).expect("valid");
        assert_eq!(data.questions[0].relevant, ["c1/D2:1"]);
        assert_eq!(spoken(SAMPLE).expect("valid")["c1/D2:1"], "Hi");
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        for wrong in ["", "{}", "[]", "[{\"conversation\":{\"session_1\":[{}]}}]"] {
            assert!(read(wrong, Named::All).is_err(), "{wrong}");
        }
    }
}
