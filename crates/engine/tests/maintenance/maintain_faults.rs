//! A busy store, a full disk and a failing one: a typed error, nothing half done, and the next try works.

use crate::maintain_support::{Session, acting, become_owner, holding, home, reopen, tell};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind};
use strata_store::{
    faults::{Fault, FaultPlan, FaultPoint},
    files::write_atomic,
};

const FAULTS: [(Fault, ErrorKind); 2] =
    [(Fault::Full, ErrorKind::Unavailable), (Fault::Io, ErrorKind::Unavailable)];

/// What a home holds, as far as an export tells.
fn content(s: &mut Session) -> String {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("x.jsonl");
    acting(s, PrincipalKind::System, |s| s.ok("export", json!({ "path": path.to_string_lossy() })));
    std::fs::read_to_string(path).expect("written")
}

/// Scripts `fault` at the `nth` visit of a point from now on.
fn script(s: Session, point: FaultPoint, nth: u32, fault: Fault) -> Session {
    reopen(s, 4_242 + u64::from(nth), &FaultPlan::none().then(point, nth, fault))
}

fn furnished() -> Session {
    let mut s = home(7);
    become_owner(&mut s);
    acting(&mut s, PrincipalKind::Agent, |s| {
        s.remember("the well is behind the barn");
        s.remember("the key to the barn hangs on the left");
        s.recall("barn");
    });
    tell(&s, "talk", "the horse is called Falada");
    s
}

#[test]
fn a_write_that_fails_leaves_nothing_and_succeeds_later() {
    for (fault, kind) in FAULTS {
        for (point, nth) in [
            (FaultPoint::Execute, 1),
            (FaultPoint::Execute, 3),
            (FaultPoint::BeforeCommit, 1),
            (FaultPoint::Begin, 1),
            (FaultPoint::Open, 1),
        ] {
            let mut s = furnished();
            let before = content(&mut s);
            let mut s = script(s, point, nth, fault);
            let arguments =
                json!({ "text": "the fox is in the hen house", "tags": ["fox"], "evidence": ["a.md:1"] });
            let failed = acting(&mut s, PrincipalKind::Agent, |s| s.fails("remember", arguments.clone()));
            assert_eq!(failed, kind, "{fault:?} at {point:?} {nth}");
            let mut s = reopen(s, 77, &FaultPlan::none());
            assert_eq!(content(&mut s), before, "{fault:?} at {point:?} {nth}");
            assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
            acting(&mut s, PrincipalKind::Agent, |s| {
                let id = s.ok("remember", arguments)["id"].clone();
                assert_eq!(json!(s.recall("where is the fox")[0]), id);
            });
        }
    }
}

#[test]
fn a_short_wait_for_the_lock_is_not_an_error() {
    let mut s = script(furnished(), FaultPoint::Begin, 1, Fault::Busy);
    acting(&mut s, PrincipalKind::Agent, |s| s.remember("the gate was open"));
}

#[test]
fn a_load_that_fails_half_way_loads_nothing() {
    let text = content(&mut furnished());
    for (fault, kind) in FAULTS {
        for (point, nth) in
            [(FaultPoint::Execute, 2), (FaultPoint::Execute, 9), (FaultPoint::BeforeCommit, 1)]
        {
            let mut fresh = home(99);
            become_owner(&mut fresh);
            let empty = content(&mut fresh);
            let path = fresh.home.path().join("given.jsonl");
            write_atomic(&path, text.as_bytes()).expect("written");
            let request = json!({ "path": path.to_string_lossy() });
            let fresh = script(fresh, point, nth, fault);
            assert_eq!(fresh.fails("load", request.clone()), kind, "{fault:?} at {point:?} {nth}");
            let mut fresh = reopen(fresh, 77, &FaultPlan::none());
            assert_eq!(content(&mut fresh), empty, "{fault:?} at {point:?} {nth}");
            fresh.ok("load", request);
            assert_eq!(content(&mut fresh), text);
        }
    }
}

#[test]
fn a_purge_that_fails_can_be_repeated_until_it_is_complete() {
    for (fault, kind) in FAULTS {
        // From the first statement over the ledger's commit to the index's work and beyond.
        for (point, nth) in [
            (FaultPoint::Execute, 1),
            (FaultPoint::BeforeCommit, 1),
            (FaultPoint::AfterCommit, 1),
            (FaultPoint::Begin, 2),
            (FaultPoint::Execute, 14),
        ] {
            let s = furnished();
            let id = s.recall("key to the barn")[0].clone();
            let s = script(s, point, nth, fault);
            match s.reply("purge", json!({ "id": id })) {
                Ok(reply) => assert_eq!(reply.json["verified"], true, "{point:?} {nth}: not reached"),
                Err(error) => assert_eq!(error.kind(), kind, "{fault:?} at {point:?} {nth}"),
            }
            let s = reopen(s, 77, &FaultPlan::none());
            let reply = s.ok("purge", json!({ "id": id }));
            assert_eq!(reply["remaining"], json!([]));
            assert_eq!(
                holding(s.home.path(), "hangs on the left"),
                Vec::<std::path::PathBuf>::new(),
                "{point:?} {nth}"
            );
            let report = s.ok("doctor", json!({ "full": true }));
            assert_eq!(report["healthy"], true, "{report}");
            assert_eq!(s.recall("behind the barn").len(), 1);
        }
    }
}

#[test]
fn what_a_purged_digest_covered_is_distilled_anew_though_the_purge_was_cut_short() {
    let mut s = home(21);
    become_owner(&mut s);
    let secret =
        tell(&s, "move", "The crew decided to load the three lorries behind the old bakery at dawn.");
    tell(&s, "move", "The second lorry failed because its axle broke near kilometre 40.");
    tell(&s, "move", "We must order a new axle before the next move.");
    let digest = s.ok("consolidate", json!({}))["ids"][0].clone();
    let s = script(s, FaultPoint::AfterCommit, 1, Fault::Io);
    assert_eq!(s.fails("purge", json!({ "id": secret })), ErrorKind::Unavailable);
    let s = reopen(s, 77, &FaultPlan::none());
    assert_eq!(s.fails("inspect", json!({ "id": digest })), ErrorKind::NotFound, "the digest went first");
    assert_eq!(s.ok("purge", json!({ "id": secret }))["remaining"], json!([]));
    let again = s.ok("consolidate", json!({ "min_episodes": 2 }));
    assert_eq!((&again["digests"], &again["episodes_covered"]), (&json!(1), &json!(2)), "{again}");
}

#[test]
fn a_backup_that_fails_leaves_no_half_of_one() {
    for (fault, kind) in FAULTS {
        let s = script(furnished(), FaultPoint::Open, 1, fault);
        assert_eq!(s.fails("backup_create", json!({})), kind);
        assert_eq!(s.ok("backup_list", json!({}))["backups"], Value::Array(Vec::new()));
        let litter = std::fs::read_dir(s.home.path().join("backups")).map_or(0, Iterator::count);
        assert_eq!(litter, 0);
        let made = s.ok("backup_create", json!({}));
        assert_eq!(s.ok("backup_list", json!({ "verify": true }))["backups"][0]["id"], made["id"]);
    }
    // Also when the place itself is in the way.
    let s = furnished();
    write_atomic(&s.home.path().join("backups"), b"a file where a folder belongs").expect("written");
    assert_eq!(s.fails("backup_create", json!({})), ErrorKind::Unavailable);
}

#[test]
fn a_restore_that_fails_leaves_the_ledger_as_it_was() {
    for (fault, kind) in FAULTS {
        let mut s = furnished();
        let backup = s.ok("backup_create", json!({}))["id"].clone();
        acting(&mut s, PrincipalKind::Agent, |s| s.remember("stored later"));
        let before = content(&mut s);
        let s = script(s, FaultPoint::Open, 1, fault);
        assert_eq!(s.fails("backup_restore", json!({ "id": backup, "force": true })), kind);
        let mut s = reopen(s, 77, &FaultPlan::none());
        assert_eq!(content(&mut s), before);
        s.ok("backup_restore", json!({ "id": backup, "force": true }));
        assert_ne!(content(&mut s), before);
    }
}

#[test]
fn a_cancelled_call_changes_nothing() {
    use strata_core::{cancel::Cancel, principal::Face, time::Timestamp};
    use strata_engine::{operation::Call, registry::OPERATIONS};
    let mut s = furnished();
    let before = content(&mut s);
    let id = s.recall("key to the barn")[0].clone();
    let cancel = Cancel::default();
    cancel.cancel();
    let call = Call {
        principal: &s.principal,
        scope: &s.scope,
        face: Face::Library,
        deadline: Timestamp::MAX,
        cancel: &cancel,
        progress: &|_, _| {},
        secret: s.secret.as_ref(),
    };
    for (tool, arguments) in [
        ("purge", json!({ "id": id })),
        ("backup_create", json!({})),
        ("reindex", json!({})),
        ("doctor", json!({})),
        ("export", json!({ "path": s.home.path().join("x.jsonl").to_string_lossy() })),
    ] {
        let entry = OPERATIONS.iter().find(|e| e.spec.tool == tool).expect("listed");
        let error = (entry.run)(&s.engine, &call, arguments).expect_err("withdrawn");
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{tool}: {error}");
    }
    assert_eq!(content(&mut s), before);
    assert!(!s.home.path().join("x.jsonl").exists());
}

#[test]
fn a_digest_that_was_cut_short_is_made_once_the_next_time() {
    for (point, visits) in
        [(FaultPoint::Execute, 40), (FaultPoint::BeforeCommit, 5), (FaultPoint::AfterCommit, 5)]
    {
        for nth in (1..visits).step_by(if visits > 10 { 6 } else { 1 }) {
            let s = home(13);
            s.remember("the horse is called Falada");
            for (session, text) in [
                ("a", "The mill stopped because of ice."),
                ("a", "We decided to heat the wheel."),
                ("b", "The lorry failed at kilometre 40."),
                ("b", "Its axle was replaced."),
            ] {
                tell(&s, session, text);
            }
            let s = script(s, point, nth, Fault::Io);
            drop(s.reply("consolidate", json!({ "min_episodes": 2 })));
            let s = reopen(s, 99, &FaultPlan::none());
            s.ok("consolidate", json!({ "min_episodes": 2 }));
            let report = s.ok("drift_report", json!({}));
            assert_eq!(
                (&report["distilling"]["digests_7d"], &report["distilling"]["distilled"]),
                (&json!(2), &json!(4)),
                "{point:?} {nth}: {report}"
            );
            assert_eq!(report["distilling"]["backlog"], 0, "{point:?} {nth}");
        }
    }
}
