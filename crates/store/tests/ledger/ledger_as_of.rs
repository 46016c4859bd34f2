//! Time travel against a model that simply keeps a copy of everything after every change.

use std::collections::BTreeMap;

use crate::fixture::{Fixture, audited, store};
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use strata_core::memory::{Layer, Status, Tier};
use strata_store::ledger::{ChangeCursor, Changed, MemoryFilter, State};
use strata_testkit::store::TestStore;

#[derive(Debug, Clone)]
enum Step {
    Store { topic: Option<u8>, status: Status },
    Change { which: usize, status: Status, cold: bool, confidence: u8, pinned: bool },
    Replace { which: usize },
    Link { old: usize, by: usize },
    Abort { which: usize },
}

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(Status::ALL.to_vec())
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0..8_usize;
    prop_oneof![
        3 => (prop::option::of(0..3_u8), status()).prop_map(|(topic, status)| Step::Store { topic, status }),
        4 => (which.clone(), status(), any::<bool>(), 0..=10_u8, any::<bool>()).prop_map(
            |(which, status, cold, confidence, pinned)| Step::Change { which, status, cold, confidence, pinned }
        ),
        2 => which.clone().prop_map(|which| Step::Replace { which }),
        1 => (which.clone(), 0..8_usize).prop_map(|(old, by)| Step::Link { old, by }),
        1 => which.prop_map(|which| Step::Abort { which }),
    ]
}

/// What the model knows: the states now, and after every sequence.
#[derive(Default)]
struct Model {
    now: BTreeMap<i64, State>,
    then: Vec<BTreeMap<i64, State>>,
}

impl Model {
    /// The number of the `which`-th memory there is.
    fn pick(&self, which: usize) -> Option<i64> {
        self.now.keys().nth(which % self.now.len().max(1)).copied()
    }

    fn apply(&mut self, fixture: &Fixture, n: usize, step: &Step) {
        match *step {
            Step::Store { topic, status } => {
                let mut new = fixture.memory(&format!("body {n}"));
                new.topic_key = topic.map(|t| format!("topic {t}"));
                new.state = State { status, ..State::active(Layer::P5) };
                if let Ok(number) = fixture.remember(&new) {
                    self.now.insert(number, new.state);
                }
            }
            Step::Change { which, status, cold, confidence, pinned } => {
                let Some(number) = self.pick(which) else { return };
                let tier = if cold { Tier::Cold } else { Tier::Hot };
                let confidence = f64::from(confidence) / 10.0;
                let state = State { status, tier, confidence, pinned, ..self.now[&number] };
                let changed = fixture.write(|w| {
                    let seq = audited(w, "change", "x")?;
                    w.change_state(number, None, &state, seq)
                });
                if changed.is_ok() {
                    self.now.insert(number, state);
                }
            }
            Step::Replace { which } => self.replace(fixture, n, which),
            Step::Link { old, by } => {
                let (Some(old), Some(by)) = (self.pick(old), self.pick(by)) else { return };
                let linked = fixture.write(|w| {
                    let seq = audited(w, "supersede", "x")?;
                    w.supersede(old, by, "", seq)
                });
                if linked.is_ok() {
                    self.retire(old);
                }
            }
            Step::Abort { which } => {
                let Some(number) = self.pick(which) else { return };
                let state = State { importance: 0.1, ..self.now[&number] };
                let aborted: Result<(), _> = fixture.write(|w| {
                    let seq = audited(w, "change", "x")?;
                    w.change_state(number, None, &state, seq)?;
                    Err(strata_store::StoreError::Cancelled)
                });
                assert!(aborted.is_err());
            }
        }
        self.then
            .resize(usize::try_from(fixture.read(|r| r.head()).seq).expect("small") + 1, self.now.clone());
    }

    fn replace(&mut self, fixture: &Fixture, n: usize, which: usize) {
        let Some(number) = self.pick(which) else { return };
        let old = fixture.read(|r| r.memory_by_number(number)).expect("stored");
        let mut new = fixture.memory(&format!("successor {n}"));
        new.topic_key = old.topic_key.clone();
        new.supersedes = Some(strata_core::id::Id::parse(&old.id).expect("an id"));
        if let Ok(by) = fixture.write(|w| store(w, &new)) {
            self.retire(number);
            self.now.insert(by, new.state);
        }
    }

    fn retire(&mut self, number: i64) {
        if let Some(state) = self.now.get_mut(&number) {
            *state = State { status: Status::Superseded, pinned: false, ..*state };
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
    fn every_sequence_shows_what_was_true_then(steps in prop::collection::vec(step(), 1..40)) {
        let fixture = Fixture::new();
        let mut model = Model { then: vec![BTreeMap::new()], ..Model::default() };
        for (n, step) in steps.iter().enumerate() {
            model.apply(&fixture, n, step);
        }
        for (seq, expected) in model.then.iter().enumerate() {
            let seq = seq as i64;
            let found: BTreeMap<_, _> =
                fixture.read(|r| r.as_of(seq)).into_iter().map(|row| (row.number, row.state)).collect();
            prop_assert_eq!(&found, expected, "sequence {}", seq);
            let filter = MemoryFilter { as_of: Some(seq), limit: 1000, ..MemoryFilter::default() };
            let live: Vec<_> = fixture.read(|r| r.memories(&filter)).into_iter().map(|m| m.number).rev().collect();
            let expected_live: Vec<_> =
                expected.iter().filter(|(_, state)| state.status.is_live()).map(|(number, _)| *number).collect();
            prop_assert_eq!(live, expected_live);
        }
        for row in fixture.read(|r| r.as_of(i64::MAX - 1)) {
            let now = fixture.read(|r| r.memory_by_number(row.number)).expect("stored");
            prop_assert_eq!((now.state, now.state_seq), (row.state, row.from_seq), "the projection agrees");
        }
        prop_assert!(fixture.read(|r| r.verify_audit(&[], None)).is_whole());
        follow_changes(&fixture)?;
    }
}

/// Pages of any size give every change once, in order.
fn follow_changes(fixture: &Fixture) -> Result<(), TestCaseError> {
    let whole = fixture.read(|r| r.changes_after(ChangeCursor::default(), 10_000));
    prop_assert!(!whole.more);
    prop_assert_eq!(whole.next, ChangeCursor::after(fixture.read(|r| r.head()).seq));
    let states: usize = fixture
        .read(|r| r.as_of(i64::MAX - 1))
        .iter()
        .map(|s| fixture.read(|r| r.states(s.number)).len())
        .sum();
    prop_assert_eq!(whole.changes.len(), states);
    for size in [1, 3] {
        let (mut cursor, mut pieces) = (ChangeCursor::default(), Vec::new());
        loop {
            let page = fixture.read(|r| r.changes_after(cursor, size));
            prop_assert_eq!(&fixture.read(|r| r.changes_behind(cursor, size)), &page.changes);
            let left = whole.changes.len() - pieces.len();
            prop_assert_eq!(fixture.read(|r| r.count_behind(cursor)), left as u64);
            pieces.extend(page.changes);
            cursor = page.next;
            if !page.more {
                break;
            }
        }
        prop_assert_eq!(&pieces, &whole.changes);
    }
    prop_assert!(whole.changes.iter().all(|c| matches!(c.what, Changed::Memory(_))));
    Ok(())
}
