//! Token estimates against real tokenizers.
//!
//! Each sample is cut into blocks at blank lines; the weights were fitted on the even blocks and are
//! judged here on the odd ones.

#![allow(clippy::print_stdout, reason = "the table of errors is the point of these tests")]

use proptest::prelude::*;
use strata_core::budget::estimate_tokens;
use tiktoken_rs::{cl100k_base, o200k_base};

const SAMPLES: [(&str, &str); 6] = [
    ("English", include_str!("../testdata/budget/english.txt")),
    ("code", include_str!("../testdata/budget/code.txt")),
    ("Markdown", include_str!("../testdata/budget/markdown.md")),
    ("Chinese", include_str!("../testdata/budget/chinese.txt")),
    ("Japanese", include_str!("../testdata/budget/japanese.txt")),
    ("Korean", include_str!("../testdata/budget/korean.txt")),
];

fn blocks(text: &str, odd: bool) -> Vec<&str> {
    text.split_inclusive("\n\n").skip(usize::from(odd)).step_by(2).collect()
}

#[test]
fn the_error_on_unseen_blocks_is_below_ten_percent() {
    let (newer, older) = (o200k_base().expect("built in"), cl100k_base().expect("built in"));
    println!(
        "{:>10} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "class", "o200k", "estimate", "error", "fitted", "cl100k"
    );
    for (class, text) in SAMPLES {
        let error = |odd: bool| {
            let blocks = blocks(text, odd);
            let real: usize = blocks.iter().map(|b| newer.encode_ordinary(b).len()).sum();
            let estimate: u32 = blocks.iter().map(|b| estimate_tokens(b)).sum();
            (real, estimate, f64::from(estimate) / real as f64 - 1.0)
        };
        let (real, estimate, unseen) = error(true);
        let (_, _, fitted) = error(false);
        let old: usize = blocks(text, true).iter().map(|b| older.encode_ordinary(b).len()).sum();
        println!(
            "{class:>10} {real:>8} {estimate:>8} {:>7.1}% {:>7.1}% {old:>8}",
            unseen * 100.0,
            fitted * 100.0
        );
        assert!(real >= 800, "{class}: the sample is too small to judge by");
        assert!(unseen.abs() < 0.10, "{class}: {unseen:.3}");
        assert!(fitted.abs() < 0.10, "{class}: {fitted:.3}");
    }
}

#[test]
fn single_blocks_stay_within_a_fifth() {
    let tokenizer = o200k_base().expect("built in");
    for (class, text) in SAMPLES {
        for block in text.split_inclusive("\n\n") {
            let real = tokenizer.encode_ordinary(block).len();
            let error = f64::from(estimate_tokens(block)) / real as f64 - 1.0;
            assert!(real < 60 || error.abs() < 0.2, "{class}: {error:.2} on {real} tokens:\n{block}");
        }
    }
}

proptest! {
    #[test]
    fn never_fewer_for_more(text in "\\PC{0,200}", more in "\\PC{0,20}") {
        let whole = format!("{text}{more}");
        prop_assert!(estimate_tokens(&whole) >= estimate_tokens(&text));
        prop_assert_eq!(estimate_tokens(&text) == 0, text.is_empty());
    }

    #[test]
    fn records_never_cost_less_than_the_whole(records in prop::collection::vec("[a-zA-Z0-9 .,:()#中文かな한글-]{0,60}", 1..12)) {
        let whole = estimate_tokens(&records.join("\n\n"));
        let between = estimate_tokens("\n\n") * (records.len() as u32 - 1);
        let sum: u32 = records.iter().map(|r| estimate_tokens(r)).sum();
        prop_assert!(whole <= sum + between, "{whole} > {sum} + {between}");
    }
}

#[test]
fn a_megabyte_is_counted() {
    let text: String =
        SAMPLES.iter().map(|(_, text)| *text).cycle().flat_map(str::chars).take(1_000_000).collect();
    assert!(estimate_tokens(&text) > 100_000);
}
