//! Measures redaction on planted secrets and on clean text, and prints every miss and false hit.
//!
//! The values in `planted.jsonl` are made up. Tokens with a vendor's shape are split by `{{join}}`, so that
//! secret scanners leave the repository alone; the marker is taken out here.

use std::collections::BTreeMap;

use serde_json::Value;
use strata_core::redact::redact;

const PLANTED: &str = include_str!("../testdata/redact/planted.jsonl");
const CLEAN: &str = include_str!("../testdata/redact/clean.jsonl");

fn rows(data: &str) -> Vec<Value> {
    data.lines().map(|line| serde_json::from_str(line).expect("corpus lines are JSON")).collect()
}

fn joined(value: &Value) -> String {
    value.as_str().expect("corpus fields are strings").replace("{{join}}", "")
}

#[test]
fn planted_secrets_are_gone() {
    let rows = rows(PLANTED);
    let mut families: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for row in &rows {
        let text = joined(&row["text"]);
        let family = joined(&row["family"]);
        let redacted = redact(&text);
        for secret in row["secrets"].as_array().expect("a list of secrets") {
            let secret = joined(secret);
            let count = families.entry(family.clone()).or_default();
            count.0 += 1;
            if redacted.text.contains(&secret) {
                count.1 += 1;
                println!("MISS [{family}] {secret} in {text:?} -> {:?}", redacted.text);
            }
        }
    }
    let (planted, missed) = families.values().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
    for (family, (planted, missed)) in &families {
        println!("{family:<20} planted {planted:>3} missed {missed}");
    }
    println!("{} texts, {planted} secrets, {missed} missed", rows.len());
    assert!(rows.len() >= 200, "{} texts", rows.len());
    assert!(missed * 100 <= planted, "{missed} of {planted} secrets missed");
}

#[test]
fn clean_text_is_untouched() {
    let rows = rows(CLEAN);
    let mut hits = 0;
    for row in &rows {
        let text = joined(&row["text"]);
        let redacted = redact(&text);
        if redacted.is_redacted() {
            hits += 1;
            println!("FALSE HIT [{}] {text:?} -> {:?}", row["kind"], redacted.text);
        }
    }
    println!("{} clean texts, {hits} false hits", rows.len());
    assert!(rows.len() >= 200, "{} texts", rows.len());
    assert!(hits * 100 <= rows.len(), "{hits} of {} clean texts changed", rows.len());
}
