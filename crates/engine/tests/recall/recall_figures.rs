//! How long recall looks through 2 000 sections of knowledge.
//! `cargo test --profile fast -p strata-engine --test recall recall_figures -- --ignored --nocapture` prints the figures.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use crate::knowledge_support::{change, on_disk};
use crate::support::Session;
use serde_json::json;
use strata_engine::engine::Engine;

const FILES: usize = 50;
const SECTIONS: usize = 40;
const CALLS: usize = 41;

/// Words of one trade, so that many sections are somewhat alike.
const WORDS: [&str; 16] = [
    "gateway",
    "pool",
    "timeout",
    "replica",
    "certificate",
    "queue",
    "worker",
    "cache",
    "shard",
    "quota",
    "ledger",
    "cluster",
    "网关",
    "连接池",
    "超时",
    "副本",
];

/// Ten milliseconds in an optimised build; a debug build only shows that nothing is read anew.
fn limit() -> Duration {
    Duration::from_millis(if cfg!(debug_assertions) { 400 } else { 10 })
}

fn text(file: usize) -> String {
    let mut text = format!("# area {file}\n\n");
    for section in 0..SECTIONS {
        let word = |at: usize| WORDS[(file * 7 + section * 3 + at * 5) % WORDS.len()];
        let number = file * SECTIONS + section;
        let _ = writeln!(text, "## {} {} number {number}\n", word(0), word(1));
        for line in 0..4 {
            let (a, b, c) = (word(line + 2), word(line + 3), word(line + 4));
            let _ = writeln!(text, "The {a} of host {number} keeps {line} {b} entries before its {c} ends.");
        }
        text.push('\n');
    }
    text
}

#[test]
#[ignore = "a figure: on its own with --profile fast it shows 2 000 sections under 10 ms"]
fn recall_over_two_thousand_sections() {
    let mut s = Session::new();
    // Whether a file may change once more is told by the real time.
    s.engine = Engine::new(s.engine.settings().clone());
    for file in 0..FILES {
        change(&s, &format!("area{file}"), Some(&text(file)));
    }
    if on_disk(&s) {
        // A file that was saved this moment is read again, for it may change once more.
        std::thread::sleep(Duration::from_secs(3));
    }
    for (mode, keyword, most) in [
        ("keyword", "certificate", limit()),
        ("fuzzy", "certifcate", limit() * 3),
        ("bm25", "gateway certificate timeout", limit()),
        ("hybrid", "gateway certificate timeout", limit()),
        ("hybrid", "连接池超时", limit()),
        ("semantic", "how many entries does the gateway keep", limit()),
    ] {
        let ask = || s.ok("recall_knowledge", json!({ "keyword": keyword, "search_mode": mode }));
        assert!(ask()["results"].as_array().is_some_and(|hits| !hits.is_empty()), "{mode} {keyword}");
        let mut took: Vec<Duration> = (0..CALLS)
            .map(|_| {
                let started = Instant::now();
                ask();
                started.elapsed()
            })
            .collect();
        took.sort();
        let (middle, worst) = (took[CALLS / 2], took[CALLS * 95 / 100]);
        println!(
            "{mode:<9} p50 {:.2} ms, p95 {:.2} ms",
            middle.as_secs_f64() * 1e3,
            worst.as_secs_f64() * 1e3
        );
        assert!(middle < most, "{mode}: {middle:?}");
    }
}
