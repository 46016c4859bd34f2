//! Times a scan for contradictions over made-up memories with planted contradictions, and counts what is found; then
//! over memories that all give one thing another value. Both are filed, too, while a neighbour writes.
//!
//! `cargo run --profile fast -p strata-engine --example contradictions_bench -- 10000`, and with `STRATA_TEST_STORE=postgres`
//! and `STRATA_TEST_POSTGRES=ADDRESS` the same on a server.

#![allow(clippy::print_stdout, reason = "the figures are the point")]

use std::{
    collections::HashSet,
    error::Error,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use strata_core::{
    cancel::Cancel,
    duplicate,
    id::{Id, IdKind},
    principal::{Face, Principal, PrincipalKind},
    scope::Scope,
    time::Timestamp,
};
use strata_engine::{
    contradictions::{Contradictions, Request, scan::scan},
    engine::Engine,
    operation::{Call, Operation},
};
use strata_store::{
    ledger::{NewAudit, NewMemory},
    sql::Control,
};
use strata_testkit::home::TestHome;

const PLACES: [&str; 40] = [
    "amber", "basalt", "cedar", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "jasper", "kelp",
    "lotus", "maple", "nectar", "onyx", "pepper", "quartz", "raven", "saffron", "timber", "umber", "violet",
    "willow", "yarrow", "zephyr", "acorn", "birch", "coral", "dune", "elm", "fern", "grove", "heath", "iris",
    "juniper", "lagoon", "meadow", "nutmeg", "orchid", "pine",
];
const THINGS: [&str; 25] = [
    "gateway",
    "scheduler",
    "importer",
    "billing service",
    "search index",
    "mailer",
    "renderer",
    "uploader",
    "indexer",
    "notifier",
    "proxy",
    "exporter",
    "crawler",
    "archiver",
    "dashboard",
    "ledger",
    "translator",
    "resizer",
    "validator",
    "tokenizer",
    "planner",
    "router",
    "recorder",
    "sampler",
    "balancer",
];

/// One aspect of a component, said in two ways about a value of its own.
type Aspect = (fn(&str, u64) -> String, fn(&str, u64) -> String);

const ASPECTS: [Aspect; 10] = [
    (
        |s, n| format!("The {s} listens on port {}.", 1024 + n),
        |s, n| format!("Port of the {s}: {}", 1024 + n),
    ),
    (
        |s, n| format!("Requests to the {s} time out after {} seconds.", 1 + n % 300),
        |s, n| format!("After {} seconds requests to the {s} time out.", 1 + n % 300),
    ),
    (
        |s, n| format!("The {s} keeps at most {} connections open.", 1 + n % 500),
        |s, n| format!("At most {} connections are kept open by the {s}.", 1 + n % 500),
    ),
    (
        |s, n| format!("The {s} is built with toolchain 1.{}.{}.", 40 + n % 50, n % 7),
        |s, n| format!("Toolchain 1.{}.{} builds the {s}.", 40 + n % 50, n % 7),
    ),
    (
        |s, n| format!("Caching in the {s} is {}.", if n % 2 == 0 { "enabled" } else { "disabled" }),
        |s, n| format!("Caching is {} in the {s}.", if n % 2 == 0 { "enabled" } else { "disabled" }),
    ),
    (
        |s, n| format!("The {s} {} retry failed writes.", if n % 2 == 0 { "must" } else { "must not" }),
        |s, n| {
            format!("Failed writes {} be retried by the {s}.", if n % 2 == 0 { "must" } else { "must not" })
        },
    ),
    (
        |s, n| format!("The certificate of the {s} expires on 2027-{:02}-{:02}.", 1 + n % 12, 1 + n % 28),
        |s, n| format!("Certificate of the {s}: expires 2027-{:02}-{:02}.", 1 + n % 12, 1 + n % 28),
    ),
    (
        |s, n| format!("{}服务{s}的日志保留{}天。", "内部", 1 + n % 400),
        |s, n| format!("内部服务{s}日志保留{}天。", 1 + n % 400),
    ),
    (
        |s, n| format!("{s} 대기열의 최대 크기는 {}개이다.", 10 + n % 4000),
        |s, n| format!("{s} 대기열은 최대 크기가 {}개이다.", 10 + n % 4000),
    ),
    (
        |s, n| format!("The {s} {} logs request bodies.", if n % 2 == 0 { "always" } else { "never" }),
        |s, n| {
            format!("Request bodies are {} logged by the {s}.", if n % 2 == 0 { "always" } else { "never" })
        },
    ),
];

struct Planted {
    texts: Vec<String>,
    /// Positions of the two that oppose each other.
    pairs: HashSet<(usize, usize)>,
}

/// As many different statements as wanted, one of thirty said again with another value at some distance.
fn corpus(wanted: usize) -> Planted {
    let subjects = PLACES.len() * THINGS.len();
    let mut planted = Planted { texts: Vec::new(), pairs: HashSet::new() };
    let mut waiting: Vec<(usize, String)> = Vec::new();
    let mut serial = 0_usize;
    while planted.texts.len() < wanted {
        let (subject, aspect) = (serial * 7919 % subjects, serial / subjects % ASPECTS.len());
        let name = format!("{} {}", PLACES[subject % PLACES.len()], THINGS[subject / PLACES.len()]);
        let value = (serial as u64).wrapping_mul(2_654_435_761) >> 7 & 0xffff;
        let (say, say_again) = ASPECTS[aspect];
        let at = planted.texts.len();
        planted.texts.push(say(&name, value));
        if serial.is_multiple_of(30) {
            waiting.push((at, say_again(&name, value + 1)));
        }
        if waiting.len() > 20 || serial % 97 == 96 && !waiting.is_empty() {
            let (other, text) = waiting.remove(0);
            planted.pairs.insert((other, planted.texts.len()));
            planted.texts.push(text);
        }
        serial += 1;
    }
    planted.pairs.retain(|(_, later)| *later < wanted);
    planted.texts.truncate(wanted);
    planted
}

fn store(engine: &Engine, texts: &[String]) -> Result<(), Box<dyn Error>> {
    let control = Control::default();
    let cancel = Cancel::default();
    let writer = Principal::new(PrincipalKind::System, "bench");
    let call = call(&writer, &cancel);
    let ledger = engine.ledger(&call)?;
    for (portion, texts) in texts.chunks(500).enumerate() {
        ledger.write(&control, Timestamp(1), |w| {
            for (at, text) in texts.iter().enumerate() {
                let serial = (portion * 500 + at) as u64 + 1;
                let id = Id::from_bits(IdKind::Memory, serial);
                let seq = w.record(&NewAudit::new(&writer, Face::Cli, "remember", id.as_str()))?;
                let new = NewMemory {
                    identity: duplicate::identity(text),
                    ..NewMemory::new(id, text, "system:bench", Timestamp(1), [7; 16])
                };
                w.insert_memory(&new, seq)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn call<'a>(principal: &'a Principal, cancel: &'a Cancel) -> Call<'a> {
    static SCOPE: std::sync::LazyLock<Scope> = std::sync::LazyLock::new(Scope::user);
    Call {
        principal,
        scope: &SCOPE,
        face: Face::Cli,
        deadline: Timestamp::MAX,
        cancel,
        progress: &|_, _| {},
        secret: None,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().nth(1).map_or(Ok(10_000), |n| n.parse())?;
    planted_among_many(wanted)?;
    one_subject(wanted)
}

/// Looks for planted pairs, and counts what is found.
fn planted_among_many(wanted: usize) -> Result<(), Box<dyn Error>> {
    let planted = corpus(wanted);
    let home = TestHome::new().existing();
    let engine = Engine::new(home.settings());
    store(&engine, &planted.texts)?;
    let (principal, cancel) = (Principal::new(PrincipalKind::System, "bench"), Cancel::default());
    let (start, used) = (Instant::now(), processor());
    let scanned = scan(&engine, &call(&principal, &cancel))?;
    let (seconds, used) = (start.elapsed().as_secs_f64(), processor() - used);
    let place = |number: i64| usize::try_from(number - 1).unwrap_or(usize::MAX);
    let found: HashSet<(usize, usize)> =
        scanned.findings.iter().map(|f| (place(f.a.number), place(f.b.number))).collect();
    let hit = planted.pairs.intersection(&found).count();
    println!(
        "{} memories, {} pairs compared in {seconds:.2} s (cpu {used:.2}); planted {}, found {hit}, other findings {}",
        scanned.memories,
        scanned.compared,
        planted.pairs.len(),
        found.len() - hit
    );
    for (a, b) in found.difference(&planted.pairs).take(6) {
        println!("not planted:\n    {}\n    {}", planted.texts[*a], planted.texts[*b]);
    }
    for (a, b) in planted.pairs.difference(&found).take(6) {
        println!("not found:\n    {}\n    {}", planted.texts[*a], planted.texts[*b]);
    }
    file_twice(&engine)
}

/// A crowd of memories that give one thing another value each.
fn one_subject(wanted: usize) -> Result<(), Box<dyn Error>> {
    let home = TestHome::new().existing();
    let engine = Engine::new(home.settings());
    let texts: Vec<String> =
        (0..wanted).map(|n| format!("The billing service listens on port {}.", 1024 + n)).collect();
    store(&engine, &texts)?;
    println!("{wanted} memories of one subject");
    file_twice(&engine)
}

/// Times the whole operation, first when everything is new, then when everything is known, while somebody else
/// writes one line after another and watches how long the lock keeps it waiting.
fn file_twice(engine: &Engine) -> Result<(), Box<dyn Error>> {
    let (principal, cancel) = (Principal::new(PrincipalKind::System, "bench"), Cancel::default());
    for _ in 0..2 {
        let done = AtomicBool::new(false);
        let used = processor();
        let (reply, seconds, waited) = std::thread::scope(|threads| {
            let neighbour = threads.spawn(|| watch(engine, &done));
            let start = Instant::now();
            let reply = Contradictions::run(engine, &call(&principal, &cancel), Request::default());
            let seconds = start.elapsed().as_secs_f64();
            done.store(true, Ordering::Relaxed);
            (reply, seconds, neighbour.join())
        });
        let used = processor() - used;
        let (reply, waited) = (reply?, waited.map_err(|_| "the neighbour gave up")?);
        println!(
            "whole operation {seconds:.2} s (cpu {used:.2}): {} compared, {} found, {} filed, {} known, {} left out; a neighbour made {} \
             writes, p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
            reply.compared,
            reply.total,
            reply.filed,
            reply.known,
            reply.left_out,
            waited.len(),
            quantile(&waited, 0.5),
            quantile(&waited, 0.99),
            quantile(&waited, 1.0),
        );
    }
    Ok(())
}

/// Seconds of processor time that this thread has used; on other systems than Linux none are told.
fn processor() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share) as usize).copied().unwrap_or_default()
}

/// Milliseconds of one small write after another, sorted.
fn watch(engine: &Engine, done: &AtomicBool) -> Vec<f64> {
    let (principal, cancel) = (Principal::new(PrincipalKind::System, "neighbour"), Cancel::default());
    let mut waited = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let start = Instant::now();
        let ledger = engine.ledger(&call(&principal, &cancel)).expect("a ledger");
        ledger
            .write(&Control::default(), Timestamp(1), |w| {
                w.record(&NewAudit::new(&principal, Face::Cli, "look", "")).map(drop)
            })
            .expect("a line of the audit");
        waited.push(start.elapsed().as_secs_f64() * 1e3);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    waited.sort_by(f64::total_cmp);
    waited
}
