//! The judgement over labelled pairs in four languages: the confusion table is printed, and bounds
//! are asserted on it.

use std::collections::BTreeMap;

use serde_json::Value;
use strata_core::duplicate::{Verdict, bands, compare};

struct Pair {
    label: Verdict,
    lang: String,
    a: String,
    b: String,
}

fn pairs() -> Vec<Pair> {
    let file = include_str!("../testdata/duplicate/pairs.jsonl");
    let read = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a JSON object per line");
        let text = |key: &str| row[key].as_str().expect("a text").to_owned();
        let label = match text("label").as_str() {
            "near_duplicate" => Verdict::NearDuplicate,
            "changed_value" => Verdict::ChangedValue,
            "opposed" => Verdict::Opposed,
            "different" => Verdict::Different,
            other => panic!("unknown label {other}"),
        };
        Pair { label, lang: text("lang"), a: text("a"), b: text("b") }
    };
    file.lines().map(read).collect()
}

/// `Same` is the strongest form of a near-duplicate.
fn class(verdict: Verdict) -> Verdict {
    if verdict == Verdict::Same { Verdict::NearDuplicate } else { verdict }
}

const CLASSES: [Verdict; 4] =
    [Verdict::NearDuplicate, Verdict::ChangedValue, Verdict::Opposed, Verdict::Different];

#[test]
fn the_confusion_table_keeps_its_bounds() {
    let mut table: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut spread = vec![Vec::new(); 4];
    let index = |verdict| CLASSES.iter().position(|c| *c == verdict).expect("a class");
    for pair in pairs() {
        let found = compare(&pair.a, &pair.b);
        let verdict = class(found.verdict);
        *table.entry((index(pair.label), index(verdict))).or_default() += 1;
        if verdict != pair.label {
            println!("{} {:?} judged {found:?}\n    {}\n    {}", pair.lang, pair.label, pair.a, pair.b);
        }
        spread[index(pair.label)].push((found.similarity, found.frame_similarity));
        let back = class(compare(&pair.b, &pair.a).verdict);
        assert_eq!(verdict, back, "the judgement depends on the order: {} / {}", pair.a, pair.b);
    }
    let cell = |label: usize, verdict: usize| table.get(&(label, verdict)).copied().unwrap_or(0);
    let total = |label: usize| (0..4).map(|v| cell(label, v)).sum::<usize>();
    println!("{:>16} {:>6} {:>8} {:>8} {:>10}", "label", "near", "changed", "opposed", "different");
    for (label, class) in CLASSES.iter().enumerate() {
        let row: Vec<usize> = (0..4).map(|v| cell(label, v)).collect();
        println!("{:>16} {:>6} {:>8} {:>8} {:>10}", format!("{class:?}"), row[0], row[1], row[2], row[3]);
    }
    for (class, found) in CLASSES.iter().zip(&spread) {
        let ends = |of: fn(&(f64, f64)) -> f64| {
            let all = || found.iter().map(of);
            (all().fold(1.0, f64::min), all().fold(0.0, f64::max))
        };
        println!("{class:?}: similarity {:.2?}, frame {:.2?}", ends(|s| s.0), ends(|s| s.1));
    }
    assert!(total(0) >= 60 && total(1) >= 60 && total(2) >= 40 && total(3) >= 40);
    let rate = |label: usize, verdict: usize| cell(label, verdict) as f64 / total(label) as f64;
    // What must never happen: a contradiction taken for a repetition.
    assert_eq!(cell(1, 0) + cell(2, 0) + cell(3, 0), 0, "taken for a near-duplicate");
    assert!(rate(0, 0) >= 0.9, "near-duplicates seen");
    assert!(rate(1, 1) >= 0.9, "changed values seen");
    assert!(rate(2, 2) >= 0.9, "opposites seen");
    assert!(rate(3, 3) >= 0.9, "different statements left alone");
}

#[test]
fn the_lookup_finds_what_the_judgement_needs() {
    let mut found = [0_usize; 4];
    let mut total = [0_usize; 4];
    for pair in pairs() {
        let class = CLASSES.iter().position(|c| *c == pair.label).expect("a class");
        let keys = bands(&pair.a);
        total[class] += 1;
        found[class] += usize::from(bands(&pair.b).iter().any(|key| keys.contains(key)));
    }
    println!("share a key: near, changed, opposed, different: {found:?} of {total:?}");
    let rate = |class: usize| found[class] as f64 / total[class] as f64;
    assert!(rate(0) >= 0.9 && rate(1) >= 0.9 && rate(2) >= 0.9);
    assert!(rate(3) <= 0.3, "unrelated texts should rarely share a key");
}
