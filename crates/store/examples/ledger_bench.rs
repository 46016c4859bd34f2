//! Measures what a write, a read and upkeep cost in a ledger of 50 000 memories.
//!
//! `cargo run --release -p strata-store --example ledger_bench -- [DIRECTORY]`
//! The directory is where the ledger is made; in memory, the figures are without fsync.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::time::{Duration, Instant};

use fixture::{START, store};
use strata_core::{
    id::{Id, IdKind},
    time::Timestamp,
};
use strata_store::{
    Control,
    faults::FaultPlan,
    ledger::{ChangeCursor, Ledger, MemoryFilter, NewMemory},
};

const MEMORIES: u64 = 50_000;
const MEASURED: usize = 500;

fn memory(n: u64) -> NewMemory {
    // Odd multipliers permute the range, so ids and bands fall everywhere in their trees.
    let id = Id::from_bits(IdKind::Memory, n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let body =
        format!("memory {n}: the service {} listens on port {} in region {}", n % 977, n % 65_536, n % 31);
    let mut new = NewMemory::new(id, &body, "agent:test", Timestamp(START), [9; 16]);
    new.bands = (1..=32_u64)
        .map(|band| (n.wrapping_mul(0x2545_F491_4F6C_DD1D).wrapping_mul(band * 2 + 1)) as i64)
        .collect();
    new.tags = vec![format!("tag{}", n % 100)];
    new.topic_key = Some(format!("topic.{n}"));
    new
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    format!("p50 {:?}, p95 {:?}, max {:?}", at(50), at(95), at(100))
}

/// Time this thread was on a processor, waiting and other load left out (Linux; zero elsewhere).
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

fn main() {
    let place = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let directory = tempfile::tempdir_in(place).expect("temporary directory");
    let ledger = Ledger::new(directory.path(), FaultPlan::none());
    let control = Control::default();
    ledger.initialise(&control, &fixture::birth()).expect("made");
    let started = Instant::now();
    for first in (0..MEMORIES).step_by(1000) {
        ledger
            .write(&control, Timestamp(START), |w| {
                (first..first + 1000).try_for_each(|n| store(w, &memory(n)).map(drop))
            })
            .expect("stored");
    }
    let size = std::fs::metadata(directory.path().join("ledger.db")).map_or(0, |m| m.len());
    println!("{MEMORIES} memories in {:?}, {} MiB", started.elapsed(), size >> 20);
    let on_processor = |job: &dyn Fn(u64)| {
        let times = (0..MEASURED as u64).map(|n| {
            let before = processor_time();
            job(n);
            processor_time().saturating_sub(before)
        });
        percentiles(times.collect())
    };
    let timed = |job: &dyn Fn(u64)| {
        let times = (0..MEASURED as u64).map(|n| {
            let started = Instant::now();
            job(n);
            started.elapsed()
        });
        percentiles(times.collect())
    };
    let one = |n: u64| {
        let new = memory(MEMORIES + n);
        ledger.write(&control, Timestamp(START), |w| {
            w.by_bands(&new.bands, &new.scope, 10)?;
            store(w, &new)
        })
    };
    println!("one write with near-duplicate lookup: {}", timed(&|n| assert!(one(n).expect("stored") > 0)));
    let more = |n: u64| assert!(one(n + MEASURED as u64).expect("stored") > 0);
    println!("the same, on the processor: {}", on_processor(&more));
    println!(
        "empty write: {}",
        timed(&|_| ledger.write(&control, Timestamp(START), |_| Ok(())).expect("done"))
    );
    let by_number = |n: u64| ledger.read(&control, |r| r.memory_by_number(n as i64 * 97 + 1)).expect("read");
    println!("one read by number: {}", timed(&|n| drop(by_number(n))));
    let list = |_| ledger.read(&control, |r| r.memories(&MemoryFilter::default())).expect("read");
    println!("list of 50: {}", timed(&|n| drop(list(n))));
    let page = |n: u64| {
        ledger.read(&control, |r| r.changes_after(ChangeCursor::after(n as i64 * 90), 100)).expect("read")
    };
    println!("page of 100 changes: {}", timed(&|n| drop(page(n))));
    let once = |what: &str, job: &dyn Fn()| {
        let started = Instant::now();
        job();
        println!("{what}: {:?}", started.elapsed());
    };
    once("totals and counts", &|| {
        ledger.read(&control, |r| Ok((r.totals()?, r.memory_counts()?))).map(drop).expect("read");
    });
    once("verify the audit", &|| {
        assert!(ledger.read(&control, |r| r.verify_audit(&[], None)).expect("read").is_whole());
    });
    once("compact", &|| ledger.database().compact(&control).map(drop).expect("compacted"));
}
