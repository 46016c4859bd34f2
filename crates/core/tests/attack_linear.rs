//! Texts made to be slow: what cuts and compares stored text takes time in proportion to its length.

use std::time::{Duration, Instant};

use strata_core::{
    duplicate,
    knowledge::{dedup, pointer, state},
    markdown::{
        Body, Outline,
        edit::{self, Heading},
        split_long,
    },
    redact::redact,
    route::{Item, built_in},
    vocabulary::Vocabulary,
};

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

#[test]
fn a_text_of_nothing_but_headings_is_edited_in_linear_time() {
    let content = "# a\n".repeat(30_000);
    let heading = Heading::parse("A").expect("a heading");
    soon("fitting", || {
        let body = Body::fit(&content, "A").expect("nothing is open");
        assert_eq!(body.demoted, 2);
        let file = edit::upsert("## B\n", &heading, &body).expect("it fits");
        assert_eq!(Outline::parse(&file).entries().len(), 2);
    });
    let file = "## a\n".repeat(30_000);
    soon("parsing", || assert_eq!(Outline::parse(&file).entries()[29_999].ordinal, 30_000));
}

#[test]
fn markers_without_an_end_are_read_in_linear_time() {
    for text in ["`TODO` ".repeat(60_000), "TODO/".repeat(80_000), "待办 <!-- FIXME --> DONE ".repeat(15_000)]
    {
        soon("routing", || drop(built_in().classify(&Item { content: &text, ..Item::default() })));
        soon("scanning", || drop(state::scan(&text, built_in(), Vocabulary::built_in())));
        soon("summing up", || drop(pointer::summary(&text)));
    }
    let lines = "TODO x\n".repeat(20_000);
    soon("scanning lines", || {
        assert_eq!(state::scan(&lines, built_in(), Vocabulary::built_in()).len(), 20_000);
    });
}

#[test]
fn lines_of_one_sort_are_merged_in_linear_time() {
    let (body, content) = ("same\n".repeat(50_000), "same\n".repeat(40_000) + "other");
    soon("looking for a block", || assert!(!dedup::contains_block(&body, &content)));
    let tables = "| a |\n| b |\n\n".repeat(20_000);
    soon("merging", || assert_eq!(dedup::missing_lines(&tables, &tables), ""));
}
