//! How long a project with 10 000 chunks and 5 000 memories is searched and told what was learned.
//! `cargo test --profile fast -p strata-engine --test project figures:: -- --ignored --nocapture --test-threads=1` prints the
//! figures.

#![expect(clippy::print_stdout, reason = "the figures are the point")]

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use strata_core::{project::budget::tokens, scope::Scope};
use strata_engine::engine::Engine;

use super::retrieve::{Made, store};
use crate::{repository::Checkout, support::Session};

const THINGS: [&str; 24] = [
    "gateway",
    "lease",
    "queue",
    "worker",
    "cursor",
    "snapshot",
    "ledger",
    "replica",
    "invoice",
    "session",
    "token",
    "upload",
    "scheduler",
    "segment",
    "checkpoint",
    "router",
    "digest",
    "mailbox",
    "quota",
    "shard",
    "manifest",
    "beacon",
    "archive",
    "throttle",
];
const DOING: [&str; 16] = [
    "renews", "drains", "splits", "merges", "rejects", "retries", "rotates", "signs", "flushes", "parses",
    "locks", "indexes", "restores", "counts", "mirrors", "expires",
];
const KINDS: [&str; 7] =
    ["module", "decision", "constraint", "incident", "procedure", "architecture", "fact"];

/// A number that looks drawn, the same for the same seed.
fn drawn(seed: usize) -> usize {
    let mut x = (seed as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((x ^ (x >> 31)) >> 33).unwrap_or(0)
}

/// A sentence about three things, and a number that makes it one of its own.
fn sentence(seed: usize) -> String {
    let thing = |salt: usize| THINGS[drawn(seed * 31 + salt) % THINGS.len()];
    let doing = |salt: usize| DOING[drawn(seed * 17 + salt) % DOING.len()];
    format!(
        "The {} {} the {} before it {} the {} of unit {}.",
        thing(1),
        doing(2),
        thing(3),
        doing(4),
        thing(5),
        drawn(seed) % 900
    )
}

/// A source file of so many functions, each a chunk of its own.
fn source(file: usize, functions: usize) -> String {
    let mut text = format!("\"\"\"{}\"\"\"\n\n", sentence(file));
    for function in 0..functions {
        let seed = file * 1_000 + function;
        let (a, b) = (THINGS[drawn(seed) % 24], DOING[drawn(seed + 7) % 16]);
        let _ = write!(text, "def {b}_{a}_{function}(unit, limit):\n    \"\"\"{}\"\"\"\n", sentence(seed));
        for line in 0..14 {
            let thing = THINGS[drawn(seed * 41 + line) % 24];
            let _ = writeln!(
                text,
                "    {thing}_{line} = unit.{}(limit, \"{} {}\")  # {}",
                DOING[drawn(seed * 43 + line) % 16],
                THINGS[drawn(seed + line) % 24],
                drawn(seed * 3 + line) % 5_000,
                THINGS[drawn(seed * 5 + line) % 24],
            );
        }
        text.push_str("    return unit\n\n\n");
    }
    text
}

fn memories(session: &Session, count: usize) {
    let texts: Vec<(String, String)> = (0..count)
        .map(|at| (sentence(700_000 + at), format!("{} {}", sentence(800_000 + at), sentence(900_000 + at))))
        .collect();
    let modules: Vec<String> = (0..count).map(|at| format!("src.part{}", at % 40)).collect();
    let all: Vec<Made<'_>> = texts
        .iter()
        .enumerate()
        .map(|(at, (title, body))| Made {
            kind: KINDS[at % KINDS.len()],
            title,
            body,
            module: (at % 3 > 0).then(|| modules[at].as_str()),
            ..Made::default()
        })
        .collect();
    store(session, &all);
}

/// A project in a repository, with a real clock: whether a file may change once more is told by it.
fn project(checkout: &Checkout) -> Session {
    let mut session = Session::with_settings(|settings| {
        settings.project_root = Some(checkout.root().to_owned());
    });
    session.engine = Engine::new(session.engine.settings().clone());
    Session { scope: Scope::project("app"), ..session }
}

fn report(at: usize) -> Value {
    json!({
        "task": format!("Fix crash of the {} worker {at}", THINGS[at % 24]),
        "outcome": format!("{} {}", sentence(at * 7 + 3), sentence(at * 11 + 5)),
        "verification_status": "tests_passed",
        "changed_files": [format!("src/part{}/m{at}.py", at % 40)],
    })
}

/// Prints how long calls take.
fn figure(what: &str, calls: usize, call: &mut dyn FnMut(usize)) {
    call(usize::MAX / 2);
    let mut took: Vec<Duration> = (0..calls)
        .map(|at| {
            let begun = Instant::now();
            call(at);
            begun.elapsed()
        })
        .collect();
    took.sort();
    let [middle, high, most] =
        [took[calls / 2], took[calls * 95 / 100], took[calls - 1]].map(|took| took.as_secs_f64() * 1e3);
    println!("{what:<44} p50 {middle:7.2} ms, p95 {high:7.2} ms, most {most:7.2} ms");
}

#[test]
#[ignore = "figures: on their own with --profile fast"]
fn ten_thousand_chunks_and_five_thousand_memories() {
    let checkout = Checkout::begun();
    for file in 0..1_000 {
        checkout.write(&format!("src/part{}/m{file}.py", file % 40), &source(file, 10));
    }
    checkout.git(&["add", "-A"]);
    checkout.git(&["commit", "-q", "-m", "all"]);
    let session = project(&checkout);
    session.ok("refresh_project_knowledge", json!({}));
    memories(&session, 5_000);
    session.recall("gateway");
    let status = session.ok("memory_status", json!({}));
    println!("{} chunks, {} memories", status["knowledge_chunks"], status["active_memories"]);
    assert!(status["knowledge_chunks"].as_u64() >= Some(10_000) && status["active_memories"] == 5_000);
    let ask = |at: usize, more: Value| {
        let mut asked = json!({ "task": format!("How is it that {}", sentence(at % 3_000_000)) });
        asked.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let pack = session.ok("retrieve_agent_context", asked);
        assert!(
            pack["memory_results_count"].as_u64() > Some(0)
                && pack["knowledge_results_count"].as_u64() > Some(0)
        );
    };
    figure("retrieve, a sentence", 200, &mut |at| ask(at, json!({})));
    figure("retrieve, a sentence, a full trace", 100, &mut |at| ask(10_000 + at, json!({ "trace": "full" })));
    figure("retrieve, with files and symbols", 100, &mut |at| {
        let file = format!("src/part{}/m{}.py", at % 40, at % 1_000);
        ask(20_000 + at, json!({ "current_files": [file], "current_symbols": ["drains_queue_3"] }));
    });
    figure("retrieve, the same again", 100, &mut |_| ask(30_000, json!({})));
    figure("recall", 100, &mut |at| {
        session.ok("recall", json!({ "query": sentence(40_000 + at % 1_000) }));
    });
    figure("memory_status", 50, &mut |_| {
        session.ok("memory_status", json!({}));
    });
    figure("reflect", 60, &mut |at| {
        session.ok("reflect_and_write", report(at % 1_000_000));
    });
}

#[test]
fn memory_engine_c77_five_thousand_memories_are_searched_and_added_to() {
    let mut session = Session::new();
    session.scope = Scope::project("app");
    memories(&session, 5_000);
    let ask = |task: &str| session.ok("retrieve_agent_context", json!({ "task": task, "trace": "full" }));
    let pack = ask(&sentence(801_234));
    // How long it takes is a figure; what makes it short is that few of them are weighed, whatever their number.
    let weighed = pack["retrieval_trace"].as_array().expect("a trace").len();
    assert!((1..200).contains(&weighed), "{weighed} weighed");
    assert!(pack.to_string().contains(&sentence(801_234)), "{pack}");
    let usual = session.ok("retrieve_agent_context", json!({ "task": sentence(801_234) }));
    assert!(tokens(&usual.to_string()) <= 6_000);
    let reply = session.ok("reflect_and_write", report(3));
    assert_eq!(
        (&reply["outcome"], &reply["candidates_promoted"]),
        (&json!("persisted"), &json!(1)),
        "{reply}"
    );
    let task = report(3)["task"].as_str().expect("text").replacen("Fix ", "Fix: ", 1);
    assert_eq!(ask(report(3)["outcome"].as_str().expect("text"))["incidents"][0]["title"], task);
}
