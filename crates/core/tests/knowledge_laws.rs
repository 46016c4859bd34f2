//! Laws of writing knowledge and of setting fields that hold for any file.

use proptest::prelude::*;
use strata_core::duplicate::Readings;
use strata_core::knowledge::{
    cleanup::{Asked, File, Judgement, Plan, SafeFix, Standing, Work, judge},
    dedup::Mode,
    family::MIN_FAMILY,
    inject::{Action, Decided, Handshake, InjectError, Provenance, Write, decide},
    meaning::Meaning,
};
use strata_core::markdown::{
    Outline,
    edit::Heading,
    fields::{Value, field, fields, set_fields},
    heading_key, sections,
};
use strata_core::{route::built_in, vocabulary::Vocabulary};

/// Statements of four languages, and lines that are read as structure.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec![
            "The pool holds 20 connections.", "The pool holds 40 connections.", "Redis 7 keeps sessions.",
            "网关监听 8080 端口。", "网关监听 9090 端口。", "接続プールの上限は20です。", "연결 풀은 20개입니다.",
            "TODO: raise the limit", "待确认：超时", "- alpha", "- beta", "1. gamma", "| a | b |", "|---|---|",
        ]).prop_map(str::to_owned),
        2 => Just(String::new()),
        1 => prop::sample::select(vec!["```", "~~~", "<!-- open", "-->", "<div>", "### deep", "    code", "> quote"])
            .prop_map(str::to_owned),
        1 => "#{1,4} [ab]{1,2}",
        1 => "[a-z 中。é*`-]{0,16}",
    ]
}

fn content() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 0..5).prop_map(|lines| lines.join("\n"))
}

fn heading() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "Pool",
        "pool",
        "Cache",
        "端口",
        "Release 2026-01-01",
        "Release 2026-02-01",
        "Release (v3)",
        "a *b*",
    ])
    .prop_map(str::to_owned)
}

/// A file of sections, as writes make it or as people do.
fn file() -> impl Strategy<Value = String> {
    let section = (heading(), content()).prop_map(|(heading, body)| format!("## {heading}\n\n{body}\n\n"));
    let breaks = prop::sample::select(vec!["\n", "\r\n"]);
    (prop::collection::vec(section, 0..5), breaks, any::<bool>()).prop_map(|(sections, breaks, marked)| {
        let text = format!("{}# d\n\n{}", if marked { "\u{feff}" } else { "" }, sections.concat());
        text.replace('\n', breaks)
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Upsert, Mode::Append, Mode::Merge])
}

fn injected(
    text: Option<&str>,
    heading: &str,
    content: &str,
    mode: Mode,
    token: Option<&str>,
) -> Result<Decided, InjectError> {
    let heading = Heading::parse(heading).expect("a heading");
    let note = Provenance::new("tester", "2026-01-01T00:00:00Z");
    let write = Write {
        domain: "d",
        heading: &heading,
        content,
        mode,
        fuse: token.is_some(),
        expected_hash: token,
        provenance: note.as_ref().filter(|_| content.len() % 2 == 1),
        min_family: Some(MIN_FAMILY),
        size_ceiling: 0.9,
        least_alike: None,
        meaning: Meaning::unknown(),
        readings: &Readings::default(),
    };
    decide(text, &write, None)
}

/// Heading and text of every section, with `\n` line ends.
fn parts(text: &str) -> Vec<(String, String)> {
    let outline = Outline::parse(text);
    let entries = outline.entries().iter().enumerate();
    entries.map(|(i, entry)| (entry.heading.clone(), outline.body(i).replace("\r\n", "\n"))).collect()
}

fn said(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| line.chars().any(char::is_alphanumeric))
        .map(str::to_owned)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_write_touches_one_section_and_loses_no_line_of_it(
        text in file(), heading in heading(), content in content(), mode in mode()
    ) {
        let Ok(made) = injected(Some(&text), &heading, &content, mode, None) else { return Ok(()) };
        let Some(after) = &made.text else {
            prop_assert!(!matches!(made.action, Action::Created | Action::SectionCreated | Action::Appended));
            return Ok(());
        };
        let (before, now) = (parts(&text), parts(after));
        prop_assert!(now.len() == before.len() + usize::from(made.action == Action::SectionCreated));
        let differs: Vec<usize> = (0..before.len()).filter(|i| before[*i] != now[*i]).collect();
        prop_assert!(differs.len() <= 1, "{:?}", made.action);
        for index in differs {
            prop_assert_eq!(heading_key(&before[index].0), heading_key(&made.section));
            prop_assert_eq!(&before[index].0, &now[index].0, "the heading stays as it was written");
            if made.action != Action::Replaced {
                prop_assert!(now[index].1.starts_with(before[index].1.trim_end()), "what was there stays");
            }
        }
    }

    #[test]
    fn the_same_write_again_changes_nothing(
        text in prop::option::of(file()), heading in heading(), content in content(), mode in mode()
    ) {
        let Ok(made) = injected(text.as_deref(), &heading, &content, mode, None) else { return Ok(()) };
        let Some(after) = made.text else { return Ok(()) };
        let again = injected(Some(&after), &heading, &content, mode, None).expect("it was possible before");
        prop_assert_eq!(again.text, None, "{:?} after {:?}", again.action, made.action);
        let outline = Outline::parse(&after);
        let index = outline.find(&heading, None).expect("the section is there");
        for line in said(&content).iter().filter(|_| made.action != Action::Merged) {
            let bare = line.trim_start_matches('#').trim();
            prop_assert!(outline.body(index).contains(bare) || heading_key(bare) == heading_key(&heading), "{line}");
        }
    }

    #[test]
    fn a_handshake_is_completed_by_its_own_token_and_no_other(
        text in file(), heading in heading(), content in content()
    ) {
        let Ok(asked) = injected(Some(&text), &heading, &content, Mode::Upsert, None) else { return Ok(()) };
        let (token, place) = match asked.handshake {
            Handshake::Fusion { hit, expected_hash } => (expected_hash, hit.heading),
            Handshake::Consolidate { expected_hash, .. } => (expected_hash, heading),
            _ => return Ok(()),
        };
        let one = "Said once for both.";
        let refused = injected(Some(&text), &place, one, Mode::Upsert, Some("0123456789abcdef")).expect("decided");
        prop_assert_eq!((refused.action, refused.text), (Action::FuseConflict, None));
        let made = match injected(Some(&text), &place, one, Mode::Upsert, Some(&token)) {
            Ok(made) => made,
            Err(error) => {
                prop_assert!(matches!(error, InjectError::Edit(_)), "{error}");
                return Ok(());
            }
        };
        // Of two sections with one heading the first is meant; the hit may be the second.
        if made.action == Action::FuseConflict || made.action == Action::ConsolidateRefused {
            let twins = parts(&text).iter().filter(|(other, _)| heading_key(other) == heading_key(&place)).count();
            prop_assert!(twins > 1 || made.action == Action::ConsolidateRefused);
            return Ok(());
        }
        prop_assert_eq!(made.before_hash.as_deref(), Some(token.as_str()));
        prop_assert!(made.text.expect("written").contains(one));
    }

    #[test]
    fn fields_are_set_and_every_other_line_stays(
        front in prop::option::of(prop::collection::vec(prop_oneof![
            "[a-d]: [a-z中 ]{0,8}( # note)?", Just("# remark".to_owned()), Just("e:\n  - x\n  - 'y z'".to_owned()),
            Just("f: [p, q]".to_owned()), Just("g: |\n  long\n\n  text".to_owned()), Just("h:\n  type: session".to_owned()),
        ], 1..6)),
        body in content(),
        key in "[a-k]",
        value in prop_oneof!["\\PC{0,12}", "[a-z:# \"'\\[,-]{0,12}"],
    ) {
        let body = format!("# T\n{body}");
        let text = front.map_or(body.clone(), |lines| format!("---\nid: 1\n{}\n---\n{body}", lines.join("\n")));
        let before = fields(&text);
        let Ok(edited) = set_fields(&text, &[(&key, Value::Text(value.clone()))]) else { return Ok(()) };
        prop_assert_eq!(field(&edited, &key), Some(Value::Text(value.clone())));
        prop_assert!(edited.ends_with(&body));
        let again = set_fields(&edited, &[(&key, Value::Text(value))]);
        prop_assert_eq!(again.as_ref(), Ok(&edited));
        let others = |all: &[(String, Value)]| -> Vec<(String, Value)> {
            all.iter().filter(|(name, _)| *name != key).cloned().collect()
        };
        prop_assert_eq!(others(&fields(&edited)), others(&before));
        let headings = |text: &str| sections(text).iter().filter(|section| section.level > 0).count();
        prop_assert_eq!(headings(&edited), headings(&text));
    }

    #[test]
    fn what_a_plan_calls_safe_is_judged_safe_on_the_same_text(text in file()) {
        let files = [File { path: "d.md", domain: "d", text: &text }];
        let plan = Plan::of(&files, &Standing::default(), built_in(), Vocabulary::built_in());
        for fix in &plan.safe_auto_fixes {
            let SafeFix::CreateTodoFromMarker(marked) = fix else { continue };
            let finding = &marked.finding;
            let asked = Asked {
                action: "create_todo_from_marker",
                file: Some("d.md"),
                line: Some(finding.line),
                line_hash: Some(&finding.line_token),
                ..Asked::default()
            };
            let judged = judge(&asked, Some(&text), built_in(), Vocabulary::built_in());
            let Judgement::Do(Work::CreateTodo(todo)) = judged else { panic!("{judged:?}") };
            prop_assert_eq!(todo.line, finding.line);
            let moved = judge(&asked, Some(&format!("\n\n{text}")), built_in(), Vocabulary::built_in());
            let same = matches!(&moved, Judgement::Do(Work::CreateTodo(again)) if again.id == todo.id);
            prop_assert!(same || matches!(moved, Judgement::Skip(_)), "{moved:?}");
        }
    }
}
