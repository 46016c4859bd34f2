//! Todos edited with another program: the audit knows better.

use crate::fixture::{Fixture, agent};
use strata_core::{
    id::IdKind,
    knowledge::todo::{Priority, Stamps, Status},
    memory::Layer,
    principal::Face,
    scope::Scope,
};
use strata_store::{
    StoreError,
    ledger::{LedgerWrite, NewAudit, PurgedKind, Seq, TodoFinding, TodoOrigin, TodoVersion},
};

fn record(
    w: &LedgerWrite<'_>,
    action: &str,
    origin: &TodoOrigin,
    version: &TodoVersion,
) -> Result<Seq, StoreError> {
    w.record(&NewAudit {
        layer: Some(Layer::P5),
        after_hash: Some(version.digest(origin)),
        ..NewAudit::new(&agent(), Face::Library, action, &origin.id)
    })
}

fn version(fixture: &Fixture, content: &str) -> TodoVersion {
    TodoVersion {
        domain: "infra".into(),
        title: content.into(),
        content: content.into(),
        blocked_by: vec!["todo_0123456789".into()],
        priority: Priority::High,
        status: Status::Completed,
        notes: "as agreed".into(),
        stamps: Stamps { completed_at: Some(fixture.now()), cancelled_at: None },
        deleted_at: None,
        updated_at: fixture.now(),
        writer: agent().to_string(),
        salt: [u8::try_from(content.len()).expect("short"); 16],
    }
}

/// A todo of two versions. Returns its id.
fn stored(fixture: &Fixture) -> String {
    let origin = TodoOrigin {
        id: fixture.id(IdKind::Todo).to_string(),
        scope: Scope::project("web"),
        session: "s1".into(),
        created_at: fixture.now(),
    };
    let (first, second) = (version(fixture, "first"), version(fixture, "second words"));
    fixture
        .write(|w| w.insert_todo(&origin, &first, record(w, "todo_add", &origin, &first)?))
        .expect("stored");
    let seen = fixture.read(|r| r.todo(&origin.id)).expect("there");
    fixture
        .write(|w| w.revise_todo(&seen, &second, record(w, "todo_update", &origin, &second)?))
        .expect("revised");
    let late = fixture.write(|w| w.revise_todo(&seen, &second, record(w, "todo_update", &origin, &second)?));
    assert!(late.is_err(), "it changed since it was seen");
    origin.id
}

fn findings(fixture: &Fixture) -> Vec<TodoFinding> {
    fixture.read(|r| r.verify_todos())
}

#[test]
fn a_todo_changed_in_any_column_of_any_version_is_named() {
    let whole = Fixture::new();
    let id = stored(&whole);
    assert_eq!(findings(&whole), []);
    let history = whole.read(|r| r.todo_history(1));
    let said: Vec<&str> = history.iter().map(|row| row.version.content.as_str()).collect();
    assert_eq!(said, ["first", "second words"]);
    assert_eq!(whole.read(|r| r.todo_by_number(1)), whole.read(|r| r.todo(&id)));
    for change in [
        "namespace = 'other'",
        "project = ''",
        "branch = 'main'",
        "session = 's2'",
        "created_at = created_at + 1",
        "domain = 'web'",
        "title = 'other'",
        "content = 'other'",
        "blocked_by = '[]'",
        "priority = 'low'",
        "status = 'pending'",
        "notes = ''",
        "completed_at = NULL",
        "cancelled_at = completed_at",
        "deleted_at = 1",
        "updated_at = updated_at + 1",
        "writer = 'human:x'",
        "salt = zeroblob(16)",
        "to_seq = 7",
    ] {
        for row in ["content = 'first'", "content <> 'first'"] {
            let fixture = Fixture::new();
            let id = stored(&fixture);
            fixture.tamper(&format!("UPDATE todos SET {change} WHERE {row}"));
            assert_eq!(findings(&fixture), [TodoFinding::Changed { id }], "{change} where {row}");
        }
    }
}

#[test]
fn versions_taken_out_or_added_are_missed_and_a_purge_is_none() {
    for sql in ["DELETE FROM todos WHERE content = 'first'", "DELETE FROM todos"] {
        let fixture = Fixture::new();
        let id = stored(&fixture);
        fixture.tamper(sql);
        assert!(findings(&fixture).contains(&TodoFinding::Missing { id }), "{sql}");
    }
    let fixture = Fixture::new();
    let id = stored(&fixture);
    fixture.tamper(
        "UPDATE todos SET id = 'todo_zzzzzzzzzz', from_seq = from_seq + 100 WHERE content <> 'first'",
    );
    assert!(!findings(&fixture).is_empty());

    let fixture = Fixture::new();
    let purged = stored(&fixture);
    let erased = fixture.write(|w| {
        let seq = w.record(&NewAudit::new(&agent(), Face::Library, "purge", &purged))?;
        w.purge(PurgedKind::Todo, &purged, seq)
    });
    assert_eq!((erased.ok(), findings(&fixture)), (Some(true), Vec::new()));
    assert!(fixture.read(|r| r.is_purged(&purged)));
    fixture.tamper("UPDATE audit SET action = 'forget' WHERE action = 'purge'");
    assert_eq!(findings(&fixture), [TodoFinding::Missing { id: purged }]);
    assert_ne!(id, "");
}
