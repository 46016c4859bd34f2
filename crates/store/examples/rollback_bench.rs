//! Measures the transaction of a rollback among 10 000 memories in force.
//!
//! `cargo run --profile fast -p strata-store --example rollback_bench -- [DIRECTORY]`
//! The directory is where the ledger is made; in memory, the figures are without fsync.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::time::{Duration, Instant};

use fixture::{START, audited, store};
use strata_core::{
    id::{Id, IdKind},
    memory::{Layer, Status},
    time::Timestamp,
};
use strata_store::{
    Control, StoreError,
    faults::FaultPlan,
    ledger::{Ledger, LedgerWrite, NewMemory, RolledBack, State, set_hash},
};

const MEMORIES: u64 = 10_000;
const ROUNDS: usize = 5;

/// Time this thread was on a processor, waiting and other load left out (Linux; zero elsewhere).
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

fn memory(n: u64, round: u64) -> NewMemory {
    let bits = (round * MEMORIES + n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let body = format!("memory {n}, version {round}: the service {} listens on port {}", n % 977, n % 65_536);
    let mut new =
        NewMemory::new(Id::from_bits(IdKind::Memory, bits), &body, "agent:test", Timestamp(START), [9; 16]);
    new.topic_key = Some(format!("topic.{n}"));
    new
}

struct Bench {
    ledger: Ledger,
}

impl Bench {
    fn write<T>(&self, job: impl FnMut(&LedgerWrite<'_>) -> Result<T, StoreError>) -> T {
        self.ledger.write(&Control::default(), Timestamp(START), job).expect("written")
    }

    fn head(&self) -> i64 {
        self.ledger.read(&Control::default(), |r| Ok(r.head()?.seq)).expect("read")
    }

    /// Goes back to `to`, and says how long the transaction took: on the wall and on the processor.
    fn go_back(&self, to: i64) -> (RolledBack, Duration, Duration) {
        let (started, busy) = (Instant::now(), processor_time());
        let done = self.write(|w| {
            let seq = audited(w, "rollback", "bench")?;
            w.roll_back(to, "rollback:bench", seq)
        });
        (done, started.elapsed(), processor_time().saturating_sub(busy))
    }

    /// Measures going back from the present to `to` and forward again, several times.
    fn measure(&self, what: &str, to: i64) {
        let from = self.head();
        let mut times = Vec::new();
        let mut done = RolledBack::default();
        for _ in 0..ROUNDS {
            let (there, wall, busy) = self.go_back(to);
            times.push((wall, busy));
            done = there;
            self.go_back(from);
        }
        times.sort_unstable();
        let (wall, busy) = times[ROUNDS / 2];
        println!("{what}: {done:?}: median {wall:?}, on the processor {busy:?}");
    }

    fn change(&self, numbers: impl Iterator<Item = i64>, state: State) {
        let numbers: Vec<i64> = numbers.collect();
        for chunk in numbers.chunks(1_000) {
            self.write(|w| {
                let seq = audited(w, "change", "bench")?;
                chunk.iter().try_for_each(|number| w.change_state(*number, None, &state, seq))
            });
        }
    }
}

fn main() {
    let place = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let directory = tempfile::tempdir_in(place).expect("temporary directory");
    let ledger = Ledger::new(directory.path(), FaultPlan::none());
    ledger.initialise(&Control::default(), &fixture::birth()).expect("made");
    let bench = Bench { ledger };
    for first in (0..MEMORIES).step_by(1_000) {
        bench.write(|w| (first..first + 1_000).try_for_each(|n| store(w, &memory(n, 0)).map(drop)));
    }
    let all = bench.head();
    let started = Instant::now();
    let rows = bench.ledger.read(&Control::default(), |r| r.live_at(all)).expect("read");
    let hash = set_hash(&rows);
    println!("measuring {} in force for a snapshot: {:?} ({:02x})", rows.len(), started.elapsed(), hash[0]);

    let low = State { confidence: 0.5, ..State::active(Layer::P5) };
    bench.change(1..=100, low);
    bench.measure("100 changed", all);
    bench.change(101..=200, State { status: Status::Trashed, ..low });
    bench.measure("100 more forgotten", all);
    bench.change(201..=10_000, low);
    bench.measure("all changed or forgotten", all);
    bench.go_back(all);
    let again = bench.head();
    for first in (0..MEMORIES).step_by(1_000) {
        bench.write(|w| {
            for n in first..first + 1_000 {
                let mut new = memory(n, 1);
                new.supersedes = Some(memory(n, 0).id);
                store(w, &new)?;
            }
            Ok(())
        });
    }
    bench.measure("all replaced", again);
}
