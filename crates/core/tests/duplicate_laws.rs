//! Laws of the duplicate search that hold for any text, long ones too.

use proptest::prelude::*;
use strata_core::duplicate::{DifferenceKind, Prepared, Readings, Verdict, bands, compare, identity};

/// Words of statements, values, and what turns a meaning.
const WORDS: [&str; 20] = [
    "the",
    "pool",
    "holds",
    "20",
    "40",
    "connections",
    "not",
    "never",
    "Elena",
    "port",
    "8080",
    "网关",
    "监听",
    "is",
    "enabled",
    "disabled",
    "db-1",
    "stable",
    "unstable",
    "on",
];

proptest! {
    #[test]
    fn any_text_is_the_same_as_itself(text in "\\PC{0,200}") {
        let found = compare(&text, &text);
        prop_assert_eq!(found.verdict, Verdict::Same);
        prop_assert!(found.differences.is_empty());
        prop_assert!((found.similarity - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_judgement_is_symmetric_and_bounded(a in "\\PC{0,120}", b in "\\PC{0,120}") {
        let (there, back) = (compare(&a, &b), compare(&b, &a));
        prop_assert_eq!(there.verdict, back.verdict);
        prop_assert!((there.similarity - back.similarity).abs() < 1e-9);
        prop_assert!((0.0..=1.0).contains(&there.similarity) && (0.0..=1.0).contains(&there.frame_similarity));
        let told_apart = matches!(there.verdict, Verdict::ChangedValue | Verdict::Opposed);
        prop_assert!(!told_apart || !there.differences.is_empty());
    }

    /// What is sure to be different is told sooner, and what was read before reads the same.
    #[test]
    fn a_short_look_says_what_a_long_one_does(
        a in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..14),
        b in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..14),
    ) {
        let (a, b) = (a.join(" "), b.join(" "));
        let readings = Readings::default();
        let whole = compare(&a, &b);
        let wanted = Some(whole).filter(|found| found.verdict != Verdict::Different);
        for _ in 0..2 {
            prop_assert_eq!(Prepared::new(&a).compare_if_like(&readings.read(&b)), wanted.clone());
        }
    }

    #[test]
    fn case_and_spacing_do_not_matter(words in prop::collection::vec("[a-z]{2,9}", 1..20)) {
        let plain = words.join(" ");
        let loud = format!("  {} ", words.join("   ").to_uppercase());
        prop_assert_eq!(compare(&plain, &loud).verdict, Verdict::Same);
        prop_assert_eq!(bands(&plain), bands(&loud));
    }

    #[test]
    fn another_number_is_never_a_duplicate(
        words in prop::collection::vec("[a-z]{3,9}", 2..12), at in 0_usize..12, a in 2_u32..99_999, b in 2_u32..99_999,
    ) {
        prop_assume!(a != b);
        let with = |n: u32| {
            let mut words = words.clone();
            words.insert(at % words.len(), n.to_string());
            words.join(" ")
        };
        let found = compare(&with(a), &with(b));
        prop_assert_eq!(found.verdict, Verdict::ChangedValue, "{} / {}", with(a), with(b));
        let (left, right) = (bands(&with(a)), bands(&with(b)));
        prop_assert!(left.iter().any(|key| right.contains(key)), "the frames are equal, so the lookup finds it");
    }

    #[test]
    fn identity_is_stable_and_ignores_line_ends(text in "[a-zé\u{301} \r\n\t]{0,80}") {
        let once = identity(&text);
        prop_assert_eq!(&identity(&once), &once);
        prop_assert_eq!(&identity(&text.replace("\r\n", "\n").replace('\n', "\r\n")), &once);
        prop_assert_eq!(&identity(&format!("{text} \n\n")), &once);
    }
}

#[test]
fn identity_composes_but_keeps_case_and_indentation() {
    assert_eq!(identity("Cafe\u{301}  \r\n  x \r\n\r\n"), "Café\n  x");
    assert_ne!(identity("a b"), identity("A b"));
    assert_ne!(identity("  a"), identity("a"));
}

#[test]
fn field_case_35_is_a_contradiction_and_the_lookup_finds_it() {
    let (love, hate) = ("I love Chinese food", "I hate Chinese food");
    let found = compare(love, hate);
    assert_eq!(found.verdict, Verdict::Opposed);
    assert_eq!(found.differences[0].kind, DifferenceKind::Antonym);
    assert!(bands(love).iter().any(|key| bands(hate).contains(key)));
}

#[test]
fn differences_name_both_sides() {
    let found = compare("Listen on port 5432, not 80.", "Listen on port 5433, not 80.");
    assert_eq!(found.verdict, Verdict::ChangedValue);
    let [difference] = found.differences.as_slice() else { panic!("one difference: {found:?}") };
    assert_eq!(difference.kind, DifferenceKind::Number);
    assert_eq!((difference.a.as_deref(), difference.b.as_deref()), (Some("5432"), Some("5433")));
}

#[test]
fn signs_and_bounds_tell_apart() {
    for (a, b) in [
        ("build passed ✅", "build passed ❌"),
        ("🚀", "🐛"),
        ("keep latency < 100 ms", "keep latency > 100 ms"),
        ("the driver is written in C", "the driver is written in C++"),
        ("threshold is -5", "threshold is 5"),
        ("not enabled before the release", "enabled before the release"),
    ] {
        let verdict = compare(a, b).verdict;
        assert!(!matches!(verdict, Verdict::Same | Verdict::NearDuplicate), "{a} / {b}: {verdict:?}");
    }
}

#[test]
fn a_double_negation_is_no_opposite() {
    let verdict = compare("The cache is not enabled.", "The cache is disabled.").verdict;
    assert_ne!(verdict, Verdict::Opposed);
}

#[test]
fn bands_are_frozen() {
    let keys = bands("The staging database listens on port 5432.");
    assert_eq!(keys.len(), 16);
    assert_eq!(
        keys[0], 16_645_635_251_567_596_612,
        "stored keys must not change without a new index version"
    );
}

fn note(bytes: usize, port: u32) -> String {
    let mut text = String::new();
    let mut line = 0_u32;
    while text.len() < bytes {
        line += 1;
        let host = if line == 5 { port } else { 6000 + line };
        text.push_str(&format!(
            "Step {line}: connect worker number {line} to the relay on port {host}, wait 30 seconds, \
             then check that queue depth stays below 200. 如果失败就重试三次。\n"
        ));
    }
    text
}

#[test]
fn long_texts_are_judged_too() {
    for bytes in [2048, 64 * 1024, 1024 * 1024] {
        let (a, b) = (note(bytes, 7001), note(bytes, 7002));
        assert!(!bands(&a).is_empty());
        assert_eq!(compare(&a, &b).verdict, Verdict::ChangedValue, "{bytes}");
    }
}

#[test]
fn long_texts_without_anything_in_common_are_not_the_same() {
    let words = |seed: u32| -> String {
        (0..9_000)
            .map(|i: u32| format!("{} w{:x} ", i.wrapping_mul(7919) ^ seed, i.wrapping_mul(31) ^ seed))
            .collect()
    };
    let letters = |first: char| -> String {
        (0_u32..20_000).filter_map(|i| char::from_u32(first as u32 + i % 900)).collect()
    };
    for (a, b) in [(words(1), words(2_000_003)), (letters('\u{4e00}'), letters('\u{7000}'))] {
        assert_ne!(compare(&a, &b).verdict, Verdict::Same);
    }
}
