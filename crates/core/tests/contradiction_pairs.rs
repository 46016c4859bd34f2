//! The detector over labelled pairs in four languages: precision and recall by language and half, with bounds.

#![allow(clippy::print_stdout, reason = "the table is the point of these tests")]

use serde_json::Value;
use strata_core::duplicate::contradiction::{Claims, between, find};

struct Pair {
    id: String,
    a: String,
    b: String,
    contradicts: bool,
    axis: String,
}

const LANGUAGES: [(&str, &str); 4] = [
    ("english", include_str!("../testdata/contradiction/english.jsonl")),
    ("chinese", include_str!("../testdata/contradiction/chinese.jsonl")),
    ("korean", include_str!("../testdata/contradiction/korean.jsonl")),
    ("japanese", include_str!("../testdata/contradiction/japanese.jsonl")),
];

fn pairs(file: &str) -> Vec<Pair> {
    let read = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a JSON object per line");
        let text = |key: &str| row[key].as_str().expect("a text").to_owned();
        let label = text("label");
        assert!(label == "contradiction" || label == "none", "{label}");
        let contradicts = label == "contradiction";
        Pair { id: text("id"), a: text("a"), b: text("b"), contradicts, axis: text("axis") }
    };
    file.lines().map(read).collect()
}

/// Where a pair belongs follows from its id alone. Rules and thresholds were tuned on the development half
/// only; `-u` marks pairs that were written after the rules, of other subjects.
fn half(id: &str) -> &'static str {
    if id.contains("-u") {
        return "later";
    }
    if is_odd(id) { "held out" } else { "development" }
}

/// Whether the FNV-1a hash has an odd number of ones.
fn is_odd(id: &str) -> bool {
    let hash =
        id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    hash.count_ones() % 2 == 1
}

#[derive(Default, Clone, Copy)]
struct Figures {
    true_positives: usize,
    false_positives: usize,
    missed: usize,
    near_misses: usize,
    axis_right: usize,
}

impl Figures {
    fn of<'a>(pairs: impl Iterator<Item = &'a Pair>, tell: bool) -> Self {
        let mut figures = Self::default();
        for pair in pairs {
            figures.near_misses += usize::from(!pair.contradicts);
            let found = find(&pair.a, &pair.b);
            match (&found, pair.contradicts) {
                (Some(found), true) => {
                    figures.true_positives += 1;
                    figures.axis_right += usize::from(found.axis.as_str() == pair.axis);
                }
                (Some(_), false) => figures.false_positives += 1,
                (None, true) => figures.missed += 1,
                (None, false) => {}
            }
            if tell && found.is_some() != pair.contradicts {
                println!("{} {}\n    {}\n    {}\n    {found:?}", pair.id, pair.axis, pair.a, pair.b);
            }
        }
        figures
    }

    fn precision(&self) -> f64 {
        self.true_positives as f64 / (self.true_positives + self.false_positives).max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.true_positives as f64 / (self.true_positives + self.missed).max(1) as f64
    }

    fn print(&self, language: &str, half: &str) {
        println!(
            "{language:>9} {half:>12} {:>5} {:>5} {:>9.3} {:>7.3} {:>6}",
            self.true_positives + self.missed,
            self.near_misses,
            self.precision(),
            self.recall(),
            self.axis_right
        );
    }
}

/// Recall that is reached in the development half, the held-out half and the later pairs.
const RECALL: [(&str, [f64; 3]); 4] = [
    ("english", [0.94, 0.86, 0.9]),
    ("chinese", [0.91, 0.9, 0.9]),
    ("korean", [0.95, 0.95, 0.9]),
    ("japanese", [0.9, 0.9, 0.0]),
];

#[test]
fn precision_and_recall_by_language_and_half() {
    println!(
        "{:>9} {:>12} {:>5} {:>5} {:>9} {:>7} {:>6}",
        "", "half", "true", "near", "precision", "recall", "axis"
    );
    for ((language, file), (_, floors)) in LANGUAGES.into_iter().zip(RECALL) {
        let all = pairs(file);
        for (half, floor) in ["development", "held out", "later"].into_iter().zip(floors) {
            let tell = half == "development" && std::env::var_os("TELL").is_some();
            let figures = Figures::of(all.iter().filter(|p| self::half(&p.id) == half), tell);
            if figures.true_positives + figures.missed == 0 {
                continue;
            }
            figures.print(language, half);
            assert!(figures.precision() >= 0.9, "{language}, {half}: precision {}", figures.precision());
            assert!(figures.recall() >= floor, "{language}, {half}: recall {}", figures.recall());
        }
    }
}

#[test]
fn each_language_has_enough_of_both_kinds() {
    for (language, file) in LANGUAGES {
        let all = pairs(file);
        let least = if language == "japanese" { 30 } else { 120 };
        let contradictions = all.iter().filter(|p| p.contradicts).count();
        assert!(contradictions >= least && all.len() - contradictions >= least, "{language}");
        let mut texts: Vec<_> = all.iter().map(|p| (&p.a, &p.b)).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), all.len(), "{language}: a pair stands twice");
    }
}

#[test]
fn both_orders_give_one_answer() {
    for pair in LANGUAGES.iter().flat_map(|(_, file)| pairs(file)) {
        let (there, back) = (find(&pair.a, &pair.b), find(&pair.b, &pair.a));
        match (there, back) {
            (Some(x), Some(y)) => {
                assert_eq!((x.axis, x.score, x.a, x.b), (y.axis, y.score, y.b, y.a), "{}", pair.id);
            }
            (x, y) => assert_eq!(x, y, "{}", pair.id),
        }
        assert_eq!(find(&pair.a, &pair.a), None, "{}: nothing contradicts itself", pair.id);
    }
}

/// Of all ways to put statements of different pairs together, hardly any contradict each other. Some do: two pairs
/// speak of one port.
#[test]
fn statements_of_different_pairs_rarely_contradict() {
    for (language, file) in LANGUAGES {
        let all = pairs(file);
        let read: Vec<[Claims; 2]> = all.iter().map(|p| [Claims::of(&p.a), Claims::of(&p.b)]).collect();
        let (mut reported, mut compared) = (0, 0);
        for (at, x) in read.iter().enumerate() {
            for (y, other) in read[at + 1..].iter().zip(&all[at + 1..]) {
                for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    compared += 1;
                    let found = between(&x[a], &y[b]);
                    reported += usize::from(found.is_some());
                    if let Some(found) = found.filter(|_| std::env::var_os("TELL").is_some()) {
                        println!("{} {}\n    {found:?}", all[at].id, other.id);
                    }
                }
            }
        }
        println!("{language}: {reported} of {compared} reported");
        assert!(reported * 500 <= compared, "{language}: {reported} of {compared}");
    }
}

#[test]
fn a_contradiction_is_found_among_other_statements() {
    let a = "# Gateway\n\n- It is written in Rust.\n- The gateway times out after 30 seconds.\n- Ask Mara about TLS.";
    let b = "Notes of Monday. The gateway times out after 90 seconds. Nothing else was decided.";
    let found = find(a, b).expect("a contradiction");
    assert_eq!(
        (found.axis.as_str(), found.a.as_str(), found.b.as_str()),
        ("number", "30 seconds", "90 seconds")
    );
    assert!(found.subject.contains("gateway"), "{}", found.subject);
    assert!((0.0..=1.0).contains(&found.score));
}

#[test]
fn neighbouring_names_are_different_subjects() {
    for (a, b) in [
        ("The delta indexer listens on port 26464.", "The delta search index listens on port 28066."),
        ("内部服务amber crawler的日志保留40天。", "内部服务amber translator日志保留40天。"),
        ("The renderer has 4 threads.", "The render farm has 16 threads."),
        ("The audit log is kept for 30 days.", "The access log is kept for 90 days."),
        ("The user service runs on port 80.", "The user import service runs on port 81."),
    ] {
        assert_eq!(find(a, b), None, "{a} / {b}");
    }
}

#[test]
fn values_of_any_size_are_told_apart() {
    for port in [80, 1023, 1999, 2024, 3293, 4895, 5028, 9999, 10_000, 65_000] {
        let a = format!("The umber importer listens on port {port}.");
        let b = format!("Port of the umber importer: {}", port + 1);
        let found = find(&a, &b).map(|f| (f.a, f.b));
        assert_eq!(found, Some((port.to_string(), (port + 1).to_string())), "{a} / {b}");
    }
}

#[test]
fn time_grows_linearly_with_the_texts() {
    let text = |lines: usize, port: usize| -> String {
        (0..lines)
            .map(|i| format!("- Service s{i} of the platform listens on port {}.\n", port + i))
            .collect()
    };
    let seconds = |lines: usize| {
        let (a, b) = (text(lines, 1000), text(lines, 2000));
        let start = std::time::Instant::now();
        find(&a, &b);
        start.elapsed().as_secs_f64()
    };
    seconds(100);
    let (short, long) = (seconds(400), seconds(12_800));
    assert!(long < short.max(0.01) * 200.0, "{short} s for 400 lines, {long} s for 12800");
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_compared_without_panic(a in "\\PC{0,80}", b in "\\PC{0,80}") {
        let there = find(&a, &b);
        proptest::prop_assert_eq!(there.is_some(), find(&b, &a).is_some());
    }

    #[test]
    fn pieces_of_statements_are_compared_without_panic(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "must", "not", "never", "端口", "不", "必须", "8080", "30 s", "절대", "않는다", "ではない", "İ", "ẞ",
                "on", "off", "May", ".", "?", "1.2.3", "2026-01-02", "main", "\n", "“", "🙂", "3월", "use",
            ]),
            0..24,
        )
    ) {
        let (a, b) = words.split_at(words.len() / 2);
        let (a, b) = (a.join(" "), b.concat());
        let there = find(&a, &b);
        proptest::prop_assert_eq!(there.is_some(), find(&b, &a).is_some());
    }
}
