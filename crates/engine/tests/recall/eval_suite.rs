//! The suite of questions, and p-layer's published figure beside ours.

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::error::ErrorKind;
use strata_store::files::write_atomic;

fn file(s: &Session, name: &str, text: &str) -> String {
    let path = s.home.path().join(name);
    write_atomic(&path, text.as_bytes()).expect("written");
    path.display().to_string()
}

fn filled() -> Session {
    let s = Session::new();
    for (text, kind) in [
        ("we switched to PortOne v2 for payments", "decision"),
        ("the loading dock closes at six", "fact"),
        ("결제시스템을 포트원으로 변경했다", "decision"),
        ("blue-green deployment of the web shop", "pattern"),
    ] {
        s.ok("remember", json!({ "text": text, "kind": kind }));
    }
    let gone = s.remember("payment by cheque was abolished");
    s.ok("forget", json!({ "id": gone }));
    s
}

fn suite() -> Value {
    json!({ "queries": [
        { "query": "payment", "expected": ["portone V2"] },
        { "query": "when does the loading dock close?", "expected": ["closes at six"], "k": 3 },
        { "query": "결제", "expected": ["포트원", "cheque"] },
        { "query": "deployment", "expected": ["blue-green"], "k": 1 },
    ]})
}

#[test]
fn both_engines_are_asked_the_same_of_the_same() {
    let s = filled();
    let path = file(&s, "suite.json", &suite().to_string());
    let reply = s.ok("eval_suite", json!({ "file": path }));
    assert_eq!((&reply["memories"], &reply["passed"]), (&json!(4), &json!(true)));
    let (baseline, ours) = (&reply["recall"]["baseline"], &reply["recall"]["p_layer"]);
    assert_eq!(baseline["_total"], json!({ "recall": 0.2, "hits": 1, "expected": 5 }));
    assert_eq!(ours["_total"], json!({ "recall": 0.8, "hits": 4, "expected": 5 }));
    assert_eq!(ours["payment"], json!({ "recall@5": 1.0, "hits": 1, "expected": 1 }));
    assert_eq!(
        ours["결제"],
        json!({ "recall@5": 0.5, "hits": 1, "expected": 2 }),
        "the forgotten is not found"
    );
    assert_eq!(baseline["when does the loading dock close?"]["hits"], 0, "the question mark is its error");
    let text = s.text("eval_suite", json!({ "file": file(&s, "suite.json", &suite().to_string()) }));
    assert!(text.contains("0.800") && text.contains("+0.600"), "{text}");
    assert_eq!(
        (&reply["acl"]["pass_rate"], &reply["acl"]["total"], &reply["acl"]["cases"][0]["ok"]),
        (&json!(1.0), &json!(30), &json!(true))
    );
    assert!(text.contains("ACL compliance: 100.0% (30/30)"), "{text}");
}

#[test]
fn below_the_bar_it_fails() {
    let s = filled();
    let path = file(&s, "suite.json", &suite().to_string());
    for (least, passes) in [(0.0, true), (0.8, true), (0.81, false), (1.0, false)] {
        let reply = s.reply("eval_suite", json!({ "file": path, "min_recall": least })).expect("a report");
        assert_eq!((reply.is_alarming, &reply.json["passed"]), (!passes, &json!(passes)), "{least}");
    }
    assert_eq!(s.fails("eval_suite", json!({ "file": path, "min_recall": 7 })), ErrorKind::Invalid);
}

#[test]
fn the_same_question_twice_is_reported_twice() {
    let s = filled();
    let case = json!({ "query": "payment", "expected": ["PortOne"] });
    let path = file(&s, "suite.json", &json!({ "queries": [case, case] }).to_string());
    let ours = s.ok("eval_suite", json!({ "file": path }))["recall"]["p_layer"].clone();
    assert_eq!((&ours["payment"]["hits"], &ours["payment (2)"]["hits"]), (&json!(1), &json!(1)));
    assert_eq!(ours["_total"]["expected"], 2);
}

#[test]
fn what_is_no_suite_is_refused_and_asking_creates_nothing() {
    let s = Session::new();
    for text in ["", "[]", "{\"queries\": []}", "{\"queries\": [{\"query\": \"x\", \"expected\": []}]}"] {
        assert_eq!(
            s.fails("eval_suite", json!({ "file": file(&s, "s.json", text) })),
            ErrorKind::Invalid,
            "{text}"
        );
    }
    let path = file(&s, "suite.json", &suite().to_string());
    assert_eq!(s.fails("eval_suite", json!({ "file": path })), ErrorKind::NotInitialized);
    assert!(!s.engine.is_initialised().expect("looked at"));
    let missing = s.home.path().join("missing.json");
    assert_eq!(s.fails("eval_suite", json!({ "file": missing })), ErrorKind::Unavailable);
}

#[test]
fn the_published_figure_is_measured_for_every_engine_in_one_run() {
    let s = Session::new();
    let turn = |id: &str, text: &str| json!({ "speaker": "Ana", "dia_id": id, "text": text });
    let sample = json!([{ "sample_id": "c1", "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn("D1:1", "I adopted a small dog called Biscuit"), turn("D1:2", "We painted the kitchen green"),
            turn("D1:3", " "), turn("D1:4", "The pottery class starts on Monday"),
        ],
    }, "qa": [
        { "question": "What is the dog called?", "answer": "Biscuit", "evidence": ["D1:1"], "category": 4 },
        { "question": "kitchen painted", "answer": "green", "evidence": ["D1:2; D1:4"], "category": 1 },
        { "question": "nobody knows", "evidence": ["D1:2"], "category": 5 },
        { "question": "zebra", "answer": "x", "evidence": [], "category": 4 },
    ]}]);
    let path = file(&s, "locomo.json", &sample.to_string());
    let reply = s.ok("eval_locomo", json!({ "file": path, "evidence": true, "legs": "keyword" }));
    let all = &reply["evidence"]["all"];
    assert_eq!(all["questions"], 3, "category 5 has no answer");
    let third =
        |figure: &Value, hits: u32| (figure.as_f64().expect("a figure") * 3.0 - f64::from(hits)).abs() < 1e-9;
    assert!(
        third(&all["strata"], 2) && third(&all["p_layer_words"], 2) && third(&all["or_join"], 1),
        "{all}"
    );
    assert_eq!(reply["evidence"]["multi-hop"]["questions"], 1);
    let relevant = |at: usize| reply["rows"][at]["relevant"].clone();
    assert_eq!(relevant(1), json!(["c1/D1:2"]), "of a piece of evidence the first turn");
    assert!(s.text("eval_locomo", json!({ "file": path, "evidence": true })).contains("strata hit@10"));
    let plain = s.ok("eval_locomo", json!({ "file": path, "legs": "keyword" }));
    assert!(plain.get("evidence").is_none());
    assert_eq!(plain["rows"][1]["relevant"], json!(["c1/D1:2", "c1/D1:4"]));
}
