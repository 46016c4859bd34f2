//! A collection of which most is dead is made anew, and nobody can tell.

use strata_store::{
    index::{Change, Group, Index, Mark, Section, Source, SourceKind, Subject},
    params,
    sql::Control,
};
use strata_testkit::home::TestHome;

use crate::index_support::{Ask, Numbers, TENANT, Truth, assert_alike, follow, memory, open, subject, text};

/// Files, and parts of each.
const FILES: i64 = 3;
const PARTS: u64 = 420;

/// A file of which each version says other things.
fn file(number: i64, seq: i64) -> Change {
    let section = |part: u64| {
        let mut own = Numbers::new(seq.unsigned_abs() * 10_000 + part);
        Section { title: format!("file {number}"), body: text(&mut own, 6), place: format!("{part}") }
    };
    let subject = Subject {
        sections: (0..PARTS).map(section).collect(),
        group: Group::Document(format!("f{number}")),
        keep_text: true,
        ..subject("beta", String::new())
    };
    let source = Source { kind: SourceKind::Document, number };
    Change { mark: Mark { seq, ordinal: 0 }, source, subject: Some(subject) }
}

fn fact(number: i64, seq: i64) -> Change {
    let body = text(&mut Numbers::new(seq.unsigned_abs() * 77), 12);
    Change { mark: Mark { seq, ordinal: 0 }, source: memory(number), subject: Some(subject("beta", body)) }
}

/// Slots of the collections that are searched, and of all.
fn slots(index: &Index) -> (i64, i64) {
    let sum = |of: &str| {
        let sql = format!("SELECT CAST(COALESCE(sum(slots), 0) AS BIGINT) FROM collections WHERE {of}");
        let sum = index
            .database()
            .read(&Control::default(), |tx| tx.query_one(&sql, params![TENANT], |row| row.get::<i64>(0)));
        sum.expect("reads").expect("a sum")
    };
    (sum("tenant = $1 AND retired = 0"), sum("tenant = $1"))
}

#[test]
fn a_collection_of_which_most_is_dead_is_made_anew() {
    let (home, other) = (TestHome::new(), TestHome::new());
    let (index, reference) = (open(&home), open(&other));
    let mut log: Vec<Change> = (1..=3).map(|seq| fact(1 + seq % 2, seq)).collect();
    log.extend((4..4 + FILES * 3).map(|seq| file(seq % FILES, seq)));
    log.push(fact(3, 40));
    let truth = Truth::new(log);
    follow(&index, &truth);
    follow(&reference, &truth);
    assert_alike(&index, &reference, 30);
    let mut past = Ask::new(&index);
    past.as_of = Some(2);
    let words = text(&mut Numbers::new(77), 12);
    let then = past.lines(&words);
    assert!(!then.is_empty());

    let control = Control::default();
    let before = slots(&index).0;
    let renewed = index.writer(&control).expect("opens").expect("free").renew(TENANT).expect("renews");
    assert_eq!(renewed, 1);
    assert!(slots(&index).0 * 2 < before, "{} of {before} slots", slots(&index).0);
    assert_alike(&index, &reference, 30);
    assert_eq!(past.lines(&words), then, "what a memory was can still be asked");
    assert_eq!(index.missing_count(TENANT, crate::index_support::MODEL).expect("counts"), 0);

    let writer = index.writer(&control).expect("opens").expect("free");
    assert_eq!(writer.renew(TENANT).expect("renews"), 0, "what lives is left as it is");
    while writer.tidy(TENANT, std::time::Duration::from_secs(1)).expect("tidies") {}
    drop(writer);
    let (seen, all) = slots(&index);
    assert_eq!(seen, all, "the old collection is gone");
    let part = index.document_part(&control, TENANT, 1, 7).expect("reads");
    assert_eq!(part.map(|part| part.place).as_deref(), Some("7"));

    // It is written to as before.
    for change in [file(1, 50), fact(2, 51), Change { subject: None, ..file(2, 52) }] {
        truth.push(change);
    }
    follow(&index, &truth);
    follow(&reference, &truth);
    assert_alike(&index, &reference, 30);
}
