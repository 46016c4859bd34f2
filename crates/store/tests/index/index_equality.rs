//! However an index came to be, it answers alike.

use crate::index_support::*;
use strata_store::{Control, faults::FaultPlan};

#[test]
fn one_by_one_in_bulk_and_rebuilt_are_alike() {
    let log = history(11, scaled(9_000, 2_000));
    let whole = Truth::new(log.clone());
    let (bulk, single, again) =
        (TestHome::new().existing(), TestHome::new().existing(), TestHome::new().existing());
    let in_bulk = open(&bulk);
    follow(&in_bulk, &whole);

    let growing = Truth::new(Vec::new());
    let one_by_one = open(&single);
    for change in log {
        growing.push(change);
        follow(&one_by_one, &growing);
    }
    let questions = scaled(500, 120).unsigned_abs();
    assert_alike(&in_bulk, &one_by_one, questions);

    let rebuilt = open(&again);
    follow(&rebuilt, &whole.until(400));
    rebuilt.set_aside().expect("moves away");
    assert!(!rebuilt.path().exists());
    follow(&rebuilt, &whole);
    assert_alike(&in_bulk, &rebuilt, questions);
}

#[test]
fn another_epoch_or_history_starts_over() {
    let home = TestHome::new().existing();
    let index = open(&home);
    follow(&index, &Truth::new(history(21, 1_500)));
    let restored = Truth { epoch: "second".into(), ..Truth::new(history(22, 1_300)) };
    assert!(follow(&index, &restored).was_reset);

    let other = TestHome::new().existing();
    let fresh = open(&other);
    follow(&fresh, &restored);
    assert_alike(&index, &fresh, 60);

    let forked = Truth { history: "two".into(), ..Truth::new(history(22, 1_300)) };
    let forked = Truth { epoch: "second".into(), ..forked };
    assert!(follow(&index, &forked).was_reset, "the hash at the cursor tells another history");
    assert!(!follow(&index, &forked).was_reset);
    assert_alike(&index, &fresh, 60);

    let shorter = Truth { epoch: "second".into(), ..forked.until(900) };
    assert!(follow(&index, &shorter).was_reset, "a cursor beyond the head is of another history");
}

#[test]
fn two_analyser_versions_stand_side_by_side() {
    let home = TestHome::new().existing();
    let (old, new) = (home.index(1, FaultPlan::none()), home.index(2, FaultPlan::none()));
    let truth = Truth::new(history(31, 900));
    follow(&old, &truth);
    assert!(!new.path().exists());
    follow(&new, &truth);
    assert_ne!(old.path(), new.path());
    assert_alike(&old, &new, 60);
}

#[test]
fn damaged_and_foreign_files_are_set_aside() {
    let home = TestHome::new().existing();
    let truth = Truth::new(history(41, 1_400));
    let reference = TestHome::new().existing();
    let fresh = open(&reference);
    follow(&fresh, &truth);
    for bytes in [b"not a database at all".repeat(400), Vec::from(*b"SQLite format 3\0 and then nonsense")] {
        let index = open(&home);
        strata_store::files::write_atomic(index.path(), &bytes).expect("writes");
        let opened = index.open(&Control::default()).expect("opens");
        let strata_store::index::Opened::SetAside(aside) = opened else { panic!("it was set aside") };
        assert_eq!(std::fs::read(aside).expect("is kept"), bytes);
        follow(&index, &truth);
        assert_alike(&index, &fresh, 40);
        index.set_aside().expect("moves away");
    }
}
