//! Prints what a linear scan over int8 vectors costs on this machine:
//! `cargo run --release -p strata-core --example vector_scan [ROWS] [DIMENSION]`.

use std::io::Write;
use std::time::Instant;

use strata_core::vector::{quantize, scan};

const REPETITIONS: usize = 101;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let rows = arguments.next().transpose()?.unwrap_or(100_000);
    let dimension = arguments.next().transpose()?.unwrap_or(256);

    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let matrix: Vec<i8> = (0..rows * dimension).map(|_| (next(&mut state) >> 56) as i8).collect();
    let vector: Vec<f32> = (0..dimension).map(|_| (next(&mut state) >> 40) as f32 - 8_388_608.0).collect();
    let (query, _) = quantize(&vector);

    let mut scores = Vec::new();
    let mut checksum = 0_i64;
    let mut times = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        scan(&query, &matrix, dimension, &mut scores)?;
        times.push(start.elapsed());
        checksum += scores.iter().map(|&score| i64::from(score)).sum::<i64>();
    }
    times.sort_unstable();
    writeln!(
        std::io::stdout(),
        "{rows} x {dimension}: best {:.2} ms, median {:.2} ms, p95 {:.2} ms ({REPETITIONS} scans, checksum {checksum})",
        times[0].as_secs_f64() * 1e3,
        times[REPETITIONS / 2].as_secs_f64() * 1e3,
        times[REPETITIONS * 95 / 100].as_secs_f64() * 1e3,
    )?;
    Ok(())
}

/// One step of a 64-bit xorshift generator (Marsaglia 2003).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
