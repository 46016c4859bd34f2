//! Prints what the built-in model costs on this machine:
//! `cargo run --release -p strata-embed --example embed_throughput`.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use strata_embed::{Embedder, StaticModel};

/// About 40 entries of the vocabulary.
const TEXT: &str = "On Tuesday we moved the staging database to the new host because the old one kept running \
                    out of memory; the migration took eleven minutes and nobody noticed anything.";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let model = StaticModel::built_in()?;
    let opened = start.elapsed();
    black_box(model.embed_passage(TEXT)?);
    let first = start.elapsed();

    let start = Instant::now();
    let mut texts = 0_u32;
    while start.elapsed() < Duration::from_secs(2) {
        for _ in 0..1_000 {
            black_box(model.embed_passage(black_box(TEXT))?);
        }
        texts += 1_000;
    }
    writeln!(
        std::io::stdout(),
        "{}: opened in {opened:.1?}, first vector after {first:.1?}, then {:.0} texts per second",
        model.model(),
        f64::from(texts) / start.elapsed().as_secs_f64(),
    )?;
    Ok(())
}
