//! Laws of editing one section that hold for any file.

use proptest::prelude::*;
use strata_core::markdown::edit::{
    EditError, Heading, Place, append_to_body, delete, insert, move_between, move_within, rename,
    replace_body, upsert,
};
use strata_core::markdown::{Body, Outline};

/// Lines that are likely to be read as structure.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "## [abAB]{1,2}( ##)?",
        1 => "# [a-z]{1,3}",
        1 => "#{3,7} [a-z中]{0,4}",
        2 => Just(String::new()),
        1 => prop::sample::select(vec![
            "---", "+++", "===", "```", "````sh", "~~~", "| a | b |", "|---|---|", "<div>", "<!-- open", "-->", "- ",
            "    code", "\t", "[[link]]", "key: value", "k = 1", "<script>", "</script>", "> quote", "##",
        ]).prop_map(str::to_owned),
        1 => " {0,5}## [a-z]{1,4}",
        1 => "(> |- |1\\. ){1,2}## [a-z]{1,4}",
        2 => "[a-z 中文。é*`]{0,20}",
        1 => "\\PC{0,12}",
    ]
}

/// With `lone`, some lines end in a carriage return alone, which parsers read in different ways.
fn lines_of(line: impl Strategy<Value = String>, lone: bool) -> impl Strategy<Value = String> {
    let breaks = prop_oneof![4 => Just("\n"), 2 => Just("\r\n"), 1 => Just(if lone { "\r" } else { "\n" })];
    (any::<bool>(), prop::collection::vec((line, breaks), 0..25), any::<bool>()).prop_map(
        |(mark, lines, ended)| {
            let start = if mark { "\u{feff}" } else { "" };
            let text = lines.into_iter().fold(start.to_owned(), |text, (line, end)| text + &line + end);
            if ended { text } else { text.trim_end_matches(['\n', '\r']).to_owned() }
        },
    )
}

fn file() -> impl Strategy<Value = String> {
    lines_of(line(), true)
}

/// Files in which nothing is left open.
fn orderly_file() -> impl Strategy<Value = String> {
    lines_of(
        prop_oneof![
            3 => "## [abAB]{1,2}( ##)?",
            1 => "# [a-z]{1,3}",
            2 => Just(String::new()),
            3 => "[a-z 中文。é]{0,20}",
            1 => prop::sample::select(vec!["- item", "### deep", "| a | b |", "[[link]]", "> quote", "    x"])
                .prop_map(str::to_owned),
        ],
        false,
    )
}

fn content() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 0..8).prop_map(|lines| lines.join("\n"))
}

fn unified(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Equal, or in a file with lone carriage returns, which a written `\n` may join, equal but for line ends.
fn same_bytes(file: &str, a: &str, b: &str) -> bool {
    let lone = file.matches('\r').count() != file.matches("\r\n").count();
    if lone { unified(a) == unified(b) } else { a == b }
}

/// Heading and text of every section, with `\n` line ends.
fn sections(text: &str) -> Vec<(String, String)> {
    let outline = Outline::parse(text);
    let entries = outline.entries().iter().enumerate();
    entries.map(|(i, entry)| (entry.heading.clone(), unified(outline.body(i)))).collect()
}

fn heading() -> impl Strategy<Value = Heading> {
    "[abn中#][a-z *]{0,5}".prop_filter_map("no text", |text| Heading::parse(&text).ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn an_outline_is_in_order_and_covers_what_is_under_headings(text in file()) {
        let outline = Outline::parse(&text);
        let mut at = 0;
        for entry in outline.entries() {
            prop_assert!(at <= entry.head.start);
            prop_assert_eq!(entry.head.end, entry.body.start);
            prop_assert!(text[entry.head.clone()].contains(entry.heading.as_str()));
            prop_assert_eq!(outline.find(&entry.heading, Some(entry.ordinal)).map(|i| &outline.entries()[i]), Some(entry));
            at = entry.body.end;
        }
        prop_assert!(at <= text.len());
    }

    #[test]
    fn replacing_touches_one_body(text in file(), content in content(), pick in any::<prop::sample::Index>()) {
        let before = sections(&text);
        prop_assume!(!before.is_empty());
        let index = pick.index(before.len());
        let Ok(body) = Body::fit(&content, &before[index].0) else { return Ok(()) };
        let edited = match replace_body(&text, index, &body) {
            Ok(edited) => edited,
            Err(error) => {
                prop_assert!(matches!(error, EditError::Structure(_)));
                return Ok(());
            }
        };
        let span = Outline::parse(&text).entries()[index].body.clone();
        prop_assert!(edited.starts_with(&text[..span.start]));
        prop_assert!(edited[span.start..].ends_with(&text[span.end..]));
        let mut expected = before;
        expected[index].1 = body.as_str().to_owned();
        prop_assert_eq!(sections(&edited), expected);
        let again = replace_body(&edited, index, &body).expect("it was possible before");
        prop_assert!(same_bytes(&text, &again, &edited), "{:?} and then {:?}", edited, again);
    }

    #[test]
    fn appending_keeps_the_old_text(text in file(), content in content(), pick in any::<prop::sample::Index>()) {
        let before = sections(&text);
        prop_assume!(!before.is_empty());
        let index = pick.index(before.len());
        let Ok(addition) = Body::fit(&content, &before[index].0) else { return Ok(()) };
        let Ok(edited) = append_to_body(&text, index, &addition) else { return Ok(()) };
        let outline = Outline::parse(&text);
        let (span, old) = (outline.entries()[index].body.clone(), outline.body(index));
        let kept = text[span.clone()].find(old).map_or(span.start, |at| span.start + at + old.len());
        let kept = if old.is_empty() { span.start } else { kept };
        prop_assert!(edited.starts_with(&text[..kept]));
        prop_assert!(edited.ends_with(&text[span.end..]));
        let after = sections(&edited);
        prop_assert_eq!(after.len(), before.len());
        prop_assert!(after[index].1.starts_with(&before[index].1));
        prop_assert!(after[index].1.ends_with(addition.as_str()));
        for other in (0..before.len()).filter(|other| *other != index) {
            prop_assert_eq!(&after[other], &before[other]);
        }
    }

    #[test]
    fn inserting_keeps_all_bytes(text in file(), heading in heading(), content in content(), pick in any::<prop::sample::Index>()) {
        let before = sections(&text);
        let Ok(body) = Body::fit(&content, heading.as_str()) else { return Ok(()) };
        let index = pick.index(before.len() + 1);
        let place = if index == before.len() { Place::Last } else { Place::Before(index) };
        let Ok(edited) = insert(&text, place, &heading, &body) else { return Ok(()) };
        let at = Outline::parse(&text).entries().get(index).map_or(text.len(), |e| e.head.start);
        prop_assert!(edited.starts_with(&text[..at]) && edited.ends_with(&text[at..]));
        let mut expected = before.clone();
        expected.insert(index, (heading.as_str().to_owned(), body.as_str().to_owned()));
        prop_assert_eq!(sections(&edited), expected);
        let removed = delete(&edited, index).expect("the section is there");
        prop_assert_eq!(sections(&removed), before);
        prop_assert!(removed.starts_with(text[..at].trim_end()) && removed.ends_with(&text[at..]));
    }

    #[test]
    fn an_upsert_is_idempotent(text in file(), heading in heading(), content in content()) {
        let Ok(body) = Body::fit(&content, heading.as_str()) else { return Ok(()) };
        let Ok(edited) = upsert(&text, &heading, &body) else { return Ok(()) };
        let outline = Outline::parse(&edited);
        let index = outline.find(heading.as_str(), None).expect("it was asked for");
        prop_assert_eq!(unified(outline.body(index)), body.as_str());
        let again = upsert(&edited, &heading, &body).expect("it was possible before");
        prop_assert!(same_bytes(&text, &again, &edited), "{:?} and then {:?}", edited, again);
    }

    #[test]
    fn renaming_touches_the_heading_alone(text in file(), heading in heading(), pick in any::<prop::sample::Index>()) {
        let before = sections(&text);
        prop_assume!(!before.is_empty());
        let index = pick.index(before.len());
        let Ok(edited) = rename(&text, index, &heading) else { return Ok(()) };
        let head = Outline::parse(&text).entries()[index].head.clone();
        prop_assert!(edited.starts_with(&text[..head.start]) && edited.ends_with(&text[head.end..]));
        let mut expected = before;
        expected[index].0 = heading.as_str().to_owned();
        prop_assert_eq!(sections(&edited), expected);
    }

    #[test]
    fn moving_changes_the_order_alone(text in file(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let before = sections(&text);
        prop_assume!(!before.is_empty());
        let (from, to) = (from.index(before.len()), to.index(before.len()));
        let Ok(edited) = move_within(&text, from, Place::Before(to)) else { return Ok(()) };
        let mut expected = before;
        let moved = expected.remove(from);
        expected.insert(if to > from { to - 1 } else { to }, moved);
        prop_assert_eq!(sections(&edited), expected);
    }

    #[test]
    fn moving_between_files_loses_nothing(text in file(), into in file(), from in any::<prop::sample::Index>()) {
        let (mut left, mut right) = (sections(&text), sections(&into));
        prop_assume!(!left.is_empty());
        let index = from.index(left.len());
        let Ok((rest, added)) = move_between(&text, index, &into, Place::Last) else { return Ok(()) };
        right.push(left.remove(index));
        prop_assert_eq!((sections(&rest), sections(&added)), (left, right));
        prop_assert!(added.starts_with(&into));
    }

    #[test]
    fn in_an_orderly_file_every_edit_succeeds(text in orderly_file(), content in content(), heading in heading(), pick in any::<prop::sample::Index>()) {
        let body = Body::fit(&content, heading.as_str());
        prop_assert!(body.is_ok(), "{:?}", content);
        let Ok(body) = body else { return Ok(()) };
        prop_assert!(upsert(&text, &heading, &body).is_ok());
        prop_assert!(insert(&text, Place::First, &heading, &body).is_ok());
        let count = sections(&text).len();
        prop_assume!(count > 0);
        let index = pick.index(count);
        prop_assert!(replace_body(&text, index, &body).is_ok());
        prop_assert!(append_to_body(&text, index, &body).is_ok());
        prop_assert!(rename(&text, index, &heading).is_ok());
        prop_assert!(move_within(&text, index, Place::First).is_ok());
        prop_assert!(move_between(&text, index, &text, Place::Last).is_ok());
        prop_assert!(delete(&text, index).is_ok());
    }
}
