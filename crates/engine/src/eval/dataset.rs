//! A labelled set: items to store, questions to ask, and which items answer them.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde::Deserialize;
use strata_core::time::{Timestamp, parse_range};

use super::locomo::session_date;
use crate::{error::Error, import::episodes::EpisodeLine};

/// Items and questions.
#[derive(Debug, Default)]
pub struct Dataset {
    /// What is stored.
    pub items: Vec<Item>,
    /// What is asked.
    pub questions: Vec<Question>,
    /// Items whose time could not be read; they are stored without one.
    pub unread_times: usize,
}

/// One item to store.
#[derive(Debug)]
pub struct Item {
    /// Each scope becomes a project of its own.
    pub scope: String,
    /// The id that questions refer to.
    pub id: String,
    /// Whether its place within the session is known: then it is an episode, else a memory.
    pub ordered: bool,
    /// The memory's kind, where the set says.
    pub kind: Option<String>,
    /// The text and what is known about it.
    pub line: EpisodeLine,
}

/// One labelled question.
#[derive(Debug)]
pub struct Question {
    /// The scope it is asked in.
    pub scope: String,
    /// The question's id.
    pub id: String,
    /// The question.
    pub query: String,
    /// The set's category.
    pub category: Option<String>,
    /// Ids that answer it.
    pub relevant: Vec<String>,
}

#[derive(Deserialize)]
struct DocumentLine {
    scope: String,
    id: String,
    text: String,
    session: Option<String>,
    pos: Option<u64>,
    speaker: Option<String>,
    time: Option<String>,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct QueryLine {
    scope: String,
    qid: String,
    query: String,
    category: Option<serde_json::Value>,
    relevant: Vec<String>,
}

/// Reads a set given as two JSON Lines texts.
pub fn read_jsonl(documents: &str, queries: &str) -> Result<Dataset, Error> {
    let mut lines: Vec<DocumentLine> = read_lines("docs", documents)?;
    lines.sort_by(|a, b| (&a.scope, &a.session, a.pos).cmp(&(&b.scope, &b.session, b.pos)));
    let unread = lines.iter().filter(|l| l.time.as_deref().is_some_and(|t| read_time(t).is_none())).count();
    let items = lines.into_iter().map(item).collect();
    let questions = read_lines::<QueryLine>("queries", queries)?.into_iter().map(question).collect();
    Ok(Dataset { items, questions, unread_times: unread })
}

fn read_lines<'a, T: Deserialize<'a>>(field: &str, text: &'a str) -> Result<Vec<T>, Error> {
    let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    lines
        .map(|(n, line)| {
            serde_json::from_str(line).map_err(|e| {
                Error::argument(
                    field,
                    format!("line {}: {e}", n + 1),
                    "one JSON object a line: docs {scope, id, text}, queries {scope, qid, query, relevant}",
                )
            })
        })
        .collect()
}

fn item(line: DocumentLine) -> Item {
    let at = line.time.as_deref().and_then(read_time);
    Item {
        ordered: line.session.is_some() && line.pos.is_some(),
        kind: line.kind,
        line: EpisodeLine {
            id: Some(line.id.clone()),
            session: line.session,
            at,
            speaker: line.speaker,
            role: None,
            text: line.text,
            metadata: BTreeMap::new(),
        },
        scope: line.scope,
        id: line.id,
    }
}

/// Reads the forms that labelled sets use: ISO, `1:56 pm on 8 May, 2023`, `2023/05/20 (Sat) 02:21`.
fn read_time(text: &str) -> Option<Timestamp> {
    let iso = |t: &str| parse_range(t, &TimeZone::UTC).ok().map(|r| r.from);
    let plain = || {
        let words = text.split_whitespace().filter(|w| !w.starts_with('('));
        iso(&words.collect::<Vec<_>>().join(" ").replace('/', "-"))
    };
    iso(text).or_else(|| session_date(text)).or_else(plain)
}

fn question(line: QueryLine) -> Question {
    let category = line.category.map(|c| c.as_str().map_or_else(|| c.to_string(), str::to_owned));
    Question { scope: line.scope, id: line.qid, query: line.query, category, relevant: line.relevant }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_with_a_place_are_episodes_and_others_memories() {
        let docs = "{\"scope\":\"s\",\"id\":\"b\",\"text\":\"two\",\"session\":\"x\",\"pos\":1}\n{\"scope\":\"s\",\"id\":\"a\",\"text\":\"one\",\"session\":\"x\",\"pos\":0}\n{\"scope\":\"s\",\"id\":\"c\",\"text\":\"three\",\"kind\":\"code\",\"time\":\"1:56 pm on 8 May, 2023\"}\n";
        let queries = "{\"scope\":\"s\",\"qid\":\"q\",\"query\":\"?\",\"relevant\":[\"a\"],\"category\":2}";
        let data = read_jsonl(docs, queries).expect("valid");
        assert_eq!(
            data.items.iter().map(|i| (i.id.as_str(), i.ordered)).collect::<Vec<_>>(),
            [("c", false), ("a", true), ("b", true)]
        );
        assert_eq!(data.questions[0].category.as_deref(), Some("2"));
    }

    #[test]
    fn the_times_of_common_sets_are_read() {
        let noon = read_time("2023-05-20T12:00:00Z");
        for text in ["2023-05-20 12:00", "12:00 pm on 20 May, 2023", "2023/05/20 (Sat) 12:00"] {
            assert_eq!(read_time(text), noon, "{text}");
        }
        let data = read_jsonl("{\"scope\":\"s\",\"id\":\"a\",\"text\":\"x\",\"time\":\"long ago\"}", "")
            .expect("taken all the same");
        assert_eq!(data.unread_times, 1);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let error = read_jsonl("{\"scope\":1}", "").expect_err("wrong");
        assert!(error.to_string().contains("line 1"), "{error}");
    }
}
