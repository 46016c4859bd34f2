//! Backup, restore, purge: what must come back, and what must not.

use std::path::{Path, PathBuf};

use crate::fixture::{Fixture, agent, ask, audited, import_events, store};
use strata_core::{error::ErrorKind, id::IdKind, principal::Face, scope::Scope, time::Timestamp};
use strata_store::{
    Conflict, Control, StoreError,
    backup::{self, Erased, ExtraFile, Manifest, Restore},
    faults::FaultPlan,
    files::write_atomic,
    ledger::{EvidenceRow, Ledger, NewEpisode, NewReview, PurgedKind, SCHEMA},
};

const SECRET: &str = "zanzibar-needle-7731";

fn back_up(fixture: &Fixture, id: &str) -> (PathBuf, Manifest) {
    let backups = fixture.directory().join("backups");
    let extra = fixture.directory().join("note.md");
    strata_store::files::write_atomic(&extra, b"# Note").expect("written");
    let extra = [ExtraFile { path: extra, name: "vault/note.md".into() }];
    let made = backup::create(&fixture.ledger, &Control::default(), &backups, id, fixture.now(), &extra);
    (backups.join(id), made.expect("made"))
}

fn restore(
    fixture: &Fixture,
    directory: &Path,
    purged: &[(PurgedKind, String)],
    force: bool,
) -> Result<backup::Restored, StoreError> {
    let principal = agent();
    let how = Restore {
        epoch: "epoch-2",
        now: fixture.now(),
        principal: &principal,
        face: Face::Cli,
        purged,
        force,
    };
    backup::restore(directory, &fixture.ledger, &Control::default(), &how, &|_| Ok(()))
}

/// The files under `directory` that contain the bytes.
fn holding(directory: &Path, needle: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(place) = waiting.pop() {
        for entry in std::fs::read_dir(&place).expect("listed") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else if std::fs::read(&path)
                .expect("read")
                .windows(needle.len())
                .any(|w| w == needle.as_bytes())
            {
                found.push(path);
            }
        }
    }
    found
}

fn episode(fixture: &Fixture, text: &str) -> NewEpisode {
    NewEpisode {
        id: fixture.id(IdKind::Episode),
        external_id: None,
        session: "s".into(),
        at: fixture.now(),
        speaker: String::new(),
        role: "user".into(),
        text: text.into(),
        metadata: "{}".into(),
        scope: Scope::user(),
        source: "test".into(),
        writer: "gateway:test".into(),
        salt: [3; 16],
    }
}

/// Stores a memory and an episode that carry the secret in every field that takes text.
fn plant(fixture: &Fixture) -> [(PurgedKind, String); 2] {
    let mut new = fixture.memory(&format!("body {SECRET}"));
    new.title = SECRET.into();
    new.tags = vec![SECRET.into()];
    new.topic_key = Some(SECRET.into());
    new.metadata = format!("{{\"a\":\"{SECRET}\"}}");
    new.bands = vec![1, 2, 3];
    new.evidence = vec![EvidenceRow {
        kind: "file".into(),
        reference: SECRET.into(),
        note: SECRET.into(),
        at: Timestamp(1),
    }];
    let turn = episode(fixture, &format!("turn {SECRET}").repeat(2000));
    let review = NewReview {
        id: fixture.id(IdKind::Review),
        kind: "amendment".into(),
        target: new.id.to_string(),
        proposal: format!("{{\"body\":\"{SECRET}\"}}"),
        reason: SECRET.into(),
        proposer: "agent:test".into(),
        created_at: fixture.now(),
        salt: [3; 16],
    };
    let planted = fixture.write(|w| {
        let number = store(w, &new)?;
        w.count_usage(&[(number, 1)], &[])?;
        import_events(w, std::slice::from_ref(&turn))?;
        ask(w, &review)
    });
    planted.expect("planted");
    [(PurgedKind::Memory, new.id.to_string()), (PurgedKind::Episode, turn.id.to_string())]
}

fn purge(fixture: &Fixture, targets: &[(PurgedKind, String)]) {
    fixture
        .write(|w| {
            for (kind, id) in targets {
                let seq = audited(w, "purge", id)?;
                assert!(w.purge(*kind, id, seq)?);
                assert!(!w.purge(*kind, id, seq)?, "there is nothing left to purge");
            }
            Ok(())
        })
        .expect("purged");
    fixture.ledger.database().compact(&Control::default()).expect("compacted");
}

#[test]
fn a_purge_leaves_no_byte_and_a_tombstone() {
    let fixture = Fixture::new();
    for n in 0..50 {
        fixture.remember(&fixture.memory(&format!("filler {n}"))).expect("stored");
    }
    let targets = plant(&fixture);
    fixture.remember(&fixture.memory("after")).expect("stored");
    assert!(!holding(&fixture.home(), SECRET).is_empty(), "the scan finds what is there");
    // An idle reader must not keep the log from being emptied.
    let other = fixture.opened_again();
    other.read(&Control::default(), |r| r.totals()).expect("read");
    purge(&fixture, &targets);
    assert_eq!(holding(&fixture.home(), SECRET), Vec::<PathBuf>::new());
    let purged = fixture.read(|r| r.purged());
    assert_eq!(purged.iter().map(|p| (p.kind, p.id.clone())).collect::<Vec<_>>(), targets);
    assert!(fixture.read(|r| r.is_purged(&targets[0].1)));
    assert_eq!(fixture.read(|r| r.memory(&targets[0].1)), None);
    assert_eq!(fixture.read(|r| r.totals()).memories, 51);
    assert!(fixture.read(|r| r.verify_audit(&[], None)).is_whole());
    let next = fixture.remember(&fixture.memory("new")).expect("stored");
    assert_eq!(next, 53, "the number of a purged memory is not given again");
}

#[test]
fn a_backup_holds_everything_and_knows_when_it_was_touched() {
    let fixture = Fixture::new();
    fixture.remember(&fixture.memory("one")).expect("stored");
    let (directory, manifest) = back_up(&fixture, "bak_1");
    assert_eq!(
        (manifest.head.seq, manifest.schema_version, manifest.epoch.as_str()),
        (1, SCHEMA.latest(), "epoch-1")
    );
    let names: Vec<_> = manifest.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["ledger.db", "files/vault/note.md"]);
    assert_eq!(backup::read_manifest(&directory).expect("read"), manifest);
    assert_eq!(backup::verify(&directory, &Control::default()).expect("checked"), Vec::<String>::new());
    back_up(&fixture, "bak_2");
    let backups = fixture.directory().join("backups");
    let listed = backup::list(&backups).expect("listed");
    let ids: Vec<_> = listed.iter().map(|l| l.manifest.as_ref().expect("whole").id.clone()).collect();
    assert_eq!(ids, ["bak_2", "bak_1"]);
    assert_eq!(std::fs::read_dir(&directory).expect("listed").count(), 3, "nothing else is left in it");

    let again = backup::create(&fixture.ledger, &Control::default(), &backups, "bak_1", fixture.now(), &[]);
    assert_eq!(again.expect_err("taken").kind(), ErrorKind::Invalid);
    strata_store::files::write_atomic(&directory.join("files/vault/note.md"), b"# Other").expect("written");
    let findings = backup::verify(&directory, &Control::default()).expect("checked");
    assert_eq!(findings, ["`files/vault/note.md` is not the file that was backed up"]);
    assert_eq!(restore(&fixture, &directory, &[], true).expect_err("damaged").kind(), ErrorKind::Corrupt);
    assert!(backup::list(&fixture.directory().join("nowhere")).expect("listed").is_empty());
}

#[test]
fn a_restore_begins_an_epoch_and_open_handles_see_it() {
    let fixture = Fixture::new();
    fixture.remember(&fixture.memory("one")).expect("stored");
    let (directory, _) = back_up(&fixture, "bak_1");
    fixture.remember(&fixture.memory("two")).expect("stored");
    let other = fixture.opened_again();
    let version = other.database().data_version(&Control::default()).expect("version");
    assert_eq!(other.read(&Control::default(), |r| r.totals()).expect("read").memories, 2);
    let refused = restore(&fixture, &directory, &[], false).expect_err("two is not in it");
    assert!(matches!(refused, StoreError::Conflict(Conflict::NewerData { live: 2, backup: 1 })));
    assert_eq!(other.read(&Control::default(), |r| r.totals()).expect("read").memories, 2);

    let restored = restore(&fixture, &directory, &[], true).expect("restored");
    assert_eq!((restored.head.seq, restored.purged_again), (2, 0));
    for ledger in [&other, &fixture.ledger] {
        assert_eq!(ledger.read(&Control::default(), |r| r.totals()).expect("read").memories, 1);
        assert_eq!(ledger.read(&Control::default(), |r| r.epoch()).expect("read"), "epoch-2");
    }
    assert_ne!(other.database().data_version(&Control::default()).expect("version"), version);
    assert!(fixture.read(|r| r.verify_audit(&[], None)).is_whole());
    fixture.remember(&fixture.memory("three")).expect("it can be written");
    // A server's ledger needs no home at all.
    let left = std::fs::read_dir(fixture.home());
    assert!(left.is_ok() || fixture.is_on_server(), "{left:?}");
    let litter = left
        .into_iter()
        .flatten()
        .filter(|e| e.as_ref().is_ok_and(|e| e.file_name().to_string_lossy().starts_with('.')));
    assert_eq!(litter.count(), 0);
}

#[test]
fn a_restore_into_an_empty_home_needs_no_force() {
    let fixture = Fixture::new();
    fixture.remember(&fixture.memory("one")).expect("stored");
    let (directory, _) = back_up(&fixture, "bak_1");
    let principal = agent();
    let how = Restore {
        epoch: "epoch-9",
        now: fixture.now(),
        principal: &principal,
        face: Face::Cli,
        purged: &[],
        force: false,
    };
    let elsewhere = Ledger::new(&fixture.directory().join("elsewhere"), FaultPlan::none());
    backup::restore(&directory, &elsewhere, &Control::default(), &how, &|_| Ok(())).expect("restored");
    assert_eq!(elsewhere.read(&Control::default(), |r| r.totals()).expect("read").memories, 1);
    // The live ledger is contained in the backup, so nothing would be lost.
    restore(&fixture, &directory, &[], false).expect("restored");
}

#[test]
fn what_was_purged_does_not_come_back() {
    let fixture = Fixture::new();
    fixture.remember(&fixture.memory("keep")).expect("stored");
    let targets = plant(&fixture);
    let (directory, _) = back_up(&fixture, "bak_1");
    purge(&fixture, &targets);
    let restored = restore(&fixture, &directory, &[], true).expect("restored");
    assert_eq!(restored.purged_again, 2, "the live ledger's tombstones are enough");
    assert_eq!(holding(&fixture.home(), SECRET), Vec::<PathBuf>::new());
    assert_eq!(fixture.read(|r| r.totals()).memories, 1);
    assert_eq!(fixture.read(|r| r.purged()).len(), 2);
    assert!(fixture.read(|r| r.verify_audit(&[], None)).is_whole());

    for suffix in ["", "-wal", "-shm", ".lock"] {
        std::fs::remove_file(fixture.home().join(format!("ledger.db{suffix}"))).ok();
    }
    let restored = restore(&fixture, &directory, &targets, false).expect("restored");
    assert_eq!(restored.purged_again, 2, "so is the caller's list");
    assert_eq!(holding(&fixture.home(), SECRET), Vec::<PathBuf>::new());

    assert!(!holding(&directory, SECRET).is_empty());
    let principal = agent();
    let how = Restore {
        epoch: "",
        now: fixture.now(),
        principal: &principal,
        face: Face::Cli,
        purged: &targets,
        force: false,
    };
    let erased = backup::purge(&directory, &Control::default(), &how, &|_| Ok(0)).expect("purged");
    assert_eq!(erased, Erased { again: 2, findings: Vec::new() });
    assert_eq!(holding(&directory, SECRET), Vec::<PathBuf>::new());
    assert_eq!(backup::verify(&directory, &Control::default()).expect("checked"), Vec::<String>::new());
    let bytes = || std::fs::read(directory.join("manifest.json")).expect("a manifest");
    let before = bytes();
    assert_eq!(backup::purge(&directory, &Control::default(), &how, &|_| Ok(0)).expect("purged").again, 0);
    assert_eq!(bytes(), before, "a backup that holds nothing of it is left alone");
}

/// Purges what [`plant`] left from a backup.
fn purge_backup(fixture: &Fixture, directory: &std::path::Path, targets: &[(PurgedKind, String)]) -> Erased {
    let principal = agent();
    let how = Restore {
        epoch: "",
        now: fixture.now(),
        principal: &principal,
        face: Face::Cli,
        purged: targets,
        force: false,
    };
    let erased = backup::purge(directory, &Control::default(), &how, &|_| Ok(0)).expect("purged");
    assert_eq!(holding(directory, SECRET), Vec::<PathBuf>::new());
    assert!(!directory.join(".purging").exists());
    erased
}

#[test]
fn a_backup_that_was_not_whole_does_not_become_so_by_a_purge() {
    let doctored = |sql: &str, renamed: bool| {
        let fixture = Fixture::new();
        let targets = plant(&fixture);
        fixture.remember(&fixture.memory("never push")).expect("stored");
        let (directory, _) = back_up(&fixture, "bak_1");
        let place = directory.join("ledger.db");
        let connection = rusqlite::Connection::open(&place).expect("opened");
        connection.execute_batch(sql).expect("changed");
        drop(connection);
        if renamed {
            // Whoever changes the ledger can write a manifest that fits its bytes.
            let path = directory.join("manifest.json");
            let mut manifest: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
            let bytes = std::fs::read(&place).expect("read");
            manifest["files"][0]["size"] = bytes.len().into();
            manifest["files"][0]["blake3"] = blake3::hash(&bytes).to_hex().to_string().into();
            write_atomic(&path, manifest.to_string().as_bytes()).expect("written");
        }
        (fixture, directory, targets)
    };
    for renamed in [false, true] {
        let change = "UPDATE memories SET body = 'always push' WHERE body = 'never push'";
        let (fixture, directory, targets) = doctored(change, renamed);
        let erased = purge_backup(&fixture, &directory, &targets);
        assert_eq!((erased.again, erased.findings.is_empty()), (2, false), "{erased:?}");
        let found = backup::verify(&directory, &Control::default()).expect("checked");
        assert!(!found.is_empty(), "it does not look genuine: {renamed}");
        let again = purge_backup(&fixture, &directory, &targets);
        assert_eq!((again.again, again.findings.is_empty()), (0, false));
        assert!(!backup::verify(&directory, &Control::default()).expect("checked").is_empty());
    }
}

#[test]
fn a_purge_of_a_backup_that_was_cut_short_is_completed_at_any_point() {
    let fixture = Fixture::new();
    let targets = plant(&fixture);
    let (directory, _) = back_up(&fixture, "bak_1");
    let stage = directory.join(".purging");
    let whole = || backup::verify(&directory, &Control::default()).expect("checked");
    // While the copy was worked on.
    std::fs::create_dir(&stage).expect("made");
    std::fs::copy(directory.join("ledger.db"), stage.join("ledger.db")).expect("copied");
    assert_eq!(whole(), Vec::<String>::new());
    assert_eq!(purge_backup(&fixture, &directory, &targets), Erased { again: 2, findings: Vec::new() });
    assert_eq!(whole(), Vec::<String>::new());
    // Between the two steps of the exchange: the new ledger is in place, the manifest is still the old one.
    let new = std::fs::read(directory.join("manifest.json")).expect("read");
    std::fs::create_dir(&stage).expect("made");
    write_atomic(&stage.join("manifest.json"), &new).expect("written");
    let mut old: serde_json::Value = serde_json::from_slice(&new).expect("JSON");
    old["files"][0]["size"] = 1.into();
    write_atomic(&directory.join("manifest.json"), old.to_string().as_bytes()).expect("written");
    assert!(!whole().is_empty());
    assert_eq!(purge_backup(&fixture, &directory, &targets), Erased { again: 0, findings: Vec::new() });
    assert_eq!(whole(), Vec::<String>::new());
    // What is no ledger any more is named, and stops nothing.
    for junk in [&b"not a database, but long enough to be looked at as one"[..], b""] {
        let (junk_backup, _) = back_up(&fixture, if junk.is_empty() { "bak_3" } else { "bak_2" });
        write_atomic(&junk_backup.join("ledger.db"), junk).expect("written");
        let erased = purge_backup(&fixture, &junk_backup, &targets);
        assert_eq!((erased.again, erased.findings.is_empty()), (0, false), "{erased:?}");
    }
    // A manifest that does not fit what is there proves nothing.
    std::fs::create_dir(&stage).expect("made");
    write_atomic(&stage.join("manifest.json"), old.to_string().as_bytes()).expect("written");
    write_atomic(&directory.join("manifest.json"), old.to_string().as_bytes()).expect("written");
    assert!(!purge_backup(&fixture, &directory, &targets).findings.is_empty());
    assert!(!whole().is_empty());
}

#[test]
fn a_backup_is_made_while_others_write() {
    let fixture = Fixture::new();
    for n in 0..40 {
        fixture.remember(&fixture.memory(&format!("{n} {}", "filler ".repeat(20_000)))).expect("stored");
    }
    let writer = fixture.opened_again();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let new = fixture.memory("while the copy is made");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut written = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let write = writer.write(&Control::default(), new.created_at, |w| {
                    if written == 0 { store(w, &new).map(drop) } else { audited(w, "note", "x").map(drop) }
                });
                write.expect("written");
                written += 1;
            }
        });
        let (directory, manifest) = back_up(&fixture, "bak_1");
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(manifest.files[0].size > 5_000_000);
        assert_eq!(backup::verify(&directory, &Control::default()).expect("checked"), Vec::<String>::new());
    });
}
