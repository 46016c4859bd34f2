//! Rows taken in from another store.

use crate::fixture::{Fixture, audited};
use strata_core::memory::{Layer, Status};
use strata_store::{
    Conflict, StoreError,
    ledger::{MemoryFilter, PurgedKind, State},
};

fn state(status: Status) -> State {
    State { status, ..State::active(Layer::P5) }
}

#[test]
fn a_loaded_memory_has_its_number_its_history_and_its_successor() {
    let fixture = Fixture::new();
    let (old, new) = (fixture.memory("the old way"), fixture.memory("the new way"));
    fixture
        .write(|w| {
            let [first, second, third] = [(); 3].map(|()| audited(w, "load", old.id.as_str()));
            let (first, second, third) = (first?, second?, third?);
            let history = [
                (first, state(Status::Candidate)),
                (second, state(Status::Active)),
                (third, state(Status::Superseded)),
            ];
            w.load_memory(7, &old, &history, (Some(new.id.as_str()), Some("better")))?;
            w.load_memory(9, &new, &[(third, state(Status::Active))], (None, None))
        })
        .expect("loaded");
    let row = fixture.read(|r| r.memory(old.id.as_str())).expect("there");
    assert_eq!((row.number, row.seq, row.state_seq, row.state.status), (7, 1, 3, Status::Superseded));
    assert_eq!(row.superseded_by.as_deref(), Some(new.id.as_str()));
    let states = fixture.read(|r| r.states(7));
    let held: Vec<_> = states.iter().map(|s| (s.from_seq, s.to_seq, s.state.status)).collect();
    assert_eq!(held, [(1, 2, Status::Candidate), (2, 3, Status::Active), (3, i64::MAX, Status::Superseded)]);
    let then = fixture.read(|r| r.memories(&MemoryFilter { as_of: Some(2), ..MemoryFilter::default() }));
    assert_eq!(then.iter().map(|m| m.number).collect::<Vec<_>>(), [7]);
    assert!(fixture.read(|r| r.verify_audit(&[], None)).is_whole());
    assert_eq!(fixture.remember(&fixture.memory("next")).expect("stored"), 10);
}

#[test]
fn numbers_of_living_and_purged_things_are_not_free() {
    let fixture = Fixture::new();
    let gone = fixture.memory("one");
    fixture.remember(&gone).expect("stored");
    fixture.remember(&fixture.memory("two")).expect("stored");
    fixture
        .write(|w| {
            let seq = audited(w, "purge", gone.id.as_str())?;
            w.purge(PurgedKind::Memory, gone.id.as_str(), seq)?;
            w.load_tombstone(PurgedKind::Memory, 5, "mem_0000000005", w.now(), seq)
        })
        .expect("purged");
    let free = |wanted| fixture.write(|w| w.free_number(PurgedKind::Memory, wanted)).expect("asked");
    assert_eq!([1, 2, 3, 4, 5, 0, -1].map(free), [6, 6, 3, 4, 6, 6, 6]);
    assert!(fixture.read(|r| r.is_purged("mem_0000000005")));
}

#[test]
fn a_memory_without_states_or_against_a_living_one_is_refused() {
    let fixture = Fixture::new();
    fixture.remember(&fixture.memory("said before")).expect("stored");
    let twin = fixture.memory("said before");
    let refused = fixture.write(|w| {
        let seq = audited(w, "load", twin.id.as_str())?;
        w.load_memory(5, &twin, &[(seq, state(Status::Active))], (None, None))
    });
    assert!(matches!(refused, Err(StoreError::Conflict(Conflict::ContentTaken { .. }))), "{refused:?}");
    assert!(matches!(
        fixture.write(|w| w.load_memory(5, &twin, &[], (None, None))),
        Err(StoreError::Invalid(_))
    ));
    assert_eq!(fixture.read(|r| r.totals()).memories, 1);
}
