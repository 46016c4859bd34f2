//! What a process remembers of an index is used for that index alone, also when another one lies under the same names, ids
//! and revisions.

use crate::index_support::*;
use strata_store::index::{Change, Index, Mark};
use strata_testkit::store::TestStore;

/// As many memories, in the same places, of other words.
fn facts(word: &str, from: i64, to: i64) -> Vec<Change> {
    let fact = |seq: i64| Change {
        mark: Mark { seq, ordinal: 0 },
        source: memory(seq),
        subject: Some(subject("alpha", format!("the {word} number {seq} stands"))),
    };
    (from..=to).map(fact).collect()
}

fn found(index: &Index, word: &str) -> usize {
    let ask = Ask { is_semantic: false, limit: 100, ..Ask::new(index) };
    ask.lines(word).len()
}

#[test]
fn an_index_made_anew_by_another_process_is_not_taken_for_the_one_before() {
    if !TestStore::Postgres.is_there() {
        return;
    }
    let home = TestHome::on(TestStore::Postgres).existing();
    let (reader, other) = (open(&home), open(&home));
    follow(&other, &Truth::new(facts("lantern", 1, 40)));
    assert!(found(&reader, "lantern") > 0 && found(&reader, "barrel") == 0);
    let database = home.database().expect("on a server");
    let collections = format!("{}.collections", Index::namespace(1));
    let known_by = || database.ask(&format!("SELECT concat_ws(' ', id, revision, slots) FROM {collections}"));
    let revision = database.ask(&format!("SELECT revision FROM {collections}")).remove(0);
    let before = known_by();
    other.set_aside().expect("removed");
    follow(&other, &Truth::new(facts("barrel", 1, 40)));
    // How often it was written depends on the machine; at some time the numbers are the same.
    database.administer(&format!("UPDATE {collections} SET revision = {revision}"));
    assert_eq!(known_by(), before, "nothing but the birth tells the two apart");
    assert!(found(&reader, "barrel") > 0, "the new one is seen");
    assert_eq!(found(&reader, "lantern"), 0, "the old one is not");
}
