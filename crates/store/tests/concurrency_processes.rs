//! Real processes on one ledger: all starting at once on a fresh home, and dying at bad moments.
//!
//! The processes are this test binary itself, running the ignored test `worker`.
//! `STORE_TEST_STARTS` sets the number of fresh starts (default 20, on a server 4).

mod fixture;

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use fixture::{START, agent, store};
use strata_core::{
    error::ErrorKind,
    id::{Id, IdKind},
    principal::{Face, Principal, PrincipalKind},
    time::Timestamp,
};
use strata_store::{
    Control, Server, StoreError,
    faults::FaultPlan,
    ledger::{Birth, LOCAL, Ledger, NewAudit, NewMemory},
};
use strata_testkit::{home::TestHome, store::TestStore};

const PROCESSES: u64 = 8;
/// Writes of each process in the first starts, which show how they get along.
const WRITES: u64 = 100;
/// The same in the others, which show how they begin.
const FEW_WRITES: u64 = 10;
/// How many starts are followed by many writes.
const LONG_STARTS: u64 = 2;

/// One writing process. Waits for the file `go` beside the home, writes, and prints the id of every
/// write that was acknowledged, then the longest wait.
#[test]
#[ignore = "run by the other tests as a process of its own"]
fn worker() {
    let Ok(home) = std::env::var("STORE_TEST_HOME") else { return };
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok()).unwrap_or(0);
    let (me, writes) = (number("STORE_TEST_WORKER"), number("STORE_TEST_WRITES"));
    let faults =
        FaultPlan::parse(&std::env::var("STORE_TEST_FAULTS").unwrap_or_default()).expect("well formed");
    let home = Path::new(&home);
    let go = home.with_extension("go");
    while !go.exists() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let mut out = std::io::stdout();
    let ledger = match std::env::var("STORE_TEST_SERVER") {
        Ok(url) => Ledger::on_server(Server::parse(&url, LOCAL).expect("an address"), faults),
        Err(_) => Ledger::new(home, faults),
    };
    let birth = Birth { epoch: format!("epoch-{me}"), store_key: [me as u8; 32], at: Timestamp(START) };
    if !ledger.database().exists(&Control::default()).expect("looked at") {
        ledger.initialise(&Control::default(), &birth).expect("initialised");
    }
    let mut longest = Duration::ZERO;
    for n in 0..writes {
        let id = Id::from_bits(IdKind::Memory, (me << 32) | n);
        let mut new =
            NewMemory::new(id, &format!("worker {me} write {n}"), "agent:test", Timestamp(START), [9; 16]);
        new.bands = (0..16).map(|band| (band << 32) | (me * 1000 + n) as i64).collect();
        let started = Instant::now();
        ledger.write(&Control::default(), Timestamp(START), |w| store(w, &new)).expect("written");
        longest = longest.max(started.elapsed());
        writeln!(out, "ok {}", new.id).and_then(|()| out.flush()).expect("told");
    }
    writeln!(out, "longest {}", longest.as_millis()).expect("told");
}

fn spawn(home: &TestHome, worker: u64, writes: u64, faults: &str) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "worker", "--ignored", "--nocapture", "--test-threads=1"])
        .env("STORE_TEST_HOME", home.path())
        .envs(home.database().map(|database| ("STORE_TEST_SERVER", database.url())))
        .env("STORE_TEST_WORKER", worker.to_string())
        .env("STORE_TEST_WRITES", writes.to_string())
        .env("STORE_TEST_FAULTS", faults)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started")
}

fn go(home: &TestHome) {
    strata_store::files::write_atomic(&home.path().with_extension("go"), b"").expect("written");
}

/// Waits for a worker; returns the ids it acknowledged, its longest wait and what it said at the end.
fn finish(mut child: Child) -> (Vec<String>, u64, String) {
    let (mut acknowledged, mut longest) = (Vec::new(), 0);
    for line in BufReader::new(child.stdout.take().expect("piped")).lines() {
        let line = line.expect("text");
        // The test harness may have begun the line with the name of the test.
        if let Some((_, id)) = line.split_once("ok mem_") {
            acknowledged.push(format!("mem_{id}"));
        } else if let Some((_, wait)) = line.split_once("longest ") {
            longest = wait.parse().expect("a number");
        }
    }
    let output = child.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (
        acknowledged,
        longest,
        if output.status.success() { String::new() } else { format!("{}: {said}", output.status) },
    )
}

fn assert_whole(ledger: &Ledger) {
    let report = ledger.read(&Control::default(), |r| r.verify_audit(&[], None)).expect("readable");
    assert!(report.is_whole(), "{:?}", report.findings);
    assert_eq!(report.entries, report.head.seq);
    let findings = ledger.database().check(&Control::default(), false).expect("checked");
    assert_eq!(findings, Vec::<String>::new());
}

#[test]
fn eight_processes_start_at_once_on_a_fresh_home() {
    let starts = std::env::var("STORE_TEST_STARTS")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(TestStore::times(20, 4));
    let mut longest = 0;
    let begun = Instant::now();
    for start in 0..starts {
        let writes = if start < LONG_STARTS { WRITES } else { FEW_WRITES };
        let home = TestHome::bare();
        let children: Vec<Child> = (0..PROCESSES).map(|me| spawn(&home, me, writes, "")).collect();
        go(&home);
        let started = Instant::now();
        let reader = home.ledger(FaultPlan::none());
        let mut reads = 0_u64;
        let mut seen = 0;
        while seen < (PROCESSES * writes / 2) as i64 && begun.elapsed() < Duration::from_secs(600) {
            match reader.read(&Control::default(), |r| r.totals()) {
                Ok(totals) => {
                    assert_eq!(totals.memories, totals.audit, "a snapshot shows whole writes only");
                    assert!(totals.memories >= seen, "and nothing goes away");
                    (seen, reads) = (totals.memories, reads + 1);
                }
                Err(error) if error.kind() == ErrorKind::NotInitialized && seen == 0 => {
                    assert!(reads == 0, "once it is there, it is there whole");
                }
                Err(error) => panic!("start {start}: a read failed after {reads}: {error}"),
            }
        }
        for child in children {
            let (acknowledged, wait, error) = finish(child);
            assert_eq!(error, "", "start {start}, after {:?}", started.elapsed());
            assert_eq!(acknowledged.len() as u64, writes);
            longest = longest.max(wait);
        }
        let stored = reader.read(&Control::default(), |r| r.totals()).expect("read").memories;
        assert_eq!(stored, (PROCESSES * writes) as i64);
        assert_whole(&reader);
    }
    println!("{starts} starts in {:?}, longest wait for a write {longest} ms", begun.elapsed());
}

#[test]
fn a_killed_writer_loses_nothing_it_acknowledged() {
    for (faults, unacknowledged) in [
        ("before-commit:5:kill", 0),
        ("after-commit:5:kill", 1),
        ("execute:30:kill", 0),
        ("begin:7:kill", 0),
        ("migrate:1:kill", 0),
        ("open:1:kill", 0),
    ] {
        let home = TestHome::bare();
        let child = spawn(&home, 1, 20, faults);
        go(&home);
        let (acknowledged, _, error) = finish(child);
        assert!(error.contains("signal: 9"), "{faults}: {error}");
        let ledger = home.ledger(FaultPlan::none());
        ledger.initialise(&Control::default(), &fixture::birth()).expect("usable");
        let stored = ledger.read(&Control::default(), |r| r.totals()).expect("readable").memories;
        assert_eq!(stored, acknowledged.len() as i64 + unacknowledged, "{faults}");
        for id in &acknowledged {
            assert!(
                ledger.read(&Control::default(), |r| r.memory(id)).expect("readable").is_some(),
                "{faults} {id}"
            );
        }
        let new =
            NewMemory::new(Id::from_bits(IdKind::Memory, 77), "after", "agent:x", Timestamp(START), [1; 16]);
        ledger.write(&Control::default(), Timestamp(START), |w| store(w, &new)).expect("writable");
        assert_whole(&ledger);
    }
}

#[test]
fn writers_killed_at_any_moment_leave_a_valid_chain() {
    for round in 0..8_u64 {
        let home = TestHome::bare();
        let mut children: Vec<Child> = (0..4).map(|me| spawn(&home, me, 10_000, "")).collect();
        go(&home);
        std::thread::sleep(Duration::from_millis(60 + 45 * round));
        for child in &mut children {
            child.kill().expect("killed");
        }
        let acknowledged: Vec<String> = children.into_iter().flat_map(|child| finish(child).0).collect();
        let ledger = home.ledger(FaultPlan::none());
        ledger.initialise(&Control::default(), &fixture::birth()).expect("usable");
        let stored = ledger.read(&Control::default(), |r| r.totals()).expect("readable").memories;
        assert!(stored >= acknowledged.len() as i64, "round {round}");
        for id in &acknowledged {
            assert!(ledger.read(&Control::default(), |r| r.memory(id)).expect("readable").is_some(), "{id}");
        }
        assert_whole(&ledger);
    }
}

#[test]
fn threads_share_one_handle() {
    let fixture = fixture::Fixture::new();
    let ledger = &fixture.ledger;
    std::thread::scope(|scope| {
        for me in 0..4_u64 {
            scope.spawn(move || {
                for n in 0..25 {
                    let id = Id::from_bits(IdKind::Memory, (me << 32) | n);
                    let body = format!("{me} {n}");
                    let new = NewMemory::new(id, &body, "agent:test", Timestamp(START), [9; 16]);
                    ledger.write(&Control::default(), Timestamp(START), |w| store(w, &new)).expect("written");
                    ledger.read(&Control::default(), |r| r.totals()).expect("read");
                }
            });
        }
    });
    assert_eq!(fixture.read(|r| r.totals()).memories, 100);
    assert_whole(ledger);
}

#[test]
fn repeated_refusals_of_many_writers_are_counted() {
    let fixture = fixture::Fixture::new();
    let ledger = &fixture.ledger;
    let refuse = |principal: &Principal| {
        let refused = ledger.write(&Control::default(), Timestamp(START), |w| {
            w.refuse(&NewAudit { reason: "no", ..NewAudit::new(principal, Face::Mcp, "remember", "P0") })
        });
        refused.expect("recorded")
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    refuse(&agent());
                }
            });
        }
    });
    let other = refuse(&Principal::new(PrincipalKind::Agent, "other"));
    assert_eq!((other.first_seq, other.count), (2, 1));
    let refusal = fixture.read(|r| r.refusal(1)).expect("counted");
    assert_eq!(refusal.count, 40);
    assert_eq!(fixture.read(|r| r.totals()).audit, 2);
}

#[cfg(unix)]
#[test]
fn a_home_that_cannot_be_written_is_read() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    if let Ok(home) = std::env::var("STORE_TEST_READ_ONLY") {
        let ledger = Ledger::new(Path::new(&home), FaultPlan::none());
        let totals = ledger.read(&Control::default(), |r| r.totals()).expect("readable");
        let access = ledger.access(&Control::default()).expect("known");
        let error: StoreError = ledger
            .write(&Control::default(), Timestamp(START), |w| w.set_setting("a", "b"))
            .expect_err("not writable");
        println!("read {} {access:?} {} {error}", totals.memories, error.kind());
        return;
    }
    let fixture = fixture::Fixture::new();
    fixture.remember(&fixture.memory("x")).expect("stored");
    fixture.ledger.database().checkpoint(&Control::default()).expect("log emptied");
    fixture.ledger.database().close();
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("changed");
    };
    set(&fixture.home().join("ledger.db"), 0o444);
    set(&fixture.home(), 0o555);
    set(fixture.directory(), 0o755);
    // The superuser may write anything, so the look is taken by somebody else.
    let binary = fixture.directory().join("binary");
    std::fs::copy(std::env::current_exe().expect("this binary"), &binary).expect("copied");
    set(&binary, 0o755);
    let mut command = Command::new(&binary);
    command.args(["--exact", "a_home_that_cannot_be_written_is_read", "--nocapture"]);
    command.env("STORE_TEST_READ_ONLY", fixture.home());
    if is_superuser() {
        command.uid(65_534);
    }
    let output = command.output().expect("ran");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    set(&fixture.home(), 0o755);
    assert!(text.contains("read 1 ReadOnly(") && text.contains("unavailable"), "{text}");
    assert!(text.contains("is open read-only: "), "{text}");
}

/// Whether this process is the superuser: it then owns what it makes as user 0.
#[cfg(unix)]
fn is_superuser() -> bool {
    use std::os::unix::fs::MetadataExt;
    tempfile::NamedTempFile::new().is_ok_and(|file| file.as_file().metadata().is_ok_and(|m| m.uid() == 0))
}
