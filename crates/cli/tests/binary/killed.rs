//! SIGKILL at random moments: what was acknowledged is there word for word, nothing is half there, `doctor` is
//! content and the next start works.
//!
//! `STRATA_TEST_KILLS` sets the rounds of each test (without it they come to 39 together), and
//! `STRATA_TEST_SEED` the moments.

#![expect(clippy::print_stdout, reason = "a run that fails is repeated with the seed that it printed")]
#![expect(clippy::panic, reason = "an answer without an id is a failed test")]

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{Sender, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use strata_testkit::{binary::Binary, home::TestHome, store::TestStore};

use crate::strata;

/// Longer than anything takes; only a hang is slower.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a command ends that needs a ledger and finds none.
const NOT_BEGUN: i32 = 7;

/// An id and its text.
type Texts = BTreeMap<String, String>;

fn rounds(usual: u64) -> u64 {
    std::env::var("STRATA_TEST_KILLS")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or_else(|| TestStore::times(usual, usual.div_ceil(3)))
}

/// Random moments (SplitMix64), the same for the same seed.
struct Moments(u64);

impl Moments {
    fn new(test: u64) -> Self {
        let chosen = std::env::var("STRATA_TEST_SEED").ok().and_then(|v| v.parse().ok());
        let now = || std::time::UNIX_EPOCH.elapsed().map_or(0, |t| u64::from(t.subsec_nanos()));
        let seed = chosen.unwrap_or_else(now);
        println!("STRATA_TEST_SEED={seed}");
        Self(seed ^ (test << 40))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A moment within some time.
    fn within(&mut self, from: Duration, to: Duration) -> Duration {
        let span = u64::try_from(to.saturating_sub(from).as_micros()).expect("a short time");
        from + Duration::from_micros(self.next() % span.max(1))
    }

    /// A text that says nothing of any other: no near-duplicate of it, and long enough to be cut short.
    fn text(&mut self) -> String {
        const SYLLABLES: [&str; 16] =
            ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za"];
        let mut word = || -> String {
            let bits = self.next();
            (0..4).map(|at| SYLLABLES[usize::try_from(bits >> (at * 4) & 15).expect("small")]).collect()
        };
        let words: Vec<String> = (0..40).map(|_| word()).collect();
        format!("{} 设备编号 {}", words[..10].join(" "), words[10..].join(" "))
    }
}

/// Runs a command until its end, or until it is killed; its exit code when it came to its end.
fn kill_after(mut command: Command, after: Duration) -> Option<i32> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("a process");
    let started = Instant::now();
    while started.elapsed() < after {
        if let Some(status) = child.try_wait().expect("waitable") {
            return status.code();
        }
        thread::sleep(Duration::from_micros(500));
    }
    child.kill().expect("killed");
    child.wait().expect("it ended").code()
}

/// What the home holds, by id: memories and events with their texts; nothing when it was killed before it made
/// its ledger.
fn held(binary: &Binary<'_>) -> Texts {
    let file = binary.home().outside().join("held.jsonl");
    let output = binary.run(["export", file.to_str().expect("a plain path")]);
    if output.code == NOT_BEGUN {
        return Texts::new();
    }
    output.success();
    let lines = std::fs::read_to_string(&file).expect("an export");
    std::fs::remove_file(&file).expect("removed");
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let texts = lines.filter(|line| line["type"] == "memory" || line["type"] == "episode");
    texts
        .map(|line| {
            assert!(line["type"] == "episode" || !line["states"].as_array().expect("states").is_empty());
            let word = |name: &str| line[name].as_str().expect("a text").to_owned();
            (word("id"), word("text"))
        })
        .collect()
}

/// No check of `doctor` fails. Returns what it found.
fn assert_content(binary: &Binary<'_>) -> Value {
    let output = binary.run(["doctor", "--full", "--json"]);
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(report["healthy"], true, "{report:#}");
    assert_eq!(output.code == 0, report["initialized"] == true, "{}: {report:#}", output.code);
    report
}

/// A client that sends memories one after the other until its server is gone; the ids that were acknowledged,
/// with their texts. Each is told when it comes.
fn write_until_killed(
    input: &mut ChildStdin,
    output: ChildStdout,
    texts: &[String],
    told: &Sender<()>,
) -> Texts {
    let mut lines = BufReader::new(output).lines();
    let mut acknowledged = Texts::new();
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "writer", "version": "1" } } });
    let started = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    if writeln!(input, "{hello}\n{started}").is_err() || lines.next().is_none() {
        return acknowledged;
    }
    for (n, text) in texts.iter().enumerate() {
        let call = json!({ "jsonrpc": "2.0", "id": n + 1, "method": "tools/call",
            "params": { "name": "remember", "arguments": { "text": text } } });
        if writeln!(input, "{call}").is_err() {
            break;
        }
        // A line that the end of the server cuts short acknowledges nothing.
        let Some(Ok(line)) = lines.next() else { break };
        let Ok(answer) = serde_json::from_str::<Value>(&line) else { break };
        let answer = answer["result"]["content"][0]["text"].as_str().expect("an answer").to_owned();
        let (_, id) = answer.split_once("mem_").unwrap_or_else(|| panic!("an id in {answer}"));
        acknowledged.insert(format!("mem_{}", &id[..10]), text.clone());
        if told.send(()).is_err() {
            break;
        }
    }
    acknowledged
}

/// Acknowledged writes with which a loss would show.
const ENOUGH: usize = 20;

#[test]
fn a_server_killed_at_any_moment_keeps_every_id_it_acknowledged() {
    let home = TestHome::new();
    let binary = strata(&home);
    let mut moments = Moments::new(1);
    let (mut acknowledged, mut sent) = (Texts::new(), BTreeSet::new());
    let rounds = rounds(10);
    let mut round = 0;
    // On a slow machine a server may be killed before it answers anything.
    while round < rounds || (acknowledged.len() <= ENOUGH && round < 8 * rounds) {
        let texts: Vec<String> = (0..400).map(|_| moments.text()).collect();
        sent.extend(texts.iter().cloned());
        let mut server = binary
            .command()
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        let mut input = server.stdin.take().expect("piped");
        let output = server.stdout.take().expect("piped");
        let new = thread::scope(|scope| {
            let (told, heard) = channel();
            let (input, texts) = (&mut input, &texts);
            let client = scope.spawn(move || write_until_killed(input, output, texts, &told));
            if round % 2 == 0 {
                thread::sleep(moments.within(Duration::from_millis(20), Duration::from_millis(600)));
            } else {
                // Amid its work, however slow the machine is.
                let answers = 4 + moments.next() % 12;
                let came = (0..answers).take_while(|_| heard.recv_timeout(PATIENCE).is_ok()).count();
                assert!(came > 0, "round {round}: it answers");
                thread::sleep(moments.within(Duration::ZERO, Duration::from_millis(20)));
            }
            server.kill().expect("killed");
            client.join().expect("the client ends with the server")
        });
        server.wait().expect("it ended");
        acknowledged.extend(new);
        let held = held(&binary);
        for (id, text) in &acknowledged {
            assert_eq!(held.get(id), Some(text), "round {round}");
        }
        assert!(held.values().all(|text| sent.contains(text)), "round {round}: something is half there");
        assert!(held.len() - acknowledged.len() <= usize::try_from(round + 1).expect("few"), "one per kill");
        assert_content(&binary);
        round += 1;
    }
    println!("{} acknowledged in {round} rounds", acknowledged.len());
    assert!(acknowledged.len() > ENOUGH, "enough was written to lose something");
    for (id, text) in &acknowledged {
        if id.ends_with(|c: char| c.is_ascii_digit()) {
            assert_eq!(binary.json(["inspect", id])["text"], text.as_str());
        }
    }
}

#[test]
fn an_import_killed_at_any_moment_keeps_what_it_reported_and_completes_later() {
    let home = TestHome::new();
    let binary = strata(&home);
    let mut moments = Moments::new(2);
    let (mut acknowledged, mut sent) = (BTreeSet::new(), BTreeSet::new());
    let mut usual = Duration::from_millis(300);
    for round in 0..rounds(7) {
        let texts: BTreeSet<String> = (0..600).map(|_| moments.text()).collect();
        let turns = texts.iter().enumerate().map(|(n, text)| {
            format!("{}\n", json!({ "id": n, "session": n / 50, "speaker": "Ann", "text": text }))
        });
        let file = home.file("talk.jsonl", turns.collect::<String>());
        let arguments = ["import", file.to_str().expect("plain"), "--source", &format!("round {round}")];
        let command = || {
            let mut command = binary.command();
            command.args(arguments);
            command
        };
        sent.extend(texts.iter().cloned());
        let after = moments.within(Duration::ZERO, usual);
        if kill_after(command(), after) == Some(0) {
            acknowledged.extend(texts.iter().cloned());
        }
        let held_now: BTreeSet<String> = held(&binary).into_values().collect();
        assert!(acknowledged.is_subset(&held_now), "round {round}: something that was reported is gone");
        assert!(held_now.is_subset(&sent), "round {round}: something is half there");
        assert_content(&binary);
        let begun = Instant::now();
        assert_eq!(kill_after(command(), PATIENCE), Some(0), "round {round}: the next start works");
        usual = begun.elapsed().max(usual);
        acknowledged.extend(texts);
        assert_eq!(held(&binary).len(), acknowledged.len(), "round {round}: each once");
    }
    assert_content(&binary);
}

#[test]
#[ignore = "needs Python for a terminal: run by cargo xtask test"]
fn a_purge_killed_at_any_moment_is_completed_or_reported() {
    let home = TestHome::new();
    let person = Person::of(&home);
    let binary = strata(&home);
    let mut moments = Moments::new(3);
    for _ in 0..30 {
        binary.run(["remember", &moments.text()]).success();
    }
    let mut seen = [0; 3];
    for round in 0..rounds(12) {
        let text = moments.text();
        let id = binary.json(["remember", &text])["id"].as_str().expect("an id").to_owned();
        binary.run(["recall", &text[..60]]).success();
        if round % 2 == 1 {
            binary.run(["backup", "create"]).success();
        }
        let purge = ["purge", &id, "--backups"];
        let after = moments.within(person.patience / 3, person.patience);
        let ended = kill_after(person.command(&purge), after);
        let report = assert_content(&binary);
        let reported = report["findings"].as_array().expect("findings").iter().any(|f| {
            f["check"] == "purges"
                && f["status"] == "warn"
                && f["detail"].as_str().is_some_and(|d| d.contains(&id))
        });
        match held(&binary).get(&id) {
            Some(kept) => assert_eq!(*kept, text, "round {round}: not happened is whole"),
            None => assert!(
                reported || holding(home.path(), &text).is_empty(),
                "round {round}: gone, not reported, and still in {:?}",
                holding(home.path(), &text)
            ),
        }
        seen[if reported { 1 } else { usize::from(ended == Some(0)) * 2 }] += 1;
        if reported && round % 4 < 2 {
            binary.run(["doctor", "--fix"]).success();
        } else {
            assert_eq!(kill_after(person.command(&purge), PATIENCE), Some(0), "round {round}");
        }
        assert_eq!(holding(home.path(), &text), Vec::<PathBuf>::new(), "round {round}");
        let report = assert_content(&binary);
        assert!(!report.to_string().contains(&id), "nothing is left to do: {report:#}");
        let backups = binary.json(["backup", "list", "--verify"]);
        let whole = backups["backups"].as_array().expect("backups").iter().all(|b| b["whole"] == true);
        assert!(whole, "round {round}: {backups:#}");
    }
    println!("before it, within it, after it: {seen:?}");
}

#[test]
fn a_load_killed_at_any_moment_has_happened_or_has_not() {
    let source = TestHome::new();
    let mut moments = Moments::new(4);
    let turns: String = (0..600)
        .map(|n| format!("{}\n", json!({ "id": n, "session": n / 50, "text": moments.text() })))
        .collect();
    let talk = source.file("talk.jsonl", turns);
    strata(&source).run(["import", talk.to_str().expect("plain")]).success();
    for _ in 0..20 {
        strata(&source).run(["remember", &moments.text()]).success();
    }
    let whole = held(&strata(&source));
    let export = source.outside().join("all.jsonl");
    strata(&source).run(["export", export.to_str().expect("plain")]).success();
    let mut usual = Duration::from_millis(400);
    for round in 0..rounds(5) {
        let home = TestHome::new();
        let binary = strata(&home);
        let mut expected = whole.clone();
        if round % 2 == 1 {
            let text = moments.text();
            let id = binary.json(["remember", &text])["id"].as_str().expect("an id").to_owned();
            expected.insert(id, text);
        }
        let load = || {
            let mut command = binary.command();
            command.arg("load").arg(&export);
            command
        };
        kill_after(load(), moments.within(Duration::ZERO, usual));
        let found = held(&binary);
        let before = expected.len() - whole.len();
        assert!(found == expected || found.len() == before, "round {round}: {} are there", found.len());
        assert_content(&binary);
        let begun = Instant::now();
        assert_eq!(kill_after(load(), PATIENCE), Some(0), "round {round}: the next start works");
        usual = begun.elapsed().max(usual);
        assert_eq!(held(&binary), expected, "round {round}");
        assert_content(&binary);
    }
}

#[test]
#[ignore = "needs Python for a terminal: run by cargo xtask test"]
fn a_restore_killed_at_any_moment_leaves_one_of_the_two() {
    let home = TestHome::new();
    let person = Person::of(&home);
    let binary = strata(&home);
    let mut moments = Moments::new(5);
    for _ in 0..20 {
        binary.run(["remember", &moments.text()]).success();
    }
    let earlier = held(&binary);
    let backup = binary.json(["backup", "create"])["id"].as_str().expect("an id").to_owned();
    for round in 0..rounds(5) {
        for _ in 0..3 {
            binary.run(["remember", &moments.text()]).success();
        }
        let later = held(&binary);
        let restore = ["backup", "restore", &backup, "--force"];
        kill_after(person.command(&restore), moments.within(person.patience / 3, person.patience));
        let found = held(&binary);
        assert!(found == earlier || found == later, "round {round}: {} are there", found.len());
        assert_content(&binary);
        assert_eq!(kill_after(person.command(&restore), PATIENCE), Some(0), "round {round}");
        assert_eq!(held(&binary), earlier, "round {round}");
        let text = &earlier.first_key_value().expect("one").1[..60];
        assert!(binary.run(["recall", text]).success().stdout.contains(text), "round {round}");
        assert_content(&binary);
    }
}

/// A person with a passphrase, at a terminal.
struct Person<'h> {
    home: &'h TestHome,
    passphrase: PathBuf,
    /// How long something takes that needs the passphrase.
    patience: Duration,
}

impl<'h> Person<'h> {
    /// Sets the passphrase up.
    fn of(home: &'h TestHome) -> Self {
        let passphrase = home.file("passphrase", "correct horse 电池\n");
        let mut person = Self { home, passphrase, patience: Duration::ZERO };
        assert_eq!(kill_after(person.command(&["init"]), PATIENCE), Some(0));
        let begun = Instant::now();
        let id =
            strata(home).json(["remember", "measured by its end"])["id"].as_str().expect("an id").to_owned();
        assert_eq!(kill_after(person.command(&["purge", &id]), PATIENCE), Some(0));
        person.patience = begun.elapsed();
        person
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let tools = std::env::var_os("STRATA_TEST_TOOLS").expect("STRATA_TEST_TOOLS: run `cargo xtask test`");
        let binary = strata(self.home);
        let surroundings = binary.command();
        let mut command = Command::new(Path::new(&tools).join("python/bin/python"));
        command.env_clear().env("USER", "kim").current_dir(self.home.outside());
        for (name, value) in surroundings.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        let seat = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/binary/clients/person.py");
        command.arg(seat).arg(binary.path()).args(["--quiet", "--passphrase-file"]).arg(&self.passphrase);
        command.args(arguments);
        command
    }
}

/// Files below a directory that hold a stretch from the middle of the text.
fn holding(directory: &Path, text: &str) -> Vec<PathBuf> {
    let piece = &text.as_bytes()[100..160];
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if std::fs::read(&path).expect("a file").windows(piece.len()).any(|w| w == piece) {
            found.push(path);
        }
    }
    found
}
