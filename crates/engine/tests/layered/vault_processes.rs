//! One file of the vault and several processes: all writing at once, and dying at bad moments.
//!
//! The processes are this test binary itself, running the ignored test `worker`.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use strata_core::{
    cancel::Cancel,
    knowledge::changelog::Operation,
    markdown::Outline,
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{
    clock::{SystemClock, SystemIds},
    engine::Engine,
    error::Error,
    knowledge::vault::{self, Change, Edited, Event, Origin, Place},
    operation::Call,
    settings::Settings,
};
use strata_store::{Server, faults::FaultPlan, ledger::LOCAL};
use strata_testkit::home::TestHome;

const PROCESSES: usize = 8;
const WRITES: usize = 8;

fn with_call<T>(job: impl FnOnce(&Call<'_>) -> T) -> T {
    job(&Call {
        principal: &Principal::new(PrincipalKind::Agent, "worker"),
        scope: &Scope::user(),
        face: Face::Mcp,
        deadline: Timestamp::MAX,
        cancel: &Cancel::default(),
        progress: &|_, _| {},
        secret: None,
    })
}

fn place(engine: &Engine) -> Place {
    with_call(|call| vault::locate(engine, call, "domain", "common")).expect("a place")
}

/// Adds a section of `size` bytes.
fn add(engine: &Engine, heading: &str, size: usize) -> Result<(), Error> {
    let place = place(engine);
    with_call(|call| {
        vault::edit(engine, call, &place, &Change::new("test"), &mut |text| {
            let before = text.unwrap_or("# common\n");
            let body = "body of it ".repeat(size / 11 + 1);
            let text = format!("{before}\n## {heading}\n\n{body}\n");
            Ok(Edited::Write(text, Event::new(Operation::SectionCreated, "added").section(heading)))
        })
    })
    .map(drop)
}

fn read(engine: &Engine) -> Option<String> {
    let place = place(engine);
    with_call(|call| vault::read(engine, call, &place)).ok().map(|file| file.text().to_owned())
}

/// One writing process: waits for the file `go` beside the home, then adds its sections and says so.
#[test]
#[ignore = "run by the other tests as a process of its own"]
fn worker() {
    let Ok(home) = std::env::var("VAULT_TEST_HOME") else { return };
    let text = |name: &str| std::env::var(name).unwrap_or_default();
    let number = |name: &str| text(name).parse::<usize>().unwrap_or(0);
    let faults = FaultPlan::parse(&text("VAULT_TEST_FAULTS")).expect("well formed");
    let home = Path::new(&home);
    let store =
        std::env::var("VAULT_TEST_SERVER").ok().map(|url| Server::parse(&url, LOCAL).expect("a server"));
    let settings = Settings { store, ..Settings::for_home(home) };
    let engine = Engine::with_faults(settings, Box::new(SystemClock), Box::new(SystemIds), &faults);
    while !home.with_extension("go").exists() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let me = text("VAULT_TEST_WORKER");
    for n in 0..number("VAULT_TEST_WRITES") {
        let heading = format!("{me}-{n}");
        match add(&engine, &heading, number("VAULT_TEST_SIZE")) {
            Ok(()) => println!("ok {heading}."),
            Err(error) => println!("failed {heading}: {error}"),
        }
        std::io::stdout().flush().expect("told");
    }
}

fn spawn(home: &TestHome, me: &str, writes: usize, size: usize, faults: &str) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "vault_processes::worker", "--ignored", "--nocapture", "--test-threads=1"])
        .env("VAULT_TEST_HOME", home.path())
        .envs(home.database().map(|database| ("VAULT_TEST_SERVER", database.url())))
        .env("VAULT_TEST_WORKER", me)
        .env("VAULT_TEST_WRITES", writes.to_string())
        .env("VAULT_TEST_SIZE", size.to_string())
        .env("VAULT_TEST_FAULTS", faults)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("started")
}

fn go(home: &TestHome) {
    strata_store::files::write_atomic(&home.path().with_extension("go"), b"").expect("written");
}

/// The headings that a worker acknowledged, and what else it said of its writes.
fn finish(mut child: Child) -> (Vec<String>, Vec<String>) {
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for line in BufReader::new(child.stdout.take().expect("piped")).lines() {
        let line = line.expect("text");
        if let Some((_, rest)) = line.split_once("ok ")
            && let Some(heading) = rest.strip_suffix('.')
        {
            done.push(heading.to_owned());
        } else if let Some((_, rest)) = line.split_once("failed ") {
            failed.push(rest.to_owned());
        }
    }
    child.wait().expect("ended");
    (done, failed)
}

fn file(home: &TestHome) -> PathBuf {
    home.path().join("vault").join("knowledge").join("shared").join("common.md")
}

fn engine(home: &TestHome) -> Engine {
    Engine::new(home.settings())
}

fn headings(text: &str) -> Vec<String> {
    Outline::parse(text).entries().iter().map(|entry| entry.heading.clone()).collect()
}

#[test]
fn layered_63_eight_processes_write_one_file_and_no_reader_sees_a_part_of_it() {
    let home = TestHome::new();
    let reader = engine(&home);
    add(&reader, "first", 10).expect("written");
    let workers: Vec<Child> =
        (0..PROCESSES).map(|n| spawn(&home, &format!("w{n}"), WRITES, 2_000, "")).collect();
    go(&home);
    let done = std::sync::atomic::AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let text = match home.server() {
                    None => fs::read_to_string(file(&home)).expect("whole and there"),
                    Some(_) => read(&reader).expect("there"),
                };
                assert!(text.starts_with("# common\n\n## first\n") && text.ends_with(" \n"), "a torn file");
                seen += 1;
                std::thread::sleep(Duration::from_millis(if home.server().is_some() { 20 } else { 1 }));
            }
            seen
        });
        let mut acknowledged: Vec<String> = Vec::new();
        for worker in workers {
            let (ok, failed) = finish(worker);
            assert_eq!((ok.len(), failed), (WRITES, Vec::new()));
            acknowledged.extend(ok);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut found = headings(&read(&reader).expect("there"));
        found.sort();
        acknowledged.push("first".to_owned());
        acknowledged.sort();
        assert_eq!(found, acknowledged);
        watcher.join().expect("saw no part of a file")
    });
    assert!(seen > 10, "{seen}");
    with_call(|call| {
        let place = place(&reader);
        let rows = vault::history(&reader, call, &place).expect("history");
        assert_eq!(rows.len(), PROCESSES * WRITES + 1);
        assert!(rows.iter().all(|row| row.origin == Origin::Tool && !row.is_failed), "{rows:?}");
        let ledger = reader.existing_ledger().expect("there");
        let (unfounded, audit) = ledger
            .read(&reader.control(call), |r| Ok((r.vault_unfounded()?, r.verify_audit(&[], None)?)))
            .expect("read");
        assert!(unfounded.is_empty() && audit.is_whole());
    });
}

#[test]
fn layered_67_a_process_that_is_killed_leaves_the_old_text_or_the_new() {
    for faults in ["before-rename:2:kill", "after-rename:2:kill"] {
        let home = TestHome::new();
        if home.server().is_some() {
            return;
        }
        let worker = spawn(&home, "w", 3, 400_000, faults);
        go(&home);
        let (done, _) = finish(worker);
        assert_eq!(done, ["w-0"], "{faults}");
        let bytes = fs::read_to_string(file(&home)).expect("whole");
        let expected: &[&str] = if faults.starts_with("before") { &["w-0"] } else { &["w-0", "w-1"] };
        assert_eq!(headings(&bytes), expected, "{faults}");
        // The change is on record, so whoever looks next completes it.
        let next = engine(&home);
        assert_eq!(headings(&read(&next).expect("there")), ["w-0", "w-1"], "{faults}");
        assert_eq!(headings(&fs::read_to_string(file(&home)).expect("there")), ["w-0", "w-1"]);
        add(&next, "after", 10).expect("written");
        assert_eq!(headings(&read(&next).expect("there")), ["w-0", "w-1", "after"]);
        let rows = with_call(|call| vault::history(&next, call, &place(&next))).expect("history");
        assert!(rows.iter().all(|row| row.origin == Origin::Tool), "{rows:?}");
    }
}

#[test]
fn a_file_that_cannot_be_replaced_is_told_of_and_stays_as_it_was() {
    let home = TestHome::new();
    if home.server().is_some() {
        return;
    }
    let worker = spawn(&home, "w", 3, 100, "before-rename:2:full");
    go(&home);
    let (done, failed) = finish(worker);
    assert_eq!(done, ["w-0", "w-2"]);
    assert!(failed[0].starts_with("w-1"), "{failed:?}");
    let next = engine(&home);
    assert_eq!(headings(&read(&next).expect("there")), ["w-0", "w-2"]);
    let rows = with_call(|call| vault::history(&next, call, &place(&next))).expect("history");
    let states: Vec<(i64, bool)> = rows.iter().map(|row| (row.generation, row.is_failed)).collect();
    assert_eq!(states, [(3, false), (2, true), (1, false)]);
}

#[test]
fn an_edit_by_hand_right_after_a_crash_is_kept() {
    let home = TestHome::new();
    if home.server().is_some() {
        return;
    }
    let worker = spawn(&home, "w", 2, 100, "before-rename:2:kill");
    go(&home);
    assert_eq!(finish(worker).0, ["w-0"]);
    strata_store::files::write_atomic(&file(&home), b"## mine\n\nby hand\n").expect("saved");
    let next = engine(&home);
    assert_eq!(read(&next).expect("there"), "## mine\n\nby hand\n");
    let rows = with_call(|call| vault::history(&next, call, &place(&next))).expect("history");
    let states: Vec<(Origin, bool)> = rows.iter().map(|row| (row.origin, row.is_failed)).collect();
    assert_eq!(states, [(Origin::Hand, false), (Origin::Tool, true), (Origin::Tool, false)]);
    // What never came to hold can still be read.
    let lost = with_call(|call| vault::generation_text(&next, call, &place(&next), 2)).expect("kept");
    assert_eq!(headings(&lost), ["w-0", "w-1"]);
}
