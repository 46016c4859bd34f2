//! p-layer's checks of recall, by number. The specification's `type` is `kind` here.

use crate::support::{Session, ids};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, scope::Scope};
use strata_engine::settings::Fusion;

fn remember(s: &Session, arguments: Value) -> String {
    s.ok("remember", arguments)["id"].as_str().expect("an id").to_owned()
}

#[test]
fn p_layer_c5_the_quick_start_finds_its_memory_and_says_why() {
    let s = Session::new();
    remember(
        &s,
        json!({ "content": "we switched to PortOne v2 for payments", "type": "decision", "source": "onboarding", "session": "s1" }),
    );
    let reply = s.ok("recall", json!({ "query": "payment", "why": true }));
    let hit = &reply["hits"][0];
    assert_eq!(ids(&reply).len(), 1);
    assert_eq!((hit["origin"].as_str(), hit["session"].as_str()), (Some("onboarding"), Some("s1")));
    assert!(hit["created_at"].as_str().is_some_and(|t| t.starts_with("2026-06-15T12:00:00")), "{hit:#}");
    let text = s.text("recall", json!({ "query": "payment", "why": true }));
    for part in ["PortOne v2", "onboarding", "session=s1", "created=2026-06-15T12:00:00"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn p_layer_c6_the_quick_starts_context_holds_its_memory() {
    let s = Session::new();
    remember(&s, json!({ "text": "we switched to PortOne v2 for payments", "kind": "decision" }));
    assert!(s.text("context", json!({ "query": "current payment task" })).contains("PortOne"));
}

#[test]
fn p_layer_c7_why_names_the_session_or_its_absence() {
    let s = Session::new();
    remember(&s, json!({ "text": "x note", "session": "s1" }));
    assert!(s.text("recall", json!({ "query": "note", "why": true })).contains("session=s1"));
    assert!(!s.text("recall", json!({ "query": "note" })).contains("session="), "only when asked");
    remember(&s, json!({ "text": "a marble statue" }));
    assert!(s.text("recall", json!({ "query": "marble", "why": true })).contains("session=none"));
}

#[test]
fn p_layer_c32_operators_and_punctuation_in_a_question_find_the_obvious() {
    let s = Session::new();
    let id = s.remember("the deploy pipeline runs nightly");
    for query in [
        "when does the deploy pipeline run?",
        "deploy: pipeline",
        "deploy-pipeline",
        "\"deploy pipeline",
        "deploy*",
        "deploy OR pipeline",
        "deploy AND NOT pipeline",
        "NEAR deploy",
    ] {
        assert_eq!(s.recall(query), [id.as_str()], "{query}");
    }
}

#[test]
fn p_layer_c33_parts_of_compounds_find_the_whole() {
    let s = Session::new();
    let id = s.remember("blue-green deployment of Caroline's foo/bar.py v2.1");
    for query in ["blue-green", "Caroline's", "bar.py", "v2.1"] {
        assert_eq!(s.recall(query), [id.as_str()], "{query}");
    }
}

#[test]
fn p_layer_c34_words_inside_korean_and_chinese_runs_are_found() {
    for model in ["off", "static"] {
        let s = Session::with_settings(|settings| settings.config.semantic.model = model.into());
        let korean = s.remember("결제시스템을 포트원으로 변경했다");
        let chinese = s.remember("我们切换到新的支付系统");
        for (query, id) in [("결제", &korean), ("포트원", &korean), ("支付", &chinese)] {
            assert_eq!(s.recall(query).first(), Some(id), "{query} with the model {model}");
        }
    }
}

/// The same text is stored once in a scope, so the two stand in scopes that the reader sees both.
#[test]
fn p_layer_c35_of_the_same_text_the_surer_one_comes_first() {
    for surer_first in [false, true] {
        let mut s = Session::new();
        let text = "the invoices are archived on the tape robot";
        let store = |s: &mut Session, scope: Scope, confidence: f64| {
            s.scope = scope;
            remember(s, json!({ "text": text, "confidence": confidence }))
        };
        let (project, user) = (Scope::project("shop"), Scope::user());
        let (low, high) = if surer_first { (user, project) } else { (project, user) };
        store(&mut s, low, 0.2);
        let sure = store(&mut s, high, 1.0);
        s.scope = Scope::project("shop");
        let reply = s.ok("recall", json!({ "query": "archived invoices" }));
        assert_eq!(ids(&reply), [sure], "{reply:#}");
        assert_eq!(reply["hits"][0]["duplicates"], 1, "the other says the same and is counted");
    }
}

/// A session with p-layer's order, by words alone as p-layer has it without an embedding server.
fn in_order(fusion: Fusion) -> Session {
    Session::with_settings(|settings| {
        settings.config.semantic.model = "off".into();
        settings.config.recall.fusion = fusion;
    })
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn p_layer_c37_the_documented_fusion_gives_the_documented_score() {
    let s = in_order(Fusion::Rrf);
    remember(&s, json!({ "text": "payment gateway", "confidence": 1.0 }));
    let reply = s.ok("recall", json!({ "query": "payment" }));
    let hit = &reply["hits"][0];
    assert_eq!((number(&hit["score"]), number(&hit["rrf"])), (0.016_843, 0.0164));
    let expected =
        json!({ "rrf": 0.0164, "confidence_boost": 0.00025, "recency_boost": 0.0002, "ttl_boost": 0.0 });
    assert_eq!(hit["rerank_components"], expected);
    let reply = s.ok("recall", json!({ "query": "payment", "explain": true }));
    let components = &reply["hits"][0]["explanation"]["components"];
    assert_eq!(components["rrf"], 0.0164, "{components}");
    let plain = Session::new();
    remember(&plain, json!({ "text": "payment gateway" }));
    let hit = plain.ok("recall", json!({ "query": "payment" }))["hits"][0].clone();
    assert!(hit.get("rrf").is_none() && hit.get("rerank_components").is_none(), "{hit}");
}

#[test]
fn p_layer_c39_the_older_order_is_rrf_times_confidence_times_freshness() {
    let s = in_order(Fusion::Legacy);
    let doubtful = remember(&s, json!({ "text": "payment payment gateway", "confidence": 0.0 }));
    let sure =
        remember(&s, json!({ "text": "one payment is settled by the night batch", "confidence": 1.0 }));
    let reply = s.ok("recall", json!({ "query": "payment" }));
    assert_eq!(ids(&reply), [sure, doubtful], "{reply:#}");
    let scores: Vec<f64> = (0..2).map(|at| number(&reply["hits"][at]["score"])).collect();
    assert_eq!(scores, [0.0161, 0.0082], "1/62 and half of 1/61");
    assert!(reply["hits"][0].get("rerank_components").is_none(), "{reply:#}");

    let s = in_order(Fusion::Legacy);
    let lasting = remember(&s, json!({ "text": "payment payment gateway", "confidence": 1.0 }));
    let fresh = remember(
        &s,
        json!({ "text": "one payment is settled by the night batch", "confidence": 1.0, "ttl_days": 10 }),
    );
    let reply = s.ok("recall", json!({ "query": "payment" }));
    assert_eq!(ids(&reply), [fresh.as_str(), lasting.as_str()]);
    assert_eq!(number(&reply["hits"][0]["score"]), 0.021, "1/62 x 1.3");
    let s = at(s, 9);
    assert_eq!(ids(&s.ok("recall", json!({ "query": "payment" }))), [fresh, lasting], "1/62 x 1.03");
}

#[test]
fn the_time_left_to_live_adds_to_the_documented_score() {
    let s = in_order(Fusion::Rrf);
    remember(&s, json!({ "text": "payment gateway", "confidence": 1.0, "ttl_days": 10 }));
    let boosts = |s: &Session| {
        s.ok("recall", json!({ "query": "payment" }))["hits"][0]["rerank_components"]["ttl_boost"].clone()
    };
    assert_eq!(number(&boosts(&s)), 0.0002);
    let s = at(s, 5);
    assert_eq!(number(&boosts(&s)), 0.0001);
    let s = at(s, 11);
    assert!(ids(&s.ok("recall", json!({ "query": "payment" }))).is_empty(), "expired");
}

#[test]
fn the_boosts_are_configured() {
    let s = Session::with_settings(|settings| {
        settings.config.semantic.model = "off".into();
        settings.config.recall.fusion = Fusion::Rrf;
        settings.config.recall.confidence_gain = 0.01;
        settings.config.recall.recency_gain = 0.0;
    });
    remember(&s, json!({ "text": "payment gateway", "confidence": 1.0 }));
    let hit = s.ok("recall", json!({ "query": "payment" }))["hits"][0].clone();
    assert_eq!(number(&hit["score"]), 0.021_393);
    assert_eq!(number(&hit["rerank_components"]["recency_boost"]), 0.0);
}

const PATTERNS: [&str; 6] = [
    "payment retries back off twice as long each time",
    "payment webhooks are idempotent by their event id",
    "every payment amount is kept in minor units",
    "a payment that hangs is cancelled after ten minutes",
    "payment adapters live behind one narrow interface",
    "the payment ledger is reconciled before invoices go out",
];
const FACTS: [&str; 4] = [
    "the payment provider for Korea is PortOne",
    "our payment desk in Lisbon closes at six",
    "card payment fees were 1.4 percent last spring",
    "the oldest payment in the archive is from 2009",
];

#[test]
fn p_layer_c41_each_kind_has_its_turn_under_p_layers_orders() {
    for fusion in [Fusion::Rrf, Fusion::Legacy] {
        let s = in_order(fusion);
        for text in PATTERNS {
            remember(&s, json!({ "text": text, "kind": "pattern" }));
        }
        for text in FACTS {
            remember(&s, json!({ "text": text, "kind": "fact" }));
        }
        let reply = s.ok("recall", json!({ "query": "payment", "limit": 10, "budget_tokens": 8000 }));
        let kinds: Vec<&str> = reply["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .map(|h| h["kind"].as_str().expect("a kind"))
            .collect();
        assert_eq!(kinds.len(), 10, "{kinds:?}");
        for kind in ["pattern", "fact"] {
            assert_eq!(kinds[..6].iter().filter(|k| **k == kind).count(), 3, "{kinds:?}");
        }
        let only = s.ok("recall", json!({ "query": "payment", "kinds": ["pattern"], "limit": 5 }));
        assert_eq!(ids(&only).len(), 5, "one kind has no cap");
    }
}

#[test]
fn p_layer_c38_no_confidence_at_all_is_still_found() {
    let s = Session::new();
    let id = remember(&s, json!({ "text": "the spare key hangs in the boiler room", "confidence": 0 }));
    s.remember("the canteen opens at eleven");
    assert_eq!(s.recall("spare key"), [id]);
}

#[test]
fn p_layer_c42_a_limit_is_filled_while_there_are_candidates() {
    for fusion in [Fusion::Convex, Fusion::Rrf, Fusion::Legacy] {
        let s = Session::with_settings(|settings| settings.config.recall.fusion = fusion);
        for n in 0..20 {
            remember(&s, json!({ "text": format!("payment provider {n} settles in {} days", n + 2) }));
        }
        remember(&s, json!({ "text": "we keep one payment provider per country", "kind": "decision" }));
        let reply = s.ok("recall", json!({ "query": "payment provider", "limit": 10 }));
        assert_eq!(ids(&reply).len(), 10, "{fusion:?}");
    }
}

#[test]
fn p_layer_c43_a_word_that_nobody_wrote_finds_nothing() {
    let s = Session::new();
    for n in 0..200 {
        s.remember(&format!("ticket {n}: the printer on floor {} needs toner cartridge {}", n % 9, n * 7));
    }
    let text = s.text("recall", json!({ "query": "zebra" }));
    assert!(text.contains("Nothing found in memory for \"zebra\""), "{text}");
    let context = s.ok("context", json!({ "query": "zebra" }));
    assert_eq!(context["ids"], json!([]), "{context:#}");
}

#[test]
fn p_layer_c44_a_number_that_is_none_is_refused() {
    let s = Session::new();
    let keep = s.remember("the ledger is append only");
    for arguments in [
        json!({ "text": "x", "ttl_days": "soon" }),
        json!({ "text": "x", "ttl_days": -1 }),
        json!({ "text": "x", "confidence": "high" }),
        json!({ "text": "x", "confidence": "NaN" }),
        json!({ "text": "x", "confidence": "inf" }),
    ] {
        assert_eq!(s.fails("remember", arguments.clone()), ErrorKind::Invalid, "{arguments}");
    }
    assert_eq!(s.recall("append only ledger"), [keep]);
}

#[test]
fn p_layer_c45_the_forgotten_take_no_places() {
    let s = Session::new();
    for n in 0..40 {
        let id = s.remember(&format!("the staging cluster was restarted after alarm {n}"));
        s.ok("forget", json!({ "id": id }));
    }
    let live = s.remember("the staging cluster was restarted after alarm 99");
    assert_eq!(ids(&s.ok("recall", json!({ "query": "staging cluster restarted", "limit": 10 }))), [live]);
}

#[test]
fn p_layer_c46_the_same_question_twice_has_the_same_answer() {
    let s = Session::new();
    for n in 0..60 {
        s.remember(&format!("sensor {n} in hall {} reports humidity", n % 7));
    }
    let first = s.recall("humidity in hall 3");
    assert!(first.len() > 3);
    for _ in 0..5 {
        assert_eq!(s.recall("humidity in hall 3"), first);
    }
    let asked = json!({ "query": "humidity in hall 3", "serendipity": false });
    assert_eq!(ids(&s.ok("recall", asked)), first);
}

#[test]
fn p_layer_c46_one_result_by_chance_is_marked_and_comes_only_when_asked_for() {
    let s = Session::new();
    let asked = json!({ "query": "humidity in hall 3", "serendipity": true, "budget_tokens": 4000 });
    assert_eq!(s.ok("recall", asked.clone())["hits"], json!([]), "nothing found stays nothing");
    for n in 0..60 {
        s.remember(&format!("sensor {n} in hall {} reports humidity", n % 7));
    }
    let gone = s.remember("the choir sings at eleven");
    s.ok("forget", json!({ "id": gone }));
    let usual = ids(&s.ok("recall", json!({ "query": "humidity in hall 3", "budget_tokens": 4000 })));
    let mut drawn = std::collections::HashSet::new();
    for _ in 0..20 {
        let reply = s.reply("recall", asked.clone()).expect("found");
        let mut hits = ids(&reply.json);
        let by_chance = hits.pop().expect("one more");
        assert_eq!(hits, usual);
        assert!(!usual.contains(&by_chance) && by_chance != gone);
        let marked =
            reply.json["hits"].as_array().expect("hits").iter().filter(|h| h["_serendipity"] == true);
        assert_eq!(marked.count(), 1);
        assert!(reply.document.to_markdown().contains("drawn by chance"));
        drawn.insert(by_chance);
    }
    assert!(drawn.len() > 3, "not always the same: {drawn:?}");
    let narrow = json!({ "query": "humidity", "serendipity": true, "kinds": ["incident"] });
    assert_eq!(s.ok("recall", narrow)["hits"], json!([]), "a filter holds for chance, too");
}

#[test]
fn the_seeds_arguments_are_understood_by_the_tools_of_the_same_name() {
    let s = Session::new();
    let kept = s.ok(
        "remember",
        json!({ "fact": "the ferry leaves at nine", "type": "decision", "source": "quay", "layer": "P5", "confidence": "0.9", "ttl_days": "30" }),
    );
    assert_eq!((&kept["kind"], &kept["number"]), (&json!("decision"), &json!(1)));
    for id in [json!(1), json!("1"), json!("#1"), json!(1.0)] {
        let text = s.text("update", json!({ "id": id, "confidence": 0.5 }));
        assert!(text.contains("updated #1"), "{text}");
        s.ok("update", json!({ "id": id, "confidence": 0.9 }));
    }
    let text = s.text("update", json!({ "id": 1, "fact": "the ferry leaves at ten", "type": "fact" }));
    assert!(text.contains("#1 → #2"), "{text}");
    let found =
        s.text("recall", json!({ "query": "ferry", "limit": "5", "serendipity": "false", "why": true }));
    assert!(found.contains("leaves at ten") && found.contains("quay"), "{found}");
    let plain = s.ok("recall", json!({ "query": "ferry", "no_semantic": true }));
    assert_eq!(
        (plain["hits"].as_array().map(Vec::len), plain["semantic"].as_str()),
        (Some(1), Some("off: this search is by words alone"))
    );
    for asked in [
        json!({ "query": "ferry", "limit": 3, "budget_chars": 400 }),
        json!({ "budget": 400 }),
        json!({ "query": "ferry", "no_semantic": true }),
        json!({ "query": "" }),
    ] {
        let context = s.ok("context", asked);
        let context = context["context"].as_str().expect("text");
        assert!(context.contains("leaves at ten") && context.chars().count() <= 400, "{context}");
    }
    let text = s.text("forget", json!({ "id": "2", "reason": "sold" }));
    assert!(text.contains("superseded #2"), "{text}");
    assert!(s.text("recall", json!({ "query": "ferry" })).contains("Nothing found in memory"));
}

#[test]
fn p_layer_c46_one_by_chance_comes_only_when_asked_for() {
    let s = Session::new();
    let found = s.remember("sensor 4 in hall 2 reports humidity");
    let asked = |s: &Session| s.ok("recall", json!({ "query": "humidity", "serendipity": true }));
    assert_eq!(ids(&asked(&s)), [found.as_str()], "there is no other");
    for text in ["the canteen opens at eleven", "a marble statue stands in the yard"] {
        s.remember(text);
    }
    for _ in 0..8 {
        let reply = asked(&s);
        assert_eq!((ids(&reply).len(), &reply["hits"][0]["id"]), (2, &json!(found)));
        assert_eq!(reply["hits"][1]["_serendipity"], true, "{reply:#}");
        assert!(reply["hits"][0].get("_serendipity").is_none());
    }
    assert!(s.text("recall", json!({ "query": "humidity", "serendipity": true })).contains("by chance"));
    assert_eq!(s.recall("humidity"), [found]);
    assert!(ids(&s.ok("recall", json!({ "query": "zebra", "serendipity": true }))).is_empty());
}

#[test]
fn p_layer_c69_the_ids_in_the_text_work_in_further_calls() {
    let s = Session::new();
    s.remember("the backup window is from two to four");
    let text = s.text("recall", json!({ "query": "backup window" }));
    let start = text.find("mem_").expect("an id in the text");
    let id = &text[start..start + "mem_".len() + 10];
    let new = s.ok("update", json!({ "id": id, "text": "the backup window is from three to five" }));
    s.ok("forget", json!({ "id": new["id"] }));
    assert!(s.recall("backup window").is_empty());
}

/// A session on a clock that the test moves.
fn at(s: Session, days: i64) -> Session {
    let then = strata_core::time::Timestamp(crate::support::NOON.0 + days * 86_400_000_000);
    let engine = strata_engine::engine::Engine::with_sources(
        s.engine.settings().clone(),
        Box::new(strata_engine::clock::ManualClock::at(then)),
        Box::new(strata_engine::clock::SeededIds::new(5_000 + days.unsigned_abs())),
    );
    Session { engine, ..s }
}

/// p-layer lets the expired sink; here they leave recall (docs/adr/0004-recall-departs-from-p-layer.md).
#[test]
fn what_has_expired_leaves_recall_and_takes_nothing_living_with_it() {
    let s = Session::new();
    let text = "the loading dock at the north gate is closed for deliveries";
    let short = remember(&s, json!({ "text": text, "ttl_days": 1, "confidence": 1.0 }));
    assert_eq!(s.recall("loading dock"), [short.as_str()]);
    let s = at(s, 3);
    assert!(s.recall("loading dock").is_empty());
    let near = remember(&s, json!({ "text": format!("{text} today"), "confidence": 0.5 }));
    assert_eq!(s.recall("loading dock"), [near], "not folded into what is no longer shown");
}

#[test]
fn what_is_said_again_after_it_expired_holds_again() {
    for topic in [Value::Null, json!("dock.closed")] {
        let s = Session::new();
        let text = "the loading dock is closed";
        let first = remember(&s, json!({ "text": text, "ttl_days": 1, "topic_key": topic }));
        assert_eq!(remember(&s, json!({ "text": text, "topic_key": topic })), first, "still in force");
        let s = at(s, 3);
        let again = s.ok("remember", json!({ "text": text, "topic_key": topic }));
        assert_eq!((again["status"].as_str(), &again["superseded"]), (Some("saved"), &json!(first)));
        assert_eq!(json!(s.recall("loading dock closed")), json!([again["id"]]));
    }
}

#[test]
fn a_filter_finds_the_one_among_thousands_that_pass_everything_else() {
    let s = Session::new();
    let rare = remember(
        &s,
        json!({ "text": "the pump in bay 4 was replaced by the night crew", "session": "rare", "tags": ["pump"] }),
    );
    let file = s.home.path().join("in.jsonl");
    let lines: String = (0..2_500)
        .map(|n| format!("{{\"id\":\"{n}\",\"session\":\"s{}\",\"at\":\"2026-05-01T10:00:00Z\",\"text\":\"pump: the pump in bay {n} of the pump hall was replaced, pump {n}\"}}\n", n % 50))
        .collect();
    strata_store::files::write_atomic(&file, lines.as_bytes()).expect("fixture");
    s.ok("import", json!({ "path": file }));
    for filter in
        [json!({ "session": "rare" }), json!({ "tags": ["pump"] }), json!({ "sources": ["memory"] })]
    {
        let mut arguments = json!({ "query": "pump replaced" });
        arguments.as_object_mut().expect("an object").extend(filter.as_object().expect("an object").clone());
        assert_eq!(ids(&s.ok("recall", arguments)), [rare.as_str()], "{filter}");
    }
}
