use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::time::Timestamp;

fn terms(text: &str) -> Vec<String> {
    analyze_passage(text).terms.into_iter().map(|(term, _)| term).collect()
}

fn has(text: &str, wanted: &[&str]) {
    let found = terms(text);
    for term in wanted {
        assert!(found.iter().any(|t| t == term), "{text:?} gives {found:?}, not {term:?}");
    }
}

fn searched(text: &str) -> Vec<String> {
    query(text, &[]).terms.into_iter().map(|t| t.text).collect()
}

fn query(text: &str, people: &[&str]) -> Query {
    analyze_query(text, &QueryContext { people, ..QueryContext::default() })
}

#[test]
fn plain_english_gives_stems_and_the_length_counts_content_words() {
    let passage = analyze_passage("The children went swimming, and Caroline's photos didn't arrive.");
    let expected = ["child", "go", "swim", "carolin", "pic", "arriv"];
    for term in expected {
        assert!(passage.terms.iter().any(|(t, _)| t == term), "{term} in {:?}", passage.terms);
    }
    assert_eq!(passage.length, 6);
}

#[test]
fn identifiers_are_whole_and_in_pieces() {
    has("call getUserName(id)", &["getusername", "get", "user", "name"]);
    has("parseHTTPResponse", &["parsehttpresponse", "pars", "http", "respons"]);
    has("max_retry_count", &["max_retry_count", "max", "retri", "count"]);
    has("see foo/bar.py v2.1", &["foo/bar.py", "bar.py", "foo", "bar", "py", "v2.1", "2.1"]);
    has("std::collections::HashMap", &["std::collections::hashmap", "hashmap", "hash", "map", "std"]);
    has("ubuntu 20.04 on db-1.prod.example.com", &["20.04", "db-1.prod.example.com", "db-1", "example.com"]);
    has("C++ and C# at 10.0.0.1:5432", &["c++", "c#", "10.0.0.1", "5432"]);
    has("utf8 h264", &["utf8", "h264", "8", "264"]);
    has("O'Brien", &["o'brien", "brien"]);
}

#[test]
fn mixed_scripts_are_cut_where_the_script_changes() {
    has("L0录入", &["l0", "录", "入", "录入"]);
    has("重跑gen-itgc后", &["重跑", "gen-itgc", "gen", "itgc", "后"]);
    has("１２３号 ＡＢＣ", &["123", "号", "abc"]);
    has("オンライン会議", &["会議", "ライ", "ン会"]);
    has("결제시스템", &["결제", "제시", "시스", "스템"]);
    has("나 집", &["나", "집"]);
    has("ภาษาไทย", &["ภา", "าษ"]);
    has("שלום עולם", &["שלום", "עולם"]);
    has("ship it 🎉", &["ship", "🎉"]);
}

#[test]
fn field_cases_tokens() {
    for (doc, wanted) in [
        ("今日は成語しりとりをした", "しりとり"),
        ("오늘 끝말잇기 게임을 했다", "끝말잇기"),
        ("今天玩成语接龙游戏", "成语接龙"),
        ("人工智能技术发展迅速", "人工智能"),
        ("人工智能技术发展迅速", "技术"),
        ("L0录入", "录入"),
        ("L0录入", "L0"),
    ] {
        let index = terms(doc);
        let search = searched(wanted);
        assert!(!search.is_empty() && search.iter().all(|t| index.contains(t)), "{wanted} in {doc}");
    }
}

#[test]
fn function_words_go_unless_nothing_remains() {
    assert_eq!(searched("what is the plan"), ["plan"]);
    assert_eq!(searched("to be or not to be"), ["to", "be", "or", "not"]);
    assert_eq!(searched("原蹄兽是什么？").first().map(String::as_str), Some("原"));
    assert!(!searched("什么").is_empty());
    assert!(searched("几何").contains(&"几何".to_owned()), "a short query is no question");
    assert!(searched("?!").is_empty());
}

#[test]
fn names_are_noticed_and_roles_are_not() {
    let people = ["Melanie", "Caroline", "user", "李雷"];
    let found = query("What did Caroline tell Melanie's kids?", &people);
    assert_eq!(found.people, [1, 0], "in order of mention");
    let named: Vec<_> = found.terms.iter().filter(|t| t.is_name).map(|t| t.text.as_str()).collect();
    assert_eq!(named, ["carolin", "melani"]);
    assert!(query("Which user wrote it?", &people).people.is_empty());
    assert!(query("Carolines", &people).people.is_empty(), "whole words only");
    assert_eq!(query("李雷喜欢什么？", &people).people, [3]);
    assert!(query("Caroline", &people).terms.iter().all(|t| !t.is_name), "a name alone is searched for");
}

#[test]
fn a_first_name_is_enough_when_it_is_one_persons() {
    let people = ["Ada Lovelace", "Grace Hopper", "Grace Kelly", "Will Smith"];
    assert_eq!(query("What did Ada write?", &people).people, [0]);
    assert!(query("ada compiler", &people).people.is_empty(), "a first name has its capital");
    assert!(query("What did Grace write?", &people).people.is_empty(), "two people");
    assert_eq!(query("grace hopper's notes", &people).people, [1]);
    assert!(query("Will it rain?", &people).people.is_empty());
}

#[test]
fn dates_are_read_in_english_and_cjk() {
    let dates = |text: &str| query(text, &[]).dates;
    let check = |text: &str, years: &[i16], months: &[i8], days: &[i8]| {
        let found = dates(text);
        assert_eq!((&*found.years, &*found.months, &*found.days), (years, months, days), "{text}");
    };
    check("What happened on May 8, 2023?", &[2023], &[5], &[8]);
    check("on 8th of May", &[], &[5], &[8]);
    check("may I ask who may come", &[], &[], &[]);
    check("in May", &[], &[5], &[]);
    check("2023-05-08", &[2023], &[5], &[8]);
    check("2023年5月8日", &[2023], &[5], &[8]);
    check("２０２３年十二月", &[2023], &[12], &[]);
    check("2023년 5월 8일에", &[2023], &[5], &[8]);
    check("Sept 3", &[], &[9], &[3]);
    check("a march on the capital in 2021", &[2021], &[3], &[]);
    check("the marching band", &[], &[], &[]);
}

#[test]
fn relative_words_are_resolved_against_now() {
    let now = Timestamp::from("2026-03-18T10:00:00Z".parse::<jiff::Timestamp>().expect("valid"));
    let zone = TimeZone::fixed(jiff::tz::offset(8));
    let day = |text: &str| {
        let context = QueryContext { people: &[], now: Some(now), zone: zone.clone() };
        let ranges = analyze_query(text, &context).dates.ranges;
        ranges
            .iter()
            .map(|r| (r.from.to_date(&zone), Timestamp(r.to.0 - 1).to_date(&zone)))
            .collect::<Vec<_>>()
    };
    let one = |from: &str, to: &str| vec![(from.to_owned(), to.to_owned())];
    assert_eq!(day("what did I do yesterday"), one("2026-03-17", "2026-03-17"));
    assert_eq!(day("昨天做了什么"), one("2026-03-17", "2026-03-17"));
    assert_eq!(day("the day before yesterday"), one("2026-03-16", "2026-03-16"));
    assert_eq!(day("last week"), one("2026-03-09", "2026-03-15"));
    assert_eq!(day("上周的会议"), one("2026-03-09", "2026-03-15"));
    assert_eq!(day("先月"), one("2026-02-01", "2026-02-28"));
    assert_eq!(day("작년에"), one("2025-01-01", "2025-12-31"));
    assert_eq!(day("three days ago"), one("2026-03-15", "2026-03-15"));
    assert_eq!(day("2个月前"), one("2026-01-01", "2026-01-31"));
    assert!(query("yesterday", &[]).dates.is_empty(), "without now it is only a word");
}

#[test]
fn questions_about_time_are_known_in_four_languages() {
    for text in [
        "When did she move?",
        "How long is it?",
        "什么时候开会？",
        "언제 만나요?",
        "いつですか",
        "何年に生まれた",
    ] {
        assert!(query(text, &[]).asks_when, "{text}");
    }
    for text in ["What did she say when it rained?", "哪里", "어디"] {
        assert!(!query(text, &[]).asks_when, "{text}");
    }
}

#[test]
fn passages_are_marked() {
    for text in
        ["I went there yesterday.", "in 2021", "two weeks later", "昨天去了", "2023年", "지난주에", "先週"]
    {
        assert!(analyze_passage(text).has_time_expression, "{text}");
    }
    assert!(!analyze_passage("I like apples").has_time_expression);
    assert!(analyze_passage("Really? ").is_question && analyze_passage("真的吗？").is_question);
    assert!(analyze_passage("Is this it? [shares a photo of a dog]").is_question);
    assert!(analyze_passage("今天玩成语接龙").is_mostly_cjk() && !analyze_passage("plain").is_mostly_cjk());
}

#[test]
fn near_duplicates_keep_numbers_and_negations_apart() {
    let print = |text: &str| analyze_passage(text).fingerprint;
    let text = "the payment service listens on port 5432 behind the gateway in every region we run";
    assert!(print(text).is_near(print(&text.to_uppercase())));
    assert!(!print(text).is_near(print(&text.replace("5432", "5433"))));
    assert!(!print(text).is_near(print(&text.replace("listens", "does not listen"))));
    assert!(!print(text).is_near(print("a picture of a dog in the park")));
}

#[test]
fn huge_input_is_bounded() {
    let huge = "x".repeat(5_000_000);
    assert!(analyze_passage(&huge).terms.iter().all(|(t, _)| t.len() <= tokens::MAX_TERM));
    let words: String = (0..200_000).map(|n| format!("word{n} ")).collect();
    let found = query(&words, &[]);
    assert!(found.terms.len() <= MAX_QUERY_TERMS && found.is_truncated);
    assert!(analyze_passage(&"-.".repeat(500_000)).terms.is_empty());
    assert!(analyze_passage(&"a.".repeat(300_000)).length <= 300_000);
    assert_eq!(analyze_passage(&"e\u{301}\u{300}".repeat(100_000)).length, 1);
}

proptest! {
    #[test]
    fn any_text_is_safe_and_the_query_uses_the_terms_of_the_index(text in any::<String>()) {
        let passage = analyze_passage(&text);
        prop_assert!(passage.terms.iter().all(|(t, n)| !t.is_empty() && *n > 0));
        prop_assert!(passage.terms.windows(2).all(|w| w[0].0 < w[1].0));
        let found = query(&text, &["Ann", "李"]);
        prop_assert!(found.terms.len() <= MAX_QUERY_TERMS);
        let index = terms(&text);
        if cjk_free(&text) {
            prop_assert!(found.terms.iter().all(|t| index.contains(&t.text)));
        }
    }

    #[test]
    fn any_date_text_is_safe(text in "[0-9年月日/. a-z-]{0,40}", now in any::<i64>()) {
        let context = QueryContext { now: Some(Timestamp(now)), ..QueryContext::default() };
        let found = analyze_query(&text, &context);
        let mut scorer = DateScorer::new(&found.dates, &found.zone);
        let score = scorer.score(now);
        prop_assert!((0.0..=2.5).contains(&score));
    }
}

/// Question phrases are taken out of CJK queries only.
fn cjk_free(text: &str) -> bool {
    script::cjk_share(&normalise::normalise(text)) == 0.0
}
