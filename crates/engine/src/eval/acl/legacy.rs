//! p-layer's thirty cases: each writer of each layer is let in, one stranger per layer is not, and a layer that
//! there is not is none. The original judged them by its check alone; here each is a real write.

use serde_json::json;
use strata_core::{
    error::ErrorKind,
    memory::Layer,
    principal::{Principal, PrincipalKind},
};

use super::{
    Case,
    home::{Trial, outcome},
};
use crate::{engine::Engine, error::Error, operation::Call};

/// Layer, its writers in p-layer's words, and the stranger.
const CASES: [(&str, &[&str], &str); 7] = [
    ("P0", &["system"], "gateway"),
    ("P1", &["system"], "agent"),
    ("P2", &["cron", "gateway", "system"], "tool"),
    ("P3", &["cron", "gateway", "system"], "agent"),
    ("P4", &["agent", "cron", "manual", "system"], "gateway"),
    ("P5", &["agent", "cron", "manual", "system", "tool"], "gateway"),
    ("P6", &["agent", "cron", "manual", "system", "tool"], "gateway"),
];

/// Runs them.
pub(super) fn run(engine: &Engine, call: &Call<'_>) -> Result<Vec<Case>, Error> {
    let trial = Trial::new(engine, call)?;
    let mut cases = Vec::new();
    for (layer, writers, stranger) in CASES {
        for who in writers {
            cases.push(attempt(&trial, layer, who, "allow")?);
        }
        cases.push(Case { who: "stranger".into(), ..attempt(&trial, layer, stranger, "deny")? });
    }
    cases.push(attempt(&trial, "P99", "system", "invalid_layer")?);
    Ok(cases)
}

fn attempt(trial: &Trial<'_>, layer: &str, who: &str, expect: &'static str) -> Result<Case, Error> {
    trial.goes_on()?;
    let kind = PrincipalKind::parse(who).map_err(|e| Error::Internal(e.to_string()))?;
    let principal = Principal::new(kind, &format!("legacy-{layer}"));
    let text = format!("{who} writes to {layer}");
    let before = trial.memories()?;
    let result =
        trial.run(&principal, false, "remember", json!({ "text": text, "layer": layer, "kind": "note" }));
    let stored = trial.memories()? > before;
    let got = match &result {
        Err(error) if error.kind() == ErrorKind::Invalid => "invalid_layer".to_owned(),
        result => outcome(result),
    };
    let ok = match expect {
        "allow" => got == expect && stored,
        "deny" => {
            let layer = Layer::parse(layer).map_err(|e| Error::Internal(e.to_string()))?;
            got == expect && !stored && trial.has_on_record(&principal, layer)?
        }
        _ => got == expect && !stored,
    };
    Ok(Case { layer: layer.to_owned(), who: who.to_owned(), operation: "remember", expect, got, ok })
}
