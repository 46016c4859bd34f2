//! Long work whose process is killed: what the server holds for it goes with its session, what the ledger holds ends by
//! itself, and the work is done by the next, once.

use std::{
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use strata_testkit::{
    binary::Binary,
    home::TestHome,
    store::{TestDatabase, TestStore},
};

use crate::strata;

/// A home whose memory lies on the server, with a session to distil.
fn with_a_session() -> Option<TestHome> {
    if !TestStore::Postgres.is_there() {
        return None;
    }
    let home = TestHome::on(TestStore::Postgres);
    let line =
        |n| json!({ "id": n, "session": "kiln", "text": format!("The kiln number {n} was fired with oak.") });
    let lines: String = (0..8).map(|n| format!("{}\n", line(n))).collect();
    let file = home.file("talk.jsonl", lines).display().to_string();
    strata(&home).run(["import", &file]).success();
    Some(home)
}

fn database(home: &TestHome) -> &TestDatabase {
    home.database().expect("on a server")
}

fn figure(home: &TestHome, query: &str) -> String {
    database(home).ask(query).pop().unwrap_or_default()
}

fn until(home: &TestHome, patience: Duration, query: &str) {
    let started = Instant::now();
    while figure(home, query) != "t" {
        assert!(started.elapsed() < patience, "never: {query}");
        thread::sleep(Duration::from_millis(20));
    }
}

const NO_LOCK_IS_LEFT: &str = "SELECT count(*) = 0 FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
     WHERE d.datname = current_database() AND l.locktype = 'advisory'";

const NOBODY_IS_CONNECTED: &str = "SELECT count(*) = 0 FROM pg_stat_activity \
     WHERE datname = current_database() AND usename = 'strata_test'";

/// Kills a process of upkeep that waits, with the tenant's lock and a lease in its hand, for a table that stays shut.
fn kill_at_work(home: &TestHome, arguments: &[&str]) {
    let table = "strata_ledger.memories";
    thread::scope(|scope| {
        scope.spawn(|| {
            database(home).administer(&format!(
                "BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE; SELECT pg_sleep(12); COMMIT"
            ));
        });
        until(
            home,
            Duration::from_secs(10),
            &format!(
                "SELECT count(*) > 0 FROM pg_locks WHERE relation = '{table}'::regclass AND mode = 'ExclusiveLock'"
            ),
        );
        let mut command = strata(home).command();
        let mut victim = command.args(arguments).stdout(Stdio::null()).spawn().expect("a process");
        until(
            home,
            Duration::from_secs(10),
            "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
             AND usename = 'strata_test' AND wait_event_type = 'Lock' AND wait_event = 'relation')",
        );
        victim.kill().expect("killed");
        victim.wait().expect("it ended");
        let killed = Instant::now();
        // Its sessions end although the table is still shut, and their locks with them.
        until(home, Duration::from_secs(8), NOBODY_IS_CONNECTED);
        until(home, Duration::from_secs(1), NO_LOCK_IS_LEFT);
        assert!(killed.elapsed() < Duration::from_secs(8), "{:?}", killed.elapsed());
    });
}

/// The task of upkeep as it stands in the ledger: state, and whether its lease is running.
fn jobs(home: &TestHome, kind: &str) -> Vec<String> {
    database(home).ask(&format!(
        "SELECT concat_ws(' ', state, coalesce(result, '')) FROM strata_ledger.jobs WHERE kind = '{kind}' ORDER BY created_at"
    ))
}

/// As if the time of a lease had passed.
fn let_leases_end(home: &TestHome) {
    database(home).administer(
        "UPDATE strata_ledger.jobs SET lease_until = lease_until - 61000000 WHERE state = 'running'",
    );
}

fn digests(home: &TestHome) -> String {
    figure(home, "SELECT count(*) FROM strata_ledger.memories WHERE source LIKE 'consolidation:%'")
}

fn task(binary: &Binary<'_>, name: &str) -> Value {
    binary.json(["maintain", "--task", name, "--force"])["tasks"][0].take()
}

#[test]
fn upkeep_that_was_killed_is_taken_over_when_its_lease_ends() {
    let Some(home) = with_a_session() else { return };
    let binary = strata(&home);
    kill_at_work(&home, &["maintain", "--task", "consolidate", "--force"]);
    assert_eq!(jobs(&home, "maintain:consolidate"), ["running "], "the lease is on record");
    assert_eq!(digests(&home), "0", "nothing half done");
    // Others are not kept from anything else meanwhile.
    binary.run(["remember", "the lintel is slate"]).success();
    let meanwhile = task(&binary, "consolidate");
    assert!(
        ["busy", "done"].iter().any(|status| meanwhile["status"] == *status),
        "it is held, or known to be nobody's: {meanwhile}"
    );
    let_leases_end(&home);
    if meanwhile["status"] == "busy" {
        let after = task(&binary, "consolidate");
        assert_eq!(after["status"], "done", "{after}");
    }
    let states = jobs(&home, "maintain:consolidate");
    assert!(states[0].starts_with("failed ") && states[1].starts_with("done "), "{states:?}");
    assert_eq!(digests(&home), "1", "distilled once");
    assert_eq!(task(&binary, "consolidate")["status"], "done");
    assert_eq!(digests(&home), "1", "and not again");
    assert_eq!(binary.json(["doctor", "--full"])["healthy"], true);
}

#[test]
fn a_worker_that_comes_back_after_its_lease_ended_is_told_and_changes_nothing() {
    let Some(home) = with_a_session() else { return };
    let binary = strata(&home);
    // It sleeps through its lease: it waits for a table while another takes its work over.
    thread::scope(|scope| {
        let shut = "BEGIN; LOCK TABLE strata_ledger.memories IN EXCLUSIVE MODE; SELECT pg_sleep(5); COMMIT";
        scope.spawn(|| database(&home).administer(shut));
        thread::sleep(Duration::from_millis(300));
        let sleeper = scope.spawn(|| strata(&home).run(["maintain", "--task", "consolidate", "--force"]));
        until(
            &home,
            Duration::from_secs(10),
            "SELECT EXISTS (SELECT 1 FROM strata_ledger.jobs WHERE kind = 'maintain:consolidate' AND state = 'running')",
        );
        let_leases_end(&home);
        database(&home).administer(
            "UPDATE strata_ledger.jobs SET state = 'failed', result = 'the worker stopped', lease_owner = NULL,
                    finished_at = created_at WHERE state = 'running' AND lease_until < created_at",
        );
        let output = sleeper.join().expect("it ends");
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    });
    let second = task(&binary, "consolidate");
    assert_eq!(second["status"], "done", "{second}");
    assert_eq!(digests(&home), "1", "distilled once, whoever did it");
    until(&home, Duration::from_secs(5), NO_LOCK_IS_LEFT);
    assert_eq!(binary.json(["doctor", "--full"])["healthy"], true);
}

/// How the latest jobs of a kind look to a user, newest first.
fn seen(home: &TestHome, kind: &str) -> Vec<String> {
    let listed = strata(home).json(["jobs", "list", "--kind", kind]);
    let jobs = listed["jobs"].as_array().expect("jobs").clone();
    jobs.iter().map(|job| job["state"].as_str().expect("a state").to_owned()).collect()
}

#[test]
fn an_import_that_was_killed_is_noticed_at_once_on_its_machine_and_elsewhere_after_its_lease() {
    let Some(home) = with_a_session() else { return };
    let line = |n| json!({ "id": n, "session": n / 50, "text": format!("turn {n} about the lock gate") });
    let lines: String = (0..20_000).map(|n| format!("{}\n", line(n))).collect();
    let file = home.file("gate.jsonl", lines).display().to_string();
    let mut command = strata(&home).command();
    let mut victim = command.args(["import", &file]).stdout(Stdio::null()).spawn().expect("a process");
    until(
        &home,
        Duration::from_secs(60),
        "SELECT EXISTS (SELECT 1 FROM strata_ledger.jobs WHERE kind = 'import' AND state = 'running' AND done > 0)",
    );
    victim.kill().expect("killed");
    victim.wait().expect("it ended");
    if !cfg!(target_os = "linux") {
        return;
    }
    assert_eq!(seen(&home, "import"), ["stalled", "done"]);
    assert_eq!(strata(&home).json(["govern", "drift"])["failures"]["stalled_jobs"], 1);
    // The next worker ends it on record, and the import goes on where it was.
    let few = home.file("few.jsonl", "{\"text\": \"the gate was oiled\"}\n").display().to_string();
    strata(&home).run(["import", &few]).success();
    assert_eq!(seen(&home, "import"), ["done", "failed", "done"]);
    assert!(jobs(&home, "import")[1].contains("the worker stopped"));

    // Nobody here can tell whether a process of another machine runs.
    database(&home).administer(
        "UPDATE strata_ledger.jobs SET state = 'running', result = NULL, finished_at = NULL,
                lease_owner = 'agent:x#1@00000000-0000-0000-0000-000000000000.1/1/1',
                lease_until = CAST(extract(epoch FROM now()) * 1000000 AS BIGINT) + 50000000
         WHERE state = 'failed'",
    );
    strata(&home).run(["import", &few]).success();
    assert_eq!(seen(&home, "import"), ["done", "done", "running", "done"]);
    strata(&home).run(["doctor", "--fix"]);
    assert_eq!(seen(&home, "import")[2], "running", "it has its lease");
    let_leases_end(&home);
    assert_eq!(seen(&home, "import")[2], "stalled");
    strata(&home).run(["doctor", "--fix"]);
    assert_eq!(seen(&home, "import")[2], "failed");
}
