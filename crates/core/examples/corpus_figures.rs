//! How redaction and the router do on their corpora: `cargo run --release -p strata-core --example corpus_figures`.
//!
//! The tests `redact_corpus` and `route_accuracy` name every miss; this prints the figures alone.

use std::io::Write;

use serde_json::Value;
use strata_core::{redact::redact, route::suggest};

const PLANTED: &str = include_str!("../testdata/redact/planted.jsonl");
const CLEAN: &str = include_str!("../testdata/redact/clean.jsonl");
const ROUTED: &str = include_str!("../testdata/route/labelled.jsonl");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let (secrets, missed) = secrets(&rows(PLANTED)?);
    let clean = rows(CLEAN)?;
    let false_hits = clean.iter().filter(|row| redact(&text(&row["text"])).is_redacted()).count();
    let routed = rows(ROUTED)?;
    let right = routed.iter().filter(|row| is_routed(row)).count();
    writeln!(
        out,
        "redaction: {missed} of {secrets} planted secrets missed, {false_hits} of {} clean texts hit",
        clean.len()
    )?;
    writeln!(out, "router: {right} of {} labelled texts right", routed.len())?;
    Ok(())
}

fn rows(corpus: &str) -> Result<Vec<Value>, serde_json::Error> {
    corpus.lines().map(serde_json::from_str).collect()
}

/// A text of the corpus. Planted tokens are split by a marker that keeps secret scanners away.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace("{{join}}", "")
}

/// How many secrets were planted, and how many are still there afterwards.
fn secrets(planted: &[Value]) -> (usize, usize) {
    let mut count = (0, 0);
    for row in planted {
        let whole = text(&row["text"]);
        let redacted = redact(&whole);
        for secret in row["secrets"].as_array().into_iter().flatten() {
            count.0 += 1;
            count.1 += usize::from(redacted.text.contains(&text(secret)));
        }
    }
    count
}

fn is_routed(row: &Value) -> bool {
    let route = suggest(row["text"].as_str().unwrap_or_default(), None).map_or("none", |s| s.route.as_str());
    row["route"] == route
}
