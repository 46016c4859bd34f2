//! The tour's conversations, asked the tour's questions: a small retrieval set of our own that always runs.
//!
//! Everything goes through the operations, with the settings a user gets. The floors are what was
//! measured, less a question or two: they notice a fall, they are no goal.

use std::{collections::HashMap, path::PathBuf};

use serde_json::{Value, json};

use crate::support::Session;

/// hit@5 and hit@10, in hundredths, that each language must keep.
const FLOORS: &[(&str, usize, usize)] = &[("en", 70, 70), ("zh", 80, 85)];

fn asset(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../cli/assets/tour").join(name)
}

fn rows(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(asset(name)).expect("the tour's data");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect()
}

#[expect(clippy::panic, reason = "a row without it fails the test")]
fn word<'v>(row: &'v Value, field: &str) -> &'v str {
    row[field].as_str().unwrap_or_else(|| panic!("{row} has no {field}"))
}

#[derive(Default)]
struct Hits {
    questions: usize,
    at_5: usize,
    at_10: usize,
}

#[test]
fn the_tours_questions_find_their_answers() {
    let session = Session::with_settings(|settings| settings.project_root = Some(asset("")));
    let imported = session.ok("import", json!({ "path": asset("transcript.jsonl") }));
    let turns = rows("transcript.jsonl");
    assert_eq!(imported["added"], turns.len(), "{imported}");
    // Events are known in a recall by where and what was said; ids of a source stay in the ledger.
    let known: HashMap<(&str, &str), &str> =
        turns.iter().map(|t| ((word(t, "session"), word(t, "text")), word(t, "id"))).collect();

    let mut languages: HashMap<String, Hits> = HashMap::new();
    for question in rows("questions.jsonl") {
        let asked = json!({ "query": word(&question, "question"), "limit": 10, "budget_tokens": 8000 });
        let reply = session.ok("recall", asked);
        let hits = reply["hits"].as_array().expect("hits");
        let found: Vec<&str> = hits
            .iter()
            .filter_map(|hit| known.get(&(word(hit, "session"), word(hit, "text"))).copied())
            .collect();
        assert_eq!(found.len(), hits.len(), "hits that are no turns: {reply}");
        let answers: Vec<&str> =
            question["answers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let hit_at = |k: usize| found.iter().take(k).any(|id| answers.contains(id));
        let hits = languages.entry(word(&question, "language").to_owned()).or_default();
        hits.questions += 1;
        hits.at_5 += usize::from(hit_at(5));
        hits.at_10 += usize::from(hit_at(10));
        if !hit_at(10) {
            println!("MISS {}: {} -> {found:?}", word(&question, "id"), word(&question, "question"));
        }
    }
    for (language, at_5, at_10) in FLOORS {
        let hits = &languages[*language];
        println!("{language}: {} questions, hit@5 {}, hit@10 {}", hits.questions, hits.at_5, hits.at_10);
        assert!(
            hits.at_5 * 100 >= at_5 * hits.questions,
            "{language}: hit@5 {} of {}",
            hits.at_5,
            hits.questions
        );
        assert!(
            hits.at_10 * 100 >= at_10 * hits.questions,
            "{language}: hit@10 {} of {}",
            hits.at_10,
            hits.questions
        );
    }
    assert_eq!(languages.len(), FLOORS.len());
}
