//! The judgement over labelled pairs in four languages: the confusion table is printed, and bounds
//! are asserted on it.

#![allow(clippy::print_stdout, reason = "the confusion tables are the point of these tests")]

use serde_json::Value;
use strata_core::duplicate::{Verdict, bands, compare};

struct Pair {
    label: Verdict,
    lang: String,
    a: String,
    b: String,
}

const TUNED: &str = include_str!("../testdata/duplicate/pairs.jsonl");
/// Written after the rules and thresholds were set, and not used to change them.
const HELD_OUT: &str = include_str!("../testdata/duplicate/held_out.jsonl");

const LABELS: [(&str, Verdict); 4] = [
    ("near_duplicate", Verdict::NearDuplicate),
    ("changed_value", Verdict::ChangedValue),
    ("opposed", Verdict::Opposed),
    ("different", Verdict::Different),
];

fn pairs(file: &str) -> Vec<Pair> {
    let read = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a JSON object per line");
        let text = |key: &str| row[key].as_str().expect("a text").to_owned();
        let label = text("label");
        let (_, label) = *LABELS.iter().find(|(word, _)| *word == label).expect("a known label");
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

/// Counts by label and verdict.
struct Table([[usize; 4]; 4]);

impl Table {
    fn of(file: &str) -> Self {
        let mut table = [[0; 4]; 4];
        for pair in pairs(file) {
            let found = compare(&pair.a, &pair.b);
            let verdict = class(found.verdict);
            table[index(pair.label)][index(verdict)] += 1;
            if verdict != pair.label {
                println!("{} {:?} judged {found:.2?}\n    {}\n    {}", pair.lang, pair.label, pair.a, pair.b);
            }
            let back = class(compare(&pair.b, &pair.a).verdict);
            assert_eq!(verdict, back, "the judgement depends on the order: {} / {}", pair.a, pair.b);
        }
        Self(table)
    }

    fn print(&self, title: &str) {
        println!("{title:>16} {:>6} {:>8} {:>8} {:>10}", "near", "changed", "opposed", "different");
        for (label, row) in CLASSES.iter().zip(self.0) {
            let label = format!("{label:?}");
            println!("{label:>16} {:>6} {:>8} {:>8} {:>10}", row[0], row[1], row[2], row[3]);
        }
    }

    fn total(&self, label: usize) -> usize {
        self.0[label].iter().sum()
    }

    /// The part of one label that was judged so.
    fn rate(&self, label: usize) -> f64 {
        self.0[label][label] as f64 / self.total(label) as f64
    }

    /// Contradictions and other statements taken for repetitions.
    fn taken_for_duplicates(&self) -> usize {
        self.0[1][0] + self.0[2][0] + self.0[3][0]
    }
}

fn index(verdict: Verdict) -> usize {
    CLASSES.iter().position(|c| *c == verdict).expect("a class")
}

#[test]
fn the_confusion_table_keeps_its_bounds() {
    let table = Table::of(TUNED);
    table.print("tuned");
    assert!(table.total(0) >= 60 && table.total(1) >= 60 && table.total(2) >= 40 && table.total(3) >= 40);
    assert_eq!(table.taken_for_duplicates(), 0);
    for (label, class) in CLASSES.iter().enumerate() {
        assert!(table.rate(label) >= 0.97, "{class:?}: {}", table.rate(label));
    }
}

#[test]
fn pairs_never_tuned_on_keep_lower_bounds() {
    let table = Table::of(HELD_OUT);
    table.print("held out");
    assert_eq!(table.taken_for_duplicates(), 0);
    for (label, class) in CLASSES.iter().enumerate() {
        assert!(table.rate(label) >= 0.75, "{class:?}: {}", table.rate(label));
    }
}

#[test]
fn the_lookup_finds_what_the_judgement_needs() {
    let mut found = [0_usize; 4];
    let mut total = [0_usize; 4];
    for pair in pairs(TUNED).into_iter().chain(pairs(HELD_OUT)) {
        let class = index(pair.label);
        let keys = bands(&pair.a);
        total[class] += 1;
        found[class] += usize::from(bands(&pair.b).iter().any(|key| keys.contains(key)));
    }
    println!("share a key: near, changed, opposed, different: {found:?} of {total:?}");
    let rate = |class: usize| found[class] as f64 / total[class] as f64;
    assert!(rate(0) >= 0.9 && rate(1) >= 0.9 && rate(2) >= 0.9);
    assert!(rate(3) <= 0.3, "unrelated texts should rarely share a key");
}
