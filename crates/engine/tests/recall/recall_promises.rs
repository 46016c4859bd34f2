//! What recall promises whatever happened to the index: the same answers from the same truth, in its time,
//! its place and the user's zone.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use crate::support::{NOON, Session, ids};
use serde_json::{Value, json};
use strata_core::{
    principal::PrincipalKind,
    scope::Scope,
    signing::{DerivationParams, SecretKey},
    time::Timestamp,
};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
};
use strata_testkit::store::TestStore;

const TRANSCRIPT: &str = include_str!("../../../cli/assets/tour/transcript.jsonl");
const QUESTIONS: &str = include_str!("../../../cli/assets/tour/questions.jsonl");
const DAY: i64 = 86_400_000_000;

fn import(s: &Session, lines: &str) -> Value {
    let file = s.home.path().join("in.jsonl");
    strata_store::files::write_atomic(&file, lines.as_bytes()).expect("fixture");
    s.ok("import", json!({ "path": file, "source": "test" }))
}

/// The same home, opened anew at another time: nothing in memory is kept.
fn opened_at(s: Session, days: i64) -> Session {
    let engine = Engine::with_sources(
        s.engine.settings().clone(),
        Box::new(ManualClock::at(Timestamp(NOON.0 + days * DAY))),
        Box::new(SeededIds::new(900_000 + days.unsigned_abs())),
    );
    Session { engine, ..s }
}

fn reopened(s: Session) -> Session {
    opened_at(s, 0)
}

/// The transcript of the tour and so many generated memories, some corrected, some forgotten.
fn furnished(memories: usize) -> Session {
    let mut s = Session::new();
    s.set_kind(PrincipalKind::Human);
    s.secret = Some(SecretKey::derive("correct horse", &[3; 16], DerivationParams::CHEAP).expect("derived"));
    s.ok("init", json!({}));
    import(&s, TRANSCRIPT);
    for n in 0..memories {
        let id = s.remember(&format!(
            "The {} service in region {} listens on port {} and is owned by team {}.",
            ["billing", "search", "mail", "media", "login"][n % 5],
            n % 12,
            7_000 + n,
            ["amber", "birch", "cedar"][n % 3],
        ));
        if n % 9 == 0 {
            s.ok(
                "update",
                json!({ "id": id, "text": format!("Service number {n} was moved to port {}.", 9_000 + n) }),
            );
        } else if n % 11 == 0 {
            s.ok("forget", json!({ "id": id, "reason": "retired" }));
        }
    }
    s
}

/// Five hundred questions and more in English and Chinese, on a server every fifth of them: those of the tour, and
/// parts of what was said.
fn questions() -> Vec<String> {
    let field = |line: &str, name: &str| {
        let value: Value = serde_json::from_str(line).expect("JSON");
        value[name].as_str().expect("text").to_owned()
    };
    let mut all: Vec<String> = QUESTIONS.lines().map(|l| field(l, "question")).collect();
    all.extend(TRANSCRIPT.lines().step_by(2).map(|l| field(l, "text").chars().take(60).collect()));
    for n in 0..130 {
        all.push(format!(
            "which port does the {} service in region {} use",
            ["billing", "mail"][n % 2],
            n % 12
        ));
        all.push(format!("port {}", 7_000 + n));
    }
    assert!(all.len() >= 500, "{}", all.len());
    all.into_iter().step_by(TestStore::times(1, 5)).collect()
}

/// Ids and scores of every answer: equal texts mean equal ranks and equal numbers.
fn answers(s: &Session, questions: &[String]) -> Vec<String> {
    let answer = |question: &String| {
        let reply = s.ok("recall", json!({ "query": question, "limit": 10, "budget_tokens": 8000 }));
        let mut line = question.clone();
        for hit in reply["hits"].as_array().expect("hits") {
            write!(line, " {} {}", hit["id"], hit["score"]).expect("a text grows");
        }
        line
    };
    questions.iter().map(answer).collect()
}

/// Searches until the index has followed everything.
fn settled(s: Session) -> Session {
    while !s.ok("recall", json!({ "query": "port" }))["index_behind"].is_null() {}
    s
}

/// What the first hit says, whether anything was left out, and how long that took.
fn asked(s: &Session, question: &str) -> (String, bool, Duration) {
    let started = Instant::now();
    let reply = s.ok("recall", json!({ "query": question }));
    let took = started.elapsed();
    let text = reply["hits"][0]["text"].as_str().unwrap_or_default().to_owned();
    (text, reply["unsearched"].as_u64().is_some_and(|n| n > 0), took)
}

#[test]
fn what_is_remembered_while_a_large_import_waits_for_the_index_is_found_at_once() {
    let mut s = Session::new();
    s.set_kind(PrincipalKind::Human);
    s.remember("the quay is made of larch");
    let other = s.reopened();
    let control = strata_store::sql::Control::default();
    let writer = other.searcher().index().writer(&control).expect("a writer").expect("nobody else writes");
    let lines = (0..30_000).fold(String::new(), |mut lines, n| {
        writeln!(lines, "{{\"id\":\"{n}\",\"session\":\"{}\",\"text\":\"buoy {n} was painted\"}}", n / 40)
            .expect("a text grows");
        lines
    });
    import(&s, &lines);
    let s = opened_at(s, 1);
    s.remember("the lighthouse keeper is called Edda");
    s.ok("remember", json!({ "text": "등대지기는 밤마다 기름을 채운다" }));

    let mut s = opened_at(s, 2);
    let mut fastest = Duration::MAX;
    for (writer, days) in [(Some(writer), 3), (None, 6)] {
        for days in days..days + 3 {
            s = opened_at(s, days);
            let (text, left_out, took) = asked(&s, "who is the lighthouse keeper?");
            assert!(left_out && text.contains("Edda"), "{text}");
            let (text, _, again) = asked(&s, "등대지기");
            assert_eq!(text, "등대지기는 밤마다 기름을 채운다");
            fastest = fastest.min(took).min(again);
        }
        drop(writer);
    }
    assert!(fastest < Duration::from_millis(300), "{fastest:?}");
    let id = s.recall("what is the quay made of").swap_remove(0);
    s.ok("forget", json!({ "id": id, "reason": "it burnt down" }));
    let again = s.recall("what is the quay made of larch");
    assert!(!again.contains(&id), "what is forgotten meanwhile is not found: {again:?}");
}

#[test]
fn what_an_unfinished_index_leaves_out_is_said() {
    let mut s = Session::new();
    s.set_kind(PrincipalKind::Human);
    let lines = (0..700).fold(String::new(), |mut lines, n| {
        writeln!(lines, "{{\"id\":\"{n}\",\"text\":\"buoy {n} was painted\"}}").expect("a text grows");
        lines
    });
    import(&s, &lines);
    s.remember("the lighthouse keeper is called Edda");
    let s = settled(s);
    s.home.lose_indexes();
    let s = reopened(s);
    let other = s.reopened();
    let control = strata_store::sql::Control::default();
    let index = other.searcher().index();
    index.open(&control).expect("opened");
    let writer = index.writer(&control).expect("a writer").expect("nobody else writes");
    let reply = s.ok("recall", json!({ "query": "lighthouse keeper" }));
    assert!(reply["unsearched"].as_u64().is_some_and(|n| n > 0), "{reply:#}");
    assert_eq!(ids(&reply).len(), 1, "memories are searched all the same: {reply:#}");
    let text = s.text("recall", json!({ "query": "lighthouse keeper" }));
    assert!(text.contains("not searched yet: ") && text.contains("; ask again"), "{text}");
    drop(writer);
    let s = settled(s);
    assert_eq!(s.recall("lighthouse keeper").len(), 1);
    assert!(!s.text("recall", json!({ "query": "lighthouse keeper" })).contains("not searched"));
}

#[test]
fn a_deleted_index_a_restored_ledger_and_a_fresh_start_give_the_same_answers() {
    let s = settled(furnished(240));
    let questions = questions();
    let first = answers(&s, &questions);
    let answered = first.iter().filter(|a| a.contains("_")).count();
    assert!(answered * 10 >= questions.len() * 8, "{answered} of {}", questions.len());
    // Where the index itself is the same, a part of them would show a difference.
    let part = |answers: &[String]| answers.iter().step_by(5).cloned().collect::<Vec<_>>();
    let (some, first_of_some) = (part(&questions), part(&first));
    assert_eq!(answers(&s, &some), first_of_some, "warm");
    let s = reopened(s);
    assert_eq!(answers(&s, &some), first_of_some, "cold");
    s.home.lose_indexes();
    let s = settled(reopened(s));
    assert_eq!(answers(&s, &questions), first, "index deleted");
    let backup = s.ok("backup_create", json!({}));
    for n in 0..30 {
        s.remember(&format!("The billing service in region {} was shut down, incident {n}.", n % 12));
    }
    assert_ne!(answers(&s, &some), first_of_some, "what came later takes part");
    s.ok("backup_restore", json!({ "id": backup["id"], "force": true }));
    let s = settled(s);
    assert_eq!(answers(&s, &questions), first, "restored");
    assert_eq!(answers(&reopened(s), &some), first_of_some, "restored and cold");
}

#[test]
fn as_of_shows_the_memory_as_it_was() {
    let s = Session::new();
    let old = s.remember("the meeting room is on floor two");
    let s = opened_at(s, 10);
    let new =
        s.ok("update", json!({ "id": old, "text": "the meeting room is on floor seven" }))["id"].clone();
    let s = opened_at(s, 20);
    s.ok("forget", json!({ "id": new }));
    let s = opened_at(s, 30);
    let then =
        |as_of: &str| json!(ids(&s.ok("recall", json!({ "query": "meeting room floor", "as_of": as_of }))));
    assert_eq!(then("2026-06-14"), json!([]), "before it was stored");
    assert_eq!(then("2026-06-15"), json!([old]), "the end of that day");
    assert_eq!(then("2026-06-15T11:59:59Z"), json!([]));
    assert_eq!(then("2026-06-24"), json!([old]));
    assert_eq!(then("2026-06-25"), json!([new]));
    assert_eq!(then("2026-07-04"), json!([new]));
    assert_eq!(then("2026-07-05"), json!([]));
    assert!(s.recall("meeting room floor").is_empty());
}

#[test]
fn valid_at_asks_what_was_true_then() {
    let s = Session::new();
    let store = |text: &str, from: &str, to: &str| {
        s.ok("remember", json!({ "text": text, "valid_from": from, "valid_to": to }))["id"].clone()
    };
    let winter = store("opening hours of the museum shop are ten to four", "2026-01-01", "2026-03-31");
    let summer = store("opening hours of the museum shop are nine to eight", "2026-04-01", "");
    let at = |day: &str| {
        json!(ids(&s.ok("recall", json!({ "query": "museum shop opening hours", "valid_at": day }))))
    };
    assert_eq!(at("2025-12-31"), json!([]));
    assert_eq!(at("2026-01-01"), json!([winter]));
    assert_eq!(at("2026-03-31"), json!([winter]), "the last day counts whole");
    assert_eq!(at("2026-04-01"), json!([summer]));
    assert_eq!(json!(s.recall("museum shop opening hours")), json!([summer]), "now");
}

#[test]
fn days_are_half_open_in_the_users_zone() {
    let zone = jiff::tz::TimeZone::get("Asia/Shanghai").expect("known");
    let mut s = Session::with_settings(|settings| settings.zone = zone);
    s.set_kind(PrincipalKind::Human);
    // Shanghai is eight hours ahead: these are the last and first minute of days there, not in UTC.
    import(
        &s,
        "{\"id\":\"a\",\"at\":\"2026-03-30T15:59:00Z\",\"text\":\"ferry: last minute of the 30th\"}\n\
         {\"id\":\"b\",\"at\":\"2026-03-30T16:00:00Z\",\"text\":\"ferry: first minute of the 31st\"}\n\
         {\"id\":\"c\",\"at\":\"2026-03-31T15:59:59.999999Z\",\"text\":\"ferry: last instant of the 31st\"}\n\
         {\"id\":\"d\",\"at\":\"2026-03-31T16:00:00Z\",\"text\":\"ferry: first instant of April\"}\n",
    );
    let found = |since: &str, until: &str| {
        let reply = s.ok("recall", json!({ "query": "ferry", "since": since, "until": until }));
        let mut found: Vec<String> = reply["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .map(|h| h["external_id"].as_str().expect("an id").to_owned())
            .collect();
        found.sort();
        found.concat()
    };
    assert_eq!(found("2026-03-31", "2026-03-31"), "bc");
    assert_eq!(found("", "2026-03-30"), "a");
    assert_eq!(found("2026-04-01", ""), "d");
    assert_eq!(found("2026-03-30", "2026-04-01"), "abcd");
    let dated = s.ok("recall", json!({ "query": "first instant of April" }));
    assert_eq!(dated["hits"][0]["date"], "2026-04-01", "dates are shown in the same zone");
}

/// Field case 42, as far as one store decides it.
#[test]
fn field_case_42_a_branchs_memory_shows_on_the_branch_only() {
    let mut s = Session::new();
    let on = |branch: &str| Scope { branch: Some(branch.into()), ..Scope::project("app") };
    s.scope = on("feat");
    let branch =
        s.ok("remember", json!({ "text": "the parser is rewritten by hand here", "scope": "branch" }));
    let project = s.remember("the parser is covered by fuzz tests");
    let both = |s: &Session| {
        let mut found = s.recall("parser");
        found.sort();
        found
    };
    let id = branch["id"].as_str().expect("an id").to_owned();
    let mut all = vec![id.clone(), project.clone()];
    all.sort();
    assert_eq!(both(&s), all);
    s.scope = on("main");
    assert_eq!(both(&s), [project.as_str()]);
    assert!(!s.text("context", json!({ "query": "parser" })).contains("by hand"));
    assert!(!s.text("context", json!({})).contains("by hand"));
    let mut asked = ids(&s.ok("recall", json!({ "query": "parser", "branch": "feat" })));
    asked.sort();
    assert_eq!(asked, all, "unless asked for");
    s.scope = Scope::project("app");
    assert_eq!(both(&s), [project]);
}

#[test]
fn a_scoped_search_without_a_hit_says_where_hits_are() {
    let mut s = Session::new();
    s.set_kind(PrincipalKind::Human);
    s.scope = Scope::project("shop");
    s.remember("the till is counted twice a day");
    let reply = s.ok("recall", json!({ "query": "till counted", "layers": ["P6"] }));
    assert_eq!(reply["elsewhere"]["without_filters"], 1, "{reply:#}");
    let text = s.text("recall", json!({ "query": "till counted", "since": "2030-01-01" }));
    assert!(text.contains("without the filters: 1 hit"), "{text}");
    s.scope = Scope::project("garden");
    let reply = s.ok("recall", json!({ "query": "till counted" }));
    assert_eq!(reply["elsewhere"]["projects"], json!(["shop"]), "a person is told the project");
    assert!(s.text("recall", json!({ "query": "till counted" })).contains("shop"));
    s.set_kind(PrincipalKind::Agent);
    assert!(s.ok("recall", json!({ "query": "till counted" }))["elsewhere"].is_null(), "an agent is not");
}

#[test]
fn filters_hold_before_the_best_are_taken() {
    let s = Session::new();
    for n in 0..300 {
        s.remember(&format!("rollout {n}: the rollout of wave {n} was finished without trouble"));
    }
    let fix = s.ok(
        "remember",
        json!({ "text": "a rollout was repeated after the cache went stale", "kind": "fix" }),
    );
    for filter in
        [json!({ "kinds": ["fix"] }), json!({ "layers": ["P6"] }), json!({ "kinds": "fix", "limit": 1 })]
    {
        let mut arguments = json!({ "query": "rollout" });
        arguments.as_object_mut().expect("an object").extend(filter.as_object().expect("an object").clone());
        assert_eq!(json!(ids(&s.ok("recall", arguments))), json!([fix["id"]]), "{filter}");
    }
}

#[test]
fn field_case_23_an_import_is_repeated_without_effect_and_its_secrets_are_gone() {
    let mut s = Session::new();
    s.set_kind(PrincipalKind::Human);
    let aws = format!("AKIA{}", "Q3EXAMPLE7ABCDEF");
    let lines = format!(
        "{{\"id\":\"a\",\"session\":\"s\",\"text\":\"my password is hunter2, the office is blue\",\
         \"metadata\":{{\"api_key\":\"{aws}\",\"mood\":\"good\"}}}}\n\
         {{\"type\":\"relation\",\"text\":\"one\"}}{{\"type\":\"entity\",\"text\":\"two\"}}\n{{\"text\":\"cut of"
    );
    let first = import(&s, &lines);
    let again = import(&s, &lines);
    let status = s.ok("status", json!({}));
    assert_eq!(status["holds"]["episodes"], 3, "{first:#} {again:#}");
    assert!(first.to_string().contains('3'), "the cut line is named: {first:#}");
    let hit = s.ok("recall", json!({ "query": "office blue" }))["hits"][0]["id"].clone();
    let shown = s.ok("inspect", json!({ "id": hit })).to_string();
    assert!(shown.contains("good") && shown.contains("office is blue"), "{shown}");
    for secret in ["hunter2", aws.as_str()] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
}

/// Field case 39: storing needs no model, so a long text is stored as it is or not at all.
#[test]
fn field_case_39_four_kilobytes_of_prose_are_kept_word_for_word() {
    for model in ["static", "off"] {
        let s = Session::with_settings(|settings| settings.config.semantic.model = model.into());
        let prose: String = (0..60).fold(String::new(), |mut text, n| {
            writeln!(text, "On day {n} the crew measured {} knots and wrote it down.", n * 3 % 17)
                .expect("grows");
            text
        });
        assert!(prose.len() >= 3_000);
        let id = s.remember(&prose);
        assert_eq!(s.ok("inspect", json!({ "id": id }))["text"], prose);
    }
}

/// The README's own example, among other things that are remembered.
#[test]
fn a_brief_question_finds_what_one_of_its_words_names() {
    let s = Session::new();
    let wanted = s.remember("We moved payments to PortOne v2, because v1 ends in May");
    for other in [
        "The office printer is on the second floor",
        "Deploys happen on Tuesdays after the review",
        "The staging database listens on port 5433",
        "Odile prefers short commit messages",
        "The nightly backup goes to the NAS at 03:15",
    ] {
        s.remember(other);
    }
    assert_eq!(s.recall("which payment provider?").first(), Some(&wanted));
    assert!(s.recall("sourdough recipe").is_empty());
    assert_eq!(
        s.fails("recall", serde_json::json!({ "query": " " })),
        strata_core::error::ErrorKind::Invalid
    );
}

#[test]
fn a_limit_above_the_highest_is_said_to_be_lowered() {
    let s = furnished(40);
    let answer = s.ok("recall", json!({ "query": "which port does billing use", "limit": 99_999 }));
    assert_eq!(answer["out_of_range"], json!([{ "argument": "limit", "asked": 99_999, "taken": 100 }]));
    assert!(s.text("recall", json!({ "query": "port", "limit": 99_999 })).contains("lowered to 100"));
    assert!(s.ok("recall", json!({ "query": "port", "limit": 100 })).get("out_of_range").is_none());
}

#[test]
fn near_misses_fit_into_the_budget_too() {
    let s = furnished(40);
    let asked = |budget: u32| {
        let arguments = json!({ "query": "which port does billing use", "limit": 3, "explain": true, "budget_tokens": budget });
        (s.ok("recall", arguments.clone()), s.text("recall", arguments))
    };
    let (wide, _) = asked(8_000);
    let all = wide["near_misses"].as_array().expect("near misses").len();
    assert!(all > 1 && wide.get("near_misses_left_out").is_none(), "{wide:#}");
    let (narrow, text) = asked(700);
    let shown = narrow["near_misses"].as_array().map_or(0, Vec::len);
    assert_eq!(narrow["near_misses_left_out"].as_u64(), Some((all - shown) as u64), "{narrow:#}");
    assert!(shown < all);
    let tokens = strata_core::budget::estimate_tokens(&text);
    assert!(tokens <= 700, "{tokens} tokens: {text}");
}

#[test]
fn an_explanation_is_told_in_words() {
    let s = furnished(40);
    let text =
        s.text("recall", json!({ "query": "which port does billing use", "limit": 1, "explain": true }));
    for part in ["score ", "lexical +", "rank by words #1", "BM25 ", "evidence: ", "% of the query's words"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('{'), "no JSON: {text}");
}
