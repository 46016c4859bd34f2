//! How long governance looks at 2 000 sections: `cargo test --profile fast -p strata-core --test knowledge_figures -- --nocapture`
//! prints the figures. What is held is a law, not a time: four times as many sections take about four times as long, because
//! nothing compares everything with everything. A time depends on the machine, and on what else it does.

#![expect(clippy::print_stdout, reason = "the figures are the point")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use jiff::civil::Date;
use strata_core::knowledge::{
    cleanup::{File, Plan, Standing},
    dedup::Mode,
    governance::{heading_families, procedures},
    health,
    inject::{Action, Write, decide},
    meaning::Meaning,
    part::parts,
    promotion::{MOST_PAIRS, TOPIC_COSINE, Vectors, clusters, nearest_pairs},
    rot, state,
};
use strata_core::markdown::edit::Heading;
use strata_core::{duplicate::Readings, route::built_in, vector, vocabulary::Vocabulary};

/// A debug build, some fifteen times slower, looks at fewer.
const FILES: usize = if cfg!(debug_assertions) { 16 } else { 48 };
const SECTIONS: usize = 42;
/// Each time is the least of so many.
const TIMES: usize = 9;

/// Time that this thread was at work: others may use the machine, too. Where the system does not tell, time of the clock.
fn at_work(begun: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = told.and_then(|line| line.split(' ').next()?.parse().ok());
    spent.map_or_else(|| begun.elapsed(), Duration::from_nanos)
}

/// What the work makes, and the least time that it took.
fn least<T>(mut work: impl FnMut() -> T) -> (T, Duration) {
    let mut run = || {
        let begun = Instant::now();
        let before = at_work(begun);
        let made = work();
        (made, at_work(begun).saturating_sub(before))
    };
    let (mut made, mut took) = run();
    for _ in 1..TIMES {
        let (again, time) = run();
        (made, took) = (again, took.min(time));
    }
    (made, took)
}

/// Prints the time that `work` takes for all files. For a quarter of them it takes about a quarter of it.
#[track_caller]
fn scales<T>(what: &str, all: &[(String, String)], work: impl Fn(&[(String, String)]) -> T) -> T {
    let (_, quarter) = least(|| work(&all[..all.len() / 4]));
    let (made, whole) = least(|| work(all));
    println!("{what}: {:.1} ms", whole.as_secs_f64() * 1e3);
    // What is square takes sixteen times as long. A millisecond may pass for other reasons.
    let most = quarter * 9 + Duration::from_millis(1);
    assert!(whole < most, "{what}: {whole:?} for all, {quarter:?} for a quarter");
    made
}

/// Words of one trade, so that many sections are somewhat alike.
const WORDS: [&str; 24] = [
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
    "proxy",
    "token",
    "session",
    "archive",
    "网关",
    "连接池",
    "超时",
    "副本",
    "キュー",
    "接続",
    "캐시",
    "연결",
];

fn section(file: usize, at: usize) -> String {
    let mut text =
        format!("## {} {} {file}-{at}\n\n", WORDS[(file + at) % 24], WORDS[(file * 7 + at * 3) % 24]);
    for line in 0..6 {
        let word = |step: usize| WORDS[(file * 5 + at * 11 + line * step) % 24];
        let (a, b, c) = (word(1), word(3), word(7));
        let number = (file * 31 + at * 17 + line) % 997;
        let _ = writeln!(
            text,
            "The {a} of the {b} holds {number} entries and the {c} is asked every {line} minutes."
        );
    }
    if at.is_multiple_of(9) {
        text.push_str("TODO: check it before 2026-01-15\n");
    }
    text.push('\n');
    text
}

fn vault() -> Vec<(String, String)> {
    let file = |file: usize| {
        let sections: String = (0..SECTIONS).map(|at| section(file, at)).collect();
        (format!("domain{file}.md"), format!("# domain{file}\n\n{sections}"))
    };
    (0..FILES).map(file).collect()
}

#[test]
fn audit_validation_and_plan_take_time_by_the_number_of_sections() {
    let vault = vault();
    let rot = scales("audit", &vault, |vault| {
        let cut: Vec<(&str, Vec<_>)> =
            vault.iter().map(|(path, text)| (path.as_str(), parts(text))).collect();
        let all = cut.iter().flat_map(|(file, parts)| parts.iter().map(move |part| (*file, part)));
        let all: Vec<rot::Part<'_>> =
            all.map(|(file, part)| rot::Part { file, heading: &part.heading, body: part.body }).collect();
        assert_eq!(all.len(), vault.len() * SECTIONS);
        rot::audit(&all, Date::constant(2026, 6, 1), built_in())
    });
    assert!(rot.score(0) <= 100);
    let open = scales("validate", &vault, |vault| {
        let states = vault.iter().map(|(_, text)| {
            let sound = health::score(text, 1.0, health::wiki_links(text).len());
            assert!(sound.score > 0.0);
            assert!(procedures(text, built_in()).len() + heading_families(text).len() < text.len());
            state::scan(text, built_in(), Vocabulary::built_in()).len()
        });
        states.sum::<usize>()
    });
    let marked = FILES * (0..SECTIONS).filter(|at| at.is_multiple_of(9)).count();
    assert!(open >= marked, "{open}");
    let plan = scales("plan", &vault, |vault| {
        let files =
            vault.iter().map(|(path, text)| File { path, domain: path.trim_end_matches(".md"), text });
        let files: Vec<File<'_>> = files.collect();
        Plan::of(&files, &Standing::default(), built_in(), Vocabulary::built_in())
    });
    assert_eq!(plan.found[0], open);
}

#[test]
fn two_thousand_vectors_are_grouped_and_paired_soon() {
    let (count, dimension) = (2_000, 256);
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
    };
    let mut rows = Vec::new();
    let mut scales = Vec::new();
    for _ in 0..count {
        let raw: Vec<f32> = (0..dimension).map(|_| next()).collect();
        let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
        let (row, scale) = vector::quantize(&raw.iter().map(|x| x / length).collect::<Vec<f32>>());
        rows.extend(row);
        scales.push(scale);
    }
    let vectors = Vectors { rows: &rows, scales: &scales, dimension };
    let groups: Vec<usize> = (0..count).map(|at| at / SECTIONS).collect();
    let (found, took) = least(|| clusters(&vectors, TOPIC_COSINE).expect("they fit"));
    println!("clusters: {:.1} ms", took.as_secs_f64() * 1e3);
    assert!(found.is_empty(), "random directions are apart");
    let (pairs, took) = least(|| nearest_pairs(&vectors, &groups, 0.1, MOST_PAIRS).expect("they fit"));
    println!("pairs: {:.1} ms", took.as_secs_f64() * 1e3);
    assert_eq!(pairs.len(), MOST_PAIRS);
}

#[test]
fn a_write_is_decided_in_time_by_the_size_of_the_file() {
    let vault = vault();
    let heading = Heading::parse("New section").expect("a heading");
    let content =
        "The gateway of the pool holds 12 entries and the quota is asked every 3 minutes.\nIt is new.";
    let write = Write {
        domain: "d",
        heading: &heading,
        content,
        mode: Mode::Upsert,
        fuse: false,
        expected_hash: None,
        provenance: None,
        min_family: Some(2),
        size_ceiling: 0.9,
        least_alike: None,
        meaning: Meaning::unknown(),
        readings: &Readings::default(),
        parsed: None,
    };
    let (made, took) = least(|| decide(Some(&vault[0].1), &write, None).expect("decided"));
    println!("a write into one file of {SECTIONS} sections: {:.1} ms", took.as_secs_f64() * 1e3);
    assert!(matches!(made.action, Action::SectionCreated | Action::DeferredFusion));
    scales("a write into one file of all sections", &vault, |vault| {
        let whole: String = vault.iter().map(|(_, text)| text.as_str()).collect();
        decide(Some(&whole), &write, None).expect("decided")
    });
}
