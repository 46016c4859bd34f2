//! Measures the noticing of names on labelled sentences and prints every wrong and every missed one.
//!
//! Sentences of the set `fresh` were written when the rules were done.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use strata_core::graph::{label, mention};

const LABELLED: &str = include_str!("../testdata/graph/mentions.jsonl");

#[derive(Default, Clone, Copy)]
struct Count {
    sentences: usize,
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Count {
    fn precision(self) -> f64 {
        self.right as f64 / (self.right + self.wrong).max(1) as f64
    }

    fn recall(self) -> f64 {
        self.right as f64 / (self.right + self.missed).max(1) as f64
    }
}

#[test]
fn nine_of_ten_names_that_are_noticed_are_names() {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for line in LABELLED.lines() {
        let row: Value = serde_json::from_str(line).expect("corpus lines are JSON");
        let text = row["text"].as_str().expect("a text");
        let names = row["names"].as_array().expect("names").iter().filter_map(Value::as_str);
        let wanted: BTreeSet<String> = names.map(label::key).collect();
        let confident = mention::notice(text).into_iter().filter(|n| n.confidence >= mention::CONFIDENT);
        let found: BTreeSet<String> = confident.map(|n| label::key(&n.label)).collect();
        for name in found.difference(&wanted) {
            println!("WRONG  {name:?} in {text}");
        }
        for name in wanted.difference(&found) {
            println!("MISSED {name:?} in {text}");
        }
        let set = row["set"].as_str().unwrap_or("first");
        for language in [row["lang"].as_str().expect("a language"), set, "all"] {
            let count = counts.entry(language.to_owned()).or_default();
            count.sentences += 1;
            count.right += found.intersection(&wanted).count();
            count.wrong += found.difference(&wanted).count();
            count.missed += wanted.difference(&found).count();
        }
    }
    for (language, count) in &counts {
        println!(
            "{language:<6} {:>3} sentences  precision {:.3}  recall {:.3}",
            count.sentences,
            count.precision(),
            count.recall()
        );
    }
    let all = counts["all"];
    assert!(all.sentences >= 120 && counts["zh"].sentences >= 30 && counts["ko"].sentences >= 30);
    for (language, count) in &counts {
        assert!(count.precision() >= 0.9, "{language}: precision {:.3}", count.precision());
    }
    assert!(all.recall() >= 0.8, "recall {:.3}", all.recall());
}

#[test]
fn kinds_are_guessed_from_the_shape() {
    for (text, kind) in [
        ("Redis is down", "tool"),
        ("see src/main.rs", "file"),
        ("bump serde@1.0", "package"),
        ("on db.example.com", "host"),
        ("PAY-12 is open", "ticket"),
        ("INC-7 again", "incident"),
        ("the PaymentService", "service"),
        ("项目由张伟工程师负责", "person"),
        ("결제 서비스", "service"),
        ("《运维手册》", "document"),
    ] {
        let noticed = mention::notice(text);
        assert!(noticed.iter().any(|n| n.kind == kind), "{text}: {noticed:?}");
    }
}
