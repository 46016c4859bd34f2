//! `strata tour` on a small folder, and the data that it brings along.

use std::collections::HashSet;

use serde_json::Value;
use strata_testkit::{binary::Binary, home::TestHome};

const TRANSCRIPT: &str = include_str!("../assets/tour/transcript.jsonl");
const QUESTIONS: &str = include_str!("../assets/tour/questions.jsonl");

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect()
}

fn word<'v>(row: &'v Value, field: &str) -> &'v str {
    let text = row[field].as_str().unwrap_or_default();
    assert!(!text.is_empty(), "{row} has no {field}");
    text
}

#[test]
fn the_transcript_is_whole_and_in_order() {
    let turns = rows(TRANSCRIPT);
    let ids: HashSet<&str> = turns.iter().map(|t| word(t, "id")).collect();
    assert_eq!(ids.len(), turns.len(), "every turn has an id of its own");
    let sessions: HashSet<&str> = turns.iter().map(|t| word(t, "session")).collect();
    assert!(turns.len() >= 300 && sessions.len() >= 10, "{} turns, {} sessions", turns.len(), sessions.len());
    for turn in &turns {
        assert!(["speaker", "role", "text"].iter().all(|field| !word(turn, field).is_empty()));
    }
    let times: Vec<jiff::Timestamp> =
        turns.iter().map(|t| word(t, "at").parse().expect("an instant with its zone")).collect();
    assert!(times.is_sorted(), "turns stand in the order they were said");
    let of = |wanted: &str| turns.iter().filter(|t| t["metadata"]["language"] == wanted).count();
    assert!(of("en") >= 100 && of("zh") >= 50, "{} English, {} Chinese", of("en"), of("zh"));
    assert_eq!(of("en") + of("zh"), turns.len());
}

#[test]
fn every_answer_is_a_turn() {
    let turns = rows(TRANSCRIPT);
    let ids: HashSet<&str> = turns.iter().map(|t| word(t, "id")).collect();
    let questions = rows(QUESTIONS);
    let own: HashSet<&str> = questions.iter().map(|q| word(q, "id")).collect();
    assert_eq!(own.len(), questions.len(), "every question has an id of its own");
    for question in &questions {
        assert!(!word(question, "question").is_empty() && !word(question, "kind").is_empty());
        let answers = question["answers"].as_array().expect("answers");
        assert!(!answers.is_empty(), "{question}");
        for answer in answers {
            assert!(ids.contains(answer.as_str().unwrap_or_default()), "{question}: {answer} is no turn");
        }
    }
    let language = |wanted: &str| questions.iter().filter(|q| q["language"] == wanted).count();
    assert!(language("en") >= 20 && language("zh") >= 10);
    assert_eq!(language("en") + language("zh"), questions.len());
}

#[test]
fn the_tour_shows_the_main_job() {
    let home = TestHome::new();
    home.file("docs/guide.md", "# Guide\n\n## Deploy\nRun the migrations first.\n\n## 回滚\n先停服务。\n");
    let strata = Binary::new(env!("CARGO_BIN_EXE_strata"), &home);
    let shown = strata.run(["tour", "docs"]).success().stdout;
    let turns = TRANSCRIPT.lines().count();
    for line in [
        "The server answered `tools/list`".to_owned(),
        format!("imported {turns} episodes"),
        "1 file".to_owned(),
        "superseded mem_".to_owned(),
        "secrets were blacked out".to_owned(),
        "moved to port 5433".to_owned(),
        "部署前必须先跑数据库迁移".to_owned(),
        "Nothing found".to_owned(),
        "Credentials never go into the repository.".to_owned(),
        "error: refused".to_owned(),
        "| refused |".to_owned(),
        "strata review approve".to_owned(),
        "read the port from the settings".to_owned(),
        "\"found_by\": \"symptom\"".to_owned(),
        "\"mcpServers\"".to_owned(),
    ] {
        assert!(shown.contains(&line), "`{line}` is not in the tour:\n{shown}");
    }
    let stored = |line: &&str| line.trim_start().starts_with("- mem_") || line.starts_with("    ");
    assert!(!shown.lines().filter(stored).any(|l| l.contains("ghp_")), "a secret was stored:\n{shown}");
    assert!(!home.path().exists(), "the tour touched the user's own home");
}

#[test]
fn a_tour_of_a_folder_that_is_not_there_says_so() {
    let home = TestHome::new();
    let failed = Binary::new(env!("CARGO_BIN_EXE_strata"), &home).run(["tour", "nowhere"]);
    assert_ne!(failed.code, 0);
    assert!(failed.stderr.contains("nowhere") && !failed.stderr.contains("doctor"), "{}", failed.stderr);
    assert_eq!(failed.stdout, "", "it says so before it begins");
}
