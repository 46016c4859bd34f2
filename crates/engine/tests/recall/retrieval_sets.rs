//! The product's own recall on labelled sets, which are not part of the project, against the documented bars: set
//! `STRATA_DATA` to their folder. Skipped with a notice where they are absent.

use std::path::PathBuf;

use crate::support::Session;
use serde_json::{Value, json};
use strata_core::principal::PrincipalKind;

#[expect(clippy::print_stdout, reason = "nothing is skipped in silence")]
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("STRATA_DATA").map(PathBuf::from).filter(|folder| folder.is_dir());
    if folder.is_none() {
        println!("skipped: set STRATA_DATA to the folder of the labelled sets");
    }
    folder
}

/// Hit@10, recall@10 and MRR@10 over all questions.
#[expect(clippy::print_stdout, reason = "the figures are what this is run for")]
fn figures(tool: &str, arguments: &Value) -> [f64; 3] {
    let mut session = Session::new();
    session.set_kind(PrincipalKind::Human);
    let reply = session.ok(tool, arguments.clone());
    let mean = &reply["summary"]["all"]["mean"];
    let figure = |v: &Value| v.as_f64().expect("a figure");
    let found = [figure(&mean["hit"][2]), figure(&mean["recall"][2]), figure(&mean["mrr_at_10"])];
    println!("{tool} {arguments}: hit@10 {:.3} recall@10 {:.3} MRR@10 {:.3}", found[0], found[1], found[2]);
    found
}

fn jsonl(set: &str, legs: &str) -> Option<[f64; 3]> {
    let folder = data()?.join(set);
    let arguments =
        json!({ "docs": folder.join("docs.jsonl"), "queries": folder.join("queries.jsonl"), "legs": legs });
    Some(figures("eval_jsonl", &arguments))
}

#[test]
fn locomo_meets_its_bars() {
    let Some(folder) = data() else { return };
    for (legs, hit, mrr) in [("keyword", 0.84, 0.62), ("default", 0.87, 0.65)] {
        let found = figures("eval_locomo", &json!({ "file": folder.join("locomo-dev.json"), "legs": legs }));
        assert!(found[0] >= hit && found[2] >= mrr, "{legs}: {found:?}");
    }
}

#[test]
fn facts_meet_their_bars() {
    for (legs, hit) in [("keyword", 0.77), ("default", 0.80)] {
        let Some(found) = jsonl("locomo-facts", legs) else { return };
        assert!(found[0] >= hit, "{legs}: {found:?}");
    }
}

#[test]
fn chinese_meets_its_bars() {
    let Some(keyword) = jsonl("cmrc", "keyword") else { return };
    assert!(keyword[1] >= 0.90 && keyword[2] >= 0.73, "{keyword:?}");
    let Some(default) = jsonl("cmrc", "default") else { return };
    assert!(default[1] >= keyword[1] - 0.002 && default[2] >= keyword[2] - 0.002, "{default:?}");
}

#[test]
fn code_meets_its_bars() {
    let Some(keyword) = jsonl("cosqa", "keyword") else { return };
    assert!(keyword[1] >= 0.82 && keyword[2] >= 0.63, "{keyword:?}");
    let Some(default) = jsonl("cosqa", "default") else { return };
    assert!(default[1] >= keyword[1] - 0.002 && default[2] >= keyword[2] - 0.002, "{default:?}");
}
