//! What was seen when, what waits to be indexed, and what is filtered out.

use std::collections::{BTreeMap, BTreeSet};

use crate::index_support::*;
use proptest::prelude::*;
use strata_core::{memory::Layer, time::TimeRange, time::Timestamp};
use strata_store::{
    Control,
    index::{CaughtUp, Change, Filter, MAX_PENDING, Mark, Source, SourceKind, Subject},
};
use strata_testkit::store::TestStore;

/// Sources that a search at `as_of` returns, with a limit above their number.
fn seen(ask: &Ask<'_>, question: &str) -> BTreeSet<Source> {
    ask.lines(question).into_iter().map(|(source, ..)| source).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Write { number: i64, words: Vec<u64> },
    Forget { number: i64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let write = (0_i64..8, prop::collection::vec(0_u64..5, 1..4))
        .prop_map(|(number, words)| Step::Write { number, words });
    let forget = (0_i64..8).prop_map(|number| Step::Forget { number });
    prop::collection::vec(prop_oneof![3 => write, 1 => forget], 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { TestStore::times(24, 8) } else { 120 }))]

    /// For every sequence and every word: exactly the memories whose text had the word then.
    #[test]
    fn as_of_is_what_a_plain_model_says(steps in steps()) {
        let home = TestHome::new().existing();
        let index = open(&home);
        let truth = Truth::new(Vec::new());
        let mut model: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
        let mut past = vec![model.clone()];
        for (seq, step) in (1_i64..).zip(&steps) {
            let (number, subject) = match step {
                Step::Write { number, words } => {
                    model.insert(*number, words.clone());
                    let body: Vec<_> = words.iter().map(|at| word(*at)).collect();
                    (*number, Some(subject("alpha", body.join(" "))))
                }
                Step::Forget { number } => {
                    model.remove(number);
                    (*number, None)
                }
            };
            truth.push(Change { mark: Mark { seq, ordinal: 0 }, source: memory(number), subject });
            past.push(model.clone());
            // Some changes are indexed one by one, some together.
            if seq % 3 == 0 {
                follow(&index, &truth);
            }
        }
        follow(&index, &truth);
        for (seq, then) in (0_i64..).zip(&past) {
            for at in 0..5 {
                let expected: BTreeSet<_> = then
                    .iter()
                    .filter(|(_, words)| words.contains(&at))
                    .map(|(number, _)| memory(*number))
                    .collect();
                let ask = Ask { as_of: Some(seq), is_semantic: false, limit: 100, ..Ask::new(&index) };
                prop_assert_eq!(found_or_collapsed(&ask, &word(at)), expected, "at {} word {}", seq, at);
            }
        }
        let ask = Ask { is_semantic: false, limit: 100, ..Ask::new(&index) };
        let now: BTreeSet<_> = model.keys().map(|number| memory(*number)).collect();
        for at in 0..5 {
            prop_assert!(found_or_collapsed(&ask, &word(at)).is_subset(&now));
        }
    }
}

fn found_or_collapsed(ask: &Ask<'_>, question: &str) -> BTreeSet<Source> {
    let answer = ask.answer(question, &CaughtUp::default()).expect("answers");
    answer.found.into_iter().flat_map(|found| found.duplicates.into_iter().chain([found.source])).collect()
}

#[test]
fn the_past_is_searched_as_it_was() {
    let whole = Truth::new(history(51, scaled(4_000, 1_800)));
    let home = TestHome::new().existing();
    let index = open(&home);
    follow(&index, &whole);
    for seq in [1, 300, 1_100, 1_777] {
        let then = whole.until(seq);
        let other = TestHome::new().existing();
        let fresh = open(&other);
        follow(&fresh, &then);
        let mut numbers = Numbers::new(seq.unsigned_abs());
        for _ in 0..25 {
            let question = question(&mut numbers);
            // By words alone: a late turn changes the vectors of those after it, also as seen from then.
            let now = Ask { is_semantic: false, ..Ask::new(&fresh) }.lines(&question);
            let past = Ask { is_semantic: false, as_of: Some(seq), ..Ask::new(&index) }.lines(&question);
            assert_eq!(now, past, "at {seq}: {question}");
        }
    }
}

#[test]
fn the_dead_never_come_back() {
    let log = history(61, scaled(6_000, 2_000));
    let truth = Truth::new(log.clone());
    let home = TestHome::new().existing();
    let index = open(&home);
    follow(&index, &truth);
    let living: BTreeSet<Source> = log
        .iter()
        .map(|change| (change.source, change.subject.is_some()))
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .filter_map(|(source, lives)| lives.then_some(source))
        .collect();
    let mut numbers = Numbers::new(3);
    let mut count = 0;
    for _ in 0..150 {
        let found = seen(&Ask { limit: 50, ..Ask::new(&index) }, &question(&mut numbers));
        count += found.len();
        assert!(found.is_subset(&living));
    }
    assert!(count > 500);
}

#[test]
fn a_reader_that_cannot_index_answers_as_if_it_had() {
    let log = history(71, 1_500);
    let (early, late) = log.split_at(1_500 - 300);
    let truth = Truth::new(early.to_vec());
    let home = TestHome::new().existing();
    let index = open(&home);
    follow(&index, &truth);
    late.iter().for_each(|change| truth.push(change.clone()));

    let other = open(&home);
    let held = other.writer(&Control::default()).expect("opens").expect("the lock is free");
    let caught =
        index.catch_up(&Control::default(), TENANT, &truth, semantic(), LONG).expect("does not wait");
    assert_eq!((caught.behind, caught.pending.len() >= 300), (300, true));
    let mut numbers = Numbers::new(5);
    let questions: Vec<_> = (0..80).map(|_| question(&mut numbers)).collect();
    let behind: Vec<_> = questions
        .iter()
        .map(|question| {
            let answer = Ask::new(&index).answer(question, &caught).expect("answers");
            assert!(answer.index_behind >= 300);
            lines(&answer)
        })
        .collect();
    drop(held);
    follow(&index, &truth);
    for (question, behind) in questions.iter().zip(behind) {
        // What was pending is skipped once it is indexed.
        let answer = Ask::new(&index).answer(question, &caught).expect("answers");
        assert_eq!(answer.index_behind, 0);
        assert_eq!(lines(&answer), behind, "{question}");
    }
}

#[test]
fn a_reader_without_an_index_answers_from_the_ledger() {
    let truth = Truth::new(history(81, 200));
    let home = TestHome::new().existing();
    let index = open(&home);
    let changes = truth.log.lock().expect("no panic").clone();
    let pending = semantic().prepare(&truth, &changes).expect("prepares");
    let caught = CaughtUp { behind: 200, pending, ..CaughtUp::default() };
    let asked = Ask { is_semantic: false, ..Ask::new(&index) };
    let mut numbers = Numbers::new(6);
    let questions: Vec<_> = (0..40).map(|_| question(&mut numbers)).collect();
    let before: Vec<_> =
        questions.iter().map(|q| lines(&asked.answer(q, &caught).expect("answers"))).collect();
    assert!(!index.path().exists(), "a search makes no file");
    follow(&index, &truth);
    let after: Vec<_> = questions.iter().map(|question| asked.lines(question)).collect();
    assert_eq!(before, after);
    assert!(caught.pending.len() < MAX_PENDING);
}

fn assert_only(
    index: &strata_store::index::Index,
    filter: &Filter,
    passes: impl Fn(&Source, &Subject) -> bool,
) {
    let truth = Truth::new(history(91, 1_300));
    let log = truth.log.lock().expect("no panic");
    let subjects: BTreeMap<Source, &Subject> =
        log.iter().filter_map(|change| Some((change.source, change.subject.as_ref()?))).collect();
    let (mut numbers, mut count) = (Numbers::new(8), 0);
    for at in 0..40 {
        let ask = Ask { filter: filter.clone(), limit: 30, is_semantic: at % 2 == 0, ..Ask::new(index) };
        for source in seen(&ask, &question(&mut numbers)) {
            assert!(passes(&source, subjects[&source]), "{source:?} passed {filter:?}");
            count += 1;
        }
    }
    assert!(count > 20, "{filter:?} let {count} pass");
}

#[test]
fn filters_hold_before_the_best_are_taken() {
    let home = TestHome::new().existing();
    let index = open(&home);
    follow(&index, &Truth::new(history(91, 1_300)));
    let layers = vec![Layer::P0, Layer::P5];
    assert_only(&index, &Filter { layers: layers.clone(), ..Filter::default() }, |_, s| {
        layers.contains(&s.layer)
    });
    let kinds = vec!["decision".to_owned()];
    assert_only(&index, &Filter { kinds: kinds.clone(), ..Filter::default() }, |_, s| {
        kinds.contains(&s.kind)
    });
    let sources = vec![SourceKind::Document];
    assert_only(&index, &Filter { sources, ..Filter::default() }, |s, _| s.kind == SourceKind::Document);
    let none = Some(vec![String::new()]);
    assert_only(&index, &Filter { branches: none, ..Filter::default() }, |_, s| s.branch.is_empty());
    let feature = Some(vec!["feature".to_owned()]);
    assert_only(&index, &Filter { branches: feature, ..Filter::default() }, |_, s| s.branch == "feature");
    assert_only(&index, &Filter { with: 1, without: 2, ..Filter::default() }, |_, s| s.marks & 3 == 1);
    let from = 1_700_000_000_000_000 + 200 * 60_000_000;
    let range = TimeRange { from: Timestamp(from), to: Timestamp(from + 600 * 60_000_000) };
    assert_only(&index, &Filter { time: Some(range), ..Filter::default() }, |_, s| {
        range.contains(Timestamp(s.at))
    });
}

/// An index that was removed and made anew gives the same ids and comes to the same revisions.
#[test]
fn an_index_made_anew_is_not_taken_for_the_one_before() {
    let texts = |words: [&str; 3]| {
        let change = |(number, word): (i64, &str)| Change {
            mark: Mark { seq: number, ordinal: 0 },
            source: memory(number),
            subject: Some(subject("alpha", format!("the {word} lamp"))),
        };
        Truth::new((1_i64..).zip(words).map(change).collect())
    };
    let (before, mut after) = (texts(["common", "forsaken", "lost"]), texts(["common", "chosen", "kept"]));
    after.history = "another".into();
    let home = TestHome::new().existing();
    let (long_open, other) = (open(&home), open(&home));
    follow(&long_open, &before);
    let ask = || Ask { is_semantic: false, ..Ask::new(&long_open) };
    assert_eq!(ask().lines("forsaken").len(), 1);

    other.set_aside().expect("nobody writes");
    follow(&other, &after);
    follow(&long_open, &after);
    let found = ["common", "chosen", "kept", "forsaken", "lost"].map(|word| ask().lines(word).len());
    assert_eq!(found, [1, 1, 1, 0, 0], "what it holds now, and nothing from before");
}
