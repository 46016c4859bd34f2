//! Raw events, questions and what a memory was stored with, edited with another program: the audit knows better.

use crate::fixture::{Fixture, agent, ask, audited, import_events};
use strata_core::{id::IdKind, principal::Face, scope::Scope};
use strata_store::{
    Control,
    ledger::{
        CoveredReport, EventFinding, Ledger, MemoryFinding, NewAudit, NewEpisode, NewReview, PurgedKind,
        QuestionFinding, State,
    },
};

fn event(fixture: &Fixture, text: &str) -> NewEpisode {
    NewEpisode {
        id: fixture.id(IdKind::Episode),
        external_id: Some(text.into()),
        session: "s1".into(),
        at: fixture.now(),
        speaker: "Ana".into(),
        role: "user".into(),
        text: text.into(),
        metadata: "{}".into(),
        scope: Scope::project("web"),
        source: "import".into(),
        writer: "gateway:import".into(),
        salt: [u8::try_from(text.len()).expect("short"); 16],
    }
}

/// Two imports of two events each.
fn with_events() -> Fixture {
    let fixture = Fixture::new();
    for texts in [["one", "three"], ["fifth", "eleven"]] {
        let events = texts.map(|text| event(&fixture, text));
        fixture.write(|w| import_events(w, &events)).expect("stored");
    }
    fixture
}

fn events(fixture: &Fixture) -> CoveredReport<EventFinding> {
    fixture.read(|r| r.verify_events())
}

#[test]
fn an_event_changed_in_any_column_is_named() {
    let whole = with_events();
    assert_eq!(events(&whole), CoveredReport { covered: 4, uncovered: 0, findings: Vec::new() });
    for change in [
        "text = 'other'",
        "speaker = 'Bo'",
        "role = 'tool'",
        "at = at + 1",
        "session = 's2'",
        "namespace = 'other'",
        "project = 'elsewhere'",
        "branch = 'main'",
        "external_id = NULL",
        "metadata = '{\"a\":1}'",
        "source = 'hook'",
        "writer = 'human:x'",
        "salt = zeroblob(16)",
        "salt = NULL",
    ] {
        let fixture = with_events();
        fixture.tamper(&format!("UPDATE episodes SET {change} WHERE number = 2"));
        let id = fixture.read(|r| r.episode_by_number(2)).expect("stored").id;
        assert_eq!(events(&fixture).findings, [EventFinding::Changed { id }], "{change}");
    }
}

#[test]
fn events_taken_out_added_or_given_another_digest_are_missed() {
    for (sql, seq) in [
        ("DELETE FROM episodes WHERE number = 1", 1),
        ("DELETE FROM episodes WHERE number > 2", 2),
        ("UPDATE episodes SET digest = zeroblob(32) WHERE number = 3", 2),
        ("UPDATE episodes SET digest = NULL, salt = NULL WHERE number > 2", 2),
        ("UPDATE episodes SET seq = 2 WHERE number = 2", 1),
        (
            "INSERT INTO episodes SELECT tenant, 9, 'ep_x', 'x', session, at, speaker, role, text, metadata, namespace,
                 project, branch, source, writer, seq, zeroblob(32), salt, digest FROM episodes WHERE number = 4",
            2,
        ),
    ] {
        let fixture = with_events();
        fixture.tamper(sql);
        let found = events(&fixture).findings;
        assert!(found.contains(&EventFinding::Batch { seq }), "{sql}: {found:?}");
    }
    // Whoever marks a forgery as older than the audit's hashes is found by its place.
    let fixture = with_events();
    fixture.tamper("INSERT INTO episodes SELECT tenant, 9, 'ep_x', 'x', session, at, speaker, role, text, metadata, namespace,
             project, branch, source, writer, seq, zeroblob(32), NULL, NULL FROM episodes WHERE number = 4",
    );
    assert_eq!(events(&fixture).findings, [EventFinding::Changed { id: "ep_x".into() }]);
}

#[test]
fn a_purged_event_leaves_the_others_of_its_batch_checkable() {
    let fixture = with_events();
    let purge = |number: i64| {
        let id = fixture.read(|r| r.episode_by_number(number)).expect("stored").id;
        fixture
            .write(|w| {
                let seq = audited(w, "purge", &id)?;
                w.purge(PurgedKind::Episode, &id, seq)
            })
            .expect("purged");
    };
    for (number, covered) in [(1, 3), (3, 2), (4, 1)] {
        purge(number);
        assert_eq!(events(&fixture), CoveredReport { covered, uncovered: 0, findings: Vec::new() });
    }
    fixture.tamper("UPDATE episodes SET text = 'other'");
    assert!(matches!(events(&fixture).findings[..], [EventFinding::Changed { .. }]));

    // A tombstone that no purge on record made explains nothing.
    let forged = with_events();
    forged.tamper(
        "INSERT INTO tombstones SELECT tenant, 'episode', number, id, at, seq, digest, seq FROM episodes
             WHERE number = 2;
         DELETE FROM episodes WHERE number = 2",
    );
    assert_eq!(events(&forged).findings, [EventFinding::Batch { seq: 1 }]);
}

#[test]
fn what_an_older_version_stored_is_counted_and_no_fault() {
    let text = include_str!("../fixtures/ledger-v6.sql");
    let directory = tempfile::tempdir().expect("temporary directory");
    let connection = rusqlite::Connection::open(directory.path().join("ledger.db")).expect("made");
    connection.execute_batch(text).expect("the dump is whole");
    drop(connection);
    let ledger = Ledger::new(directory.path(), strata_store::faults::FaultPlan::none());
    let control = Control::default();
    // The first write brings the schema up to date.
    let new = Fixture::new();
    ledger.write(&control, new.now(), |w| import_events(w, &[event(&new, "new")])).expect("stored");
    let found = ledger.read(&control, |r| r.verify_events()).expect("read");
    assert_eq!(found, CoveredReport { covered: 1, uncovered: 1, findings: Vec::new() });
    let found = ledger.read(&control, |r| r.verify_questions()).expect("read");
    assert_eq!(found, CoveredReport { covered: 0, uncovered: 1, findings: Vec::new() });
    // The lines of the frozen ledger have no hashes of states; its texts fit.
    let changed = ledger.read(&control, |r| r.verify_memories()).expect("read");
    assert!(!changed.iter().any(|f| matches!(f, MemoryFinding::TextChanged { .. })), "{changed:?}");
}

fn with_question() -> Fixture {
    let fixture = Fixture::new();
    let target = fixture.memory("push to main");
    fixture.remember(&target).expect("stored");
    let review = NewReview {
        id: fixture.id(IdKind::Review),
        kind: "amendment".into(),
        target: target.id.to_string(),
        proposal: "{\"text\":\"never push\"}".into(),
        reason: "it broke".into(),
        proposer: "agent:test".into(),
        created_at: fixture.now(),
        salt: [5; 16],
    };
    fixture.write(|w| ask(w, &review)).expect("asked");
    fixture
}

fn questions(fixture: &Fixture) -> Vec<QuestionFinding> {
    fixture.read(|r| r.verify_questions()).findings
}

#[test]
fn a_question_that_asks_something_else_is_named() {
    assert_eq!(questions(&with_question()), []);
    for change in [
        "proposal = '{\"text\":\"always push\"}'",
        "reason = 'no'",
        "proposer = 'human:x'",
        "target = 'mem_0000000000'",
        "kind = 'candidate'",
        "created_at = 1",
        "salt = NULL",
    ] {
        let fixture = with_question();
        fixture.tamper(&format!("UPDATE reviews SET {change}"));
        assert!(matches!(questions(&fixture)[..], [QuestionFinding::Changed { .. }]), "{change}");
    }
    for sql in ["DELETE FROM reviews", "UPDATE reviews SET salt = NULL, digest = NULL"] {
        let fixture = with_question();
        fixture.tamper(sql);
        assert_eq!(questions(&fixture), [QuestionFinding::Lost { seq: 2 }], "{sql}");
    }
    let forged = with_question();
    forged.tamper("INSERT INTO reviews SELECT tenant, 'rev_x', kind, status, target, proposal, reason, proposer, created_at,
             decided_at, decided_by, decision_note, seq, salt, digest FROM reviews",
    );
    assert_eq!(questions(&forged), [QuestionFinding::Changed { id: "rev_x".into() }]);
}

#[test]
fn a_question_about_what_was_purged_keeps_its_digest() {
    let fixture = with_question();
    let id = fixture.read(|r| r.memory_by_number(1)).expect("stored").id;
    fixture
        .write(|w| {
            let seq = audited(w, "purge", &id)?;
            w.purge(PurgedKind::Memory, &id, seq)
        })
        .expect("purged");
    assert_eq!(questions(&fixture), []);
    fixture.tamper("UPDATE reviews SET proposal = '{\"text\":\"always push\"}'");
    assert!(matches!(questions(&fixture)[..], [QuestionFinding::Changed { .. }]));
}

#[test]
fn what_a_memory_was_stored_with_cannot_be_edited_unseen() {
    let both = |column: &str, value: &str| {
        format!("UPDATE memories SET {column} = {value}; UPDATE memory_states SET {column} = {value}")
    };
    let alone = |change: &str| format!("UPDATE memories SET {change}");
    for sql in [
        alone("metadata = '{\"a\":1}'"),
        alone("commit_id = 'abc'"),
        alone("module_path = 'src'"),
        alone("session = 's'"),
        alone("source = 'x'"),
        alone("supersedes = 'mem_0000000000'"),
        both("tier", "'cold'"),
        both("confidence", "0.25"),
        both("importance", "0.25"),
        both("pinned", "1"),
        alone("content_version = 2"),
    ] {
        let fixture = Fixture::new();
        let new = fixture.memory("the pump runs at night");
        fixture.remember(&new).expect("stored");
        assert_eq!(fixture.read(|r| r.verify_memories()), []);
        fixture.tamper(&sql);
        let id = new.id.to_string();
        assert_eq!(fixture.read(|r| r.verify_memories()), [MemoryFinding::TextChanged { id }], "{sql}");
    }
}

#[test]
fn a_memory_that_moved_on_keeps_the_state_it_was_born_with() {
    let fixture = Fixture::new();
    let new = fixture.memory("the pump runs at night");
    let number = fixture.remember(&new).expect("stored");
    fixture
        .write(|w| {
            let state = State { confidence: 0.5, ..new.state };
            let who = agent();
            let row = NewAudit {
                layer: Some(state.layer),
                after_hash: Some(state.hash(&new.content_hash())),
                ..NewAudit::new(&who, Face::Library, "update", new.id.as_str())
            };
            let seq = w.record(&row)?;
            w.change_state(number, None, &state, seq)
        })
        .expect("changed");
    assert_eq!(fixture.read(|r| r.verify_memories()), []);
    fixture.tamper("UPDATE memory_states SET confidence = 0.9 WHERE from_seq = 1");
    let id = new.id.to_string();
    assert_eq!(fixture.read(|r| r.verify_memories()), [MemoryFinding::TextChanged { id }]);
}
