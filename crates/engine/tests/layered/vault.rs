//! The vault's one path: writing, reading, hands, generations.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support::{Session, with_call};
use serde_json::json;
use strata_core::{
    error::ErrorKind,
    knowledge::{changelog::Operation, name::Name},
    policy::Action,
    principal::PrincipalKind,
    scope::Scope,
    signing::{DerivationParams, SecretKey},
};
use strata_engine::{
    error::Error,
    knowledge::vault::{self, Change, Edited, Event, FileState, Origin, Place, Written},
};
use strata_store::ledger::{AuditFilter, VaultChangeFilter};

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

/// Saves a file as an editor does.
fn save(file: &Path, bytes: impl AsRef<[u8]>) {
    strata_store::files::write_atomic(file, bytes.as_ref()).expect("saved");
}

fn history(session: &Session, name: &str) -> Vec<Origin> {
    let place = place(session, name);
    let rows = with_call(session, |call| vault::history(&session.engine, call, &place)).expect("history");
    rows.into_iter().map(|row| row.origin).collect()
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
    save(&file, "## A\n\nby hand\n");
    save(&folder(&session).join("new one.md"), "## B\n\nThe cache lives in Valkey.\n");
    assert_eq!(list(&session), ["shared/new one.md", "shared/notes.md"]);
    assert_eq!(read(&session, "notes").expect("read"), "## A\n\nby hand\n");
    assert_eq!(session.recall("where does the cache live? valkey").len(), 1);
    let place = place(&session, "notes");
    let seen = std::cell::RefCell::new(String::new());
    save(&file, "## A\n\nby hand again\n");
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
    save(&file, "## A\n\nby hand\n");
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
    write(&session, "two", "## B\n\nReleases carry a tag.\n");
    let (there, away) = (folder(&session), session.home.path().join("away"));
    let empty = |session: &Session| {
        let states = with_call(session, |call| vault::list(&session.engine, call)).expect("a list");
        assert_eq!(states.len(), 2);
        assert!(states.iter().all(|file| matches!(file.state, FileState::Unavailable(_))), "{states:?}");
        assert_eq!(session.recall("what does the build run on? jenkins").len(), 1);
        assert_eq!(read(session, "one").map_err(|e| e.kind()), Err(ErrorKind::Conflict));
        assert!(try_write(session, "one", "x\n").is_err());
        // A new file would make the folder look as if the others had been deleted.
        assert!(try_write(session, "three", "x\n").is_err());
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

#[test]
fn what_cannot_be_read_is_told_of_and_everything_else_works() {
    let session = Session::new();
    if !on_disk(&session) {
        return;
    }
    write(&session, "good", "## A\n\nThe good file.\n");
    let folder = folder(&session);
    save(&folder.join("latin.md"), b"## A\n\nM\xfcller\n");
    save(&folder.join("large.md"), vec![b'x'; (vault::MAX_FILE + 1) as usize]);
    save(&folder.join("con.md"), "## A\n");
    save(&folder.join("wide.md"), b"#\0#\0 \0A\0\n\0");
    let outside = session.home.path().join("outside.md");
    save(&outside, "## Secret\n\nelsewhere\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, folder.join("link.md")).expect("a link");
    #[cfg(unix)]
    std::os::unix::fs::symlink(session.home.path(), folder.join("out")).expect("a link");
    let shared = Name::parse("shared").expect("a name");
    let seen = with_call(&session, |call| vault::look(&session.engine, call, &shared)).expect("a look");
    let problems: Vec<&str> = seen.problems.iter().map(|problem| problem.place.as_str()).collect();
    let links: &[&str] = if cfg!(unix) { &["link.md", "out"] } else { &[] };
    assert_eq!(problems, [&["con.md", "large.md", "latin.md"], links, &["wide.md"]].concat());
    assert!(seen.problems[2].reason.contains("UTF-8"), "{:?}", seen.problems);
    assert_eq!(list(&session), ["shared/good.md"]);
    assert_eq!(read(&session, "good").expect("read"), "## A\n\nThe good file.\n");
    assert!(write(&session, "good", "## A\n\nStill good.\n").is_changed());
    for name in ["latin", "Latin", "wide", "link", "out/outside"] {
        assert!(read(&session, name).is_err(), "{name}");
        assert!(try_write(&session, name, "x\n").is_err(), "{name}");
    }
    for file in ["latin.md", "LATIN.md"] {
        let refused = session.reply("get_knowledge_file", json!({ "filename": file })).map(drop);
        let told = refused.expect_err("it cannot be read").to_string();
        assert!(told.contains("`latin.md` cannot be read: it is not UTF-8"), "{told}");
    }
    assert_eq!(fs::read(&outside).expect("there"), b"## Secret\n\nelsewhere\n");
    let doctor = session.ok("doctor", json!({}));
    let vault = doctor["findings"].as_array().expect("findings").iter().find(|f| f["check"] == "vault");
    assert!(vault.is_some_and(|f| f["detail"].as_str().is_some_and(|d| d.contains("latin.md"))), "{doctor}");
    // A file that turns unreadable keeps what it said, and is no deletion.
    save(&folder.join("good.md"), b"\xff\xfe");
    let seen = with_call(&session, |call| vault::look(&session.engine, call, &shared)).expect("a look");
    assert!(seen.files.iter().any(|f| matches!(f.state, FileState::Unreadable(_))), "{:?}", seen.files);
    assert_eq!(session.recall("still good").len(), 1);
    save(&folder.join("good.md"), "## A\n\nGood again.\n");
    assert_eq!(history(&session, "good"), [Origin::Hand, Origin::Tool, Origin::Tool]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_told_of_and_never_taken_for_another_one() {
    use std::os::unix::ffi::OsStrExt;
    let session = Session::new();
    if !on_disk(&session) {
        return;
    }
    write(&session, "good", "## A\n\nThe good file.\n");
    save(&folder(&session).join(std::ffi::OsStr::from_bytes(b"bad\xff.md")), "## A\n");
    save(&folder(&session).join("cafe\u{301}.md"), "## A\n\nAccents apart.\n");
    let shared = Name::parse("shared").expect("a name");
    let seen = with_call(&session, |call| vault::look(&session.engine, call, &shared)).expect("a look");
    let [foreign, apart] = &seen.problems[..] else { panic!("{:?}", seen.problems) };
    assert_eq!(foreign.reason, "its name is not UTF-8");
    assert!(apart.reason.starts_with("its name is not written as `café.md`"), "{}", apart.reason);
    assert_eq!(list(&session), ["shared/good.md"]);
    let twin = with_call(&session, |call| vault::locate(&session.engine, call, "domain", "café"));
    assert_eq!(twin.map_err(|e| e.kind()).err(), Some(ErrorKind::Conflict));
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_a_link_is_not_walked_through() {
    let session = Session::new();
    if !on_disk(&session) {
        return;
    }
    let other = session.home.path().join("other");
    fs::create_dir_all(&other).expect("a folder");
    save(&other.join("a.md"), "## A\n");
    fs::create_dir_all(folder(&session).parent().expect("above")).expect("a folder");
    std::os::unix::fs::symlink(&other, folder(&session)).expect("a link");
    assert!(list(&session).is_empty());
    assert!(try_write(&session, "b", "x\n").is_err());
    let told = session.ok("doctor", json!({})).to_string();
    assert!(told.contains("links are not followed"), "{told}");
}

#[test]
fn temporary_files_of_writes_that_died_go_once_they_are_old() {
    let session = Session::new();
    if !on_disk(&session) {
        return;
    }
    write(&session, "infra/one", "## A\n");
    let left = folder(&session).join("infra/.tmpAb12Cd");
    save(&left, "## A\n\nhalf of it\n");
    session.ok("doctor", json!({ "fix": true }));
    assert!(left.exists(), "somebody may be at work on it");
    let file = fs::File::options().write(true).open(&left).expect("there");
    file.set_modified(std::time::UNIX_EPOCH).expect("older");
    session.ok("doctor", json!({ "fix": true }));
    assert!(!left.exists());
    assert_eq!(read(&session, "infra/one").expect("read"), "## A\n");
}

#[test]
fn a_name_that_is_the_same_to_a_person_makes_no_twin() {
    let session = Session::new();
    write(&session, "my-note", "one\n");
    assert_eq!(write(&session, "My Note", "two\n").place.path.to_string(), "my-note.md");
    assert_eq!(list(&session), ["shared/my-note.md"]);
    // Not even when two come at once: the second looked before the first was there.
    let shared = Name::parse("shared").expect("a name");
    let twin =
        Place::new(shared, strata_core::knowledge::name::VaultPath::parse("MY_NOTE.md").expect("a path"));
    let refused = with_call(&session, |call| {
        vault::edit(&session.engine, call, &twin, &Change::new("test"), &mut |_| {
            Ok(Edited::Write("three\n".into(), Event::new(Operation::DomainCreated, "")))
        })
    });
    assert_eq!(refused.map_err(|e| e.kind()).err(), Some(ErrorKind::Conflict));
    assert_eq!(list(&session), ["shared/my-note.md"]);
    write(&session, "infra/proxy", "deep\n");
    assert_eq!(read(&session, "proxy").expect("found in its folder"), "deep\n");
    for bad in ["", "..", "../x", "/etc/x", "a\\b", "nul", "a\u{7}b"] {
        let found = with_call(&session, |call| vault::locate(&session.engine, call, "domain", bad));
        assert_eq!(found.map_err(|e| e.kind()).err(), Some(ErrorKind::Invalid), "{bad:?}");
    }
}

#[test]
fn two_files_change_together_or_not_at_all() {
    let session = Session::new();
    write(&session, "a", "from a\n");
    write(&session, "b", "from b\n");
    let places = [place(&session, "b"), place(&session, "a")];
    let before = with_call(&session, |call| session.engine.read(call, |r| Ok(r.head()?.seq))).expect("head");
    let refused = with_call(&session, |call| {
        vault::edit_all(&session.engine, call, &places, &Change::new("test"), &mut |texts| {
            assert_eq!(texts, [Some("from b\n"), Some("from a\n")]);
            let large = "x".repeat(vault::MAX_FILE as usize + 1);
            Ok(vec![
                Edited::Write("changed\n".into(), Event::new(Operation::SectionCreated, "")),
                Edited::Write(large, Event::new(Operation::SectionDeleted, "")),
            ])
        })
    });
    assert_eq!(refused.map_err(|e| e.kind()).err(), Some(ErrorKind::TooLarge));
    assert_eq!(
        with_call(&session, |call| session.engine.read(call, |r| Ok(r.head()?.seq))).expect("head"),
        before
    );
    let moved = with_call(&session, |call| {
        vault::edit_all(&session.engine, call, &places, &Change::new("test"), &mut |_| {
            Ok(vec![
                Edited::Write(
                    "from b\nfrom a\n".into(),
                    Event::new(Operation::SectionCreated, "").section("A"),
                ),
                Edited::Delete(Event::new(Operation::SectionDeleted, "").section("A")),
            ])
        })
    })
    .expect("moved");
    assert_eq!(moved.iter().map(|w| w.seq).collect::<Vec<_>>(), [Some(before + 1), Some(before + 2)]);
    assert_eq!(list(&session), ["shared/b.md"]);
}

#[test]
fn a_rollback_brings_the_files_back_and_can_be_undone() {
    let mut session = Session::new().of_kind(PrincipalKind::Human);
    write(&session, "kept", "kept\n");
    write(&session, "changed", "before\n");
    write(&session, "removed", "will go\n");
    session.ok("snapshot_create", json!({ "version_id": "good" }));
    write(&session, "changed", "after\n");
    write(&session, "added", "new\n");
    let place = place(&session, "removed");
    with_call(&session, |call| {
        vault::edit(&session.engine, call, &place, &Change::new("test"), &mut |_| {
            Ok(Edited::Delete(Event::new(Operation::DomainDeleted, "")))
        })
    })
    .expect("deleted");
    let memory = session.remember("The deploy runs on Fridays.");
    let done = session.ok("snapshot_rollback", json!({ "version_id": "good" }));
    assert_eq!(done["files"], 3, "{done}");
    assert_eq!(list(&session), ["shared/changed.md", "shared/kept.md", "shared/removed.md"]);
    assert_eq!(read(&session, "changed").expect("read"), "before\n");
    assert_eq!(history(&session, "changed"), [Origin::Restore, Origin::Tool, Origin::Tool]);
    assert_eq!(session.ok("inspect", json!({ "id": memory }))["status"], "superseded");
    let undone = session.ok("snapshot_rollback", json!({ "version_id": done["undo"] }));
    assert_eq!(undone["files"], 3, "{undone}");
    assert_eq!(list(&session), ["shared/added.md", "shared/changed.md", "shared/kept.md"]);
    assert_eq!(read(&session, "changed").expect("read"), "after\n");
    assert_eq!(session.ok("inspect", json!({ "id": memory }))["status"], "active");
    session.scope = Scope { namespace: "claude".into(), ..Scope::user() };
    write(&session, "private", "x\n");
    session.set_kind(PrincipalKind::Agent);
    session.scope = Scope::user();
    let foreign = session.fails("snapshot_rollback", json!({ "version_id": done["undo"] }));
    assert_eq!(foreign, ErrorKind::Refused, "a file of another namespace would change");
}

#[test]
fn an_export_carries_the_files_and_comes_back_the_same() {
    let session = Session::new().of_kind(PrincipalKind::Human);
    write(&session, "infra/proxy", "# proxy\r\n\r\n## Port\r\n\r\n代理监听 8443 端口。\r\n");
    write(&session, "infra/proxy", "# proxy\r\n\r\n## Port\r\n\r\n代理监听 9443 端口。\r\n");
    write(&session, "gone", "short\n");
    let gone = place(&session, "gone");
    with_call(&session, |call| {
        vault::edit(&session.engine, call, &gone, &Change::new("test"), &mut |_| {
            Ok(Edited::Delete(Event::new(Operation::DomainDeleted, "away").with("file", "gone.md")))
        })
    })
    .expect("deleted");
    session.ok("snapshot_create", json!({ "version_id": "then" }));
    write(&session, "infra/proxy", "# proxy\r\n\r\n## Port\r\n\r\n代理监听 7443 端口。\r\n");
    let (first, second) = (session.home.path().join("a.jsonl"), session.home.path().join("b.jsonl"));
    let exported = session.ok("export", json!({ "path": first }));
    assert_eq!(exported["vault_files"], 2, "{exported}");
    let other = Session::new().of_kind(PrincipalKind::Human);
    let loaded = other.ok("load", json!({ "path": first }));
    assert_eq!(loaded["vault_files"], 2, "{loaded}");
    assert_eq!(list(&other), ["shared/infra/proxy.md"]);
    assert_eq!(read(&other, "proxy").expect("read"), read(&session, "proxy").expect("read"));
    if on_disk(&other) {
        let bytes = fs::read(folder(&other).join("infra").join("proxy.md")).expect("made");
        assert_eq!(bytes, read(&session, "proxy").expect("read").into_bytes());
    }
    assert_eq!(other.recall("代理监听哪个端口").len(), 1);
    other.ok("export", json!({ "path": second }));
    let texts = [&first, &second].map(|path| fs::read_to_string(path).expect("read"));
    assert_eq!(texts[0].lines().count(), texts[1].lines().count());
    for (one, other) in texts[0].lines().zip(texts[1].lines()) {
        assert_eq!(one, other);
    }
    let again = other.ok("load", json!({ "path": first }));
    assert_eq!((&again["vault_files"], &again["memories"]), (&json!(0), &json!(0)), "{again}");
    // A snapshot that was loaded shows the files of its time.
    let done = other.ok("snapshot_rollback", json!({ "version_id": "then" }));
    assert_eq!(done["files"], 1, "{done}");
    assert!(read(&other, "proxy").expect("read").contains("9443"));
    let healthy = other.ok("doctor", json!({}));
    assert_eq!(healthy["healthy"], true, "{healthy}");
}

#[test]
fn doctor_notices_a_generation_that_was_changed_behind_the_ledger() {
    let session = Session::new().of_kind(PrincipalKind::Human);
    write(&session, "a", "the true text\n");
    let sound = session.ok("doctor", json!({}));
    assert_eq!(sound["healthy"], true, "{sound}");
    let ledger = session.engine.existing_ledger().expect("there").database();
    strata_testkit::tamper::tamper(ledger, strata_testkit::tamper::Damage::VaultContent);
    let found = session.ok("doctor", json!({}));
    assert_eq!(found["healthy"], false, "{found}");
}

#[test]
fn a_purged_section_is_in_no_version_and_does_not_come_back() {
    let mut session = Session::new().of_kind(PrincipalKind::Human);
    let secret = || SecretKey::derive("correct horse", &[3; 16], DerivationParams::CHEAP).expect("derived");
    session.secret = Some(secret());
    session.ok("init", json!({}));
    session.secret = None;
    let text = "# people\n\n## Ada\n\nAda keeps the zeppelin hangar code in her sock drawer.\n\n## Bob\n\nBob tends bees.\n";
    write(&session, "people", text);
    write(&session, "people", &text.replace("bees", "quokkas"));
    let before = session.home.path().join("before.jsonl");
    session.ok("export", json!({ "path": before }));
    let hit = session.ok("recall", json!({ "query": "zeppelin hangar code" }));
    let id = hit["hits"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(session.fails("purge", json!({ "id": id })), ErrorKind::ApprovalRequired);
    session.secret = Some(secret());
    let elsewhere = tempfile::tempdir().expect("a directory");
    let outside = elsewhere.path().join("kept.jsonl");
    fs::copy(&before, &outside).expect("copied");
    fs::remove_file(&before).expect("removed");
    let backup = session.ok("backup_create", json!({}))["id"].clone();
    let purged = session.ok("purge", json!({ "id": id, "backups": true }));
    assert_eq!((&purged["verified"], &purged["remaining"]), (&json!(true), &json!([])), "{purged}");
    assert_eq!(read(&session, "people").expect("read"), "# people\n\n## Bob\n\nBob tends quokkas.\n");
    assert!(session.recall("zeppelin hangar code").is_empty());
    assert_eq!(session.recall("who tends quokkas").len(), 1);
    assert_eq!(session.ok("doctor", json!({}))["healthy"], true);
    if on_disk(&session) {
        session.ok("backup_restore", json!({ "id": backup, "force": true }));
        assert_eq!(read(&session, "people").expect("read"), "# people\n\n## Bob\n\nBob tends quokkas.\n");
        assert!(session.recall("zeppelin hangar code").is_empty());
        assert_eq!(session.ok("doctor", json!({}))["healthy"], true);
    }
    let whole = session.ok("purge", json!({ "id": "vault:shared/people.md", "backups": true }));
    // The backup that the restore made has a version of its own, which no other line of changes knows: it is named.
    assert_eq!(whole["remaining"], json!([]), "{whole}");
    assert!(list(&session).is_empty());
    // What was purged here stays out, whatever file brings it.
    let loaded = session.ok("load", json!({ "path": outside }));
    assert_eq!(loaded["vault_files"], 0, "{loaded}");
    assert!(session.recall("zeppelin hangar code").is_empty());
}
