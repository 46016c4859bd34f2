//! Measures the index on a generated corpus: bulk speed, load time, latency, memory and file size.
//!
//! `cargo run --release -p strata-store --example index_bench -- [PASSAGES...]`
//! Sizes default to 1000 10000 100000; give 1000000 for the large run.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::{
    collections::BTreeMap,
    error::Error,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use strata_core::{
    analysis::{QueryContext, analyze_query},
    memory::Layer,
    rank::Settings,
};
use strata_store::{
    Control, StoreError,
    faults::FaultPlan,
    index::{
        Change, CollectionKey, Embedder, Filter, Group, Index, Mark, Preparer, QueryVector, Request, Section,
        Source, SourceKind, Subject, TruthReader, Turn, WINDOW,
    },
};

const TENANT: &str = "local";
const MODEL: &str = "generated/256";
const DIMENSION: usize = 256;
const VOCABULARY: f64 = 60_000.0;
const TURNS_PER_SESSION: u64 = 30;
const QUERIES: u64 = 400;

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes: Vec<u64> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000];
    }
    for size in sizes {
        measure(size)?;
    }
    Ok(())
}

fn measure(size: u64) -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    let truth = Generated { size: Mutex::new(size) };
    let control = Control::default();
    let answer = |text: &str| Ok(embed(text).into());
    let preparer = Preparer { embedder: Some(Embedder { model: MODEL, embed: &answer }), kept: None };
    let index = Index::new(home.path(), 1, FaultPlan::none());
    println!("== {size} passages, {DIMENSION} components");
    let started = Instant::now();
    index.catch_up(&control, TENANT, &truth, preparer, Duration::from_secs(3_600))?;
    let seconds = started.elapsed().as_secs_f64();
    println!("bulk      {:.0} passages/s ({seconds:.1} s)", size as f64 / seconds);
    index.database().checkpoint(&control)?;
    let bytes = std::fs::metadata(index.path())?.len();
    println!("file      {:.1} MB, {} bytes per passage", bytes as f64 / 1e6, bytes / size);

    let before = resident();
    let cold = Index::new(home.path(), 1, FaultPlan::none());
    println!("cold      keyword {:.1} ms", milliseconds(|| search(&cold, 8, false, 1))?);
    println!("          then with vectors {:.1} ms", milliseconds(|| search(&cold, 8, true, 1))?);
    for (terms, vectors) in [(8, false), (24, false), (8, true), (24, true)] {
        let mut times = Vec::new();
        let busy = processor_time();
        for seed in 0..QUERIES {
            times.push(milliseconds(|| search(&cold, terms, vectors, seed + 2))?);
        }
        let name = if vectors { "default" } else { "keyword" };
        let busy = (processor_time() - busy) / QUERIES as f64;
        println!("{name}   {terms:>2} terms  {}; processor {busy:.2} ms a query", percentiles(&mut times));
    }
    let mut adds = Vec::new();
    let mut refreshed = Vec::new();
    for seed in 0..300 {
        *truth.size.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        let budget = Duration::from_millis(100);
        adds.push(milliseconds(|| cold.catch_up(&control, TENANT, &truth, preparer, budget).map(drop))?);
        refreshed.push(milliseconds(|| search(&cold, 8, true, seed))?);
    }
    println!("add one   {}", percentiles(&mut adds));
    println!("then ask  {}", percentiles(&mut refreshed));
    println!("memory    {} MB resident, {} MB before the first search", resident(), before);
    Ok(())
}

fn search(index: &Index, terms: usize, vectors: bool, seed: u64) -> Result<(), StoreError> {
    let mut numbers = Numbers::new(seed ^ 0xABCD);
    let mut text = String::new();
    for _ in 0..terms {
        let share = numbers.share();
        text.push_str(&word((20.0 * (VOCABULARY / 20.0).powf(share)) as u64));
        text.push(' ');
    }
    let query = analyze_query(&text, &QueryContext::default());
    let vector = embed(&text).filter(|_| vectors);
    let request = Request {
        collections: &[CollectionKey::new(TENANT, "shared", "bench")],
        query: &query,
        people: &[],
        vector: vector.as_deref().map(|values| QueryVector { model: MODEL, values }),
        filter: &Filter::default(),
        as_of: None,
        settings: &Settings::default(),
        limit: 10,
    };
    let answer = index.search(&Control::default(), &request, &[])?;
    std::hint::black_box(answer);
    Ok(())
}

/// Turns made up from their numbers alone, so that nothing has to be kept.
struct Generated {
    size: Mutex<u64>,
}

impl Generated {
    fn size(&self) -> u64 {
        *self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(number: u64) -> Change {
        let mut numbers = Numbers::new(number);
        let length = 15 + numbers.next() % 31;
        let mut body = String::new();
        for _ in 0..length {
            body.push_str(&word(VOCABULARY.powf(numbers.share()) as u64));
            body.push(' ');
        }
        let seq = i64::try_from(number).unwrap_or(i64::MAX);
        let subject = Subject {
            collection: CollectionKey::new(TENANT, "shared", "bench"),
            sections: vec![Section { body, ..Section::default() }],
            group: Group::Session((number / TURNS_PER_SESSION).to_string()),
            order: seq * 60_000_000,
            owner: ["Ada", "Grace"][(number % 2) as usize].to_owned(),
            at: 1_700_000_000_000_000 + seq * 60_000_000,
            layer: Layer::P2,
            kind: "episode".to_owned(),
            branch: String::new(),
            confidence: 0.5,
            importance: 0.5,
            is_code: false,
            marks: 0,
            keep_text: false,
            has_numbered_titles: false,
        };
        let source = Source { kind: SourceKind::Episode, number: seq };
        Change { mark: Mark { seq, ordinal: seq }, source, subject: Some(subject) }
    }
}

impl TruthReader for Generated {
    fn epoch(&self) -> Result<String, StoreError> {
        Ok("generated".to_owned())
    }

    fn head(&self) -> Result<i64, StoreError> {
        Ok(i64::try_from(self.size()).unwrap_or(i64::MAX))
    }

    fn hash_at(&self, seq: i64) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(Some(seq.to_le_bytes().to_vec()))
    }

    fn changes(&self, after: Mark, limit: usize) -> Result<Vec<Change>, StoreError> {
        let first = after.seq.unsigned_abs() + 1;
        Ok((first..=self.size()).take(limit).map(Self::change).collect())
    }

    fn latest_of_memories(&self, _: Mark, _: usize) -> Result<Vec<Change>, StoreError> {
        Ok(Vec::new())
    }

    fn pending(&self, after: Mark) -> Result<u64, StoreError> {
        Ok(self.size().saturating_sub(after.seq.unsigned_abs()))
    }

    fn session_span(
        &self,
        _: &CollectionKey,
        session: &str,
        first: Turn,
        last: Turn,
    ) -> Result<Vec<Change>, StoreError> {
        let begin = session.parse::<u64>().unwrap_or(0) * TURNS_PER_SESSION;
        let window = WINDOW as u64;
        let from = first.1.unsigned_abs().saturating_sub(window).max(begin).max(1);
        let to = (last.1.unsigned_abs() + window).min(begin + TURNS_PER_SESSION - 1).min(self.size());
        Ok((from..=to).map(Self::change).collect())
    }
}

/// The mean of a pseudo-random vector per word: as much work as a static table.
fn embed(text: &str) -> Option<Vec<f32>> {
    static TABLE: std::sync::OnceLock<Vec<f32>> = std::sync::OnceLock::new();
    const ROWS: usize = 4_096;
    let table = TABLE.get_or_init(|| {
        let mut numbers = Numbers::new(99);
        (0..ROWS * DIMENSION).map(|_| numbers.share() as f32 - 0.5).collect()
    });
    let mut sum = vec![0.0_f32; DIMENSION];
    for word in text.split_ascii_whitespace() {
        let hash = word.bytes().fold(17_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        let row = &table[hash % ROWS * DIMENSION..][..DIMENSION];
        sum.iter_mut().zip(row).for_each(|(x, y)| *x += y);
    }
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    (norm > 0.0).then(|| sum.iter().map(|x| x / norm).collect())
}

fn word(mut number: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ro", "ti", "ken", "lu", "mar", "so", "vi", "dan", "pe", "gol", "ni", "zu", "fer", "ha", "qui",
    ];
    let mut word = String::new();
    number += 16;
    while number > 0 {
        word.push_str(SYLLABLES[(number % 16) as usize]);
        number /= 16;
    }
    word
}

/// Reproducible numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64) -> Self {
        let mut numbers = Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        numbers.next();
        numbers
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From 0 to below 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn milliseconds(job: impl FnOnce() -> Result<(), StoreError>) -> Result<f64, StoreError> {
    let started = Instant::now();
    job()?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

fn percentiles(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    format!("p50 {:.2}  p95 {:.2}  p99 {:.2}  max {:.2} ms", at(0.5), at(0.95), at(0.99), at(1.0))
}

/// Milliseconds that this thread was on a processor, where the system tells: what other load cannot blur.
fn processor_time() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = times.split_whitespace().next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.unwrap_or(f64::NAN) / 1e6
}

/// Resident memory in MB, where the system tells.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let fields: BTreeMap<&str, &str> = status.lines().filter_map(|line| line.split_once(':')).collect();
    let kilobytes = fields.get("VmRSS").and_then(|value| value.split_whitespace().next());
    kilobytes.and_then(|value| value.parse::<u64>().ok()).unwrap_or(0) / 1_024
}
