//! p-layer's checks of context assembly, by number, and the budget against a real tokenizer.

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::principal::PrincipalKind;
use tiktoken_rs::o200k_base;

/// A home whose caller is the system, which may write rules.
fn system() -> Session {
    Session::new().of_kind(PrincipalKind::System)
}

fn store(s: &Session, text: &str, kind: &str, layer: &str) {
    s.ok("remember", json!({ "text": text, "kind": kind, "layer": layer }));
}

#[expect(clippy::panic, reason = "a text without it fails the test")]
fn position(text: &str, part: &str) -> usize {
    text.find(part).unwrap_or_else(|| panic!("`{part}` in {text}"))
}

#[test]
fn p_layer_c47_rules_come_first_and_lower_layers_before_higher() {
    let s = system();
    store(&s, "payments are retried at most twice", "fact", "P5");
    store(&s, "answer in the user's language", "identity", "P1");
    store(&s, "never log card numbers", "rule", "P0");
    for query in [json!({ "query": "payments" }), json!({})] {
        let text = s.text("context", query);
        let (rule, identity, fact) = (
            position(&text, "card numbers"),
            position(&text, "user's language"),
            position(&text, "retried at most"),
        );
        assert!(rule < identity && identity < fact, "{text}");
    }
}

#[test]
fn p_layer_c48_a_budget_of_characters_holds_and_records_stay_whole() {
    let s = system();
    let texts: Vec<String> = (0..30)
        .map(|n| format!("Payment note {n}: {}", "settlement happens overnight; ".repeat(n % 6 + 1)))
        .collect();
    for text in &texts {
        store(&s, text, "fact", "P5");
    }
    store(&s, "支付系统在夜间结算，失败的订单会在早上重试。", "fact", "P5");
    store(&s, "never log card numbers", "rule", "P0");
    let mut fullest = 0;
    for budget in (200..6_000).step_by(217) {
        let reply =
            s.ok("context", json!({ "query": "payment settlement", "budget_chars": budget, "limit": 30 }));
        let context = reply["context"].as_str().expect("text");
        let length = context.chars().count();
        assert!(length <= budget, "{length} > {budget}: {context}");
        fullest = fullest.max(length * 100 / budget);
        for part in texts.iter().filter(|t| context.contains(&t[..t.find(':').expect("a colon")])) {
            let number = &part[..=part.find(':').expect("a colon")];
            assert!(!context.contains(number) || context.contains(part.trim()), "cut: {number}");
        }
    }
    assert!(fullest >= 80, "the budget is used: {fullest} %");
}

#[test]
fn what_did_not_fit_is_said_in_the_unit_that_was_asked_in() {
    let s = system();
    store(&s, "never log card numbers", "rule", "P0");
    for (asked, other) in [("budget_tokens", "budget_chars"), ("budget_chars", "budget_tokens")] {
        for tool in ["context", "assemble"] {
            if tool == "assemble" && asked == "budget_tokens" {
                continue;
            }
            let text = s.text(tool, json!({ asked: 1 }));
            assert!(text.contains(&format!("raise `{asked}`")) && !text.contains(other), "{tool}: {text}");
        }
    }
}

#[test]
fn p_layer_c48_the_same_line_appears_once() {
    let s = system();
    store(&s, "never log card numbers", "rule", "P0");
    store(&s, "Never  log CARD numbers", "fact", "P5");
    let text = s.text("context", json!({ "query": "card numbers" }));
    assert_eq!(text.to_lowercase().matches("card numbers").count(), 1, "{text}");
}

#[test]
fn p_layer_c49_a_question_selects_and_without_one_the_newest_come() {
    let s = Session::new();
    s.remember("payments are retried at most twice");
    s.remember("the canteen serves soup on Mondays");
    let asked = s.ok("context", json!({ "query": "payment retries" }));
    let text = asked["context"].as_str().expect("text");
    assert!(text.contains("retried") && !text.contains("soup"), "{text}");
    assert_eq!(asked["query"], "payment retries");
    let newest = s.ok("context", json!({}));
    let text = newest["context"].as_str().expect("text");
    assert!(position(text, "soup") < position(text, "retried"), "newest first: {text}");
    assert!(newest.as_object().expect("an object").contains_key("query"));
}

#[test]
fn p_layer_c50_the_layer_counts_not_the_kind() {
    let s = system();
    s.ok("remember", json!({ "text": "payments may skip review", "kind": "rule", "layer": "P5", "importance": 1, "pinned": true }));
    store(&s, "payments need review", "rule", "P0");
    let text = s.text("context", json!({ "query": "payments review" }));
    assert!(position(&text, "need review") < position(&text, "may skip"), "{text}");
}

const CLASSES: [(&str, &str); 3] = [
    ("English", include_str!("../../../core/testdata/budget/english.txt")),
    ("code", include_str!("../../../core/testdata/budget/code.txt")),
    ("Chinese", include_str!("../../../core/testdata/budget/chinese.txt")),
];

#[test]
fn a_packs_true_cost_is_within_its_budget_and_as_stated() {
    let tokenizer = o200k_base().expect("built in");
    for (class, sample) in CLASSES {
        let s = Session::new();
        for block in sample.split("\n\n").filter(|b| b.trim().len() > 20) {
            s.reply("remember", json!({ "text": block })).expect("stored");
        }
        let (mut stated, mut real) = (0.0, 0.0);
        for budget in [400_u32, 800, 1_500, 3_000] {
            let reply = s.ok("context", json!({ "budget_tokens": budget, "limit": 50 }));
            let cost = tokenizer.encode_ordinary(reply["context"].as_str().expect("text")).len();
            let said = reply["tokens"].as_u64().expect("tokens");
            assert!(said <= u64::from(budget), "{class}: {said} > {budget}");
            assert!(cost as f64 <= f64::from(budget) * 1.10, "{class}: {cost} for a budget of {budget}");
            stated += said as f64;
            real += cost as f64;
        }
        assert!((stated / real - 1.0).abs() < 0.10, "{class}: stated {stated}, real {real}");
    }
}

#[test]
fn no_rule_is_dropped_in_silence_at_any_budget() {
    let s = system();
    let rules: Vec<String> = (0..40)
        .map(|n| format!("Rule {n:02}: {}", "services talk over TLS and log requests. ".repeat(n % 5 + 1)))
        .collect();
    for rule in &rules {
        store(&s, rule, "rule", "P0");
    }
    for budget in [1_u32, 10, 60, 200, 500, 1_000, 8_000] {
        let reply = s.ok("context", json!({ "query": "TLS", "budget_tokens": budget }));
        let text = reply["context"].as_str().expect("text");
        let shown = rules.iter().filter(|r| text.contains(r.trim())).count();
        let omitted = omitted(&reply);
        assert_eq!(shown + omitted, rules.len(), "{budget}: {text}");
        assert!(omitted == 0 || text.contains(&format!("{omitted} approved rules did not fit")), "{text}");
    }
}

fn omitted(reply: &Value) -> usize {
    let all = reply["omitted"].as_array().into_iter().flatten();
    all.filter(|o| o["what"] == "approved rules")
        .map(|o| o["count"].as_u64().expect("a count") as usize)
        .sum()
}

#[test]
fn more_rules_than_any_page_holds_are_counted() {
    let s = system();
    // In one file, which is in at once; one by one they would take minutes on a server.
    let rule = |n: u32| format!("## [P0] rule number {n} about subject {}\n\n", n * 37);
    let rules = s.home.file("home/rules.md", (0..1_050).map(rule).collect::<String>());
    assert_eq!(s.ok("import_rules", json!({ "path": rules }))["imported"], 1_050);
    let reply = s.ok("context", json!({ "query": "subject", "budget_tokens": 300 }));
    let shown = reply["ids"].as_array().expect("ids").len();
    assert_eq!(shown + omitted(&reply), 1_050, "{:#}", reply["omitted"]);
}
