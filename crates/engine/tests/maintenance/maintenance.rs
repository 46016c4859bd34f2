//! Upkeep that is due: done once, by one process, and what fails is told.

use crate::support::{NOON, Session};
use serde_json::{Value, json};
use strata_core::{error::ErrorKind, principal::PrincipalKind, scope::Scope, time::Timestamp};
use strata_engine::{
    clock::{ManualClock, SeededIds},
    engine::Engine,
};
use strata_store::{
    ledger::{AuditFilter, NewJob},
    sql::Control,
};

const HOUR: i64 = 3_600_000_000;

/// The same home some hours later.
fn later(mut s: Session, hours: i64) -> Session {
    s.engine = Engine::with_sources(
        s.home.settings(),
        Box::new(ManualClock::at(Timestamp(NOON.0 + hours * HOUR))),
        Box::new(SeededIds::new(100 + hours.unsigned_abs())),
    );
    s
}

fn status_of(reply: &Value, task: &str) -> String {
    let tasks = reply["tasks"].as_array().expect("tasks");
    let found = tasks.iter().find(|t| t["task"] == task).expect("the task applies");
    found["status"].as_str().expect("a word").to_owned()
}

fn tell(s: &Session, texts: &[&str]) {
    for text in texts {
        s.ok("episode_record", json!({ "text": text, "session": "talk" }));
    }
}

#[test]
fn what_is_due_is_done_once_and_again_when_its_time_has_come() {
    let s = Session::new();
    tell(&s, &["The mill stopped.", "The wheel broke because of ice.", "We decided to heat the wheel."]);
    let look = s.ok("maintain", json!({ "dry_run": true }));
    assert_eq!((status_of(&look, "consolidate"), &look["failed"]), ("due".into(), &json!(0)));
    assert_eq!(s.ok("consolidate", json!({ "dry_run": true }))["digests"], 1, "a look does nothing");
    let done = s.ok("maintain", json!({}));
    assert_eq!(status_of(&done, "consolidate"), "done", "{done}");
    assert_eq!(s.ok("consolidate", json!({ "dry_run": true }))["digests"], 0);
    assert_eq!(status_of(&s.ok("maintain", json!({})), "consolidate"), "waiting");
    let s = later(s, 24);
    assert_eq!(status_of(&s.ok("maintain", json!({ "task": "jobs" })), "jobs"), "done");
    let forced = s.ok("maintain", json!({ "task": "jobs", "force": true }));
    assert_eq!(forced["tasks"].as_array().map(Vec::len), Some(1));
    assert_eq!(status_of(&forced, "jobs"), "done");
    assert_eq!(s.fails("maintain", json!({ "task": "dance" })), ErrorKind::Invalid);
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let lines = ledger.read(&Control::default(), |r| r.audit(&AuditFilter::default())).expect("read");
    let digest = lines.iter().find(|l| l.entry.action == "consolidate").expect("on record");
    assert_eq!(digest.entry.on_behalf_of.as_deref(), Some("agent:test"), "who started it");
}

#[test]
fn status_says_what_is_overdue_and_creates_nothing_before_init() {
    let s = Session::new();
    assert_eq!(s.ok("maintain", json!({}))["tasks"], json!([]));
    assert!(!s.engine.is_initialised().expect("looked at"));
    s.remember("the mill stands by the river");
    assert!(s.ok("status", json!({}))["holds"].get("overdue").is_none());
    let s = later(s, 50);
    let overdue = s.ok("status", json!({}))["holds"]["overdue"].clone();
    assert!(overdue.as_array().is_some_and(|names| names.contains(&json!("consolidate"))), "{overdue}");
    assert!(s.text("status", json!({})).contains("strata maintain"));
    s.ok("maintain", json!({}));
    assert!(s.ok("status", json!({}))["holds"].get("overdue").is_none());
}

#[test]
fn a_month_in_the_trash_is_enough_in_every_layer() {
    let s = Session::new();
    let old = s.remember("the mill has two wheels");
    s.ok("forget", json!({ "id": old }));
    let mut s = later(s, 24 * 29);
    let young = s.remember("the mill has three wheels");
    s.ok("forget", json!({ "id": young }));
    s.set_kind(PrincipalKind::System);
    let rule = s.ok("remember", json!({ "text": "never run the mill dry", "layer": "P0", "kind": "rule" }));
    s.ok("forget", json!({ "id": rule["id"] }));
    let status = |s: &Session, id: &str| s.ok("inspect", json!({ "id": id }))["status"].clone();
    s.ok("maintain", json!({ "task": "trash" }));
    assert_eq!((status(&s, &old), status(&s, &young)), (json!("trashed"), json!("trashed")));
    let mut s = later(s, 24 * 31);
    s.set_kind(PrincipalKind::Agent);
    s.ok("maintain", json!({ "task": "trash" }));
    assert_eq!((status(&s, &old), status(&s, &young)), (json!("archived"), json!("trashed")));
    let s = later(s, 24 * 61);
    s.ok("maintain", json!({ "task": "trash" }));
    let rule = rule["id"].as_str().expect("an id");
    assert_eq!((status(&s, &young), status(&s, rule)), (json!("archived"), json!("archived")));
    s.ok("restore", json!({ "id": old }));
    assert_eq!(status(&s, &old), "active");
    assert_eq!(s.ok("doctor", json!({}))["healthy"], true);
}

#[test]
fn one_process_does_a_task_and_takes_it_over_from_a_dead_one() {
    let s = Session::new();
    s.remember("the mill stands by the river");
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let id = strata_core::id::Id::from_bits(strata_core::id::IdKind::Job, 5);
    let job = NewJob { id, kind: "maintain:jobs".into(), total: 0, message: String::new() };
    let until = Timestamp(NOON.0 + HOUR);
    ledger.write(&Control::default(), NOON, |w| w.begin_job(&job, "another", until)).expect("begun");
    let reply = s.ok("maintain", json!({}));
    assert_eq!((status_of(&reply, "jobs"), status_of(&reply, "trash")), ("busy".into(), "done".into()));
    let s = later(s, 2);
    assert_eq!(status_of(&s.ok("maintain", json!({})), "jobs"), "done");
}

#[test]
fn a_task_whose_process_was_killed_is_taken_over_before_its_lease_ends() {
    let (Ok(boot), Ok(space)) =
        (std::fs::read_to_string("/proc/sys/kernel/random/boot_id"), std::fs::read_link("/proc/self/ns/pid"))
    else {
        return;
    };
    let space: String = space.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let mut child = std::process::Command::new("true").spawn().expect("started");
    child.wait().expect("ended");
    let s = Session::new();
    s.remember("the mill stands by the river");
    let ledger = s.engine.existing_ledger().expect("a ledger");
    let hold = |bits, kind: &str, place: &str| {
        let id = strata_core::id::Id::from_bits(strata_core::id::IdKind::Job, bits);
        let job = NewJob { id, kind: kind.into(), total: 0, message: String::new() };
        let owner = format!("agent:test#{bits}@{place}/{}/12", child.id());
        let until = Timestamp(NOON.0 + HOUR);
        ledger.write(&Control::default(), NOON, |w| w.begin_job(&job, &owner, until)).expect("begun");
    };
    hold(5, "maintain:jobs", &format!("{}.{space}", boot.trim()));
    hold(6, "maintain:trash", "another-machine.1");
    let reply = s.ok("maintain", json!({}));
    assert_eq!((status_of(&reply, "jobs"), status_of(&reply, "trash")), ("done".into(), "busy".into()));
    let jobs = s.ok("jobs_list", json!({}));
    let workers: Vec<_> =
        jobs["jobs"].as_array().into_iter().flatten().filter_map(|j| j["worker"].as_str()).collect();
    assert_eq!(workers, ["agent:test#6"], "the process is nobody's business: {jobs}");
}

#[test]
fn the_night_files_the_contradictions_of_every_project_and_none_between_two() {
    let mut s = Session::new();
    s.remember("The code style is tabs.");
    for (project, first, second) in [("a", "main", "develop"), ("b", "trunk", "master")] {
        s.scope = Scope::project(project);
        for branch in [first, second] {
            let text = format!("The default branch is {branch}.");
            s.ok("remember", json!({ "text": text, "scope": "project" }));
        }
    }
    s.scope = Scope::user();
    let detail = |reply: Value| reply["tasks"][0]["detail"].as_str().unwrap_or_default().to_owned();
    let night = json!({ "task": "contradictions", "force": true });
    let told = detail(s.ok("maintain", night.clone()));
    assert_eq!(told, "2 filed, 0 known, 0 left out, 0 dismissed, among 5 memories");
    assert_eq!(
        detail(s.ok("maintain", night)),
        "0 filed, 2 known, 0 left out, 0 dismissed, among 5 memories"
    );
    let queue = s.of_kind(PrincipalKind::Human).ok("review_list", json!({ "kind": "conflict" }));
    assert_eq!(queue["reviews"].as_array().map(Vec::len), Some(2), "{queue}");
}
