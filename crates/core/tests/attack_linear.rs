//! Texts made to be slow: what cuts and compares stored text takes time in proportion to its length.

use std::time::{Duration, Instant};

use strata_core::{duplicate, markdown::split_long, redact::redact};

/// Far above what a debug build needs for a linear walk, far below what a quadratic one takes.
const SOON: Duration = Duration::from_secs(4);

#[track_caller]
fn soon(what: &str, work: impl FnOnce()) {
    let started = Instant::now();
    work();
    assert!(started.elapsed() < SOON, "{what} took {:?}", started.elapsed());
}

#[test]
fn a_character_without_an_end_is_cut_in_linear_time() {
    for text in ["e".to_owned() + &"\u{301}".repeat(500_000), "\u{1f469}\u{200d}".repeat(140_000)] {
        soon("cutting", || {
            let pieces = split_long(&text, 1_200);
            assert_eq!(pieces.iter().map(ExactSizeIterator::len).sum::<usize>(), text.len());
        });
    }
}

#[test]
fn a_long_text_without_a_line_or_sentence_end_is_sampled_in_linear_time() {
    let text = "http://a.example/c ".repeat(50_000);
    soon("bands", || assert!(!duplicate::bands(&text).is_empty()));
    let other = format!("{text}more");
    soon("comparing", || drop(duplicate::compare(&text, &other)));
    soon("redacting", || drop(redact(&text)));
}
