//! Memories: storing, finding, superseding, listing, history.

use crate::fixture::{Fixture, audited, store};
use strata_core::{
    error::ErrorKind,
    id::{Id, IdKind, PartialId},
    memory::{Kind, Layer, Status, Tier},
    scope::Scope,
    time::{TimeRange, Timestamp},
};
use strata_store::{
    Conflict, Control, StoreError,
    faults::FaultPlan,
    ledger::{EvidenceRow, MemoryFilter, NewMemory, OPEN, PurgedKind, State},
};

fn conflict(error: StoreError) -> Conflict {
    let conflict = match error {
        StoreError::Conflict(conflict) => Ok(conflict),
        other => Err(other),
    };
    conflict.expect("a conflict")
}

fn bodies(fixture: &Fixture, filter: &MemoryFilter) -> Vec<String> {
    fixture.read(|r| r.memories(filter)).into_iter().map(|m| m.body).collect()
}

#[test]
fn a_memory_comes_back_as_it_was_stored() {
    let fixture = Fixture::new();
    let zero = fixture.remember(&fixture.memory("端口\0 5432")).expect_err("no store keeps it");
    assert!(matches!(&zero, StoreError::Invalid(what) if what.contains("U+0000")), "{zero:?}");
    let mut new = fixture.memory("端口 5432，不是 5433。\u{202e}e\u{301}");
    new.kind = Kind::parse("decision").expect("kind");
    new.title = "Port".into();
    new.scope = Scope { branch: Some("main".into()), ..Scope::project("web") };
    new.commit = Some("abc".into());
    new.topic_key = Some("db.port".into());
    new.tags = vec!["db".into(), "\"quoted\"".into()];
    new.session = Some("s1".into());
    new.valid_from = Some(Timestamp(5));
    new.metadata = r#"{"a":1}"#.into();
    new.evidence = vec![EvidenceRow {
        kind: "file".into(),
        reference: "db.rs:3".into(),
        note: String::new(),
        at: Timestamp(9),
    }];
    let number = fixture.remember(&new).expect("stored");
    assert_eq!(number, 1);
    let row = fixture.read(|r| r.memory(new.id.as_str())).expect("found");
    assert_eq!(fixture.read(|r| r.memory_by_number(1)).as_ref(), Some(&row));
    assert_eq!(
        (row.body.as_str(), row.title.as_str(), row.kind.as_str()),
        (new.body.as_str(), "Port", "decision")
    );
    assert_eq!((&row.scope, &row.tags, &row.metadata), (&new.scope, &new.tags, &new.metadata));
    assert_eq!((row.valid_from, row.valid_to), (Some(Timestamp(5)), None));
    assert_eq!(row.content_hash, new.content_hash());
    assert_eq!((row.seq, row.state_seq, row.state), (1, 1, new.state));
    assert_eq!(fixture.read(|r| r.evidence(1)), new.evidence);
    assert_eq!(fixture.read(|r| r.live_by_topic(&new.scope, "db.port")).map(|m| m.number), Some(1));
    assert_eq!(fixture.read(|r| r.live_by_topic(&Scope::user(), "db.port")), None);
}

#[test]
fn a_creation_that_was_cut_short_is_no_ledger_and_is_made_up_for() {
    let home = strata_testkit::home::TestHome::bare();
    let faults = FaultPlan::parse("migrate:3:io").expect("well formed");
    home.ledger(faults).initialise(&Control::default(), &crate::fixture::birth()).expect_err("cut short");
    let ledger = home.ledger(FaultPlan::none());
    let error = ledger.read(&Control::default(), |r| r.epoch()).expect_err("nobody was born");
    assert_eq!(error.kind(), ErrorKind::NotInitialized, "{error}");
    assert!(ledger.initialise(&Control::default(), &crate::fixture::birth()).expect("made"), "by this call");
    assert_eq!(ledger.read(&Control::default(), |r| r.epoch()).expect("read"), "epoch-1");
}

#[test]
fn nothing_can_be_written_before_the_birth() {
    let home = strata_testkit::home::TestHome::bare();
    let ledger = home.ledger(FaultPlan::none());
    let error =
        ledger.write(&Control::default(), Timestamp(1), |w| audited(w, "x", "")).expect_err("not born");
    assert_eq!(error.kind(), ErrorKind::NotInitialized);
    assert_eq!(std::fs::read_dir(home.outside()).expect("readable").count(), 0);
    assert!(ledger.initialise(&Control::default(), &crate::fixture::birth()).expect("made"));
    assert!(!ledger.initialise(&Control::default(), &crate::fixture::birth()).expect("there already"));
}

#[test]
fn prefixes_find_one_or_list_what_they_fit() {
    let fixture = Fixture::new();
    let twin =
        |bits| NewMemory { id: Id::from_bits(IdKind::Memory, bits), ..fixture.memory(&format!("m {bits}")) };
    for bits in [0x3_0000_0000_0001, 0x3_0000_0000_0002, 1] {
        fixture.remember(&twin(bits)).expect("stored");
    }
    let find = |text: &str| {
        let prefix = PartialId::parse(text).expect("well formed");
        fixture.ledger.read(&Control::default(), |r| r.memory_by_prefix(&prefix, None))
    };
    assert_eq!(find("mem_000000").expect("one").id, "mem_0000000001");
    assert_eq!(
        find("mem_r00000").expect_err("two").to_string(),
        "`mem_r00000` fits mem_r000000001, mem_r000000002"
    );
    assert_eq!(find("mem_r000000002").expect("whole").body, format!("m {}", 0x3_0000_0000_0002_u64));
    assert_eq!(find("mem_zzzzzz").expect_err("none").kind(), ErrorKind::NotFound);
}

#[test]
fn a_correction_takes_over_and_the_line_is_kept() {
    let fixture = Fixture::new();
    let mut first = fixture.memory("port 5432");
    first.topic_key = Some("port".into());
    fixture.remember(&first).expect("stored");
    let mut second = fixture.memory("port 5433");
    second.topic_key = Some("port".into());
    assert!(matches!(
        conflict(fixture.remember(&second).expect_err("the topic is taken")),
        Conflict::TopicTaken { by, .. } if by == first.id.as_str()
    ));
    second.supersedes = Some(first.id.clone());
    second.supersede_reason = "moved".into();
    let number = fixture.remember(&second).expect("replaces");
    let old = fixture.read(|r| r.memory(first.id.as_str())).expect("kept");
    assert_eq!(old.state.status, Status::Superseded);
    assert_eq!(old.superseded_by.as_deref(), Some(second.id.as_str()));
    assert_eq!(old.superseded_reason.as_deref(), Some("moved"));
    assert_eq!(bodies(&fixture, &MemoryFilter::default()), ["port 5433"]);
    let mut third = fixture.memory("port 1");
    third.supersedes = Some(first.id.clone());
    assert!(matches!(
        conflict(fixture.remember(&third).expect_err("it has a successor")),
        Conflict::AlreadySuperseded { by, .. } if by == second.id.as_str()
    ));
    let history = fixture.read(|r| r.history(number));
    assert_eq!(history.line.iter().map(|m| m.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(history.states.len(), 1);
    assert_eq!(history.audit.len(), 1);
    let states = fixture.read(|r| r.states(1));
    assert_eq!(states.iter().map(|s| (s.from_seq, s.to_seq)).collect::<Vec<_>>(), [(1, 2), (2, OPEN)]);
    assert_eq!(fixture.read(|r| r.predecessors(second.id.as_str())), [first.id.to_string()]);
    let before = MemoryFilter { as_of: Some(1), ..MemoryFilter::default() };
    let then = fixture.read(|r| r.memories(&before));
    assert_eq!((then.len(), then[0].body.as_str(), &then[0].superseded_by), (1, "port 5432", &None));
}

#[test]
fn circles_and_second_successors_are_refused_and_leave_nothing() {
    let fixture = Fixture::new();
    let numbers: Vec<i64> =
        ["a", "b", "c"].map(|b| fixture.remember(&fixture.memory(b)).expect("stored")).into();
    let link = |old: i64, by: i64| {
        fixture.write(|w| {
            let seq = audited(w, "supersede", "x")?;
            w.supersede(old, by, "", seq)
        })
    };
    link(numbers[0], numbers[1]).expect("a -> b");
    link(numbers[1], numbers[2]).expect("b -> c");
    let head = fixture.read(|r| r.head());
    assert!(matches!(conflict(link(numbers[2], numbers[0]).expect_err("circle")), Conflict::Cycle { .. }));
    assert!(matches!(conflict(link(numbers[2], numbers[2]).expect_err("itself")), Conflict::Cycle { .. }));
    assert!(matches!(
        conflict(link(numbers[0], numbers[2]).expect_err("second")),
        Conflict::AlreadySuperseded { .. }
    ));
    assert_eq!(fixture.read(|r| r.head()), head, "the audit rows were rolled back too");
    assert_eq!(fixture.read(|r| r.history(numbers[0])).line.len(), 3);
}

#[test]
fn the_same_content_lives_once_per_scope() {
    let fixture = Fixture::new();
    let first = fixture.memory("same");
    let number = fixture.remember(&first).expect("stored");
    let again = fixture.memory(" same ");
    assert!(matches!(
        conflict(fixture.remember(&again).expect_err("taken")),
        Conflict::ContentTaken { by } if by == first.id.as_str()
    ));
    let elsewhere = NewMemory { scope: Scope::project("p"), ..fixture.memory("same") };
    fixture.remember(&elsewhere).expect("another scope");
    let key = fixture.read(|r| r.content_key("same"));
    assert_eq!(fixture.read(|r| r.by_content(&key)).len(), 2);
    let trashed = State { status: Status::Trashed, ..first.state };
    let change = |state: &State, seen: Option<i64>| {
        fixture.write(|w| {
            let seq = audited(w, "change", first.id.as_str())?;
            w.change_state(number, seen, state, seq)
        })
    };
    assert!(matches!(
        conflict(change(&trashed, Some(99)).expect_err("moved")),
        Conflict::StateMoved { found: 1, .. }
    ));
    change(&trashed, Some(1)).expect("trashed");
    fixture.remember(&again).expect("the place is free");
    assert!(matches!(
        conflict(change(&first.state, None).expect_err("taken")),
        Conflict::ContentTaken { .. }
    ));
}

#[test]
fn lists_hold_what_the_filter_says() {
    let fixture = Fixture::new();
    let feature = Scope { branch: Some("feat".into()), ..Scope::project("web") };
    let own = Scope { namespace: "codex".into(), ..Scope::user() };
    for (body, scope) in [
        ("user", Scope::user()),
        ("web", Scope::project("web")),
        ("feature", feature.clone()),
        ("other", Scope::project("other")),
        ("codex", own.clone()),
    ] {
        let mut new = NewMemory { scope, ..fixture.memory(body) };
        new.tags = if body == "web" { vec!["x".into(), "y".into()] } else { vec!["x".into()] };
        new.state.pinned = body == "user";
        new.state.tier = if body == "other" { Tier::Cold } else { Tier::Hot };
        new.state.layer = if body == "codex" { Layer::P6 } else { Layer::P5 };
        fixture.remember(&new).expect("stored");
    }
    let seen = |scope: &Scope| {
        bodies(&fixture, &MemoryFilter { visible_from: Some(scope.clone()), ..MemoryFilter::default() })
    };
    assert_eq!(seen(&feature), ["feature", "web", "user"]);
    assert_eq!(seen(&Scope::project("web")), ["web", "user"]);
    assert_eq!(seen(&own), ["codex", "user"]);
    let all = MemoryFilter::default();
    assert_eq!(bodies(&fixture, &MemoryFilter { limit: 2, ..all.clone() }), ["codex", "other"]);
    assert_eq!(bodies(&fixture, &MemoryFilter { before: Some(3), ..all.clone() }), ["web", "user"]);
    assert_eq!(
        bodies(&fixture, &MemoryFilter { tags: vec!["x".into(), "y".into()], ..all.clone() }),
        ["web"]
    );
    assert_eq!(bodies(&fixture, &MemoryFilter { pinned: Some(true), ..all.clone() }), ["user"]);
    assert_eq!(bodies(&fixture, &MemoryFilter { tier: Some(Tier::Cold), ..all.clone() }), ["other"]);
    assert_eq!(bodies(&fixture, &MemoryFilter { layers: vec![Layer::P6], ..all.clone() }), ["codex"]);
    assert_eq!(bodies(&fixture, &MemoryFilter { exactly: Some(Scope::user()), ..all.clone() }), ["user"]);
    let rule = Kind::parse("rule").expect("kind");
    assert!(bodies(&fixture, &MemoryFilter { kinds: vec![rule], ..all.clone() }).is_empty());
    let first = fixture.read(|r| r.memory_by_number(1)).expect("stored");
    let created = TimeRange { from: Timestamp(i64::MIN), to: Timestamp(first.created_at.0 + 1) };
    assert_eq!(bodies(&fixture, &MemoryFilter { created, ..all.clone() }), ["user"]);
    assert_eq!(bodies(&fixture, &MemoryFilter { as_of: Some(2), ..all }), ["web", "user"]);
    let counts = fixture.read(|r| r.memory_counts());
    assert_eq!(counts.iter().map(|c| c.count).sum::<i64>(), 5);
    assert_eq!(fixture.read(|r| r.totals()).memories, 5);
}

#[test]
fn an_id_is_used_once() {
    let fixture = Fixture::new();
    let first = fixture.memory("a");
    fixture.remember(&first).expect("stored");
    let again = NewMemory { id: first.id.clone(), ..fixture.memory("b") };
    assert!(matches!(conflict(fixture.remember(&again).expect_err("used")), Conflict::IdTaken { .. }));
    fixture
        .write(|w| {
            let seq = audited(w, "purge", first.id.as_str())?;
            w.purge(PurgedKind::Memory, first.id.as_str(), seq)
        })
        .expect("purged");
    assert!(matches!(conflict(fixture.remember(&again).expect_err("was used")), Conflict::IdTaken { .. }));
}

#[test]
fn a_sequence_is_good_for_its_own_transaction() {
    let fixture = Fixture::new();
    let stale = fixture.write(|w| audited(w, "x", "")).expect("recorded");
    let new = fixture.memory("a");
    let error = fixture.write(|w| w.insert_memory(&new, stale)).expect_err("given in another transaction");
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(fixture.read(|r| r.totals()).memories, 0);
}

#[test]
fn bands_find_near_duplicates_most_alike_first() {
    let fixture = Fixture::new();
    for bands in [vec![1, 2, 3], vec![2, 3, 4], vec![9]] {
        let new = NewMemory { bands, ..fixture.memory("") };
        fixture.remember(&NewMemory { identity: format!("{:?}", new.bands), ..new }).expect("stored");
    }
    let hits = fixture.read(|r| r.by_bands(&[2, 3, 4, -1], &Scope::user(), 10));
    assert_eq!(hits.iter().map(|h| (h.number, h.shared)).collect::<Vec<_>>(), [(2, 3), (1, 2)]);
}

#[test]
fn what_a_reader_does_not_see_takes_no_place_among_near_duplicates() {
    let fixture = Fixture::new();
    let project = |name: &str| Scope::project(name);
    for n in 0..30 {
        let hidden = NewMemory { bands: vec![1, 2, 3], scope: project("elsewhere"), ..fixture.memory("") };
        fixture.remember(&NewMemory { identity: format!("hidden {n}"), ..hidden }).expect("stored");
    }
    let seen = NewMemory { bands: vec![2], scope: project("web"), ..fixture.memory("seen") };
    let number = fixture.remember(&seen).expect("stored");
    let hits = fixture.read(|r| r.by_bands(&[1, 2, 3], &project("web"), 10));
    assert_eq!(hits.iter().map(|h| h.number).collect::<Vec<_>>(), [number]);
}

#[test]
fn a_prefix_is_told_by_what_the_reader_sees() {
    let fixture = Fixture::new();
    let project = |name: &str| Scope::project(name);
    for (bits, name) in [(1, "elsewhere"), (2, "elsewhere"), (3, "web")] {
        let id = Id::from_bits(IdKind::Memory, bits);
        let new = NewMemory { id, scope: project(name), ..fixture.memory(&format!("text {bits}")) };
        fixture.remember(&new).expect("stored");
    }
    let prefix = PartialId::parse("mem_000000").expect("six characters");
    let find = |reader: Option<&Scope>| {
        fixture.ledger.read(&Control::default(), |r| r.memory_by_prefix(&prefix, reader))
    };
    assert_eq!(find(Some(&project("web"))).expect("one").body, "text 3");
    assert!(matches!(find(None), Err(StoreError::Ambiguous { candidates, .. }) if candidates.len() == 3));
    assert!(matches!(find(Some(&Scope::user())), Err(StoreError::NotFound { .. })));
}

#[test]
fn numbers_out_of_range_are_refused() {
    let fixture = Fixture::new();
    for confidence in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let mut new = fixture.memory("x");
        new.state.confidence = confidence;
        assert_eq!(fixture.remember(&new).expect_err("refused").kind(), ErrorKind::Invalid);
    }
    assert_eq!(fixture.read(|r| r.head()).seq, 0);
}

#[test]
fn uses_are_counted_in_batches() {
    let fixture = Fixture::new();
    let number = fixture.remember(&fixture.memory("x")).expect("stored");
    for _ in 0..2 {
        fixture.write(|w| w.count_usage(&[(number, 3), (99, 1)], &[(number, 1)])).expect("counted");
    }
    let usage = fixture.read(|r| r.usage(number));
    assert_eq!((usage.recalled, usage.inspected), (6, 2));
    assert!(usage.last_recalled_at.is_some());
    assert_eq!(fixture.read(|r| r.usage(99)).recalled, 0);
    assert_eq!(fixture.read(|r| r.head()).seq, 1, "usage is not audited");
}

#[test]
fn a_full_disk_half_way_leaves_nothing() {
    // The first statement is the audit row, so each script strikes at another place of the insert.
    for nth in 1..=6 {
        for fault in ["full", "io"] {
            let fixture = Fixture::with_faults(&format!("execute:{nth}:{fault}"));
            let mut new = fixture.memory("x");
            new.tags = vec!["t".into()];
            new.bands = vec![1, 2];
            let error = fixture.remember(&new).expect_err("scripted");
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{nth} {fault}");
            assert_eq!(fixture.read(|r| r.totals()).audit, 0);
            assert_eq!(fixture.read(|r| r.by_bands(&[1], &Scope::user(), 1)), []);
            assert_eq!(fixture.remember(&new).expect("the disk has space again"), 1);
            assert!(fixture.read(|r| r.verify_audit(&[], None)).is_whole());
        }
    }
    let fixture = Fixture::with_faults("begin:1:busy,execute:3:busy,before-commit:1:busy");
    fixture.remember(&fixture.memory("x")).expect("busy is waited out");
    assert_eq!(fixture.read(|r| r.totals()).memories, 1);
}

#[test]
fn several_changes_in_one_transaction_are_one_step() {
    let fixture = Fixture::new();
    let new = fixture.memory("x");
    let other = fixture.memory("y");
    fixture
        .write(|w| {
            store(w, &other)?;
            let seq = audited(w, "remember", new.id.as_str())?;
            let number = w.insert_memory(&new, seq)?;
            w.change_state(number, None, &State { pinned: true, ..new.state }, seq)
        })
        .expect("written");
    let states = fixture.read(|r| r.states(2));
    assert_eq!(states.len(), 1, "nobody saw the first of the two");
    assert!(states[0].state.pinned);
    assert_eq!((states[0].from_seq, states[0].to_seq), (2, OPEN));
}
