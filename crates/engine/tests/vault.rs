//! The vault's one path: writing, reading, hands, generations.

mod support;

use std::{fs, path::PathBuf};

use serde_json::json;
use strata_core::{
    cancel::Cancel,
    error::ErrorKind,
    knowledge::{changelog::Operation, name::Name},
    policy::Action,
    principal::{Face, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{
    error::Error,
    knowledge::vault::{self, Change, Edited, Event, FileState, Origin, Place, Written},
    operation::Call,
};
use strata_store::ledger::{AuditFilter, VaultChangeFilter};
use support::Session;

fn with_call<T>(session: &Session, job: impl FnOnce(&Call<'_>) -> T) -> T {
    job(&Call {
        principal: &session.principal,
        scope: &session.scope,
        face: Face::Mcp,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: session.secret.as_ref(),
    })
}

fn place(session: &Session, name: &str) -> Place {
    with_call(session, |call| vault::locate(&session.engine, call, "domain", name)).expect("a place")
}

fn try_write(session: &Session, name: &str, text: &str) -> Result<Written, Error> {
    let place = place(session, name);
    with_call(session, |call| {
        vault::edit(&session.engine, call, &place, &Change::new("test"), &mut |before| {
            let operation =
                if before.is_some() { Operation::DomainUpdated } else { Operation::DomainCreated };
            Ok(Edited::Write(text.to_owned(), Event::new(operation, "a test wrote").because("testing")))
        })
    })
}

fn write(session: &Session, name: &str, text: &str) -> Written {
    try_write(session, name, text).expect("written")
}

fn read(session: &Session, name: &str) -> Result<String, Error> {
    let place = place(session, name);
    with_call(session, |call| vault::read(&session.engine, call, &place)).map(|file| file.text().to_owned())
}

fn list(session: &Session) -> Vec<String> {
    let files = with_call(session, |call| vault::list(&session.engine, call)).expect("a list");
    files.into_iter().map(|file| format!("{}/{}", file.namespace, file.path)).collect()
}

fn folder(session: &Session) -> PathBuf {
    session.home.path().join("vault").join("knowledge").join("shared")
}

fn on_disk(session: &Session) -> bool {
    session.engine.settings().store.is_none()
}

#[test]
fn what_is_written_is_read_listed_searched_and_on_record() {
    let session = Session::new();
    let written = write(&session, "infra", "# infra\n\n## Pool size\n\nThe pool has 20 connections.\n");
    assert!(written.before.is_none() && written.is_changed());
    assert_eq!(read(&session, "Infra.md").expect("read"), written.text.clone().expect("text"));
    assert_eq!(list(&session), ["shared/infra.md"]);
    if on_disk(&session) {
        let bytes = fs::read_to_string(folder(&session).join("infra.md")).expect("a file");
        assert_eq!(Some(bytes), written.text);
    }
    let hits = session.ok("recall", json!({ "query": "how many connections has the pool?" }));
    assert_eq!(hits["hits"][0]["title"], "infra > Pool size", "{hits}");
    let shown = session.ok("inspect", json!({ "id": hits["hits"][0]["id"] }));
    assert_eq!(shown["text"], "The pool has 20 connections.");

    let again = write(&session, "infra", written.text.as_deref().expect("text"));
    assert!(!again.is_changed(), "the same text is no change");
    let second = write(&session, "infra", "# infra\n\n## Pool size\n\nThe pool has 40 connections.\n");
    assert_eq!(second.before.as_ref().map(|head| head.generation), Some(1));
    assert_eq!(second.after.as_ref().map(|head| head.generation), Some(2));
    let hits = session.ok("recall", json!({ "query": "how many connections has the pool?" }));
    assert_eq!(hits["hits"].as_array().map(Vec::len), Some(1), "{hits}");
    assert_eq!(hits["hits"][0]["text"], "The pool has 40 connections.");

    let place = second.place.clone();
    with_call(&session, |call| {
        let rows = vault::history(&session.engine, call, &place).expect("history");
        assert_eq!(rows.iter().map(|row| row.generation).collect::<Vec<_>>(), [2, 1]);
        assert!(rows.iter().all(|row| row.origin == Origin::Tool && row.writer == "agent:test"));
        let old = vault::generation_text(&session.engine, call, &place, 1).expect("the first");
        assert_eq!(Some(old), written.text);
        let ledger = session.engine.existing_ledger().expect("a ledger");
        let (audit, changes) = ledger
            .read(&session.engine.control(call), |r| {
                Ok((r.audit(&AuditFilter::default())?, r.vault_changes(&VaultChangeFilter::default())?))
            })
            .expect("read");
        let actions: Vec<&str> = audit.iter().map(|row| row.entry.action.as_str()).collect();
        assert_eq!(actions, ["l1_domain_updated", "l1_domain_created"]);
        assert_eq!(audit[0].entry.target, "vault:shared/infra.md");
        assert_eq!(audit[0].entry.before_hash, audit[1].entry.after_hash);
        assert_eq!(audit[0].entry.after_hash, rows[0].hash);
        assert_eq!(changes.len(), 2);
        assert_eq!((changes[0].seq, changes[0].tool.as_str()), (rows[0].seq, "test"));
        assert_eq!(changes[0].reason, "testing");
    });
}

#[test]
fn a_deletion_is_a_generation_and_leaves_every_search() {
    let session = Session::new();
    write(&session, "net", "## Ports\n\nThe proxy listens on port 8443.\n");
    let place = place(&session, "net");
    let gone = with_call(&session, |call| {
        let change = Change { action: Action::Forget, ..Change::new("test") };
        vault::edit(&session.engine, call, &place, &change, &mut |_| {
            Ok(Edited::Delete(Event::new(Operation::DomainDeleted, "away")))
        })
    })
    .expect("deleted");
    assert_eq!(gone.after.map(|head| head.state), Some(FileState::Gone));
    assert!(list(&session).is_empty());
    assert_eq!(read(&session, "net").map_err(|e| e.kind()), Err(ErrorKind::NotFound));
    assert!(session.recall("proxy port 8443").is_empty());
    let back = write(&session, "net", "## Ports\n\nThe proxy listens on port 9443.\n");
    assert_eq!(back.after.map(|head| head.generation), Some(3));
    assert_eq!(session.recall("proxy port 9443").len(), 1);
}

#[test]
fn an_error_of_the_edit_and_a_refusal_leave_everything() {
    let mut session = Session::new();
    write(&session, "a", "one\n");
    let target = place(&session, "a");
    let refused = with_call(&session, |call| {
        vault::edit(&session.engine, call, &target, &Change::new("test"), &mut |_| {
            Err(Error::argument("content", "is wrong", "send another"))
        })
    });
    assert_eq!(refused.map_err(|e| e.kind()).err(), Some(ErrorKind::Invalid));
    session.set_kind(PrincipalKind::Gateway);
    assert_eq!(try_write(&session, "a", "two\n").map_err(|e| e.kind()).err(), Some(ErrorKind::Refused));
    assert_eq!(read(&session, "a").expect("read"), "one\n");
}

#[test]
fn own_namespace_stands_before_the_shared_one() {
    let mut session = Session::new();
    write(&session, "both", "shared text\n");
    write(&session, "common", "for all\n");
    session.scope = Scope { namespace: "claude".into(), ..Scope::user() };
    // A domain that is there is changed where it lies; what is new goes into the caller's namespace.
    assert_eq!(place(&session, "Common").namespace.as_str(), "shared");
    assert_eq!(place(&session, "mine").namespace.as_str(), "claude");
    let own = Place::new(Name::parse("claude").expect("a name"), place(&session, "both").path);
    with_call(&session, |call| {
        vault::edit(&session.engine, call, &own, &Change::new("test"), &mut |_| {
            Ok(Edited::Write("own text\n".into(), Event::new(Operation::DomainCreated, "")))
        })
    })
    .expect("written");
    assert_eq!(read(&session, "both").expect("read"), "own text\n");
    assert_eq!(list(&session), ["claude/both.md", "shared/common.md"]);
    session.scope = Scope { namespace: "codex".into(), ..Scope::user() };
    assert_eq!(read(&session, "both").expect("read"), "shared text\n");
}

#[test]
fn what_hands_did_is_kept_before_the_next_edit() {
    let session = Session::new();
    if !on_disk(&session) {
        return;
    }
    write(&session, "notes", "## A\n\nfirst\n");
    let file = folder(&session).join("notes.md");
    fs::write(&file, "## A\n\nby hand\n").expect("saved");
    fs::write(folder(&session).join("new one.md"), "## B\n\nThe cache lives in Valkey.\n").expect("saved");
    assert_eq!(list(&session), ["shared/new one.md", "shared/notes.md"]);
    assert_eq!(read(&session, "notes").expect("read"), "## A\n\nby hand\n");
    assert_eq!(session.recall("where does the cache live? valkey").len(), 1);
    let place = place(&session, "notes");
    let seen = std::cell::RefCell::new(String::new());
    fs::write(&file, "## A\n\nby hand again\n").expect("saved");
    with_call(&session, |call| {
        vault::edit(&session.engine, call, &place, &Change::new("test"), &mut |text| {
            seen.replace(text.unwrap_or_default().to_owned());
            Ok(Edited::Write(
                format!("{}\nand more\n", text.unwrap_or_default()),
                Event::new(Operation::SectionUpdated, ""),
            ))
        })
    })
    .expect("written");
    assert_eq!(seen.into_inner(), "## A\n\nby hand again\n");
    let rows = with_call(&session, |call| vault::history(&session.engine, call, &place)).expect("history");
    let origins: Vec<Origin> = rows.iter().map(|row| row.origin).collect();
    assert_eq!(origins, [Origin::Tool, Origin::Hand, Origin::Hand, Origin::Tool]);
    assert_eq!(rows[1].writer, "system:vault");
    // To go back to what stood there before is an edit like any other.
    fs::write(&file, "## A\n\nby hand\n").expect("saved");
    assert_eq!(read(&session, "notes").expect("read"), "## A\n\nby hand\n");
    fs::remove_file(&file).expect("deleted");
    assert_eq!(list(&session), ["shared/new one.md"]);
}

#[test]
fn a_folder_that_vanishes_deletes_nothing() {
    let session = Session::new();
    if !on_disk(&session) {
        return;
    }
    write(&session, "one", "## A\n\nThe build runs on Jenkins.\n");
    write(&session, "two", "## B\n\nThe tests run nightly.\n");
    let (there, away) = (folder(&session), session.home.path().join("away"));
    let empty = |session: &Session| {
        let states = with_call(session, |call| vault::list(&session.engine, call)).expect("a list");
        assert_eq!(states.len(), 2);
        assert!(states.iter().all(|file| matches!(file.state, FileState::Unavailable(_))), "{states:?}");
        assert_eq!(session.recall("what does the build run on? jenkins").len(), 1);
        assert_eq!(read(session, "one").map_err(|e| e.kind()), Err(ErrorKind::Conflict));
        assert_eq!(try_write(session, "one", "x\n").map_err(|e| e.kind()).err().is_some(), true);
    };
    fs::rename(&there, &away).expect("moved");
    empty(&session);
    fs::create_dir(&there).expect("an empty folder");
    empty(&session);
    fs::remove_dir(&there).expect("removed");
    fs::rename(&away, &there).expect("moved back");
    assert_eq!(read(&session, "one").expect("read"), "## A\n\nThe build runs on Jenkins.\n");
    let rows = with_call(&session, |call| vault::history(&session.engine, call, &place(&session, "one")));
    assert_eq!(rows.expect("history").len(), 1);
}
