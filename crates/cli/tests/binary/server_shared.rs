//! Several processes on one database of a server.

use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use strata_testkit::{
    binary::Binary,
    home::TestHome,
    mcp::{Era, McpScript, PATIENCE},
    store::{TestDatabase, TestStore},
};

use crate::strata;

const CLIENTS: usize = 8;
const WRITES: usize = 100;

/// A home whose memory lies on the server; nothing where there is none.
fn on_server() -> Option<TestHome> {
    TestStore::Postgres.is_there().then(|| TestHome::on(TestStore::Postgres))
}

fn database(home: &TestHome) -> &TestDatabase {
    home.database().expect("on a server")
}

/// What the only row of a query says.
fn figure(home: &TestHome, query: &str) -> String {
    database(home).ask(query).pop().expect("a row")
}

/// Waits until a query of the administrator says yes.
fn until(home: &TestHome, query: &str) {
    let started = Instant::now();
    while figure(home, query) != "t" {
        assert!(started.elapsed() < PATIENCE, "never: {query}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn assert_content(binary: &Binary<'_>) {
    let report = binary.json(["doctor", "--full"]);
    assert_eq!(report["healthy"], true, "{report:#}");
}

/// Somebody who lets no row of a table be changed until [`release`], or for a minute.
fn hold<'s>(scope: &'s thread::Scope<'s, '_>, home: &'s TestHome, table: &str) {
    database(home).administer("CREATE TABLE public.released (n INTEGER)");
    let statements = format!(
        "BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE;
         DO $$ BEGIN FOR n IN 1..1200 LOOP
             EXIT WHEN EXISTS (SELECT 1 FROM public.released);
             PERFORM pg_sleep(0.05);
         END LOOP; END $$;
         COMMIT"
    );
    scope.spawn(move || database(home).administer(&statements));
    until(
        home,
        &format!(
            "SELECT count(*) > 0 FROM pg_locks
             WHERE relation = '{table}'::regclass AND mode = 'ExclusiveLock' AND granted"
        ),
    );
}

fn release(home: &TestHome) {
    database(home).administer("INSERT INTO public.released VALUES (1)");
}

/// Whether one of our sessions has an advisory lock while one waits for a table.
const WORKS_UNDER_A_LOCK: &str = "SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
     WHERE a.datname = current_database() AND a.usename = 'strata_test' AND l.locktype = 'advisory' AND l.granted) \
     AND EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND usename = 'strata_test' \
     AND wait_event_type = 'Lock' AND wait_event = 'relation')";

/// Whether no advisory lock is held in the database.
const NO_LOCK_IS_LEFT: &str = "SELECT count(*) = 0 FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
     WHERE d.datname = current_database() AND l.locktype = 'advisory'";

#[test]
fn what_one_process_stores_the_other_recalls_at_once() {
    let Some(home) = on_server() else { return };
    let elsewhere = strata(&home).with("STRATA_HOME", &home.outside().join("other").display().to_string());
    let mut one = McpScript::start(&strata(&home), Era::Handshake, &[]);
    let mut two = McpScript::start(&elsewhere, Era::Stateless, &[]);
    for n in 0..10 {
        let (writer, reader) = if n % 2 == 0 { (&mut one, &mut two) } else { (&mut two, &mut one) };
        let stored =
            writer.call("remember", &json!({ "text": format!("Kiln number {n} was fired with oak.") }));
        assert!(!stored.is_error, "{}", stored.text);
        let found = reader.call("recall", &json!({ "query": format!("kiln number {n}"), "limit": 20 }));
        assert!(found.text.contains(&format!("Kiln number {n} was fired")), "{n}: {}", found.text);
    }
    assert!(one.finish().status.success() && two.finish().status.success());
    assert_content(&strata(&home));
}

#[test]
fn eight_clients_write_a_hundred_each_and_every_number_is_given_once() {
    let Some(home) = on_server() else { return };
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let home = &home;
            scope.spawn(move || {
                let mut script = McpScript::start(&strata(home), Era::ALL[client % 2], &[]);
                for n in 0..WRITES {
                    let device = client * 1000 + n;
                    let text = format!("Client {client} found that device {device} answers on channel {n}.");
                    let answer = script.call("remember", &json!({ "text": text }));
                    assert!(!answer.is_error, "{}", answer.text);
                }
                assert!(script.finish().status.success());
            });
        }
    });
    let all = (CLIENTS * WRITES).to_string();
    let of_memories = "SELECT concat_ws(' ', count(*), count(DISTINCT number), count(DISTINCT id), max(number)) \
                       FROM strata_ledger.memories";
    assert_eq!(figure(&home, of_memories), format!("{all} {all} {all} {all}"));
    let gaps = "SELECT count(*) FROM (SELECT seq, row_number() OVER (ORDER BY seq) AS place FROM strata_ledger.audit) s \
                WHERE seq <> place";
    assert_eq!(figure(&home, gaps), "0");
    let backwards = "SELECT count(*) FROM (SELECT seq, lag(number) OVER (ORDER BY seq) AS before, number FROM \
                     (SELECT a.seq, m.number FROM strata_ledger.audit a JOIN strata_ledger.memories m \
                     ON m.tenant = a.tenant AND m.id = a.target) j) s WHERE number < before";
    assert_eq!(figure(&home, backwards), "0", "numbers follow the order of the record");
    assert_content(&strata(&home));
}

#[test]
fn a_client_killed_with_the_write_lock_in_its_hand_stops_nobody() {
    let Some(home) = on_server() else { return };
    let mut other = McpScript::start(&strata(&home), Era::Handshake, &[]);
    assert!(!other.call("remember", &json!({ "text": "the anchor stone is granite" })).is_error);
    thread::scope(|scope| {
        hold(scope, &home, "strata_ledger.memories");
        let mut victim = McpScript::start(&strata(&home), Era::Stateless, &[]);
        victim.begin("tools/call", json!({ "name": "remember", "arguments": { "text": "said to nobody" } }));
        until(&home, WORKS_UNDER_A_LOCK);
        drop(victim);
        release(&home);
        let after = other.call("remember", &json!({ "text": "the lintel is slate" }));
        assert!(!after.is_error, "{}", after.text);
    });
    until(&home, NO_LOCK_IS_LEFT);
    let found = other.call("recall", &json!({ "query": "anchor stone lintel" }));
    assert!(found.text.contains("granite") && found.text.contains("slate"), "{}", found.text);
    assert_eq!(
        figure(&home, "SELECT count(*) FROM strata_ledger.memories WHERE body = 'said to nobody'"),
        "0"
    );
    assert_content(&strata(&home));
}

#[test]
fn a_client_killed_while_it_indexes_leaves_the_work_to_the_next() {
    let Some(home) = on_server() else { return };
    let lines = (0..3000).map(|n| {
        format!(
            "{}\n",
            json!({ "id": n, "session": n / 50, "text": format!("turn {n} of the talk about kilns") })
        )
    });
    let file = home.file("talk.jsonl", lines.collect::<String>());
    let binary = strata(&home);
    binary.run(["import", file.to_str().expect("a plain path")]).success();
    let index = figure(
        &home,
        "SELECT format('%I.commits', nspname) FROM pg_namespace WHERE nspname LIKE 'strata\\_index%'",
    );
    thread::scope(|scope| {
        hold(scope, &home, &index);
        let mut victim = binary.command().arg("reindex").spawn().expect("a process");
        until(&home, WORKS_UNDER_A_LOCK);
        victim.kill().expect("killed");
        victim.wait().expect("it ended");
        release(&home);
    });
    binary.run(["reindex"]).success();
    until(&home, NO_LOCK_IS_LEFT);
    let found = binary.run(["recall", "turn 2999 kilns"]).success();
    assert!(found.stdout.contains("turn 2999"), "{}", found.stdout);
    assert_content(&binary);
}

#[test]
fn servers_killed_at_many_moments_lose_nothing_that_they_acknowledged() {
    let Some(home) = on_server() else { return };
    let binary = strata(&home);
    let mut acknowledged = BTreeSet::new();
    let mut other = McpScript::start(&binary, Era::Handshake, &[]);
    for round in 0..12_u64 {
        let mut victim = McpScript::start(&binary, Era::Stateless, &[]);
        for n in 0..round % 4 {
            let text = format!("Round {round} has step {n} acknowledged.");
            assert!(!victim.call("remember", &json!({ "text": text })).is_error);
            acknowledged.insert(text);
        }
        let text = format!("Round {round} ends in the middle.");
        victim.begin("tools/call", json!({ "name": "remember", "arguments": { "text": text } }));
        thread::sleep(Duration::from_millis(round * 4));
        drop(victim);
        let text = format!("Round {round} is seen by another.");
        let answer = other.call("remember", &json!({ "text": text }));
        assert!(!answer.is_error, "{}", answer.text);
        acknowledged.insert(text);
    }
    let held: BTreeSet<String> =
        database(&home).ask("SELECT body FROM strata_ledger.memories").into_iter().collect();
    assert!(acknowledged.is_subset(&held), "{:?}", acknowledged.difference(&held));
    assert!(held.len() <= acknowledged.len() + 12, "at most one more per kill");
    until(&home, NO_LOCK_IS_LEFT);
    assert_content(&binary);
}

/// The output of a command without what differs between any two homes: ids, times and where the store is.
fn masked(output: &str) -> Vec<String> {
    let mut ids = Vec::new();
    let mut words = |line: &str| {
        let mut out = String::new();
        for word in line.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            if bare.len() == 14
                && (bare.starts_with("mem_") || bare.starts_with("snp_") || bare.starts_with("rev_"))
            {
                let at = ids.iter().position(|id| id == bare).unwrap_or_else(|| {
                    ids.push(bare.to_owned());
                    ids.len() - 1
                });
                out.push_str(&format!("{}{at}{}", &bare[..4], &word[bare.len()..]));
            } else {
                out.push_str(word);
            }
        }
        out
    };
    let timeless = |line: &str| {
        let words = line.split_whitespace().map(|word| if is_time(word) { "TIME" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let settled = without_lag(output);
    settled.lines().map(|line| words(&timeless(line))).collect()
}

/// `output` without the notice that an index lags behind its ledger: how far it does is a matter of the
/// machine's speed, and what is found must be the same with it or without.
fn without_lag(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let lag = |line: &&str| line.contains("changes not indexed yet");
    let kept = lines.iter().enumerate().filter(|(at, line)| {
        let before_lag = line.is_empty() && lines.get(at + 1).is_some_and(lag);
        !lag(line) && !before_lag
    });
    kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
}

/// A time of day, or how long something took.
fn is_time(word: &str) -> bool {
    let digit = |at: usize| word.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    digit(0) && (word.as_bytes().get(2) == Some(&b':') || (word.contains('T') && word.ends_with('Z')))
}

/// Runs what p-layer's checks 12 to 28, 32, 34, 35, 47 and 51 to 55 are about.
fn story(binary: &Binary<'_>) -> Vec<(String, i32, Vec<String>)> {
    let mut told = Vec::new();
    let mut run = |arguments: &[&str]| {
        let output = binary.run(arguments);
        told.push((arguments.join(" "), output.code, masked(&format!("{}{}", output.stdout, output.stderr))));
        output.stdout
    };
    let id_in = |text: &str| {
        let at = text.find("mem_").expect("an id in the reply");
        text[at..at + 14].to_owned()
    };
    let mill = id_in(&run(&["remember", "The mill stands by the river Aar"]));
    run(&["remember", "The mill stands by the river Aar"]);
    run(&["remember", "password: hunter2-hunter2-hunter2"]);
    run(&["remember", "Obey me", "--layer", "P0"]);
    run(&["remember", "Nothing", "--layer", "P9"]);
    let kiln = id_in(&run(&["remember", "가마는 밤새 식는다", "--kind", "observation"]));
    let newer = id_in(&run(&["remember", "The mill was moved to the lake", "--supersedes", &mill]));
    run(&["update", &kiln, "가마는 이틀 동안 식는다"]);
    for id in [&mill, &newer, &kiln] {
        run(&["inspect", id]);
        run(&["govern", "chain", id]);
    }
    run(&["recall", "mill"]);
    run(&["recall", "가마"]);
    run(&["recall", "nothing of the sort", "--limit", "1"]);
    run(&["snapshot", "create", "before"]);
    run(&["forget", &kiln]);
    run(&["recall", "가마"]);
    run(&["forget", "mem_0000000000"]);
    run(&["snapshot", "list"]);
    run(&["govern", "stats"]);
    run(&["govern", "contradictions"]);
    run(&["graph", "entities"]);
    run(&["review", "list"]);
    told
}

#[test]
fn p_layer_c65_the_same_commands_say_the_same_on_a_server() {
    let Some(on_server) = on_server() else { return };
    let in_file = TestHome::on(TestStore::Sqlite);
    let (told, expected) = (story(&strata(&on_server)), story(&strata(&in_file)));
    for ((command, code, lines), (_, as_in_file, expected)) in told.iter().zip(&expected) {
        assert_eq!(code, as_in_file, "{command}: {lines:#?}");
        assert_eq!(lines, expected, "{command}");
    }
    assert!(expected.iter().filter(|(_, code, _)| *code == 0).count() > 12, "most succeed: {expected:#?}");
    // The upkeep works, or says aloud that it does not.
    for upkeep in [&["backup", "create"][..], &["reindex"], &["doctor"], &["maintain"], &["jobs", "list"]] {
        let output = strata(&on_server).run(upkeep);
        assert!(output.code == 0 || !output.stderr.trim().is_empty(), "{upkeep:?}: silent");
        let there = strata(&in_file).run(upkeep);
        assert_eq!(output.code, there.code, "{upkeep:?}: {}{}", output.stdout, output.stderr);
    }
}

#[test]
fn p_layer_c66_without_pgvector_the_store_opens_and_is_searched() {
    let Some(home) = on_server() else { return };
    assert_eq!(figure(&home, "SELECT count(*) FROM pg_extension WHERE extname = 'vector'"), "0");
    let binary = strata(&home);
    binary.run(["init"]).success();
    binary.run(["remember", "the mill stands by the river"]).success();
    assert!(binary.run(["recall", "mill"]).success().stdout.contains("by the river"));
    let status: Value = binary.json(["status"]);
    assert_eq!(status["semantic"], "on", "vectors are our own and need no extension: {status:#}");
    let stats = binary.json(["govern", "stats"]);
    let told = (&stats["backend"], &stats["semantic_available"]);
    assert_eq!(told, (&Value::from("postgresql"), &Value::from(true)), "docs/adr/0021: {stats:#}");
    assert_content(&binary);
    home.file("home/config.toml", "[semantic]\nmodel = \"off\"\n");
    assert!(binary.run(["recall", "mill"]).success().stdout.contains("by the river"), "words alone");
    let semantic = binary.json(["status"])["semantic"].take();
    assert!(semantic.as_str().is_some_and(|s| s.starts_with("off")), "{semantic}");
    assert_eq!(binary.json(["govern", "stats"])["semantic_available"], false);
}
