//! The decision over a write, by the situations it knows.

use super::*;

const POOL: &str = "PostgreSQL 15 on prod-db:5432, connection pool: 20 max";

struct Call<'a> {
    mode: Mode,
    fuse: bool,
    hash: Option<&'a str>,
    note: Option<&'a Provenance>,
}

const UPSERT: Call<'_> = Call { mode: Mode::Upsert, fuse: false, hash: None, note: None };
const APPEND: Call<'_> = Call { mode: Mode::Append, ..UPSERT };
const MERGE: Call<'_> = Call { mode: Mode::Merge, ..UPSERT };

fn fused(hash: &str) -> Call<'_> {
    Call { fuse: true, hash: Some(hash), ..UPSERT }
}

fn injected(text: Option<&str>, heading: &str, content: &str, call: &Call<'_>) -> Decided {
    let heading = Heading::parse(heading).expect("a heading");
    let write = Write {
        domain: "infrastructure",
        heading: &heading,
        content,
        mode: call.mode,
        fuse: call.fuse,
        expected_hash: call.hash,
        provenance: call.note,
        min_family: Some(family::MIN_FAMILY),
        size_ceiling: family::CONSOLIDATED_SHARE,
        least_alike: None,
        meaning: Meaning::unknown(),
        readings: &Readings::default(),
    };
    decide(text, &write, None).expect("it can be written")
}

fn action(text: &str, heading: &str, content: &str, call: &Call<'_>) -> Action {
    injected(Some(text), heading, content, call).action
}

#[test]
fn layered_07_a_new_file_has_its_title_and_the_section() {
    let made = injected(None, "Database", POOL, &UPSERT);
    assert_eq!(made.action, Action::Created);
    assert_eq!(made.text, Some(format!("# infrastructure\n\n## Database\n\n{POOL}\n")));
    assert_eq!(made.after_hash.as_deref(), Some("82968a5902d2f0fc"));
    assert_eq!(made.before_hash, None);
}

#[test]
fn layered_08_a_second_section_follows_the_first() {
    let text = format!("# infrastructure\n\n## Database\n\n{POOL}\n");
    let made = injected(Some(&text), "Cache", "Redis 7 keeps sessions.", &UPSERT);
    assert_eq!(made.action, Action::SectionCreated);
    assert_eq!(made.text, Some(format!("{text}\n## Cache\n\nRedis 7 keeps sessions.\n")));
}

#[test]
fn layered_09_10_the_next_heading_stays_on_its_line() {
    let text = "# d\n\n## Pool\n\nalpha\n\n## Cache\n\nbeta\n";
    for call in [APPEND, MERGE] {
        let made = injected(Some(text), "pool", "gamma", &call);
        assert_eq!(made.text.as_deref(), Some("# d\n\n## Pool\n\nalpha\n\ngamma\n\n## Cache\n\nbeta\n"));
        assert_eq!(made.section, "Pool");
    }
}

#[test]
fn layered_11_the_same_again_changes_nothing() {
    let text = format!("## Database\n\n{POOL}\n<!-- injected by: a at b -->\n\nmore\n");
    for (call, expected) in
        [(UPSERT, Action::Skipped), (APPEND, Action::AppendNoChange), (MERGE, Action::MergedNoChange)]
    {
        let kept = injected(Some(&text), "database", POOL, &call);
        assert_eq!((kept.action, kept.text), (expected, None));
        assert_eq!(kept.likest.map(|like| like.kind), Some(MatchKind::Exact));
    }
}

#[test]
fn layered_12_a_short_text_is_stored_whatever_other_places_say() {
    assert!(!stands_in(POOL, "5432"));
    assert_eq!(injected(None, "Port", "5432", &UPSERT).action, Action::Created);
    let heading = Heading::parse("Copy").expect("a heading");
    let elsewhere = Elsewhere { file: "infrastructure.md", heading: "Database" };
    let readings = Readings::default();
    let write = |mode| Write {
        domain: "other",
        heading: &heading,
        content: POOL,
        mode,
        fuse: false,
        expected_hash: None,
        provenance: None,
        min_family: None,
        size_ceiling: family::CONSOLIDATED_SHARE,
        least_alike: None,
        meaning: Meaning::unknown(),
        readings: &readings,
    };
    assert!(stands_in(&format!("before\n\n{POOL}\nafter"), POOL));
    let skipped = decide(None, &write(Mode::Upsert), Some(&elsewhere)).expect("decided");
    let place = skipped.likest.expect("the place is named");
    assert_eq!((skipped.action, skipped.text), (Action::Skipped, None));
    assert_eq!((place.file.as_deref(), place.heading.as_str()), (Some("infrastructure.md"), "Database"));
    let appended = decide(None, &write(Mode::Append), Some(&elsewhere)).expect("decided");
    assert_eq!(appended.action, Action::Created, "who says append wants it there");
}

#[test]
fn layered_13_append_appends_and_merge_adds_what_is_missing() {
    let text = format!("## Database\n\n{POOL}\n\n## Hosts\n\n- alpha\n- Beta\n");
    let near = "PostgreSQL 15 on prod-db:5432, with a connection pool: 20 max";
    let made = injected(Some(&text), "Database", near, &APPEND);
    assert_eq!(made.action, Action::Appended);
    assert!(made.text.expect("written").contains(&format!("{POOL}\n\n{near}\n\n## Hosts")));
    let made = injected(Some(&text), "Hosts", "* beta\n- gamma", &MERGE);
    assert_eq!(made.action, Action::Merged);
    assert!(made.text.expect("written").ends_with("- alpha\n- Beta\n- gamma\n"));
}

#[test]
fn layered_14_what_says_nothing_is_refused() {
    let heading = Heading::parse("A").expect("a heading");
    for content in ["", " \n", "## a\n", "\u{feff}"] {
        let write = Write {
            domain: "d",
            heading: &heading,
            content,
            mode: Mode::Upsert,
            fuse: false,
            expected_hash: None,
            provenance: None,
            min_family: None,
            size_ceiling: family::CONSOLIDATED_SHARE,
            least_alike: None,
            meaning: Meaning::unknown(),
            readings: &Readings::default(),
        };
        assert_eq!(decide(None, &write, None), Err(InjectError::Empty), "{content:?}");
    }
}

#[test]
fn layered_15_likeness_to_one_section_loses_nothing_of_another() {
    let text = format!("## Database\n\n{POOL}\n\n## Cache\n\nRedis 7 keeps sessions for 30 minutes.\n");
    let like_database = "PostgreSQL 15 on prod-db:5432, its connection pool: 20 max";
    let made = injected(Some(&text), "Cache", like_database, &UPSERT);
    assert!([Action::Appended, Action::DeferredFusion].contains(&made.action), "{:?}", made.action);
    let after = made.text.unwrap_or(text);
    assert!(after.contains("Redis 7 keeps sessions for 30 minutes."));
}

#[test]
fn layered_16_a_new_value_is_no_duplicate() {
    let text = format!("## Database\n\n{POOL}\n");
    let changed = POOL.replace("20", "40");
    let made = injected(Some(&text), "Database", &changed, &UPSERT);
    assert_eq!(made.action, Action::Replaced);
    assert_eq!(made.text, Some(text.replace("20", "40")));
    assert!(!made.is_fusion);
    for (old, new) in [
        ("网关监听 8080 端口。", "网关监听 9090 端口。"),
        ("接続プールの上限は20です。", "接続プールの上限は40です。"),
        ("연결 풀의 최대 크기는 20입니다.", "연결 풀의 최대 크기는 40입니다."),
        ("Backups are enabled on the archive.", "Backups are not enabled on the archive."),
    ] {
        let text = format!("## A\n\n{old}\n");
        let made = injected(Some(&text), "A", new, &UPSERT);
        match made.action {
            Action::Replaced => assert_eq!(made.text, Some(format!("## A\n\n{new}\n"))),
            Action::DeferredFusion => assert!(matches!(made.handshake, Handshake::Fusion { .. })),
            other => panic!("{new}: {other:?}"),
        }
    }
}

#[test]
fn facts_about_two_things_under_two_headings_are_both_kept() {
    let text = "## Production\n\nPostgreSQL 15 on prod-db:5432, connection pool: 20 max\n";
    let staging = "PostgreSQL 15 on staging-db:5432, connection pool: 20 max";
    assert_eq!(action(text, "Staging", staging, &UPSERT), Action::SectionCreated);
    let moved = "PostgreSQL 15 on prod-db:5432, connection pool: 40 max";
    assert_eq!(action(text, "Limits", moved, &UPSERT), Action::DeferredFusion, "the same thing, a new value");
}

#[test]
fn what_is_near_and_not_near_enough_is_added() {
    let text = format!("## Database\n\n{POOL}\n");
    let near = "The PostgreSQL 15 on prod-db:5432 has a connection pool: 20 max";
    let decided = |heading: &str, content: &str, least_alike| {
        let heading = Heading::parse(heading).expect("a heading");
        let write = Write {
            domain: "d",
            heading: &heading,
            content,
            mode: Mode::Upsert,
            fuse: false,
            expected_hash: None,
            provenance: None,
            min_family: None,
            size_ceiling: family::CONSOLIDATED_SHARE,
            least_alike,
            meaning: Meaning::unknown(),
            readings: &Readings::default(),
        };
        decide(Some(&text), &write, None).expect("it can be written")
    };
    assert_eq!(decided("Database", near, Some(0.1)).action, Action::DeferredFusion);
    let added = decided("Database", near, Some(1.0));
    assert_eq!((added.action, added.text), (Action::Appended, Some(format!("{text}\n{near}\n"))));
    assert_eq!(decided("Pool", near, Some(1.0)).action, Action::SectionCreated);
    let changed = POOL.replace("20", "40");
    assert_eq!(
        decided("Database", &changed, Some(1.0)).action,
        Action::Replaced,
        "a value is no matter of nearness"
    );
    assert_eq!(decided("Database", POOL, Some(1.0)).action, Action::Skipped);
}

#[test]
fn layered_17_18_a_fusion_is_asked_for_and_made_under_its_token() {
    let text = format!("## Database\n\n{POOL}\n\n## Cache\n\nbeta\n");
    let near = "The PostgreSQL 15 on prod-db:5432 has a connection pool: 20 max";
    let asked = injected(Some(&text), "Database", near, &UPSERT);
    assert_eq!((asked.action, asked.text), (Action::DeferredFusion, None));
    let Handshake::Fusion { hit, expected_hash } = asked.handshake else { panic!("no handshake") };
    assert_eq!((hit.heading.as_str(), hit.body.as_str()), ("Database", POOL));
    assert_eq!(expected_hash, "82968a5902d2f0fc");
    let made = injected(Some(&text), "database", "One text for both.", &fused(&expected_hash));
    assert_eq!((made.action, made.is_fusion), (Action::Replaced, true));
    assert_eq!(made.before_hash.as_deref(), Some(expected_hash.as_str()));
    assert_eq!(made.text.as_deref(), Some("## Database\n\nOne text for both.\n\n## Cache\n\nbeta\n"));
    for (heading, call) in [
        ("Database", fused("0000000000000000")),
        ("Gone", fused(&expected_hash)),
        ("Database", Call { fuse: true, ..UPSERT }),
        ("Database", Call { hash: Some("0000000000000000"), ..UPSERT }),
    ] {
        let refused = injected(Some(&text), heading, "One text for both.", &call);
        assert_eq!((refused.action, refused.text), (Action::FuseConflict, None));
        let Handshake::Conflict { current_hash, .. } = refused.handshake else { panic!("no handshake") };
        assert_eq!(current_hash.is_none(), heading == "Gone");
    }
}

const RELEASES: &str = "# ops\n\n## Release process 2026-10-01 (v3.2)\n\nTag the commit, build the image, push it, and tell the team about it.\n\n## Other\n\nx\n";

#[test]
fn layered_19_a_family_becomes_one_section_under_its_token() {
    let content = "Tag the commit, then build, sign and push the image.";
    let asked = injected(Some(RELEASES), "Release process 2026-10-12", content, &UPSERT);
    assert_eq!((asked.action, asked.text), (Action::DeferredConsolidate, None));
    let Handshake::Consolidate { family, expected_hash } = asked.handshake else { panic!("no handshake") };
    assert_eq!(family.len(), 1);
    assert_eq!(family[0].heading, "Release process 2026-10-01 (v3.2)");
    for heading in ["Release process 2026-10-12", "Release process", "How we release"] {
        let made = injected(Some(RELEASES), heading, content, &fused(&expected_hash));
        assert_eq!((made.action, made.family_size_before), (Action::Consolidated, Some(1)), "{heading}");
        assert_eq!(made.before_hash.as_deref(), Some(expected_hash.as_str()));
        assert_eq!(made.text, Some(format!("# ops\n\n## {heading}\n\n{content}\n\n## Other\n\nx\n")));
    }
    let stolen = injected(Some(RELEASES), "Other", content, &fused(&expected_hash));
    assert_eq!(stolen.action, Action::FuseConflict, "the name of a section that is none of the family");
    assert_eq!(action(RELEASES, "Release process 2026-10-12", content, &APPEND), Action::SectionCreated);
}

#[test]
fn layered_20_a_family_must_get_shorter() {
    let text = "## Log 2026-01-01\n\nalpha alpha alpha alpha\n\n## Z\n\nz\n\n## Log 2026-01-02\n\nbeta beta beta beta\n";
    let asked = injected(Some(text), "Log 2026-01-03", "gamma", &UPSERT);
    let Handshake::Consolidate { family, expected_hash } = asked.handshake else { panic!("no handshake") };
    let bytes: usize = family.iter().map(|member| member.body.len()).sum();
    let refused = injected(Some(text), "Log", &"x".repeat(bytes), &fused(&expected_hash));
    assert_eq!((refused.action, refused.text), (Action::ConsolidateRefused, None));
    let expected =
        Handshake::TooLong { family_size: 2, family_bytes: bytes, submitted_bytes: bytes, ceiling: 0.9 };
    assert_eq!(refused.handshake, expected);
    let made = injected(Some(text), "Log", "alpha, beta, gamma", &fused(&expected_hash));
    assert_eq!(made.text.as_deref(), Some("## Log\n\nalpha, beta, gamma\n\n## Z\n\nz\n"));
    assert_eq!(made.family_size_before, Some(2));
}

#[test]
fn layered_21_22_23_headings_fences_and_line_ends_are_respected() {
    let text = format!("## Database\n\n{POOL}\n");
    assert_eq!(action(&text, "database", "Backups run nightly.", &UPSERT), Action::Appended);
    let fenced = "## A\n\n```md\n## x\n```\n\n## B\n\nb\n";
    let made = injected(Some(fenced), "A", "more about it", &UPSERT);
    assert_eq!(made.text.as_deref(), Some("## A\n\n```md\n## x\n```\n\nmore about it\n\n## B\n\nb\n"));
    let ended = "\u{feff}## A\r\n\r\na\r\n\r\n## B\r\n\r\nb\r\n";
    let made = injected(Some(ended), "A", "more\nlines", &APPEND);
    assert_eq!(made.text, Some(ended.replace("a\r\n\r\n## B", "a\r\n\r\nmore\r\nlines\r\n\r\n## B")));
}

#[test]
fn layered_25_the_note_says_who_wrote_and_is_no_part_of_what_is_said() {
    let note = Provenance::new("claude", "2026-11-30T10:00:00Z").expect("a name");
    let call = Call { note: Some(&note), ..UPSERT };
    let made = injected(None, "Database", POOL, &call).text.expect("written");
    let comment = "<!-- injected by: claude at 2026-11-30T10:00:00Z -->";
    assert_eq!(made, format!("# infrastructure\n\n## Database\n\n{POOL}\n{comment}\n"));
    assert_eq!(action(&made, "Database", POOL, &call), Action::Skipped);
    let replaced = injected(Some(&made), "Database", &POOL.replace("20", "40"), &call);
    assert_eq!(replaced.action, Action::Replaced);
    assert_eq!(replaced.text.expect("written").matches(comment).count(), 1);
}

#[test]
fn a_text_cannot_make_sections_of_its_own() {
    let content = "x\n\n## Smuggled\n\n```\nopen";
    let made = injected(Some("## A\n\na\n\n## B\n"), "C", content, &UPSERT);
    assert_eq!((made.demoted, made.closed_with.as_deref()), (1, Some("```")));
    let text = made.text.expect("written");
    let headings: Vec<String> =
        Outline::parse(&text).entries().iter().map(|entry| entry.heading.clone()).collect();
    assert_eq!(headings, ["A", "B", "C"]);
}
