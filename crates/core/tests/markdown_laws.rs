//! Laws of cutting Markdown that hold for any text.

use proptest::prelude::*;
use strata_core::markdown::{content_start, frontmatter, sections, split_long};

/// Lines that are likely to be read as structure.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("---".to_owned()),
        Just("===".to_owned()),
        Just("```".to_owned()),
        Just("~~~".to_owned()),
        Just("| a | b |".to_owned()),
        Just("|---|---|".to_owned()),
        Just("<div>".to_owned()),
        Just("<!-- open".to_owned()),
        Just("-->".to_owned()),
        Just("key: value".to_owned()),
        "#{1,7} ?[a-z中]{0,6} ?#{0,3}",
        " {0,5}# [a-z]{1,4}",
        "(> |- |1\\. ){1,2}# [a-z]{1,4}",
        "[a-z 中文。é]{0,20}",
        "\\PC{0,12}",
    ]
}

fn document() -> impl Strategy<Value = String> {
    let breaks = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    (any::<bool>(), prop::collection::vec((line(), breaks), 0..25)).prop_map(|(mark, lines)| {
        let start = if mark { "\u{feff}" } else { "" };
        lines.into_iter().fold(start.to_owned(), |text, (line, end)| text + &line + end)
    })
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let mut at = content_start(text);
    for section in sections(text) {
        prop_assert_eq!(section.heading.start, at, "a gap or an overlap");
        prop_assert_eq!(section.heading.end, section.body.start);
        prop_assert!(section.body.start <= section.body.end);
        at = section.body.end;
        prop_assert!(text.is_char_boundary(at) && text.is_char_boundary(section.body.start));
        prop_assert!(section.level <= 6);
        prop_assert_eq!(section.level == 0, section.heading.is_empty());
        prop_assert_eq!(section.level == 0, section.heading_path.is_empty());
        prop_assert!(section.heading_path.len() <= usize::from(section.level));
        let before = &text[..section.heading.start];
        let lines = before.replace("\r\n", "\n").matches(['\n', '\r']).count() + 1;
        prop_assert_eq!(section.line, lines);
    }
    prop_assert_eq!(at, text.len());
    if let Some(front) = frontmatter(text) {
        prop_assert_eq!(front.span.start, 0);
        prop_assert!(front.yaml.end <= front.span.end);
        prop_assert_eq!(front.span.end, content_start(text));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn sections_cover_everything_in_order(text in document()) {
        check(&text)?;
    }

    #[test]
    fn sections_cover_any_text(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn pieces_cover_the_text_and_keep_the_limit(text in "[a-z中。！ \r\n.é👩\u{301}\u{200d}]{0,300}", max in 0_usize..60) {
        let mut at = 0;
        for piece in split_long(&text, max) {
            prop_assert_eq!(piece.start, at);
            prop_assert!(piece.end > piece.start);
            prop_assert!(text[piece.clone()].chars().count() <= max.max(1));
            at = piece.end;
        }
        prop_assert_eq!(at, text.len());
    }
}

#[test]
fn hostile_nesting_does_not_hang() {
    let deep = ["> ".repeat(20_000), "- ".repeat(5_000), "[".repeat(50_000), "*a _b ".repeat(20_000)];
    for text in deep {
        let found = sections(&format!("# A\n{text}\n# B\n"));
        assert!(!found.is_empty());
    }
}
