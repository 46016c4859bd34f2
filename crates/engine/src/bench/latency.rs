//! Times of repeated calls, and what they cost the processor: on a shared machine the one is no good without
//! the other.

use std::{fs::File, io::Write as _, path::Path, time::Instant};

use serde::Serialize;

use super::machine;
use crate::error::Error;

/// Calls that are not counted, first.
const WARM_UP: usize = 5;
/// Bytes of one write whose way to the disk is timed: a page of the write-ahead log.
const PAGE: [u8; 4096] = [0x5A; 4096];
/// Such writes.
const SYNCS: usize = 100;

/// Milliseconds of one sort of call.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Latency {
    /// Half of the calls took at most this.
    pub median: f64,
    /// 95 in 100 calls took at most this.
    pub p95: f64,
    /// Processor time of the calling thread per call; absent where the system does not tell.
    pub cpu: Option<f64>,
}

impl Latency {
    /// Times `count` calls after a few that are not counted.
    pub fn of(count: usize, mut work: impl FnMut(usize) -> Result<(), Error>) -> Result<Self, Error> {
        (0..WARM_UP).try_for_each(&mut work)?;
        let mut times = Vec::with_capacity(count);
        let before = machine::thread_cpu();
        for n in WARM_UP..WARM_UP + count {
            let started = Instant::now();
            work(n)?;
            times.push(milliseconds(started));
        }
        let cpu = machine::thread_cpu().zip(before).map(|(after, before)| (after - before) * 1e3);
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times.get(count * percent / 100).copied().unwrap_or_default();
        Ok(Self { median: at(50), p95: at(95), cpu: cpu.map(|cpu| cpu / count.max(1) as f64) })
    }
}

/// Milliseconds since `started`.
pub fn milliseconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}

/// What it takes to bring one page to the disk that holds `directory`: the floor of every durable write.
pub fn of_disk(directory: &Path) -> Result<Latency, Error> {
    let path = directory.join("sync");
    let failed = |source| Error::File { path: path.display().to_string(), source };
    let mut file = File::create(&path).map_err(failed)?;
    Latency::of(SYNCS, |_| file.write_all(&PAGE).and_then(|()| file.sync_data()).map_err(failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_counted_calls() {
        let mut calls = 0;
        let latency = Latency::of(20, |n| {
            assert_eq!(n, calls);
            calls += 1;
            Ok(())
        });
        let latency = latency.expect("no call fails");
        assert_eq!(calls, 20 + WARM_UP);
        assert!(0.0 <= latency.median && latency.median <= latency.p95, "{latency:?}");
    }

    #[test]
    fn the_disk_is_timed_where_it_is_asked_for() {
        let home = tempfile::tempdir().expect("a directory");
        assert!(of_disk(home.path()).expect("it can be written").median > 0.0);
        assert!(of_disk(&home.path().join("absent")).is_err());
    }
}
