//! Cut off anywhere, shared by many, asked to forget: the index stays correct.

use std::{
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use crate::index_support::*;
use strata_store::{
    Control, Server,
    faults::{Fault, FaultPlan, FaultPoint},
    index::{CaughtUp, Change, Index, Mark},
};
use strata_testkit::store::TestStore;

/// Small batches, so that a failure wastes little.
const HURRIED: Duration = Duration::from_millis(900);

/// Short memories of one collection, some replaced and some forgotten: the quickest way to folds, and in a
/// release build to a merge.
fn short_memories() -> Vec<Change> {
    let mut numbers = Numbers::new(101);
    let length = scaled(10_500, 1_250);
    let change = |seq: i64| {
        let number = if seq % 20 == 0 { seq - 7 } else { seq };
        let gone = seq % 60 == 0;
        let subject = (!gone).then(|| subject("alpha", text(&mut numbers, 6)));
        Change { mark: Mark { seq, ordinal: 0 }, source: memory(number), subject }
    };
    (1..=length).map(change).collect()
}

#[test]
fn a_failure_at_any_slice_border_leaves_a_correct_index() {
    let truth = Truth::new(short_memories());
    let reference = TestHome::new().existing();
    let fresh = open(&reference);
    follow(&fresh, &truth);
    let home = TestHome::new().existing();
    let mut borders = 0;
    // Each round gets one transaction further than the one before it failed at, and none finishes early.
    for nth in 1.. {
        let point = if nth % 2 == 0 { FaultPoint::BeforeCommit } else { FaultPoint::AfterCommit };
        let plan = FaultPlan::none().then(point, 1 + nth % 3, Fault::Io);
        let index = home.index(1, plan);
        match index.catch_up(&Control::default(), TENANT, &truth, semantic(), HURRIED) {
            Ok(caught) if caught.behind == 0 => break,
            Ok(_) => continue,
            Err(error) => assert!(error.to_string().contains("input/output error"), "{error}"),
        }
        borders += 1;
        if borders % 10 == 0 {
            // What is there so far is searched without an error.
            let behind = open(&home);
            let mut numbers = Numbers::new(borders);
            Ask::new(&behind).answer(&question(&mut numbers), &CaughtUp::default()).expect("answers");
        }
    }
    assert!(borders > 12, "only {borders} slices");
    assert_alike(&open(&home), &fresh, 120);
}

#[test]
fn threads_index_and_read_at_once() {
    let log = history(111, scaled(4_000, 1_600));
    let truth = Truth::new(log[..200].to_vec());
    let home = TestHome::new().existing();
    let done = AtomicBool::new(false);
    let shared = open(&home);
    thread::scope(|scope| {
        for number in 0..3_u64 {
            let (done, truth, shared, home) = (&done, &truth, &shared, &home);
            scope.spawn(move || {
                // Two threads share an index with its views, one has its own.
                let own = open(home);
                let index = if number == 0 { &own } else { shared };
                let mut numbers = Numbers::new(number + 1);
                while !done.load(Ordering::Relaxed) {
                    let budget = Duration::from_millis(20);
                    let caught = index
                        .catch_up(&Control::default(), TENANT, truth, semantic(), budget)
                        .expect("catches up");
                    Ask::new(index).answer(&question(&mut numbers), &caught).expect("answers");
                }
            });
        }
        for change in &log[200..] {
            truth.push(change.clone());
            if change.mark.seq % 50 == 0 {
                thread::sleep(Duration::from_millis(2));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    follow(&shared, &truth);
    let other = TestHome::new().existing();
    let fresh = open(&other);
    follow(&fresh, &truth);
    assert_alike(&shared, &fresh, 100);
}

const CHILD_HOME: &str = "STRATA_TEST_INDEX_HOME";
const CHILD_SERVER: &str = "STRATA_TEST_INDEX_SERVER";
const PROCESSES: usize = 4;

/// Each batch of a server's takes many round trips, and here four processes take turns.
fn events() -> i64 {
    if TestStore::chosen() == TestStore::Sqlite { 2_000 } else { 300 }
}

/// The child of the next test: follows the common history and searches, a little at a time.
#[test]
fn child_process_indexes_and_reads() {
    let Some(home) = std::env::var_os(CHILD_HOME) else { return };
    let truth = Truth::new(history(121, events()));
    let index = match std::env::var(CHILD_SERVER) {
        Ok(url) => Index::on_server(Server::parse(&url, TENANT).expect("an address"), 1, FaultPlan::none()),
        Err(_) => Index::new(std::path::Path::new(&home), 1, FaultPlan::none()),
    };
    let mut numbers = Numbers::new(u64::from(std::process::id()));
    loop {
        let budget = Duration::from_millis(10);
        let caught =
            index.catch_up(&Control::default(), TENANT, &truth, semantic(), budget).expect("catches up");
        Ask::new(&index).answer(&question(&mut numbers), &caught).expect("answers");
        if caught.behind == 0 {
            break;
        }
    }
}

#[test]
fn processes_index_and_read_at_once() {
    let home = TestHome::new().existing();
    let this = std::env::current_exe().expect("this program");
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(&this)
                .args(["--exact", "index_crash::child_process_indexes_and_reads"])
                .env(CHILD_HOME, home.path())
                .envs(home.database().map(|database| (CHILD_SERVER, database.url())))
                .output_later()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let truth = Truth::new(history(121, events()));
    let index = open(&home);
    assert_eq!(index.cursor(TENANT).expect("reads").mark.seq, events(), "they had indexed it all");
    let other = TestHome::new().existing();
    let fresh = open(&other);
    follow(&fresh, &truth);
    assert_alike(&index, &fresh, 60);
}

trait OutputLater {
    fn output_later(&mut self) -> std::process::Child;
}

impl OutputLater for Command {
    fn output_later(&mut self) -> std::process::Child {
        use std::process::Stdio;
        self.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
    }
}

/// Added one at a time, the index stays linear. 60 000 in a release build, fewer otherwise.
#[test]
fn field_case_25_single_adds_keep_the_file_linear() {
    let length = scaled(60_000, 2_400);
    let home = TestHome::new().existing();
    let index = open(&home);
    let truth = Truth::new(Vec::new());
    let mut numbers = Numbers::new(131);
    let mut sizes = Vec::new();
    for seq in 1..=length {
        let subject = Some(subject("alpha", text(&mut numbers, 30)));
        truth.push(Change { mark: Mark { seq, ordinal: 0 }, source: memory(seq), subject });
        follow(&index, &truth);
        if seq % (length / 3) == 0 {
            index.database().checkpoint(&Control::default()).expect("checkpoints");
            sizes.push(std::fs::metadata(index.path()).expect("exists").len());
        }
    }
    let per_add = sizes[2] / length.unsigned_abs();
    assert!(per_add < 2_500, "{per_add} bytes for an add of 30 words");
    assert!(sizes[2] < sizes[0] * 4, "three times the adds, three times the size: {sizes:?}");
}

/// Every file of the home, as bytes.
fn bytes_of(home: &std::path::Path) -> Vec<u8> {
    let files = std::fs::read_dir(home).expect("lists");
    files.flat_map(|file| std::fs::read(file.expect("an entry").path()).expect("reads")).collect()
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[test]
fn a_purge_leaves_no_byte_and_nothing_else_changes() {
    let secret = "zanzibarquartz";
    let mut log = history(141, 2_000);
    // One that will be folded, one that stays in the tail, and a dead one.
    for (at, number) in [(40, 90_001), (1_990, 90_002), (100, 90_003)] {
        log[at].source = memory(number);
        log[at].subject = Some(strata_store::index::Subject {
            keep_text: true,
            owner: format!("{secret} the speaker"),
            ..subject("alpha", format!("the {secret} of {number} was moved"))
        });
    }
    log[1_700].source = memory(90_003);
    log[1_700].subject = None;
    let purged = [memory(90_001), memory(90_002), memory(90_003)];
    let home = TestHome::new().existing();
    let index = open(&home);
    follow(&index, &Truth::new(log.clone()));
    let warm = open(&home);
    assert_eq!(Ask { is_semantic: false, ..Ask::new(&warm) }.lines(secret).len(), 2);
    assert!(contains(&bytes_of(home.path()), secret));

    let mut writer = index.writer(&Control::default()).expect("opens").expect("free");
    writer.purge(TENANT, &purged, strata_store::Rewrite::Everything).expect("purges");
    drop(writer);
    assert!(!contains(&bytes_of(home.path()), secret));
    for index in [&index, &warm] {
        let found = Ask { is_semantic: false, ..Ask::new(index) }.lines(secret);
        assert!(found.is_empty(), "{found:?}");
    }

    let without: Vec<_> = log.into_iter().filter(|change| !purged.contains(&change.source)).collect();
    let other = TestHome::new().existing();
    let fresh = open(&other);
    follow(&fresh, &Truth::new(without));
    assert_alike(&index, &fresh, 80);
    assert_alike(&warm, &fresh, 80);
}
