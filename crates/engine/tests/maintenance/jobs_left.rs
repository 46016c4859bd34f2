//! Jobs that are over and stand as running: whoever writes next ends them, and nobody has to be asked.

use std::process::{Command, Stdio};

use serde_json::json;
use strata_core::{
    id::{Id, IdKind},
    time::Timestamp,
};
use strata_store::{
    faults::{Fault, FaultPlan, FaultPoint},
    ledger::NewJob,
    sql::Control,
};

use crate::maintain_support::{Session, home, reopen, with_faults};

const MINUTE: i64 = 60_000_000;

/// Opens a job on record that `owner` holds for so many minutes, and gives its id.
fn opened(s: &Session, n: u64, owner: &str, minutes: i64) -> String {
    let id = Id::from_bits(IdKind::Job, n << 40);
    let now = s.engine.clock().now();
    let new = NewJob { id: id.clone(), kind: "night".into(), total: 9, message: "sorting".into() };
    let until = Timestamp(now.0 + minutes * MINUTE);
    let ledger = s.engine.existing_ledger().expect("there");
    ledger.write(&Control::default(), now, |w| w.begin_job(&new, owner, until)).expect("opened");
    id.to_string()
}

fn state(s: &Session, id: &str) -> String {
    s.ok("jobs_show", json!({ "id": id }))["state"].as_str().expect("a state").to_owned()
}

/// The holder of a job in a process of this machine, as it is put on record.
fn process(number: &str, start: &str) -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let numbers = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let numbers: String = numbers.to_str()?.chars().filter(char::is_ascii_digit).collect();
    Some(format!("agent:test#1@{}.{numbers}/{number}/{start}", boot.trim()))
}

fn start_of(number: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{number}/stat")).expect("it runs");
    let fields = text.rsplit_once(')').expect("a name").1;
    fields.split_whitespace().nth(19).expect("a start").to_owned()
}

#[test]
fn the_next_writer_ends_what_a_dead_worker_left_open_and_nothing_else() {
    let s = home(1);
    s.remember("The ferry leaves at nine.");
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().expect("started");
    let number = child.id().to_string();
    let here =
        process(&number, if cfg!(target_os = "linux") { start_of(&number) } else { String::new() }.as_str());
    let held = here.as_deref().map(|owner| opened(&s, 1, owner, 30));
    // It is late, and its process runs here.
    let late = here.as_deref().map(|owner| opened(&s, 2, &owner.replace("#1@", "#2@"), 0));
    let elsewhere = opened(&s, 3, "agent:x#3@00000000-0000-0000-0000-000000000000.1/1/1", 30);
    let silent = opened(&s, 4, "agent:x#4@00000000-0000-0000-0000-000000000000.1/1/2", 0);

    let s = reopen(s, 2, &FaultPlan::none());
    assert_eq!(state(&s, &silent), "stalled", "a look ends nothing");
    s.remember("The bridge is closed in winter.");
    let at_work = [&held, &late]
        .map(|job| job.as_deref().map(|id| s.ok("jobs_show", json!({ "id": id }))["result"].clone()));
    assert_eq!((state(&s, &silent), state(&s, &elsewhere)), ("failed".into(), "running".into()));
    assert!(at_work.iter().flatten().all(serde_json::Value::is_null), "{at_work:?}: their process runs");

    child.kill().and_then(|()| child.wait()).expect("ended");
    let s = reopen(s, 3, &FaultPlan::none());
    s.remember("The gulls nest on the roof.");
    for id in [held, late].into_iter().flatten() {
        let job = s.ok("jobs_show", json!({ "id": id }));
        assert_eq!(
            (&job["state"], &job["result"]),
            (&json!("failed"), &json!("the worker stopped")),
            "{job}"
        );
    }
    assert_eq!(state(&s, &elsewhere), "running", "it has its lease");
}

#[test]
fn a_job_whose_end_found_the_disk_full_is_ended_by_the_next_one_of_the_same_process() {
    // The first write of a fresh home, then that of the job's beginning; every later one is its end, whatever comes first.
    let mut seen = 0;
    for nth in 1..30 {
        let faults = FaultPlan::none().then(FaultPoint::BeforeCommit, nth, Fault::Full);
        let s = with_faults(10 + u64::from(nth), &faults);
        if s.reply("remember", json!({ "text": "The ferry leaves at nine." })).is_err() {
            continue;
        }
        if s.reply("reindex", json!({})).is_ok() {
            continue;
        }
        let jobs = s.ok("jobs_list", json!({ "kind": "reindex" }))["jobs"].clone();
        let Some(id) = jobs[0]["id"].as_str().filter(|_| jobs[0]["state"] == "running") else { continue };
        seen += 1;
        let done = s.ok("reindex", json!({}));
        assert_eq!(state(&s, done["job"].as_str().expect("an id")), "done");
        assert_eq!(state(&s, id), "done", "its work was done, only that was not on record");
    }
    assert!(seen > 0, "a full disk met the end of a job");
}

#[test]
fn a_process_that_ends_says_what_it_could_not_say_before() {
    let mut seen = 0;
    for nth in 1..30 {
        let faults = FaultPlan::none().then(FaultPoint::BeforeCommit, nth, Fault::Full);
        let s = with_faults(30 + u64::from(nth), &faults);
        let begun = s.reply("remember", json!({ "text": "The ferry leaves at nine." })).is_ok();
        if !begun || s.reply("reindex", json!({})).is_ok() {
            continue;
        }
        let jobs = s.ok("jobs_list", json!({ "kind": "reindex" }))["jobs"].clone();
        let Some(id) = jobs[0]["id"].as_str().filter(|_| jobs[0]["state"] == "running") else { continue };
        seen += 1;
        // The engine is dropped, and nothing is written by the new one.
        let s = reopen(s, 50, &FaultPlan::none());
        assert_eq!(state(&s, id), "done");
    }
    assert!(seen > 0, "a full disk met the end of a job");
}
