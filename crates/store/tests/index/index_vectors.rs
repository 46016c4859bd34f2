//! Vector sets: side by side, filled in the background, switched at once, never mixed.

use crate::index_support::*;
use strata_core::{analysis::QueryContext, analysis::analyze_query, error::ErrorKind, rank::Settings};
use strata_store::{
    Control, StoreError,
    index::{CaughtUp, Filter, Index, MissingVector, PackedVector, Preparer, QueryVector, Request},
};

const OTHER: &str = "first-letters/3";

/// Packs a vector of the other model: it tells texts apart by their number alone.
fn packed(place: &MissingVector) -> PackedVector {
    let share = (place.source.number % 100) as f32 / 100.0;
    let (values, scale) = strata_core::vector::quantize(&[share, (1.0 - share * share).sqrt(), 0.0]);
    PackedVector { values, scale }
}

fn ask(index: &Index, model: &str, values: &[f32]) -> Result<strata_store::index::Answer, StoreError> {
    let query = analyze_query("roba tiken", &QueryContext::default());
    let request = Request {
        collections: &[key("alpha")],
        query: &query,
        people: &[],
        vector: Some(QueryVector { model, values }),
        filter: &Filter::default(),
        as_of: None,
        settings: &Settings { english_only_model: false, ..Settings::default() },
        limit: 5,
    };
    index.search(&Control::default(), &request, &CaughtUp::default().pending)
}

fn fill(index: &Index, limit: usize) -> usize {
    let missing = index.missing(TENANT, OTHER, limit).expect("lists");
    let writer = index.writer(&Control::default()).expect("opens").expect("free");
    let vectors: Vec<_> = missing.iter().map(|place| (*place, packed(place))).collect();
    writer.put_vectors(TENANT, OTHER, 3, &vectors).expect("puts");
    vectors.len()
}

#[test]
fn a_second_set_grows_beside_the_first_and_takes_over_at_once() {
    let truth = Truth::new(history(201, 2_200));
    let home = TestHome::new().existing();
    let index = open(&home);
    follow(&index, &truth);
    assert!(index.missing(TENANT, MODEL, 10).expect("lists").is_empty());
    let warm = open(&home);
    let old = embed("roba").expect("a vector");
    assert!(ask(&warm, MODEL, &old).expect("answers").is_semantic);

    // The count is that of the list: of no set, of one that is half filled, and of a complete one.
    let counts_agree = |model: &str| {
        let listed = index.missing(TENANT, model, usize::MAX).expect("lists").len();
        assert_eq!(index.missing_count(TENANT, model).expect("counts"), listed, "{model}");
        listed
    };
    assert_eq!((counts_agree(MODEL), counts_agree(OTHER) > 500), (0, true));
    assert!(fill(&index, 500) == 500);
    assert!(counts_agree(OTHER) > 0);
    let writer = index.writer(&Control::default()).expect("opens").expect("free");
    let early = writer.switch_to(TENANT, OTHER).expect_err("not complete");
    assert_eq!(early.kind(), ErrorKind::Invalid);
    drop(writer);
    while fill(&index, 700) > 0 {}
    assert_eq!(counts_agree(OTHER), 0);

    // Still the old one; a vector of the new one is refused, and the other way round afterwards.
    assert_eq!(ask(&warm, OTHER, &[1.0, 0.0, 0.0]).expect_err("mixed").kind(), ErrorKind::Invalid);
    assert!(ask(&warm, MODEL, &old).expect("answers").is_semantic);
    let writer = index.writer(&Control::default()).expect("opens").expect("free");
    writer.switch_to(TENANT, OTHER).expect("switches");
    drop(writer);
    assert_eq!(ask(&warm, MODEL, &old).expect_err("mixed").kind(), ErrorKind::Invalid);
    let answer = ask(&warm, OTHER, &[1.0, 0.0, 0.0]).expect("answers");
    let cold = ask(&open(&home), OTHER, &[1.0, 0.0, 0.0]).expect("answers");
    assert!(answer.is_semantic && !answer.found.is_empty());
    assert_eq!(lines(&answer), lines(&cold));
    let active: Vec<_> =
        index.vector_sets(TENANT).expect("lists").into_iter().filter(|s| s.is_active).collect();
    assert_eq!((active.len(), active[0].model.as_str(), active[0].dimension), (1, OTHER, 3));

    let writer = index.writer(&Control::default()).expect("opens").expect("free");
    writer.drop_set(TENANT, MODEL).expect("drops");
    drop(writer);
    assert_eq!(index.vector_sets(TENANT).expect("lists").len(), 1);
    assert_eq!(lines(&ask(&warm, OTHER, &[1.0, 0.0, 0.0]).expect("answers")), lines(&cold));
}

#[test]
fn vectors_put_later_reach_warm_views() {
    let truth = Truth::new(history(211, 1_400));
    let (plain, embedded) = (TestHome::new().existing(), TestHome::new().existing());
    let index = open(&plain);
    let warm = open(&plain);
    let control = Control::default();
    index.catch_up(&control, TENANT, &truth, Preparer::default(), LONG).expect("catches up");
    assert!(!ask(&warm, OTHER, &[1.0, 0.0, 0.0]).expect("answers").is_semantic, "there is no set yet");
    let total = index.missing(TENANT, OTHER, usize::MAX).expect("lists").len();
    let mut put = 0;
    loop {
        let some = fill(&index, 300);
        put += some;
        let answer = ask(&warm, OTHER, &[1.0, 0.0, 0.0]).expect("answers");
        let cold = ask(&open(&plain), OTHER, &[1.0, 0.0, 0.0]).expect("answers");
        assert_eq!(lines(&answer), lines(&cold), "after {put}");
        if some == 0 {
            break;
        }
    }
    assert_eq!(put, total);
    follow(&open(&embedded), &truth);
}

#[test]
fn a_set_of_another_dimension_is_refused() {
    let home = TestHome::new().existing();
    let index = open(&home);
    follow(&index, &Truth::new(history(221, 60)));
    let missing = index.missing(TENANT, OTHER, 3).expect("lists");
    let writer = index.writer(&Control::default()).expect("opens").expect("free");
    let vectors: Vec<_> = missing.iter().map(|place| (*place, packed(place))).collect();
    writer.put_vectors(TENANT, OTHER, 3, &vectors).expect("puts");
    let wrong = writer.put_vectors(TENANT, OTHER, 4, &vectors).expect_err("another dimension");
    assert_eq!(wrong.kind(), ErrorKind::Invalid);
    drop(writer);
    assert_eq!(ask(&index, MODEL, &[1.0]).expect_err("too short").kind(), ErrorKind::Invalid);
}
