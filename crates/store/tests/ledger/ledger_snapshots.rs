//! Snapshots and going back to them, against a model that keeps copies.

use std::collections::BTreeMap;

use crate::fixture::{Fixture, agent, audited, store};
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use strata_core::memory::{Layer, Status};
use strata_store::ledger::{NewSnapshot, PurgedKind, RolledBack, SnapshotRow, State, set_hash};
use strata_testkit::store::TestStore;

fn take(fixture: &Fixture, name: &str) -> Result<(), strata_store::StoreError> {
    let who = agent().to_string();
    fixture.write(|w| {
        let seq = audited(w, "snapshot_create", name)?;
        let rows = w.live_at(seq.get())?;
        let live = i64::try_from(rows.len()).expect("few");
        let new = NewSnapshot { name, label: "", who: &who, at: None, live, hash: set_hash(&rows) };
        w.insert_snapshot(&new, seq)
    })
}

fn go_back(fixture: &Fixture, name: &str) -> RolledBack {
    let done = fixture.write(|w| {
        let to = w.snapshot(name)?.expect("taken").seq;
        let seq = audited(w, "snapshot_rollback", name)?;
        w.roll_back(to, &format!("rollback:{name}"), seq)
    });
    done.expect("rolled back")
}

fn live(fixture: &Fixture, seq: i64) -> BTreeMap<i64, State> {
    fixture.read(|r| r.live_at(seq)).into_iter().map(|row| (row.number, row.state)).collect()
}

fn live_now(fixture: &Fixture) -> BTreeMap<i64, State> {
    live(fixture, i64::MAX - 1)
}

fn snapshot(fixture: &Fixture, name: &str) -> SnapshotRow {
    fixture.read(|r| r.snapshot(name)).expect("taken")
}

#[derive(Debug, Clone)]
enum Step {
    Store { topic: Option<u8> },
    Replace { which: usize },
    Forget { which: usize },
    Restore { which: usize },
    Adjust { which: usize, confidence: u8, pinned: bool },
    Snapshot,
    Back { which: usize },
    Again { which: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0..16_usize;
    prop_oneof![
        4 => prop::option::of(0..3_u8).prop_map(|topic| Step::Store { topic }),
        3 => which.clone().prop_map(|which| Step::Replace { which }),
        3 => which.clone().prop_map(|which| Step::Forget { which }),
        2 => which.clone().prop_map(|which| Step::Restore { which }),
        2 => (which.clone(), 0..=10_u8, any::<bool>())
            .prop_map(|(which, confidence, pinned)| Step::Adjust { which, confidence, pinned }),
        2 => Just(Step::Snapshot),
        2 => which.clone().prop_map(|which| Step::Back { which }),
        1 => which.prop_map(|which| Step::Again { which }),
    ]
}

/// Does one step; those that the ledger refuses (a topic that is taken) change nothing.
fn apply(fixture: &Fixture, n: usize, step: &Step) {
    let states = fixture.read(|r| r.as_of(i64::MAX - 1));
    let snapshots = fixture.read(|r| r.snapshots());
    let pick = |which: usize| states.get(which % states.len().max(1)).copied();
    let change = |which: usize, to: &dyn Fn(State) -> State| {
        let Some(row) = pick(which) else { return };
        let outcome = fixture.write(|w| {
            let seq = audited(w, "change", "x")?;
            w.change_state(row.number, None, &to(row.state), seq)
        });
        drop(outcome);
    };
    match *step {
        Step::Store { topic } => {
            // Few bodies, so that the same content comes again while its twin is out of force.
            let mut new = fixture.memory(&format!("body {}", n % 7));
            new.topic_key = topic.map(|t| format!("topic {t}"));
            drop(fixture.remember(&new));
        }
        Step::Replace { which } => {
            let Some(row) = pick(which) else { return };
            let old = fixture.read(|r| r.memory_by_number(row.number)).expect("stored");
            let mut new = fixture.memory(&format!("successor {n}"));
            new.topic_key.clone_from(&old.topic_key);
            new.supersedes = Some(strata_core::id::Id::parse(&old.id).expect("an id"));
            drop(fixture.write(|w| store(w, &new)));
        }
        Step::Forget { which } => change(which, &|s| State { status: Status::Trashed, ..s }),
        Step::Restore { which } => change(which, &|s| State { status: Status::Active, ..s }),
        Step::Adjust { which, confidence, pinned } => {
            change(which, &|s| State {
                confidence: f64::from(confidence) / 10.0,
                pinned,
                layer: Layer::P4,
                ..s
            });
        }
        Step::Snapshot => take(fixture, &format!("s{n}")).expect("taken"),
        Step::Back { which } | Step::Again { which } => {
            let Some(chosen) = snapshots.get(which % snapshots.len().max(1)) else { return };
            take(fixture, &format!("before{n}")).expect("taken");
            go_back(fixture, &chosen.name);
            if matches!(step, Step::Again { .. }) {
                go_back(fixture, &format!("before{n}"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: TestStore::times(24, 8),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn going_back_restores_exactly_what_was_in_force(steps in prop::collection::vec(step(), 4..40)) {
        let fixture = Fixture::new();
        let mut taken = BTreeMap::new();
        for (n, step) in steps.iter().enumerate() {
            apply(&fixture, n, step);
            let head = fixture.read(|r| r.head()).seq;
            taken.insert(head, live_now(&fixture));
        }
        take(&fixture, "now").expect("taken");
        let before = live_now(&fixture);
        for snapshot in fixture.read(|r| r.snapshots()) {
            // What a snapshot shows does not change with what came after it.
            prop_assert!(fixture.read(|r| r.snapshot_holds(&snapshot)), "{}", snapshot.name);
            let then = live(&fixture, snapshot.seq);
            if let Some(seen) = taken.get(&snapshot.seq) {
                prop_assert_eq!(&then, seen);
            }
            go_back(&fixture, &snapshot.name);
            prop_assert_eq!(live_now(&fixture), then, "{}", snapshot.name);
            go_back(&fixture, "now");
            prop_assert_eq!(live_now(&fixture), before.clone());
        }
        for row in fixture.read(|r| r.as_of(i64::MAX - 1)) {
            let now = fixture.read(|r| r.memory_by_number(row.number)).expect("stored");
            prop_assert_eq!((now.state, now.state_seq), (row.state, row.from_seq), "the projection agrees");
            prop_assert!(!now.state.status.is_live() || now.superseded_by.is_none(), "no link while in force");
        }
        prop_assert!(fixture.read(|r| r.verify_audit(&[], None)).is_whole());
    }
}

#[test]
fn a_version_that_comes_back_loses_its_successor_and_going_forward_again_gives_it_back() {
    let fixture = Fixture::new();
    let first = fixture.memory("the port is 5432");
    let a = fixture.remember(&first).expect("stored");
    take(&fixture, "v1").expect("taken");
    let mut second = fixture.memory("the port is 5433");
    second.supersedes = Some(first.id.clone());
    let b = fixture.remember(&second).expect("stored");
    take(&fixture, "v2").expect("taken");
    let link = |number| {
        let row = fixture.read(|r| r.memory_by_number(number)).expect("stored");
        (row.state.status, row.superseded_by, row.superseded_reason)
    };
    assert_eq!(go_back(&fixture, "v1"), RolledBack { ended: 1, revived: 1, changed: 0 });
    assert_eq!(link(a), (Status::Active, None, None));
    assert_eq!(link(b), (Status::Superseded, Some(first.id.to_string()), Some("rollback:v1".into())));
    assert_eq!(go_back(&fixture, "v2"), RolledBack { ended: 1, revived: 1, changed: 0 });
    assert_eq!(link(a), (Status::Superseded, Some(second.id.to_string()), Some("rollback:v2".into())));
    assert_eq!(link(b), (Status::Active, None, None));
    let line = |number| -> Vec<i64> {
        fixture.read(|r| r.history(number)).line.into_iter().map(|m| m.number).collect()
    };
    assert_eq!((line(a), line(b)), (vec![a, b], vec![a, b]));
}

#[test]
fn what_was_forgotten_before_is_forgotten_again_and_not_replaced() {
    let fixture = Fixture::new();
    let number = fixture.remember(&fixture.memory("the ferry leaves at nine")).expect("stored");
    let set = |status| {
        fixture.write(|w| {
            let seq = audited(w, "change", "x")?;
            w.change_state(number, None, &State { status, ..State::active(Layer::P5) }, seq)
        })
    };
    take(&fixture, "there").expect("taken");
    set(Status::Trashed).expect("forgotten");
    take(&fixture, "gone").expect("taken");
    assert_eq!(go_back(&fixture, "there").revived, 1);
    assert_eq!(go_back(&fixture, "gone").ended, 1);
    let row = fixture.read(|r| r.memory_by_number(number)).expect("stored");
    assert_eq!((row.state.status, row.superseded_reason), (Status::Trashed, None));
}

#[test]
fn a_name_is_given_once_and_a_purge_is_counted() {
    let fixture = Fixture::new();
    let gone = fixture.memory("to be purged one day");
    fixture.remember(&gone).expect("stored");
    fixture.remember(&fixture.memory("to be kept")).expect("stored");
    take(&fixture, "v1").expect("taken");
    let before = snapshot(&fixture, "v1");
    assert!(take(&fixture, "v1").is_err());
    assert_eq!(snapshot(&fixture, "v1"), before);
    let purge = fixture.write(|w| {
        let seq = audited(w, "purge", gone.id.as_str())?;
        w.purge(PurgedKind::Memory, gone.id.as_str(), seq)
    });
    assert!(purge.expect("purged"));
    assert_eq!(fixture.read(|r| r.snapshot_losses("v1")), 1);
    assert!(fixture.read(|r| r.snapshot_holds(&before)), "the loss is accounted for");
    assert_eq!(go_back(&fixture, "v1"), RolledBack::default());
    assert_eq!(live_now(&fixture).len(), 1);
}
